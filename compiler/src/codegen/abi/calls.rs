//! Calls of the host: the arguments that generated code passes, and the functions that it calls.
//!
//! Generated code calls three functions ([`Print`], [`Report`], [`Operate`]). Each gets the frame, the lanes it is about, the
//! address of a description of the operation, which lives as long as the code, and planes of lanes, one after the other.

use super::{Frame, Lanes, StatePlane};
use crate::{
    ir::{Scalar as Ty, print_piece::Piece},
    low::Dynamic,
};
use runtime::{abi::FailureKind, sequence::Sequence};
use std::sync::Arc;

/// Prints: a plane for every scalar among the pieces.
pub type Print = unsafe extern "C" fn(*mut Frame<'_>, u32, *const PrintStatement, *const u8);
/// Reports a run-time error: its kind, its place in the source, and two planes of integers.
pub type Report = unsafe extern "C" fn(*mut Frame<'_>, u32, u32, u32, *const u8);
/// Does an operation on sequences or strands: planes of the arguments, and room for those of the results.
pub type Operate = unsafe extern "C" fn(*mut Frame<'_>, u32, *const HostCall, *const u8, *mut u8);

/// A `print` statement.
#[derive(Debug)]
pub struct PrintStatement {
    /// The texts and values that it prints.
    pub pieces: Arc<[Piece]>,
    /// The lanes of the code that it belongs to.
    pub lanes: Lanes,
}

/// An operation on sequences or strands.
#[derive(Debug)]
pub struct HostCall {
    /// The operation.
    pub op: Dynamic,
    /// The lanes of the code that it belongs to.
    pub lanes: Lanes,
    /// The planes of a strand's state.
    pub state: Arc<[StatePlane]>,
}

/// Whom generated code reaches: a super-step, or whatever runs code outside of one.
pub trait Host {
    /// Prints for a lane.
    fn print(&mut self, lane: usize, text: &str);

    /// Takes note of a run-time error of some lanes; `details` of a lane are those of the kind.
    fn fail(
        &mut self,
        lanes: u32,
        kind: FailureKind,
        place: u32,
        details: &dyn Fn(usize) -> [i64; 2],
    );

    /// Whether there was no memory for something, so that the call had better be left.
    fn is_exhausted(&self) -> bool {
        false
    }

    /// Does an operation.
    ///
    /// # Safety
    /// The planes are those of the call.
    unsafe fn operate(&mut self, call: &HostCall, lanes: u32, planes: CallPlanes);
}

/// The planes of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallPlanes {
    /// The arguments.
    pub args: *const u8,
    /// Room for the results.
    pub results: *mut u8,
    /// Lanes of a plane.
    pub width: usize,
    /// Bytes of an integer lane.
    pub int_bytes: usize,
}

impl CallPlanes {
    /// An integer argument.
    ///
    /// # Safety
    /// The first `n + 1` arguments are integers.
    pub(in crate::codegen) unsafe fn int(self, n: usize, lane: usize) -> i64 {
        // SAFETY: promised by the caller.
        unsafe {
            read_int(
                self.args.add((n * self.width + lane) * self.int_bytes),
                self.int_bytes,
            )
        }
    }

    /// Sets an integer result to a number of 32 bits.
    ///
    /// # Safety
    /// The first `n + 1` results are integers.
    pub(in crate::codegen) unsafe fn set(self, n: usize, lane: usize, value: u32) {
        // SAFETY: promised by the caller.
        unsafe {
            let at = self.results.add((n * self.width + lane) * self.int_bytes);
            if self.int_bytes == 8 {
                at.cast::<u64>().write_unaligned(value.into());
            } else {
                at.cast::<u32>().write_unaligned(value);
            }
        }
    }

    /// The sequence in two integer arguments, buffer and length.
    ///
    /// # Safety
    /// There are such arguments.
    pub(in crate::codegen) unsafe fn sequence(self, n: usize, lane: usize) -> Sequence {
        // SAFETY: promised by the caller.
        let [buffer, length] = [n, n + 1].map(|n| u64::from(unsafe { self.int(n, lane) } as u32));
        Sequence::from_bits(buffer << 32 | length)
    }

    /// Gives a sequence as the two results.
    ///
    /// # Safety
    /// The results are two integers.
    pub(in crate::codegen) unsafe fn give(self, lane: usize, sequence: Sequence) {
        let bits = sequence.to_bits();
        // SAFETY: promised by the caller.
        unsafe {
            self.set(0, lane, (bits >> 32) as u32);
            self.set(1, lane, bits as u32);
        }
    }

    /// The planes after some integer arguments.
    ///
    /// # Safety
    /// There are that many.
    pub(in crate::codegen) unsafe fn after(self, ints: usize) -> *const u8 {
        // SAFETY: promised by the caller.
        unsafe { self.args.add(ints * self.width * self.int_bytes) }
    }
}

impl HostCall {
    /// The planes of a call.
    pub(in crate::codegen) fn planes(&self, args: *const u8, results: *mut u8) -> CallPlanes {
        CallPlanes {
            args,
            results,
            width: self.lanes.width,
            int_bytes: self.lanes.lane_bytes(Ty::Int),
        }
    }
}

/// Reads an integer of 4 or 8 bytes.
///
/// # Safety
/// There is one.
pub(in crate::codegen) unsafe fn read_int(at: *const u8, bytes: usize) -> i64 {
    // SAFETY: promised by the caller.
    unsafe {
        if bytes == 8 {
            at.cast::<i64>().read_unaligned()
        } else {
            at.cast::<i32>().read_unaligned().into()
        }
    }
}
