//! Numbers as unevaluated sums of two doubles, for the few places where one double is too coarse.

use super::num;
use crate::simd::Doubles;

/// `hi + lo`, where `lo` is at most about the rounding of `hi`.
#[derive(Clone, Copy)]
pub(super) struct Pair<V> {
    pub(super) hi: V,
    pub(super) lo: V,
}

/// `a + b` exactly.
#[inline(always)]
pub(super) fn sum<V: Doubles>(a: V, b: V) -> Pair<V> {
    let hi = a + b;
    let rounded = hi - a;
    Pair {
        hi,
        lo: (a - (hi - rounded)) + (b - rounded),
    }
}

/// `a + b` exactly, if `a` is zero or not smaller than `b` in magnitude.
#[inline(always)]
pub(super) fn ordered_sum<V: Doubles>(a: V, b: V) -> Pair<V> {
    let hi = a + b;
    Pair {
        hi,
        lo: (a - hi) + b,
    }
}

/// `a · b` exactly, for magnitudes below 2^990 and products that do not underflow.
#[inline(always)]
pub(super) fn product<V: Doubles>(a: V, b: V) -> Pair<V> {
    let hi = a * b;
    if V::FUSED {
        return Pair {
            hi,
            lo: a.mul_add(b, -hi),
        };
    }
    let ((a1, a0), (b1, b0)) = (halves(a), halves(b));
    Pair {
        hi,
        lo: ((a1 * b1 - hi) + a1 * b0 + a0 * b1) + a0 * b0,
    }
}

/// Two numbers of half the length whose sum is `a`.
#[inline(always)]
fn halves<V: Doubles>(a: V) -> (V, V) {
    let scaled = a * num(134_217_729.0);
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// `a / b` to nearly twice the precision of a double.
#[inline(always)]
pub(super) fn quotient<V: Doubles>(a: Pair<V>, b: Pair<V>) -> Pair<V> {
    let hi = a.hi / b.hi;
    let back = product(hi, b.hi);
    let rest = ((a.hi - back.hi) - back.lo) + (a.lo - hi * b.lo);
    Pair {
        hi,
        lo: rest / b.hi,
    }
}

impl<V: Doubles> Pair<V> {
    /// The product of two pairs to nearly twice the precision of a double.
    #[inline(always)]
    pub(super) fn times(self, b: Pair<V>) -> Pair<V> {
        let p = product(self.hi, b.hi);
        ordered_sum(p.hi, p.lo + (self.hi * b.lo + self.lo * b.hi))
    }

    /// The sum of a pair and a number not smaller than it, or zero.
    #[inline(always)]
    pub(super) fn plus_larger(self, a: V) -> Pair<V> {
        let s = ordered_sum(a, self.hi);
        ordered_sum(s.hi, s.lo + self.lo)
    }

    /// The nearest double.
    #[inline(always)]
    pub(super) fn value(self) -> V {
        self.hi + self.lo
    }
}
