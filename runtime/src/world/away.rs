//! What strands that run with an executor share with the world: events, and sequences, whose elements are read from here, and are
//! replaced by what comes back.
//!
//! The state here always names sequences of this memory, also while its newest version is elsewhere.

mod events;

pub use events::AwayEvents;

use super::step::context::Worker;
use crate::abi::LaneMask;
use crate::sequence::{CannotGrow, Owner, Sequence, SequenceCache, SequencePool};
use crate::strands::roster::{LaneSets, Roster};
use crate::strands::{SequencePlane, StateLayout};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sequences of the strands of a batch.
#[derive(Clone, Copy)]
pub struct BatchSequences<'a> {
    pub(super) layout: &'a StateLayout,
    pub(super) pool: &'a SequencePool,
    pub(super) workers: &'a [Mutex<Worker>],
    pub(super) roster: &'a Roster,
    /// The number of the batch's first block.
    pub(super) first: usize,
}

impl<'a> BatchSequences<'a> {
    /// Where states have handles of sequences.
    pub fn planes(&self) -> &'a [SequencePlane] {
        self.layout.sequence_planes()
    }

    /// How many threads may put sequences into states at a time.
    pub fn keepers(&self) -> usize {
        self.workers.len()
    }

    /// Puts sequences into states, as one of the workers.
    pub fn keeper(&self, worker: usize) -> SequenceKeeper<'a> {
        let worker = &self.workers[worker % self.workers.len()];
        SequenceKeeper {
            sequences: *self,
            worker: worker.lock().unwrap_or_else(PoisonError::into_inner),
            made: Vec::new(),
            before: Vec::new(),
        }
    }

    /// The elements of a sequence, as bytes.
    ///
    /// # Safety
    /// The handle is that of a global variable or of the state of a strand, of elements of this many bytes.
    pub unsafe fn elements(&self, handle: u64, element: usize) -> &'a [u8] {
        // SAFETY: promised by the caller; nothing is freed while strands run elsewhere, but what a keeper replaces.
        unsafe { self.pool.bytes(Sequence::from_bits(handle), element) }
    }

    /// The same for the blocks from one on.
    pub fn after(self, blocks: usize) -> BatchSequences<'a> {
        BatchSequences {
            first: self.first + blocks,
            ..self
        }
    }

    fn lanes(&self, block: usize) -> LaneSets {
        self.roster.lanes[self.first + block]
    }

    /// The lanes of a block that have a strand.
    pub fn alive(&self, block: usize) -> LaneMask {
        self.lanes(block).alive()
    }
}

/// A worker that puts sequences into states.
pub struct SequenceKeeper<'a> {
    sequences: BatchSequences<'a>,
    worker: MutexGuard<'a, Worker>,
    made: Vec<Sequence>,
    before: Vec<Sequence>,
}

impl SequenceKeeper<'_> {
    /// Gives the strand in a lane of a block sequences with these elements, in the order of planes, and frees those that it had.
    /// The block is in `state`.
    ///
    /// # Errors
    /// There is no memory for them. Nothing has changed then.
    pub fn put<'e>(
        &mut self,
        state: &mut [u8],
        (block, lane): (usize, usize),
        elements: impl Iterator<Item = &'e [u8]>,
    ) -> Result<(), CannotGrow> {
        let BatchSequences {
            pool,
            roster,
            layout,
            first,
            ..
        } = self.sequences;
        let rank = roster.ranks[(first + block) * layout.width() + lane];
        let owner = Owner::strand(roster.id(rank));
        let cache = &mut self.worker.sequences;
        let planes = layout.sequence_planes();
        self.made.clear();
        for (plane, elements) in planes.iter().zip(elements) {
            match cache.create_settled(pool, owner, elements, plane.element) {
                Ok(made) => self.made.push(made),
                Err(why) => {
                    free(cache, pool, &self.made);
                    return Err(why);
                }
            }
        }
        self.before.clear();
        for (plane, made) in planes.iter().zip(&self.made) {
            let handle = &mut state[place(plane, lane)];
            let bits = u64::from_le_bytes((&*handle).try_into().expect("eight bytes"));
            self.before.push(Sequence::from_bits(bits));
            handle.copy_from_slice(&made.to_bits().to_le_bytes());
        }
        free(cache, pool, &self.before);
        Ok(())
    }

    /// Empties the sequences of a lane that has no strand any more.
    pub fn clear(&mut self, state: &mut [u8], lane: usize) {
        let planes = self.sequences.planes();
        self.before.clear();
        for plane in planes {
            let handle = &mut state[place(plane, lane)];
            let bits = u64::from_le_bytes((&*handle).try_into().expect("eight bytes"));
            self.before.push(Sequence::from_bits(bits));
            handle.fill(0);
        }
        free(
            &mut self.worker.sequences,
            self.sequences.pool,
            &self.before,
        );
    }
}

/// The bytes of a handle in a block.
fn place(plane: &SequencePlane, lane: usize) -> Range<usize> {
    let at = plane.plane.offset + lane * plane.plane.bytes;
    at..at + size_of::<Sequence>()
}

/// Frees the buffers of sequences, each once.
fn free(cache: &mut SequenceCache, pool: &SequencePool, sequences: &[Sequence]) {
    for (n, sequence) in sequences.iter().enumerate() {
        let is_first = |other: &&Sequence| other.buffer() == sequence.buffer();
        if !sequences[..n].iter().any(|other| is_first(&other)) {
            cache.free(pool, *sequence);
        }
    }
}
