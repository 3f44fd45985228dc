//! Meshes, for generated code.

use crate::{
    codegen::abi::{FemCall, FemOp, Frame, read_int},
    ir::Scalar as Ty,
};
use runtime::{
    fem::OUTSIDE,
    simd::{Float, MAX_WIDTH},
};
use std::ptr;

/// Does something with a mesh; see [`crate::codegen::abi::Fem`].
pub(in crate::codegen) unsafe extern "C" fn fem(
    frame: *mut Frame<'_>,
    lanes: u32,
    call: *const FemCall,
    args: *const u8,
    results: *mut u8,
) {
    // SAFETY: generated code passes its own frame, a call of its linker, and the planes that it wants.
    unsafe {
        let (frame, call) = (&*frame, &*call);
        match call.lanes.double {
            true => operate::<f64>(frame, lanes, call, args, results),
            false => operate::<f32>(frame, lanes, call, args, results),
        }
    }
}

/// # Safety
/// The frame's table is that of the program; the planes are those of the call, in the program's precision.
unsafe fn operate<T: Float>(
    frame: &Frame<'_>,
    lanes: u32,
    call: &FemCall,
    args: *const u8,
    results: *mut u8,
) {
    let (width, bytes) = (call.lanes.width, call.lanes.lane_bytes(Ty::Int));
    // SAFETY: promised by the caller; a plane of integers comes before the reals.
    unsafe {
        let table = &*frame.fem;
        let after_ints = width * bytes;
        match call.op {
            FemOp::Locate { mesh, hints } => {
                let hints = match frame.hints.is_null() {
                    true => ptr::null_mut(),
                    false => frame.hints.add(hints).cast::<u32>(),
                };
                let reference = results.add(after_ints).cast::<T>();
                let mesh = &table.meshes[mesh as usize];
                let cells = mesh.locate_lanes((lanes, width), args.cast::<T>(), hints, reference);
                set(results, width, bytes, &cells);
            }
            FemOp::Number { mesh } => {
                let mesh = &table.meshes[mesh as usize];
                let number = |cell: i32| {
                    let cell = u32::try_from(cell)
                        .ok()
                        .filter(|n| (*n as usize) < mesh.cells());
                    cell.map_or(OUTSIDE, |cell| mesh.number(cell) as i32)
                };
                set(results, width, bytes, &get(args, width, bytes).map(number));
            }
            FemOp::Probe { mesh, wanted } => {
                let cells = get(args, width, bytes);
                let reference = args.add(after_ints).cast::<T>();
                let mesh = &table.meshes[mesh as usize];
                let wanted = &table.wanted[wanted];
                mesh.probe_lanes(
                    wanted,
                    (lanes, width),
                    &cells,
                    reference,
                    results.cast::<T>(),
                );
            }
        }
    }
}

/// The lanes of a plane of integers.
///
/// # Safety
/// There is one.
unsafe fn get(plane: *const u8, width: usize, bytes: usize) -> [i32; MAX_WIDTH] {
    let mut cells = [OUTSIDE; MAX_WIDTH];
    for (lane, cell) in cells.iter_mut().enumerate().take(width) {
        // SAFETY: promised by the caller.
        *cell = unsafe { read_int(plane.add(lane * bytes), bytes) } as i32;
    }
    cells
}

/// Sets the lanes of a plane of integers.
///
/// # Safety
/// There is one.
unsafe fn set(plane: *mut u8, width: usize, bytes: usize, cells: &[i32; MAX_WIDTH]) {
    for (lane, &cell) in cells.iter().enumerate().take(width) {
        // SAFETY: promised by the caller.
        unsafe {
            let at = plane.add(lane * bytes);
            if bytes == 8 {
                at.cast::<i64>().write_unaligned(cell.into());
            } else {
                at.cast::<i32>().write_unaligned(cell);
            }
        }
    }
}
