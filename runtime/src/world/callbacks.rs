//! The functions generated code may call, as a table of rows: name, address, parameters.
//!
//! All take the step context first and a mask of lanes second. A mask never names lanes the method
//! was not asked to run.

use super::context::StepContext;
use crate::abi::{FailureKind, LaneLists, LaneMask, PrintPiece};
use crate::sequence::Sequence;
use crate::strands::arrange::bits;

/// Types of parameters in the C calling convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbiType {
    /// A 32-bit integer.
    I32,
    /// An address.
    Pointer,
}

/// One function generated code may call. None returns a value.
#[derive(Clone, Copy, Debug)]
pub struct Callback {
    /// The name under which generated code imports it.
    pub name: &'static str,
    /// Where it is.
    pub address: *const u8,
    /// Its parameters.
    pub parameters: &'static [AbiType],
}

/// All callbacks.
pub fn callbacks() -> Vec<Callback> {
    use AbiType::{I32, Pointer};
    let row = |name, address, parameters| Callback {
        name,
        address,
        parameters,
    };
    vec![
        row(
            "diderot_spawn",
            spawn as *const u8,
            &[Pointer, I32, Pointer] as &[AbiType],
        ),
        row(
            "diderot_fail",
            fail as *const u8,
            &[Pointer, I32, I32, I32, Pointer],
        ),
        row(
            "diderot_print",
            print as *const u8,
            &[Pointer, I32, Pointer],
        ),
        row(
            "diderot_sphere",
            sphere as *const u8,
            &[Pointer, I32, Pointer, Pointer, Pointer],
        ),
        row(
            "diderot_sequence_create",
            sequence_create as *const u8,
            &[Pointer, I32, I32, I32, I32, Pointer, Pointer],
        ),
        row(
            "diderot_sequence_append",
            sequence_append as *const u8,
            &[Pointer, I32, I32, I32, Pointer, Pointer, Pointer],
        ),
        row(
            "diderot_sequence_prepend",
            sequence_prepend as *const u8,
            &[Pointer, I32, I32, I32, Pointer, Pointer, Pointer],
        ),
        row(
            "diderot_sequence_concatenate",
            sequence_concatenate as *const u8,
            &[Pointer, I32, I32, Pointer, Pointer, Pointer],
        ),
        row(
            "diderot_sequence_range",
            sequence_range as *const u8,
            &[Pointer, I32, I32, Pointer, Pointer, Pointer],
        ),
        row(
            "diderot_sequence_data",
            sequence_data as *const u8,
            &[Pointer, I32, Pointer, Pointer],
        ),
    ]
}

/// `spawn(cx, lanes, staging)`: see [`StepContext::spawn`].
unsafe extern "C" fn spawn(cx: &mut StepContext<'_>, lanes: LaneMask, staging: *mut u8) {
    // SAFETY: generated code passes a block it has initialized.
    unsafe { cx.spawn(lanes, staging) }
}

/// `fail(cx, lanes, kind, position, details)`: `details` is null or two planes of 64-bit integers.
/// See [`StepContext::fail`].
unsafe extern "C" fn fail(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    kind: u32,
    position: u32,
    details: *const i64,
) {
    let kind = FailureKind::from_code(kind).expect("generated code knows the kinds of failure");
    let width = cx.head().width as usize;
    cx.fail(lanes, kind, position, |lane| {
        if details.is_null() {
            [0; 2]
        } else {
            // SAFETY: generated code passes null or two planes.
            unsafe { [*details.add(lane), *details.add(width + lane)] }
        }
    });
}

/// `print(cx, lanes, piece)`: see [`StepContext::print`].
unsafe extern "C" fn print(cx: &mut StepContext<'_>, lanes: LaneMask, piece: &PrintPiece) {
    // SAFETY: generated code describes its own values.
    unsafe { cx.print(lanes, piece) }
}

/// `sphere(cx, lanes, centres, radii, lists)`: see [`StepContext::sphere`].
unsafe extern "C" fn sphere(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    centres: *const u8,
    radii: *const u8,
    lists: &mut LaneLists,
) {
    // SAFETY: generated code passes planes in the type of the position.
    unsafe { cx.sphere(lanes, centres, radii, lists) }
}

