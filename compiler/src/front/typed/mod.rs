//! From syntax tree to typed program: names, types, overloads, conversions, constants, and every error a program can
//! have.
//!
//! [`check`] walks the program once in textual order. An error is reported with its place and the walk continues, so that
//! one run shows every error. A wrong expression has no type, and expressions that depend on it are not reported.

mod axis_range;
mod build;
mod builtin_value;
mod call;
mod coerce;
mod constant;
mod context;
mod expr;
mod flow;
mod foreign_names;
mod given_constant;
mod hint;
mod ids;
mod indexed;
mod indices;
mod items;
mod known_steps;
mod messages;
mod overload;
mod program;
mod record;
mod reduce;
mod rejected;
mod reports;
mod request;
mod restrictions;
mod scope;
mod stmt;
mod strand;
mod subscript;
pub mod tree;
mod types;
mod unroll;

pub use program::check;
pub use tree::print;

use crate::front::codes::Code;

/// What the command line says about a check.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Values for constants, `--Cname=value`, in order; the last one for a name counts.
    pub constants: Vec<(String, String)>,
    /// Whether ints have 64 bits, not 32.
    pub long_int: bool,
    /// The warnings of [`crate::front::codes::ON_DEMAND`] that are wanted.
    pub warn: Vec<Code>,
}

/// The least and the greatest int.
pub(crate) fn int_range(long_int: bool) -> (i64, i64) {
    match long_int {
        true => (i64::MIN, i64::MAX),
        false => (i32::MIN.into(), i32::MAX.into()),
    }
}
