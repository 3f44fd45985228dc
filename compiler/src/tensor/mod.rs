//! What High-IR and Mid-IR share: types with tensors and sequences, and the operations that are not about fields.

mod base;
mod eval;
mod operator;

pub use base::{Base, Ty};
pub use eval::{Datum, Store};
pub use operator::Operator;
