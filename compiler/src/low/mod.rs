//! Low-IR: scalar operations, ready for code generation.

mod dialect;
mod dynamic;
mod eval;
mod eval_dynamic;
mod flatten;
mod fold;
mod hoist;
mod scalarize;
mod uniform;

pub use dialect::{Bits, Low, Op, Orders, Simple, Ty, signature};
pub use dynamic::{Dynamic, Element, StrandReduction};
pub use eval::{Datum, Machine};
pub use eval_dynamic::Heap;
pub use flatten::{flatten_short_ifs, is_short};
pub use fold::fold_constants;
pub use hoist::hoist;
pub use scalarize::{Slots, scalarize};
pub use uniform::varying;
