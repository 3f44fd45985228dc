//! Writing pictures: bands of rows are filtered and compressed side by side.
//!
//! Every band is a piece of one deflate stream that ends at a byte and refers to nothing before it, so the pieces of all
//! bands, one after the other, are the stream. Only the checksum of the whole is left to be put together. The crate `png` writes
//! the chunks around it; it has no door for frames that are compressed already, so their control chunks are made here. Runs on the
//! current rayon pool.

use std::io::{self, Write};

use ::png::{BitDepth, ColorType, Encoder, EncodingError, chunk};
use flate2::{Compress, Compression, FlushCompress};
use rayon::prelude::*;

use super::{Depth, Png};

/// The approximate size of a band in bytes. It is much larger than 32 kB, the greatest distance of a repetition that deflate finds.
const BAND: usize = 1 << 18;

/// How a zlib stream begins: deflate with a window of 32 kB, compressed fast.
const ZLIB: [u8; 2] = [0x78, 0x01];

/// Writes a picture to a stream.
pub(super) fn encode(
    png: &Png,
    text: Option<&str>,
    out: &mut dyn Write,
) -> Result<(), EncodingError> {
    let mut encoder = encoder(png, out);
    if let Some(text) = text {
        encoder.add_text_chunk("Diderot".to_string(), text.to_string())?;
    }
    let mut writer = encoder.write_header()?;
    for piece in compress(png)? {
        writer.write_chunk(chunk::IDAT, &piece)?;
    }
    writer.finish()
}

/// Writes an animated picture, in an endless loop: frames like the first picture, by their compressed pixels, each for this
/// fraction of a second.
pub(crate) fn animate(
    first: &Png,
    frames: &[Vec<u8>],
    [numerator, denominator]: [u16; 2],
    out: &mut dyn Write,
) -> Result<(), EncodingError> {
    let mut encoder = encoder(first, out);
    let count = u32::try_from(frames.len()).map_err(io::Error::other)?;
    encoder.set_animated(count, 0)?;
    let mut writer = encoder.write_header()?;
    let mut numbers = (0_u32..).map(u32::to_be_bytes);
    let mut next = || numbers.next().expect("fewer chunks than frames count");
    for (n, frame) in frames.iter().enumerate() {
        let sizes = [first.width, first.height].map(|size| (size as u32).to_be_bytes());
        let delay = [numerator, denominator].map(u16::to_be_bytes);
        // No offset; each frame replaces the one before.
        let (offset, operations) = ([0; 8], [0; 2]);
        let control = [
            &next(),
            &sizes.concat()[..],
            &offset,
            &delay.concat(),
            &operations,
        ];
        writer.write_chunk(chunk::fcTL, &control.concat())?;
        match n {
            0 => writer.write_chunk(chunk::IDAT, frame)?,
            _ => writer.write_chunk(chunk::fdAT, &[&next(), &frame[..]].concat())?,
        }
    }
    writer.finish()
}

