//! `exp`, the logarithms and `pow`.

use super::double_double::{Pair, ordered_sum, product, quotient, sum};
use super::{nearest, num, polynomial};
use crate::simd::Doubles;

/// ln 2: 32 bits, so that products with exponents are exact, and the rest.
const LN2: (f64, f64) = (0.6931471803691238, 1.9082149292705877e-10);
/// 1 / ln 2 and 1 / ln 10 as pairs.
const LOG2_E: (f64, f64) = (std::f64::consts::LOG2_E, 2.0355273740931033e-17);
const LOG10_E: (f64, f64) = (std::f64::consts::LOG10_E, 1.098319650216765e-17);
/// 1/3 and 1/5 as pairs.
const THIRD: (f64, f64) = (0.3333333333333333, 1.850371707708594e-17);
const FIFTH: (f64, f64) = (0.2, -1.1102230246251566e-17);

/// `(e^r − 1 − r) / r²` for `|r| ≤ ln 2 / 2`.
const EXP: [f64; 11] = [
    0.5,
    0.1666666666666667,
    0.04166666666666667,
    0.008333333333326136,
    0.0013888888888883748,
    0.00019841269874820627,
    2.4801587325547743e-05,
    2.7557255400206422e-06,
    2.75572736431103e-07,
    2.5105217004720745e-08,
    2.0914686968086876e-09,
];

/// `(atanh(s)/s − 1 − q/3 − q²/5) / q³` for `q = s²`, `s` up to `(√2 − 1) / (√2 + 1)`.
const LOG: [f64; 7] = [
    0.142857142857143,
    0.11111111111070107,
    0.09090909113141939,
    0.07692303177946212,
    0.06667102232253702,
    0.05860865873570439,
    0.05783675864980231,
];

#[inline(always)]
fn pair<V: Doubles>((hi, lo): (f64, f64)) -> Pair<V> {
    Pair {
        hi: num(hi),
        lo: num(lo),
    }
}

/// `2^n` for integers of magnitude below 1000.
#[inline(always)]
fn power_of_two<V: Doubles>(n: V) -> V {
    // The sum ends in the integer n + 1023, which the shift moves to the exponent.
    (n + num(6_755_399_441_055_744.0 + 1023.0)).shift_left::<52>()
}

/// `x · 2^n`, rounded once unless the result is subnormal; for `|n|` below 2000.
#[inline(always)]
pub(super) fn scale<V: Doubles>(x: V, n: V) -> V {
    let half = (n * num(0.5)).floor();
    x * power_of_two(half) * power_of_two(n - half)
}

/// An integer `n` and `m` with `e^(hi + lo) = m · 2^n`, for `hi` from −746 to 710.
#[inline(always)]
pub(super) fn exp_parts<V: Doubles>(x: Pair<V>) -> (V, Pair<V>) {
    let n = nearest(x.hi * num(LOG2_E.0));
    // The first difference is exact.
    let r = sum(x.hi - n * num(LN2.0), -(n * num(LN2.1)));
    let r = sum(r.hi, r.lo + x.lo);
    let one_plus_r = ordered_sum(num(1.0), r.hi);
    let rest = (r.hi * r.hi).mul_add(polynomial(r.hi, &EXP), r.lo + r.lo * r.hi);
    (n, ordered_sum(one_plus_r.hi, one_plus_r.lo + rest))
}

/// `x` moved to where `exp` neither overflows nor vanishes, but only just; NaN stays.
#[inline(always)]
pub(super) fn exp_domain<V: Doubles>(x: V) -> V {
    num::<V>(710.0).min(num::<V>(-746.0).max(x))
}

#[inline(always)]
pub(super) fn exp<V: Doubles>(x: V) -> V {
    let (n, m) = exp_parts(Pair {
        hi: exp_domain(x),
        lo: num(0.0),
    });
    scale(m.value(), n)
}

