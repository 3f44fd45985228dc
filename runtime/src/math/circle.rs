//! `sin`, `cos` and `tan`.

use super::double_double::{Pair, ordered_sum, quotient, sum};
use super::{nearest, num, polynomial};
use crate::simd::{Doubles, MAX_WIDTH, Mask};

/// π/2 in pieces of 33 bits, so that products with integers below 2^20 are exact, and the rest.
const HALF_PI: [f64; 4] = [
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487111665e-21,
    8.4784276603689e-32,
];

/// Arguments up to here are reduced by subtracting a multiple of π/2.
const REDUCIBLE: f64 = 1.6e6;

/// `(sin r − r) / r³` in `z = r²`, for `|r| ≤ π/4`.
const SIN: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333331,
    -0.0001984126984126504,
    2.755731921932058e-06,
    -2.50521062259944e-08,
    1.6058530596645935e-10,
    -7.586636882824183e-13,
];

/// `(cos r − 1 + r²/2) / r⁴` in `z = r²`, for `|r| ≤ π/4`.
const COS: [f64; 7] = [
    0.041666666666666664,
    -0.0013888888888888887,
    2.4801587301584632e-05,
    -2.755731922139249e-07,
    2.0876755787492604e-09,
    -1.1470460319209502e-11,
    4.7458384125304794e-14,
];

/// Sine and cosine of `x − n π/2`, where `n` is the nearest integer, and `n` modulo 4.
struct Reduced<V> {
    sine: Pair<V>,
    cosine: Pair<V>,
    quadrant: V,
}

#[inline(always)]
fn reduce<V: Doubles>(x: V) -> Reduced<V> {
    let n = nearest(x * num(std::f64::consts::FRAC_2_PI));
    let quadrant = n - num::<V>(4.0) * (n * num(0.25)).floor();
    // The first difference is exact; the others keep their rounding, for the sake of arguments near multiples.
    let a = x - n * num(HALF_PI[0]);
    let b = sum(a, -(n * num(HALF_PI[1])));
    let c = sum(b.hi, -(n * num(HALF_PI[2])));
    let r = sum(c.hi, (b.lo + c.lo) - n * num(HALF_PI[3]));
    let (r, quadrant) = reduce_huge(x, r, quadrant);

    let (one, half) = (num::<V>(1.0), num::<V>(0.5));
    let z = r.hi * r.hi;
    let h = z * half;
    let sine_rest = (r.hi * z).mul_add(polynomial(z, &SIN), r.lo * (one - h));
    let w = one - h;
    let cosine_rest = ((one - w) - h) + ((z * z).mul_add(polynomial(z, &COS), -(r.hi * r.lo)));
    Reduced {
        sine: ordered_sum(r.hi, sine_rest),
        cosine: ordered_sum(w, cosine_rest),
        quadrant,
    }
}

/// Remainder and quadrant, with those of arguments that are too large, or not numbers, replaced.
#[inline(always)]
fn reduce_huge<V: Doubles>(x: V, r: Pair<V>, quadrant: V) -> (Pair<V>, V) {
    let huge = (!x.abs().le(num(REDUCIBLE))).bits() & V::ALL_LANES;
    if huge == 0 {
        return (r, quadrant);
    }
    let (mut hi, mut lo, mut quadrants) = ([0.0; MAX_WIDTH], [0.0; MAX_WIDTH], [0.0; MAX_WIDTH]);
    let mut xs = [0.0; MAX_WIDTH];
    // SAFETY: there is room for `MAX_WIDTH` lanes.
    unsafe {
        x.store(xs.as_mut_ptr());
        r.hi.store(hi.as_mut_ptr());
        r.lo.store(lo.as_mut_ptr());
        quadrant.store(quadrants.as_mut_ptr());
    }
    for lane in (0..V::LANES).filter(|lane| huge >> lane & 1 == 1) {
        (hi[lane], lo[lane], quadrants[lane]) = super::reduce::reduce(xs[lane]);
    }
    // SAFETY: as above.
    unsafe {
        (
            Pair {
                hi: V::load(hi.as_ptr()),
                lo: V::load(lo.as_ptr()),
            },
            V::load(quadrants.as_ptr()),
        )
    }
}

#[inline(always)]
pub(super) fn sin<V: Doubles>(x: V) -> V {
    let Reduced {
        sine,
        cosine,
        quadrant,
    } = reduce(x);
    let odd = quadrant.same(num(1.0)) | quadrant.same(num(3.0));
    let value = V::select(odd, cosine.value(), sine.value());
    let value = V::select(num::<V>(2.0).le(quadrant), -value, value);
    V::select(x.same(num(0.0)), x, value)
}

#[inline(always)]
pub(super) fn cos<V: Doubles>(x: V) -> V {
    let Reduced {
        sine,
        cosine,
        quadrant,
    } = reduce(x);
    let odd = quadrant.same(num(1.0)) | quadrant.same(num(3.0));
    let value = V::select(odd, sine.value(), cosine.value());
    let negative = quadrant.same(num(1.0)) | quadrant.same(num(2.0));
    V::select(negative, -value, value)
}

#[inline(always)]
pub(super) fn tan<V: Doubles>(x: V) -> V {
    let Reduced {
        sine,
        cosine,
        quadrant,
    } = reduce(x);
    let odd = quadrant.same(num(1.0)) | quadrant.same(num(3.0));
    let numerator = Pair {
        hi: V::select(odd, -cosine.hi, sine.hi),
        lo: V::select(odd, -cosine.lo, sine.lo),
    };
    let denominator = Pair {
        hi: V::select(odd, sine.hi, cosine.hi),
        lo: V::select(odd, sine.lo, cosine.lo),
    };
    let value = quotient(numerator, denominator).value();
    // Of tiny arguments the quotient would lose what underflows.
    V::select(x.abs().lt(num(1e-160)), x, value)
}
