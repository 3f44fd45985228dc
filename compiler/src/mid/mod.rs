//! Mid-IR: no fields left; probes of images in index space, world transforms explicit, tensors still whole.

mod dialect;
mod reconstruct;

pub use dialect::{Mid, Op};
pub use reconstruct::reconstruct;
