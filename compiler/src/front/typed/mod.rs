//! From syntax tree to typed program: names, types, overloads, conversions, constants, and every error a program can
//! have.
//!
//! [`check`] walks the program once in textual order. An error is reported with its place and the walk continues, so that
//! one run shows every error. A wrong expression has no type, and expressions that depend on it are not reported.

mod build;
mod builtin_value;
mod call;
pub(crate) mod closed_form;
mod coerce;
mod composed;
mod constant;
mod context;
mod elsewhere;
mod expansion;
mod expr;
mod flow;
mod fused;
mod given_constant;
mod hint;
mod indexed;
mod items;
mod known_steps;
mod messages;
pub(crate) mod observed;
mod overload;
mod parts;
mod print;
mod program;
pub(crate) mod reads;
pub(crate) mod recurrence;
mod reduce;
mod rejected;
mod request;
mod restrictions;
mod scope;
mod stmt;
mod strand;
mod subscript;
mod supported;
pub mod tree;
mod types;
mod unroll;

pub use composed::too_many_probes;
pub use expansion::too_much_code;
pub use fused::fused;
pub use print::print;
pub use program::check;
pub use supported::unsupported;

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
