//! TIFF: a picture, or a stack of pages, with the steps of its grid as ImageJ writes them.
//!
//! Numbers stay as they are, so that pages of reals have 32 or 64 bits. With a range (`--range`) or a map of colours, they become levels of
//! 8 or 16 bits, as in other pictures. Components are channels: pages of their own, channel by channel for each slice; only three levels are
//! the colours of one page.

use std::io::{Cursor, Seek, Write};

use super::contents::{Contents, Style, Told};
use super::picture::{check_colours, picture};
use super::shapes::{self, Request};
use super::{Column, Domain, OutputError, Values};
use crate::grid::Place;
use crate::png::{Depth, Range};
use tiff::TiffError;
use tiff::encoder::{DirectoryEncoder, Rational, TiffEncoder, TiffKind, TiffValue};
use tiff::tags::{CompressionMethod, PhotometricInterpretation, ResolutionUnit, SampleFormat, Tag};

/// Grids, of numbers if they have the colours of a map.
pub(super) fn grids(request: Request<'_>) -> Result<(), String> {
    shapes::grids(request)?;
    match request.are_coloured {
        true => request.outputs.iter().try_for_each(|o| check_colours(o)),
        false => Ok(()),
    }
}

/// Writes one output.
pub(super) fn write_tif(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let column = contents.single()?;
    let stack = Stack::new(contents.domain, contents.place);
    // A directory points forwards and backwards, so the file is complete before its bytes are written.
    let mut file = Cursor::new(Vec::new());
    /// Bytes of samples up to which all places in a file have 32 bits, with room for directories.
    const MOST: u64 = 3 << 30;
    let is_big = column.values.len() as u64 * 8 > MOST;
    let told = match is_big {
        true => stack.write(TiffEncoder::new_big(&mut file), column, contents, style),
        false => stack.write(TiffEncoder::new(&mut file), column, contents, style),
    }?;
    out.write_all(file.get_ref()).map_err(OutputError::new)?;
    Ok(told)
}

/// The pages of a grid.
struct Stack {
    width: usize,
    height: usize,
    slices: usize,
    /// The steps along the axes and their unit, if the grid has a place.
    steps: Option<([f64; 3], String)>,
}

/// What all pages have in common.
struct Page {
    /// The length of its samples.
    bytes: u64,
    /// Bits of a sample.
    bits: u16,
    /// Samples of a pixel.
    in_page: usize,
    format: SampleFormat,
}

/// The numbers of a pixel.
#[derive(Clone, Copy)]
struct Pixels {
    /// Numbers of a pixel in memory.
    components: usize,
    /// Numbers of a pixel in a page.
    in_page: usize,
}

impl Stack {
    fn new(domain: &Domain, place: Option<&Place>) -> Stack {
        let sizes = domain.grid_sizes();
        let size = |axis: usize| sizes.iter().rev().nth(axis).copied().unwrap_or(1);
        let steps = place.map(|place| {
            let step = |axis: usize| {
                let direction = place.directions.get(axis);
                direction.map_or(1.0, |d| d.iter().map(|x| x * x).sum::<f64>().sqrt())
            };
            // A step without a unit is ignored by readers.
            let unit = place.units.first().filter(|unit| !unit.is_empty());
            let unit = unit.map_or("unit", String::as_str);
            (std::array::from_fn(step), unit.to_string())
        });
        Stack {
            width: size(0),
            height: size(1),
            slices: size(2),
            steps,
        }
    }

    fn write<W: Write + Seek, K: TiffKind>(
        &self,
        encoder: Result<TiffEncoder<W, K>, TiffError>,
        column: &Column<'_>,
        contents: Contents<'_>,
        style: &Style,
    ) -> Result<Told, OutputError> {
        let mut encoder = encoder.map_err(|e| OutputError::new(e.to_string()))?;
        let file = &mut encoder;
        let pixels = Pixels {
            components: column.output.strand_size(),
            in_page: 1,
        };
        if column.range != Range::Usual || column.colours.is_some() {
            return self.write_levels(file, column, style);
        }
        match column.values {
            Values::F32(values) => self.put(file, values, pixels, SampleFormat::IEEEFP),
            Values::F64(values) => self.put(file, values, pixels, SampleFormat::IEEEFP),
            Values::I32(values) => self.put(file, values, pixels, SampleFormat::Int),
            Values::I64(values) => self.put(file, values, pixels, SampleFormat::Int),
            Values::Bool(values) => {
                let values: Vec<u8> = values.iter().map(|&b| u8::from(b != 0)).collect();
                self.put(file, &values, pixels, SampleFormat::Uint)
            }
        }
        .map_err(|e| OutputError::of(column.output, e.to_string()))?;
        Ok((contents.description(), None))
    }

    /// Writes levels of 8 or 16 bits. All slices together are one high picture, so that they have one range.
    fn write_levels<W: Write + Seek, K: TiffKind>(
        &self,
        file: &mut TiffEncoder<W, K>,
        column: &Column<'_>,
        style: &Style,
    ) -> Result<Told, OutputError> {
        let domain = Domain::Grid(vec![self.slices * self.height, self.width]);
        let fail = |message: String| OutputError::of(column.output, message);
        let (levels, tally) = picture(*column, &domain, style.depth, style.nan).map_err(fail)?;
        let components = levels.channels();
        let in_page = if components == 3 { 3 } else { 1 };
        let pixels = Pixels {
            components,
            in_page,
        };
        let samples = levels.samples();
        match style.depth {
            Depth::Eight => {
                let levels: Vec<u8> = samples.iter().map(|&level| level as u8).collect();
                self.put(file, &levels, pixels, SampleFormat::Uint)
            }
            Depth::Sixteen => self.put(file, samples, pixels, SampleFormat::Uint),
        }
        .map_err(|e| fail(e.to_string()))?;
        let bits = match style.depth {
            Depth::Eight => 8,
            Depth::Sixteen => 16,
        };
        let slices = match self.slices {
            1 => String::new(),
            n => format!(" × {n}"),
        };
        let colours = if in_page == 3 { "RGB" } else { "grey" };
        let sizes = format!("{} × {}{slices}", self.width, self.height);
        Ok((format!("{sizes}, {colours}, {bits} bit"), Some(tally)))
    }

