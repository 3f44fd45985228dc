//! The values of strands on their way out: into arrays in the order of strands, or to a taker while other strands still run.

pub(super) mod buffer;
mod collect;
pub(super) mod destination;
pub(super) mod gather;
pub(super) mod parts;
pub(super) mod strip;
mod together;
mod writer_queue;
