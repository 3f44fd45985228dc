//! Strands that wait: their queries look at strands that are not known to this rank. Their method runs again later, as if it had not
//! run yet, so nothing of it may be left.

use super::StepContext;
use crate::abi::bits;
use crate::sequence::Sequence;
use crate::strands::SequencePlane;
use crate::strands::blocks::record_bytes;

impl StepContext<'_> {
    /// Remembers which events there were before a method.
    pub(super) fn note_events(&mut self) {
        let pieces = self.worker.printed.pieces.len();
        self.worker.before_method = [pieces, self.worker.nursery.parents.len()];
    }

    /// Takes back what strands did that have to wait: their states, their text and their children. An error that they met before is met
    /// again.
    ///
    /// # Safety
    /// `block` must be the context's block, and the method over.
    #[inline]
    pub(crate) unsafe fn undo_waiting(&mut self, block: *mut u8) {
        if self.waiting != 0 {
            // SAFETY: the caller's promise.
            unsafe { self.undo(block, self.waiting) };
            self.take_back_events();
        }
    }

    fn take_back_events(&mut self) {
        let waits = |rank: u32| bits(self.waiting).any(|lane| self.ranks[lane as usize] == rank);
        let [pieces, children] = self.worker.before_method;
        self.worker.printed.take_back(pieces, waits);
        let layout = self.shared.layout;
        let planes = layout.planes();
        let sequences = layout.sequence_planes();
        let cache = &mut self.worker.sequences;
        let free = |record: &[u8]| {
            let mut rest = record;
            for plane in planes {
                let (value, after) = rest.split_at(plane.bytes);
                rest = after;
                let is_handle = |held: &SequencePlane| held.plane == *plane;
                if let (true, Some(bits)) = (sequences.iter().any(is_handle), value.first_chunk()) {
                    let sequence = Sequence::from_bits(u64::from_ne_bytes(*bits));
                    cache.free(self.shared.sequences, sequence);
                }
            }
        };
        let bytes = record_bytes(layout);
        self.worker.nursery.take_back(children, bytes, waits, free);
    }
}
