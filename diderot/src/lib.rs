//! Diderot from Rust: an [`Engine`] compiles a [`Program`], which takes [`Inputs`]; a [`Run`] of it goes to the end or step by step,
//! and its outputs can be read at any time.
//!
//! ```
//! # fn main() -> Result<(), diderot::Error> {
//! use diderot::{Config, Engine, End};
//!
//! let text = "#version 2.0
//!     input real[] numbers (\"whose roots are wanted\");
//!     strand root (real x) {
//!         output real r = 1;
//!         update { r = (r + x/r)/2; if (|r*r - x| < 0.001) { stabilize; } }
//!     }
//!     create_array { root(x) | x in numbers }";
//! let engine = Engine::new(Config::new());
//! let program = engine.compile("root.diderot", text)?;
//! let mut inputs = program.new_inputs();
//! inputs.set("numbers", &[4.0, 9.0, 100.0][..])?;
//! let mut run = program.start(&inputs)?;
//! // One super-step at a time; outputs can be read in between.
//! while run.advance(Some(1), &mut std::io::sink())? == End::StepLimit {
//!     assert_eq!(run.outputs()?[0].numbers().len(), 3);
//! }
//! let roots = run.outputs()?[0].numbers();
//! assert!((roots[2] - 10.0).abs() < 0.01);
//! # Ok(())
//! # }
//! ```
//!
//! Files are written as the command writes them: results, snapshots and films while a run goes on ([`Run::record`]), or outputs as they
//! are now ([`Run::save`]).
//!
//! The crates `compiler` and `runtime` are the implementation. Their interfaces may change in any version.

mod attend;
mod command;
mod engine;
mod error;
mod files;
mod inputs;
mod program;
mod run;
pub mod view;

pub use attend::{Event, attended};
pub use command::command;
pub use compiler::{
    codegen::Target,
    front::report::{
        Located as Diagnostic, LocatedEdit as Edit, LocatedFix as Fix, LocatedLabel as Label,
        Location,
    },
    run::{
        DeviceOutput, FailedStrand, Length, Observer, OutputData, Rows, Run as Observed,
        output_type,
    },
};
pub use engine::{Config, Engine};
pub use error::{Error, Failure};
pub use files::{FileOptions, option_names, picture_bytes, triangle_mesh, write_files};
pub use inputs::Inputs;
pub use program::{DefaultValue, Input, Program};
pub use run::Run;
pub use runtime::{
    file_name::FileName,
    grid::Place,
    input::{InputType, InputValue},
    memory::{Shortage, set_cache, set_limit as set_memory_limit},
    output::{
        Column, Domain, Length as OutputLength, Output, Values,
        triangles::{Attribute, Triangles},
        write::Written,
    },
    png::Range,
    reduce::Values as OutputValues,
    strands::Counts,
    world::{Control, RunEnd as End},
};

/// Images in memory and in files, and descriptions of their grids.
pub mod image {
    pub use compiler::run::ImageSource;
    pub use runtime::{
        grid::TimeAxis,
        image::{
            Arrangement, Description, ImageArray, Orientation, Reading, SharedImage, Strided,
            Triangle, World, describe,
        },
        nrrd::{Axis, Endian, Header, Kind, NamedSpace, SampleType, Space},
    };
}

/// The page of the book about this crate is compiled and run with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../../docs/book/src/from-rust.md")]
struct Page;
