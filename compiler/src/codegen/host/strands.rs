//! The host of strand code: the context of a super-step.

use super::dynamic::Sequences;
use crate::{
    codegen::abi::{CallPlanes, Host, HostCall},
    low::Dynamic,
};
use runtime::{abi::FailureKind, sequence::Sequence, world::StepContext};

impl Host for StepContext<'_> {
    /// Each strand's text goes to its own place in the order of prints.
    fn print(&mut self, lane: usize, text: &str) {
        self.print_text(1 << lane, text);
    }

    fn fail(
        &mut self,
        lanes: u32,
        kind: FailureKind,
        place: u32,
        details: &dyn Fn(usize) -> [i64; 2],
    ) {
        StepContext::fail(self, lanes, kind, place, details);
    }

    fn is_exhausted(&self) -> bool {
        self.exhausted() != 0
    }

    unsafe fn operate(&mut self, call: &HostCall, lanes: u32, planes: CallPlanes) {
        // SAFETY: promised by the caller.
        unsafe {
            match &call.op {
                Dynamic::Sphere { dim, .. } => call.sphere(self, *dim, lanes, planes),
                Dynamic::New(_) => call.spawn(self, lanes, planes),
                _ => call.on_sequences(self, lanes, planes),
            }
        }
    }
}

impl Sequences for StepContext<'_> {
    unsafe fn create(
        &mut self,
        lane: usize,
        shape: [usize; 2],
        count: usize,
        values: *const u8,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        unsafe { self.create_sequence(lane, shape, count, values) }
    }

    unsafe fn extend(
        &mut self,
        lane: usize,
        shape: [usize; 2],
        sequence: Sequence,
        values: *const u8,
        at_end: bool,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        unsafe { self.extend_sequence(lane, shape, sequence, values, at_end) }
    }

    unsafe fn join(
        &mut self,
        lane: usize,
        left: Sequence,
        right: Sequence,
        element: usize,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        unsafe { self.concatenate(lane, left, right, element) }
    }

    fn data(&self, sequence: Sequence) -> *const u8 {
        self.sequence_data(sequence)
    }
}
