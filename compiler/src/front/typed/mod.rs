//! From syntax tree to typed program: names, types, overloads, conversions, constants, and every error that does not depend on
//! the values of indices. The tree is the program as it is written. A loop over a constant range whose variable is a subscript stays a
//! loop, and its subscripts are compared with their axes for all values (`unroll`).
//!
//! `check` walks the program once in textual order. An error is reported with its place and the walk continues, so that
//! one run shows every error. A wrong expression has no type, and expressions that depend on it are not reported.

mod axis_range;
mod build;
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
mod types;
mod unroll;

pub(crate) use program::{Typed, check};

use super::tree;
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
