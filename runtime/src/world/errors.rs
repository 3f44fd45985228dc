//! Why there is no world, and why a run stopped early.

use crate::abi::Failure;
use crate::cluster::Lost;
use crate::memory::Shortage;
use std::fmt;
use std::io;

/// Why a world cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorldError {
    /// The creation clause asks for 2³² strands or more.
    TooManyStrands(Vec<usize>),
    /// There is no memory for the strands.
    Memory {
        /// How many strands there are.
        count: u32,
        /// The lack of memory.
        shortage: Shortage,
    },
    /// The workers cannot be started.
    Workers(String),
    /// Initializing a strand failed.
    Strand {
        /// Its number in creation order.
        id: u64,
        /// What went wrong.
        failure: Failure,
    },
    /// A rank of the cluster has left.
    Cluster(Lost),
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorldError::TooManyStrands(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
                write!(
                    f,
                    "{} strands are too many; there must be fewer than 2^32",
                    sizes.join(" × ")
                )
            }
            WorldError::Memory { count, shortage } => write!(f, "{count} strands: {shortage}"),
            WorldError::Workers(message) => write!(f, "cannot start the workers: {message}"),
            WorldError::Strand { id, failure } => write!(f, "strand {id}: {failure}"),
            WorldError::Cluster(lost) => lost.fmt(f),
        }
    }
}

impl std::error::Error for WorldError {}

/// Why a run stopped early.
#[derive(Debug)]
pub enum RunError {
    /// A strand met a run-time error. Of several, the one in the earliest super-step, and there of
    /// the first strand.
    Strand {
        /// The strand's number in creation order.
        id: u64,
        /// Super-steps completed before.
        step: u64,
        /// What went wrong.
        failure: Failure,
    },
    /// `new` made 2³² strands or more.
    TooManyStrands,
    /// There is no memory for the strands that `new` made; they were not born.
    Memory {
        /// Super-steps completed.
        step: u64,
        /// How many there are.
        count: usize,
        /// The lack of memory.
        shortage: Shortage,
    },
    /// Printed text could not be written.
    Print(io::Error),
    /// The states of strands that an executor ran are lost.
    Lost {
        /// Super-steps completed before.
        step: u64,
    },
    /// A rank of the cluster has left.
    Cluster(Lost),
}

impl From<Lost> for RunError {
    fn from(lost: Lost) -> RunError {
        RunError::Cluster(lost)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Strand { id, step, failure } => {
                write!(f, "strand {id} in super-step {}: {failure}", step + 1)
            }
            RunError::TooManyStrands => write!(
                f,
                "`new` made too many strands; there must be fewer than 2^32"
            ),
            RunError::Memory {
                step,
                count,
                shortage,
            } => write!(
                f,
                "{count} strands that were made in super-step {step}: {shortage}"
            ),
            RunError::Print(error) => write!(f, "cannot write printed text: {error}"),
            RunError::Lost { step } => write!(
                f,
                "the states of the strands are lost in super-step {}",
                step + 1
            ),
            RunError::Cluster(lost) => lost.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}
