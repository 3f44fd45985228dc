//! Sequences in strand methods: making and extending them lane by lane, and giving back what a
//! method does not keep.

use super::{Shared, StepContext, Worker};
use crate::abi::bits;
use crate::abi::{FailureKind, LaneMask};
use crate::memory::Shortage;
use crate::sequence::{CannotGrow, HeldSequence, Owner, Sequence, Settling};
use crate::strands::blocks::{copy_block, copy_lane, lanes_mut};
use crate::strands::{Plane, SequencePlane};

impl StepContext<'_> {
    /// A sequence of `count` elements in `lane`, whose components are planes at `values`.
    ///
    /// # Safety
    /// `values` must be `count * components` planes of `bytes` bytes per lane.
    pub unsafe fn create_sequence(
        &mut self,
        lane: usize,
        [bytes, components]: [usize; 2],
        count: usize,
        values: *const u8,
    ) -> Sequence {
        // SAFETY: the caller's promise.
        let element = unsafe { self.packed(lane, bytes, count * components, values) };
        let made = self.worker.sequences.create(
            self.shared.sequences,
            Owner::strand(self.id(lane)),
            &element,
            bytes * components,
        );
        self.worker.bytes = element;
        self.check(lane, made)
    }

    /// `sequence` with one more element at its end, or at its beginning.
    ///
    /// # Safety
    /// `values` must be `components` planes of `bytes` bytes per lane, `sequence` alive and of such
    /// elements.
    pub unsafe fn extend_sequence(
        &mut self,
        lane: usize,
        [bytes, components]: [usize; 2],
        sequence: Sequence,
        values: *const u8,
        at_end: bool,
    ) -> Sequence {
        let owner = Owner::strand(self.id(lane));
        let pool = self.shared.sequences;
        // SAFETY: the caller's promise.
        let made = unsafe {
            let element = self.packed(lane, bytes, components, values);
            let cache = &mut self.worker.sequences;
            let made = if at_end {
                cache.append(pool, owner, sequence, &element)
            } else {
                cache.prepend(pool, owner, &element, sequence)
            };
            self.worker.bytes = element;
            made
        };
        self.check(lane, made)
    }

    /// The elements of `left`, then those of `right`.
    ///
    /// # Safety
    /// Both must be alive, of elements of `element` bytes.
    pub unsafe fn concatenate(
        &mut self,
        lane: usize,
        left: Sequence,
        right: Sequence,
        element: usize,
    ) -> Sequence {
        let owner = Owner::strand(self.id(lane));
        // SAFETY: the caller's promise.
        let made = unsafe {
            self.worker
                .sequences
                .concatenate(self.shared.sequences, owner, left, right, element)
        };
        self.check(lane, made)
    }

    /// Address of the first element of a sequence, elements packed one after the other. Valid until
    /// the method returns.
    pub fn sequence_data(&self, sequence: Sequence) -> *const u8 {
        self.shared.sequences.data(sequence)
    }

    /// Gathers one lane of `count` planes into the worker's scratch bytes.
    ///
    /// # Safety
    /// `values` must be `count` planes of `bytes` bytes per lane.
    unsafe fn packed(
        &mut self,
        lane: usize,
        bytes: usize,
        count: usize,
        values: *const u8,
    ) -> Vec<u8> {
        let mut packed = std::mem::take(&mut self.worker.bytes);
        packed.resize(count * bytes, 0);
        let apart = self.shared.layout.width() * bytes;
        for (plane, to) in packed.chunks_exact_mut(bytes).enumerate() {
            // SAFETY: the caller's promise.
            let from = unsafe { values.add(plane * apart + lane * bytes) };
            let to = to.as_mut_ptr();
            // SAFETY: a scalar is copied. Most have 4 bytes or 8, and copies of known sizes need no call.
            unsafe {
                match bytes {
                    4 => std::ptr::copy_nonoverlapping(from, to, 4),
                    8 => std::ptr::copy_nonoverlapping(from, to, 8),
                    _ => std::ptr::copy_nonoverlapping(from, to, bytes),
                }
            }
        }
        packed
    }

    /// The new sequence, or a run-time error of the lane.
    pub(super) fn check<V: Default>(&mut self, lane: usize, made: Result<V, CannotGrow>) -> V {
        match made {
            Ok(made) => return made,
            Err(CannotGrow::TooLong) => {
                let kind = FailureKind::SequenceTooLong;
                self.fail(1 << lane, kind, u32::MAX, |_| [0; 2]);
            }
            Err(CannotGrow::Memory(shortage)) => self.exhaust(1 << lane, shortage),
        }
        V::default()
    }

    /// Notes that there is no memory for what some lanes want.
    pub(super) fn exhaust(&mut self, lanes: LaneMask, Shortage { wanted, left }: Shortage) {
        let details = [wanted as i64, left as i64];
        let lanes = lanes & !self.waiting;
        self.fail(lanes, FailureKind::OutOfMemory, u32::MAX, |_| details);
        self.exhausted |= lanes;
    }

    /// Notes what a block's state holds. Call before a method, [`StepContext::close_method`] after it.
    ///
    /// # Safety
    /// `block` must be the context's block.
    #[inline]
    pub(crate) unsafe fn open_method(&mut self, block: *mut u8) {
        if self.shared.may_wait {
            self.note_events();
        }
        if self.keeps_before() {
            // SAFETY: the caller's promise.
            unsafe { self.keep_before(block) };
        }
    }

    /// Remembers a block and the sequences that it holds.
    ///
    /// # Safety
    /// `block` must be the context's block.
    unsafe fn keep_before(&mut self, block: *mut u8) {
        let layout = self.shared.layout;
        // SAFETY: both are blocks of the layout, and the block is this worker's.
        unsafe { copy_block(layout, block, self.worker.kept.base()) };
        self.worker.before.clear();
        for &SequencePlane { plane, .. } in layout.sequence_planes() {
            // SAFETY: the block is this worker's.
            self.worker
                .before
                .extend_from_slice(unsafe { lanes_mut::<Sequence>(block, plane, layout.width()) });
        }
    }

    /// Gives strands for which there was no memory the state back that they had before the method.
    ///
    /// # Safety
    /// `block` must be the context's block, and the method over.
    #[inline]
    pub(crate) unsafe fn undo_exhausted(&mut self, block: *mut u8) {
        if self.exhausted != 0 && self.keeps_before() {
            // SAFETY: the caller's promise.
            unsafe { self.undo(block, self.exhausted) };
        }
    }

    /// Gives strands the state back that they had before the method.
    ///
    /// # Safety
    /// `block` must be the context's block, the method over, and the block kept before it.
    pub(super) unsafe fn undo(&mut self, block: *mut u8, lanes: LaneMask) {
        debug_assert!(self.keeps_before());
        let kept = self.worker.kept.base();
        for lane in bits(lanes) {
            let lane = lane as usize;
            // SAFETY: both are blocks of the layout, and the block is this worker's.
            unsafe { copy_lane(self.shared.layout, kept, lane, block, lane) };
        }
    }

    /// Whether strands may need the state back that they had before a method: for want of memory, or because they wait.
    fn keeps_before(&self) -> bool {
        self.shared.may_exhaust || self.shared.may_wait
    }

    /// Frees what the method made and did not keep. `lanes` ran, of these `dead` hold nothing any
    /// more.
    ///
    /// # Safety
    /// `block` must be the context's block, and the method over.
    #[inline]
    pub(crate) unsafe fn close_method(&mut self, block: *mut u8, lanes: LaneMask, dead: LaneMask) {
        self.worker.lists.reset();
        let holds = !self.shared.layout.sequence_planes().is_empty();
        if holds || !self.worker.sequences.is_settled() {
            // SAFETY: the caller's promise.
            unsafe { self.settle(block, lanes, dead) };
        }
    }

    /// See [`StepContext::close_method`].
    ///
    /// # Safety
    /// The same.
    unsafe fn settle(&mut self, block: *mut u8, lanes: LaneMask, dead: LaneMask) {
        let Shared {
            layout,
            sequences: pool,
            ..
        } = *self.shared;
        let width = layout.width();
        let planes = layout.sequence_planes();
        for lane in bits(lanes) {
            let lane = lane as usize;
            let owner = Owner::strand(self.id(lane));
            let Worker {
                before,
                lane_before,
                lane_after,
                sequences,
                ..
            } = &mut *self.worker;
            lane_before.clear();
            lane_before.extend((0..planes.len()).map(|plane| before[plane * width + lane]));
            lane_after.clear();
            let gone = dead >> lane & 1 == 1;
            // SAFETY: the block is this worker's; what strands hold is alive.
            let settled = unsafe {
                let handle = |plane: Plane| block.add(plane.offset).cast::<Sequence>().add(lane);
                lane_after.extend(planes.iter().map(|&SequencePlane { plane, element }| {
                    HeldSequence {
                        sequence: if gone {
                            Sequence::EMPTY
                        } else {
                            *handle(plane)
                        },
                        element,
                    }
                }));
                let settling = Settling {
                    owner,
                    before: lane_before,
                    read_by_others: layout.sequences_are_read_by_others(),
                };
                let settled = sequences.settle(pool, settling, lane_after);
                // Others may be reading the handle of a variable that never changes, also that of a
                // strand that has just died: it is written only where a copy replaces it.
                for (&SequencePlane { plane, .. }, held) in planes.iter().zip(lane_after) {
                    if !gone && *handle(plane) != held.sequence {
                        *handle(plane) = held.sequence;
                    }
                }
                settled
            };
            self.check(lane, settled);
        }
    }
}
