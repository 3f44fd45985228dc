//! Normalization: its result, and the choice between the two engines.
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
    options::{Engine, Options, Stats},
    symmetry::Symmetries,
    verify_normal_form,
};
use ein_ir::{Symmetry, Term, region::Region};

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
