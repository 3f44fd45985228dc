//! Pictures of outputs: which numbers become which levels, and what of them does not show.

use super::{Domain, Output, Values};
use crate::png::{Depth, Png, Range};

/// How a pixel looks of which a value is not a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NanColour {
    /// Black.
    #[default]
    Black,
    /// Grey.
    Grey,
    /// White.
    White,
    /// Nothing is seen; the picture gets an opacity if it has none.
    Transparent,
}

impl NanColour {
    /// All of them by name.
    pub const ALL: [(&'static str, NanColour); 4] = [
        ("black", NanColour::Black),
        ("grey", NanColour::Grey),
        ("white", NanColour::White),
        ("transparent", NanColour::Transparent),
    ];
}

/// What became of the numbers of a picture. Opacities do not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// How many there are.
    pub values: usize,
    /// How many are below the number that is black.
    pub below: usize,
    /// How many are above the number that is white.
    pub above: usize,
    /// How many are not numbers.
    pub nan: usize,
    /// The least and the greatest.
    pub extent: (f64, f64),
    /// The numbers that are black and white.
    pub range: (f64, f64),
    /// Whether all pixels have the same colour.
    pub is_uniform: bool,
    /// Whether nothing is seen because all is transparent.
    pub is_transparent: bool,
}

/// Whether a picture can be made of an output.
///
/// # Errors
/// What was expected.
pub(super) fn check(output: &Output, domain: &Domain) -> Result<[usize; 3], String> {
    let channels = output.strand_size();
    if let (Domain::Grid(sizes), 1..=4) = (domain, channels)
        && let [height, width] = sizes[..]
    {
        return Ok([height, width, channels]);
    }
    let found = match domain {
        Domain::Grid(sizes) => format!("a grid of {} axes", sizes.len()),
        Domain::List(_) => "a collection".to_string(),
    };
    Err(format!(
        "found {channels} values per strand over {found}, expected 1 to 4 over a grid of 2 axes for a picture"
    ))
}

/// The picture of an output.
///
/// # Errors
/// It cannot have one.
pub fn picture(
    output: &Output,
    domain: &Domain,
    values: Values<'_>,
    range: Range,
    depth: Depth,
    nan: NanColour,
) -> Result<(Png, Tally), String> {
    let [height, width, channels] = check(output, domain)?;
    let numbers = values.numbers();
    let max = f64::from(depth.max());
    // Integers are levels already; reals and truth values go from 0 to 1.
    let usual = match values {
        Values::F32(_) | Values::F64(_) | Values::Bool(_) => (0.0, 1.0),
        Values::I32(_) | Values::I64(_) => (0.0, max),
    };
    let colours = if channels % 2 == 0 {
        channels - 1
    } else {
        channels
    };
    let is_colour = |n: usize| n % channels < colours;
    let colour_values = || {
        (0..numbers.len())
            .filter(|&n| is_colour(n))
            .map(|n| numbers[n])
    };
    let (low, high) = match range {
        Range::Usual => usual,
        Range::Between(low, high) => (low, high),
        Range::Auto => extent(colour_values()),
        Range::Percentiles(low, high) => percentiles(colour_values(), low, high),
    };
    let level = |x: f64, (low, high): (f64, f64)| {
        let scaled = (x - low) / (high - low) * max;
        // The cast saturates and takes not-a-number to 0; the clamp keeps eight bits from wrapping.
        scaled.round().clamp(0.0, max) as u16
    };
    // What rounds to black or white is not clipped, even if it is a little beyond.
    let half_level = (high - low).abs() / max / 2.0;
    let (least, most) = (low.min(high) - half_level, low.max(high) + half_level);
    let mut tally = Tally {
        values: 0,
        below: 0,
        above: 0,
        nan: 0,
        extent: extent(colour_values()),
        range: (low, high),
        is_uniform: true,
        is_transparent: colours < channels,
    };
    let adds_opacity = nan == NanColour::Transparent && colours == channels;
    let shown = channels + usize::from(adds_opacity);
    let mut levels: Vec<u16> = Vec::with_capacity(width * height * shown);
    for pixel in numbers.chunks(channels) {
        let (colour, opacity) = pixel.split_at(colours);
        let start = levels.len();
        for &x in colour {
            tally.values += 1;
            tally.below += usize::from(x < least);
            tally.above += usize::from(x > most);
            tally.nan += usize::from(x.is_nan());
            levels.push(level(x, (low, high)));
        }
        let is_nan = colour.iter().any(|x| x.is_nan());
        if is_nan {
            let flat = match nan {
                NanColour::Black | NanColour::Transparent => 0,
                NanColour::Grey => depth.max() / 2 + 1,
                NanColour::White => depth.max(),
            };
            levels[start..].fill(flat);
        }
        if shown > colours {
            let given = opacity.first().map_or(depth.max(), |&x| level(x, usual));
            let hidden = is_nan && nan == NanColour::Transparent;
            let opacity = if hidden { 0 } else { given };
            tally.is_transparent &= opacity == 0;
            levels.push(opacity);
        }
        tally.is_uniform &= levels[start..start + colours] == levels[..colours];
    }
    let png = Png::new(width, height, shown, depth, levels).map_err(|e| e.to_string())?;
    Ok((png, tally))
}

