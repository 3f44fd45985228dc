//! The numbers of a picture: their range and histogram, and codes of 8 bits for them.

use super::protocol::number;
use runtime::reduce::Values;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Bars of a histogram for pages.
const BARS: usize = 64;
/// Bars by which percentiles are found.
const FINE: usize = 4096;
/// The greatest code of a number; the one above it stands for values that are not numbers.
const LAST: f32 = 254.0;

/// Values as reals of 32 bits.
pub(super) fn singles(values: &Values) -> Cow<'_, [f32]> {
    match values {
        Values::F32(values) => Cow::Borrowed(values),
        Values::F64(values) => values.iter().map(|&x| x as f32).collect(),
        Values::I32(values) => values.iter().map(|&n| n as f32).collect(),
        Values::I64(values) => values.iter().map(|&n| n as f32).collect(),
        Values::Bool(values) => values.iter().map(|&b| f32::from(b)).collect(),
    }
}

/// The least and the greatest finite number; nothing if there is none.
pub(super) fn range(numbers: &[f32]) -> Option<(f32, f32)> {
    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
    for &x in numbers {
        let is_finite = x.is_finite();
        low = if is_finite && x < low { x } else { low };
        high = if is_finite && x > high { x } else { high };
    }
    (low <= high).then_some((low, high))
}

/// Fills in what pages show about numbers: range, percentiles, histogram and the count of values that are not numbers.
pub(super) fn describe(header: &mut Value, numbers: &[f32]) {
    let Some((low, high)) = range(numbers) else {
        header["nan"] = json!(numbers.len());
        return;
    };
    let mut fine = vec![0u32; FINE];
    let scale = match high - low {
        width if width > 0.0 && width.is_finite() => (FINE as f32 - 1.0) / width,
        _ => 0.0,
    };
    let mut nan = 0u64;
    for &x in numbers {
        if x.is_finite() {
            fine[((x - low) * scale) as usize & (FINE - 1)] += 1;
        } else {
            nan += u64::from(x.is_nan());
        }
    }
    let all: u64 = fine.iter().map(|&n| u64::from(n)).sum();
    let percentile = |part: f64| {
        let wanted = (part * all as f64) as u64;
        let mut before = 0;
        let place = fine.iter().position(|&n| {
            before += u64::from(n);
            before > wanted
        });
        let place = place.unwrap_or(FINE - 1) as f64 / (FINE as f64 - 1.0);
        f64::from(low) + place * (f64::from(high) - f64::from(low))
    };
    let bars = fine.chunks(FINE / BARS);
    let bars: Vec<u32> = bars.map(|bars| bars.iter().sum()).collect();
    header["min"] = number(low.into());
    header["max"] = number(high.into());
    header["p1"] = number(percentile(0.01));
    header["p99"] = number(percentile(0.99));
    header["nan"] = json!(nan);
    header["histogram"] = json!(bars);
}

/// Codes of 8 bits for numbers from `low` to `high`.
pub(super) fn codes(numbers: &[f32], low: f32, high: f32) -> Vec<u8> {
    let scale = if high > low { LAST / (high - low) } else { 0.0 };
    let code = |&x: &f32| match x.is_nan() {
        true => u8::MAX,
        false => ((x - low) * scale + 0.5).clamp(0.0, LAST) as u8,
    };
    numbers.iter().map(code).collect()
}

/// Numbers as bytes.
pub(super) fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_within_half_a_step_of_the_numbers() {
        let numbers: Vec<f32> = (0..1000).map(|n| (n as f32 * 0.7).sin() * 3.0).collect();
        let (low, high) = (-3.0f32, 3.0f32);
        for (code, x) in codes(&numbers, low, high).iter().zip(&numbers) {
            let back = low + (high - low) * f32::from(*code) / 254.0;
            assert!((back - x).abs() <= 3.0 / 254.0 * 1.001, "{x} {back}");
        }
        let outside = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 9.0, -9.0];
        assert_eq!(codes(&outside, low, high), [255, 254, 0, 254, 0]);
        assert_eq!(codes(&[2.0], 2.0, 2.0), [0]);
    }

    #[test]
    fn descriptions_leave_out_what_is_not_finite() {
        let mut numbers: Vec<f32> = (0..=10_000).map(|n| n as f32).collect();
        numbers.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
        let mut header = json!({});
        describe(&mut header, &numbers);
        assert_eq!(
            (&header["min"], &header["max"]),
            (&json!(0.0), &json!(10000.0))
        );
        assert_eq!(header["nan"], json!(1));
        assert!((header["p1"].as_f64().unwrap() - 100.0).abs() < 5.0);
        assert!((header["p99"].as_f64().unwrap() - 9900.0).abs() < 5.0);
        let bars = header["histogram"].as_array().unwrap();
        assert_eq!(
            bars.iter().map(|n| n.as_u64().unwrap()).sum::<u64>(),
            10_001
        );
    }

    #[test]
    fn pictures_of_one_value_or_none_are_described() {
        for numbers in [&[][..], &[f32::NAN]] {
            let mut header = json!({});
            describe(&mut header, numbers);
            assert_eq!(header, json!({ "nan": numbers.len() }));
        }
        for numbers in [[5.0, 5.0], [f32::MAX, -f32::MAX]] {
            let mut header = json!({});
            describe(&mut header, &numbers);
            let numbers = ["min", "p1", "p99", "max"].map(|name| header[name].as_f64().unwrap());
            assert!(numbers.is_sorted(), "{header}");
            let bars = header["histogram"].as_array().unwrap();
            assert_eq!(bars.iter().map(|n| n.as_u64().unwrap()).sum::<u64>(), 2);
        }
    }
}
