//! What executes a case: the one interface between DATm and a compiler.
//!
//! A runner receives the program text, the images and the positions, and returns one tensor per position or the stage at
//! which it failed. To put a compiler under test, implement [`Runner`] and judge cases with it.

use crate::data::Datum;
use crate::davm::{Picture, Scene};
use crate::grid::Position;
use crate::label::Case;
use crate::program::ProgramText;
use crate::types::Type;
use std::fmt;

/// The precision of the program under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit reals.
    Single,
    /// 64-bit reals.
    Double,
}

impl Precision {
    /// The unit roundoff.
    pub fn unit(self) -> f64 {
        match self {
            Precision::Single => f64::from(f32::EPSILON) / 2.0,
            Precision::Double => f64::EPSILON / 2.0,
        }
    }

    /// Below this magnitude results may be denormal or flushed to zero.
    pub fn smallest(self) -> f64 {
        match self {
            Precision::Single => f64::from(f32::MIN_POSITIVE),
            Precision::Double => f64::MIN_POSITIVE,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Single => "f32",
            Precision::Double => "f64",
        })
    }
}

/// How programs are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// The precision of reals.
    pub precision: Precision,
    /// The number of strands per call of generated code; 0 leaves the choice to the compiler.
    pub width: usize,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            precision: Precision::Double,
            width: 0,
        }
    }
}

/// Where a program failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The program was rejected: a mathematically valid expression did not pass the front end.
    Type,
    /// The compiler failed after type checking.
    Compile,
    /// The program did not run to its end.
    Run,
}

/// A failure before there was a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where it happened.
    pub stage: Stage,
    /// A short stable name of the cause, for grouping: an error code, a pass, a rule.
    pub code: String,
    /// The message.
    pub message: String,
}

/// What a program computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// For each position (once for a tensor) the components, row-major.
    pub values: Vec<Vec<f64>>,
    /// For each of them, whether the program found the position inside all fields.
    pub valid: Vec<bool>,
    /// The rewrite rules that fired while it was compiled, as far as the runner knows.
    pub rules: Vec<&'static str>,
}

impl Observed {
    /// What the outputs `value` and `valid` of a generated program say.
    pub fn from_outputs(values: &[f64], valid: &[f64], rules: Vec<&'static str>) -> Observed {
        let size = values.len() / valid.len().max(1);
        Observed {
            values: values.chunks(size.max(1)).map(<[f64]>::to_vec).collect(),
            valid: valid.iter().map(|&v| v != 0.0).collect(),
            rules,
        }
    }
}

/// Everything about a case that a runner may use; the truth is not among it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The case.
    pub case: &'a Case,
    /// The type of its expression.
    pub result: Type,
    /// Its source text.
    pub program: &'a ProgramText,
    /// The values of its variables; fields with their images.
    pub data: &'a [Datum],
    /// The positions to probe.
    pub positions: &'a [Position],
}

/// Executes cases and renderings.
pub trait Runner: Sync {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// Compiles and runs the program of a case.
    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure>;

    /// Compiles and runs a volume rendering.
    fn render(&self, scene: &Scene, options: &RunOptions) -> Result<Picture, Failure>;
}
