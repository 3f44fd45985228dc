//! All runs of a command line, one after the other. A failure is reported, and the other runs are done.

use super::{
    FAILURE, USAGE, complain,
    execute::{Ended, Execution, failure},
    mpi::ranks,
    program_line::sweep::Sweep,
};

impl Execution<'_> {
    /// Executes the run, or all of them.
    ///
    /// # Errors
    /// Something was wrong before the first, or they were interrupted, or some of them failed.
    pub(super) fn all_runs(&mut self) -> Result<(), Ended> {
        let Some(sweep) = &self.options.sweep else {
            self.one_run(0)?;
            return self.finish();
        };
        let problems = self
            .recording
            .problems(self.compiled, &self.others, &|run| sweep.describe(run));
        for problem in &problems {
            complain(&format!("error: {problem}\n"));
        }
        if !problems.is_empty() {
            return Err(Ended(USAGE));
        }
        let mut failed = Vec::new();
        for number in 0..sweep.runs() {
            if number > 0 && sweep.data(number - 1) != sweep.data(number) {
                self.tell_of_missed();
            }
            let ended = self.one_run(number);
            if let Err(problem) = ranks::end_run(ended.is_err()) {
                // A failure has been reported, if there was one here.
                return Err(ended.err().unwrap_or_else(|| failure(problem)));
            }
            match ended {
                Ok(()) => {}
                Err(ended) if self.ends_all(sweep, &ended) => return Err(ended),
                Err(_) => {
                    complain(&format!(
                        "note: run {number} failed ({})\n",
                        sweep.describe(number)
                    ));
                    failed.push(number);
                }
            }
        }
        let finished = match failed.len() == sweep.runs() {
            // There is nothing to make a film of.
            true => self.finish_printing(),
            false => self.finish(),
        };
        match failed.is_empty() {
            true => finished,
            false => Err(tell_of_failed(sweep, &failed)),
        }
    }

    /// Whether the end of a run is that of all: they are interrupted, or cannot have the images that all of them need, or the files of the
    /// first that came so far cannot be written.
    fn ends_all(&self, sweep: &Sweep, ended: &Ended) -> bool {
        match ended.0 {
            FAILURE => sweep.data(0).is_empty() && self.images.is_none(),
            USAGE => !self.has_begun,
            _ => true,
        }
    }

    /// Completes the files that all runs make together, and reports them.
    fn finish(&mut self) -> Result<(), Ended> {
        self.finish_printing()?;
        let films = self.recording.finish().map_err(failure)?;
        self.tell(&films);
        self.tell_of_numbered();
        self.tell_of_missed();
        self.tell_times(self.last.as_ref());
        Ok(())
    }

    /// Warns of images that the runs so far have missed, and of samples that were found on demand.
    fn tell_of_missed(&mut self) {
        let findings = self.last.iter().flat_map(|run| run.findings());
        self.tell_notes(&findings.collect::<Vec<_>>());
        for warning in self.last.iter().flat_map(|run| run.missed()) {
            complain(&format!("warning: {warning}\n"));
        }
    }
}

/// Lists the runs that failed.
fn tell_of_failed(sweep: &Sweep, failed: &[usize]) -> Ended {
    let (count, all) = (failed.len(), sweep.runs());
    let mut text = format!("error: {count} of {all} runs failed:\n");
    for &number in failed {
        text += &format!("  run {number}: {}\n", sweep.describe(number));
    }
    complain(&text);
    Ended(FAILURE)
}
