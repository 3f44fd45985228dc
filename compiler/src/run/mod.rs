//! Running compiled programs: inputs, images, strands, outputs. The room `library` shows how to use it.

mod colour_maps;
mod failure;
mod fems;
mod global;
mod images;
mod inputs;
mod life;
mod outputs;
mod placement;
mod places;
mod progress;
mod remarks;
mod strands;
mod values;

pub use colour_maps::colour_map_names;
pub use failure::{FailedStrand, Failure};
pub use fems::FemSource;
pub use images::ImageSource;
pub use inputs::Inputs;
pub use outputs::{OutputData, output_type, outputs};
pub use placement::Refusal;
pub use progress::Length;
pub use values::input_type;

use crate::{
    codegen::{
        Compiled, Target,
        gpu::{Fleet, Phases},
    },
    front::codes,
    ssa::Role,
};
pub use images::Images;
use life::Life;
use placement::Placement;
use runtime::{
    image::Note,
    output::Domain,
    strands::Counts,
    world::{
        Completion, Control, Creation, GlobalSequences, RunEnd, RunError, Taker, Wanted, Workers,
        World, can_be_forgotten, complete,
    },
};
use std::{io::Write, sync::Arc};
use strands::Strands;
use values::Initial;

/// A program whose inputs have their values and whose strands are yet to be created.
pub struct Prepared {
    strands: Strands,
    sequences: GlobalSequences,
    sizes: Vec<usize>,
}

impl Prepared {
    /// Takes inputs and images, which several runs may share, and computes the globals.
    ///
    /// # Errors
    /// An error in an input, or a run-time error of the initialization.
    pub fn new(program: &Compiled, inputs: &Inputs, images: &Images) -> Result<Prepared, Failure> {
        let program = program.for_images(images.zeros());
        let mut sequences = GlobalSequences::default();
        let mut initial = Initial::new(&program, inputs.values(), &mut sequences)?;
        // The variables are followed by the invariants, and these by the bounds of the creation iterators.
        let further = program.invariants + 2 * program.interface.axes.len();
        initial.cells.resize(initial.cells.len() + further, 0);
        let placement = Placement::new(&program, images)?;
        let mut strands = Strands::new(program, initial, images.clone(), placement);
        strands.run_once(Role::Globals, &mut sequences)?;
        strands.run_once(Role::Domain, &mut sequences)?;
        let sizes = strands.domain_sizes();
        Ok(Prepared {
            strands,
            sequences,
            sizes,
        })
    }

    /// The strands that will be created.
    pub fn domain(&self) -> Domain {
        if self.strands.is_grid() {
            Domain::Grid(self.sizes.clone())
        } else {
            let count = self
                .sizes
                .iter()
                .try_fold(1usize, |n, &size| n.checked_mul(size));
            Domain::List(count.unwrap_or(usize::MAX))
        }
    }

    /// Why strands run on the CPU although a GPU was asked for.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.strands.placement().refusal.as_ref()
    }

    /// Creates the strands.
    ///
    /// # Errors
    /// There are too many, or the initialization of one fails.
    pub fn create(self, workers: &Workers) -> Result<Running, Failure> {
        let creation = self.creation();
        let iterators = self.strands.iterators();
        let mut world = World::new(self.strands, &creation, self.sequences, workers)
            .map_err(|error| Failure::of_creation(error, &iterators))?;
        // A GPU that has just been woken has had some time by now.
        world.program_mut().make_ready()?;
        Ok(Running {
            life: Life::World(Box::new(world)),
            sizes: self.sizes,
            troubles: Vec::new(),
        })
    }

    /// Whether strands cannot notice each other, so that [`Prepared::complete`] need not keep them. A GPU runs all together.
    pub fn can_be_forgotten(&self) -> bool {
        let program = self.strands.program();
        !self.strands.placement().wants_accelerator
            && can_be_forgotten(&program.state.layout, program.abilities)
    }

    /// Creates the strands and runs them to their ends, or until `control` is asked to stop. Strands that cannot notice each
    /// other are not kept when they have ended: only their outputs, and where they were in the beginning. `None` if the run
    /// was cancelled. A taker gets the values of outputs as they come; [`Running::handed_on`] says if it got all.
    ///
    /// # Errors
    /// As for [`Prepared::create`] and [`Running::run`].
    pub fn complete(
        self,
        workers: &Workers,
        control: &Arc<Control>,
        printer: &mut dyn Write,
        taker: Option<Taker<'_>>,
    ) -> Result<Option<Running>, Failure> {
        if self.can_be_forgotten() {
            print(&self.strands, printer)?;
            let kept = life::Kept::of(self.strands.program());
            let wanted = Wanted {
                initial: &kept.initial,
                outputs: &kept.outputs,
                taker,
            };
            let (creation, control) = (self.creation(), Arc::clone(control));
            let ended = complete(
                &self.strands,
                &creation,
                &self.sequences,
                workers,
                wanted,
                control,
            );
            match ended.map_err(|error| Failure::of_creation(error, self.strands.iterators()))? {
                Completion::Completed(completed) => {
                    return Ok(Some(Running {
                        life: Life::completed(self.strands, kept, *completed),
                        sizes: self.sizes,
                        troubles: Vec::new(),
                    }));
                }
                Completion::Cancelled => return Ok(None),
                // Several strands may have failed. Only a run that keeps the strands finds the first failure.
                Completion::Failed => {}
            }
        }
        let mut running = self.create(workers)?;
        running.set_control(Arc::clone(control));
        let end = running.run(None, printer)?;
        Ok((end != RunEnd::Cancelled).then_some(running))
    }

    fn creation(&self) -> Creation {
        let sizes = self.sizes.clone();
        match self.strands.is_grid() {
            true => Creation::Grid(sizes),
            false => Creation::Collection(sizes),
        }
    }
}

