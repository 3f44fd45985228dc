//! Pictures of outputs: which numbers become which levels, and what of them does not show.

use super::{Column, Domain, Output, Values};
use crate::colour_maps::ColourMap;
use crate::png::{Depth, Png, Range};
use crate::print::short;
use rayon::prelude::*;

/// The look of a pixel with a NaN.
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
    /// The map of the colours, if there is one.
    pub colours: Option<&'static ColourMap>,
}

/// Whether a picture can be made of an output.
///
/// # Errors
/// A message with the expected shape.
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

/// Whether the numbers of an output can have the colours of a map.
///
/// # Errors
/// A message with the expected shape.
pub(super) fn check_colours(output: &Output) -> Result<(), String> {
    match output.strand_size() {
        1 => Ok(()),
        n => Err(format!(
            "found {n} values per strand, expected 1 for the colours of a map (--cmap)"
        )),
    }
}

/// The picture of an output.
///
/// # Errors
/// It cannot have one.
pub fn picture(
    column: Column<'_>,
    domain: &Domain,
    depth: Depth,
    nan: NanColour,
) -> Result<(Png, Tally), String> {
    let Column {
        output,
        values,
        range,
        colours: map,
        ..
    } = column;
    let [height, width, channels] = check(output, domain)?;
    if map.is_some() {
        check_colours(output)?;
    }
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
    // Numbers of some rows at a time, in their order.
    let part = PIXELS.div_ceil(width.max(1)) * width * channels;
    let starts: Vec<usize> = (0..values.len()).step_by(part.max(1)).collect();
    let parts = || {
        let ends = |&start: &usize| values.part(start..values.len().min(start + part));
        starts.par_iter().map(move |start| ends(start).numbers())
    };
    let colour_values = |numbers: Vec<f64>| {
        let numbers = numbers.into_iter().enumerate();
        numbers.filter_map(move |(n, x)| (n % channels < colours).then_some(x))
    };
    let extents: Vec<(f64, f64)> = parts().map(|part| extent(colour_values(part))).collect();
    let all = extents.iter();
    let whole = all.fold(NO_EXTENT, |(low, high), part| {
        (low.min(part.0), high.max(part.1))
    });
    let (low, high) = match range {
        Range::Usual => match map {
            None => usual,
            Some(map) if map.is_diverging() => {
                let most = whole.0.abs().max(whole.1.abs());
                (-most, most)
            }
            Some(_) => whole,
        },
        Range::Between(low, high) => (low, high),
        Range::Auto => whole,
        Range::Percentiles(low, high) => {
            let numbers = colour_values(values.numbers());
            percentiles(numbers, low, high)
        }
    };
    let adds_opacity = nan == NanColour::Transparent && colours == channels;
    let quantizer = Quantizer {
        channels,
        colours,
        map,
        shown: map.map_or(channels, |_| 3) + usize::from(adds_opacity),
        depth,
        nan,
        usual,
        range: (low, high),
    };
    let parts: Vec<(Vec<u16>, Tally)> = parts().map(|part| quantizer.levels(&part)).collect();
    let mut tally = quantizer.nothing();
    tally.extent = whole;
    let first = parts.first().map_or(&[][..], |(levels, _)| levels);
    let first = &first[..first.len().min(quantizer.tones())];
    for (levels, part) in &parts {
        tally.values += part.values;
        tally.below += part.below;
        tally.above += part.above;
        tally.nan += part.nan;
        tally.is_uniform &= part.is_uniform && levels.starts_with(first);
        tally.is_transparent &= part.is_transparent;
    }
    let parts: Vec<&[u16]> = parts.iter().map(|(levels, _)| &levels[..]).collect();
    let levels = parts.concat();
    let png = Png::new(width, height, quantizer.shown, depth, levels).map_err(|e| e.to_string())?;
    Ok((png, tally))
}

/// Pixels that a worker takes at a time, at least.
const PIXELS: usize = 1 << 16;

