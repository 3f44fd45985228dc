//! Sequences of varying length on a GPU.
//!
//! A sequence is two integers there as well, a place and a length. The place is that of a buffer: the number of its first unit in the
//! *heap*, memory that all strands share. Strands take memory in chunks, by an atomic counter, and buffers from their chunks. Only
//! the strand that made a buffer writes to it, so nothing is locked; the newest value of a buffer grows in place, older ones are
//! copied. Space that a super-step took and that no state refers to is taken again by the next one.
//!
//! A strand for which the heap has no room waits with the state after its last super-step, until a larger heap has copies of all
//! sequences that states refer to. Sequences of global variables are in memory of their own, the *common* sequences, which no strand
//! changes.

mod facts;
mod heap;
mod returning;
mod sending;

pub(super) use facts::{Lists, makes_sequence};
pub(super) use heap::Heap;
pub(super) use sending::Common;

/// The layout of buffers, which host and kernel share.
pub(super) mod layout {
    /// Bytes of a unit; places count these.
    pub(in crate::codegen::gpu) const UNIT: u64 = 64;
    /// Places from here on are those of common sequences.
    pub(in crate::codegen::gpu) const COMMON: u32 = 1 << 31;
    /// Units of a sequence at most; longer ones are left to the CPU.
    pub(in crate::codegen::gpu) const MOST_UNITS: u64 = 1 << 28;
    /// Units that a strand takes at a time, at least.
    pub(in crate::codegen::gpu) const CHUNK: u32 = 4;
    /// Words at the beginning of a buffer, in bytes from there: the units that it has, the elements that are used, and whether it
    /// grows at the start. Its elements follow, or end where it ends.
    pub(in crate::codegen::gpu) const UNITS: usize = 0;
    pub(in crate::codegen::gpu) const USED: usize = 4;
    pub(in crate::codegen::gpu) const GROWS_AT_START: usize = 8;
    pub(in crate::codegen::gpu) const HEAD: u64 = 16;
    /// Bytes after the elements: copies move several words at a time.
    pub(in crate::codegen::gpu) const SLACK: u64 = 32;
    /// The used elements of a buffer that no strand extends.
    pub(in crate::codegen::gpu) const NEVER: u32 = u32::MAX;

    /// The units of a buffer for this many bytes.
    pub(in crate::codegen::gpu) fn units(bytes: u64) -> u64 {
        (bytes + HEAD + SLACK).div_ceil(UNIT)
    }

    /// The words at the beginning of a buffer.
    pub(in crate::codegen::gpu) fn head(units: u32, used: u32) -> [u8; HEAD as usize] {
        let mut head = [0; HEAD as usize];
        head[UNITS..][..4].copy_from_slice(&units.to_le_bytes());
        head[USED..][..4].copy_from_slice(&used.to_le_bytes());
        head
    }
}
