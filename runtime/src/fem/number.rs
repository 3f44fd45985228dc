//! Numbers and vectors of numbers under one trait, so that code for one lane and for several is written once.
//!
//! Code that is generic over them has neither closures nor iterators: it must be inlined into the functions that enable the vector
//! instructions.

use crate::simd::{Mask, Vector};
use std::ops::{Add, Mul, Neg, Sub};

/// A number, or one for each of several lanes.
pub(super) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// The result of a comparison.
    type Truth: Copy;

    /// The same number in all lanes.
    fn constant(x: f64) -> Self;
    /// One over it.
    fn reciprocal(self) -> Self;
    /// The quotient.
    fn over(self, divisor: Self) -> Self;
    /// Without its sign.
    fn magnitude(self) -> Self;
    /// The product with `b` plus `c`, rounded once.
    fn fused(self, b: Self, c: Self) -> Self;
    /// The square root.
    fn root(self) -> Self;
    /// One with its sign; NaN for NaN.
    fn sign(self) -> Self;
    /// Whether it is less; false for NaN.
    fn less(self, than: Self) -> Self::Truth;
    /// Whether it is less or the same; false for NaN.
    fn at_most(self, most: Self) -> Self::Truth;
    /// The first where it is true, else the second.
    fn choose(truth: Self::Truth, a: Self, b: Self) -> Self;
    /// Where both are true.
    fn both(a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// Where the first is true and the second is not.
    fn except(a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// Whether it is true anywhere.
    fn any(truth: Self::Truth) -> bool;

    /// The larger of two.
    #[inline(always)]
    fn larger(self, b: Self) -> Self {
        Self::choose(b.less(self), self, b)
    }
}

impl Number for f64 {
    type Truth = bool;

    #[inline(always)]
    fn constant(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn reciprocal(self) -> f64 {
        1.0 / self
    }

    #[inline(always)]
    fn over(self, divisor: f64) -> f64 {
        self / divisor
    }

    #[inline(always)]
    fn magnitude(self) -> f64 {
        self.abs()
    }

    #[inline(always)]
    fn fused(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }

    #[inline(always)]
    fn root(self) -> f64 {
        self.sqrt()
    }

    #[inline(always)]
    fn sign(self) -> f64 {
        self.signum()
    }

    #[inline(always)]
    fn less(self, than: f64) -> bool {
        self < than
    }

    #[inline(always)]
    fn at_most(self, most: f64) -> bool {
        self <= most
    }

    #[inline(always)]
    fn choose(truth: bool, a: f64, b: f64) -> f64 {
        if truth { a } else { b }
    }

    #[inline(always)]
    fn both(a: bool, b: bool) -> bool {
        a & b
    }

    #[inline(always)]
    fn except(a: bool, b: bool) -> bool {
        a & !b
    }

    #[inline(always)]
    fn any(truth: bool) -> bool {
        truth
    }
}

impl<V: Vector<Elem = f64>> Number for V {
    type Truth = V::Mask;

    #[inline(always)]
    fn constant(x: f64) -> V {
        V::splat(x)
    }

    #[inline(always)]
    fn reciprocal(self) -> V {
        V::splat(1.0) / self
    }

    #[inline(always)]
    fn over(self, divisor: V) -> V {
        self / divisor
    }

    #[inline(always)]
    fn magnitude(self) -> V {
        self.abs()
    }

    #[inline(always)]
    fn fused(self, b: V, c: V) -> V {
        self.mul_add(b, c)
    }

    #[inline(always)]
    fn root(self) -> V {
        self.sqrt()
    }

    #[inline(always)]
    fn sign(self) -> V {
        V::select(self.same(self), V::splat(1.0).copysign(self), self)
    }

    #[inline(always)]
    fn less(self, than: V) -> V::Mask {
        self.lt(than)
    }

    #[inline(always)]
    fn at_most(self, most: V) -> V::Mask {
        self.le(most)
    }

    #[inline(always)]
    fn choose(truth: V::Mask, a: V, b: V) -> V {
        V::select(truth, a, b)
    }

    #[inline(always)]
    fn both(a: V::Mask, b: V::Mask) -> V::Mask {
        a & b
    }

    #[inline(always)]
    fn except(a: V::Mask, b: V::Mask) -> V::Mask {
        a & !b
    }

    #[inline(always)]
    fn any(truth: V::Mask) -> bool {
        truth.bits() & V::ALL_LANES != 0
    }
}
