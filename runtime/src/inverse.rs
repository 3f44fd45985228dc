//! Inverses of 2×2 and 3×3 matrices for W strands per call.
//!
//! Every entry of the inverse is a cofactor divided by the determinant. Where the determinant comes out as
//! zero, IEEE arithmetic says what that is: an infinity for a cofactor that is not zero, NaN for one that is, so
//! that the inverse of a matrix of rank one less is made of infinities and NaN, and that of zero of NaN. A
//! matrix with a NaN or an infinity gives NaN only.
//!
//! Matrices with a largest entry far from one are multiplied by a power of two first, which is exact, so that no
//! product of entries of about the same size overflows or vanishes. With fused multiply-add every difference of
//! two products is accurate to 1.5 roundings whatever cancels: entries of a 2×2 inverse are then within 2.5
//! roundings of the exact ones, however badly conditioned the matrix. Entries of a 3×3 inverse have that
//! accuracy up to a factor common to all, the determinant, whose error is a few roundings of the largest of the
//! three products that add up to it. Without fused multiply-add the same holds for the differences of products.
#![allow(
    clippy::needless_range_loop,
    reason = "rows and columns index several arrays at once"
)]

use crate::simd::{Float, Isa, Mask, Real, Vector, version};
use std::ffi::c_void;

/// A primitive that inverts N×N matrices of W strands.
///
/// Arguments, all of the primitive's real type: the matrix as `[N·N][W]`, row by row, and room for its inverse
/// in the same form, which may be the same memory.
///
/// # Safety
///
/// The buffers have these sizes and the processor has the instruction set of the lookup.
pub type InverseFn = unsafe extern "C" fn(matrix: *const c_void, inverse: *mut c_void);

/// The primitive for `size` × `size` matrices on this processor.
pub fn lookup(size: usize, real: Real, width: usize) -> Result<InverseFn, String> {
    lookup_for(Isa::detect(), size, real, width)
}

/// The primitive in the version of `isa`, or why there is none.
///
/// It may be called only if `isa` [is available](Isa::is_available).
pub fn lookup_for(isa: Isa, size: usize, real: Real, width: usize) -> Result<InverseFn, String> {
    match size {
        2 => version!(isa, real, width, 2, [portable, vex, evex]),
        3 => version!(isa, real, width, 3, [portable, vex, evex]),
        _ => Err(format!(
            "inverse of a {size}×{size} matrix, wanted 2×2 or 3×3"
        )),
    }
}

/// Defines a function that enables the features of one instruction set.
macro_rules! entry_point {
    ($(#[$features:meta])* $name:ident) => {
        $(#[$features])*
        unsafe extern "C" fn $name<V: Vector, const N: usize, const W: usize>(
            matrix: *const c_void,
            inverse: *mut c_void,
        ) {
            // SAFETY: this is the contract of `InverseFn`.
            unsafe { invert_block::<V, N, W>(matrix.cast(), inverse.cast()) }
        }
    };
}

entry_point!(portable);
#[cfg(target_arch = "x86_64")]
entry_point!(
    #[target_feature(enable = "avx2,fma")]
    vex
);
#[cfg(target_arch = "x86_64")]
entry_point!(
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
    evex
);

/// Inverts W matrices, a vector of lanes at a time.
///
/// # Safety
///
/// As [`InverseFn`].
#[inline(always)]
unsafe fn invert_block<V: Vector, const N: usize, const W: usize>(
    matrix: *const V::Elem,
    inverse: *mut V::Elem,
) {
    for lane in (0..W).step_by(V::LANES) {
        let mut m = [[num::<V>(0.0); N]; N];
        for (i, row) in m.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                // SAFETY: promised by the caller; lanes `lane` to `lane + LANES` exist.
                *entry = unsafe { V::load(matrix.add((N * i + j) * W + lane)) };
            }
        }
        let inverted = invert::<V, N>(m);
        for (i, row) in inverted.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                // SAFETY: as above.
                unsafe { entry.store(inverse.add((N * i + j) * W + lane)) };
            }
        }
    }
}

#[inline(always)]
fn num<V: Vector>(x: f64) -> V {
    V::splat(V::Elem::from_f64(x))
}

/// Scales, inverts and scales back.
#[inline(always)]
fn invert<V: Vector, const N: usize>(mut m: [[V; N]; N]) -> [[V; N]; N] {
    let (mut largest, mut poison) = (num::<V>(0.0), num::<V>(0.0));
    for &x in m.as_flattened() {
        largest = largest.max(x.abs());
        // NaN where an entry is not finite.
        poison = poison + x * num(0.0);
    }
    let factors = balance(largest);
    for x in m.as_flattened_mut() {
        *x = *x * factors[0] * factors[1];
    }
    let mut inverse = m;
    if N == 2 {
        let determinant = cross(m[0][0], m[1][1], m[0][1], m[1][0]);
        let adjugate = [[m[1][1], -m[0][1]], [-m[1][0], m[0][0]]];
        for i in 0..N {
            for j in 0..N {
                inverse[i][j] = adjugate[i][j] / determinant;
            }
        }
    } else {
        // The cofactor of row i and column j, as a cross product of the other two rows.
        let cofactor = |i: usize, j: usize| {
            let (r, s, p, q) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
            cross(m[r][p], m[s][q], m[r][q], m[s][p])
        };
        let first = [cofactor(0, 0), cofactor(0, 1), cofactor(0, 2)];
        let determinant = m[0][0].mul_add(first[0], m[0][1].mul_add(first[1], m[0][2] * first[2]));
        for i in 0..N {
            inverse[i][0] = first[i] / determinant;
            for j in 1..N {
                inverse[i][j] = cofactor(j, i) / determinant;
            }
        }
    }
    for x in inverse.as_flattened_mut() {
        *x = *x * factors[0] * factors[1] + poison;
    }
    inverse
}

/// `a·b − c·d`; the rounding error of the second product is added again if products can be fused.
#[inline(always)]
fn cross<V: Vector>(a: V, b: V, c: V, d: V) -> V {
    let subtracted = c * d;
    let error = (-c).mul_add(d, subtracted);
    a.mul_add(b, -subtracted) + error
}

/// Two powers of two whose product takes a number of this magnitude near one. Its inverse may be too large for
/// a number, so they stay apart.
#[inline(always)]
fn balance<V: Vector>(magnitude: V) -> [V; 2] {
    // Exponents, largest first: they add up to what separates the smallest and the largest number from one.
    let exponents: &[i32] = match V::Elem::REAL {
        Real::F32 => &[64, 64, 32, 16],
        Real::F64 => &[512, 512, 256, 128, 64, 32],
    };
    let one = num::<V>(1.0);
    let mut factors = [one; 2];
    let ordinary = num::<V>(2f64.powi(-16)).lt(magnitude) & magnitude.lt(num(2f64.powi(16)));
    if ordinary.bits() == V::ALL_LANES {
        return factors;
    }
    let mut left = magnitude;
    for (n, &exponent) in exponents.iter().enumerate() {
        let (big, small) = (
            num::<V>(2f64.powi(exponent)),
            num::<V>(2f64.powi(-exponent)),
        );
        let factor = V::select(big.le(left), small, V::select(left.le(small), big, one));
        left = left * factor;
        let place = usize::from(n > 0);
        factors[place] = factors[place] * factor;
    }
    factors
}
