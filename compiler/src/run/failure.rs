//! Why a program cannot be run, or stopped.

use crate::front::{
    codes::{self, Code},
    diag::Diagnostic,
    report,
    source::Source,
    syntax::term_at,
};
use runtime::{
    abi::{Failure as StrandFailure, FailureKind},
    world::{RunError, WorldError},
};
use serde::Serialize;
use std::fmt;

/// Why a program cannot be run, or stopped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// The kind of failure.
    pub code: Code,
    /// What happened.
    pub message: String,
    /// Ways out.
    pub hints: Vec<String>,
    /// Where in the source, as a byte offset.
    pub place: Option<u32>,
    /// To which strand.
    pub strand: Option<FailedStrand>,
    /// In which super-step, counted from 1.
    pub step: Option<u64>,
}

/// The strand that failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedStrand {
    /// Its number in the order of creation.
    pub id: u64,
    /// The values of the iterators that it was created with, if it was created at the beginning.
    pub iterators: Option<Vec<i64>>,
}

impl Failure {
    /// A failure that has no place in the source.
    pub(super) fn new(code: Code, message: impl ToString) -> Failure {
        Failure {
            code,
            message: message.to_string(),
            hints: Vec::new(),
            place: None,
            strand: None,
            step: None,
        }
    }

    /// Something is wrong with an input, an image or the file of a sequence.
    pub(super) fn input(message: impl ToString) -> Failure {
        Failure::new(codes::INPUT, message)
    }

    /// A run-time error of the program.
    pub(super) fn at_run_time(failure: StrandFailure) -> Failure {
        let code = match failure.kind {
            FailureKind::DivisionByZero => codes::DIVISION_BY_ZERO,
            FailureKind::IndexOutOfRange => codes::INDEX_OUT_OF_RANGE,
            FailureKind::SequenceTooLong => codes::SEQUENCE_TOO_LONG,
            FailureKind::OutOfMemory => codes::OUT_OF_MEMORY,
        };
        Failure {
            // What the runtime reports of its own accord has no place in the source.
            place: Some(failure.position).filter(|&place| place != u32::MAX),
            ..Failure::new(code, failure)
        }
    }

    /// Strands could not be created.
    pub(super) fn of_creation(
        error: WorldError,
        iterators: impl Fn(u64) -> Option<Vec<i64>>,
    ) -> Failure {
        match error {
            WorldError::Strand { id, failure } => Failure {
                strand: Some(FailedStrand {
                    id,
                    iterators: iterators(id),
                }),
                ..Failure::at_run_time(failure)
            },
            error @ WorldError::Memory { .. } => Failure::new(codes::OUT_OF_MEMORY, error),
            error @ WorldError::TooManyStrands(_) => Failure::new(codes::TOO_MANY_STRANDS, error),
            error @ WorldError::Workers(_) => Failure::new(codes::WORKERS, error),
            error @ WorldError::Cluster(_) => Failure::new(codes::CLUSTER, error),
        }
    }

    /// A run ended early.
    pub(super) fn of_run(error: RunError, iterators: impl Fn(u64) -> Option<Vec<i64>>) -> Failure {
        match error {
            RunError::Strand { id, step, failure } => Failure {
                strand: Some(FailedStrand {
                    id,
                    iterators: iterators(id),
                }),
                step: Some(step + 1),
                ..Failure::at_run_time(failure)
            },
            error @ RunError::Memory { .. } => Failure::new(codes::OUT_OF_MEMORY, error),
            error @ RunError::TooManyStrands => Failure::new(codes::TOO_MANY_STRANDS, error),
            error @ RunError::Lost { .. } => Failure::new(codes::DEVICE, error),
            error @ RunError::Print(_) => Failure::new(codes::PRINT, error),
            error @ RunError::Cluster(_) => Failure::new(codes::CLUSTER, error),
        }
    }
}

impl Failure {
    /// The message at its place in the source, if it has one.
    pub fn diagnostic(&self, source: &Source) -> Option<Diagnostic> {
        let span = term_at(source, self.place?);
        let error = Diagnostic::error(self.code, span, self.to_string());
        Some(self.hints.iter().fold(error, Diagnostic::hint))
    }

    /// The message and the ways out, as lines of text without a place.
    pub fn plain(&self) -> String {
        let hints = self.hints.iter().map(|hint| format!("help: {hint}\n"));
        format!("error: {self}\n{}", hints.collect::<String>())
    }

    /// The message as a terminal shows it: with the lines it is about if it has a place.
    pub fn render(&self, source: &Source) -> String {
        match self.diagnostic(source) {
            Some(diagnostic) => report::render(source, vec![diagnostic], false),
            None => self.plain(),
        }
    }
}

/// The message, after strand and super-step; without the ways out.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(strand) = &self.strand {
            write!(f, "strand {}", strand.id)?;
            let created = match strand.iterators.as_deref() {
                None | Some([]) => None,
                // Then it says nothing new.
                Some(&[value]) if u64::try_from(value) == Ok(strand.id) => None,
                Some([value]) => Some(value.to_string()),
                Some(values) => Some(format!("{values:?}")),
            };
            if let Some(created) = &created {
                write!(f, ", created with {created}")?;
            }
            if let Some(step) = self.step {
                let comma = if created.is_some() { "," } else { "" };
                write!(f, "{comma} in super-step {step}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
