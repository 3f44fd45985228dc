//! Running compiled programs: inputs, images, strands, outputs.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use compiler::{pipeline::{self, Options, Session}, run::Running, source::Source};
//!
//! let source = Source { path: "mip.diderot".into(), text: std::fs::read_to_string("mip.diderot")? };
//! let Ok(program) = pipeline::compile(&mut Session::default(), &source, &Options::default()) else { return Ok(()) };
//! let mut running = Running::new(program, &[], 2)?;
//! running.run(None, &mut std::io::stdout())?;
//! # Ok(())
//! # }
//! ```

mod images;
mod outputs;
mod strands;
mod values;

pub use images::ImageSource;
pub use outputs::OutputData;
pub use values::{input_type, output_names};

use crate::{pipeline::Compiled, program::Role};
use images::LoadedImages;
use runtime::{
    input::InputValue,
    strands::Counts,
    world::{Control, Creation, GlobalSequences, RunEnd, RunError, World, WorldError},
};
use std::{fmt, io::Write, sync::Arc};
use strands::Strands;

/// Why a program cannot be run, or stopped.
#[derive(Debug)]
pub enum Failure {
    /// An input is missing or an image or sequence cannot be loaded.
    Input(String),
    /// A run-time error outside the strands: message and place in the source.
    Global {
        /// What happened.
        message: String,
        /// Byte offset in the source.
        place: u32,
    },
    /// The strands could not be created.
    World(WorldError),
    /// The run ended in an error.
    Run(RunError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(message) | Failure::Global { message, .. } => f.write_str(message),
            Failure::World(error) => write!(f, "{error}"),
            Failure::Run(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// The place in the source where it happened, if it has one.
    pub fn place(&self) -> Option<u32> {
        match self {
            Failure::Input(_) => None,
            Failure::Global { place, .. } => Some(*place),
            Failure::World(WorldError::Strand { failure, .. }) => Some(failure.position),
            Failure::Run(RunError::Strand { failure, .. }) => Some(failure.position),
            Failure::World(_) | Failure::Run(_) => None,
        }
    }
}

/// A program with its strands.
pub struct Running {
    world: World<Strands>,
    sizes: Vec<usize>,
    /// What should be told to the user about the inputs.
    pub warnings: Vec<String>,
}

impl Running {
    /// Loads inputs and images, computes the globals and creates the strands. `inputs` has a value per input of the
    /// program, or none where the default is to be used; missing ones count as none.
    ///
    /// # Errors
    /// What is wrong with an input, or a run-time error of the initialization.
    pub fn new(
        program: Compiled,
        inputs: &[Option<InputValue>],
        workers: usize,
    ) -> Result<Running, Failure> {
        let files = values::image_files(&program.interface, inputs)?;
        let sources: Vec<ImageSource> = files.into_iter().map(ImageSource::File).collect();
        Running::with_images(program, inputs, &sources, workers)
    }

    /// The same with images from memory or from other files: one for each image of the program, in the order of
    /// [`crate::program::Interface::images`].
    ///
    /// # Errors
    /// As [`Running::new`].
    pub fn with_images(
        mut program: Compiled,
        inputs: &[Option<InputValue>],
        images: &[ImageSource],
        workers: usize,
    ) -> Result<Running, Failure> {
        let images = LoadedImages::load(&program, images)?;
        let mut globals = values::global_cells(&mut program, inputs)?;
        // Behind the variables lie the invariants, and then the bounds of the creation iterators.
        let further = program.invariants + 2 * program.interface.axes;
        globals.resize(globals.len() + further, 0);
        let mut strands = Strands::new(program, globals, images);
        strands.run_once(Role::Globals)?;
        strands.run_once(Role::Domain)?;
        let sizes = strands.domain_sizes();
        let creation = if strands.is_grid() {
            Creation::Grid(sizes.clone())
        } else {
            Creation::Collection(sizes.clone())
        };
        let warnings = strands.take_warnings();
        let world = World::new(strands, &creation, GlobalSequences::default(), workers)
            .map_err(Failure::World)?;
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
            .map_err(|e| Failure::Run(RunError::Print(e)))?;
        let end = self.world.run(limit, printer).map_err(Failure::Run)?;
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

    /// The handle by which another thread watches or stops a run.
    pub fn control(&self) -> Arc<Control> {
        self.world.control()
    }
}
