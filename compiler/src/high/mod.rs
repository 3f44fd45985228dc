//! High-IR: every tensor and field operation is an EIN operator applied to values.

mod definitions;
mod dialect;
mod normalize;
mod translate;

pub use definitions::{Definition, definitions};
pub use dialect::{High, Op};
pub use normalize::{RuleCounts, normalize};
pub use translate::translate;
