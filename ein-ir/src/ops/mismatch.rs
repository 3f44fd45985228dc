//! Why operators do not accept arguments, in values and in words.

use super::{Bindings, Lift, OpDef, Syntax, spelling};
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
        /// The expected type, in surface notation.
        wanted: String,
        /// The type it should have, if there is only one.
        exact: Option<Box<Type>>,
    },
    /// An argument has another shape.
    Shape {
        /// Which argument.
        argument: usize,
        /// Its type.
        found: Type,
        /// The expected type, in surface notation.
        wanted: String,
        /// The type it should have, if there is only one.
        exact: Option<Box<Type>>,
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
                ..
            }
            | Mismatch::Shape {
                argument,
                found,
                wanted,
                ..
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

impl OpDef {
    /// How the operator is used, with surface types in the place of arguments. Fields that may stand for tensors are not
    /// mentioned.
    pub fn usage(&self, spelling: &str) -> String {
        let signature = self.signature();
        let lift = match self.lift {
            Lift::Derivative => Lift::Derivative,
            Lift::None | Lift::Pointwise => Lift::None,
        };
        let mut args: Vec<String> = (signature.args.iter())
            .map(|pattern| Bindings::default().describe(pattern, lift))
            .collect();
        if let (Some(_), Some(last)) = (signature.repeat, args.last_mut()) {
            last.push('…');
        }
        let syntax = self.syntax.iter().find(|way| way.spelling() == spelling);
        match (syntax, args.as_slice()) {
            (Some(Syntax::Infix(symbol, _)), [left, right]) => format!("{left} {symbol} {right}"),
            (Some(Syntax::Prefix(symbol, _)), [operand]) => format!("{symbol}{operand}"),
            (Some(Syntax::Form(spelling::NORM, ..)), [operand]) => format!("|{operand}|"),
            (Some(Syntax::Form(spelling::CONCAT, ..)), [elements]) => format!("[{elements}]"),
            _ => format!("{spelling}({})", args.join(", ")),
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

impl Rejection {
    /// The rows that take this number of arguments, with their reasons.
    pub fn of_this_arity(&self) -> Vec<&(&'static OpDef, Mismatch)> {
        let fits = |(_, mismatch): &&(_, Mismatch)| !matches!(mismatch, Mismatch::Arity { .. });
        self.reasons.iter().filter(fits).collect()
    }

    /// The wrong argument and its expected type, if all rows that accept the arguments before it agree.
    pub fn only_type(&self) -> Option<(usize, &Type)> {
        let misses =
            self.reasons
                .iter()
                .filter_map(|(_, mismatch)| match mismatch {
                    Mismatch::Kind {
                        argument, exact, ..
                    }
                    | Mismatch::Shape {
                        argument, exact, ..
                    } => Some((*argument, exact.as_deref())),
                    Mismatch::Dimension { argument, .. }
                    | Mismatch::NoDerivative { argument, .. } => Some((*argument, None)),
                    Mismatch::Arity { .. } | Mismatch::Undetermined => None,
                });
        let misses: Vec<(usize, Option<&Type>)> = misses.collect();
        let furthest = misses.iter().map(|(argument, _)| *argument).max()?;
        let mut types = misses.iter().filter(|(argument, _)| *argument == furthest);
        let (_, first) = types.next()?;
        let agree = types.all(|(_, other)| other == first);
        first.filter(|_| agree).map(|ty| (furthest, ty))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usages_are_written_in_surface_types() {
        let show = |name: &str, spelling: &str| {
            OpDef::named(name)
                .map(|row| row.usage(spelling))
                .unwrap_or_default()
        };
        assert_eq!(show("add_int", "+"), "int + int");
        assert_eq!(show("inner", "•"), "tensor[α,n] • tensor[n,β]");
        assert_eq!(show("inner", "dot"), "dot(tensor[α,n], tensor[n,β])");
        assert_eq!(show("length", "length"), "length(T[])");
        assert_eq!(show("inside", "inside"), "inside(tensor[d], field(d)[α])");
        assert_eq!(show("jacobian", "∇⊗"), "∇⊗field(d)[n,α]");
        assert_eq!(show("swap", "swap"), "swap(int, tensor[α]…)");
        assert_eq!(show("norm", "|"), "|tensor[n,α]|");
    }
}
