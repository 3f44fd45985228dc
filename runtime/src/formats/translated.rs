//! Translators: the request they receive, and their result for the beginning of a file.

use std::fs::File;
use std::path::Path;

use super::{Facts, Note};
use crate::nrrd::{Header, Storage};
use crate::vtk::Packing;

/// The result of a translator for the beginning of a file.
pub(crate) struct Translated {
    pub(crate) header: Header,
    /// Where the samples are; skips count from the beginning of the file.
    pub(crate) storage: Storage,
    pub(crate) packing: Option<Packing>,
    pub(crate) scale: Option<(f64, f64)>,
    pub(crate) facts: Facts,
    pub(crate) notes: Vec<Note>,
    /// The other arrays of the file: their names, and how many numbers a sample of theirs has.
    pub(crate) others: Vec<(String, usize)>,
}

/// A request for a file.
pub(crate) struct Asked<'a> {
    /// Its name without its directory.
    pub(super) name: &'a str,
    /// The array that is wanted of several.
    pub(super) array: Option<&'a str>,
    /// Where it is, if it is a file that can be looked at anywhere.
    pub(super) path: Option<&'a Path>,
}

impl Asked<'_> {
    /// The file, to read past its beginning.
    pub(super) fn file(&self) -> Option<File> {
        self.path.and_then(|path| File::open(path).ok())
    }
}

/// Says that a file has no array of a name, and which it has.
pub(super) fn no_array<'n>(name: &str, found: impl Iterator<Item = (&'n str, usize)>) -> String {
    let names: Vec<String> = found.map(|(name, _)| format!("`{name}`")).collect();
    format!(
        "the file has no array `{name}`; it has {}",
        names.join(", ")
    )
}

impl Translated {
    /// Takes note of the arrays beside the one that is read.
    pub(super) fn add_others<'n>(
        &mut self,
        read: &str,
        all: impl Iterator<Item = (&'n str, usize)>,
    ) {
        let others = all.filter(|(name, _)| *name != read);
        self.others = others
            .map(|(name, count)| (name.to_string(), count))
            .collect();
        if !self.others.is_empty() {
            let names: Vec<&str> = self.others.iter().map(|(name, _)| name.as_str()).collect();
            self.notes.push(Note::new(format!(
                "the array `{read}` is read; there are also {}, for which `FILE#ARRAY` asks",
                names.join(", ")
            )));
        }
    }

    pub(super) fn new(header: Header, storage: Storage) -> Translated {
        Translated {
            header,
            storage,
            packing: None,
            scale: None,
            facts: Facts::default(),
            notes: Vec::new(),
            others: Vec::new(),
        }
    }
}

/// A translator: takes the beginning of a file and a request for it, and gives a description of the samples or an error message.
pub(super) type Translate = fn(&[u8], &Asked<'_>) -> Result<Translated, String>;
