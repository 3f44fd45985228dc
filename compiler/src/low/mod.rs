//! Low-IR: scalar operations, ready for code generation.

mod axes;
mod decide;
mod dialect;
mod dynamic;
mod flatten;
mod fold;
mod hoist;
pub mod interval;
mod patience;
mod scalarize;
mod uniform;

pub use crate::ir::Scalar as Ty;
pub use axes::{Fitted, Zeros, fit};
pub use decide::{Bounds, decide_by_bounds};
pub use dialect::{Low, Op, signature, zero};
pub use dynamic::{Dynamic, Element, StrandReduction};
pub use flatten::{flatten_short_ifs, is_short};
pub use fold::fold_constants;
pub use hoist::hoist;
pub use patience::long_loops;
pub use scalarize::{Slots, scalarize};
pub use uniform::varying;
