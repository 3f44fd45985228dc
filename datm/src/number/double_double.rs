//! Arithmetic on unevaluated sums of two doubles: about 106 bits, without a big-number library.
//!
//! Every operation has a relative error below [`UNIT`]; [`super::Number`] turns that into a bound.

use std::ops::{Add, Mul, Neg, Sub};

/// Relative error of one operation. The algorithms below stay under 2⁻¹⁰⁰; the rest is margin.
pub(crate) const UNIT: f64 = 1.0 / (1u128 << 98) as f64;

/// The sum `hi + lo` with `|lo|` at most half a unit in the last place of `hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    hi: f64,
    lo: f64,
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, b - (s - a))
}

/// Splits into two halves of 26 bits, so that products of halves are exact.
fn split(a: f64) -> (f64, f64) {
    let t = 134_217_729.0 * a;
    let hi = t - (t - a);
    (hi, a - hi)
}

/// The exact product as a sum; no fused multiply-add, which is slow where the hardware lacks it.
fn two_prod(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: DoubleDouble = DoubleDouble { hi: 0.0, lo: 0.0 };
    /// One.
    pub const ONE: DoubleDouble = DoubleDouble { hi: 1.0, lo: 0.0 };

    /// The sum of two doubles, exactly.
    pub fn sum(a: f64, b: f64) -> DoubleDouble {
        let (hi, lo) = two_sum(a, b);
        DoubleDouble { hi, lo }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        self.hi
    }

    /// The part below the nearest double.
    pub fn tail(self) -> f64 {
        self.lo
    }

    /// The product with a double.
    pub fn scale(self, b: f64) -> DoubleDouble {
        let (p, e) = two_prod(self.hi, b);
        let (hi, lo) = quick_two_sum(p, e + self.lo * b);
        DoubleDouble { hi, lo }
    }

    /// The quotient; the divisor is not zero.
    pub fn over(self, b: DoubleDouble) -> DoubleDouble {
        let first = self.hi / b.hi;
        let rest = self - b.scale(first);
        let second = rest.hi / b.hi;
        let third = (rest - b.scale(second)).hi / b.hi;
        let (hi, lo) = quick_two_sum(first, second);
        DoubleDouble { hi, lo } + DoubleDouble::from(third)
    }

    /// The square root of a non-negative number.
    pub fn sqrt(self) -> DoubleDouble {
        if self.hi <= 0.0 {
            return DoubleDouble::ZERO;
        }
        // One Newton step from a 53-bit start doubles the bits, a second one removes its rounding.
        let mut root = DoubleDouble::from(self.hi.sqrt());
        for _ in 0..2 {
            let rest = self - root * root;
            root = root + rest.over(root.scale(2.0));
        }
        root
    }

    /// The greatest integer that is not above the number.
    pub fn floor(self) -> f64 {
        let floor = self.hi.floor();
        if floor == self.hi && self.lo < 0.0 {
            floor - 1.0
        } else {
            floor
        }
    }

    /// The magnitude.
    pub fn abs(self) -> DoubleDouble {
        if self.hi < 0.0 { -self } else { self }
    }
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> DoubleDouble {
        DoubleDouble { hi: value, lo: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = DoubleDouble;

    fn add(self, b: DoubleDouble) -> DoubleDouble {
        let (s, e) = two_sum(self.hi, b.hi);
        let (t, f) = two_sum(self.lo, b.lo);
        let (s, e) = quick_two_sum(s, e + t);
        let (hi, lo) = quick_two_sum(s, e + f);
        DoubleDouble { hi, lo }
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;

    fn sub(self, b: DoubleDouble) -> DoubleDouble {
        self + -b
    }
}

impl Neg for DoubleDouble {
    type Output = DoubleDouble;

    fn neg(self) -> DoubleDouble {
        DoubleDouble {
            hi: -self.hi,
            lo: -self.lo,
        }
    }
}

impl Mul for DoubleDouble {
    type Output = DoubleDouble;

    fn mul(self, b: DoubleDouble) -> DoubleDouble {
        let (p, e) = two_prod(self.hi, b.hi);
        let (hi, lo) = quick_two_sum(p, e + (self.hi * b.lo + self.lo * b.hi));
        DoubleDouble { hi, lo }
    }
}
