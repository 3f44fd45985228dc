//! The functions that generated code calls; they reach the host of the frame.

use crate::{
    codegen::abi::{ALWAYS, Frame, Host, HostCall, Lanes, PrintStatement, read_int},
    ir::{Scalar as Ty, print_piece::Piece},
};
use runtime::{
    abi::FailureKind,
    print::{write_f32, write_f64},
};
use std::{fmt::Write, sync::Arc};

/// Prints; see [`crate::codegen::abi::Print`].
pub(in crate::codegen) unsafe extern "C" fn print(
    frame: *mut Frame<'_>,
    lanes: u32,
    statement: *const PrintStatement,
    values: *const u8,
) {
    // SAFETY: generated code passes its own frame and a statement of its linker.
    let (frame, statement) = unsafe { (&mut *frame, &*statement) };
    // SAFETY: the host and the strings of a frame live as long as the call.
    let (host, strings) = unsafe { (&mut *frame.host, &*frame.strings) };
    for lane in each_lane(lanes) {
        // SAFETY: the values have a plane for every scalar of the statement.
        host.print(lane, &unsafe { statement.text(values, lane, strings) });
    }
    leave_if_exhausted(frame, host);
}

/// Where there is no memory, the call is left in the next round of a long loop instead of failing in every one.
fn leave_if_exhausted(frame: &mut Frame<'_>, host: &dyn Host) {
    if host.is_exhausted() {
        frame.stop = &raw const ALWAYS;
    }
}

/// Reports a run-time error; see [`crate::codegen::abi::Report`].
pub(in crate::codegen) unsafe extern "C" fn report(
    frame: *mut Frame<'_>,
    lanes: u32,
    kind: u32,
    place: u32,
    details: *const u8,
) {
    // SAFETY: generated code passes its own frame, whose host lives as long as the call.
    let (frame, host) = unsafe { (&*frame, &mut *(*frame).host) };
    // SAFETY: the caller stored both planes.
    let details = |lane| unsafe { both(details, frame, lane) };
    host.fail(lanes, failure(kind), place, &details);
}

/// Does an operation on sequences or strands; see [`crate::codegen::abi::Operate`].
pub(in crate::codegen) unsafe extern "C" fn operate(
    frame: *mut Frame<'_>,
    lanes: u32,
    call: *const HostCall,
    args: *const u8,
    results: *mut u8,
) {
    // SAFETY: generated code passes its own frame, whose host lives as long as the call, and a call of its linker with the
    // planes that it wants.
    unsafe {
        let (host, call) = (&mut *(*frame).host, &*call);
        host.operate(call, lanes, call.planes(args, results));
        leave_if_exhausted(&mut *frame, host);
    }
}

/// The lanes whose bits are set.
pub(super) fn each_lane(lanes: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| lanes >> lane & 1 == 1)
}

fn failure(kind: u32) -> FailureKind {
    FailureKind::from_code(kind).expect("generated code knows the kinds of failures")
}

/// One lane of two planes of integers.
///
/// # Safety
/// Both planes exist for the width of the frame.
unsafe fn both(planes: *const u8, frame: &Frame<'_>, lane: usize) -> [i64; 2] {
    let (width, bytes) = (frame.width as usize, frame.int_bytes as usize);
    // SAFETY: promised by the caller.
    [0, 1].map(|n| unsafe { read_int(planes.add((n * width + lane) * bytes), bytes) })
}

impl PrintStatement {
    /// The text of one lane.
    ///
    /// # Safety
    /// `values` has a plane of lanes for every scalar.
    unsafe fn text(&self, values: *const u8, lane: usize, strings: &[Arc<str>]) -> String {
        let Lanes { double, .. } = self.lanes;
        let mut plane = 0;
        let next = |ty| {
            let bytes = self.lanes.lane_bytes(ty);
            // SAFETY: promised by the caller.
            let bits = unsafe {
                let at = values.add(plane + lane * bytes);
                match ty {
                    Ty::Real if !double => at.cast::<u32>().read_unaligned().into(),
                    Ty::Real => at.cast::<u64>().read_unaligned(),
                    _ => read_int(at, bytes) as u64,
                }
            };
            plane += self.lanes.plane_bytes(ty);
            bits
        };
        text_of(&self.pieces, double, strings, next)
    }
}

/// What pieces print. `next` gives the bits of a scalar after the other: those of a real in the program's precision, others as integers.
pub(in crate::codegen) fn text_of(
    pieces: &[Piece],
    double: bool,
    strings: &[Arc<str>],
    mut next: impl FnMut(Ty) -> u64,
) -> String {
    let mut text = String::new();
    for piece in pieces {
        let ty = match piece {
            Piece::Scalar(ty) => *ty,
            Piece::Text(literal) => {
                text.push_str(literal);
                continue;
            }
        };
        let bits = next(ty);
        match ty {
            Ty::Real if double => write_f64(&mut text, f64::from_bits(bits)),
            Ty::Real => write_f32(&mut text, f32::from_bits(bits as u32)),
            Ty::Int => write!(text, "{}", bits as i64).expect("a string takes everything"),
            Ty::Bool => text.push_str(if bits != 0 { "true" } else { "false" }),
            Ty::Str => text.push_str(&strings[bits as usize]),
        }
    }
    text
}
