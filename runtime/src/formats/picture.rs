//! Pictures: PNG, JPEG, PNM and BMP, as two-dimensional arrays of the stored integers.
//!
//! Axis 0 goes to the right, axis 1 downwards; world space is index space. Channels come first, as colours.

use std::io::{self, Cursor};

use image::codecs::bmp::BmpDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::pnm::PnmDecoder;
use image::metadata::Orientation;
use image::{ColorType, ImageDecoder};

use super::Source;
use super::{ImageError, Note};
use crate::memory::{self, Claim, Contents};
use crate::nrrd::{Axis, Header, Kind, SampleType, Samples};
use crate::png::{self, Depth};

/// The formats of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picture {
    Png,
    Jpeg,
    Pnm,
    Bmp,
}

/// Describes the picture in the bytes of a file; it is decoded when its samples are read.
pub(super) fn open(
    format: &'static str,
    picture: Picture,
    bytes: Contents,
) -> Result<Source<'static>, ImageError> {
    match picture {
        Picture::Png => {
            let png::Announced {
                width,
                height,
                channels,
                depth,
            } = png::Decoder::new(&bytes)?.announced;
            let sample_type = match depth {
                Depth::Eight => SampleType::U8,
                Depth::Sixteen => SampleType::U16,
            };
            let header = header(sample_type, width, height, channels);
            Ok(Source::decoded(
                format,
                header,
                Box::new(move |sink| {
                    png::Decoder::new(&bytes)?.rows(&mut |row| {
                        sink(match depth {
                            Depth::Eight => Samples::U8(row.iter().map(|&s| s as u8).collect()),
                            Depth::Sixteen => Samples::U16(row),
                        });
                    })?;
                    Ok(Vec::new())
                }),
            ))
        }
        Picture::Jpeg => {
            let length = bytes.len() as u64;
            let mut decoder = JpegDecoder::new(Cursor::new(bytes)).map_err(fail)?;
            let turned = decoder.orientation().map_err(fail)? != Orientation::NoTransforms;
            let mut source = decoded(format, decoder, length, MOST_OF_JPEG, Pixels::Plain)?;
            if turned {
                let text =
                    "the camera was turned: the picture is read as it is stored, not upright";
                source.notes.push(Note::new(text));
            }
            Ok(source)
        }
        Picture::Bmp => {
            let length = bytes.len() as u64;
            let decoder = BmpDecoder::new(Cursor::new(bytes)).map_err(fail)?;
            // A picture in greys is one whose colours are.
            let palette = decoder.get_palette();
            let grey = |colours: &[[u8; 3]]| colours.iter().all(|[r, g, b]| r == g && g == b);
            let pixels = match palette.is_some_and(grey) {
                true => Pixels::Grey,
                false => Pixels::Plain,
            };
            decoded(format, decoder, length, MOST_OF_BMP, pixels)
        }
        Picture::Pnm => {
            let pixels = match bytes.get(1) {
                Some(b'1' | b'4') => Pixels::Bits,
                _ => Pixels::Plain,
            };
            let length = bytes.len() as u64;
            let decoder = PnmDecoder::new(Cursor::new(bytes)).map_err(fail)?;
            decoded(format, decoder, length, MOST_OF_PNM, pixels)
        }
    }
}

fn fail(error: image::ImageError) -> ImageError {
    match error {
        image::ImageError::IoError(error) => cut_off(&error),
        other => ImageError::new(other.to_string()),
    }
}

/// An error of reading a stream; its end is not the decoder's business but the file's.
pub(super) fn cut_off(error: &io::Error) -> ImageError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ImageError::new("the file is cut off"),
        _ => ImageError::new(error.to_string()),
    }
}

/// The most bytes of pixels that one byte of a file can stand for: a block of 64 takes two bits in a JPEG, and colours may
/// be shared by many pixels; a BMP repeats 255 pixels by two bytes, and leaves out rows; a PNM has bits.
const MOST_OF_JPEG: u64 = 2048;
const MOST_OF_BMP: u64 = 1024;
const MOST_OF_PNM: u64 = 8;

