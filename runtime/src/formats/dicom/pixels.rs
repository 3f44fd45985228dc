//! The pixels of one frame: as they are stored, or compressed by RLE or JPEG.

use std::io::Cursor;

use image::codecs::jpeg::JpegDecoder;
use image::{ColorType, ImageDecoder};

use super::bytes::{Bytes, cut_off};
use super::elements::{self, Elements, Parsed, Place};
use super::lossless;
use crate::formats::ImageError;
use crate::memory;
use crate::nrrd::{Endian, Sample, SampleType, Samples};

/// What pixels are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Numbers of a pixel.
    pub(super) channels: usize,
    pub(super) sample_type: SampleType,
    /// Bits of a number in the file, the ones that count, and the highest of these.
    allocated: u32,
    stored: u32,
    high: u32,
    signed: bool,
    /// Whether each channel is a picture of its own.
    planar: bool,
    colours: Colours,
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
    pub(super) fn of(
        elements: &Elements,
        samples: elements::Samples,
    ) -> Result<Format, ImageError> {
        let wrong = |what: &str| ImageError::new(format!("the file does not say {what}"));
        let count = |tag, what| {
            let number = elements
                .number(tag)
                .filter(|n| *n >= 1.0 && *n <= f64::from(u32::MAX));
            number.map(|n| n as usize).ok_or_else(|| wrong(what))
        };
        let bits = |tag| elements.number(tag).map(|n| n as u32);
        let rows = count(elements::ROWS, "how many rows it has")?;
        let columns = count(elements::COLUMNS, "how many columns it has")?;
        let channels = elements.number(elements::SAMPLES).unwrap_or(1.0) as usize;
        let allocated = match samples {
            elements::Samples::Integers => bits(elements::ALLOCATED).unwrap_or(0),
            elements::Samples::Floats => 32,
            elements::Samples::Doubles => 64,
        };
        let stored = bits(elements::STORED)
            .unwrap_or(allocated)
            .clamp(1, allocated.max(1));
        let high = bits(elements::HIGH).unwrap_or(stored - 1);
        let high = high.clamp(stored - 1, allocated.max(1) - 1);
        let signed = elements.number(elements::SIGNED) == Some(1.0);
        let sample_type = match (samples, allocated, signed) {
            (elements::Samples::Floats, ..) => SampleType::F32,
            (elements::Samples::Doubles, ..) => SampleType::F64,
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
        let colours = match elements.text(elements::PHOTOMETRIC) {
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
            planar: channels > 1 && elements.number(elements::PLANAR) == Some(1.0),
            colours,
        })
    }

    /// Numbers of a frame.
    fn count(&self) -> Option<u64> {
        let pixels = (self.rows as u64).checked_mul(self.columns as u64)?;
        pixels.checked_mul(self.channels as u64)
    }

    /// Bits of a frame as it is stored without compression.
    fn bits(&self) -> Option<u64> {
        let count = self.count()?;
        match self.colours {
            Colours::Halved => count.checked_mul(16).map(|bits| bits / 3),
            Colours::Plain | Colours::Rgb | Colours::Differences => {
                count.checked_mul(u64::from(self.allocated))
            }
        }
    }
}

/// The pixels of a file.
#[derive(Clone)]
pub(super) struct Pixels {
    pub(super) format: Format,
    pub(super) packing: Packing,
    place: Place,
    bytes: Bytes,
    big_endian: bool,
    frames: usize,
}

impl Pixels {
    /// The pixels of a file with `frames` frames.
    pub(super) fn of(parsed: &Parsed, frames: usize) -> Result<Option<Pixels>, ImageError> {
        let Some((samples, place)) = &parsed.pixels else {
            return Ok(None);
        };
        let format = Format::of(&parsed.elements, *samples)?;
        let packing = packing(&parsed.syntax).map_err(|name| {
            ImageError::new(format!(
                "the pixels are compressed by {name}, which is not read"
            ))
        })?;
        let pixels = Pixels {
            format,
            packing: match place {
                Place::Plain { .. } => Packing::Plain,
                Place::Pieces { .. } => packing,
            },
            place: place.clone(),
            bytes: parsed.bytes.clone(),
            big_endian: parsed.big_endian,
            frames,
        };
        pixels.check()?;
        Ok(Some(pixels))
    }

