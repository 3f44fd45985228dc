//! Exact numbers of the normalizer: rational coefficients and half-integer exponents.
//!
//! Every operation that could overflow gives `None`; the caller then leaves the numbers unfolded.

use ein_ir::Rational;
use num_traits::{CheckedAdd, CheckedMul, One, Zero};
use std::fmt;

/// The product, if it is representable.
pub(crate) fn times(a: Rational, b: Rational) -> Option<Rational> {
    if a.is_one() {
        return Some(b);
    }
    if b.is_one() {
        return Some(a);
    }
    a.checked_mul(&b)
}

/// The sum, if it is representable.
pub(crate) fn plus(a: Rational, b: Rational) -> Option<Rational> {
    a.checked_add(&b)
}

/// An integer as a coefficient.
pub(crate) fn integer(n: i64) -> Rational {
    Rational::from_integer(n.into())
}

/// `base` to the power `exponent`, if that is rational and representable. `0⁻¹` is not.
pub(crate) fn raise(base: Rational, exponent: Power) -> Option<Rational> {
    let root = if exponent.is_integer() {
        base
    } else {
        Rational::new_raw(exact_root(*base.numer())?, exact_root(*base.denom())?)
    };
    if root.is_zero() {
        return exponent.is_positive().then(Rational::zero);
    }
    let count = if exponent.is_integer() {
        exponent.0 / 2
    } else {
        exponent.0
    };
    let mut square = if count < 0 { root.recip() } else { root };
    let mut left = count.unsigned_abs();
    let mut result = Rational::one();
    if square.is_one() {
        return Some(result);
    }
    loop {
        if left & 1 == 1 {
            result = times(result, square)?;
        }
        left >>= 1;
        if left == 0 {
            return Some(result);
        }
        square = times(square, square)?;
    }
}

/// The root of a positive square.
fn exact_root(n: i128) -> Option<i128> {
    if !n.is_positive() {
        return None;
    }
    let root = n.isqrt();
    (root * root == n).then_some(root)
}

/// The exponent of a scalar operand, counted in halves: `1/s` is `s` to the power −2 halves, `√s` to the power 1 half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Power(i64);

/// Exponents stay in the range that an integer power of a term can express.
const LARGEST: i64 = 2 * i32::MAX as i64;

impl Power {
    pub(crate) const ONE: Power = Power(2);
    pub(crate) const MINUS_ONE: Power = Power(-2);
    pub(crate) const HALF: Power = Power(1);

    pub(crate) fn integer(n: i32) -> Power {
        Power(2 * i64::from(n))
    }

    pub(crate) fn halves(self) -> i64 {
        self.0
    }

    pub(crate) fn is_one(self) -> bool {
        self == Power::ONE
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_positive(self) -> bool {
        self.0 > 0
    }

    pub(crate) fn is_integer(self) -> bool {
        self.0 % 2 == 0
    }

    /// Whether the power is even, so that its value is never negative.
    pub(crate) fn is_even(self) -> bool {
        self.0 % 4 == 0
    }

    pub(crate) fn plus(self, other: Power) -> Option<Power> {
        let sum = self.0 + other.0;
        (sum.abs() <= LARGEST).then_some(Power(sum))
    }

    /// The exponent of (xᵃ)ᵇ, unless it is not a half-integer or too large.
    pub(crate) fn times(self, other: Power) -> Option<Power> {
        let quarters = self.0.checked_mul(other.0)?;
        (quarters % 2 == 0 && (quarters / 2).abs() <= LARGEST).then_some(Power(quarters / 2))
    }

    pub(crate) fn to_rational(self) -> Rational {
        Rational::new(self.0.into(), 2)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_rational())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_taken_only_where_they_are_rational() {
        let four_ninths = Rational::new(4, 9);
        assert_eq!(raise(four_ninths, Power::HALF), Some(Rational::new(2, 3)));
        assert_eq!(
            raise(four_ninths, Power(-3)),
            Some(Rational::new(27, 8)),
            "a power of −3/2"
        );
        assert_eq!(raise(integer(2), Power::HALF), None);
        assert_eq!(raise(integer(-4), Power::HALF), None);
    }

    #[test]
    fn an_overflow_is_reported_and_zero_has_no_inverse() {
        assert_eq!(raise(integer(3), Power::integer(2_000_000)), None);
        assert_eq!(raise(integer(-1), Power::integer(3)), Some(integer(-1)));
        assert_eq!(raise(integer(0), Power::MINUS_ONE), None);
        assert_eq!(
            times(integer(i64::MAX), integer(i64::MAX)).and_then(|x| times(x, x)),
            None
        );
        assert_eq!(Power::integer(i32::MAX).plus(Power::ONE), None);
        assert_eq!(Power::HALF.times(Power::HALF), None);
    }
}
