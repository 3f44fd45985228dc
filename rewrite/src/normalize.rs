//! Normalization: the phases, their limits, and the way back when a limit is reached.
//!
//! 1. The region is inserted as it was written, all roots under one tuple.
//! 2. Derivatives and probes are pushed down to the leaf fields; this ends, and it yields a normal form.
//! 3. Directed forms of that normal form (factored, expanded, planned) are added as equal.
//! 4. Contractions are regrouped and factored within a budget of nodes.
//! 5. The cheapest form is extracted that is defined wherever the first one is.
//! 6. The directed engine is let loose on it until it finds nothing cheaper; if what the same engine makes of the source
//!    is cheaper, that is the result.
//!
//! The directed engine is one walk bottom up and a greedy contraction plan. It needs no budget, so there is a normal form
//! whatever the e-graph comes to.

use crate::{
    arena::{Arena, Mode},
    both::both,
    build::Context,
    class::{Facts, NO_NORMAL_FORM},
    components::read_components,
    cost::LeafCost,
    egraph::{Graph, insert_nodes, rebuild, unite},
    emit::{Emitted, Symmetry, emit, symmetry},
    extract::Choices,
    extractable::{Places, singular_places},
    insert::Source,
    journal::{Journal, TermId},
    laws::{CONSTRUCTION, Taken},
    log::{Left, Log},
    node::Node,
    price::{Price, arena_cost, unsliced_probes},
    regroup::{plan, scale_scalars},
    rules::{
        COFACTORS, FACTOR_OUT, FUSE, ISOLATE_SCALARS, PUSH_DERIVATIVE, PUSH_PROBE, REGROUP_PAIR,
        Rule, SIMPLIFY, SIMPLIFY_INVERSE,
    },
    saturate::{Limits, saturate},
    simplify::{STEPS, When},
    symmetry::Symmetries,
    verify_normal_form,
};
use egg::{Id, Language};
use ein_ir::{Term, region::Region};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Which engine normalizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Equality saturation and extraction by cost.
    #[default]
    EGraph,
    /// Bottom up, hash-consed, with a greedy contraction plan.
    Directed,
}

/// How much is done to make a region cheap. No option is about time: the same region and options give the same result.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many nodes the optimizing phases may add to the e-graph, how many applications of rules each of them may
    /// take, and of how many products, half as many, an expanded form may be made.
    pub node_budget: usize,
    /// How many iterations each optimizing phase may take.
    pub iterations: usize,
    /// Whether the result may be undefined at places where the source is defined, such as |a| = a•a/|a| at 0.
    pub relaxed: bool,
    /// For each input of the region what it costs to probe one component of it, see [`crate::probe_weight`]; inputs
    /// without an entry are taken for three-dimensional with a cubic kernel.
    pub leaf_cost: Vec<u64>,
    /// What is known of the region's definitions.
    pub known: Known,
    /// The engine.
    pub engine: Engine,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            node_budget: 800,
            iterations: 8,
            relaxed: false,
            leaf_cost: Vec::new(),
            known: Known::default(),
            engine: Engine::EGraph,
        }
    }
}

/// What is known of the definitions of a region beside what they show by themselves: symmetries that were seen in other forms
/// of the same values.
#[derive(Clone, Debug, Default)]
pub struct Known(Vec<Symmetries>);

/// What normalization did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The rules that made classes equal, the steps of the simplifier and the laws of construction, with how often each
    /// was applied.
    pub rules: BTreeMap<&'static str, usize>,
    /// Products that the simplifier left unfinished because its steps went in a circle. Such a product keeps its value; if
    /// there ever is one, it is a fault in the table of steps.
    pub unfinished: usize,
    /// The nodes of the e-graph at its end.
    pub nodes: usize,
    /// The iterations of all phases.
    pub iterations: usize,
    /// Floating-point operations of the definitions as composed and pushed down, before anything was optimized.
    pub cost_before: u64,
    /// Floating-point operations of the result; both without those of the probes.
    pub cost_after: u64,
    /// Probes that the composed definitions ask for, each index pattern on its own.
    pub probes_before: usize,
    /// Probes of the result.
    pub probes_after: usize,
}

impl Stats {
    /// Adds what was done at the same time by equality saturation.
    fn add(&mut self, other: Stats) {
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        self.unfinished += other.unfinished;
        self.nodes += other.nodes;
        self.iterations += other.iterations;
    }

    fn add_laws(&mut self, taken: &Taken) {
        for (law, count) in taken.counts() {
            *self.rules.entry(law).or_default() += count;
        }
        self.unfinished += taken.unfinished;
    }
}

