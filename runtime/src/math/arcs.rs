//! `asin`, `acos`, `atan` and `atan2`.

use super::double_double::{Pair, ordered_sum, product, quotient, sum};
use super::{num, polynomial};
use crate::simd::Doubles;

/// Multiples of π/4 as pairs.
const QUARTER_PI: (f64, f64) = (std::f64::consts::FRAC_PI_4, 3.061616997868383e-17);
const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123233995736766e-17);
const THREE_QUARTER_PI: (f64, f64) = (2.356194490192345, 9.184850993605148e-17);
const PI: (f64, f64) = (std::f64::consts::PI, 1.2246467991473532e-16);

/// `(atan t − t) / t³` in `z = t²`, for `|t| ≤ tan π/8`.
const ATAN: [f64; 12] = [
    -0.3333333333333333,
    0.199999999999998,
    -0.14285714285659326,
    0.11111111105106705,
    -0.09090908751076636,
    0.07692296304974461,
    -0.06666423628069118,
    0.0587891454439923,
    -0.052303478730070366,
    0.04551108126288317,
    -0.03455809255055694,
    0.016271944750757775,
];

/// `(asin x − x) / x³` in `z = x²`, for `|x| ≤ ½`.
const ASIN: [f64; 14] = [
    0.16666666666666666,
    0.07500000000000119,
    0.04464285714255019,
    0.030381944475693704,
    0.022372157435623815,
    0.01735281676854652,
    0.013963775787847363,
    0.011566511821899213,
    0.009621402747283325,
    0.009322101501400235,
    0.003035007171611147,
    0.019579201622290775,
    -0.019277545931986873,
    0.029635026265568812,
];

/// The arc sine of the square root of `z`, from 0 to ¼, as a pair; and the same of `x` if it is that root.
#[inline(always)]
fn half_arc<V: Doubles>(z: V, root: Pair<V>) -> Pair<V> {
    Pair {
        hi: root.hi,
        lo: (root.hi * z).mul_add(polynomial(z, &ASIN), root.lo),
    }
}

/// The square root of `z` as a pair.
#[inline(always)]
fn root<V: Doubles>(z: V) -> Pair<V> {
    let hi = z.sqrt();
    let square = product(hi, hi);
    let lo = ((z - square.hi) - square.lo) / (hi + hi);
    Pair {
        hi,
        lo: V::select(hi.same(num(0.0)), num(0.0), lo),
    }
}

/// `base + factor · arc`, where `factor` is ±1 or ±2 and `base` is not smaller.
#[inline(always)]
fn from_base<V: Doubles>(base: (f64, f64), arc: Pair<V>, factor: V) -> V {
    let s = ordered_sum(num(base.0), arc.hi * factor);
    s.hi + (s.lo + arc.lo.mul_add(factor, num(base.1)))
}

#[inline(always)]
pub(super) fn asin<V: Doubles>(x: V) -> V {
    let (half, one) = (num::<V>(0.5), num::<V>(1.0));
    let a = x.abs();
    let near_zero = a.le(half);
    let small = half_arc(
        a * a,
        Pair {
            hi: a,
            lo: num(0.0),
        },
    )
    .value();
    // asin a = π/2 − 2 asin √((1 − a)/2); the difference is exact, and negative beyond the domain.
    let z = (one - a) * half;
    let large = from_base(HALF_PI, half_arc(z, root(z)), num(-2.0));
    V::select(near_zero, small, large).copysign(x)
}

#[inline(always)]
pub(super) fn acos<V: Doubles>(x: V) -> V {
    let (half, one) = (num::<V>(0.5), num::<V>(1.0));
    let a = x.abs();
    let near_zero = a.le(half);
    let small = from_base(
        HALF_PI,
        half_arc(
            x * x,
            Pair {
                hi: x,
                lo: num(0.0),
            },
        ),
        num(-1.0),
    );
    let z = (one - a) * half;
    let arc = half_arc(z, root(z));
    let near_one = arc.value() * num(2.0);
    let near_minus_one = from_base(PI, arc, num(-2.0));
    V::select(
        near_zero,
        small,
        V::select(x.lt(num(0.0)), near_minus_one, near_one),
    )
}

