//! Storage of strands: takes the compiler's state layout, keeps the state of every strand in blocks
//! of W lanes, and knows the block and lane of each.

pub(crate) mod arrange;
pub mod blocks;
pub mod layout;
pub mod roster;
pub mod tiles;

pub use layout::{
    Kind, LayoutError, Plane, Position, Scalar, SequencePlane, Sharing, StateLayout, Variable,
};
pub use roster::{Counts, StrandSet};
