//! High-IR: every tensor and field operation is an EIN operator applied to values.

mod definitions;
mod dialect;
mod literal;
mod normalize;
mod schedule;
mod translate;

pub use definitions::{Definition, definitions};
pub use dialect::{High, Op};
pub use normalize::{RuleCounts, normalize};
pub use translate::translate;