/// The first where `low`, the second where `high`, else the third.
#[inline(always)]
fn choose<V: Doubles>(low: V::Mask, high: V::Mask, values: [V; 3]) -> V {
    V::select(low, values[0], V::select(high, values[1], values[2]))
}

/// A constant pair, the second where `flip`.
#[inline(always)]
fn base<V: Doubles>(flip: V::Mask, right: (f64, f64), left: (f64, f64)) -> Pair<V> {
    Pair {
        hi: V::select(flip, num(left.0), num(right.0)),
        lo: V::select(flip, num(left.1), num(right.1)),
    }
}

/// The angle of `(x, y)` with both coordinates non-negative, finite, not both zero and neither larger than
/// 2^900; `flip` mirrors it about the vertical axis.
#[inline(always)]
fn angle<V: Doubles>(y: V, x: V, flip: V::Mask) -> V {
    let tan_pi_8 = num::<V>(std::f64::consts::SQRT_2 - 1.0);
    let low = y.le(x * tan_pi_8);
    let high = x.le(y * tan_pi_8);
    // tan (angle − base) for the base 0, π/2 or π/4.
    let (difference, total) = (sum(y, -x), sum(y, x));
    let zero = num::<V>(0.0);
    let numerator = Pair {
        hi: choose(low, high, [y, -x, difference.hi]),
        lo: choose(low, high, [zero, zero, difference.lo]),
    };
    let denominator = Pair {
        hi: choose(low, high, [x, y, total.hi]),
        lo: choose(low, high, [zero, zero, total.lo]),
    };
    let exact = quotient(numerator, denominator);
    // The correction is meaningless where its products underflow.
    let tiny = numerator.hi.abs().lt(num(1e-270));
    let correction = V::select(tiny, zero, exact.lo);
    let t = Pair {
        hi: V::select(flip, -exact.hi, exact.hi),
        lo: V::select(flip, -correction, correction),
    };
    let bases = [
        base::<V>(flip, (0.0, 0.0), PI),
        base(flip, HALF_PI, HALF_PI),
        base(flip, QUARTER_PI, THREE_QUARTER_PI),
    ];
    let base_hi = choose(low, high, [bases[0].hi, bases[1].hi, bases[2].hi]);
    let base_lo = choose(low, high, [bases[0].lo, bases[1].lo, bases[2].lo]);
    let z = t.hi * t.hi;
    let rest = (t.hi * z).mul_add(polynomial(z, &ATAN), t.lo);
    let s = ordered_sum(base_hi, t.hi);
    s.hi + (s.lo + (rest + base_lo))
}

#[inline(always)]
pub(super) fn atan<V: Doubles>(x: V) -> V {
    // The arc tangent is constant to rounding long before 2^100; NaN stays.
    let a = num::<V>(2f64.powi(100)).min(x.abs());
    let never = V::mask(0);
    V::select(x.same(num(0.0)), x, angle(a, num(1.0), never).copysign(x))
}

#[inline(always)]
pub(super) fn atan2<V: Doubles>(y: V, x: V) -> V {
    let (zero, one, infinity) = (num::<V>(0.0), num::<V>(1.0), num::<V>(f64::INFINITY));
    let (ay, ax) = (y.abs(), x.abs());
    let (y_infinite, x_infinite) = (ay.same(infinity), ax.same(infinity));
    let any = y_infinite | x_infinite;
    // Infinities stand for directions.
    let dy = V::select(any, V::select(y_infinite, one, zero), ay);
    let dx = V::select(any, V::select(x_infinite, one, zero), ax);
    // The angle is that of scaled coordinates, which keep their products in range. Scaling large ones down by no more than
    // 2^−200 loses nothing: a coordinate that becomes subnormal is too small for their quotient to be other than 0.
    let largest = dy.max(dx);
    let factor = V::select(
        num::<V>(2f64.powi(900)).lt(largest),
        num(2f64.powi(-200)),
        one,
    );
    let factor = V::select(
        largest.lt(num(2f64.powi(-500))),
        num(2f64.powi(600)),
        factor,
    );
    let origin = largest.same(zero);
    let (dy, dx) = (dy * factor, V::select(origin, one, dx * factor));
    let left = one.copysign(x).lt(zero);
    let result = angle(dy, dx, left).copysign(y);
    V::select(!x.same(x) | !y.same(y), x + y, result)
}