    /// Refuses a file that is too short for its frames.
    fn check(&self) -> Result<(), ImageError> {
        let short = || ImageError::new("the file is too short for the pixels that it announces");
        let bits = self.format.bits().ok_or_else(short)?;
        let wanted = bits
            .checked_mul(self.frames as u64)
            .ok_or_else(short)?
            .div_ceil(8);
        let enough = match &self.place {
            Place::Plain { length, .. } => wanted <= *length,
            Place::Pieces { pieces, .. } => {
                let packed = pieces.iter().map(|(_, length)| length).sum::<u64>();
                wanted <= packed.saturating_mul(super::MOST_OF_A_BYTE)
            }
        };
        if enough { Ok(()) } else { Err(short()) }
    }

    /// The numbers of a frame, pixel by pixel.
    pub(super) fn frame(&self, frame: usize) -> Result<Samples, ImageError> {
        let count = self.format.count().ok_or_else(cut_off)?;
        let _claim = memory::claim(count.saturating_mul(8))
            .map_err(|e| ImageError::new(format!("a slice: {e}")))?;
        let count = usize::try_from(count).map_err(|_| cut_off())?;
        let samples = match self.packing {
            Packing::Plain => self.plain(frame)?,
            Packing::Rle => self.rle(&self.packed(frame)?, count)?,
            Packing::Jpeg => self.jpeg(&self.packed(frame)?)?,
            Packing::Lossless => {
                let numbers = lossless::decode(&self.packed(frame)?, count)?;
                let bytes: Vec<u8> = match self.format.allocated {
                    8 => numbers.iter().map(|&n| n as u8).collect(),
                    _ => numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
                };
                self.numbers(&bytes, Endian::Little)
            }
        };
        match samples.len() == count {
            true => Ok(samples),
            false => Err(ImageError::new(format!(
                "frame {frame} has {} numbers, expected {count}",
                samples.len()
            ))),
        }
    }

    fn plain(&self, frame: usize) -> Result<Samples, ImageError> {
        let Place::Plain { at, swapped, .. } = self.place else {
            return Err(ImageError::new("pixels without compression are in pieces"));
        };
        let bits = self.format.bits().ok_or_else(cut_off)?;
        let first = bits.checked_mul(frame as u64).ok_or_else(cut_off)?;
        let (start, skipped) = (first / 8, (first % 8) as usize);
        let length = (skipped as u64 + bits).div_ceil(8);
        let bytes = match swapped && self.format.allocated == 8 {
            false => self.bytes.read(at + start, length)?,
            true => {
                // Bytes of words with the higher one first; the last word is whole.
                let first = start - start % 2;
                let mut words = self
                    .bytes
                    .read(at + first, (start + length).next_multiple_of(2) - first)?;
                words.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
                let skipped = (start - first) as usize;
                words[skipped..skipped + length as usize].to_vec()
            }
        };
        if self.format.allocated == 1 {
            let bit = |i: usize| bytes[(skipped + i) / 8] >> ((skipped + i) % 8) & 1;
            return Ok(Samples::U8((0..bits as usize).map(bit).collect()));
        }
        let endian = if self.big_endian {
            Endian::Big
        } else {
            Endian::Little
        };
        let samples = match self.format.colours {
            Colours::Halved => Samples::U8(doubled(&bytes)),
            Colours::Plain | Colours::Rgb | Colours::Differences => self.numbers(&bytes, endian),
        };
        Ok(self.arranged(samples))
    }

    /// The compressed bytes of a frame: one piece, or those from its offset on.
    fn packed(&self, frame: usize) -> Result<Vec<u8>, ImageError> {
        let Place::Pieces { offsets, pieces } = &self.place else {
            return Err(ImageError::new("compressed pixels are not in pieces"));
        };
        let first = pieces.first().map_or(0, |(at, _)| at.saturating_sub(8));
        let of_frame = |(at, _): &(u64, u64)| -> bool {
            let offset = at.saturating_sub(8).saturating_sub(first);
            let from = offsets.get(frame).map(|&o| u64::from(o));
            let to = offsets.get(frame + 1).map(|&o| u64::from(o));
            from.is_some_and(|from| offset >= from) && to.is_none_or(|to| offset < to)
        };
        let chosen: Vec<(u64, u64)> = match (self.frames, pieces.len()) {
            (1, _) => pieces.clone(),
            (frames, count) if frames == count => pieces[frame..=frame].to_vec(),
            _ => pieces
                .iter()
                .filter(|piece| of_frame(piece))
                .copied()
                .collect(),
        };
        if chosen.is_empty() {
            return Err(ImageError::new(format!(
                "the file does not say where frame {frame} is"
            )));
        }
        let mut bytes = Vec::new();
        for (at, length) in chosen {
            bytes.extend(self.bytes.read(at, length)?);
        }
        Ok(bytes)
    }

