//! Errors of programs, inputs, runs and files.

use crate::{Diagnostic, FailedStrand};
use compiler::{
    front::{codes, diag, report, source::Source},
    run,
};
use std::fmt;

/// Why something failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A program has errors.
    Compile(Box<Failure>),
    /// An input is missing, unknown or of the wrong type, or its file cannot be used.
    Input(Box<Failure>),
    /// A run failed.
    Run(Box<Failure>),
    /// Files cannot be read or written; each problem is a sentence.
    Files(Vec<String>),
    /// A call that can never succeed, such as one that names an option which does not exist.
    Misuse(String),
}

/// The text of an error, with the lines of the program that it is about.
#[derive(Clone, Debug)]
pub struct Failure {
    code: &'static str,
    message: String,
    text: String,
    diagnostics: Vec<Diagnostic>,
    strand: Option<FailedStrand>,
    step: Option<u64>,
}

impl Failure {
    /// The code of the error, which `diderotc explain` explains; empty for the errors of a program, whose diagnostics have codes.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The message without lines of the program.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The places in the program that it is about, with their messages. Those of a program's errors may include its warnings.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The same as JSON, an object on each line.
    pub fn json(&self) -> String {
        json(&self.diagnostics)
    }

    /// The strand that failed.
    pub fn strand(&self) -> Option<&FailedStrand> {
        self.strand.as_ref()
    }

    /// The super-step in which it failed, counted from 1.
    pub fn step(&self) -> Option<u64> {
        self.step
    }
}

/// Messages as JSON, an object on each line.
pub(crate) fn json(diagnostics: &[Diagnostic]) -> String {
    let lines = diagnostics.iter().map(serde_json::to_string);
    let lines = lines.map(|line| line.expect("texts and numbers") + "\n");
    lines.collect()
}

impl Error {
    pub(crate) fn of_program(source: &Source, diagnostics: Vec<diag::Diagnostic>) -> Error {
        let text = report::render(source, diagnostics.clone(), false);
        Error::Compile(Box::new(Failure {
            code: "",
            message: text.clone(),
            text,
            diagnostics: report::located(source, diagnostics),
            strand: None,
            step: None,
        }))
    }

    pub(crate) fn of_run(source: &Source, failure: run::Failure) -> Error {
        let text = failure.render(source);
        let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        let diagnostics = failure.diagnostic(source).into_iter().collect();
        let made = Box::new(Failure {
            code: failure.code.name,
            message: failure.to_string(),
            text: text.to_string(),
            diagnostics: report::located(source, diagnostics),
            strand: failure.strand,
            step: failure.step,
        });
        match failure.code {
            codes::INPUT => Error::Input(made),
            codes::OUTPUT => Error::Files(vec![made.message]),
            _ => Error::Run(made),
        }
    }

    /// The details of an error of a program, an input or a run.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Error::Compile(failure) | Error::Input(failure) | Error::Run(failure) => Some(failure),
            Error::Files(_) | Error::Misuse(_) => None,
        }
    }
}

/// The text as the command prints it, without `error:`.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Compile(failure) | Error::Input(failure) | Error::Run(failure) => {
                f.write_str(&failure.text)
            }
            Error::Files(problems) => f.write_str(&problems.join("\n")),
            Error::Misuse(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
