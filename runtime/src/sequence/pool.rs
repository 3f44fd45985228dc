//! The buffers behind sequences: a table shared by all workers, growing without moving, and the memory
//! it is made of.

use super::Sequence;
use crate::memory::{Claim, Shortage, claim};
use std::alloc::{Layout, alloc, dealloc};
use std::fmt;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Smallest capacity of a buffer in bytes.
pub(super) const SMALLEST: usize = 32;
/// Number of capacities: 32 bytes, 64, … up to 2³⁶.
pub(super) const CLASSES: usize = 32;
/// Memory is taken from the system in pieces of at least this size.
const SLAB: usize = 64 << 10;
/// Free buffers that change hands between a worker and the shared list at a time.
pub(super) const BATCH: usize = 128;

/// Whom a buffer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub(super) u64);

impl Owner {
    /// Global variables.
    pub const GLOBAL: Owner = Owner(u64::MAX);
    /// A strand that has been made by `new` but has no id yet.
    pub const UNBORN: Owner = Owner(u64::MAX - 1);

    /// The strand with this id.
    pub fn strand(id: u64) -> Owner {
        Owner(id)
    }
}

/// Why a sequence cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotGrow {
    /// It would have more elements than a handle can say.
    TooLong,
    /// There is no memory for it.
    Memory(Shortage),
}

impl fmt::Display for CannotGrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotGrow::TooLong => write!(f, "a sequence grew beyond {} elements", u32::MAX),
            CannotGrow::Memory(shortage) => shortage.fmt(f),
        }
    }
}

impl std::error::Error for CannotGrow {}

/// Where the values of a buffer begin and how they grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// All begin at the start of the buffer; the longest has been appended to.
    AtEnd,
    /// All end at the end of the buffer; the longest has been prepended to.
    AtStart,
}

/// One buffer. Its fields change only while the buffer is free or by its owner, so relaxed accesses
/// suffice; the barriers between super-steps order them between workers.
pub(super) struct Buffer {
    pub(super) data: AtomicPtr<u8>,
    pub(super) owner: AtomicU64,
    /// Elements written: the length of the newest value.
    pub(super) used: AtomicU32,
    pub(super) class: AtomicU32,
    /// Bytes of one element if values end where the buffer does, else 0.
    pub(super) from_end: AtomicU32,
}

impl Buffer {
    fn unused() -> Buffer {
        Buffer {
            data: AtomicPtr::default(),
            owner: AtomicU64::new(0),
            used: AtomicU32::new(0),
            class: AtomicU32::new(0),
            from_end: AtomicU32::new(0),
        }
    }

    /// Bytes that there is room for.
    pub(super) fn capacity(&self) -> usize {
        SMALLEST << self.class.load(Relaxed)
    }

    /// How its values grow.
    pub(super) fn growth(&self) -> Growth {
        match self.from_end.load(Relaxed) {
            0 => Growth::AtEnd,
            _ => Growth::AtStart,
        }
    }

    /// Address of the first element of a value of this many elements.
    pub(super) fn first(&self, length: usize) -> *mut u8 {
        let data = self.data.load(Relaxed);
        match self.from_end.load(Relaxed) as usize {
            0 => data,
            // SAFETY: the value is in the buffer.
            element => unsafe { data.add(self.capacity() - length * element) },
        }
    }
}

/// The table of all buffers. Buffer 0 does not exist.
pub struct SequencePool {
    /// Part p holds the buffers 2^p … 2^(p+1)−1, so that the table grows without moving.
    parts: [OnceLock<Box<[Buffer]>>; 32],
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    buffers: u32,
    free: [Vec<u32>; CLASSES],
    slabs: Vec<(AtomicPtr<u8>, Layout)>,
    claim: Claim,
}

impl Default for SequencePool {
    fn default() -> SequencePool {
        SequencePool {
            parts: [const { OnceLock::new() }; 32],
            shared: Mutex::default(),
        }
    }
}

