//! Round numbers along an interval: multiples of 1, 2 or 5 times a power of ten, written with as few digits as they have.

/// Numbers to be marked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// In ascending order.
    pub ticks: Vec<Tick>,
    /// The power of ten by which the labels are to be multiplied.
    pub exponent: i32,
    /// The power of ten whose multiples they are.
    place: i32,
}

/// A number to be marked.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The number.
    pub value: f64,
    /// Its text, without the common power of ten.
    pub label: String,
    /// Which multiple it is.
    multiple: i64,
}

/// Numbers whose first digit is at least at this power of ten share an exponent.
const LARGE: i32 = 5;
/// The same for numbers whose first digit is at most at this power.
const SMALL: i32 = -4;
/// The least extent of an interval that has parts.
const LEAST: f64 = 1e-290;
/// Ticks may be outside an interval by this part of a step, which is rounding.
const ROUNDING: f64 = 1e-9;

impl Ticks {
    /// The densest round numbers in an interval, at most this many, that `fit`. One number or none always fits.
    pub(super) fn within(
        (low, high): (f64, f64),
        most: usize,
        are_whole: bool,
        fit: impl Fn(&Ticks) -> bool,
    ) -> Ticks {
        let extent = high - low;
        let is_an_interval = extent.is_finite() && extent > LEAST;
        if !is_an_interval || extent <= 1e-12 * low.abs().max(high.abs()) {
            return Ticks::default();
        }
        let finest = (extent / most.max(1) as f64).log10().floor() as i32;
        let finest = if are_whole { finest.max(0) } else { finest };
        let steps = (finest..).flat_map(|exponent| [1, 2, 5].map(|digit| (digit, exponent)));
        for (digit, exponent) in steps {
            let multiples = multiples((low, high), step(digit, exponent));
            let count = (multiples.1 - multiples.0 + 1.0).max(0.0);
            if count > most.max(1) as f64 {
                continue;
            }
            let counts = multiples.0 as i64..=multiples.1 as i64;
            let ticks = Ticks::new(counts.map(|n| n * digit), exponent);
            if count <= 1.0 || fit(&ticks) {
                return ticks;
            }
        }
        Ticks::default()
    }

    /// One number, rounded to six digits.
    pub(super) fn single(value: f64) -> Ticks {
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: i64 = digits.replace('.', "").parse().unwrap_or(0);
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let mut ticks = Ticks::new([digits].into_iter(), exponent - 5);
        ticks.ticks.iter_mut().for_each(|tick| tick.value = value);
        ticks
    }

    /// Multiples of a power of ten.
    fn new(multiples: impl Iterator<Item = i64>, place: i32) -> Ticks {
        let multiples: Vec<i64> = multiples.collect();
        let greatest = multiples.iter().map(|n| n.unsigned_abs()).max();
        let leading = greatest.and_then(u64::checked_ilog10);
        let leading = leading.map(|log| log as i32 + place);
        let common = leading.filter(|place| !(SMALL + 1..LARGE).contains(place));
        let tick = |multiple: i64| Tick {
            value: scaled(multiple, place),
            label: String::new(),
            multiple,
        };
        let mut ticks = Ticks {
            ticks: multiples.into_iter().map(tick).collect(),
            exponent: 0,
            place,
        };
        ticks.label_with(common.unwrap_or(0));
        ticks
    }

    /// Writes the labels for this common power of ten.
    pub(super) fn label_with(&mut self, exponent: i32) {
        self.exponent = exponent;
        for tick in &mut self.ticks {
            tick.label = decimal(tick.multiple, self.place - exponent);
        }
    }
}

/// The round number nearest below a part of a length: 1, 2 or 5 times a power of ten.
pub(super) fn round_below(length: f64) -> Option<(f64, Ticks)> {
    if !(length.is_finite() && length > 0.0) {
        return None;
    }
    let exponent = length.log10().floor() as i32;
    let candidates = (exponent - 1..=exponent + 1).flat_map(|e| [1, 2, 5].map(|digit| (digit, e)));
    let mut fitting = candidates.filter(|&(digit, e)| step(digit, e) <= length);
    let (digit, exponent) = fitting.next_back()?;
    let value = step(digit, exponent);
    Some((value, Ticks::new([digit].into_iter(), exponent)))
}

fn step(digit: i64, exponent: i32) -> f64 {
    scaled(digit, exponent)
}