/// Writes what code outside the strands printed.
fn print(strands: &Strands, printer: &mut dyn Write) -> Result<(), Failure> {
    let printed = printer.write_all(strands.take_printed().as_bytes());
    printed.map_err(|error| Failure::new(codes::PRINT, RunError::Print(error)))
}

/// A program with its strands, or with their results.
pub struct Running {
    life: Life,
    sizes: Vec<usize>,
    troubles: Vec<Failure>,
}

impl Running {
    /// Loads inputs and images, computes the globals and creates the strands.
    ///
    /// # Errors
    /// An error in an input, or a run-time error of the initialization.
    pub fn new(program: &Compiled, inputs: &Inputs, workers: usize) -> Result<Running, Failure> {
        let images = Images::load(program, inputs)?;
        Prepared::new(program, inputs, &images)?.create(&workers.into())
    }

    /// Notes for the user about the images.
    pub fn notes(&self) -> &[Note] {
        self.life.strands().images().notes()
    }

    /// Runs up to `limit` super-steps, or to the end. Printed text goes to `printer`.
    ///
    /// # Errors
    /// The run-time error that ended the run.
    pub fn run(&mut self, limit: Option<u64>, printer: &mut dyn Write) -> Result<RunEnd, Failure> {
        print(self.life.strands(), printer)?;
        let Life::World(world) = &mut self.life else {
            return Ok(RunEnd::Finished);
        };
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
        if let Some(trouble) = world.program().placement().take_trouble() {
            if world.program().program().target == Target::CudaOnly {
                return Err(trouble);
            }
            self.troubles.push(trouble);
        }
        Ok(end)
    }

    /// Warnings about the failures of a GPU in runs that the CPU finished.
    pub fn troubles(&self) -> impl ExactSizeIterator<Item = String> {
        let troubles = self.troubles.iter();
        troubles.map(|trouble| format!("{trouble}; the CPU has finished the rest"))
    }

    /// The warning that the CPU runs the strands because there is no GPU although one was asked for.
    pub fn absence(&self) -> Option<String> {
        let absence = self.life.strands().placement().absence.as_ref()?;
        Some(format!("this program runs on the CPU: {absence}"))
    }

    /// All warnings that the CPU ran strands although a GPU was asked for.
    pub fn target_warnings(&self) -> Vec<String> {
        let refusal = self.life.strands().placement().refusal.as_ref();
        let refusal = refusal.map(|refusal| refusal.warning(""));
        let first = refusal.into_iter().chain(self.absence());
        first.chain(self.troubles()).collect()
    }

    /// How long the parts of the work on the GPU took, if there is one.
    pub fn phases(&self) -> Option<Phases> {
        let accelerator = &self.life.strands().placement().accelerator;
        accelerator.as_ref().map(Fleet::phases)
    }

    /// Whether the global in a slot is true.
    pub(super) fn holds(&self, slot: u32) -> bool {
        self.life.strands().holds(slot)
    }

    /// Whether a taker got all values of the outputs.
    pub fn handed_on(&self) -> bool {
        match &self.life {
            Life::World(_) => false,
            Life::Completed(completed) => completed.handed_on(),
        }
    }

    /// Super-steps completed.
    pub fn steps(&self) -> u64 {
        match &self.life {
            Life::World(world) => world.steps(),
            Life::Completed(completed) => completed.steps(),
        }
    }

    /// Sizes of the strand sets.
    pub fn counts(&self) -> Counts {
        match &self.life {
            Life::World(world) => world.counts(),
            Life::Completed(completed) => completed.counts(),
        }
    }

    /// Memory that the sequences of all strands and global variables take, in bytes.
    pub fn sequence_bytes(&self) -> usize {
        match &self.life {
            Life::World(world) => usize::try_from(world.live_sequence_bytes()).unwrap_or(0),
            Life::Completed(_) => 0,
        }
    }

    /// Whether strands may be created while the program runs.
    pub fn creates_strands(&self) -> bool {
        self.life.strands().program().abilities.creates
    }

    /// Does something that divides its work among the workers of the run.
    pub fn on_workers<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.life {
            Life::World(world) => world.on_workers(work),
            Life::Completed(completed) => completed.on_workers(work),
        }
    }

    /// Lets a handle that others have already watch and stop the run.
    pub fn set_control(&mut self, control: Arc<Control>) {
        if let Life::World(world) = &mut self.life {
            world.set_control(control);
        }
    }

    /// The handle by which another thread watches or stops a run.
    pub fn control(&self) -> Arc<Control> {
        match &self.life {
            Life::World(world) => world.control(),
            Life::Completed(_) => Arc::default(),
        }
    }
}
