//! High-IR: every tensor and field operation is an EIN operator applied to values.

pub mod derive;
mod dialect;
mod forms;
mod literal;
mod normalize;
mod schedule;
mod translate;

pub use dialect::{High, Op};
pub use forms::RuleCounts;
pub use normalize::{ExplainedRegion, explain, normalize, normalize_program};
pub use translate::{Names, Request, Translation, translate};