/// How numbers become levels.
struct Quantizer {
    channels: usize,
    /// Channels that are not opacity.
    colours: usize,
    /// The colours of the numbers, if they are not grey.
    map: Option<&'static ColourMap>,
    /// Channels of the picture.
    shown: usize,
    depth: Depth,
    nan: NanColour,
    /// The numbers for zero and full opacity.
    usual: (f64, f64),
    /// The numbers that are black and white.
    range: (f64, f64),
}

impl Quantizer {
    /// Channels of the picture that are not opacity.
    fn tones(&self) -> usize {
        self.map.map_or(self.colours, |_| 3)
    }

    /// The tally of no number.
    fn nothing(&self) -> Tally {
        Tally {
            values: 0,
            below: 0,
            above: 0,
            nan: 0,
            extent: NO_EXTENT,
            range: self.range,
            is_uniform: true,
            is_transparent: self.colours < self.channels,
            colours: self.map,
        }
    }

    /// The levels of some pixels, and what became of their numbers.
    fn levels(&self, numbers: &[f64]) -> (Vec<u16>, Tally) {
        let (depth, colours, (low, high)) = (self.depth, self.colours, self.range);
        let max = f64::from(depth.max());
        let level = |x: f64, (low, high): (f64, f64)| {
            let scaled = (x - low) / (high - low) * max;
            // The cast saturates and takes not-a-number to 0; the clamp keeps eight bits from wrapping.
            scaled.round().clamp(0.0, max) as u16
        };
        // What rounds to black or white is not clipped, even if it is a little beyond.
        let half_level = (high - low).abs() / max / 2.0;
        let (least, most) = (low.min(high) - half_level, low.max(high) + half_level);
        let mut tally = self.nothing();
        let mut levels: Vec<u16> = Vec::with_capacity(numbers.len() / self.channels * self.shown);
        for pixel in numbers.chunks(self.channels) {
            let (colour, opacity) = pixel.split_at(colours);
            let start = levels.len();
            for &x in colour {
                tally.values += 1;
                tally.below += usize::from(x < least);
                tally.above += usize::from(x > most);
                tally.nan += usize::from(x.is_nan());
                match self.map {
                    None => levels.push(level(x, (low, high))),
                    Some(map) => {
                        let part = (x - low) / (high - low);
                        let colour = map.colour(part);
                        levels.extend(colour.map(|tone| level(tone, (0.0, 1.0))));
                    }
                }
            }
            let is_nan = colour.iter().any(|x| x.is_nan());
            if is_nan {
                let flat = match self.nan {
                    NanColour::Black | NanColour::Transparent => 0,
                    NanColour::Grey => depth.max() / 2 + 1,
                    NanColour::White => depth.max(),
                };
                levels[start..].fill(flat);
            }
            if self.shown > self.tones() {
                let given = opacity.first();
                let given = given.map_or(depth.max(), |&x| level(x, self.usual));
                let hidden = is_nan && self.nan == NanColour::Transparent;
                let opacity = if hidden { 0 } else { given };
                tally.is_transparent &= opacity == 0;
                levels.push(opacity);
            }
            let tones = self.tones();
            tally.is_uniform &= levels[start..start + tones] == levels[..tones];
        }
        (levels, tally)
    }
}

impl Tally {
    /// Notes for the user: surprises, or, if `all`, everything.
    pub fn notes(&self, file: &str, all: bool) -> Vec<String> {
        /// The share of values that may be clipped without a note.
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
        if let Some(map) = self.colours
            && self.nan < self.values
        {
            let (low, high) = (short(self.range.0), short(self.range.1));
            notes.push(format!("{file}: {} from {low} to {high}", map.name));
        }
        let clipped = share(self.below + self.above);
        if clipped > TOLERATED || all && clipped > 0.0 {
            let mut parts = Vec::new();
            if self.above > 0 {
                let greatest = short(self.extent.1);
                parts.push(format!(
                    "{} of values are above {high} (largest {greatest})",
                    percent(self.above)
                ));
            }
            if self.below > 0 {
                let least = short(self.extent.0);
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

/// The extent of no value.
const NO_EXTENT: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// The lowest and the highest finite value.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|x| x.is_finite());
    finite.fold(NO_EXTENT, |(low, high), x| (low.min(x), high.max(x)))
}

/// The percentiles of the finite values.
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
