//! Exact rational numbers.

use std::hash::{Hash, Hasher};

/// A rational with 128-bit parts. Arithmetic that could overflow goes through the `checked_*` operations of
/// `num-traits`; the caller leaves the constants unfolded for `None`.
pub type Rational = num_rational::Ratio<i128>;

/// Adds a number to a hash. It is reduced, so equal ones have equal parts; its own hash takes long divisions.
pub fn hash<H: Hasher>(q: &Rational, state: &mut H) {
    (q.numer(), q.denom()).hash(state);
}

/// The nearest `f64`, with ties to even.
pub fn to_f64(q: Rational) -> f64 {
    let (numerator, denominator) = (q.numer().unsigned_abs(), q.denom().unsigned_abs());
    let (mut digits, mut rest) = (numerator / denominator, numerator % denominator);
    let mut exponent = 0;
    // Binary digits, two more than a double has; whether anything follows them is the last one.
    while digits < 1 << 54 && rest != 0 {
        rest *= 2;
        digits = 2 * digits + u128::from(rest >= denominator);
        rest -= if rest >= denominator { denominator } else { 0 };
        exponent -= 1;
    }
    let rounded = (digits | u128::from(rest != 0)) as f64 * 2f64.powi(exponent);
    if *q.numer() < 0 { -rounded } else { rounded }
}

/// The number that a literal of this value means: the shortest decimal fraction that is read as `x`, so that 0.1 is a
/// tenth. [`to_f64`] gives `x` back. `None` for NaN and infinities, for the negative zero, which is not a rational, and for
/// magnitudes that 128 bits do not hold.
pub fn from_f64(x: f64) -> Option<Rational> {
    if !x.is_finite() || x == 0.0 && x.is_sign_negative() {
        return None;
    }
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let exponent = exponent.parse::<i32>().ok()? - fraction.len() as i32;
    let power = 10i128.checked_pow(exponent.unsigned_abs())?;
    if exponent < 0 {
        Some(Rational::new(digits, power))
    } else {
        Some(Rational::from_integer(digits.checked_mul(power)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_numbers;

    #[test]
    fn literals_mean_what_is_written_and_come_back() {
        let rows = [
            (0.1, (1, 10)),
            (2.0, (2, 1)),
            (-0.75, (-3, 4)),
            (0.0, (0, 1)),
            (1e22, (10i128.pow(22), 1)),
            (2.5e-7, (1, 4_000_000)),
        ];
        for (x, (numerator, denominator)) in rows {
            let q = from_f64(x).expect("a rational number");
            assert_eq!(q, Rational::new(numerator, denominator));
            assert_eq!(to_f64(q), x);
        }
        let magnitudes = [1.0, 1e-15, 1e15, std::f64::consts::PI, 1e-3, 7.0];
        for (k, x) in random_numbers(5).take(2000).enumerate() {
            let x = x * magnitudes[k % magnitudes.len()];
            let q = from_f64(x).expect("a rational number");
            assert_eq!(to_f64(q).to_bits(), x.to_bits(), "{x:e} is {q}");
        }
    }

    #[test]
    fn what_is_not_rational_is_refused() {
        for x in [f64::NAN, f64::INFINITY, -f64::INFINITY, -0.0, 1e300, 1e-300] {
            assert_eq!(from_f64(x), None, "{x:e}");
        }
    }

    #[test]
    fn quotients_are_rounded_once() {
        // 2⁵³ + 1 is between two doubles: a tie goes to the even one, a trace more to the upper one.
        let tie = (1i128 << 53) + 1;
        assert_eq!(to_f64(Rational::from_integer(tie)), (1i128 << 53) as f64);
        let more = Rational::new(tie * 1_000_000 + 1, 1_000_000);
        assert_eq!(to_f64(more), ((1i128 << 53) + 2) as f64);
        assert_eq!(to_f64(Rational::new(1, 3)), 1.0 / 3.0);
        assert_eq!(to_f64(Rational::new(-2, 3)), -2.0 / 3.0);
    }
}
