//! The program that a viewer shows, and its surroundings.

use crate::{codegen::Compiled, front::source::Source, pipeline::Options, run::Inputs};

/// A program to be shown.
pub trait Subject: Send {
    /// The program as it is now.
    ///
    /// # Errors
    /// It cannot be read.
    fn source(&self) -> Result<Source, String>;

    /// How it is compiled.
    fn options(&self) -> &Options;

    /// The surroundings of the program.
    ///
    /// # Errors
    /// They do not suit the program as it is now, each problem a sentence.
    fn given(&self, source: &Source, program: &Compiled) -> Result<Given, String>;
}

/// The surroundings of a program that runs.
pub struct Given {
    /// The inputs before pages set some.
    pub inputs: Inputs,
    /// The number of worker threads, if it is not that of the cores.
    pub workers: Option<usize>,
    /// The greatest number of super-steps.
    pub limit: Option<u64>,
    /// The words of the equivalent command line, without the inputs that pages can set. No words if there is no such command line.
    pub command: Vec<String>,
}
