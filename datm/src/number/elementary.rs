//! Elementary functions to about 30 digits, by series after argument reduction and Newton correction.
//!
//! Each function is accurate to [`ELEMENTARY_ERROR`] relative to the larger of 1 and its value, on
//! the ranges that the domain guards let through (|x| ≤ 30 for `exp`, |x| ≤ 10⁶ for `sin` and `cos`, |x| ≤ 3 for `erf`).

use super::double_double::DoubleDouble;

/// Bound of the error of every function here, relative to max(1, |result|).
pub(crate) const ELEMENTARY_ERROR: f64 = 1.0 / (1u128 << 72) as f64;

/// π/2 as a sum of two doubles.
fn half_pi() -> DoubleDouble {
    DoubleDouble::sum(std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17)
}

/// ln 2 as a sum of two doubles.
pub(crate) fn ln2() -> DoubleDouble {
    DoubleDouble::sum(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17)
}

/// The exponential: x = k·ln 2 + 256·r, a series in r, then eight squarings.
pub(crate) fn exp(x: DoubleDouble) -> DoubleDouble {
    let k = (x.to_f64() / std::f64::consts::LN_2).round();
    let r = (x - ln2().scale(k)).scale(1.0 / 256.0);
    let mut term = DoubleDouble::ONE;
    let mut sum = DoubleDouble::ONE;
    for n in 1..=14 {
        term = (term * r).over(DoubleDouble::from(f64::from(n)));
        sum = sum + term;
    }
    for _ in 0..8 {
        sum = sum * sum;
    }
    sum.scale(2.0_f64.powi(k as i32))
}

/// The natural logarithm of a positive number, by Newton's method on [`exp`].
pub(crate) fn ln(x: DoubleDouble) -> DoubleDouble {
    let mut y = DoubleDouble::from(x.to_f64().ln());
    for _ in 0..2 {
        y = y + (x * exp(-y) - DoubleDouble::ONE);
    }
    y
}

/// Sine and cosine, reduced by multiples of π/2.
pub(crate) fn sin_cos(x: DoubleDouble) -> (DoubleDouble, DoubleDouble) {
    let quarter = (x.to_f64() / std::f64::consts::FRAC_PI_2).round();
    let r = x - half_pi().scale(quarter);
    let square = r * r;
    let (mut sine, mut cosine) = (r, DoubleDouble::ONE);
    let (mut sine_term, mut cosine_term) = (r, DoubleDouble::ONE);
    for n in 1..=14 {
        let n = f64::from(n);
        cosine_term = -(cosine_term * square).over(DoubleDouble::from(2.0 * n * (2.0 * n - 1.0)));
        sine_term = -(sine_term * square).over(DoubleDouble::from(2.0 * n * (2.0 * n + 1.0)));
        cosine = cosine + cosine_term;
        sine = sine + sine_term;
    }
    match quarter.rem_euclid(4.0) as u8 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// The arc tangent: a double-precision start corrected by the addition theorem.
pub(crate) fn atan(x: DoubleDouble) -> DoubleDouble {
    let start = DoubleDouble::from(x.to_f64().atan());
    let (sine, cosine) = sin_cos(start);
    let rest = (x * cosine - sine).over(cosine + x * sine);
    start + rest - (rest * rest * rest).over(DoubleDouble::from(3.0))
}

/// The arc sine of a number strictly between −1 and 1, by Newton's method.
pub(crate) fn asin(x: DoubleDouble) -> DoubleDouble {
    let mut y = DoubleDouble::from(x.to_f64().asin());
    for _ in 0..2 {
        let (sine, cosine) = sin_cos(y);
        y = y + (x - sine).over(cosine);
    }
    y
}

/// The arc cosine of a number strictly between −1 and 1.
pub(crate) fn acos(x: DoubleDouble) -> DoubleDouble {
    half_pi() - asin(x)
}

/// The error function for |x| ≤ 3, by its power series.
pub(crate) fn erf(x: DoubleDouble) -> DoubleDouble {
    let square = x * x;
    let mut power = x;
    let mut sum = x;
    for n in 1..=80 {
        power = -(power * square).over(DoubleDouble::from(f64::from(n)));
        sum = sum + power.over(DoubleDouble::from(f64::from(2 * n + 1)));
    }
    sum.scale(2.0).over(half_pi().scale(2.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a decimal of up to 34 digits after the point with an error below 10⁻³².
    fn decimal(text: &str) -> DoubleDouble {
        let (whole, fraction) = text.split_once('.').expect("a decimal point");
        let mut value = DoubleDouble::ZERO;
        for digit in fraction.chars().rev().chain(whole.chars().rev().take(0)) {
            let digit = f64::from(digit.to_digit(10).expect("a digit"));
            value = (value + DoubleDouble::from(digit)).over(DoubleDouble::from(10.0));
        }
        value + DoubleDouble::from(whole.parse::<f64>().expect("an integer"))
    }

    #[track_caller]
    fn agrees(found: DoubleDouble, digits: &str) {
        let off = (found - decimal(digits)).abs().to_f64();
        assert!(off < 1e-27, "{digits}: off by {off:e}");
    }

    #[test]
    fn functions_agree_with_printed_tables() {
        let one = DoubleDouble::ONE;
        let half = DoubleDouble::from(0.5);
        agrees(exp(one), "2.7182818284590452353602874713526624");
        agrees(
            ln(DoubleDouble::from(2.0)),
            "0.6931471805599453094172321214581765",
        );
        agrees(sin_cos(one).0, "0.8414709848078965066525023216302989");
        agrees(sin_cos(one).1, "0.5403023058681397174009366074429766");
        agrees(atan(half), "0.4636476090008061162142562314612144");
        agrees(asin(half), "0.5235987755982988730771072305465838");
        agrees(acos(half), "1.0471975511965977461542144610931676");
        agrees(erf(one), "0.8427007929497148693412206350826092");
        agrees(
            DoubleDouble::from(2.0).sqrt(),
            "1.4142135623730950488016887242096980",
        );
    }

    #[test]
    fn addition_theorems_hold() {
        for i in -40..=40 {
            let x = DoubleDouble::from(f64::from(i) * 0.37);
            let y = DoubleDouble::from(1.25);
            let ((sx, cx), (sy, cy)) = (sin_cos(x), sin_cos(y));
            let off = sin_cos(x + y).0 - (sx * cy + cx * sy);
            assert!(off.abs().to_f64() < 1e-27);
            let ratio = exp(x + y).over(exp(x) * exp(y)) - DoubleDouble::ONE;
            assert!(ratio.abs().to_f64() < 1e-26);
            let (s, c) = sin_cos(atan(x));
            assert!((s - x * c).abs().to_f64() < 1e-27);
        }
    }
}
