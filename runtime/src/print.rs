//! Text of printed reals: like C's `%g` with 9 significant digits (17 for double precision),
//! infinities as `inf` and `-inf`, every NaN as `nan`.

use std::fmt::Write;

/// Significant digits that tell any two single-precision numbers apart.
const SINGLE_DIGITS: usize = 9;
/// Significant digits that tell any two double-precision numbers apart.
const DOUBLE_DIGITS: usize = 17;

/// Appends a single-precision number.
pub fn write_f32(out: &mut String, value: f32) {
    write_general(out, f64::from(value), SINGLE_DIGITS);
}

/// Appends a double-precision number.
pub fn write_f64(out: &mut String, value: f64) {
    write_general(out, value, DOUBLE_DIGITS);
}

/// A number with the six digits that matter to a reader of messages.
pub fn short(value: f64) -> String {
    let mut out = String::new();
    let rounded = format!("{value:.5e}").parse().unwrap_or(value);
    // Few numbers are so large that their zeros are harder to read than an exponent.
    write_general(&mut out, rounded, 15);
    out
}

/// Appends `value` as C's `%.{digits}g` does.
fn write_general(out: &mut String, value: f64, digits: usize) {
    if value.is_nan() {
        out.push_str("nan");
        return;
    }
    if value.is_infinite() {
        out.push_str(if value > 0.0 { "inf" } else { "-inf" });
        return;
    }
    // The exponent after rounding decides the style, so round first.
    let rounded = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = rounded
        .split_once('e')
        .expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is an integer");
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |rest| ("-", rest));
    let figures: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let figures = figures.trim_end_matches('0');
    out.push_str(sign);
    if exponent < -4 || exponent >= digits as i32 {
        write_point(out, figures, 1);
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "e{sign}{:02}", exponent.abs()).expect("text grows");
    } else if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        out.push_str(figures);
    } else {
        write_point(out, figures, exponent as usize + 1);
    }
}

/// Appends `figures` with the decimal point after the first `whole` of them, filling up with zeros
/// and leaving out a point that ends the number.
fn write_point(out: &mut String, figures: &str, whole: usize) {
    let (before, after) = figures.split_at(whole.min(figures.len()));
    out.push_str(before);
    out.extend(std::iter::repeat_n('0', whole - before.len()));
    if !after.is_empty() {
        out.push('.');
        out.push_str(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(value: f32) -> String {
        let mut out = String::new();
        write_f32(&mut out, value);
        out
    }

    fn double(value: f64) -> String {
        let mut out = String::new();
        write_f64(&mut out, value);
        out
    }

    #[test]
    fn single_precision_prints_like_percent_9g() {
        let rows = [
            (0.1, "0.100000001"),
            (3.0, "3"),
            (-0.0, "-0"),
            (0.0, "0"),
            (1e-4, "9.99999975e-05"),
            (1.0 / 8192.0, "0.000122070312"),
            (1234567.0 + 0.125, "1234567.12"),
            (1234567.0 + 0.375, "1234567.38"),
            (123456792.0, "123456792"),
            (1e9, "1e+09"),
            (999999999.0, "1e+09"),
            (1.5e30, "1.49999995e+30"),
            (-2.5e-30, "-2.50000001e-30"),
            (f32::MAX, "3.40282347e+38"),
            (f32::from_bits(1), "1.40129846e-45"),
            (100.0, "100"),
            (f32::INFINITY, "inf"),
            (f32::NEG_INFINITY, "-inf"),
            (f32::NAN, "nan"),
            (-f32::NAN, "nan"),
        ];
        for (value, text) in rows {
            assert_eq!(single(value), text);
        }
    }

    #[test]
    fn double_precision_prints_like_percent_17g() {
        let rows = [
            (1.0 / 3.0, "0.33333333333333331"),
            (1e-13, "1e-13"),
            (0.1, "0.10000000000000001"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (5e-324, "4.9406564584124654e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (-1.5, "-1.5"),
        ];
        for (value, text) in rows {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn messages_have_six_digits() {
        let rows = [
            (f64::from(0.829_702_f32), "0.829702"),
            (1.625, "1.625"),
            (16_777_215.0, "16777200"),
            (-2.0, "-2"),
            (7.567_011e-44, "7.56701e-44"),
            (f64::NAN, "nan"),
        ];
        for (value, text) in rows {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn every_printed_number_reads_back_as_itself() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let value = f64::from_bits(state);
            if value.is_finite() {
                assert_eq!(
                    double(value).parse::<f64>().unwrap().to_bits(),
                    value.to_bits()
                );
            }
            let value = f32::from_bits((state >> 32) as u32);
            if value.is_finite() {
                assert_eq!(
                    single(value).parse::<f32>().unwrap().to_bits(),
                    value.to_bits()
                );
            }
        }
    }
}
