//! From syntax tree to typed program: names, types, overloads, conversions, constants, and every error a program can
//! have.
//!
//! [`check`] walks the program once in textual order. What is wrong is reported with its place and the walk goes on, so
//! that one run shows every mistake; an expression that is wrong has no type, and what depends on it is not reported.

mod build;
mod builtin_value;
mod call;
pub(crate) mod closed_form;
mod coerce;
mod constant;
mod context;
mod expr;
mod flow;
mod forms;
mod given;
mod hint;
mod items;
mod messages;
mod overload;
mod print;
mod program;
mod reduce;
mod scope;
mod stmt;
mod strand;
mod subscript;
mod supported;
pub mod tree;
mod types;

pub use print::print;
pub use program::check;
pub use supported::unsupported;

/// The components of a constant `int`, `real` or tensor, row-major; `None` if the value is not known now.
pub(crate) fn constant_components(expr: &tree::Expr) -> Option<Vec<f64>> {
    match constant::evaluate(expr).ok()? {
        tree::Constant::Tensor(_, values) => Some(values),
        tree::Constant::Int(n) => Some(vec![n as f64]),
        _ => None,
    }
}

/// What the command line says about a check.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Values for constants, `--Cname=value`, in order; the last one for a name counts.
    pub constants: Vec<(String, String)>,
}
