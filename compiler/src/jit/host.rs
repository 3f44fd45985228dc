//! What generated code calls back: printing and run-time errors.

use super::{frame::Frame, lanes::Lanes, link::PrintStatement};
use crate::{low::Ty, print_piece::Piece};
use runtime::{
    abi::FailureKind,
    print::{write_f32, write_f64},
    world::StepContext,
};
use std::fmt::Write;

/// What code that runs once reports to.
#[derive(Debug, Default)]
pub struct GlobalHost {
    /// What was printed.
    pub printed: String,
    /// The first run-time error: what happened, and its place in the source.
    pub failure: Option<(FailureKind, u32, [i64; 2])>,
}

/// Prints for strands: each strand's text goes to its own place in the order of prints.
pub(super) unsafe extern "C" fn print_strands(
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
    for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
        // SAFETY: the values have a plane for every scalar of the statement.
        let text = unsafe { statement.text(values, lane, strings) };
        cx.print_text(1 << lane, &text);
    }
}

/// Prints for global code.
pub(super) unsafe extern "C" fn print_global(
    frame: *mut Frame,
    _lanes: u32,
    statement: *const PrintStatement,
    values: *const u8,
) {
    // SAFETY: as for strands, with the host of global code.
    let (host, statement, strings) = unsafe {
        (
            &mut *(*frame).host.cast::<GlobalHost>(),
            &*statement,
            &*(*frame).strings,
        )
    };
    // SAFETY: as for strands.
    host.printed
        .push_str(&unsafe { statement.text(values, 0, strings) });
}

/// Reports a run-time error of some strands; the details are two planes of integers.
pub(super) unsafe extern "C" fn report_strands(
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
    let (width, lane_bytes) = (frame.width as usize, frame.lane_bytes as usize);
    // SAFETY: the caller stored both planes.
    let detail =
        |lane: usize| [0, 1].map(|n| unsafe { read_int(details, n * width + lane, lane_bytes) });
    cx.fail(lanes, failure(kind), place, detail);
}

/// Reports a run-time error of global code.
pub(super) unsafe extern "C" fn report_global(
    frame: *mut Frame,
    _lanes: u32,
    kind: u32,
    place: u32,
    details: *const u8,
) {
    // SAFETY: as for printing.
    let frame = unsafe { &mut *frame };
    // SAFETY: the host of global code is a `GlobalHost`.
    let host = unsafe { &mut *frame.host.cast::<GlobalHost>() };
    // SAFETY: the caller stored both planes, of one lane each.
    let details = [0, 1].map(|n| unsafe { read_int(details, n, frame.lane_bytes as usize) });
    host.failure.get_or_insert((failure(kind), place, details));
}

fn failure(kind: u32) -> FailureKind {
    FailureKind::from_code(kind).expect("generated code knows the kinds of failures")
}

/// Reads an integer lane.
///
/// # Safety
/// Lane `n` of that many bytes exists at `planes`.
unsafe fn read_int(planes: *const u8, n: usize, bytes: usize) -> i64 {
    // SAFETY: promised by the caller.
    unsafe {
        if bytes == 8 {
            planes.add(n * 8).cast::<i64>().read_unaligned()
        } else {
            planes.add(n * 4).cast::<i32>().read_unaligned().into()
        }
    }
}

impl PrintStatement {
    /// The text of one lane.
    ///
    /// # Safety
    /// `values` has a plane of lanes for every scalar.
    unsafe fn text(
        &self,
        values: *const u8,
        lane: usize,
        strings: &[std::sync::Arc<str>],
    ) -> String {
        let Lanes { double, width, .. } = self.lanes;
        let bytes = self.lanes.bytes();
        let mut text = String::new();
        let mut plane = 0;
        for piece in self.pieces.iter() {
            let Piece::Scalar(ty) = piece else {
                let Piece::Text(literal) = piece else {
                    unreachable!("a piece is text or a scalar")
                };
                text.push_str(literal);
                continue;
            };
            let n = plane * width + lane;
            plane += 1;
            // SAFETY: promised by the caller.
            unsafe {
                match ty {
                    Ty::Real if double => {
                        write_f64(&mut text, values.add(n * 8).cast::<f64>().read_unaligned())
                    }
                    Ty::Real => {
                        write_f32(&mut text, values.add(n * 4).cast::<f32>().read_unaligned())
                    }
                    Ty::Int => write!(text, "{}", read_int(values, n, bytes))
                        .expect("a string takes everything"),
                    Ty::Bool => text.push_str(if read_int(values, n, bytes) != 0 {
                        "true"
                    } else {
                        "false"
                    }),
                    Ty::Str => text.push_str(&strings[read_int(values, n, bytes) as usize]),
                }
            }
        }
        text
    }
}
