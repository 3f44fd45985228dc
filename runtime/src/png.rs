//! PNG pictures: reading and writing stored integers, never rescaled. How numbers become such integers is the business of
//! [`crate::output::picture`].

mod encode;

pub(crate) use encode::{animate, compress};

use std::fmt;
use std::fs;
use std::io::{Cursor, ErrorKind, Write};
use std::path::Path;

use ::png::{BitDepth, DecodingError, Limits, Reader, Transformations};

use crate::memory;

/// What deflate can make of one byte at most; a picture larger than that for its file is not one.
const MAX_EXPANSION: u64 = 1032;

/// A picture: rows from top to bottom, each from left to right, the channels of one pixel together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Png {
    width: usize,
    height: usize,
    channels: usize,
    depth: Depth,
    samples: Vec<u16>,
}

/// Bits of one channel of one pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// 0 to 255.
    #[default]
    Eight,
    /// 0 to 65535.
    Sixteen,
}

impl Depth {
    /// The largest integer.
    pub fn max(self) -> u16 {
        match self {
            Depth::Eight => u16::from(u8::MAX),
            Depth::Sixteen => u16::MAX,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Depth::Eight => 1,
            Depth::Sixteen => 2,
        }
    }
}

/// Which numbers become black and white.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Range {
    /// 0 to 1 for real numbers and truth values; integers are stored as they are.
    #[default]
    Usual,
    /// The first becomes 0, the second the largest integer; they may be in either order.
    Between(f64, f64),
    /// From the lowest to the highest finite value of the array.
    Auto,
    /// Between these two percentiles of the finite values of the array.
    Percentiles(f64, f64),
}

/// Why a picture could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PngError {
    file: String,
    message: String,
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = if self.file.is_empty() {
            "png"
        } else {
            &self.file
        };
        write!(f, "{file}: {}", self.message)
    }
}

impl std::error::Error for PngError {}

fn error(message: impl Into<String>) -> PngError {
    PngError {
        file: String::new(),
        message: message.into(),
    }
}

impl PngError {
    /// The error message, without the file name.
    pub fn message(&self) -> &str {
        &self.message
    }

    fn in_file(self, path: &Path) -> PngError {
        PngError {
            file: path.display().to_string(),
            ..self
        }
    }
}

impl Png {
    /// A picture of 1 (grey), 2 (grey, opacity), 3 (red, green, blue) or 4 (and opacity) channels.
    pub fn new(
        width: usize,
        height: usize,
        channels: usize,
        depth: Depth,
        samples: Vec<u16>,
    ) -> Result<Png, PngError> {
        if !(1..=4).contains(&channels) {
            return Err(error(format!("found {channels} channels, expected 1 to 4")));
        }
        let largest = u32::MAX as usize / 2;
        if width == 0 || height == 0 || width > largest || height > largest {
            return Err(error(format!(
                "a picture cannot have {width}x{height} pixels"
            )));
        }
        let expected = width
            .checked_mul(height)
            .and_then(|n| n.checked_mul(channels));
        if Some(samples.len()) != expected {
            return Err(error(format!(
                "found {} values, expected {width}x{height} pixels of {channels} channels",
                samples.len()
            )));
        }
        if let Some(sample) = samples.iter().find(|s| **s > depth.max()) {
            return Err(error(format!("value {sample} exceeds {}", depth.max())));
        }
        Ok(Png {
            width,
            height,
            channels,
            depth,
            samples,
        })
    }

    /// Pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Values per pixel.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Bits of one value.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The values, the channels of one pixel together, rows from top to bottom.
    pub fn samples(&self) -> &[u16] {
        &self.samples
    }
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Png, PngError> {
    let bytes = fs::read(path).map_err(|e| error(e.to_string()).in_file(path))?;
    decode(&bytes).map_err(|e| e.in_file(path))
}

/// What the header of a picture says.
#[derive(Clone, Copy)]
pub(crate) struct Announced {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) channels: usize,
    pub(crate) depth: Depth,
}

impl Announced {
    fn row_bytes(&self) -> usize {
        self.width * self.channels * self.depth.bytes()
    }
}

fn fail(e: DecodingError) -> PngError {
    match e {
        DecodingError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => {
            error("the file is cut off")
        }
        e => error(e.to_string()),
    }
}

/// A picture whose header was read, and whose rows were not.
pub(crate) struct Decoder<'b> {
    reader: Reader<Cursor<&'b [u8]>>,
    pub(crate) announced: Announced,
    /// See [`grey_stretch`].
    stretch: u16,
}

