//! TIFF: one page is a picture, many are a stack whose slowest axis they are.
//!
//! ImageJ and OME say in the description what the pages are (slices, channels, frames) and how large voxels are; without
//! them the resolution of the first page counts where its unit is known.

mod arrangement;
mod directory;

use std::io::{Read, Seek};

use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::{PlanarConfiguration, Tag};
use tiff::{ColorType, TiffError};

use super::Source;
use super::picture::{channel_axis, cut_off};
use super::{FrameTimes, ImageError, Note};
use crate::memory::{self, MOST_OF_A_BYTE, most_unpacked};
use crate::nrrd::{Axis, Header, Kind, SampleType, Samples};
use arrangement::{Arrangement, arrange, resolution};

/// What must be the same on all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Page {
    width: u32,
    height: u32,
    channels: u16,
    sample_type: SampleType,
    /// Whether each channel is stored as a picture of its own.
    planar: bool,
}

fn fail(error: TiffError) -> ImageError {
    match error {
        TiffError::IoError(error) => cut_off(&error),
        other => ImageError::new(other.to_string()),
    }
}

/// Describes the stack in a file of `length` bytes; pages are decoded one by one when the samples are read.
pub(super) fn open<'a, R: Read + Seek + 'a>(
    mut file: R,
    length: u64,
) -> Result<Source<'a>, ImageError> {
    if !directory::fits(&mut file, length) {
        return Err(ImageError::new(
            "the file is too short for what its directory announces",
        ));
    }
    let mut limits = Limits::default();
    let available = memory::available().and_then(|bytes| usize::try_from(bytes).ok());
    let justified = most_unpacked(length);
    limits.decoding_buffer_size = available.unwrap_or(usize::MAX).min(justified);
    limits.intermediate_buffer_size = limits.decoding_buffer_size;
    let mut decoder = Decoder::new(file).map_err(fail)?.with_limits(limits);
    let first = page(&mut decoder)?;
    let description = decoder
        .get_tag_ascii_string(Tag::ImageDescription)
        .unwrap_or_default();
    let resolution = resolution(&mut decoder);
    let palette = matches!(decoder.colortype(), Ok(ColorType::Palette(_)));
    let pages = alike(&mut decoder, first)?;
    let mut notes = Vec::new();
    let arrangement = arrange(&description, pages.len(), resolution, &mut notes)?;
    if palette {
        notes.push(Note::new(
            "samples are read without the colours that a palette gives them",
        ));
    }
    let header = header(first, &arrangement);
    super::check_length(&header, length, MOST_OF_A_BYTE)?;
    let decode = move |sink: &mut super::Sink<'_>| {
        for &index in &pages {
            decoder.seek_to_image(index).map_err(fail)?;
            let mut result = DecodingResult::U8(Vec::new());
            let layout = decoder.read_image_to_buffer(&mut result).map_err(fail)?;
            let samples = samples(result)?;
            let size = first.sample_type.size().unwrap_or(1);
            if samples.sample_type() != first.sample_type
                || samples.len() * size < layout.complete_len
            {
                return Err(ImageError::new(format!(
                    "page {index} could not be decoded as a whole"
                )));
            }
            sink(samples);
        }
        Ok(Vec::new())
    };
    let mut source = Source::decoded("TIFF", header, Box::new(decode));
    source.notes = notes;
    if let Some(times) = arrangement.times {
        source.facts.times = FrameTimes::Seconds(times);
    }
    Ok(source)
}

