//! Forms of a region with their facts, and the directed engine: one walk bottom up and a greedy contraction plan.
//! The engine needs no budget, so there is always a normal form, even if the e-graph reaches its limits.

use crate::{
    arena::{Arena, Mode},
    build::Context,
    class::Facts,
    cost::LeafCost,
    egraph::Graph,
    emit::{Emitted, emit},
    insert::Source,
    journal::{Journal, TermId},
    log::Log,
    options::{Options, Stats},
    phases::{extracted_root, optimize},
    price::{Price, arena_cost, unsliced_probes},
    regroup::{plan, scale_scalars},
    symmetry::Symmetries,
};
use egg::Id;
use ein_ir::region::Region;

/// A region with its facts.
pub(crate) struct Form {
    pub(crate) region: Region,
    source: Source,
    pub(crate) price: Price,
    /// The terms of its values, if a journal is kept.
    pub(crate) terms: Vec<TermId>,
}

impl Form {
    /// The form of a region, of whose definitions may be known how they are symmetric.
    pub(crate) fn new(
        region: Region,
        known: &[Symmetries],
        leaf_cost: LeafCost,
        journal: &mut Journal,
    ) -> Form {
        let mut source = Source::new(&region, known, journal.is_kept());
        let price = arena_cost(&source.arena, source.root, leaf_cost);
        let terms = journal.region(&region);
        journal.insertion(&mut source.arena, &region, &source.values);
        Form {
            region,
            source,
            price,
            terms,
        }
    }

    /// Whether this form is cheaper, or as cheap with fewer definitions: definitions that turn out to be zero cost nothing.
    fn is_better_than(&self, other: &Form) -> bool {
        let rank = |form: &Form| (form.price.total, form.region.defs.len());
        rank(self) < rank(other)
    }

    /// The region of an arena's tuple `root`, with the inputs of this form.
    fn emitted(&self, arena: &Arena, root: Id, journal: &mut Journal) -> Emitted {
        let emitted = emit(arena, root, &self.region.inputs);
        if journal.is_kept() {
            let terms = journal.region(&emitted.region);
            journal.emission(arena, root, &emitted.region, &emitted.written, &terms);
        }
        emitted
    }

    /// The form of the emitted region, unless it is this one.
    fn changed(&self, found: Emitted, leaf_cost: LeafCost, journal: &mut Journal) -> Option<Form> {
        let Emitted {
            region, symmetries, ..
        } = found;
        (region != self.region).then(|| Form::new(region, &symmetries, leaf_cost, journal))
    }

    /// The facts of the definitions.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &Facts> {
        let definitions = &self.source.values[self.region.inputs.len()..];
        definitions.iter().map(|&id| self.source.arena.facts(id))
    }

    /// The form that the directed engine gives, unless it is this one.
    fn directed(
        &self,
        leaf_cost: LeafCost,
        stats: &mut Stats,
        journal: &mut Journal,
    ) -> Option<Form> {
        let (arena, root) = self.composed(stats, journal);
        self.planned(arena, root, leaf_cost, journal)
    }

    /// The definitions as composed and pushed down; notes the laws that took.
    fn composed(&self, stats: &mut Stats, journal: &Journal) -> (Arena, Id) {
        let (arena, root) = composed(&self.source, journal.is_kept());
        stats.add_laws(&arena.taken);
        (arena, root)
    }

    /// What composed definitions come to when they are planned; nothing if that is this form.
    fn planned(
        &self,
        mut arena: Arena,
        root: Id,
        leaf_cost: LeafCost,
        journal: &mut Journal,
    ) -> Option<Form> {
        let (mut planned, root) = plan(&arena, root, journal.is_kept());
        journal.arena(&mut arena);
        journal.arena(&mut planned);
        self.written(&planned, root, leaf_cost, journal)
    }

    /// What an arena computes, with coefficients where they are multiplied least; nothing if that is this form.
    fn written(
        &self,
        arena: &Arena,
        root: Id,
        leaf_cost: LeafCost,
        journal: &mut Journal,
    ) -> Option<Form> {
        let found = self.emitted(arena, root, journal);
        let scaled = scale_scalars(arena, root, journal.is_kept()).map(|(mut scaled, root)| {
            journal.arena(&mut scaled);
            self.emitted(&scaled, root, journal)
        });
        let scaled = scaled.filter(|scaled| scaled.region != found.region);
        let found = self.changed(found, leaf_cost, journal);
        let Some(scaled) = scaled else {
            return found;
        };
        let scaled = self.changed(scaled, leaf_cost, journal);
        let [a, b] = [&found, &scaled].map(|form| form.as_ref().unwrap_or(self));
        if a.is_better_than(b) { found } else { scaled }
    }

    /// The form in which the directed engine settles, unless it is this one. Records the form before.
    pub(crate) fn settled(
        &self,
        is_normal: bool,
        leaf_cost: LeafCost,
        stats: &mut Stats,
        journal: &mut Journal,
    ) -> Option<Form> {
        let (arena, root) = self.composed(stats, journal);
        stats.cost_before = arena_cost(&arena, root, leaf_cost).arithmetic;
        stats.probes_before = unsliced_probes(&arena, root);
        let directed = self.planned(arena, root, leaf_cost, journal);
        let directed = directed.filter(|form| !is_normal || form.is_better_than(self))?;
        Some(directed.settle(leaf_cost, stats, journal))
    }

    /// The first of the forms that the directed engine makes of each other after which none is cheaper.
    pub(crate) fn settle(
        self,
        leaf_cost: LeafCost,
        stats: &mut Stats,
        journal: &mut Journal,
    ) -> Form {
        let mut current = self;
        loop {
            match current.directed(leaf_cost, stats, journal) {
                Some(next) if next.is_better_than(&current) => current = next,
                _ => return current,
            }
        }
    }

    /// The form that equality saturation finds, if it finds any other than this.
    pub(crate) fn optimized(
        &self,
        options: &Options,
        stats: &mut Stats,
        journal: &mut Journal,
    ) -> Option<Form> {
        let mut graph = Graph::default();
        graph.analysis.log = journal.is_kept().then(Log::default);
        let found = optimize(&mut graph, &self.source, options, stats, journal);
        journal.graph(&mut graph);
        stats.nodes = graph.total_number_of_nodes();
        for (name, count) in &graph.analysis.counts {
            *stats.rules.entry(name).or_default() += count;
        }
        stats.add_laws(&graph.analysis.taken);
        let (arena, _) = found?;
        let root = extracted_root(&arena);
        let leaf_cost = LeafCost(&options.leaf_cost);
        self.written(&arena, root, leaf_cost, journal)
    }
}

/// A source with derivatives and probes pushed down, sums left factored and contractions as they come.
pub(crate) fn composed(source: &Source, log: bool) -> (Arena, Id) {
    let mut arena = Arena::new(Mode::Lazy, usize::MAX).logging(log);
    let image = arena.normalize(&source.arena, source.root);
    let image = image.expect("an unlimited budget is never used up");
    (arena, image[&source.root])
}