/// A region in normal form.
#[derive(Clone, Debug)]
pub struct Normalized {
    /// The same inputs and as many roots as before; every definition one operation deep, see [`verify_normal_form`].
    pub region: Region,
    /// For each definition the groups of result axes that may be permuted without changing the value.
    pub symmetry: Vec<Symmetry>,
    /// What is known of the definitions; with it the region is its own normal form.
    pub known: Known,
    /// What was done.
    pub stats: Stats,
}

/// The rules of the three phases.
const PUSHING: &[Rule] = &[
    SIMPLIFY,
    SIMPLIFY_INVERSE,
    COFACTORS,
    PUSH_DERIVATIVE,
    PUSH_PROBE,
];
const REGROUPING: &[Rule] = &[SIMPLIFY, ISOLATE_SCALARS, REGROUP_PAIR, FACTOR_OUT];
const FUSING: &[Rule] = &[SIMPLIFY, FUSE, ISOLATE_SCALARS, REGROUP_PAIR, FACTOR_OUT];

/// The rules and steps that a normalization may take, as [`Stats::rules`] names them: all laws but those that only
/// proofs use.
pub fn counted_rules() -> impl Iterator<Item = &'static str> {
    let phases = [PUSHING, REGROUPING, FUSING].into_iter().flatten();
    let mut rules: Vec<&str> = phases.map(|rule| rule.name).collect();
    rules.sort_unstable();
    rules.dedup();
    let steps = STEPS.iter().filter(|step| step.when != When::Unrolling);
    let steps = steps.map(|step| step.name);
    let rules = rules.into_iter().chain(steps);
    rules.chain(CONSTRUCTION.iter().map(|law| law.name))
}

/// Push-down needs no limit; these are beyond anything it has ever needed.
const PUSH_DOWN: Limits = Limits {
    iterations: 500,
    nodes: 200_000,
    applications: usize::MAX,
};
/// An expanded form this many times as expensive as the factored one is not worth its nodes.
const HOPELESS: u64 = 2;

/// Normalizes a region whose roots are tensors.
///
/// The result is deterministic, and it is a fixed point: a region in normal form for which the directed engine knows
/// nothing cheaper stays as it is, and such is every result with what is known of it.
pub fn normalize(region: &Region, options: &Options) -> Normalized {
    if let Some(region) = read_components(region) {
        return Normalized {
            region,
            symmetry: Vec::new(),
            known: Known::default(),
            stats: Stats::default(),
        };
    }
    run(region, options, &mut Journal::default()).0
}

/// Normalizes; gives also the terms of all values, as written and in normal form, if a journal is kept.
pub(crate) fn run(
    region: &Region,
    options: &Options,
    journal: &mut Journal,
) -> (Normalized, [Vec<TermId>; 2]) {
    let leaf_cost = LeafCost(&options.leaf_cost);
    let given = Form::new(region.clone(), &options.known.0, leaf_cost, journal);
    let written = given.terms.clone();
    let is_normal = verify_normal_form(region).is_empty();
    let optimizes = options.engine == Engine::EGraph && has_something_to_gain(region);
    let mut stats = Stats::default();
    // A region that is not normal is not settled, so what the engines make of it is wanted in any case.
    let at_once = optimizes && !is_normal && !journal.is_kept();
    let (directed, optimized) = if at_once {
        let mut other = Stats::default();
        let found = both(
            || given.settled(is_normal, leaf_cost, &mut stats, &mut Journal::default()),
            || given.optimized(options, &mut other, &mut Journal::default()),
        );
        stats.add(other);
        found
    } else {
        let directed = given.settled(is_normal, leaf_cost, &mut stats, journal);
        let optimized = match &directed {
            Some(_) if optimizes => given.optimized(options, &mut stats, journal),
            _ => None,
        };
        (directed, optimized)
    };
    let best = match directed {
        None => given,
        Some(directed) => {
            // What is settled already need not settle again.
            let optimized = optimized.filter(|form| form.region != directed.region);
            match optimized.map(|form| form.settle(leaf_cost, &mut stats, journal)) {
                Some(form) if form.price.total <= directed.price.total => form,
                _ => directed,
            }
        }
    };
    stats.cost_after = best.price.arithmetic;
    stats.probes_after = best
        .region
        .defs
        .iter()
        .filter(|def| matches!(def.op.body, Term::Probe { .. }))
        .count();
    let violations = verify_normal_form(&best.region);
    assert!(
        violations.is_empty(),
        "normalization left its normal form: {violations:#?}\n{}",
        best.region
    );
    let normalized = Normalized {
        symmetry: best.facts().map(symmetry).collect(),
        known: Known(best.facts().map(Facts::symmetries).collect()),
        region: best.region,
        stats,
    };
    (normalized, [written, best.terms])
}