/// The page that the decoder is at.
fn page<R: Read + Seek>(decoder: &mut Decoder<R>) -> Result<Page, ImageError> {
    let (width, height) = decoder.dimensions().map_err(fail)?;
    let color = decoder.colortype().map_err(fail)?;
    match color {
        ColorType::Gray(_) | ColorType::GrayA(_) | ColorType::RGB(_) | ColorType::RGBA(_) => {}
        ColorType::Palette(_) | ColorType::Multiband { .. } => {}
        other => {
            return Err(ImageError::new(format!(
                "pixels of type {other:?} cannot be read"
            )));
        }
    }
    let format = decoder
        .find_tag_unsigned_vec::<u16>(Tag::SampleFormat)
        .map_err(fail)?;
    let format = format.and_then(|all| all.first().copied()).unwrap_or(1);
    let sample_type = match (format, color.bit_depth()) {
        (1 | 4, 8) => SampleType::U8,
        (1 | 4, 16) => SampleType::U16,
        (1 | 4, 32) => SampleType::U32,
        (1 | 4, 64) => SampleType::U64,
        (2, 8) => SampleType::I8,
        (2, 16) => SampleType::I16,
        (2, 32) => SampleType::I32,
        (2, 64) => SampleType::I64,
        (3, 32) => SampleType::F32,
        (3, 64) => SampleType::F64,
        (format, bits) => {
            let what = ["integers", "integers", "signed integers", "reals"];
            let what = what.get(usize::from(format)).unwrap_or(&"samples");
            return Err(ImageError::new(format!(
                "{what} of {bits} bits cannot be read"
            )));
        }
    };
    let planar = decoder
        .find_tag_unsigned::<u16>(Tag::PlanarConfiguration)
        .map_err(fail)?;
    let channels = color.num_samples();
    Ok(Page {
        width,
        height,
        channels,
        sample_type,
        planar: channels > 1 && planar == Some(PlanarConfiguration::Planar.to_u16()),
    })
}

/// The numbers of the pages, which must be alike; previews do not count.
fn alike<R: Read + Seek>(decoder: &mut Decoder<R>, first: Page) -> Result<Vec<usize>, ImageError> {
    const PREVIEW: u32 = 1;
    let mut pages = vec![0];
    let mut index = 0;
    while decoder.more_images() {
        decoder.next_image().map_err(fail)?;
        index += 1;
        let sort = decoder
            .find_tag_unsigned::<u32>(Tag::NewSubfileType)
            .map_err(fail)?;
        if sort.is_some_and(|sort| sort & PREVIEW != 0) {
            continue;
        }
        let other = page(decoder)?;
        if other != first {
            return Err(ImageError::new(format!(
                "page {index} has {} × {} pixels of {} channels, unlike the first with {} × {} of {}; a stack has equal pages",
                other.width,
                other.height,
                other.channels,
                first.width,
                first.height,
                first.channels
            )));
        }
        pages.push(index);
    }
    Ok(pages)
}

fn header(page: Page, arrangement: &Arrangement) -> Header {
    let [x, y, z] = arrangement.steps;
    let axis = |size: usize, kind: Kind, spacing: Option<f64>| Axis {
        size,
        kind: Some(kind),
        spacing,
        units: if spacing.is_some() {
            arrangement.unit.clone()
        } else {
            String::new()
        },
        ..Axis::default()
    };
    let mut axes = vec![
        axis(page.width as usize, Kind::Domain, x),
        axis(page.height as usize, Kind::Domain, y),
    ];
    if let Some(channels) = channel_axis(usize::from(page.channels)) {
        axes.insert(if page.planar { 2 } else { 0 }, channels);
    }
    let several = arrangement.axes.iter().filter(|(_, size)| *size > 1);
    axes.extend(
        several.map(|&(kind, size)| match (kind, &arrangement.period) {
            (Kind::Domain, _) => axis(size, kind, z),
            (Kind::Time, Some((period, unit))) => Axis {
                units: unit.clone(),
                ..axis(size, kind, Some(*period))
            },
            _ => axis(size, kind, None),
        }),
    );
    Header {
        axes,
        ..Header::new(page.sample_type, &[])
    }
}

fn samples(result: DecodingResult) -> Result<Samples, ImageError> {
    Ok(match result {
        DecodingResult::U8(values) => Samples::U8(values),
        DecodingResult::U16(values) => Samples::U16(values),
        DecodingResult::U32(values) => Samples::U32(values),
        DecodingResult::U64(values) => Samples::U64(values),
        DecodingResult::I8(values) => Samples::I8(values),
        DecodingResult::I16(values) => Samples::I16(values),
        DecodingResult::I32(values) => Samples::I32(values),
        DecodingResult::I64(values) => Samples::I64(values),
        DecodingResult::F32(values) => Samples::F32(values),
        DecodingResult::F64(values) => Samples::F64(values),
        DecodingResult::F16(_) => return Err(ImageError::new("reals of 16 bits cannot be read")),
    })
}
