//! What generated code calls back: printing and run-time errors.

use super::GlobalHost;
use crate::{
    codegen::abi::{Frame, Lanes},
    ir::{Scalar as Ty, print_piece::Piece},
};
use runtime::{
    abi::FailureKind,
    print::{write_f32, write_f64},
    world::StepContext,
};
use std::{fmt::Write, sync::Arc};

/// A `print` statement as generated code refers to it.
#[derive(Debug)]
pub(in crate::codegen) struct PrintStatement {
    pub(in crate::codegen) pieces: Arc<[Piece]>,
    pub(in crate::codegen) lanes: Lanes,
}

/// Prints for strands: each strand's text goes to its own place in the order of prints.
pub(in crate::codegen) unsafe extern "C" fn print_strands(
    frame: *mut Frame,
    lanes: u32,
    statement: *const PrintStatement,
    values: *const u8,
) {
    // SAFETY: generated code passes its own frame, whose host is the step context of strand code, and a statement of its linker.
    let (cx, statement, strings) = unsafe {
        (
            &mut *(*frame).host.cast::<StepContext<'_>>(),
            &*statement,
            &*(*frame).strings,
        )
    };
    for lane in each_lane(lanes) {
        // SAFETY: the values have a plane for every scalar of the statement.
        let text = unsafe { statement.text(values, lane, strings) };
        cx.print_text(1 << lane, &text);
    }
}

/// Prints for global code.
pub(in crate::codegen) unsafe extern "C" fn print_global(
    frame: *mut Frame,
    lanes: u32,
    statement: *const PrintStatement,
    values: *const u8,
) {
    // SAFETY: as for strands, with the host of global code.
    let (host, statement, strings) = unsafe {
        (
            &*(*frame).host.cast::<GlobalHost<'_, '_>>(),
            &*statement,
            &*(*frame).strings,
        )
    };
    for lane in each_lane(lanes) {
        // SAFETY: as for strands.
        host.outside
            .print(&unsafe { statement.text(values, lane, strings) });
    }
}

/// Reports a run-time error of some strands; the details are two planes of integers.
pub(in crate::codegen) unsafe extern "C" fn report_strands(
    frame: *mut Frame,
    lanes: u32,
    kind: u32,
    place: u32,
    details: *const u8,
) {
    // SAFETY: as for printing.
    let frame = unsafe { &mut *frame };
    // SAFETY: the host of strand code is the step context.
    let cx = unsafe { &mut *frame.host.cast::<StepContext<'_>>() };
    // SAFETY: the caller stored both planes.
    cx.fail(lanes, failure(kind), place, |lane| unsafe {
        both(details, frame, lane)
    });
}

/// Reports a run-time error of global code.
pub(in crate::codegen) unsafe extern "C" fn report_global(
    frame: *mut Frame,
    lanes: u32,
    kind: u32,
    place: u32,
    details: *const u8,
) {
    // SAFETY: as for printing.
    let frame = unsafe { &mut *frame };
    // SAFETY: the host of global code is a `GlobalHost`.
    let host = unsafe { &*frame.host.cast::<GlobalHost<'_, '_>>() };
    // SAFETY: the caller stored both planes.
    let details = unsafe { both(details, frame, lanes.trailing_zeros() as usize) };
    host.outside.report(failure(kind), place, details);
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
unsafe fn both(planes: *const u8, frame: &Frame, lane: usize) -> [i64; 2] {
    let (width, bytes) = (frame.width as usize, frame.int_bytes as usize);
    // SAFETY: promised by the caller.
    [0, 1].map(|n| unsafe { read_int(planes.add((n * width + lane) * bytes), bytes) })
}

/// Reads an integer of 4 or 8 bytes.
///
/// # Safety
/// There is one.
pub(super) unsafe fn read_int(at: *const u8, bytes: usize) -> i64 {
    // SAFETY: promised by the caller.
    unsafe {
        if bytes == 8 {
            at.cast::<i64>().read_unaligned()
        } else {
            at.cast::<i32>().read_unaligned().into()
        }
    }
}

impl PrintStatement {
    /// The text of one lane.
    ///
    /// # Safety
    /// `values` has a plane of lanes for every scalar.
    unsafe fn text(&self, values: *const u8, lane: usize, strings: &[Arc<str>]) -> String {
        let Lanes { double, .. } = self.lanes;
        let mut text = String::new();
        let mut plane = 0;
        for piece in self.pieces.iter() {
            let ty = match piece {
                Piece::Scalar(ty) => *ty,
                Piece::Text(literal) => {
                    text.push_str(literal);
                    continue;
                }
            };
            let bytes = self.lanes.lane_bytes(ty);
            // SAFETY: promised by the caller.
            unsafe {
                let at = values.add(plane + lane * bytes);
                match ty {
                    Ty::Real if double => write_f64(&mut text, at.cast::<f64>().read_unaligned()),
                    Ty::Real => write_f32(&mut text, at.cast::<f32>().read_unaligned()),
                    Ty::Int => {
                        write!(text, "{}", read_int(at, bytes)).expect("a string takes everything")
                    }
                    Ty::Bool => {
                        let holds = read_int(at, bytes) != 0;
                        text.push_str(if holds { "true" } else { "false" });
                    }
                    Ty::Str => text.push_str(&strings[read_int(at, bytes) as usize]),
                }
            }
            plane += self.lanes.plane_bytes(ty);
        }
        text
    }
}
