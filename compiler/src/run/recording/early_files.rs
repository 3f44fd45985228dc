//! Results whose files are written while their values come.

use crate::run::Rows;
use runtime::output::early::Early;

/// Such results of a run.
#[derive(Default)]
pub(super) struct EarlyFiles {
    /// The outputs and the file of each result, in the order of the plan; no file if it is written in the end.
    pub(super) files: Vec<(Vec<usize>, Option<Early>)>,
    /// Whether the values go nowhere else.
    pub(super) are_last: bool,
}

impl EarlyFiles {
    /// The files that have an output.
    fn of(&self, output: usize) -> impl Iterator<Item = Option<&Early>> {
        let files = self.files.iter();
        let own = files.filter(move |(outputs, _)| outputs.contains(&output));
        own.map(|(_, file)| file.as_ref())
    }
}

impl Rows for EarlyFiles {
    fn take(&self, output: usize, before: usize, values: &[u8]) {
        let files = self.of(output).flatten();
        files.for_each(|file| file.put(before, values));
    }

    fn is_last(&self, output: usize) -> bool {
        self.are_last && self.of(output).all(|file| file.is_some())
    }

    fn file(&self, output: usize) -> Option<&Early> {
        let mut files = self.of(output).filter(|_| self.are_last);
        files.next().flatten().filter(|_| files.next().is_none())
    }
}
