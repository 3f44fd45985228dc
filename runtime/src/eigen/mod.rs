//! Eigensystems of symmetric 2×2 and 3×3 matrices for W strands per call.
//!
//! Conventions: only the upper triangle of a matrix is read; eigenvalues descend; eigenvectors are orthonormal,
//! in the order of their values, and right-handed (determinant +1). Of a 2×2 matrix the first vector has a
//! non-negative second coordinate; beyond that signs, and the choice of vectors for equal eigenvalues, are
//! unspecified. A matrix with a NaN or an infinity gives NaN only.
//!
//! Equality is relative to scale: numbers below the rounding of the largest entry count as zero, so that
//! multiples of the identity have the standard basis. There is no other test for degenerate matrices: Jacobi
//! rotations are as accurate for nearly equal eigenvalues as for distinct ones. Values and residuals are
//! accurate to a few roundings of the largest entry.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

mod rotate;
mod trace;

pub use trace::{Rotations, trace2, trace3};

use crate::simd::{Isa, Real, Vector, entry_points, version};
use std::ffi::c_void;

/// An eigensystem primitive for N×N matrices and W strands.
///
/// Arguments, all of the primitive's real type: the matrix as `[N·N][W]`, row by row; room for the values as
/// `[N][W]`; room for the vectors as `[N·N][W]`, vector by vector.
///
/// # Safety
///
/// The buffers have these sizes and the processor has the instruction set of the lookup.
pub type EigenFn =
    unsafe extern "C" fn(matrix: *const c_void, values: *mut c_void, vectors: *mut c_void);

/// The primitive for `size` × `size` matrices on this processor.
pub fn lookup(size: usize, real: Real, width: usize) -> Result<EigenFn, String> {
    lookup_for(Isa::detect(), size, real, width)
}

/// The primitive in the version of `isa`, or why there is none.
///
/// It may be called only if `isa` [is available](Isa::is_available).
pub fn lookup_for(isa: Isa, size: usize, real: Real, width: usize) -> Result<EigenFn, String> {
    match size {
        2 => version!(isa, real, width, 2, [portable, vex, evex]),
        3 => version!(isa, real, width, 3, [portable, vex, evex]),
        _ => Err(format!(
            "eigensystem of a {size}×{size} matrix, wanted 2×2 or 3×3"
        )),
    }
}

entry_points!(solve_all(
    matrix: *const c_void,
    values: *mut c_void,
    vectors: *mut c_void,
));

/// Solves W eigensystems in memory.
///
/// # Safety
///
/// As [`EigenFn`].
#[inline(always)]
unsafe fn solve_all<V: Vector, const N: usize, const W: usize>(
    matrix: *const c_void,
    values: *mut c_void,
    vectors: *mut c_void,
) {
    // SAFETY: promised by the caller.
    unsafe { solve::<V, N, W>(matrix.cast(), values.cast(), vectors.cast()) }
}

/// Solves W eigensystems, a vector of lanes at a time.
///
/// # Safety
///
/// As [`EigenFn`].
#[inline(always)]
unsafe fn solve<V: Vector, const N: usize, const W: usize>(
    matrix: *const V::Elem,
    values: *mut V::Elem,
    vectors: *mut V::Elem,
) {
    for lane in (0..W).step_by(V::LANES) {
        // SAFETY: promised by the caller; lanes `lane` to `lane + LANES` exist.
        unsafe {
            if N == 2 {
                let (a, b, c) = (
                    V::load(matrix.add(lane)),
                    V::load(matrix.add(W + lane)),
                    V::load(matrix.add(3 * W + lane)),
                );
                let (lambda, e) = rotate::system2(a, b, c);
                for i in 0..2 {
                    lambda[i].store(values.add(i * W + lane));
                    for j in 0..2 {
                        e[i][j].store(vectors.add((2 * i + j) * W + lane));
                    }
                }
            } else {
                let entry = |i: usize, j: usize| matrix.add((3 * i + j) * W + lane);
                let diagonal = [
                    V::load(entry(0, 0)),
                    V::load(entry(1, 1)),
                    V::load(entry(2, 2)),
                ];
                let off_diagonal = [
                    V::load(entry(1, 2)),
                    V::load(entry(0, 2)),
                    V::load(entry(0, 1)),
                ];
                let (lambda, e) = rotate::system3(diagonal, off_diagonal);
                for i in 0..3 {
                    lambda[i].store(values.add(i * W + lane));
                    for j in 0..3 {
                        e[i][j].store(vectors.add((3 * i + j) * W + lane));
                    }
                }
            }
        }
    }
}
