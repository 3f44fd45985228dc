//! The frames of one file: each with its pixels, place, time and scale.

use std::path::PathBuf;
use std::sync::Arc;

use super::bytes::Bytes;
use super::elements::Elements;
use super::geometry::{Slice, normal};
use super::parse::parse;
use super::pixels::Pixels;
use super::tags;
use crate::formats::ImageError;
use crate::memory::{self, Claim};

/// A file with pixels.
pub(super) struct File {
    bytes: Bytes,
    pub(super) frames: Vec<Frame>,
    pub(super) about: About,
    _claim: Claim,
}

/// What the frames of a file have in common.
pub(super) struct Common {
    pub(super) pixels: Pixels,
    /// The name of the file.
    pub(super) name: String,
    /// Seconds from one frame to the next.
    pub(super) frame_time: Option<f64>,
    pub(super) photometric: String,
}

/// What a file says of the series that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) series: String,
    pub(super) number: Option<f64>,
    pub(super) modality: String,
    pub(super) description: String,
    /// An overview that shows where slices are.
    pub(super) is_localizer: bool,
}

/// One frame.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) common: Arc<Common>,
    /// Its number within the file.
    pub(super) number: usize,
    pub(super) orientation: Option<[f64; 6]>,
    position: Option<[f64; 3]>,
    /// Between rows, and between columns.
    pub(super) spacing: Option<[f64; 2]>,
    pub(super) thickness: Option<f64>,
    pub(super) scale: Option<(f64, f64)>,
    times: [Option<f64>; 3],
}

impl Frame {
    /// The frame as the rules of a grid see it, if it has a position.
    pub(super) fn slice(&self) -> Option<Slice> {
        let position = self.position?;
        Some(Slice {
            position,
            times: self.times,
            name: self.common.name.clone(),
        })
    }
}

/// As many frames as a file may have: more are a sign of damage.
const MOST_FRAMES: f64 = 1e6;

impl File {
    /// Looks at a file; `None` if it has no pixels.
    pub(super) fn open(bytes: Bytes, name: String) -> Result<Option<File>, ImageError> {
        let parsed = parse(bytes)?;
        let all = &parsed.elements;
        let count = all.number(tags::FRAMES).unwrap_or(1.0);
        if !(0.0..=MOST_FRAMES).contains(&count) {
            return Err(ImageError::new(format!("the file has {count} frames")));
        }
        let count = count.max(1.0) as usize;
        let Some(pixels) = Pixels::of(&parsed, count)? else {
            return Ok(None);
        };
        if !all.items(tags::TABLE).is_empty() {
            let error =
                ImageError::new("the values go through a table (Modality LUT), which is not read");
            return Err(error.hint(
                "with Python: pydicom.pixels.apply_modality_lut(ds.pixel_array, ds), and numpy.save of that",
            ));
        }
        let text = |tag| all.text(tag).unwrap_or_default().to_string();
        let about = About {
            series: text(tags::SERIES),
            number: all.number(tags::SERIES_NUMBER),
            modality: text(tags::MODALITY),
            description: text(tags::DESCRIPTION),
            is_localizer: text(tags::IMAGE_TYPE)
                .split('\\')
                .any(|word| word == "LOCALIZER"),
        };
        let room = (count as u64).saturating_mul(size_of::<Frame>() as u64);
        let claim = memory::claim(room).map_err(|e| ImageError::new(format!("the frames: {e}")))?;
        let frame_time = all.number(tags::FRAME_TIME).map(|ms| ms / 1000.0);
        let common = Arc::new(Common {
            pixels,
            name,
            frame_time: frame_time.filter(|x| *x > 0.0),
            photometric: text(tags::PHOTOMETRIC),
        });
        let shared = all.items(tags::SHARED).first().map(Elements::flattened);
        let frames = (0..count).map(|number| frame(all, shared.as_ref(), &common, number));
        Ok(Some(File {
            frames: frames.collect(),
            bytes: parsed.bytes.clone(),
            about,
            _claim: claim,
        }))
    }

    pub(super) fn length(&self) -> u64 {
        self.bytes.length()
    }

    pub(super) fn path(&self) -> Option<PathBuf> {
        match &self.bytes {
            Bytes::File { path, .. } => Some(path.clone()),
            Bytes::Memory(_) => None,
        }
    }
}

