//! Running compiled programs: inputs, images, strands, outputs and their files.
//!
//! [`Run`] is the one state machine: its globals are computed, strands are created, they take super-steps, they end. It decides once
//! whether strands are kept, from the program, the limit and its observers. The command, the library, Python and C are adapters
//! of it; files, films and viewers are [`Observer`]s.

pub mod camera;
mod colour_maps;
mod contacts;
mod decisions;
mod device_outputs;
mod devices;
mod facts;
mod failure;
mod fems;
mod global;
mod image_files;
mod images;
mod inputs;
mod last_images;
mod observer;
mod outputs;
mod placement;
mod places;
mod progress;
mod recording;
mod remarks;
mod retrace;
mod scales;
mod shared_outputs;
mod space;
mod stage;
mod strands;
mod values;

pub use colour_maps::colour_map_names;
pub use device_outputs::DeviceOutput;
pub use failure::{FailedStrand, Failure};
pub use fems::FemSource;
pub use image_files::ImageSource;
pub(crate) use image_files::KeptFiles;
pub use images::Images;
pub use inputs::Inputs;
pub use last_images::LastImages;
pub use observer::{Observer, Rows};
pub use outputs::{OutputData, output_type, outputs};
pub use placement::Refusal;
pub use progress::Length;
pub use recording::Recording;
pub use values::input_type;

use crate::{
    codegen::{Compiled, Target},
    front::{codes, tree::Constant},
    ssa::Role,
};
use devices::Devices;
use placement::Placement;
use runtime::{
    grid::Place,
    input::InputValue,
    output::Domain,
    strands::Counts,
    world::{
        self, Completion, Control, Creation, GlobalSequences, RunEnd, RunError, Taker, Wanted,
        Workers, World,
    },
};
use shared_outputs::SharedOutputs;
use stage::{Stage, WantedVariables};
use std::{io::Write, sync::Arc};
use strands::Strands;
use values::Initial;

/// A run of a program.
pub struct Run {
    program: Compiled,
    /// The values of inputs that were set.
    values: Arc<Vec<Option<InputValue>>>,
    images: Images,
    stage: Stage,
    workers: Workers,
    control: Arc<Control>,
    /// The number of values of each creation iterator.
    sizes: Vec<usize>,
    /// The place of the grid by the positions of its strands, or the reason why they show none.
    place: Option<Result<Place, String>>,
    /// Failures of a GPU in runs that the CPU finished.
    troubles: Vec<Failure>,
    /// The error that ended it.
    failure: Option<Failure>,
}

impl Run {
    /// Loads images, takes inputs and computes the globals.
    ///
    /// # Errors
    /// An error in an input, or a run-time error of the initialization.
    pub fn new(
        program: &Compiled,
        inputs: &Inputs,
        workers: impl Into<Workers>,
    ) -> Result<Run, Failure> {
        let images = Images::load(program, inputs)?;
        Run::with_images(program, inputs, &images, &workers.into())
    }

    /// The same after another run of the program, whose images may be on GPUs.
    ///
    /// # Errors
    /// As for [`Run::new`].
    pub fn after(
        last: &LastImages,
        program: &Compiled,
        inputs: &Inputs,
        workers: &Workers,
    ) -> Result<Run, Failure> {
        let images = match Images::load(program, inputs) {
            // There may be room for only one set of images.
            Err(_) if last.forget() => Images::load(program, inputs)?,
            loaded => loaded?,
        };
        let images = Run::smoothed(program, inputs, &images, workers)?;
        last.hand_on(program, inputs, &images);
        images.begin_run();
        Run::with_values(program, inputs.values(), &images, workers)
    }

    /// Takes inputs and images, which several runs may share, and computes the globals.
    ///
    /// # Errors
    /// An error in an input, or a run-time error of the initialization.
    pub fn with_images(
        program: &Compiled,
        inputs: &Inputs,
        images: &Images,
        workers: &Workers,
    ) -> Result<Run, Failure> {
        let images = Run::smoothed(program, inputs, images, workers)?;
        images.begin_run();
        Run::with_values(program, inputs.values(), &images, workers)
    }