/// What becomes of decoded pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixels {
    /// They are taken as they are.
    Plain,
    /// They come as 0 and 1 or as 0 and 255, depending on how they were stored: white becomes 1.
    Bits,
    /// They come in three equal channels; one of them is kept.
    Grey,
}

/// The source for a decoder of the crate `image`; the file has `length` bytes.
fn decoded<D: ImageDecoder + 'static>(
    format: &'static str,
    decoder: D,
    length: u64,
    ratio: u64,
    pixels: Pixels,
) -> Result<Source<'static>, ImageError> {
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let pixels = match (pixels, color) {
        (Pixels::Grey, ColorType::Rgb8) | (Pixels::Bits, ColorType::L8) => pixels,
        _ => Pixels::Plain,
    };
    let (channels, sample_type) = match color {
        ColorType::L8 => (1, SampleType::U8),
        ColorType::Rgb8 if pixels == Pixels::Grey => (1, SampleType::U8),
        ColorType::La8 => (2, SampleType::U8),
        ColorType::Rgb8 => (3, SampleType::U8),
        ColorType::Rgba8 => (4, SampleType::U8),
        ColorType::L16 => (1, SampleType::U16),
        ColorType::La16 => (2, SampleType::U16),
        ColorType::Rgb16 => (3, SampleType::U16),
        ColorType::Rgba16 => (4, SampleType::U16),
        other => {
            return Err(ImageError::new(format!(
                "pixels of type {other:?} cannot be read"
            )));
        }
    };
    let header = header(sample_type, width as usize, height as usize, channels);
    super::check_length(&header, length, ratio)?;
    Ok(Source::decoded(
        format,
        header,
        Box::new(move |sink| {
            let (mut bytes, _claim) = buffer(decoder.total_bytes())?;
            decoder.read_image(&mut bytes).map_err(fail)?;
            sink(match (sample_type, pixels) {
                (SampleType::U8, Pixels::Plain) => Samples::U8(bytes),
                (SampleType::U8, Pixels::Bits) => {
                    bytes.iter_mut().for_each(|p| *p = (*p).min(1));
                    Samples::U8(bytes)
                }
                (SampleType::U8, Pixels::Grey) => {
                    Samples::U8(bytes.iter().step_by(3).copied().collect())
                }
                _ => {
                    let (pairs, _) = bytes.as_chunks::<2>();
                    Samples::U16(pairs.iter().map(|pair| u16::from_ne_bytes(*pair)).collect())
                }
            });
            Ok(Vec::new())
        }),
    ))
}

/// Memory for `size` bytes, if there is enough.
fn buffer(size: u64) -> Result<(Vec<u8>, Claim), ImageError> {
    let claim = memory::claim(size).map_err(|e| ImageError::new(format!("the picture: {e}")))?;
    let length = usize::try_from(size).map_err(|e| ImageError::new(e.to_string()))?;
    Ok((vec![0; length], claim))
}

/// The header of a picture.
pub(super) fn header(
    sample_type: SampleType,
    width: usize,
    height: usize,
    channels: usize,
) -> Header {
    let mut header = Header::new(sample_type, &[width, height]);
    for axis in &mut header.axes {
        axis.kind = Some(Kind::Domain);
    }
    if let Some(axis) = channel_axis(channels) {
        header.axes.insert(0, axis);
    }
    header
}

/// The axis of the channels of a picture, if there is more than one.
pub(super) fn channel_axis(channels: usize) -> Option<Axis> {
    let kind = match channels {
        1 => return None,
        3 => Kind::RgbColor,
        4 => Kind::RgbaColor,
        _ => Kind::List,
    };
    Some(Axis {
        size: channels,
        kind: Some(kind),
        ..Axis::default()
    })
}