/// Seconds since midnight of a time `HHMMSS.FFF`, with whole days of a date `YYYYMMDD` in front.
fn seconds(date: Option<&str>, time: &str) -> Option<f64> {
    let digits = |from: usize, to: usize| time.get(from..to)?.parse::<f64>().ok();
    let rest = time.get(4..).filter(|rest| !rest.is_empty());
    let rest = rest.map_or(Some(0.0), |rest| rest.parse::<f64>().ok())?;
    // Days need not be those of a calendar: they only have to be in order.
    let day = date
        .and_then(|date| date.parse::<f64>().ok())
        .unwrap_or(0.0);
    Some(day * 86400.0 + digits(0, 2)? * 3600.0 + digits(2, 4).unwrap_or(0.0) * 60.0 + rest)
}

/// A frame: functional groups of its own come first, then shared ones, then the elements of the file.
fn frame(all: &Elements, shared: Option<&Elements>, common: &Arc<Common>, number: usize) -> Frame {
    let own = all
        .items(tags::PER_FRAME)
        .get(number)
        .map(Elements::flattened);
    let levels: Vec<&Elements> = own.iter().chain(shared).chain([all]).collect();
    let numbers = |tag| levels.iter().find_map(|level| level.numbers(tag));
    let number_of = |tag| levels.iter().find_map(|level| level.number(tag));
    let finite = |values: Vec<f64>| Some(values).filter(|v| v.iter().all(|x| x.is_finite()));
    let orientation = numbers(tags::ORIENTATION).and_then(finite);
    let orientation = orientation.and_then(|v| <[f64; 6]>::try_from(v).ok());
    let position = numbers(tags::POSITION).and_then(finite);
    let position = position.and_then(|v| <[f64; 3]>::try_from(v).ok());
    // Frames of a dose have offsets along the normal.
    let offset = all
        .numbers(tags::OFFSETS)
        .and_then(|all| all.get(number).copied());
    let position = match (position, offset, orientation) {
        (Some(position), Some(offset), Some([a, b, c, d, e, f])) => {
            let across = normal([a, b, c], [d, e, f]).unwrap_or_default();
            Some(std::array::from_fn(|i| position[i] + offset * across[i]))
        }
        // Many frames at one place have no place that is known.
        (Some(_), None, _) if pixels_are_many(all) && own.is_none() => None,
        (position, ..) => position,
    };
    let spacing = numbers(tags::SPACING).or_else(|| numbers(tags::IMAGER_SPACING));
    let spacing = spacing.and_then(|v| <[f64; 2]>::try_from(v).ok());
    let slope = number_of(tags::SLOPE).or_else(|| all.number(tags::DOSE_SCALING));
    let scale = (
        slope.unwrap_or(1.0),
        number_of(tags::INTERCEPT).unwrap_or(0.0),
    );
    let positive = |x: &f64| *x > 0.0 && x.is_finite();
    let trigger = number_of(tags::TRIGGER_OF_FRAME).or_else(|| number_of(tags::TRIGGER));
    let acquired = all.text(tags::TIME);
    Frame {
        common: common.clone(),
        number,
        orientation,
        position,
        spacing: spacing.filter(|s| s.iter().all(positive)),
        thickness: number_of(tags::BETWEEN)
            .map(f64::abs)
            .filter(positive)
            .or_else(|| number_of(tags::THICKNESS).filter(positive)),
        scale: (scale != (1.0, 0.0)).then_some(scale),
        times: [
            number_of(tags::TEMPORAL_INDEX).or_else(|| number_of(tags::TEMPORAL)),
            trigger.map(|milliseconds| milliseconds / 1000.0),
            acquired.and_then(|time| seconds(all.text(tags::DATE), time)),
        ],
    }
}

fn pixels_are_many(all: &Elements) -> bool {
    all.number(tags::FRAMES).is_some_and(|n| n > 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_order() {
        assert_eq!(seconds(None, "010203.5"), Some(3723.5));
        assert_eq!(seconds(None, "0102"), Some(3720.0));
        assert_eq!(seconds(None, ""), None);
        assert_eq!(seconds(None, "xx"), None);
        let late = seconds(Some("20200101"), "235959");
        assert!(late < seconds(Some("20200102"), "000001"));
    }
}
