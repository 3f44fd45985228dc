//! Dynamic sequences: takes elements, gives 64-bit handles that behave like values.
//!
//! A handle is a buffer number and a length: a sequence is a prefix of a buffer. Appending to
//! the newest value of a buffer writes behind its end and gives a longer prefix; the older value
//! does not change. Appending to an older value copies. That makes growing a polyline cheap
//! without counting references. A buffer that was made by prepending works the other way round:
//! its values are suffixes and grow at the beginning.
//!
//! **Ownership.** A buffer belongs to one strand (or to the globals). Only its owner extends it in
//! place; a strand that stores a foreign sequence in its state gets a copy. After each method,
//! [`SequenceCache::settle`] keeps what the state of a strand refers to and frees the rest of what
//! the strand owned or made; a strand that dies refers to nothing.
//!
//! **Memory.** Buffers have power-of-two capacities and are recycled through a free list per worker
//! and capacity, with a shared list behind it, so a running program allocates from the system only
//! while its total grows. Everything is given back when the pool is dropped.

mod cache;
mod pool;

pub use cache::{HeldSequence, SequenceCache, Settling};
pub use pool::{CannotGrow, Owner, SequencePool};

/// A sequence value: a prefix of a buffer, or a suffix. The empty sequence is 0.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequence(u64);

impl Sequence {
    /// The sequence without elements.
    pub const EMPTY: Sequence = Sequence(0);

    pub(crate) fn new(buffer: u32, length: u32) -> Sequence {
        Sequence(u64::from(buffer) << 32 | u64::from(length))
    }

    /// The handle as generated code holds it: the low half is the length.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// A handle that generated code held.
    pub fn from_bits(bits: u64) -> Sequence {
        Sequence(bits)
    }

    /// Number of elements.
    pub fn len(self) -> usize {
        self.0 as u32 as usize
    }

    /// True when there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Number of the buffer; 0 for none.
    pub(crate) fn buffer(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
