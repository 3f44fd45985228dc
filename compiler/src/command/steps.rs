//! The steps of a run: all at once if nothing is asked in between, or one after the other with snapshots.

use super::{
    execute::{Ended, Execution, fail, interrupted, print_failed},
    interrupts::Watch,
    progress::{Length, Progress},
};
use crate::run::{Failure, Prepared, Running};
use runtime::{
    input::options::RunOptions,
    output::{
        place::{Place, Placement},
        plan::Plan,
        write::Number,
    },
    world::{Control, RunEnd},
};
use std::{io::Write, sync::Arc, time::Instant};

/// Strands after their steps.
pub(super) struct Ran {
    pub(super) running: Running,
    /// Where the grid of each output lies.
    pub(super) places: Vec<Option<Place>>,
    pub(super) end: RunEnd,
}

impl Execution<'_> {
    /// Whether nothing is asked of strands before they have ended.
    pub(super) fn only_the_end_counts(&self, plan: &Plan) -> bool {
        let options = self.options;
        let by_variable = |place: &Placement| matches!(place, Placement::Variable(_));
        let mut places = options.outputs.iter().flat_map(|output| &output.place);
        options.limit.is_none()
            && options.snapshot_period.is_none()
            && !options.keep
            && plan.snapshots.is_empty()
            && !places.any(by_variable)
    }

    /// Makes strands and runs them to their ends, with nothing in between.
    pub(super) fn complete(
        &mut self,
        prepared: Prepared,
        workers: usize,
        printer: &mut dyn Write,
    ) -> Result<Ran, Ended> {
        let start = Instant::now();
        let control = Arc::new(Control::default());
        let strands = prepared.domain().strand_count() as u64;
        let running = watched(self.options, &control, Some(strands), printer, |printer| {
            let failed = |failure: Failure| Ended(fail(self.source, &failure));
            prepared
                .complete(workers, &control, printer)
                .map_err(failed)
        })?;
        self.times.steps += start.elapsed();
        let running = running.ok_or_else(interrupted)?;
        Ok(Ran {
            places: self.places(&running)?,
            running,
            end: RunEnd::Finished,
        })
    }

    /// Makes strands and runs them to the end or the limit, with snapshots on the way.
    pub(super) fn step_by_step(
        &mut self,
        prepared: Prepared,
        workers: usize,
        plan: &Plan,
        printer: &mut dyn Write,
    ) -> Result<Ran, Ended> {
        let start = Instant::now();
        let failed = |failure: Failure| Ended(fail(self.source, &failure));
        let mut running = prepared.create(workers).map_err(failed)?;
        let places = self.places(&running)?;
        self.times.create += start.elapsed();
        let start = Instant::now();
        let counts = running.counts();
        let strands = (!running.creates_strands()).then_some(counts.active + counts.stable);
        let control = running.control();
        let end = watched(self.options, &control, strands, printer, |printer| {
            self.steps(&mut running, plan, &places, printer)
        })?;
        self.times.steps += start.elapsed();
        Ok(Ran {
            running,
            places,
            end,
        })
    }

    fn steps(
        &mut self,
        running: &mut Running,
        plan: &Plan,
        places: &[Option<Place>],
        printer: &mut dyn Write,
    ) -> Result<RunEnd, Ended> {
        let source = self.source;
        let failed = |failure: Failure| Ended(fail(source, &failure));
        let limit = self.options.limit;
        let Some(period) = self.options.snapshot_period else {
            return running.run(limit, printer).map_err(failed);
        };
        let limit = limit.unwrap_or(u64::MAX);
        self.snapshot(running, plan, places)?;
        loop {
            let steps = period.min(limit - running.steps());
            let end = running.run(Some(steps), printer).map_err(failed)?;
            if end != RunEnd::Cancelled {
                self.snapshot(running, plan, places)?;
            }
            if end != RunEnd::StepLimit || running.steps() >= limit {
                return Ok(end);
            }
        }
    }

    fn snapshot(
        &mut self,
        running: &Running,
        plan: &Plan,
        places: &[Option<Place>],
    ) -> Result<(), Ended> {
        let number = Number {
            value: running.steps(),
            digits: plan.digits,
        };
        for target in &plan.snapshots {
            self.write(running, target, Some(number), true, places)?;
        }
        self.add_to_films(running, plan, places)
    }
}

/// Does a run that the user may interrupt, with progress.
fn watched<R>(
    options: &RunOptions,
    control: &Arc<Control>,
    strands: Option<u64>,
    printer: &mut dyn Write,
    run: impl FnOnce(&mut dyn Write) -> Result<R, Ended>,
) -> Result<R, Ended> {
    let watch = Watch::over(Arc::clone(control), options.keep);
    let length = Length {
        strands,
        limit: options.limit,
    };
    let progress = Progress::start(Arc::clone(control), length, options.verbose, options.quiet);
    let ran = run(printer);
    progress.finish();
    let flushed = printer.flush();
    drop(watch);
    let ran = ran?;
    flushed.map_err(|error| print_failed(options, &error))?;
    Ok(ran)
}