/// `sequence_create(cx, lanes, bytes, components, count, values, made)`: one sequence of `count`
/// elements per lane into `made`.
unsafe extern "C" fn sequence_create(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    bytes: u32,
    components: u32,
    count: u32,
    values: *const u8,
    made: *mut Sequence,
) {
    for lane in bits(lanes) {
        let lane = lane as usize;
        // SAFETY: generated code passes planes for all components, and room for one handle per
        // lane.
        unsafe {
            *made.add(lane) = cx.create_sequence(
                lane,
                [bytes as usize, components as usize],
                count as usize,
                values,
            )
        }
    }
}

/// `sequence_append(cx, lanes, bytes, components, sequences, values, made)`: one element more at
/// the end of each lane's sequence.
unsafe extern "C" fn sequence_append(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    bytes: u32,
    components: u32,
    sequences: *const Sequence,
    values: *const u8,
    made: *mut Sequence,
) {
    // SAFETY: as promised by generated code.
    unsafe {
        extend(
            cx,
            lanes,
            [bytes as usize, components as usize],
            sequences,
            values,
            made,
            true,
        )
    }
}

/// `sequence_prepend(cx, lanes, bytes, components, sequences, values, made)`: one element more at
/// the beginning of each lane's sequence.
unsafe extern "C" fn sequence_prepend(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    bytes: u32,
    components: u32,
    sequences: *const Sequence,
    values: *const u8,
    made: *mut Sequence,
) {
    // SAFETY: as promised by generated code.
    unsafe {
        extend(
            cx,
            lanes,
            [bytes as usize, components as usize],
            sequences,
            values,
            made,
            false,
        )
    }
}

/// # Safety
/// `values` must be planes of one element, `sequences` and `made` have one entry per lane.
unsafe fn extend(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    element: [usize; 2],
    sequences: *const Sequence,
    values: *const u8,
    made: *mut Sequence,
    at_end: bool,
) {
    for lane in bits(lanes) {
        let lane = lane as usize;
        // SAFETY: the caller's promise.
        unsafe {
            *made.add(lane) =
                cx.extend_sequence(lane, element, *sequences.add(lane), values, at_end)
        }
    }
}

/// `sequence_concatenate(cx, lanes, element, left, right, made)`: `element` is the bytes of one
/// element.
unsafe extern "C" fn sequence_concatenate(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    element: u32,
    left: *const Sequence,
    right: *const Sequence,
    made: *mut Sequence,
) {
    for lane in bits(lanes) {
        let lane = lane as usize;
        // SAFETY: generated code passes one live sequence per lane on either side.
        unsafe {
            *made.add(lane) =
                cx.concatenate(lane, *left.add(lane), *right.add(lane), element as usize)
        }
    }
}

/// `sequence_range(cx, lanes, bytes, low, high, made)`: the integers from `low` to `high`, both
/// included, none if `low > high`. `bytes` is 4 or 8, for the integers of the program.
unsafe extern "C" fn sequence_range(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    bytes: u32,
    low: *const u8,
    high: *const u8,
    made: *mut Sequence,
) {
    for lane in bits(lanes) {
        let lane = lane as usize;
        // SAFETY: generated code passes planes of integers of this size, and room for one handle
        // per lane.
        unsafe {
            *made.add(lane) = if bytes == 4 {
                let bound = |plane: *const u8| i64::from(*plane.cast::<i32>().add(lane));
                cx.range_sequence(lane, bound(low), bound(high), |value| {
                    (value as i32).to_ne_bytes()
                })
            } else {
                let bound = |plane: *const u8| *plane.cast::<i64>().add(lane);
                cx.range_sequence(lane, bound(low), bound(high), i64::to_ne_bytes)
            };
        }
    }
}

/// `sequence_data(cx, lanes, sequences, data)`: addresses of the first elements. The length is the
/// low half of a handle.
unsafe extern "C" fn sequence_data(
    cx: &mut StepContext<'_>,
    lanes: LaneMask,
    sequences: *const Sequence,
    data: *mut *const u8,
) {
    for lane in bits(lanes) {
        let lane = lane as usize;
        // SAFETY: generated code passes one entry per lane on either side.
        unsafe { *data.add(lane) = cx.sequence_data(*sequences.add(lane)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_callback_has_its_own_name_and_takes_context_and_lanes_first() {
        let rows = callbacks();
        for (place, row) in rows.iter().enumerate() {
            assert!(rows[..place].iter().all(|other| other.name != row.name));
            assert_eq!(row.parameters[..2], [AbiType::Pointer, AbiType::I32]);
            assert!(!row.address.is_null());
        }
    }
}
