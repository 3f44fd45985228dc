//! The steps of strands: their methods and the context of these, the end of a super-step, and global blocks.

mod births;
pub(super) mod context;
pub(super) mod events;
pub(super) mod execute;
mod fetch;
mod finish;
pub(super) mod global;
pub(super) mod methods;
mod stabilize;
