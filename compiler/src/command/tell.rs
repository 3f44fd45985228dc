//! The report of a run: written files and values they cannot show, images that were missed, and times.

use super::{
    complain,
    execute::{End, Execution, Times},
    program_line::RunOptions,
};
use crate::run::Run;
use runtime::{
    output::{format::STANDARD_OUTPUT, write::Written},
    world::RunEnd,
};
use std::time::Duration;

impl Execution<'_> {
    /// Reports the files that were written, and notes about values that they do not show.
    pub(super) fn tell(&self, all: &[Written]) {
        let RunOptions { quiet, verbose, .. } = *self.options;
        for written in all {
            let Written {
                file,
                description,
                notes,
                tally,
            } = written;
            let file = &match *file == *STANDARD_OUTPUT {
                true => "standard output".to_string(),
                false => file.to_string(),
            };
            if !quiet {
                complain(&format!("wrote {file} ({description})\n"));
            }
            let of_tally = tally.iter().flat_map(|tally| tally.notes(file, verbose));
            for note in notes.iter().cloned().chain(of_tally) {
                complain(&format!("note: {note}\n"));
            }
        }
    }

    /// Says how numbered pictures become a film.
    pub(super) fn tell_of_numbered(&self) {
        let snapshots = self.recording.plan().snapshots.iter();
        let numbered = self.recording.numbered_results().chain(snapshots);
        let pictures = numbered.filter(|target| target.destination.format.suffix() == "png");
        for target in pictures.filter(|_| !self.options.quiet) {
            let file = target.destination.numbered(0, 1).file.to_string();
            let stem = file.trim_end_matches("-0.png");
            complain(&format!(
                "note: ffmpeg -framerate 25 -pattern_type glob -i '{stem}-*.png' -pix_fmt yuv420p {stem}.mp4 makes a film of them\n"
            ));
        }
    }

    pub(super) fn tell_of_unfinished(&self, run: &Run, end: End) {
        let (steps, active) = (run.steps(), run.counts().active);
        let reason = match end {
            End::Run(RunEnd::StepLimit) => format!("stopped at the limit of {steps} super-steps"),
            End::Run(RunEnd::Stopped) => format!("interrupted after {steps} super-steps"),
            End::OutOfMemory => format!("out of memory after {steps} super-steps"),
            End::Run(RunEnd::Finished | RunEnd::Cancelled) => return,
        };
        let unfinished = match active {
            1 => "1 strand was not finished and is written as it is".to_string(),
            n => format!("{n} strands were not finished and are written as they are"),
        };
        complain(&format!("note: {reason}; {unfinished}\n"));
    }

    /// Says why strands run on the CPU although a GPU was asked for.
    pub(super) fn tell_of_cpu(&self, run: &Run) {
        let Some(refusal) = run.refusal() else {
            return;
        };
        let place = match refusal.place {
            Some(byte) => format!(" ({})", self.source.line_of(byte)),
            None => String::new(),
        };
        complain(&format!("warning: {}\n", refusal.warning(&place)));
    }

    pub(super) fn tell_times(&self, run: Option<&Run>) {
        if !self.options.timing && !self.options.verbose {
            return;
        }
        let Times {
            load,
            create,
            steps,
        } = self.times;
        let parts = [
            ("load", load),
            ("create", create),
            ("steps", steps),
            ("gather", self.recording.gathering),
            ("write", self.recording.writing),
        ];
        let times = self.stages.iter().copied().chain(parts);
        complain(&times.map(time_line).collect::<String>());
        let Some(run) = run else {
            return;
        };
        if let Some(phases) = run.phases() {
            let parts = [
                ("gpu load", phases.load),
                ("gpu transfer", phases.transfer),
                ("gpu kernel", phases.kernel),
            ];
            complain(&parts.map(time_line).concat());
        }
        let counts = run.counts();
        complain(&format!(
            "{} super-steps, {} stable, {} active\n",
            run.steps(),
            counts.stable,
            counts.active,
        ));
        for note in run.exchanged() {
            complain(&format!("note: {note}\n"));
        }
    }
}

/// How long something took, on a line.
pub(super) fn time_line((what, time): (&str, Duration)) -> String {
    format!("{what:12} {:9.3} ms\n", time.as_secs_f64() * 1e3)
}
