//! A run as its user sees it while it goes on: its progress, a way to interrupt it, and the place where its strands run.

use super::{
    complain,
    interrupts::Watch,
    mpi::ranks,
    program_line::RunOptions,
    progress::{Part, Progress},
};
use crate::run::{Observer, Run};
use std::sync::Arc;

/// Attends a run: shows its progress, lets the user interrupt it, and reports where strands run once they have been created.
pub(super) struct Attendance<'a> {
    pub(super) options: &'a RunOptions,
    /// Which of several runs this is.
    pub(super) part: Option<Part>,
    pub(super) is_absence_reported: &'a mut bool,
    pub(super) under_way: Option<(Watch, Progress)>,
}

impl Attendance<'_> {
    fn begin(&mut self, run: &Run) {
        let RunOptions {
            keep,
            verbose,
            quiet,
            ..
        } = *self.options;
        let control = run.control();
        let length = run.length(self.options.files.limit);
        let watch = Watch::over(Arc::clone(control), keep);
        let quiet = quiet || ranks::is_silent();
        let progress = Progress::start(Arc::clone(control), length, self.part, verbose, quiet);
        self.under_way = Some((watch, progress));
    }
}

impl Observer for Attendance<'_> {
    fn needs_strands(&self) -> bool {
        self.options.keep
    }

    fn reads_outputs(&self) -> bool {
        false
    }

    fn streams(&mut self, run: &Run) {
        self.begin(run);
    }

    fn created(&mut self, run: &Run) -> Result<(), String> {
        if let Some(absence) = run.absence()
            && !std::mem::replace(self.is_absence_reported, true)
        {
            complain(&format!("warning: {absence}\n"));
        }
        let gpus = run.gpus_of_ranks();
        if self.options.verbose && !gpus.is_empty() {
            complain(&format!("note: strands run on {}\n", gpus.join(", ")));
        }
        if let (Some(reason), true) = (run.why_not_placed(), self.options.verbose) {
            complain(&format!(
                "note: the positions of the strands do not place the grid: {reason}\n"
            ));
        }
        if self.under_way.is_none() {
            self.begin(run);
        }
        Ok(())
    }
}
