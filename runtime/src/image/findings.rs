//! Facts about samples that are loaded on demand: how many are missing in the file, or too great. Where an image is read as a
//! whole they are known then; here they are known once the samples are loaded, and are reported after a run.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The facts about the samples of a file that were loaded so far.
#[derive(Debug)]
pub(crate) struct Findings {
    file: String,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// The parts in which something was found. A part counts once, however often it is loaded.
    parts: BTreeSet<usize>,
    missing: u64,
    beyond: u64,
}

impl Findings {
    /// Those of a file, by its name for messages.
    pub(super) fn of(file: &str) -> Findings {
        Findings {
            file: file.to_string(),
            counts: Mutex::default(),
        }
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Takes notice of the samples of a part: how many are missing, and how many finite ones became infinite.
    pub(super) fn add(&self, part: usize, missing: u64, beyond: u64) {
        if (missing, beyond) == (0, 0) {
            return;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.parts.insert(part) {
            counts.missing += missing;
            counts.beyond += beyond;
        }
    }

    /// How many of the samples so far are missing, and how many finite ones became infinite.
    pub(super) fn counts(&self) -> (u64, u64) {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        (counts.missing, counts.beyond)
    }
}