/// The double nearest to a decimal number.
fn scaled(n: i64, exponent: i32) -> f64 {
    format!("{n}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// The first and the last multiple of a step in an interval.
fn multiples((low, high): (f64, f64), step: f64) -> (f64, f64) {
    let first = (low / step - ROUNDING).ceil();
    let last = (high / step + ROUNDING).floor();
    (first, last)
}

/// `n · 10^exponent` without needless zeros, with the minus of mathematics.
fn decimal(n: i64, exponent: i32) -> String {
    let sign = if n < 0 { "\u{2212}" } else { "" };
    let digits = n.unsigned_abs().to_string();
    if n == 0 {
        return digits;
    }
    let Ok(places) = usize::try_from(-exponent) else {
        return format!(
            "{sign}{digits}{}",
            "0".repeat(exponent.unsigned_abs() as usize)
        );
    };
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, most: usize) -> (String, i32) {
        let ticks = Ticks::within((low, high), most, false, |_| true);
        let labels: Vec<&str> = ticks.ticks.iter().map(|tick| &tick.label[..]).collect();
        (labels.join(" "), ticks.exponent)
    }

    #[test]
    fn ticks_are_round_and_short() {
        let rows = [
            (0.0, 1.0, 6, "0 0.2 0.4 0.6 0.8 1", 0),
            (0.0, 1.0, 11, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1", 0),
            (0.0, 213.4, 6, "0 50 100 150 200", 0),
            (-1.6, 1.6, 5, "\u{2212}1 0 1", 0),
            (
                -1.6,
                1.6,
                7,
                "\u{2212}1.5 \u{2212}1 \u{2212}0.5 0 0.5 1 1.5",
                0,
            ),
            (0.0, 3e-12, 4, "0 1 2 3", -12),
            (0.0, 1e12, 6, "0 0.2 0.4 0.6 0.8 1", 12),
            (99_000.0, 99_500.0, 3, "99000 99200 99400", 0),
            (0.001, 0.0042, 4, "0.001 0.002 0.003 0.004", 0),
            (1e12, 1.000_002e12, 3, "1 1.000001 1.000002", 12),
        ];
        for (low, high, most, expected, exponent) in rows {
            let expected = (expected.to_string(), exponent);
            assert_eq!(labels(low, high, most), expected, "{low} to {high}");
        }
    }

    #[test]
    fn labels_are_the_numbers_and_there_are_enough() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for _ in 0..2000 {
            let scale = 10_f64.powf(random() * 60.0 - 30.0);
            let low = (random() - 0.5) * scale;
            let high = low + random() * scale;
            let Ticks {
                ticks, exponent, ..
            } = Ticks::within((low, high), 8, false, |_| true);
            assert!((3..=8).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            for tick in &ticks {
                let text = tick.label.replace('\u{2212}', "-");
                let read: f64 = format!("{text}e{exponent}").parse().unwrap();
                assert!((read - tick.value).abs() <= 1e-15 * read.abs(), "{tick:?}");
                let slack = 1e-8 * (high - low);
                assert!(low - slack <= read && read <= high + slack, "{tick:?}");
                assert!(!text.contains('.') || !text.ends_with('0'), "{text}");
            }
        }
    }

    #[test]
    fn intervals_without_extent_have_no_ticks() {
        let intervals = [
            (1.0, 1.0),
            (2.0, 1.0),
            (f64::NAN, 1.0),
            (f64::NEG_INFINITY, 0.0),
            (1e12, 1e12 + 1e-3),
            (0.0, 5e-324),
        ];
        for interval in intervals {
            let ticks = Ticks::within(interval, 5, false, |_| true);
            assert_eq!(ticks, Ticks::default(), "{interval:?}");
        }
    }

    #[test]
    fn whole_numbers_have_whole_steps() {
        let ticks = Ticks::within((-0.5, 1.5), 10, true, |_| true);
        let values: Vec<f64> = ticks.ticks.iter().map(|tick| tick.value).collect();
        assert_eq!(values, [0.0, 1.0]);
    }

    #[test]
    fn lengths_and_single_numbers_are_rounded() {
        let text = |ticks: &Ticks| (ticks.ticks[0].label.clone(), ticks.exponent);
        for (length, expected) in [(0.82, 0.5), (57.6, 50.0), (2.0, 2.0), (1.99e-7, 1e-7)] {
            assert_eq!(round_below(length).unwrap().0, expected);
        }
        assert_eq!(text(&round_below(3e-9).unwrap().1), ("2".to_string(), -9));
        assert_eq!(
            text(&Ticks::single(0.829_702_02)),
            ("0.829702".to_string(), 0)
        );
        assert_eq!(text(&Ticks::single(-3e-7)), ("\u{2212}3".to_string(), -7));
        assert_eq!(text(&Ticks::single(0.0)), ("0".to_string(), 0));
        assert_eq!(round_below(0.0), None);
    }
}
