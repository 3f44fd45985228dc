//! Real numbers in text, as headers, ascii data and command lines spell them.
//!
//! Reading accepts decimal and hexadecimal notation and the words `nan`, `inf`, `infinity` and `pi`, each with a sign
//! and in any case. Writing gives the shortest text that reads back to the same number.

use std::fmt;

/// The number spelled by the whole of `text`, if it is one.
pub fn parse_real(text: &str) -> Option<f64> {
    let (sign, magnitude) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    // The standard parser takes a sign of its own: a second one must not slip through.
    if magnitude.starts_with(['+', '-']) {
        return None;
    }
    if magnitude.eq_ignore_ascii_case("pi") {
        return Some(sign * std::f64::consts::PI);
    }
    let hexadecimal = magnitude
        .get(..2)
        .is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x"));
    if hexadecimal {
        return parse_hexadecimal(&magnitude[2..]).map(|x| sign * x);
    }
    magnitude.parse::<f64>().ok().map(|x| sign * x)
}

/// `h.hhhp±d` without its `0x`: hexadecimal digits times a power of two.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.find(['p', 'P']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut mantissa = 0_u64;
    let mut scale = i64::from(exponent);
    for (i, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(digit.to_digit(16)?);
        if mantissa < 1 << 59 {
            mantissa = mantissa << 4 | digit;
        } else {
            // Digits that no longer fit only decide the direction of rounding.
            mantissa |= u64::from(digit != 0);
            scale += 4;
        }
        scale -= if i < whole.chars().count() { 0 } else { 4 };
    }
    // Three factors, because one power of two need not be representable when the product is.
    let scale = scale.clamp(-3000, 3000) as i32;
    let third = scale / 3;
    let power = |e: i32| 2_f64.powi(e);
    Some(mantissa as f64 * power(third) * power(third) * power(scale - 2 * third))
}

/// A number as it is written: shortest text that reads back, with exponents where they are shorter.
pub struct Written<T>(pub T);

impl<T: fmt::Debug> fmt::Display for Written<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The debug form of a float is the shortest that reads back; it only says too much for whole numbers.
        let text = format!("{:?}", self.0);
        let text = text.strip_suffix(".0").unwrap_or(&text);
        match text {
            "NaN" => f.write_str("nan"),
            _ => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_are_read_in_every_notation() {
        let rows = [
            ("1", 1.0),
            ("-2.5e-3", -0.0025),
            (".5", 0.5),
            ("+7.", 7.0),
            ("pi", std::f64::consts::PI),
            ("-PI", -std::f64::consts::PI),
            ("inf", f64::INFINITY),
            ("-Inf", f64::NEG_INFINITY),
            ("0x10", 16.0),
            ("0x1.8p3", 12.0),
            ("-0X.8p-1", -0.25),
            ("0x1.921fb54442d18p1", std::f64::consts::PI),
            ("0x1p-1074", 5e-324),
            ("0x1fffffffffffffffffp0", 590295810358705651711.0),
        ];
        for (text, value) in rows {
            assert_eq!(parse_real(text), Some(value), "{text}");
        }
        assert!(parse_real("nan").is_some_and(f64::is_nan));
    }

    #[test]
    fn what_is_not_wholly_a_number_is_refused() {
        for text in [
            "", "-", "1/3", "2,3", "--1", "-+1", "1 ", "0x", "0x.p1", "0x1p", "pie", "é",
        ] {
            assert_eq!(parse_real(text), None, "{text:?}");
        }
    }

    #[test]
    fn written_numbers_read_back_to_the_same_bits() {
        for x in [0.0, -0.0, 1.0, 0.1, 1e300, -5e-324, f64::MAX, f64::INFINITY] {
            let text = Written(x).to_string();
            assert_eq!(
                parse_real(&text).map(f64::to_bits),
                Some(x.to_bits()),
                "{text}"
            );
        }
        assert_eq!(Written(3.0_f64).to_string(), "3");
        assert_eq!(Written(f32::NAN).to_string(), "nan");
    }
}
