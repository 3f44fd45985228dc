//! Normalization with a derivation: the equations from a region as written to its normal form.

use crate::{
    derivation::Derivation,
    emit::emit,
    form::composed,
    insert::Source,
    journal::{Journal, TermId},
    normalize::{Normalized, run},
    options::Options,
};
use ein_ir::region::{Region, ValueId};

/// A region in normal form, and how it was found.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Just what [`crate::normalize`] gives.
    pub normalized: Normalized,
    /// The same values with derivatives and probes pushed down to the leaf fields and nothing else done: what the
    /// normal form is measured against.
    pub composed: Region,
    /// The equations that lead from the region to its normal form.
    pub derivation: Derivation,
    /// For each definition of the normal form the values of the region that it is equal to by the equations used.
    pub same: Vec<Vec<ValueId>>,
}

/// Normalizes a region just as [`crate::normalize`] does, and says how.
///
/// # Panics
/// If the journal does not connect the region with the result: a rule did not record its work.
pub fn explain(region: &Region, options: &Options) -> Explained {
    let mut journal = Journal::kept();
    let (normalized, [written, found]) = run(region, options, &mut journal);
    let known = journal.consequences().expect("a journal that is kept");
    let roots = region.roots.iter().zip(&normalized.region.roots);
    let ends: Vec<_> = roots.map(|(a, b)| (written[a.0], found[b.0])).collect();
    let derivation = known.derivation(&ends, &region.inputs);
    let same = |&new: &TermId| {
        let values = (0..written.len()).filter(|&old| known.are_equal(written[old], new));
        values.map(ValueId).collect()
    };
    let source = Source::new(region, &[], false);
    let (arena, root) = composed(&source, false);
    Explained {
        composed: emit(&arena, root, &region.inputs).region,
        derivation: derivation.expect("a normal form is derived from its source"),
        same: found[region.inputs.len()..].iter().map(same).collect(),
        normalized,
    }
}
