//! Using the compiler from Rust: compile a program, give it inputs, run it step by step, read its outputs.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use compiler::library::{Inputs, RunEnd, Running, compile};
//!
//! let text = "#version 2.0
//!     input real[] numbers (\"whose roots are wanted\");
//!     strand root (real x) {
//!         output real r = 1;
//!         update { r = (r + x/r)/2; if (|r*r - x| < 0.001) { stabilize; } }
//!     }
//!     create_array { root(x) | x in numbers }";
//! let program = compile("root.diderot", text, &Default::default())?;
//! let mut inputs = Inputs::of(&program);
//! inputs.set("numbers", &[4.0, 9.0, 100.0][..])?;
//! let mut running = Running::new(&program, &inputs, 2)?;
//! // One super-step at a time; outputs can be read in between.
//! while running.run(Some(1), &mut std::io::sink())? == RunEnd::StepLimit {
//!     assert_eq!(running.outputs(true)[0].numbers().len(), 3);
//! }
//! let roots = running.outputs(false)[0].numbers();
//! assert!((roots[2] - 10.0).abs() < 0.01);
//! # Ok(())
//! # }
//! ```
//!
//! The command `diderotc` is made of the same parts.

mod attend;
mod files;
mod run;

pub use crate::{
    codegen::Target,
    front::{
        diag::Diagnostic,
        report,
        source::{Lines, Source},
    },
    ir::interface::{Image, Input, Interface},
    pipeline::{Compiled, Options},
    run::{
        FailedStrand, Failure, ImageSource, Inputs, Length, OutputData, Running, input_type,
        output_type, outputs,
    },
};
pub use attend::{Event, attended};
pub use files::{picture_bytes, write_files};
pub use run::Run;
pub use runtime::{
    file_name::FileName,
    grid::Place,
    image::{Arrangement, ImageArray, Orientation, SharedImage, Strided},
    input::{InputType, InputValue},
    output::{Column, Domain, Length as OutputLength, Output, Values, write::Written},
    strands::Counts,
    world::{Control, RunEnd},
};

use crate::pipeline::{self, Session, Stopped};
use std::{fmt, path::PathBuf};

/// The errors of a program.
#[derive(Debug)]
pub struct CompileErrors {
    /// The text of the program.
    pub source: Box<Source>,
    /// The errors, with their places; warnings may be among them.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for CompileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&report::render(
            &self.source,
            self.diagnostics.clone(),
            false,
        ))
    }
}

impl std::error::Error for CompileErrors {}

/// Compiles the text of a program to machine code. The path names the program in messages.
///
/// # Errors
/// The errors of the program.
pub fn compile(
    path: impl Into<PathBuf>,
    text: impl Into<String>,
    options: &Options,
) -> Result<Compiled, CompileErrors> {
    compile_source(&Source::new(path, text), options)
}

/// Compiles a program whose text is kept, so that messages of its runs can quote it.
///
/// # Errors
/// The errors of the program.
pub fn compile_source(source: &Source, options: &Options) -> Result<Compiled, CompileErrors> {
    match pipeline::compile(&mut Session::default(), source, options) {
        Ok(program) => Ok(program),
        Err(Stopped::Errors(diagnostics)) => Err(CompileErrors {
            source: Box::new(source.clone()),
            diagnostics,
        }),
        Err(Stopped::Asked) => unreachable!("this session asks for every stage"),
    }
}

/// The page of the book about this is compiled and run with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/from-rust.md")]
struct Page;
