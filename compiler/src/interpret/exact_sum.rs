//! Sums of reals over strands: exact, rounded once.

use num_bigint::{BigInt, BigUint, Sign};

/// The least double is this power of two.
const LEAST: i32 = -1074;

/// The sum of doubles, in double or single precision.
pub(super) fn exact_sum(values: impl Iterator<Item = f64>, double: bool) -> f64 {
    let mut total = BigInt::ZERO;
    let mut special = 0.0;
    for x in values {
        if x.is_finite() {
            total += in_units(x);
        } else {
            special += x;
        }
    }
    if special != 0.0 {
        return special;
    }
    let magnitude = nearest(total.magnitude(), double);
    if total.sign() == Sign::Minus {
        -magnitude
    } else {
        magnitude
    }
}

/// A finite number in units of the least double.
fn in_units(x: f64) -> BigInt {
    let mut power = 0;
    let mut scaled = x;
    // A number that is divided by two until it is subnormal loses nothing if it is multiplied first.
    while scaled.abs() >= 1.0 {
        scaled /= 2.0;
        power += 1;
    }
    while scaled != 0.0 && scaled.abs() < 0.5 {
        scaled *= 2.0;
        power -= 1;
    }
    let digits = BigInt::from((scaled * 2f64.powi(53)) as i64);
    let shift = power - 53 - LEAST;
    if shift < 0 {
        digits / (BigInt::from(1) << -shift)
    } else {
        digits << shift
    }
}

/// The number nearest to this many units, the even one of two.
fn nearest(units: &BigUint, double: bool) -> f64 {
    let (digits, least) = if double { (53, LEAST) } else { (24, -149) };
    let dropped = (units.bits() as i64 - digits).max(i64::from(least - LEAST));
    let step = BigUint::from(1u32) << dropped;
    let (mut whole, twice_rest) = (units / &step, (units % &step) * 2u32);
    if twice_rest > step || twice_rest == step && whole.bit(0) {
        whole += 1u32;
    }
    let whole = u64::try_from(whole).expect("as many digits as the precision has") as f64;
    // Powers of two are exact, and so is each step, because the first one does not leave the range of numbers.
    let half = dropped as i32 + LEAST;
    let x = whole * 2f64.powi(half / 2) * 2f64.powi(half - half / 2);
    if double { x } else { f64::from(x as f32) }
}

#[cfg(test)]
mod tests {
    use super::exact_sum;

    #[test]
    fn sums_are_exact() {
        let half = f64::EPSILON / 2.0;
        let sum = |values: &[f64]| exact_sum(values.iter().copied(), true);
        assert_eq!(sum(&[1e300, 5e-324, -1e300]), 5e-324);
        assert_eq!(sum(&[1.0, half]), 1.0);
        assert_eq!(sum(&[1.0, half, 5e-324]), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[]).to_bits(), 0);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        let single = |values: &[f64]| exact_sum(values.iter().copied(), false);
        let half = f64::from(f32::EPSILON) / 2.0;
        assert_eq!(single(&[1.0, half, 1e-30]), 1.0 + f64::from(f32::EPSILON));
        assert_eq!(single(&[-1e39]), f64::NEG_INFINITY);
    }
}