    /// Bytes as numbers. Only their stored bits count.
    fn numbers(&self, bytes: &[u8], endian: Endian) -> Samples {
        let Format {
            allocated,
            stored,
            high,
            signed,
            ..
        } = self.format;
        // Shifting up and down again leaves the stored bits, with their sign.
        let (up, down) = (allocated - 1 - high.min(allocated - 1), allocated - stored);
        macro_rules! shifted {
            ($type:ty) => {{
                let mut numbers = <$type>::from_bytes(bytes, endian);
                if (up, down) != (0, 0) {
                    numbers.iter_mut().for_each(|n| *n = *n << up >> down);
                }
                <$type>::into_samples(numbers)
            }};
        }
        match (self.format.sample_type, signed) {
            (SampleType::F32, _) => Samples::F32(f32::from_bytes(bytes, endian)),
            (SampleType::F64, _) => Samples::F64(f64::from_bytes(bytes, endian)),
            (SampleType::I8, _) => shifted!(i8),
            (SampleType::U16, _) => shifted!(u16),
            (SampleType::I16, _) => shifted!(i16),
            (SampleType::U32, _) => shifted!(u32),
            (SampleType::I32, _) => shifted!(i32),
            _ => shifted!(u8),
        }
    }

    /// Segments of bytes, the highest of each number first, one channel after the other.
    fn rle(&self, packed: &[u8], count: usize) -> Result<Samples, ImageError> {
        let wrong = || ImageError::new("the segments of RLE are damaged");
        let word = |i: usize| {
            let bytes = packed.get(4 * i..4 * i + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let size = (self.format.allocated / 8) as usize;
        let segments = word(0).filter(|n| *n == size * self.format.channels && *n <= 15);
        let segments = segments.ok_or_else(wrong)?;
        let pixels = count / self.format.channels.max(1);
        let mut bytes = vec![0_u8; count * size];
        for segment in 0..segments {
            let start = word(segment + 1).ok_or_else(wrong)?;
            let end = if segment + 1 < segments {
                word(segment + 2).ok_or_else(wrong)?
            } else {
                packed.len()
            };
            let plane =
                unpacked(packed.get(start..end).ok_or_else(wrong)?, pixels).ok_or_else(wrong)?;
            let (channel, from_high) = (segment / size, segment % size);
            for (pixel, byte) in plane.into_iter().enumerate() {
                bytes[(pixel * self.format.channels + channel) * size + size - 1 - from_high] =
                    byte;
            }
        }
        let samples = self.numbers(&bytes, Endian::Little);
        Ok(self.coloured(samples))
    }

    fn jpeg(&self, packed: &[u8]) -> Result<Samples, ImageError> {
        let fail = |e: image::ImageError| ImageError::new(format!("a JPEG within the file: {e}"));
        let named = match self.format.colours {
            Colours::Rgb => named_rgb(packed),
            Colours::Plain | Colours::Differences | Colours::Halved => None,
        };
        let packed = named.as_deref().unwrap_or(packed);
        let decoder = JpegDecoder::new(Cursor::new(packed)).map_err(fail)?;
        let (width, height) = decoder.dimensions();
        let fits = (width as usize, height as usize) == (self.format.columns, self.format.rows);
        let channels = match decoder.color_type() {
            ColorType::L8 => 1,
            ColorType::Rgb8 => 3,
            _ => 0,
        };
        if !fits || channels != self.format.channels || self.format.allocated != 8 {
            return Err(ImageError::new(
                "a JPEG within the file has other sizes than the file says",
            ));
        }
        let mut bytes = vec![0; self.format.count().unwrap_or(0) as usize];
        decoder.read_image(&mut bytes).map_err(fail)?;
        Ok(self.numbers(&bytes, Endian::Little))
    }

    /// Channels beside each other, in colours.
    fn arranged(&self, samples: Samples) -> Samples {
        let channels = self.format.channels;
        macro_rules! interleaved {
            ($($variant:ident)*) => {
                match samples {
                    $(Samples::$variant(planes) if self.format.planar => {
                        let pixels = planes.len() / channels;
                        let at = |i: usize| planes[i % channels * pixels + i / channels];
                        Samples::$variant((0..pixels * channels).map(at).collect())
                    })*
                    other => other,
                }
            };
        }
        self.coloured(interleaved!(I8 U8 I16 U16 I32 U32 F32 F64))
    }

    fn coloured(&self, samples: Samples) -> Samples {
        match samples {
            Samples::U8(mut values)
                if matches!(self.format.colours, Colours::Differences | Colours::Halved) =>
            {
                values.chunks_exact_mut(3).for_each(in_colours);
                Samples::U8(values)
            }
            other => other,
        }
    }
}

/// A JPEG that says nothing of its colours with components that are called R, G and B, so that they are taken as such.
fn named_rgb(packed: &[u8]) -> Option<Vec<u8>> {
    let (mut named, mut at) = (packed.to_vec(), 2);
    loop {
        let &[0xff, mark, a, b] = packed.get(at..)?.first_chunk()? else {
            return None;
        };
        let (step, first) = match mark {
            // These segments say which colours there are.
            0xe0 | 0xee => return None,
            0xc0 | 0xc1 => (3, at + 10),
            0xda => (2, at + 5),
            _ => (0, 0),
        };
        if step > 0 {
            for (i, letter) in b"RGB".iter().enumerate() {
                *named.get_mut(first + step * i)? = *letter;
            }
        }
        if mark == 0xda {
            return Some(named);
        }
        at += 2 + usize::from(u16::from_be_bytes([a, b]));
    }
}

/// Red, green and blue of a brightness and two differences.
fn in_colours(pixel: &mut [u8]) {
    let [y, b, r] = [pixel[0], pixel[1], pixel[2]].map(f64::from);
    let (b, r) = (b - 128.0, r - 128.0);
    let colours = [
        y + 1.402 * r,
        y - 0.114 * 1.772 / 0.587 * b - 0.299 * 1.402 / 0.587 * r,
        y + 1.772 * b,
    ];
    for (place, colour) in pixel.iter_mut().zip(colours) {
        *place = (colour + 0.5).floor().clamp(0.0, 255.0) as u8;
    }
}

/// Two brightnesses and the differences that they share, as two pixels.
fn doubled(bytes: &[u8]) -> Vec<u8> {
    let (pairs, _) = bytes.as_chunks::<4>();
    pairs
        .iter()
        .flat_map(|&[y, z, b, r]| [y, b, r, z, b, r])
        .collect()
}

/// Runs of bytes: as they are, or one byte repeated. Two bytes stand for 128 at most.
fn unpacked(packed: &[u8], count: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = packed;
    while out.len() < count {
        let (&head, after) = rest.split_first()?;
        rest = match head as i8 {
            run @ 0.. => {
                let (bytes, after) = after.split_at_checked(run as usize + 1)?;
                out.extend_from_slice(bytes);
                after
            }
            -128 => after,
            run => {
                let (&byte, after) = after.split_first()?;
                out.resize(out.len() + 1 + usize::from(run.unsigned_abs()), byte);
                after
            }
        };
    }
    out.truncate(count);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bytes_are_unpacked() {
        assert_eq!(
            unpacked(&[1, 5, 6, 0xfe, 7, 0x80], 5),
            Some(vec![5, 6, 7, 7, 7])
        );
        assert_eq!(unpacked(&[3, 5], 4), None);
        assert_eq!(unpacked(&[], 1), None);
    }

    #[test]
    fn differences_become_colours() {
        let mut grey = [100, 128, 128];
        in_colours(&mut grey);
        assert_eq!(grey, [100, 100, 100]);
        let mut red = [76, 85, 255];
        in_colours(&mut red);
        assert_eq!(red, [254, 0, 0]);
    }
}
