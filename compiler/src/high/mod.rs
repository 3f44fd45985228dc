//! High-IR: every tensor and field operation is an EIN operator applied to values.

mod closed_form;
mod definitions;
mod dialect;
mod normalize;
mod supported;
mod translate;

pub use definitions::{Definition, definitions};
pub use dialect::{High, Op};
pub use normalize::{RuleCounts, normalize};
pub use supported::unsupported;
pub use translate::translate;
