//! High-IR: every tensor and field operation is an EIN operator applied to values.

mod dialect;
mod literal;
mod normalize;
mod schedule;
mod translate;

pub use dialect::{High, Op};
pub use normalize::{ExplainedRegion, RuleCounts, explain, normalize};
pub use translate::{Names, translate, translate_with_names};
