//! Normalization: its options, its result, and the choice between the two engines.
//!
//! 1. The region is inserted as it was written, all roots under one tuple.
//! 2. Derivatives and probes are pushed down to the leaf fields; this ends, and it yields a normal form.
//! 3. Directed forms of that normal form (factored, expanded, planned) are added as equal.
//! 4. Contractions are regrouped and factored within a budget of nodes.
//! 5. The cheapest form is extracted that is defined wherever the first one is.
//! 6. The directed engine (`form`) runs on it until it finds nothing cheaper. If the same engine gives a cheaper form of the
//!    source, that form is the result.
//!
//! The first five are in `phases`.

use crate::{
    both::both,
    components::read_components,
    cost::LeafCost,
    form::Form,
    journal::{Journal, TermId},
    laws::Taken,
    symmetry::Symmetries,
    verify_normal_form,
};
use ein_ir::{Symmetry, Term, region::Region};
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
    /// For each input of the region the cost of probing one component of it, see [`crate::probe_weight`]; inputs
    /// without an entry are taken for three-dimensional with a cubic kernel.
    pub leaf_cost: Vec<u64>,
    /// Symmetries of the region's definitions that they do not show by themselves, but that other forms of the same values had.
    /// Empty if nothing is known.
    pub symmetry: Vec<Symmetry>,
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
            symmetry: Vec::new(),
            engine: Engine::EGraph,
        }
    }
}

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
    /// Adds the work that equality saturation did at the same time.
    fn add(&mut self, other: Stats) {
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        self.unfinished += other.unfinished;
        self.nodes += other.nodes;
        self.iterations += other.iterations;
    }

    pub(crate) fn add_laws(&mut self, taken: &Taken) {
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
    /// How each definition is symmetric; with that known the region is its own normal form.
    pub symmetry: Vec<Symmetry>,
    /// Counts of the work that was done.
    pub stats: Stats,
}

/// Normalizes a region whose roots are tensors.
///
/// The result is deterministic, and it is a fixed point: a region in normal form for which the directed engine knows
/// nothing cheaper stays as it is. Every result is such a region, given its known symmetries.
pub fn normalize(region: &Region, options: &Options) -> Normalized {
    if let Some(region) = read_components(region) {
        return Normalized {
            region,
            symmetry: Vec::new(),
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
    let known: Vec<Symmetries> = options.symmetry.iter().map(Symmetries::from).collect();
    let given = Form::new(region.clone(), &known, leaf_cost, journal);
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
            // A settled form need not settle again, unless more facts are known.
            let is_new = |form: &Form| {
                form.region != directed.region || form.price.total < directed.price.total
            };
            let optimized = optimized.filter(is_new);
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
        symmetry: best.facts().map(Symmetry::from).collect(),
        region: best.region,
        stats,
    };
    (normalized, [written, best.terms])
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
