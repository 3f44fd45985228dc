//! Why operators do not accept arguments, in values and in words.

use super::OpDef;
use crate::Type;
use std::fmt;

/// Why a row does not accept arguments. Arguments are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Another number of arguments is needed (or at least that number).
    Arity {
        /// How many there are.
        found: usize,
        /// How many are needed.
        wanted: usize,
    },
    /// The arguments do not determine the type of the result, and it was not given.
    Undetermined,
    /// An argument is of another kind.
    Kind {
        /// Which argument.
        argument: usize,
        /// Its type.
        found: Type,
        /// What it should be, in surface types.
        wanted: String,
    },
    /// An argument has another shape.
    Shape {
        /// Which argument.
        argument: usize,
        /// Its type.
        found: Type,
        /// What it should be, in surface types.
        wanted: String,
    },
    /// A field has another dimension than the arguments before it ask for.
    Dimension {
        /// Which argument.
        argument: usize,
        /// Its type.
        found: Type,
        /// The dimension it should have.
        wanted: usize,
    },
    /// A field has no continuous derivative left.
    NoDerivative {
        /// Which argument.
        argument: usize,
        /// Its type.
        found: Type,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Arity { found, wanted } => {
                write!(
                    f,
                    "wanted {wanted} argument{}, found {found}",
                    if *wanted == 1 { "" } else { "s" }
                )
            }
            Mismatch::Undetermined => {
                f.write_str("the arguments do not determine the type of the result")
            }
            Mismatch::Kind {
                argument,
                found,
                wanted,
            }
            | Mismatch::Shape {
                argument,
                found,
                wanted,
            } => {
                write!(
                    f,
                    "argument {} is of type {found}, wanted {wanted}",
                    argument + 1
                )
            }
            Mismatch::Dimension {
                argument,
                found,
                wanted,
            } => {
                write!(
                    f,
                    "argument {} is of type {found}, wanted a field in {wanted} dimensions",
                    argument + 1
                )
            }
            Mismatch::NoDerivative { argument, found } => {
                write!(
                    f,
                    "argument {} is of type {found}, which has no derivative left to take",
                    argument + 1
                )
            }
        }
    }
}

/// Why no row of a spelling accepts arguments.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// Every row that was tried, with its reason; empty if there is no operator of this spelling.
    pub reasons: Vec<(&'static OpDef, Mismatch)>,
}

impl Rejection {
    /// The row that came nearest, the first among equals.
    pub fn nearest(&self) -> Option<&(&'static OpDef, Mismatch)> {
        // `max_by` gives the last of equals, so the search runs backwards.
        self.reasons
            .iter()
            .rev()
            .max_by(|a, b| closeness(&a.1).cmp(&closeness(&b.1)))
    }
}

/// How near a miss is: by its kind, then by how many arguments fitted.
fn closeness(mismatch: &Mismatch) -> (u8, usize) {
    match mismatch {
        Mismatch::Arity { .. } => (0, 0),
        Mismatch::Undetermined => (1, 0),
        Mismatch::Kind { argument, .. } => (2, *argument),
        Mismatch::Shape { argument, .. } => (3, *argument),
        Mismatch::Dimension { argument, .. } => (4, *argument),
        Mismatch::NoDerivative { argument, .. } => (5, *argument),
    }
}
