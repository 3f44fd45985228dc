//! Division of 64-bit integers, which no vector instruction does: called for all lanes at once.
//!
//! Divisors of zero have been reported before, and lanes that do not run may have any; both must not stop the machine.

use crate::codegen::Lanes;

/// A function of two planes of integers that gives a third.
type Divide = unsafe extern "C" fn(args: *const i64, out: *mut i64);

/// The function for quotients or remainders in these lanes, by address.
pub(super) fn function(lanes: Lanes, quotient: bool) -> usize {
    let divide: Divide = match (lanes.width, quotient) {
        (4, true) => quotients::<4>,
        (4, false) => remainders::<4>,
        (_, true) => quotients::<8>,
        (_, false) => remainders::<8>,
    };
    divide as usize
}

/// # Safety
/// `args` has two planes of `W` lanes and `out` room for one.
unsafe extern "C" fn quotients<const W: usize>(args: *const i64, out: *mut i64) {
    // SAFETY: promised by the caller.
    unsafe { each::<W>(args, out, i64::wrapping_div) }
}

/// # Safety
/// As for quotients.
unsafe extern "C" fn remainders<const W: usize>(args: *const i64, out: *mut i64) {
    // SAFETY: promised by the caller.
    unsafe { each::<W>(args, out, i64::wrapping_rem) }
}

/// Divides lane by lane; what would be divided by zero is divided by one.
///
/// # Safety
/// As for quotients.
unsafe fn each<const W: usize>(args: *const i64, out: *mut i64, divide: fn(i64, i64) -> i64) {
    for lane in 0..W {
        // SAFETY: promised by the caller.
        unsafe {
            let [a, b] = [0, W].map(|plane| args.add(plane + lane).read_unaligned());
            out.add(lane)
                .write_unaligned(divide(a, if b == 0 { 1 } else { b }));
        }
    }
}