    /// The images at the scales of the inputs.
    fn smoothed(
        program: &Compiled,
        inputs: &Inputs,
        images: &Images,
        workers: &Workers,
    ) -> Result<Images, Failure> {
        let fitted = program.for_images(images.zeros());
        match scales::of_run(&fitted, inputs, images)? {
            Some(scales) => workers.work(|| images.at_scales(&fitted, &scales)),
            None => Ok(images.clone()),
        }
    }

    /// Takes the values of inputs, and images at their scales, and computes the globals.
    fn with_values(
        program: &Compiled,
        values: &Arc<Vec<Option<InputValue>>>,
        images: &Images,
        workers: &Workers,
    ) -> Result<Run, Failure> {
        let fitted = program.for_images(images.zeros());
        let mut sequences = GlobalSequences::default();
        let mut initial = Initial::new(&fitted, values, images, &mut sequences)?;
        // The variables are followed by the invariants, and these by the bounds of the creation iterators.
        let further = fitted.invariants + 2 * fitted.interface.axes.len();
        initial.cells.resize(initial.cells.len() + further, 0);
        let team = workers.team().map(Arc::as_ref);
        let placement = Placement::new(&fitted, images, team)?;
        let mut strands = Strands::new(fitted, initial, images.clone(), placement);
        strands.run_once(Role::Globals, &mut sequences)?;
        strands.run_once(Role::Domain, &mut sequences)?;
        Ok(Run {
            program: program.clone(),
            values: Arc::clone(values),
            images: images.clone(),
            sizes: strands.domain_sizes(),
            stage: Stage::Prepared(Box::new((strands, sequences))),
            workers: workers.clone(),
            control: Arc::default(),
            place: None,
            troubles: Vec::new(),
            failure: None,
        })
    }

    /// The handle by which other threads watch or stop it, from its beginning to its end.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// The value of an input before the first super-step, given or by default; not that of a file.
    pub fn input(&self, name: &str) -> Option<Constant> {
        let interface = &self.program.interface;
        let input = interface.inputs.iter().find(|input| input.name == name)?;
        self.stage.strands()?.global(interface.variable_of(input)?)
    }

    /// Makes the grid of strands coarser, before there are any: only every `stride`th value of each creation iterator is used. Strands
    /// that do not notice each other then have the results that they have in the full grid.
    pub fn set_stride(&mut self, stride: u32) {
        if let Stage::Prepared(prepared) = &mut self.stage {
            prepared.0.set_stride(stride);
            self.sizes = prepared.0.domain_sizes();
        }
    }

    /// The strands that are created.
    pub fn domain(&self) -> Domain {
        if self.program.interface.grid {
            return Domain::Grid(self.sizes.clone());
        }
        let mut sizes = self.sizes.iter();
        let count = sizes.try_fold(1usize, |n, &size| n.checked_mul(size));
        Domain::List(count.unwrap_or(usize::MAX))
    }

    /// Runs up to `limit` super-steps, or to the end. Printed text goes to `printer`.
    ///
    /// # Errors
    /// The run-time error that ended the run, or the error of an observer; a later call gives it again. After a lack of memory the
    /// strands can still be read.
    pub fn run(
        &mut self,
        limit: Option<u64>,
        printer: &mut dyn Write,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunEnd, Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let ran = self.advance(limit, printer, observers);
        // Values that were not there may be behind any other error.
        let ran = ran.map_err(|failure| self.images.failure().unwrap_or(failure));
        match &ran {
            Ok(RunEnd::Cancelled) => self.stage = Stage::Over,
            Ok(_) => {}
            Err(failure) => {
                if failure.code != codes::OUT_OF_MEMORY {
                    self.stage = Stage::Over;
                }
                self.failure = Some(failure.clone());
            }
        }
        ran
    }