impl SequencePool {
    /// A pool without buffers.
    pub fn new() -> SequencePool {
        SequencePool::default()
    }

    /// Bytes taken from the system so far.
    pub fn reserved_bytes(&self) -> usize {
        self.lock()
            .slabs
            .iter()
            .map(|(_, layout)| layout.size())
            .sum()
    }

    /// Address of the first element; dangling for an empty sequence.
    pub fn data(&self, sequence: Sequence) -> *const u8 {
        match sequence.buffer() {
            0 => std::ptr::dangling(),
            buffer => self.buffer(buffer).first(sequence.len()),
        }
    }

    /// The elements as bytes.
    ///
    /// # Safety
    /// The sequence must be alive in this pool, of elements of `element` bytes.
    pub unsafe fn bytes(&self, sequence: Sequence, element: usize) -> &[u8] {
        // SAFETY: the elements up to the length have been written and are not written again while a
        // value refers to them.
        unsafe { std::slice::from_raw_parts(self.data(sequence), sequence.len() * element) }
    }

    /// Gives `buffer` of a sequence another owner.
    pub(crate) fn hand_over(&self, sequence: Sequence, owner: Owner) {
        if sequence.buffer() != 0 {
            self.buffer(sequence.buffer()).owner.store(owner.0, Relaxed);
        }
    }

    pub(super) fn buffer(&self, index: u32) -> &Buffer {
        let part = index.ilog2();
        let buffers = self.parts[part as usize]
            .get()
            .expect("a handle names an existing buffer");
        &buffers[(index - (1 << part)) as usize]
    }

    /// Puts free buffers of a capacity on the shared list.
    pub(super) fn give_back(&self, class: usize, buffers: impl Iterator<Item = u32>) {
        self.lock().free[class].extend(buffers);
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // The lists are consistent between any two statements, so a panic elsewhere does not spoil
        // them.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves free buffers of a capacity into `cache`: from the shared list, or from a new slab.
    pub(super) fn refill(&self, class: usize, cache: &mut Vec<u32>) -> Result<(), Shortage> {
        let mut shared = self.lock();
        let free = &mut shared.free[class];
        if !free.is_empty() {
            let keep = free.len().saturating_sub(BATCH);
            cache.extend(free.drain(keep..));
            return Ok(());
        }
        let bytes = SMALLEST << class;
        let count = (SLAB / bytes).max(1);
        let layout = Layout::from_size_align(bytes * count, SMALLEST)
            .expect("a sequence fits the address space");
        // The table has an entry for each buffer, and is up to twice as long as it must be.
        let wanted = (layout.size() + 2 * count * size_of::<Buffer>()) as u64;
        let claimed = claim(wanted)?;
        // SAFETY: the size is not zero.
        let base = unsafe { alloc(layout) };
        if base.is_null() {
            return Err(Shortage { wanted, left: 0 });
        }
        shared.claim.add(claimed);
        shared.slabs.push((AtomicPtr::new(base), layout));
        // Low numbers are handed out first.
        for place in (0..count).rev() {
            shared.buffers += 1;
            let index = shared.buffers;
            let part = index.ilog2();
            self.parts[part as usize]
                .get_or_init(|| (0..1usize << part).map(|_| Buffer::unused()).collect());
            let buffer = self.buffer(index);
            // SAFETY: `place` is below the number of buffers in the slab.
            buffer
                .data
                .store(unsafe { base.add(place * bytes) }, Relaxed);
            buffer.class.store(class as u32, Relaxed);
            cache.push(index);
        }
        Ok(())
    }
}

impl Drop for SequencePool {
    fn drop(&mut self) {
        for (base, layout) in self.lock().slabs.drain(..) {
            // SAFETY: allocated in `refill` with this layout; no handle can be used without the
            // pool.
            unsafe { dealloc(base.into_inner(), layout) };
        }
    }
}
