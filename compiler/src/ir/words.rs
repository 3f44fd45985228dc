//! Words of operations in the texts of all IRs, and how they are read.

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
        StrandSet::named(self.word(n)?).ok_or_else(|| self.bad())
    }

    /// A word that is a reduction.
    pub(crate) fn reduction(&self, n: usize) -> Result<Reduction, String> {
        Reduction::named(self.word(n)?).ok_or_else(|| self.bad())
    }
}
