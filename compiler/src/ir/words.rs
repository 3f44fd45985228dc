//! Words of operations in the texts of all IRs: names of reductions and strand sets, and how words are read.

use ein_ir::ops::{Reduction, StrandSet};
use std::str::FromStr;

/// The words of an operation's text.
pub(crate) struct Words<'a> {
    text: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Words<'a> {
    /// The words of a text.
    pub(crate) fn of(text: &'a str) -> Words<'a> {
        let words = text.split(' ').collect();
        Words { text, words }
    }

    /// The first word, which names the operation.
    pub(crate) fn name(&self) -> &'a str {
        self.words[0]
    }

    /// That the text cannot be read.
    pub(crate) fn bad(&self) -> String {
        format!("cannot read operation `{}`", self.text)
    }

    fn word(&self, n: usize) -> Result<&'a str, String> {
        self.words.get(n).copied().ok_or_else(|| self.bad())
    }

    /// A word that is a type or the like.
    pub(crate) fn read<T: FromStr<Err = String>>(&self, n: usize) -> Result<T, String> {
        self.word(n)?.parse()
    }

    /// All words from one on.
    pub(crate) fn rest<T: FromStr<Err = String>>(&self, from: usize) -> Result<Vec<T>, String> {
        let rest = self.words.get(from..).unwrap_or_default();
        rest.iter().map(|word| word.parse()).collect()
    }

    /// A word that is a number.
    pub(crate) fn number<T: FromStr>(&self, n: usize) -> Result<T, String> {
        self.word(n)?.parse().map_err(|_| self.bad())
    }

    /// A word that is a strand set.
    pub(crate) fn set(&self, n: usize) -> Result<StrandSet, String> {
        named(&SETS, self.word(n)?).ok_or_else(|| self.bad())
    }

    /// A word that is a reduction.
    pub(crate) fn reduction(&self, n: usize) -> Result<Reduction, String> {
        named(&REDUCTIONS, self.word(n)?).ok_or_else(|| self.bad())
    }
}

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

/// The name of a strand set.
pub(crate) fn set_name(set: StrandSet) -> &'static str {
    name(&SETS, set)
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
