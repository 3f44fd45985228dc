//! What the pixels of a file are, and how they are compressed.

use super::elements::Elements;
use super::parse::Samples;
use super::tags;
use crate::formats::ImageError;
use crate::nrrd::SampleType;

/// What pixels are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Numbers of a pixel.
    pub(super) channels: usize,
    pub(super) sample_type: SampleType,
    /// Bits of a number in the file, the ones that count, and the highest of these.
    pub(super) allocated: u32,
    pub(super) stored: u32,
    pub(super) high: u32,
    pub(super) signed: bool,
    /// Whether each channel is a picture of its own.
    pub(super) planar: bool,
    pub(super) colours: Colours,
}

/// How colours are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colours {
    Plain,
    /// Red, green and blue, as the file says.
    Rgb,
    /// Brightness and two differences of colour.
    Differences,
    /// The same, with the differences once for two pixels.
    Halved,
}

/// How pixels are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Rle,
    Jpeg,
    Lossless,
}

/// The compression of a transfer syntax, or its name if it is not read.
pub(super) fn packing(syntax: &str) -> Result<Packing, &'static str> {
    match syntax.strip_prefix("1.2.840.10008.1.2").unwrap_or(syntax) {
        "" | ".1" | ".1.99" | ".2" => Ok(Packing::Plain),
        ".5" => Ok(Packing::Rle),
        ".4.50" => Ok(Packing::Jpeg),
        ".4.57" | ".4.70" => Ok(Packing::Lossless),
        ".4.51" => Err("JPEG of 12 bits"),
        ".4.80" | ".4.81" => Err("JPEG-LS"),
        ".4.90" | ".4.91" | ".4.92" | ".4.93" => Err("JPEG 2000"),
        ".4.201" | ".4.202" | ".4.203" => Err("High-Throughput JPEG 2000"),
        ".4.110" | ".4.111" | ".4.112" => Err("JPEG XL"),
        other if other.starts_with(".4.10") => Err("video"),
        _ => Err("a compression that is not known"),
    }
}

impl Format {
    pub(super) fn of(elements: &Elements, samples: Samples) -> Result<Format, ImageError> {
        let wrong = |what: &str| ImageError::new(format!("the file does not say {what}"));
        let count = |tag, what| {
            let number = elements
                .number(tag)
                .filter(|n| *n >= 1.0 && *n <= f64::from(u32::MAX));
            number.map(|n| n as usize).ok_or_else(|| wrong(what))
        };
        let bits = |tag| elements.number(tag).map(|n| n as u32);
        let rows = count(tags::ROWS, "how many rows it has")?;
        let columns = count(tags::COLUMNS, "how many columns it has")?;
        let channels = elements.number(tags::SAMPLES).unwrap_or(1.0) as usize;
        let allocated = match samples {
            Samples::Integers => bits(tags::ALLOCATED).unwrap_or(0),
            Samples::Floats => 32,
            Samples::Doubles => 64,
        };
        let stored = bits(tags::STORED)
            .unwrap_or(allocated)
            .clamp(1, allocated.max(1));
        let high = bits(tags::HIGH).unwrap_or(stored - 1);
        let high = high.clamp(stored - 1, allocated.max(1) - 1);
        let signed = elements.number(tags::SIGNED) == Some(1.0);
        let sample_type = match (samples, allocated, signed) {
            (Samples::Floats, ..) => SampleType::F32,
            (Samples::Doubles, ..) => SampleType::F64,
            (_, 1, _) | (_, 8, false) => SampleType::U8,
            (_, 8, true) => SampleType::I8,
            (_, 16, false) => SampleType::U16,
            (_, 16, true) => SampleType::I16,
            (_, 32, false) => SampleType::U32,
            (_, 32, true) => SampleType::I32,
            (_, other, _) => {
                return Err(ImageError::new(format!(
                    "samples of {other} bits cannot be read"
                )));
            }
        };
        if !(1..=4).contains(&channels) || (allocated == 1 && channels > 1) {
            return Err(ImageError::new(format!(
                "pixels of {channels} samples cannot be read"
            )));
        }
        let colours = match elements.text(tags::PHOTOMETRIC) {
            Some("YBR_FULL") if channels == 3 && allocated == 8 => Colours::Differences,
            Some("YBR_FULL_422") if channels == 3 && allocated == 8 => Colours::Halved,
            Some("RGB") => Colours::Rgb,
            _ => Colours::Plain,
        };
        Ok(Format {
            columns,
            rows,
            channels,
            sample_type,
            allocated,
            stored,
            high,
            signed,
            planar: channels > 1 && elements.number(tags::PLANAR) == Some(1.0),
            colours,
        })
    }

    /// Numbers of a frame.
    pub(super) fn count(&self) -> Option<u64> {
        let pixels = (self.rows as u64).checked_mul(self.columns as u64)?;
        pixels.checked_mul(self.channels as u64)
    }

    /// Bits of a frame as it is stored without compression.
    pub(super) fn bits(&self) -> Option<u64> {
        let count = self.count()?;
        match self.colours {
            Colours::Halved => count.checked_mul(16).map(|bits| bits / 3),
            Colours::Plain | Colours::Rgb | Colours::Differences => {
                count.checked_mul(u64::from(self.allocated))
            }
        }
    }
}
