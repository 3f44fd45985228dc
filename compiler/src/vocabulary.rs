//! Names of reductions and strand sets in the texts of all IRs.

use ein_ir::ops::{Reduction, StrandSet};

const REDUCTIONS: [(Reduction, &str); 8] = [
    (Reduction::All, "all"),
    (Reduction::Exists, "exists"),
    (Reduction::Sum, "sum"),
    (Reduction::Product, "product"),
    (Reduction::Min, "min"),
    (Reduction::Max, "max"),
    (Reduction::Mean, "mean"),
    (Reduction::Variance, "variance"),
];

const SETS: [(StrandSet, &str); 3] = [
    (StrandSet::All, "all"),
    (StrandSet::Active, "active"),
    (StrandSet::Stable, "stable"),
];

/// The name of a reduction.
pub(crate) fn reduction_name(reduction: Reduction) -> &'static str {
    name(&REDUCTIONS, reduction)
}

/// The reduction of this name.
pub(crate) fn reduction_named(text: &str) -> Option<Reduction> {
    named(&REDUCTIONS, text)
}

/// The name of a strand set.
pub(crate) fn set_name(set: StrandSet) -> &'static str {
    name(&SETS, set)
}

/// The strand set of this name.
pub(crate) fn set_named(text: &str) -> Option<StrandSet> {
    named(&SETS, text)
}

fn name<T: PartialEq>(table: &[(T, &'static str)], item: T) -> &'static str {
    let (_, name) = table
        .iter()
        .find(|(row, _)| *row == item)
        .expect("a row for every item");
    name
}

fn named<T: Copy>(table: &[(T, &'static str)], text: &str) -> Option<T> {
    table
        .iter()
        .find(|(_, name)| *name == text)
        .map(|(item, _)| *item)
}
