//! The common part of High-IR and Mid-IR: types with tensors and sequences, and the operations without fields.

mod base;
mod dynamic;
mod operator;

pub use base::{Base, Ty};
pub use dynamic::{Dynamic, StrandReduction};
pub use operator::Operator;
