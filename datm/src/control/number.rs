//! Exact numbers: multiples of 2⁻¹² that fit into the 24 bits of a single-precision number, so that every precision has them.

use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

/// The number of fractional bits.
const BITS: u32 = 12;

/// A multiple of 2⁻¹².
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dyadic(i64);

impl Dyadic {
    pub(super) const ZERO: Dyadic = Dyadic(0);

    /// An integer over a power of two.
    pub(super) const fn ratio(numerator: i64, log2_denominator: u32) -> Dyadic {
        assert!(log2_denominator <= BITS);
        Dyadic(numerator << (BITS - log2_denominator))
    }

    /// An integer.
    pub(super) const fn whole(n: i64) -> Dyadic {
        Dyadic::ratio(n, 0)
    }

    /// The same number in the arithmetic of machines.
    pub(super) fn to_f64(self) -> f64 {
        self.0 as f64 / f64::from(1 << BITS)
    }

    /// The greatest integer that is not greater, and the rest.
    pub(super) fn floor(self) -> (i64, Dyadic) {
        let whole = self.0 >> BITS;
        (whole, self - Dyadic::whole(whole))
    }

    /// # Panics
    /// If single precision does not have the number: the programs of this module are chosen so that it does.
    fn checked(units: i64) -> Dyadic {
        let significant = units.unsigned_abs() >> units.trailing_zeros().min(63);
        assert!(
            significant < 1 << 24,
            "{units}/4096 is not a single-precision number"
        );
        Dyadic(units)
    }
}

impl Add for Dyadic {
    type Output = Dyadic;

    fn add(self, other: Dyadic) -> Dyadic {
        Dyadic::checked(self.0 + other.0)
    }
}

impl Sub for Dyadic {
    type Output = Dyadic;

    fn sub(self, other: Dyadic) -> Dyadic {
        Dyadic::checked(self.0 - other.0)
    }
}

impl Neg for Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        Dyadic(-self.0)
    }
}

impl Mul for Dyadic {
    type Output = Dyadic;

    fn mul(self, other: Dyadic) -> Dyadic {
        let units = self.0 * other.0;
        assert!(
            units.trailing_zeros() >= BITS || units == 0,
            "{self} times {other} has too many bits"
        );
        Dyadic::checked(units >> BITS)
    }
}

impl fmt::Display for Dyadic {
    /// As a literal of the language; the text is exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_f64())
    }
}