/// A region with what is known about it.
struct Form {
    region: Region,
    source: Source,
    price: Price,
    /// The terms of its values, if a journal is kept.
    terms: Vec<TermId>,
}

impl Form {
    /// The form of a region, of whose definitions may be known how they are symmetric.
    fn new(
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

    /// Whether this form is cheaper, or as cheap with fewer definitions: what is written and comes to nothing costs nothing.
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

    /// The form of what was emitted, unless it is this one.
    fn changed(&self, found: Emitted, leaf_cost: LeafCost, journal: &mut Journal) -> Option<Form> {
        let Emitted {
            region, symmetries, ..
        } = found;
        (region != self.region).then(|| Form::new(region, &symmetries, leaf_cost, journal))
    }

    /// The facts of the definitions.
    fn facts(&self) -> impl Iterator<Item = &Facts> {
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
        let (arena, root) = composed(&self.source, journal.is_kept());
        stats.add_laws(&arena.taken);
        self.planned(arena, root, leaf_cost, journal)
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

    /// The form in which the directed engine settles, unless it is this one. Notes what there was before.
    fn settled(
        &self,
        is_normal: bool,
        leaf_cost: LeafCost,
        stats: &mut Stats,
        journal: &mut Journal,
    ) -> Option<Form> {
        let (arena, root) = composed(&self.source, journal.is_kept());
        stats.add_laws(&arena.taken);
        stats.cost_before = arena_cost(&arena, root, leaf_cost).arithmetic;
        stats.probes_before = unsliced_probes(&arena, root);
        let directed = self.planned(arena, root, leaf_cost, journal);
        let directed = directed.filter(|form| !is_normal || form.is_better_than(self))?;
        Some(directed.settle(leaf_cost, stats, journal))
    }

    /// The first of the forms that the directed engine makes of each other after which none is cheaper.
    fn settle(self, leaf_cost: LeafCost, stats: &mut Stats, journal: &mut Journal) -> Form {
        let mut current = self;
        loop {
            match current.directed(leaf_cost, stats, journal) {
                Some(next) if next.is_better_than(&current) => current = next,
                _ => return current,
            }
        }
    }

    /// The form that equality saturation finds, if it finds any other than this.
    fn optimized(
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

/// The root of an extracted arena is what was added last.
pub(crate) fn extracted_root(arena: &Arena) -> Id {
    Id::from(arena.len() - 1)
}

/// Whether the optimizing phases can do anything: there is a field, a sum or a result that is not a scalar.
fn has_something_to_gain(region: &Region) -> bool {
    fn indexed(term: &Term) -> bool {
        match term {
            Term::Const(_) | Term::Access { .. } => false,
            Term::Position { .. }
            | Term::Eigen { .. }
            | Term::Delta(..)
            | Term::Epsilon(_)
            | Term::Sum { .. }
            | Term::Deriv { .. }
            | Term::Probe { .. } => true,
            Term::Neg(body) | Term::Pow(body, _) => indexed(body),
            Term::Add(terms) | Term::Mul(terms) | Term::Apply(_, terms) => {
                terms.iter().any(indexed)
            }
            Term::Sub(a, b) | Term::Div(a, b) => indexed(a) || indexed(b),
            Term::Cond {
                sides,
                then,
                otherwise,
                ..
            } => sides.iter().any(indexed) || indexed(then) || indexed(otherwise),
        }
    }
    let works = region
        .defs
        .iter()
        .filter(|def| !matches!(def.op.body, Term::Probe { .. }));
    let mut gains = works.filter(|def| !def.op.axes.is_empty() || indexed(&def.op.body));
    gains.next().is_some()
        || !verify_normal_form(region).is_empty()
            && region.defs.iter().any(|def| indexed(&def.op.body))
}

/// A source with derivatives and probes pushed down, sums left factored and contractions as they come.
pub(crate) fn composed(source: &Source, log: bool) -> (Arena, Id) {
    let mut arena = Arena::new(Mode::Lazy, usize::MAX).logging(log);
    let image = arena.normalize(&source.arena, source.root);
    let image = image.expect("an unlimited budget is never used up");
    (arena, image[&source.root])
}

/// Runs the phases; gives the extracted form and the class of each node of the source.
pub(crate) fn optimize(
    graph: &mut Graph,
    source: &Source,
    options: &Options,
    stats: &mut Stats,
    journal: &mut Journal,
) -> Option<(Arena, FxHashMap<Id, Id>)> {
    let budget = options.node_budget;
    let reachable = source.arena.reachable(source.root);
    let nodes = reachable.iter().map(|&id| (id, source.arena.node(id)));
    let (classes, written) = insert_nodes(graph, nodes);
    let root = classes[&source.root];
    let leaf_cost = LeafCost(&options.leaf_cost);

    let (_, iterations) = saturate(graph, PUSHING, PUSH_DOWN, None);
    stats.iterations += iterations;
    if graph[root].data.size == NO_NORMAL_FORM {
        return None;
    }
    graph.analysis.is_pushed = true;
    let first = Choices::new(graph, root, leaf_cost, None).best(&[], false)?;
    let mut seeds = vec![written];
    let representative = add_directed_forms(
        graph,
        root,
        &first,
        leaf_cost,
        budget / 2,
        &mut seeds,
        journal,
    );

    let start = graph.total_size();
    let limits = |share: usize| Limits {
        iterations: options.iterations,
        nodes: start + share,
        applications: budget,
    };
    let (_, iterations) = saturate(graph, REGROUPING, limits(budget * 2 / 3), None);
    stats.iterations += iterations;
    let (_, iterations) = saturate(graph, FUSING, limits(budget), None);
    stats.iterations += iterations;

    let permitted: Places = representative
        .iter()
        .map(|node| node.clone().map_children(|child| graph.find(child)))
        .flat_map(|node| singular_places(&node))
        .collect();
    let permitted = (!options.relaxed).then_some(&permitted);
    let best = Choices::new(graph, root, leaf_cost, permitted).best(&seeds, true)?;
    Some((best, classes))
}

/// Adds the factored, expanded and planned forms of a representative, each class equal to its image; the expanded one
/// only if it takes no more than `products` products. Gives the nodes of the representative.
fn add_directed_forms(
    graph: &mut Graph,
    root: Id,
    first: &Arena,
    leaf_cost: LeafCost,
    products: usize,
    seeds: &mut Vec<Vec<Node>>,
    journal: &mut Journal,
) -> Vec<Node> {
    let first_root = extracted_root(first);
    let reachable = first.reachable(first_root);
    let (classes, representative) =
        insert_nodes(graph, reachable.iter().map(|&id| (id, first.node(id))));
    unite(
        graph,
        Left::Class(root),
        root,
        classes[&first_root],
        "representative",
    );
    seeds.push(representative.clone());
    let mut best = None;
    let forms = [
        (Mode::Lazy, usize::MAX, "collect"),
        (Mode::Expanded, products, "expand"),
    ];
    for (mode, products, name) in forms {
        let mut arena = Arena::new(mode, products).logging(journal.is_kept());
        let image = arena.normalize(first, first_root);
        graph.analysis.taken.add(&arena.taken);
        let Some(image) = image else {
            continue;
        };
        let arena_root = image[&first_root];
        let (mut planned, planned_root) = plan(&arena, arena_root, journal.is_kept());
        journal.arena(&mut arena);
        journal.arena(&mut planned);
        let price = arena_cost(&planned, planned_root, leaf_cost).arithmetic;
        if price > HOPELESS * *best.get_or_insert(price) {
            continue;
        }
        let nodes = arena.reachable(arena_root);
        let (inserted, written) = insert_nodes(graph, nodes.iter().map(|&id| (id, arena.node(id))));
        seeds.push(written);
        for id in &reachable {
            if let Some(class) = image.get(id).and_then(|id| inserted.get(id)) {
                unite(graph, Left::Class(classes[id]), classes[id], *class, name);
            }
        }
        rebuild(graph);
        seeds.push(add_plan(graph, root, &planned, planned_root));
    }
    let (mut planned, planned_root) = plan(first, first_root, journal.is_kept());
    journal.arena(&mut planned);
    seeds.push(add_plan(graph, root, &planned, planned_root));
    representative
}

/// Adds a planned form as equal to the root; gives its nodes.
fn add_plan(graph: &mut Graph, root: Id, planned: &Arena, planned_root: Id) -> Vec<Node> {
    let nodes = planned.reachable(planned_root);
    let (image, inserted) = insert_nodes(graph, nodes.iter().map(|&id| (id, planned.node(id))));
    unite(graph, Left::Class(root), root, image[&planned_root], "plan");
    rebuild(graph);
    inserted
}