    /// Writes the samples of all pages as one block, as ImageJ does, and then the directories of the pages.
    fn put<T: Copy, W: Write + Seek, K: TiffKind>(
        &self,
        file: &mut TiffEncoder<W, K>,
        samples: &[T],
        pixels: Pixels,
        format: SampleFormat,
    ) -> Result<(), TiffError>
    where
        [T]: TiffValue,
    {
        let channels = pixels.components / pixels.in_page;
        let of_page = self.width * self.height * pixels.in_page;
        let mut first = file.image_directory()?;
        let start = first.write_data(&samples[..0])?;
        match channels {
            1 => {
                first.write_data(samples)?;
            }
            _ => {
                for slice in samples.chunks((of_page * channels).max(1)) {
                    for channel in 0..channels {
                        let own = slice.iter().skip(channel).step_by(channels);
                        let own: Vec<T> = own.copied().collect();
                        first.write_data(&own[..])?;
                    }
                }
            }
        }
        let page = Page {
            bytes: (of_page * size_of::<T>()) as u64,
            bits: 8 * size_of::<T>() as u16,
            in_page: pixels.in_page,
            format,
        };
        let description = self.description(channels);
        first.write_tag(Tag::ImageDescription, &*description)?;
        self.describe(&mut first, start, &page)?;
        first.finish()?;
        for n in 1..(channels * self.slices) as u64 {
            let mut next = file.image_directory()?;
            self.describe(&mut next, start + n * page.bytes, &page)?;
            next.finish()?;
        }
        Ok(())
    }

    /// Writes the tags of a page whose samples are at a place of the file.
    fn describe<W: Write + Seek, K: TiffKind>(
        &self,
        directory: &mut DirectoryEncoder<'_, W, K>,
        start: u64,
        page: &Page,
    ) -> Result<(), TiffError> {
        let colours = match page.in_page {
            3 => PhotometricInterpretation::RGB,
            _ => PhotometricInterpretation::BlackIsZero,
        };
        directory.write_tag(Tag::ImageWidth, self.width as u32)?;
        directory.write_tag(Tag::ImageLength, self.height as u32)?;
        directory.write_tag(Tag::BitsPerSample, &vec![page.bits; page.in_page][..])?;
        directory.write_tag(Tag::Compression, CompressionMethod::None)?;
        directory.write_tag(Tag::PhotometricInterpretation, colours)?;
        directory.write_tag(Tag::StripOffsets, K::convert_offset(start)?)?;
        directory.write_tag(Tag::SamplesPerPixel, page.in_page as u16)?;
        directory.write_tag(Tag::RowsPerStrip, self.height as u32)?;
        directory.write_tag(Tag::StripByteCounts, K::convert_offset(page.bytes)?)?;
        directory.write_tag(Tag::SampleFormat, &vec![page.format; page.in_page][..])?;
        if let Some(([x, y, _], _)) = &self.steps {
            directory.write_tag(Tag::ResolutionUnit, ResolutionUnit::None)?;
            directory.write_tag(Tag::XResolution, per_unit(*x))?;
            directory.write_tag(Tag::YResolution, per_unit(*y))?;
        }
        Ok(())
    }

    /// The lines of ImageJ about the pages.
    fn description(&self, channels: usize) -> String {
        let slices = self.slices;
        let mut text = format!("ImageJ=1.11a\nimages={}\n", channels * slices);
        if channels > 1 {
            text += &format!("channels={channels}\n");
        }
        if slices > 1 {
            text += &format!("slices={slices}\n");
        }
        if channels > 1 && slices > 1 {
            text += "hyperstack=true\n";
        }
        if let Some(([.., z], unit)) = &self.steps {
            text += &format!("unit={unit}\nspacing={z}\n");
        }
        text + "loop=false\n"
    }
}

/// Pixels per unit of length, as a fraction: exact if it has few digits, else to nine digits.
fn per_unit(step: f64) -> Rational {
    let density = 1.0 / step;
    let most = f64::from(u32::MAX);
    let fits = |d: &f64| (density * d).round() <= most && density * d >= 0.5;
    let exact = |d: &&f64| ((density * **d).round() / **d - density).abs() <= 1e-12 * density;
    let powers: Vec<f64> = (0..10).map(|n| 10_f64.powi(n)).filter(fits).collect();
    let d = powers.iter().find(exact).or(powers.last());
    let d = d.copied().unwrap_or(1.0);
    Rational {
        n: (density * d).round().clamp(1.0, most) as u32,
        d: d as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_fractions() {
        for (step, tolerance) in [
            (0.1, 0.0),
            (0.25, 0.0),
            (1.0, 0.0),
            (3.0, 1e-9),
            (0.3, 1e-9),
            (1e-4, 0.0),
            (1e5, 1e-9),
            (2.0 / 7.0, 1e-9),
        ] {
            let Rational { n, d } = per_unit(step);
            let found = f64::from(d) / f64::from(n);
            assert!((found - step).abs() <= tolerance * step, "{step}: {n}/{d}");
        }
    }
}
