//! Low-IR: scalar operations, ready for code generation.

mod dialect;
mod eval;
mod fold;
mod scalarize;
mod uniform;

pub use dialect::{Bits, Low, Op, Orders, Simple, Ty, signature};
pub use eval::{Datum, Machine};
pub use fold::fold_constants;
pub use scalarize::{Slots, scalarize};
pub use uniform::varying;
