//! Elementary functions for W strands per call.
//!
//! Every row of [`MATH`] says how far results are from the true value at most, for every argument, with the special
//! cases of the C library (signed zeros, infinities, NaN, `pow(1, NaN) = 1`, …).
//! `sqrt`, `floor`, `ceil`, `round` (halves away from zero), `trunc` and `fmod` are exact or correctly rounded.
//!
//! All are computed in double precision, singles included, by polynomials without branches; what those cannot
//! serve in rare lanes (huge arguments of `sin`, quotients of `fmod` beyond 2^52) is done lane by lane. The
//! result of a lane depends neither on the other lanes nor on the width.

mod arcs;
mod circle;
mod double_double;
mod error;
mod exponential;
mod reduce;
mod rounding;
mod table;

pub use table::{MATH, MathFn, MathRow, lookup, lookup_for, trace};

use crate::simd::{Doubles, MAX_WIDTH};

/// `x` in every lane.
#[inline(always)]
fn num<V: Doubles>(x: f64) -> V {
    V::splat(x)
}

/// `Σ c[i] x^i` by Horner's scheme.
#[inline(always)]
fn polynomial<V: Doubles, const N: usize>(x: V, c: &[f64; N]) -> V {
    let mut sum = num::<V>(c[N - 1]);
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(x, num(c[i]));
    }
    sum
}

/// The nearest integer, halves to even; for magnitudes below 2^51.
#[inline(always)]
fn nearest<V: Doubles>(x: V) -> V {
    // Adding 1.5 · 2^52 leaves no fraction bits.
    let magic = num::<V>(6_755_399_441_055_744.0);
    (x + magic) - magic
}

/// `result`, with the lanes of `mask` replaced by the scalar function of `x` and `y`.
#[inline(always)]
fn lane_by_lane<V: Doubles>(mask: u32, x: V, y: V, result: V, scalar: fn(f64, f64) -> f64) -> V {
    if mask == 0 {
        return result;
    }
    let (mut xs, mut ys, mut results) = ([0.0; MAX_WIDTH], [0.0; MAX_WIDTH], [0.0; MAX_WIDTH]);
    // SAFETY: there is room for `MAX_WIDTH` lanes.
    unsafe {
        x.store(xs.as_mut_ptr());
        y.store(ys.as_mut_ptr());
        result.store(results.as_mut_ptr());
    }
    replace(mask, &xs, &ys, &mut results, scalar);
    // SAFETY: as above.
    unsafe { V::load(results.as_ptr()) }
}

/// The scalar loop of [`lane_by_lane`], out of the way of the code around it.
#[cold]
#[inline(never)]
fn replace(
    mask: u32,
    x: &[f64; MAX_WIDTH],
    y: &[f64; MAX_WIDTH],
    results: &mut [f64; MAX_WIDTH],
    scalar: fn(f64, f64) -> f64,
) {
    for lane in (0..MAX_WIDTH).filter(|lane| mask >> lane & 1 == 1) {
        results[lane] = scalar(x[lane], y[lane]);
    }
}
