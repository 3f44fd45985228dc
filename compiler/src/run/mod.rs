//! Running compiled programs: inputs, images, strands, outputs. The room `library` shows how to use it.

mod colour_maps;
mod failure;
mod fems;
mod global;
mod images;
mod inputs;
mod outputs;
mod places;
mod strands;
mod values;

pub use colour_maps::colour_map_names;
pub use failure::{FailedStrand, Failure};
pub use fems::FemSource;
pub use images::ImageSource;
pub use inputs::Inputs;
pub use outputs::{OutputData, outputs};
pub use values::input_type;

use crate::{codegen::Compiled, front::codes, ssa::Role};
pub use images::Images;
use runtime::{
    image::Note,
    output::Domain,
    strands::Counts,
    world::{Control, Creation, GlobalSequences, RunEnd, RunError, World},
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
    /// What is wrong with an input, or a run-time error of the initialization.
    pub fn new(program: &Compiled, inputs: &Inputs, images: &Images) -> Result<Prepared, Failure> {
        let mut sequences = GlobalSequences::default();
        let mut initial = Initial::new(program, inputs.values(), &mut sequences)?;
        // Behind the variables lie the invariants, and then the bounds of the creation iterators.
        let further = program.invariants + 2 * program.interface.axes;
        initial.cells.resize(initial.cells.len() + further, 0);
        let mut strands = Strands::new(program.clone(), initial, images.clone());
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

    /// Creates the strands.
    ///
    /// # Errors
    /// There are too many, or the initialization of one fails.
    pub fn create(self, workers: usize) -> Result<Running, Failure> {
        let Prepared {
            strands,
            sequences,
            sizes,
        } = self;
        let creation = if strands.is_grid() {
            Creation::Grid(sizes.clone())
        } else {
            Creation::Collection(sizes.clone())
        };
        let iterators = strands.iterators();
        let world = World::new(strands, &creation, sequences, workers)
            .map_err(|error| Failure::of_creation(error, &iterators))?;
        Ok(Running { world, sizes })
    }
}

/// A program with its strands.
pub struct Running {
    world: World<Strands>,
    sizes: Vec<usize>,
}

impl Running {
    /// Loads inputs and images, computes the globals and creates the strands.
    ///
    /// # Errors
    /// What is wrong with an input, or a run-time error of the initialization.
    pub fn new(program: &Compiled, inputs: &Inputs, workers: usize) -> Result<Running, Failure> {
        let images = Images::load(program, inputs)?;
        Prepared::new(program, inputs, &images)?.create(workers)
    }

    /// What should be told to the user about the images.
    pub fn notes(&self) -> &[Note] {
        self.world.program().images().notes()
    }

    /// Runs up to `limit` super-steps, or to the end. Printed text goes to `printer`.
    ///
    /// # Errors
    /// The run-time error that ended the run.
    pub fn run(&mut self, limit: Option<u64>, printer: &mut dyn Write) -> Result<RunEnd, Failure> {
        let early = self.world.program().take_printed();
        printer
            .write_all(early.as_bytes())
            .map_err(|error| Failure::new(codes::PRINT, RunError::Print(error)))?;
        let end = self.world.run(limit, printer);
        let end = end.map_err(|error| Failure::of_run(error, self.world.program().iterators()))?;
        match self.world.program().failure() {
            Some(failure) => Err(failure),
            None => Ok(end),
        }
    }

    /// Super-steps completed.
    pub fn steps(&self) -> u64 {
        self.world.steps()
    }

    /// Sizes of the strand sets.
    pub fn counts(&self) -> Counts {
        self.world.counts()
    }

    /// Memory that the sequences of all strands and global variables take, in bytes.
    pub fn sequence_bytes(&self) -> usize {
        usize::try_from(self.world.live_sequence_bytes()).unwrap_or(0)
    }

    /// Whether strands may be created while the program runs.
    pub fn creates_strands(&self) -> bool {
        self.world.program().program().abilities.creates
    }

    /// Does something that divides its work among the workers of the run.
    pub fn on_workers<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.world.on_workers(work)
    }

    /// The handle by which another thread watches or stops a run.
    pub fn control(&self) -> Arc<Control> {
        self.world.control()
    }
}