/// Writes the chunks around the pixels. `Png::new` keeps both sizes within 31 bits.
fn encoder<'w>(png: &Png, out: &'w mut dyn Write) -> Encoder<'static, &'w mut dyn Write> {
    let mut encoder = Encoder::new(out, png.width as u32, png.height as u32);
    encoder.set_color(match png.channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    encoder.set_depth(match png.depth {
        Depth::Eight => BitDepth::Eight,
        Depth::Sixteen => BitDepth::Sixteen,
    });
    encoder
}

/// The filtered and compressed pixels, in pieces that follow each other.
pub(crate) fn compress(png: &Png) -> io::Result<Vec<Vec<u8>>> {
    let pixel = png.channels * png.depth.bytes();
    let row = png.width * pixel;
    let rows = (BAND / row).max(1);
    let bands = png.height.div_ceil(rows);
    let band = |n: usize| {
        let filtered = filter(png, n * rows..png.height.min((n + 1) * rows), pixel);
        let deflated = deflate(&filtered, n + 1 == bands)?;
        Ok((deflated, Adler::of(&filtered)))
    };
    let compressed: Vec<io::Result<_>> = (0..bands).into_par_iter().map(band).collect();
    let mut pieces = vec![ZLIB.to_vec()];
    let mut checksum = Adler::default();
    for piece in compressed {
        let (deflated, of_piece) = piece?;
        pieces.push(deflated);
        checksum = checksum.followed_by(of_piece);
    }
    pieces.push(checksum.value().to_be_bytes().to_vec());
    Ok(pieces)
}

/// Compresses a piece of a stream, the last one or one that ends at a byte. A piece is whole only when the compressor has left room in what
/// it writes to; until then it is asked again for the same end.
fn deflate(bytes: &[u8], last: bool) -> io::Result<Vec<u8>> {
    let end = if last {
        FlushCompress::Finish
    } else {
        FlushCompress::Sync
    };
    let mut compress = Compress::new(Compression::fast(), false);
    let mut deflated = Vec::new();
    loop {
        deflated.reserve(bytes.len() + BAND / 8);
        let taken = compress.total_in() as usize;
        compress
            .compress_vec(&bytes[taken..], &mut deflated, end)
            .map_err(io::Error::other)?;
        if deflated.len() < deflated.capacity() {
            return Ok(deflated);
        }
    }
}

/// The bytes of rows, each after the number of its filter: the one whose bytes are the smallest in sum.
fn filter(png: &Png, rows: std::ops::Range<usize>, pixel: usize) -> Vec<u8> {
    let row = png.width * pixel;
    let mut filtered = Vec::with_capacity(rows.len() * (row + 1));
    let mut above = vec![0; row];
    let mut here = vec![0; row];
    if rows.start > 0 {
        bytes_of_row(png, rows.start - 1, &mut above);
    }
    let mut tries: [Vec<u8>; 4] = std::array::from_fn(|_| vec![0; row]);
    for y in rows {
        bytes_of_row(png, y, &mut here);
        let [plain, sub, up, paeth] = &mut tries;
        plain.copy_from_slice(&here);
        sub[..pixel].copy_from_slice(&here[..pixel]);
        difference(&here[pixel..], &here[..row - pixel], &mut sub[pixel..]);
        difference(&here, &above, up);
        difference(&here[..pixel], &above[..pixel], &mut paeth[..pixel]);
        for x in pixel..row {
            let (left, over, corner) = (here[x - pixel], above[x], above[x - pixel]);
            paeth[x] = here[x].wrapping_sub(nearest(left, over, corner));
        }
        let sum = |bytes: &[u8]| -> u64 {
            let sizes = bytes.iter().map(|&b| u64::from((b as i8).unsigned_abs()));
            sizes.sum()
        };
        let numbers = [0, 1, 2, 4];
        let best = (0..4).min_by_key(|&n| sum(&tries[n])).unwrap_or(0);
        filtered.push(numbers[best]);
        filtered.extend_from_slice(&tries[best]);
        std::mem::swap(&mut above, &mut here);
    }
    filtered
}

/// `a - b`, byte by byte.
fn difference(a: &[u8], b: &[u8], out: &mut [u8]) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = a.wrapping_sub(*b);
    }
}

/// Of three neighbours the one nearest to `left + over - corner`; the first of equals.
fn nearest(left: u8, over: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, over, corner].map(i16::from);
    let (to_left, to_over) = ((b - c).abs(), (a - c).abs());
    let to_corner = (a + b - 2 * c).abs();
    if to_left <= to_over && to_left <= to_corner {
        left
    } else if to_over <= to_corner {
        over
    } else {
        corner
    }
}

/// The bytes of a row as a file has them: the higher one first.
fn bytes_of_row(png: &Png, y: usize, bytes: &mut [u8]) {
    let count = png.width * png.channels;
    let samples = &png.samples[y * count..(y + 1) * count];
    match png.depth {
        Depth::Eight => {
            for (byte, &sample) in bytes.iter_mut().zip(samples) {
                *byte = sample as u8;
            }
        }
        Depth::Sixteen => {
            for (pair, sample) in bytes.chunks_exact_mut(2).zip(samples) {
                pair.copy_from_slice(&sample.to_be_bytes());
            }
        }
    }
}

/// The checksum Adler-32 of some bytes: one more than their sum, the sum of what that is after each byte, and their number.
#[derive(Clone, Copy)]
struct Adler {
    sum: u64,
    sums: u64,
    count: u64,
}

impl Default for Adler {
    fn default() -> Adler {
        Adler {
            sum: 1,
            sums: 0,
            count: 0,
        }
    }
}

impl Adler {
    const MODULUS: u64 = 65521;

    fn of(bytes: &[u8]) -> Adler {
        let mut adler = Adler::default();
        // This many bytes overflow neither sum.
        for part in bytes.chunks(1 << 20) {
            for &byte in part {
                adler.sum += u64::from(byte);
                adler.sums += adler.sum;
            }
            adler.sum %= Adler::MODULUS;
            adler.sums %= Adler::MODULUS;
        }
        adler.count = bytes.len() as u64;
        adler
    }

    /// That of these bytes and then others. The others began with a sum of 1, not with that of these.
    fn followed_by(self, next: Adler) -> Adler {
        let more = self.sum + Adler::MODULUS - 1;
        let sums = self.sums + next.sums + next.count % Adler::MODULUS * more;
        Adler {
            sum: (more + next.sum) % Adler::MODULUS,
            sums: sums % Adler::MODULUS,
            count: self.count + next.count,
        }
    }

    fn value(self) -> u32 {
        (self.sums << 16 | self.sum) as u32
    }
}
