//! The host of code outside the super-steps, which runs once, or for reductions over strands.

use super::dynamic::Sequences;
use crate::{
    codegen::abi::{CallPlanes, Host, HostCall},
    low::{Dynamic, StrandReduction},
};
use runtime::{
    abi::FailureKind,
    memory::Shortage,
    sequence::{CannotGrow, Sequence},
    world::GlobalSequences,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Printed text and a run-time error.
#[derive(Debug, Default)]
pub struct Reports {
    /// The printed text.
    pub printed: String,
    /// The first run-time error by its place: its kind, its place in the source, and its details.
    pub failure: Option<(FailureKind, u32, [i64; 2])>,
}

/// Reduces over strands; takes and gives the scalars as they are in memory.
pub type Reducer<'a> = dyn Fn(&StrandReduction, &[u64]) -> Vec<u64> + 'a;

/// The host of code outside the super-steps.
#[derive(Clone, Copy)]
pub struct GlobalHost<'a, 's> {
    /// The data that it shares with the bodies of its reductions.
    pub outside: &'a Outside<'s>,
    /// The function that reduces over strands, where there are any.
    pub reducer: Option<&'a Reducer<'a>>,
}

impl Host for GlobalHost<'_, '_> {
    fn print(&mut self, _lane: usize, text: &str) {
        self.outside.print(text);
    }

    fn fail(
        &mut self,
        lanes: u32,
        kind: FailureKind,
        place: u32,
        details: &dyn Fn(usize) -> [i64; 2],
    ) {
        let first = lanes.trailing_zeros() as usize;
        self.outside.report(kind, place, details(first));
    }

    fn is_exhausted(&self) -> bool {
        let failure = lock(&self.outside.reports).failure;
        failure.is_some_and(|(kind, ..)| kind == FailureKind::OutOfMemory)
    }

    unsafe fn operate(&mut self, call: &HostCall, lanes: u32, planes: CallPlanes) {
        let mut heap = GlobalHeap {
            outside: self.outside,
            width: call.lanes.width,
        };
        // SAFETY: promised by the caller.
        unsafe {
            match (&call.op, self.reducer) {
                (Dynamic::Reduce(_), Some(reducer)) => call.reduce(reducer, planes),
                _ => call.on_sequences(&mut heap, lanes, planes),
            }
        }
    }
}

/// The data that code outside the super-steps shares between threads.
pub struct Outside<'a> {
    reports: Mutex<Reports>,
    sequences: Mutex<&'a mut GlobalSequences>,
}

impl<'a> Outside<'a> {
    /// Takes the earlier reports, and the sequences of global variables.
    pub fn new(reports: Reports, sequences: &'a mut GlobalSequences) -> Outside<'a> {
        Outside {
            reports: Mutex::new(reports),
            sequences: Mutex::new(sequences),
        }
    }

    /// The reports.
    pub fn into_reports(self) -> Reports {
        self.reports
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn print(&self, text: &str) {
        lock(&self.reports).printed.push_str(text);
    }

    /// Keeps the error whose place comes first, so that it does not matter which thread met one first.
    fn report(&self, kind: FailureKind, place: u32, details: [i64; 2]) {
        let failure = &mut lock(&self.reports).failure;
        if failure.is_none_or(|(_, known, values)| (place, details) < (known, values)) {
            *failure = Some((kind, place, details));
        }
    }

    fn check(&self, made: Result<Sequence, CannotGrow>) -> Sequence {
        made.unwrap_or_else(|error| {
            let (kind, details) = match error {
                CannotGrow::TooLong => (FailureKind::SequenceTooLong, [0; 2]),
                CannotGrow::Memory(Shortage { wanted, left }) => {
                    (FailureKind::OutOfMemory, [wanted as i64, left as i64])
                }
            };
            self.report(kind, u32::MAX, details);
            Sequence::EMPTY
        })
    }
}

/// What the lock protects is consistent between any two statements, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sequences of code outside the super-steps, for calls on `width` lanes.
struct GlobalHeap<'a, 's> {
    outside: &'a Outside<'s>,
    width: usize,
}

impl Sequences for GlobalHeap<'_, '_> {
    unsafe fn create(
        &mut self,
        lane: usize,
        [bytes, components]: [usize; 2],
        count: usize,
        values: *const u8,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        let elements = unsafe { packed(values, self.width, lane, bytes, count * components) };
        let made = lock(&self.outside.sequences).create(&elements, bytes * components);
        self.outside.check(made)
    }

    unsafe fn extend(
        &mut self,
        lane: usize,
        [bytes, components]: [usize; 2],
        sequence: Sequence,
        values: *const u8,
        at_end: bool,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        let made = unsafe {
            let element = packed(values, self.width, lane, bytes, components);
            let mut sequences = lock(&self.outside.sequences);
            if at_end {
                sequences.append(sequence, &element)
            } else {
                sequences.prepend(&element, sequence)
            }
        };
        self.outside.check(made)
    }

    unsafe fn join(
        &mut self,
        _lane: usize,
        left: Sequence,
        right: Sequence,
        element: usize,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        let made = unsafe { lock(&self.outside.sequences).concatenate(left, right, element) };
        self.outside.check(made)
    }

    fn data(&self, sequence: Sequence) -> *const u8 {
        lock(&self.outside.sequences).data(sequence)
    }
}

/// One lane of planes, side by side.
///
/// # Safety
/// `values` has `count` planes of `width` lanes of `bytes` bytes.
unsafe fn packed(
    values: *const u8,
    width: usize,
    lane: usize,
    bytes: usize,
    count: usize,
) -> Vec<u8> {
    let mut packed = Vec::with_capacity(count * bytes);
    for plane in 0..count {
        let offset = (plane * width + lane) * bytes;
        // SAFETY: promised by the caller.
        packed.extend_from_slice(unsafe { std::slice::from_raw_parts(values.add(offset), bytes) });
    }
    packed
}
