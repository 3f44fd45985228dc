//! What High-IR and Mid-IR share: types with tensors and sequences, and the operations that are not about fields.

mod base;
mod dynamic;
mod operator;

pub use base::{Base, Ty};
pub use dynamic::{Dynamic, StrandReduction};
pub use operator::Operator;
