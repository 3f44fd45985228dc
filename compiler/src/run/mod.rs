//! Running compiled programs: inputs, images, strands, outputs. The room `library` shows how to use it.

mod failure;
mod global;
mod images;
mod inputs;
mod outputs;
mod strands;
mod values;

pub use failure::{FailedStrand, Failure};
pub use images::ImageSource;
pub use inputs::Inputs;
pub use outputs::OutputData;
pub use values::{input_type, output_names};

use crate::{codegen::Compiled, ssa::Role};
use images::LoadedImages;
use runtime::{
    strands::Counts,
    world::{Control, Creation, GlobalSequences, RunEnd, RunError, World},
};
use std::{io::Write, sync::Arc};
use strands::Strands;
use values::Initial;

/// A program with its strands.
pub struct Running {
    world: World<Strands>,
    sizes: Vec<usize>,
    /// What should be told to the user about the inputs.
    pub warnings: Vec<String>,
}

impl Running {
    /// Loads inputs and images, computes the globals and creates the strands.
    ///
    /// # Errors
    /// What is wrong with an input, or a run-time error of the initialization.
    pub fn new(program: &Compiled, inputs: &Inputs, workers: usize) -> Result<Running, Failure> {
        let images = LoadedImages::load(program, &inputs.images()?)?;
        let mut sequences = GlobalSequences::default();
        let mut initial = Initial::new(program, inputs.values(), &mut sequences)?;
        // Behind the variables lie the invariants, and then the bounds of the creation iterators.
        let further = program.invariants + 2 * program.interface.axes;
        initial.cells.resize(initial.cells.len() + further, 0);
        let mut strands = Strands::new(program.clone(), initial, images);
        strands.run_once(Role::Globals, &mut sequences)?;
        strands.run_once(Role::Domain, &mut sequences)?;
        let sizes = strands.domain_sizes();
        let creation = if strands.is_grid() {
            Creation::Grid(sizes.clone())
        } else {
            Creation::Collection(sizes.clone())
        };
        let warnings = strands.take_warnings();
        let iterators = strands.iterators();
        let world = World::new(strands, &creation, sequences, workers)
            .map_err(|error| Failure::of_creation(error, &iterators))?;
        Ok(Running {
            world,
            sizes,
            warnings,
        })
    }

    /// Runs up to `limit` super-steps, or to the end. Printed text goes to `printer`.
    ///
    /// # Errors
    /// The run-time error that ended the run.
    pub fn run(&mut self, limit: Option<u64>, printer: &mut dyn Write) -> Result<RunEnd, Failure> {
        let early = self.world.program().take_printed();
        printer
            .write_all(early.as_bytes())
            .map_err(|error| Failure::new("print", RunError::Print(error)))?;
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

    /// The handle by which another thread watches or stops a run.
    pub fn control(&self) -> Arc<Control> {
        self.world.control()
    }
}