/// An integer `k` and the logarithm of `m`, where `x = m · 2^k` and `m` is between √½ and √2; for positive
/// finite `x`.
#[inline(always)]
fn log_parts<V: Doubles>(x: V) -> (V, Pair<V>) {
    let (zero, one) = (num::<V>(0.0), num::<V>(1.0));
    let subnormal = x.lt(num(f64::MIN_POSITIVE));
    let x = V::select(subnormal, x * num(2f64.powi(54)), x);
    // The exponent as the last bits of 2^52 + exponent.
    let two_52 = num::<V>(4_503_599_627_370_496.0);
    let exponent = x.shift_right::<52>().or(two_52) - two_52;
    let k = exponent - V::select(subnormal, num(1023.0 + 54.0), num(1023.0));
    let m = x.and(num(f64::from_bits((1 << 52) - 1))).or(one);
    let large = num::<V>(std::f64::consts::SQRT_2).lt(m);
    let m = V::select(large, m * num(0.5), m);
    let k = k + V::select(large, one, zero);
    // log m = 2 atanh s with s = (m − 1) / (m + 1); the leading terms of the series as pairs.
    let s = quotient(
        Pair {
            hi: m - one,
            lo: zero,
        },
        ordered_sum(one, m),
    );
    let q = s.times(s);
    let tail = q.hi * polynomial(q.hi, &LOG);
    let fifth: Pair<V> = pair(FIFTH);
    let inner = ordered_sum(fifth.hi, tail);
    let inner = q.times(Pair {
        hi: inner.hi,
        lo: inner.lo + fifth.lo,
    });
    let third: Pair<V> = pair(THIRD);
    let outer = ordered_sum(third.hi, inner.hi);
    let outer = q.times(Pair {
        hi: outer.hi,
        lo: outer.lo + (inner.lo + third.lo),
    });
    let cubic = s.times(outer);
    let half = ordered_sum(s.hi, cubic.hi);
    let half = ordered_sum(half.hi, half.lo + (s.lo + cubic.lo));
    (
        k,
        Pair {
            hi: half.hi + half.hi,
            lo: half.lo + half.lo,
        },
    )
}

/// The natural logarithm of positive finite `x` as a pair.
#[inline(always)]
fn log_pair<V: Doubles>(x: V) -> Pair<V> {
    let (k, m) = log_parts(x);
    Pair {
        hi: m.hi,
        lo: m.lo + k * num(LN2.1),
    }
    .plus_larger(k * num(LN2.0))
}

/// A logarithm computed for positive finite `x`, extended to all arguments.
#[inline(always)]
fn extend_log<V: Doubles>(x: V, logarithm: V) -> V {
    let infinity = num::<V>(f64::INFINITY);
    let result = V::select(x.lt(infinity), logarithm, x);
    let result = V::select(x.lt(num(0.0)), num(f64::NAN), result);
    V::select(x.same(num(0.0)), -infinity, result)
}

#[inline(always)]
pub(super) fn log<V: Doubles>(x: V) -> V {
    extend_log(x, log_pair(x).value())
}

#[inline(always)]
pub(super) fn log2<V: Doubles>(x: V) -> V {
    let (k, m) = log_parts(x);
    extend_log(x, m.times(pair(LOG2_E)).plus_larger(k).value())
}

#[inline(always)]
pub(super) fn log10<V: Doubles>(x: V) -> V {
    extend_log(x, log_pair(x).times(pair(LOG10_E)).value())
}

#[inline(always)]
pub(super) fn pow<V: Doubles>(x: V, y: V) -> V {
    let (zero, one) = (num::<V>(0.0), num::<V>(1.0));
    let infinity = num::<V>(f64::INFINITY);
    let magnitude = x.abs();
    // Exponents beyond 2^70 give 0, 1 or infinity; without them no product overflows.
    let exponent = num::<V>(2f64.powi(70)).min(num::<V>(-(2f64.powi(70))).max(y));
    let logarithm = log_pair(magnitude);
    let p = product(exponent, logarithm.hi);
    let hi = exp_domain(p.hi);
    let lo = V::select(hi.same(p.hi), p.lo + exponent * logarithm.lo, zero);
    let (n, m) = exp_parts(Pair { hi, lo });
    let result = scale(m.value(), n);
    // Bases 0 and ∞, where there is no finite logarithm.
    let rising = zero.lt(y);
    let result = V::select(
        magnitude.same(zero),
        V::select(rising, zero, infinity),
        result,
    );
    let result = V::select(
        magnitude.same(infinity),
        V::select(rising, infinity, zero),
        result,
    );
    // Negative bases have powers only with integers.
    let half = y * num(0.5);
    let whole = y.floor().same(y);
    let odd = whole & !half.floor().same(half);
    let result = V::select(odd, result.copysign(x), result);
    let undefined = x.lt(zero) & magnitude.lt(infinity) & !whole;
    let result = V::select(undefined, num(f64::NAN), result);
    let unknown = !x.same(x) | !y.same(y);
    let result = V::select(unknown, x + y, result);
    V::select(x.same(one) | y.same(zero), one, result)
}
