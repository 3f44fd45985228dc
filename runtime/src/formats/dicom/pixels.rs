//! The pixels of one frame: as they are stored, or compressed by RLE or JPEG.

use std::io::Cursor;

use image::codecs::jpeg::JpegDecoder;
use image::{ColorType, ImageDecoder};

use super::bytes::{Bytes, cut_off};
use super::format::{Colours, Format, Packing, packing};
use super::lossless;
use super::parse::{Parsed, Place};
use super::unpack::{doubled, in_colours, named_rgb, unpacked};
use crate::formats::ImageError;
use crate::memory::{self, MOST_OF_A_BYTE};
use crate::nrrd::{Endian, Sample, SampleType, Samples};

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
                wanted <= packed.saturating_mul(MOST_OF_A_BYTE)
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