    fn advance(
        &mut self,
        limit: Option<u64>,
        printer: &mut dyn Write,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunEnd, Failure> {
        let is_new = self.is_new();
        let streamed = match is_new && !self.keeps_strands(limit, observers) {
            true => self.stream(printer, observers)?,
            // Several strands may have failed. Only a run that keeps the strands finds the first failure.
            false => None,
        };
        let end = match streamed {
            Some(end) => end,
            None => {
                self.create()?;
                if is_new {
                    each(observers, |observer| observer.created(self))?;
                    self.call_due(observers)?;
                }
                self.periods(limit, printer, observers)?
            }
        };
        if end != RunEnd::Cancelled {
            self.check_images()?;
            self.share_contacts()?;
            each(observers, |observer| observer.ended(self, end))?;
        }
        Ok(end)
    }

    /// The one decision whether strands are kept. Those that cannot notice each other are not, unless something reads them on their
    /// way. A GPU runs all together, and keeps them unless it makes them as well.
    fn keeps_strands(&self, limit: Option<u64>, observers: &[&mut dyn Observer]) -> bool {
        let Some(strands) = self.stage.strands() else {
            return true;
        };
        let program = strands.program();
        let mut observers = observers.iter();
        // Text stays on the rank of its strand unless ranks go in step.
        let prints_elsewhere = program.abilities.prints && self.workers.team().is_some();
        limit.is_some()
            || prints_elsewhere
            || observers.any(|observer| observer.needs_strands() || observer.period().is_some())
            || strands.placement().wants_accelerator
                && !(strands.are_made_there() && self.workers.team().is_none())
            || !world::can_be_forgotten(&program.state.layout, program.abilities)
    }

    /// Creates the strands, unless that was done.
    ///
    /// # Errors
    /// There are too many, or the initialization of one fails.
    pub fn create(&mut self) -> Result<(), Failure> {
        let (strands, sequences) = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Prepared(prepared) => *prepared,
            other => {
                self.stage = other;
                return Ok(());
            }
        };
        let iterators = strands.iterators();
        let mut world = World::new(strands, &self.creation(), sequences, &self.workers)
            .map_err(|error| Failure::of_creation(error, &iterators))?;
        // A GPU that has just been woken has had some time by now.
        let team = self.workers.team().map(Arc::as_ref);
        world.program_mut().make_ready(team)?;
        let devices = world.program().placement().devices.as_ref();
        if let Some(runners) = devices.map(Devices::runners) {
            world.set_runners(runners);
        }
        world.set_control(Arc::clone(&self.control));
        self.stage = Stage::Kept(Box::new(world));
        self.place = self.place_by_positions();
        Ok(())
    }