impl Tally {
    /// What a user should know: what is surprising, or, if `all`, everything.
    pub fn notes(&self, file: &str, all: bool) -> Vec<String> {
        /// The share of values that may be clipped before it is told.
        const TOLERATED: f64 = 0.01;
        let share = |count: usize| count as f64 / self.values.max(1) as f64;
        let percent = |count: usize| match share(count) * 100.0 {
            p if p > 0.0 && p < 1.0 => "less than 1 %".to_string(),
            p if p > 99.0 && p < 100.0 => "more than 99 %".to_string(),
            p => format!("{p:.0} %"),
        };
        let (low, high) = (
            self.range.0.min(self.range.1),
            self.range.0.max(self.range.1),
        );
        let mut notes = Vec::new();
        let clipped = share(self.below + self.above);
        if clipped > TOLERATED || all && clipped > 0.0 {
            let mut parts = Vec::new();
            if self.above > 0 {
                let greatest = self.extent.1;
                parts.push(format!(
                    "{} of values are above {high} (largest {greatest})",
                    percent(self.above)
                ));
            }
            if self.below > 0 {
                let least = self.extent.0;
                parts.push(format!(
                    "{} of values are below {low} (smallest {least})",
                    percent(self.below)
                ));
            }
            notes.push(format!(
                "{file}: {}; --range auto shows all of them",
                parts.join(", ")
            ));
        }
        if self.nan > 0 {
            notes.push(format!(
                "{file}: {} values are not numbers ({})",
                self.nan,
                percent(self.nan)
            ));
        }
        if self.is_transparent {
            notes.push(format!(
                "{file}: the picture is transparent everywhere: all opacities are 0"
            ));
        } else if self.is_uniform && self.values > 0 {
            notes.push(format!("{file}: all pixels have the same colour"));
        }
        if all && notes.is_empty() {
            notes.push(format!(
                "{file}: values from {} to {}",
                self.extent.0, self.extent.1
            ));
        }
        notes
    }
}

/// The lowest and the highest finite value.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|x| x.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    })
}

/// The finite values below which the given percentages of them lie.
fn percentiles(values: impl Iterator<Item = f64>, low: f64, high: f64) -> (f64, f64) {
    let mut finite: Vec<f64> = values.filter(|x| x.is_finite()).collect();
    if finite.is_empty() {
        return (0.0, 0.0);
    }
    let mut at = |percent: f64| {
        let place = (percent / 100.0 * (finite.len() - 1) as f64).round() as usize;
        *finite.select_nth_unstable_by(place, f64::total_cmp).1
    };
    (at(low), at(high))
}
