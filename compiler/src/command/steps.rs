//! The steps of a run: all at once if nothing is asked in between, or one after the other with snapshots.

use super::{
    USAGE, complain,
    execute::{Ended, Execution, fail, interrupted, print_failed},
    interrupts::Watch,
    progress::Progress,
    space,
};
use crate::{
    front::codes,
    run::{Failure, Length, Prepared, Running},
};
use runtime::{
    grid::{Place, Placement},
    input::options::RunOptions,
    output::{
        early::Early,
        plan::{Plan, Target},
        write::{Contents, Number},
    },
    world::{Control, RunEnd, Taker},
};
use std::{io::Write, sync::Arc, time::Instant};

/// Strands after their steps.
pub(super) struct Ran {
    pub(super) running: Running,
    /// The place of each output's grid.
    pub(super) places: Vec<Option<Place>>,
    /// The results whose files are already written, in the order of the plan.
    pub(super) early: Vec<Option<Early>>,
    pub(super) end: End,
}

/// How the super-steps of a run ended, if its outputs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As the scheduler says.
    Run(RunEnd),
    /// There was no memory to go on.
    OutOfMemory,
}

impl Execution<'_> {
    /// Whether the values of strands are needed only after they have ended.
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

    /// Begins the files of those results that can be written as their values come.
    fn begin_early(
        &self,
        prepared: &Prepared,
        plan: &Plan,
        number: Option<Number>,
    ) -> Vec<Option<Early>> {
        let begin = |target: &Target| {
            let [output] = target.outputs[..] else {
                return None;
            };
            let options = &self.options.outputs[output];
            let (data, place) = prepared.early_output(output, options.place.as_ref())?;
            let contents = Contents {
                columns: &[data.column(options.range)],
                domain: &data.domain,
                place: place.as_ref(),
            };
            Early::begin(&target.destination, number, contents)
        };
        plan.results.iter().map(begin).collect()
    }

    /// The outputs whose values go to files as they come, and nowhere else.
    fn passing(&self, plan: &Plan, early: &[Option<Early>]) -> Vec<bool> {
        let passes = |output: usize| {
            let targets = plan.results.iter().zip(early);
            let mut its_own = targets.filter(|(target, _)| target.outputs.contains(&output));
            // Several runs may also be made a film of.
            plan.runs.is_none() && its_own.all(|(_, early)| early.is_some())
        };
        (0..self.options.outputs.len()).map(passes).collect()
    }

    /// Creates strands and runs them to their ends; results are written as soon as they are complete.
    pub(super) fn complete(
        &mut self,
        prepared: Prepared,
        plan: &Plan,
        number: Option<Number>,
        printer: &mut dyn Write,
    ) -> Result<Ran, Ended> {
        let start = Instant::now();
        let mut early = self.begin_early(&prepared, plan, number);
        let write = |output: usize, before: usize, values: &[u8]| {
            let targets = plan.results.iter().zip(&early);
            let of_output = targets.filter(|(target, _)| target.outputs == [output]);
            of_output.for_each(|(_, early)| {
                if let Some(early) = early {
                    early.put(before, values);
                }
            });
        };
        let is_any = early.iter().any(Option::is_some);
        let passing = self.passing(plan, &early);
        let taker = is_any.then_some(Taker {
            take: &write,
            passing: &passing,
        });
        let control = Arc::new(Control::default());
        let strands = prepared.domain().strand_count() as u64;
        let running = watched(self.options, &control, Some(strands), printer, |printer| {
            let failed = |failure: Failure| Ended(fail(self.source, &failure));
            prepared
                .complete(&self.workers, &control, printer, taker)
                .map_err(failed)
        })?;
        self.times.steps += start.elapsed();
        let running = running.ok_or_else(interrupted)?;
        if !running.handed_on() {
            early.clear();
        }
        Ok(Ran {
            places: self.places(&running)?,
            running,
            early,
            end: End::Run(RunEnd::Finished),
        })
    }

    /// Makes strands and runs them to the end or the limit, with snapshots on the way.
    pub(super) fn step_by_step(
        &mut self,
        prepared: Prepared,
        plan: &Plan,
        printer: &mut dyn Write,
    ) -> Result<Ran, Ended> {
        let start = Instant::now();
        let failed = |failure: Failure| Ended(fail(self.source, &failure));
        let domain = prepared.domain();
        let mut running = prepared.create(&self.workers).map_err(failed)?;
        self.tell_of_absence(&running);
        space::check_memory(plan, &domain, self.compiled).map_err(|message| {
            complain(&format!("error: {message}\n"));
            Ended(USAGE)
        })?;
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
            early: Vec::new(),
            end,
        })
    }

    fn steps(
        &mut self,
        running: &mut Running,
        plan: &Plan,
        places: &[Option<Place>],
        printer: &mut dyn Write,
    ) -> Result<End, Ended> {
        let (source, keep) = (self.source, self.options.keep);
        let run = |running: &mut Running, limit: Option<u64>, printer: &mut dyn Write| {
            let ran = running.run(limit, printer).map(End::Run);
            ran.or_else(|failure| {
                let status = fail(source, &failure);
                match failure.code == codes::OUT_OF_MEMORY && keep {
                    true => Ok(End::OutOfMemory),
                    false => Err(Ended(status)),
                }
            })
        };
        let limit = self.options.limit;
        let Some(period) = self.options.snapshot_period else {
            return run(running, limit, printer);
        };
        let limit = limit.unwrap_or(u64::MAX);
        self.snapshot(running, plan, places)?;
        loop {
            let steps = period.min(limit - running.steps());
            let end = run(running, Some(steps), printer)?;
            if end != End::Run(RunEnd::Cancelled) {
                self.snapshot(running, plan, places)?;
            }
            if end != End::Run(RunEnd::StepLimit) || running.steps() >= limit {
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
