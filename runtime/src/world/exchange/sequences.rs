//! The sequences of strands, on their way to other ranks: elements in place of the numbers of buffers.

use crate::abi::{Failure, FailureKind, LaneMask, bits};
use crate::cluster::wire::{Reader, put_bytes};
use crate::memory::Shortage;
use crate::sequence::{CannotGrow, HeldSequence, Owner, Sequence, SequencePool};
use crate::strands::blocks::{Blocks, lanes_mut, load_lane, save_lane};
use crate::strands::{SequencePlane, StateLayout};
use crate::world::core::{Core, owned};
use crate::world::step::context::Worker;
use crate::world::step::events::StrandFailure;

/// Calls `visit` for every sequence of some lanes: lane by lane, and plane by plane.
pub(super) fn each_sequence(
    layout: &StateLayout,
    block: *mut u8,
    lanes: LaneMask,
    mut visit: impl FnMut(HeldSequence),
) {
    let planes = layout.sequence_planes();
    if planes.is_empty() {
        return;
    }
    for lane in bits(lanes) {
        for &SequencePlane { plane, element } in planes {
            // SAFETY: no method runs, and the plane is one of handles.
            let handles = unsafe { lanes_mut::<Sequence>(block, plane, layout.width()) };
            visit(HeldSequence {
                sequence: handles[lane as usize],
                element,
            });
        }
    }
}

/// The error of a strand whose sequence has no room on this rank.
pub(super) fn no_room(error: CannotGrow) -> Failure {
    let (kind, details) = match error {
        CannotGrow::TooLong => (FailureKind::SequenceTooLong, [0; 2]),
        CannotGrow::Memory(Shortage { wanted, left }) => {
            (FailureKind::OutOfMemory, [wanted as i64, left as i64])
        }
    };
    Failure {
        kind,
        position: u32::MAX,
        details,
    }
}

impl Core {
    /// Makes a sequence of a strand from elements of another rank. Without room for it the strand has failed, and the sequence is empty.
    pub(super) fn create_sequence(
        &mut self,
        (rank, id): (u32, u64),
        elements: &[u8],
        element: usize,
    ) -> Sequence {
        if elements.is_empty() {
            return Sequence::EMPTY;
        }
        let Worker {
            sequences: cache,
            failure,
            ..
        } = owned(&mut self.workers[0]);
        let made = cache.create(&self.sequences, Owner::strand(id), elements, element);
        made.unwrap_or_else(|error| {
            self.is_short = true;
            let noted = StrandFailure {
                step: self.step,
                rank,
                id,
                failure: no_room(error),
            };
            StrandFailure::keep_first(failure, noted);
            Sequence::EMPTY
        })
    }
}

/// A block in which the record of a strand that joins later is laid out, to find its sequences.
pub(super) struct Unborn<'a> {
    layout: &'a StateLayout,
    block: Blocks,
}

impl Unborn<'_> {
    pub(super) fn new(layout: &StateLayout) -> Unborn<'_> {
        let mut block = Blocks::new(layout.stride());
        block.resize(1);
        Unborn { layout, block }
    }

    /// Appends the elements of the sequences in a record.
    pub(super) fn put_sequences(
        &mut self,
        letter: &mut Vec<u8>,
        record: &[u8],
        pool: &SequencePool,
    ) {
        if self.layout.sequence_planes().is_empty() {
            return;
        }
        // SAFETY: the block is this one's.
        unsafe { load_lane(self.layout, record, self.block.base(), 0) };
        each_sequence(self.layout, self.block.base(), 1, |held| {
            // SAFETY: unborn strands own their sequences.
            put_bytes(letter, unsafe { pool.bytes(held.sequence, held.element) });
        });
    }

    /// Puts a record of another rank into the nursery of a worker, with sequences of its own as far as there is room for them.
    pub(super) fn take_record(
        &mut self,
        reader: &mut Reader<'_>,
        record: &[u8],
        worker: &mut Worker,
        pool: &SequencePool,
    ) -> Option<Result<(), CannotGrow>> {
        let Worker {
            nursery, sequences, ..
        } = worker;
        if self.layout.sequence_planes().is_empty() {
            nursery.records.extend_from_slice(record);
            return Some(Ok(()));
        }
        let mut outcome = Ok(());
        let (block, width) = (self.block.base(), self.layout.width());
        // SAFETY: the block is this one's.
        unsafe { load_lane(self.layout, record, block, 0) };
        for &SequencePlane { plane, element } in self.layout.sequence_planes() {
            let elements = reader.bytes()?;
            let made = sequences.create_for_unborn(pool, elements, element);
            let sequence = made.unwrap_or_else(|error| {
                outcome = Err(error);
                Sequence::EMPTY
            });
            // SAFETY: the block is this one's, and the plane is one of handles.
            unsafe { lanes_mut::<Sequence>(block, plane, width)[0] = sequence };
        }
        // SAFETY: the block is this one's.
        unsafe { save_lane(self.layout, block, 0, &mut nursery.records) };
        Some(outcome)
    }
}
