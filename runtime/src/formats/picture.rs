//! Pictures: PNG, JPEG, PNM and BMP, as two-dimensional arrays of the stored integers.
//!
//! Axis 0 goes to the right, axis 1 downwards; world space is index space. Channels come first, as colours.

use std::io::Cursor;

use image::codecs::bmp::BmpDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::pnm::PnmDecoder;
use image::metadata::Orientation;
use image::{ColorType, ImageDecoder};

use super::Source;
use crate::image::{ImageError, Note};
use crate::memory;
use crate::nrrd::{Axis, Header, Kind, SampleType, Samples};
use crate::png;

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
    bytes: Vec<u8>,
) -> Result<Source<'static>, ImageError> {
    match picture {
        Picture::Png => {
            let png::Announced {
                width,
                height,
                channels,
                ..
            } = png::announced(&bytes)?;
            let header = header(SampleType::U16, width, height, channels);
            Ok(Source::decoded(
                format,
                header,
                Box::new(move |sink| {
                    sink(Samples::U16(png::decode(&bytes)?.into_samples()));
                    Ok(())
                }),
            ))
        }
        Picture::Jpeg => {
            let length = bytes.len() as u64;
            let mut decoder = JpegDecoder::new(Cursor::new(bytes)).map_err(fail)?;
            let turned = decoder.orientation().map_err(fail)? != Orientation::NoTransforms;
            let mut source = decoded(format, decoder, length, MOST_OF_JPEG, |v| v)?;
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
            decoded(format, decoder, length, MOST_OF_BMP, |v| v)
        }
        Picture::Pnm => {
            // Bits come out as 0 and 1 or as 0 and 255, by how they were stored: white is 1.
            let bits = matches!(bytes.get(1), Some(b'1' | b'4'));
            let length = bytes.len() as u64;
            let decoder = PnmDecoder::new(Cursor::new(bytes)).map_err(fail)?;
            decoded(
                format,
                decoder,
                length,
                MOST_OF_PNM,
                if bits { |v| v.min(1) } else { |v| v },
            )
        }
    }
}

fn fail(error: image::ImageError) -> ImageError {
    ImageError::new(error.to_string())
}

/// The most bytes of pixels that one byte of a file can stand for: a block of 64 takes two bits in a JPEG, and colours may
/// be shared by many pixels; a BMP repeats 255 pixels by two bytes, and leaves out rows; a PNM has bits.
const MOST_OF_JPEG: u64 = 2048;
const MOST_OF_BMP: u64 = 1024;
const MOST_OF_PNM: u64 = 8;

/// The source of a decoder of the crate `image` for a file of so many bytes, whose pixels go through `byte`.
fn decoded<D: ImageDecoder + 'static>(
    format: &'static str,
    decoder: D,
    length: u64,
    ratio: u64,
    byte: fn(u8) -> u8,
) -> Result<Source<'static>, ImageError> {
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let (channels, sample_type) = match color {
        ColorType::L8 => (1, SampleType::U8),
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
            let mut pixels = buffer(decoder.total_bytes())?;
            decoder.read_image(&mut pixels).map_err(fail)?;
            sink(match sample_type {
                SampleType::U8 => {
                    pixels.iter_mut().for_each(|p| *p = byte(*p));
                    Samples::U8(pixels)
                }
                _ => {
                    let (pairs, _) = pixels.as_chunks::<2>();
                    Samples::U16(pairs.iter().map(|pair| u16::from_ne_bytes(*pair)).collect())
                }
            });
            Ok(())
        }),
    ))
}

/// Memory for so many bytes, if there is that much.
fn buffer(size: u64) -> Result<Vec<u8>, ImageError> {
    let too_large = || {
        let shown = memory::shown(size);
        ImageError::new(format!(
            "the picture needs {shown} of memory, more than there are"
        ))
    };
    if memory::available().is_some_and(|most| size > most) {
        return Err(too_large());
    }
    let length = usize::try_from(size).map_err(|_| too_large())?;
    let mut pixels = Vec::new();
    pixels.try_reserve_exact(length).map_err(|_| too_large())?;
    pixels.resize(length, 0);
    Ok(pixels)
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