    /// Creates strands, runs them to their ends and forgets them; only their outputs and first positions remain. `None` if one of
    /// them failed.
    fn stream(
        &mut self,
        printer: &mut dyn Write,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Option<RunEnd>, Failure> {
        for observer in observers.iter_mut() {
            observer.streams(self);
        }
        if let Stage::Prepared(prepared) = &mut self.stage
            && prepared.0.are_made_there()
        {
            prepared.0.make_ready(None)?;
        }
        let Stage::Prepared(prepared) = &self.stage else {
            return Ok(None);
        };
        let (strands, sequences) = &**prepared;
        print(strands, printer)?;
        let variables = WantedVariables::of(strands.program());
        let takers: Vec<&dyn Rows> = observers.iter().filter_map(|o| o.rows()).collect();
        let passes = |output: usize| {
            observers.iter().all(|observer| match observer.rows() {
                Some(rows) => rows.is_last(output),
                None => !observer.reads_outputs(),
            })
        };
        let mut passing: Vec<bool> = (0..variables.outputs.len()).map(passes).collect();
        let team = self.workers.team().filter(|_| {
            let program = strands.program();
            program.interface.grid && !program.abilities.dies
        });
        let shared = match team {
            Some(team) => SharedOutputs::agree(team, &takers, &passing)?,
            None => None,
        };
        if shared.is_some() {
            passing.fill(true);
        }
        let take = |output: usize, before: usize, values: &[u8]| match &shared {
            Some(shared) => shared.take(output, before, values),
            None => {
                let takers = takers.iter();
                takers.for_each(|taker| taker.take(output, before, values));
            }
        };
        let wanted = Wanted {
            initial: &variables.initial,
            outputs: &variables.outputs,
            taker: (!takers.is_empty() || shared.is_some()).then_some(Taker {
                take: &take,
                passing: &passing,
                is_shared: shared.is_some(),
            }),
        };
        let control = Arc::clone(&self.control);
        let ended = world::complete(
            strands,
            &self.creation(),
            sequences,
            &self.workers,
            wanted,
            control,
        );
        let completed =
            match ended.map_err(|error| Failure::of_creation(error, strands.iterators()))? {
                Completion::Completed(completed) => *completed,
                Completion::Cancelled => return Ok(Some(RunEnd::Cancelled)),
                Completion::Failed | Completion::Declined => return Ok(None),
            };
        if let Some(shared) = shared {
            shared.finish()?;
        }
        write_text(&completed.text, printer)?;
        if let Stage::Prepared(prepared) = std::mem::replace(&mut self.stage, Stage::Over) {
            self.stage = Stage::completed(prepared.0, variables, completed);
        }
        self.place = self.place_by_positions();
        each(observers, |observer| observer.created(self))?;
        Ok(Some(self.end()))
    }

    /// How strands that were streamed have ended.
    fn end(&self) -> RunEnd {
        match self.counts().active {
            0 => RunEnd::Finished,
            _ => RunEnd::Stopped,
        }
    }

    /// Runs super-steps, with calls of the observers between them.
    fn periods(
        &mut self,
        limit: Option<u64>,
        printer: &mut dyn Write,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunEnd, Failure> {
        let last = limit.map(|limit| self.steps().saturating_add(limit));
        loop {
            let steps = self.steps();
            let periods = observers.iter().filter_map(|observer| observer.period());
            let next = periods.map(|period| period - steps % period).min();
            let left = last.map(|last| last - steps);
            let end = self.super_steps(next.into_iter().chain(left).min(), printer)?;
            if end != RunEnd::Cancelled && self.steps() > steps {
                self.call_due(observers)?;
            }
            if end != RunEnd::StepLimit || last.is_some_and(|last| self.steps() >= last) {
                return Ok(end);
            }
        }
    }

    /// Calls the observers whose period has passed.
    fn call_due(&self, observers: &mut [&mut dyn Observer]) -> Result<(), Failure> {
        self.check_images()?;
        let is_due = |period: u64| self.steps().is_multiple_of(period);
        each(observers, |observer| match observer.period() {
            Some(period) if is_due(period) => observer.stepped(self),
            _ => Ok(()),
        })
    }

    /// Refuses to go on if samples could not be loaded on demand.
    fn check_images(&self) -> Result<(), Failure> {
        self.images.failure().map_or(Ok(()), Err)
    }

    fn super_steps(
        &mut self,
        limit: Option<u64>,
        printer: &mut dyn Write,
    ) -> Result<RunEnd, Failure> {
        let world = match &mut self.stage {
            Stage::Kept(world) => world,
            Stage::Completed(_) => return Ok(self.end()),
            Stage::Prepared(_) | Stage::Over => return Ok(RunEnd::Cancelled),
        };
        print(world.program(), printer)?;
        let end = world.run(limit, printer);
        if let Err(RunError::Lost { .. }) = end
            && let Some(trouble) = world.program().placement().take_trouble()
        {
            return Err(trouble);
        }
        let end = end.map_err(|error| Failure::of_run(error, world.program().iterators()))?;
        if let Some(failure) = world.program().failure() {
            return Err(failure);
        }
        let team = self.workers.team().map(Arc::as_ref);
        for trouble in world.program().placement().troubles(team)? {
            if world.program().program().target == Target::CudaOnly {
                return Err(trouble);
            }
            self.troubles.push(trouble);
        }
        Ok(end)
    }

    /// Super-steps completed.
    pub fn steps(&self) -> u64 {
        match &self.stage {
            Stage::Kept(world) => world.steps(),
            Stage::Completed(remains) => remains.completed.steps,
            Stage::Prepared(_) | Stage::Over => self.control.progress().0,
        }
    }

    /// Sizes of the strand sets.
    pub fn counts(&self) -> Counts {
        match &self.stage {
            Stage::Kept(world) => world.counts(),
            Stage::Completed(remains) => remains.completed.counts,
            Stage::Prepared(_) => Counts {
                active: self.domain().strand_count() as u64,
                ..Counts::default()
            },
            Stage::Over => self.control.progress().1,
        }
    }

    /// Whether there is nothing more to run.
    pub fn is_over(&self) -> bool {
        match &self.stage {
            Stage::Prepared(_) => false,
            Stage::Kept(world) => self.failure.is_some() || world.counts().active == 0,
            Stage::Completed(_) | Stage::Over => true,
        }
    }

    /// Whether its strands are yet to be created.
    pub fn is_new(&self) -> bool {
        matches!(self.stage, Stage::Prepared(_))
    }

    /// Whether its outputs can be read.
    pub fn is_readable(&self) -> bool {
        matches!(self.stage, Stage::Kept(_) | Stage::Completed(_))
    }

    /// Whether strands are kept.
    pub fn keeps(&self) -> bool {
        matches!(self.stage, Stage::Kept(_))
    }

    /// Whether all values of the outputs went to the takers of its observers.
    pub fn is_streamed(&self) -> bool {
        matches!(&self.stage, Stage::Completed(remains) if remains.completed.handed_on)
    }

    /// Memory that the sequences of all strands and global variables take, in bytes.
    pub fn sequence_bytes(&self) -> usize {
        match &self.stage {
            Stage::Kept(world) => usize::try_from(world.live_sequence_bytes()).unwrap_or(0),
            Stage::Prepared(_) | Stage::Completed(_) | Stage::Over => 0,
        }
    }

    /// Does something that divides its work among the workers of the run.
    pub fn on_workers<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.stage {
            Stage::Kept(world) => world.on_workers(work),
            Stage::Completed(remains) => remains.completed.on_workers(work),
            Stage::Prepared(_) | Stage::Over => work(),
        }
    }

    fn creation(&self) -> Creation {
        let sizes = self.sizes.clone();
        match self.program.interface.grid {
            true => Creation::Grid(sizes),
            false => Creation::Collection(sizes),
        }
    }
}

/// Calls all observers.
fn each(
    observers: &mut [&mut dyn Observer],
    mut call: impl FnMut(&mut dyn Observer) -> Result<(), String>,
) -> Result<(), Failure> {
    let mut observers = observers.iter_mut();
    let called = observers.try_for_each(|observer| call(*observer));
    called.map_err(stopped)
}

/// An observer has stopped a run.
fn stopped(message: String) -> Failure {
    Failure::new(codes::OUTPUT, message)
}

/// Writes what code outside the strands printed.
fn print(strands: &Strands, printer: &mut dyn Write) -> Result<(), Failure> {
    write_text(&strands.take_printed(), printer)
}

fn write_text(text: &str, printer: &mut dyn Write) -> Result<(), Failure> {
    let printed = printer.write_all(text.as_bytes());
    printed.map_err(|error| Failure::new(codes::PRINT, RunError::Print(error)))
}