impl<'b> Decoder<'b> {
    /// Reads the header of the picture in `bytes`.
    ///
    /// # Errors
    /// It is not a picture, or the bytes are too few for it.
    pub(crate) fn new(bytes: &'b [u8]) -> Result<Decoder<'b>, PngError> {
        let mut decoder = ::png::Decoder::new_with_limits(Cursor::new(bytes), NO_LIMITS);
        // Texts and colour profiles are not used, and may be a thousand times as long as the file when they are unpacked.
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        decoder.set_transformations(Transformations::EXPAND);
        let reader = decoder.read_info().map_err(fail)?;
        let announced = announced(&reader, bytes.len() as u64)?;
        Ok(Decoder {
            reader,
            announced,
            stretch: grey_stretch(bytes),
        })
    }

    /// Gives the rows to `sink` from top to bottom, one at a time; a picture that is interlaced comes as a whole.
    ///
    /// # Errors
    /// The picture is damaged, or there is no memory for it.
    pub(crate) fn rows(mut self, sink: &mut dyn FnMut(Vec<u16>)) -> Result<(), PngError> {
        if self.reader.info().interlaced {
            return self.interlaced(sink);
        }
        for row in 0..self.announced.height {
            let bytes = self.reader.next_row().map_err(fail)?;
            let bytes = bytes.filter(|bytes| bytes.data().len() == self.announced.row_bytes());
            let bytes = bytes.ok_or_else(|| error(format!("row {row} is not complete")))?;
            sink(stored(self.announced, self.stretch, bytes.data()));
        }
        // The end of the compressed data has a checksum.
        self.reader.next_row().map_err(fail)?;
        Ok(())
    }

    fn interlaced(mut self, sink: &mut dyn FnMut(Vec<u16>)) -> Result<(), PngError> {
        let all = self.announced.row_bytes() * self.announced.height;
        let _claim = memory::claim(all as u64).map_err(|shortage| error(shortage.to_string()))?;
        let mut pixels = vec![0; all];
        self.reader.next_frame(&mut pixels).map_err(fail)?;
        for row in pixels.chunks_exact(self.announced.row_bytes()) {
            sink(stored(self.announced, self.stretch, row));
        }
        Ok(())
    }
}

/// The decoder needs no limits of its own: memory for pixels is claimed, and chunks that could unpack to any size are ignored.
const NO_LIMITS: Limits = Limits { bytes: usize::MAX };

fn announced(reader: &Reader<Cursor<&[u8]>>, length: u64) -> Result<Announced, PngError> {
    let (width, height) = reader.info().size();
    let (color, bits) = reader.output_color_type();
    let depth = match bits {
        BitDepth::Eight => Depth::Eight,
        BitDepth::Sixteen => Depth::Sixteen,
        other => return Err(error(format!("pixels of {other:?} bits are not supported"))),
    };
    let announced = Announced {
        width: width as usize,
        height: height as usize,
        channels: color.samples(),
        depth,
    };
    let pixels = u64::from(width) * u64::from(height);
    let bytes = pixels.saturating_mul((announced.channels * depth.bytes()) as u64);
    if bytes > length.saturating_mul(MAX_EXPANSION) {
        return Err(error(format!(
            "the file is too short for the {width}x{height} pixels it announces"
        )));
    }
    Ok(announced)
}

/// The stored integers of some pixels.
fn stored(announced: Announced, stretch: u16, bytes: &[u8]) -> Vec<u16> {
    match announced.depth {
        Depth::Eight => {
            // An opacity beside the grey value was not stretched.
            let stored = |(i, &b): (usize, &u8)| {
                let stretched = i % announced.channels == 0;
                u16::from(b) / if stretched { stretch } else { 1 }
            };
            bytes.iter().enumerate().map(stored).collect()
        }
        Depth::Sixteen => {
            let (pairs, _) = bytes.as_chunks::<2>();
            pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect()
        }
    }
}

/// Reads a picture from memory. Palettes become colours; grey values of 1, 2 and 4 bits stay as they are.
pub fn decode(bytes: &[u8]) -> Result<Png, PngError> {
    let decoder = Decoder::new(bytes)?;
    let Announced {
        width,
        height,
        channels,
        depth,
    } = decoder.announced;
    let mut samples = Vec::new();
    decoder.rows(&mut |row| samples.extend(row))?;
    Png::new(width, height, channels, depth, samples)
}

/// The factor by which the decoder stretches grey values of 1, 2 or 4 bits to eight; 1 for all other pictures.
fn grey_stretch(bytes: &[u8]) -> u16 {
    // The header chunk comes first: depth and colour type follow the signature, its length and name, and two sizes.
    const GREY: u8 = 0;
    match bytes.get(24..26) {
        Some([1, GREY]) => 255,
        Some([2, GREY]) => 85,
        Some([4, GREY]) => 17,
        _ => 1,
    }
}

/// Writes a picture to a stream, on the current rayon pool.
pub fn encode(png: &Png, out: &mut dyn Write) -> Result<(), PngError> {
    encode_with(png, None, out)
}

/// The same with a text in Latin letters under the keyword `Diderot`.
pub(crate) fn encode_with(
    png: &Png,
    text: Option<&str>,
    out: &mut dyn Write,
) -> Result<(), PngError> {
    encode::encode(png, text, out).map_err(|e| error(e.to_string()))
}
