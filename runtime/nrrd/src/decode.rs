//! From the bytes of a data file to samples, piece by piece.
//!
//! Takes a stream, how the samples are stored in it and how many are wanted; gives them in pieces of bounded size, in
//! order. Memory never grows with what a header claims, only with what the stream delivers. Bytes after the wanted
//! samples are ignored.

use std::io::{self, BufRead, BufReader, ErrorKind as IoErrorKind, Read};

use super::error::{ErrorKind, NrrdError};
use super::samples::{Sample, Samples};
use super::streams::{Decompressed, HexDigits};
use super::vocabulary::{Encoding, Endian, SampleType};

/// Bytes of one piece; a multiple of every sample size.
const PIECE: usize = 1 << 16;

/// How the samples are stored in one stream.
pub(super) struct Layout {
    pub(super) sample_type: SampleType,
    /// Bytes of one sample.
    pub(super) sample_size: usize,
    pub(super) encoding: Encoding,
    pub(super) endian: Endian,
    pub(super) line_skip: usize,
    pub(super) byte_skip: i64,
    /// Samples wanted.
    pub(super) count: usize,
    /// Bytes that may be kept in memory.
    pub(super) limit: usize,
}

/// Takes the samples as they come.
pub(super) type Sink<'a> = dyn FnMut(Samples) -> Result<(), NrrdError> + 'a;

/// The most bytes that one encoded byte can expand to. Two bits of a deflated block can repeat up to 258 bytes. A block of bzip2
/// encodes up to 255 equal bytes as five; it can have 900,000 bytes in that form, which it compresses to about forty.
const MOST_OF_GZIP: u64 = 1032;
const MOST_OF_BZIP2: u64 = 1 << 21;

/// The most samples that a stream of `length` bytes can hold.
pub(super) fn most_samples(layout: &Layout, length: u64) -> usize {
    let skipped = u64::try_from(layout.byte_skip).unwrap_or(0);
    let bytes = match layout.encoding {
        Encoding::Raw => length.saturating_sub(skipped),
        Encoding::Hex => length.saturating_sub(skipped) / 2,
        // A digit and a blank at least, but for the last.
        Encoding::Ascii => {
            let numbers = length.saturating_sub(skipped).div_ceil(2);
            return usize::try_from(numbers).unwrap_or(usize::MAX);
        }
        Encoding::Gzip => length.saturating_mul(MOST_OF_GZIP).saturating_sub(skipped),
        Encoding::Bzip2 => length.saturating_mul(MOST_OF_BZIP2).saturating_sub(skipped),
    };
    let samples = bytes / layout.sample_size.max(1) as u64;
    usize::try_from(samples).unwrap_or(usize::MAX)
}

fn data_error(message: impl Into<String>) -> NrrdError {
    NrrdError::new(ErrorKind::Data, message)
}

/// A failure of a stream: damaged compression shows as one, and so does a compressed stream that is cut off.
fn stream_error(layout: &Layout, error: io::Error) -> NrrdError {
    match (layout.encoding, error.kind()) {
        (Encoding::Gzip | Encoding::Bzip2, IoErrorKind::UnexpectedEof) => {
            data_error(format!("the {} data are cut off", layout.encoding))
        }
        (Encoding::Gzip | Encoding::Bzip2, _) => {
            data_error(format!("the {} data are damaged: {error}", layout.encoding))
        }
        (Encoding::Raw | Encoding::Ascii | Encoding::Hex, IoErrorKind::InvalidData) => {
            data_error(error.to_string())
        }
        (Encoding::Raw | Encoding::Ascii | Encoding::Hex, _) => {
            NrrdError::new(ErrorKind::Io, error.to_string())
        }
    }
}

/// Gives the samples of one stream to `sink`, piece by piece.
pub(super) fn decode(
    mut stream: &mut dyn BufRead,
    layout: &Layout,
    sink: &mut Sink<'_>,
) -> Result<(), NrrdError> {
    skip_lines(&mut stream, layout)?;
    match layout.encoding {
        Encoding::Raw => decode_bytes(stream, layout, sink),
        Encoding::Gzip => {
            let members = Decompressed::gzip(stream);
            decode_bytes(&mut BufReader::new(members), layout, sink)
        }
        Encoding::Bzip2 => {
            let members = Decompressed::bzip2(stream);
            decode_bytes(&mut BufReader::new(members), layout, sink)
        }
        Encoding::Hex => {
            forbid_negative_skip(layout)?;
            skip_bytes(stream, layout)?;
            let digits = HexDigits::new(stream);
            deliver_bytes(&mut BufReader::new(digits), layout, sink)
        }
        Encoding::Ascii => {
            forbid_negative_skip(layout)?;
            skip_bytes(stream, layout)?;
            deliver_numbers(stream, layout, sink)
        }
    }
}

fn forbid_negative_skip(layout: &Layout) -> Result<(), NrrdError> {
    if layout.byte_skip >= 0 {
        return Ok(());
    }
    let message = format!(
        "`byte skip: {}` counts from the end, which encoding `{}` does not allow",
        layout.byte_skip, layout.encoding
    );
    Err(data_error(message))
}

fn skip_lines(stream: &mut dyn BufRead, layout: &Layout) -> Result<(), NrrdError> {
    for skipped in 0..layout.line_skip {
        let found = stream.skip_until(b'\n');
        if found.map_err(|e| NrrdError::new(ErrorKind::Io, e.to_string()))? == 0 {
            return Err(data_error(format!(
                "the data have {skipped} lines, fewer than the {} to skip",
                layout.line_skip
            )));
        }
    }
    Ok(())
}

fn skip_bytes(stream: &mut dyn BufRead, layout: &Layout) -> Result<(), NrrdError> {
    let wanted = u64::try_from(layout.byte_skip).unwrap_or(0);
    let skipped =
        io::copy(&mut stream.take(wanted), &mut io::sink()).map_err(|e| stream_error(layout, e))?;
    if skipped < wanted {
        return Err(data_error(format!(
            "the data have {skipped} bytes, fewer than the {wanted} to skip"
        )));
    }
    Ok(())
}

/// Applies the byte skip to a stream of sample bytes, from its beginning or from its end.
fn decode_bytes(
    stream: &mut dyn BufRead,
    layout: &Layout,
    sink: &mut Sink<'_>,
) -> Result<(), NrrdError> {
    if layout.byte_skip >= 0 {
        skip_bytes(stream, layout)?;
        return deliver_bytes(stream, layout, sink);
    }
    let wanted = layout.count.saturating_mul(layout.sample_size);
    let after = usize::try_from(-1 - layout.byte_skip).unwrap_or(usize::MAX);
    let tail = last_bytes(stream, wanted.saturating_add(after), layout)?;
    let data = &tail[..tail.len().saturating_sub(after)];
    deliver_bytes(&mut &data[..], layout, sink)
}

/// At most the last `wanted` bytes of a stream.
fn last_bytes(
    stream: &mut dyn BufRead,
    wanted: usize,
    layout: &Layout,
) -> Result<Vec<u8>, NrrdError> {
    let mut tail = Vec::new();
    loop {
        let piece = stream.take(PIECE as u64).read_to_end(&mut tail);
        let read = piece.map_err(|e| stream_error(layout, e))?;
        let surplus = tail.len().saturating_sub(wanted);
        // Moving the tail down costs its length, so it waits until as much has piled up before it.
        if read == 0 || surplus > wanted.saturating_add(PIECE) {
            tail.drain(..surplus);
        }
        if tail.len() > layout.limit {
            return Err(NrrdError::too_large(tail.len(), layout.limit));
        }
        if read == 0 {
            return Ok(tail);
        }
    }
}

fn too_short(layout: &Layout, found: usize, unit: &str, wanted: usize) -> NrrdError {
    let encoding = layout.encoding;
    data_error(format!(
        "the {encoding} data end after {found} {unit}, expected {wanted}"
    ))
}

/// Delivers exactly the wanted samples of a stream of sample bytes.
fn deliver_bytes(
    stream: &mut dyn BufRead,
    layout: &Layout,
    sink: &mut Sink<'_>,
) -> Result<(), NrrdError> {
    let wanted = layout.count * layout.sample_size;
    let piece = PIECE.next_multiple_of(layout.sample_size);
    let mut delivered = 0;
    let mut bytes = Vec::new();
    while delivered < wanted {
        bytes.clear();
        let want = piece.min(wanted - delivered);
        let read = stream
            .take(want as u64)
            .read_to_end(&mut bytes)
            .map_err(|e| stream_error(layout, e))?;
        delivered += read;
        if read < want {
            return Err(too_short(layout, delivered, "bytes", wanted));
        }
        sink(samples_from(&bytes, layout))?;
    }
    // A compressed stream proves itself sound by its checksum, which stands after the last byte.
    if matches!(layout.encoding, Encoding::Gzip | Encoding::Bzip2) {
        stream.fill_buf().map_err(|e| stream_error(layout, e))?;
    }
    Ok(())
}

fn samples_from(bytes: &[u8], layout: &Layout) -> Samples {
    fn typed<T: Sample>(bytes: &[u8], layout: &Layout) -> Samples {
        T::into_samples(T::from_bytes(bytes, layout.endian))
    }
    match layout.sample_type {
        SampleType::I8 => typed::<i8>(bytes, layout),
        SampleType::U8 => typed::<u8>(bytes, layout),
        SampleType::I16 => typed::<i16>(bytes, layout),
        SampleType::U16 => typed::<u16>(bytes, layout),
        SampleType::I32 => typed::<i32>(bytes, layout),
        SampleType::U32 => typed::<u32>(bytes, layout),
        SampleType::I64 => typed::<i64>(bytes, layout),
        SampleType::U64 => typed::<u64>(bytes, layout),
        SampleType::F32 => typed::<f32>(bytes, layout),
        SampleType::F64 => typed::<f64>(bytes, layout),
        SampleType::Block => Samples::Block {
            size: layout.sample_size,
            bytes: bytes.to_vec(),
        },
    }
}

/// Delivers exactly the wanted numbers of a text.
fn deliver_numbers(
    stream: &mut dyn BufRead,
    layout: &Layout,
    sink: &mut Sink<'_>,
) -> Result<(), NrrdError> {
    match layout.sample_type {
        SampleType::I8 => numbers::<i8>(stream, layout, sink),
        SampleType::U8 => numbers::<u8>(stream, layout, sink),
        SampleType::I16 => numbers::<i16>(stream, layout, sink),
        SampleType::U16 => numbers::<u16>(stream, layout, sink),
        SampleType::I32 => numbers::<i32>(stream, layout, sink),
        SampleType::U32 => numbers::<u32>(stream, layout, sink),
        SampleType::I64 => numbers::<i64>(stream, layout, sink),
        SampleType::U64 => numbers::<u64>(stream, layout, sink),
        SampleType::F32 => numbers::<f32>(stream, layout, sink),
        SampleType::F64 => numbers::<f64>(stream, layout, sink),
        SampleType::Block => Err(data_error(
            "samples of type `block` cannot be read from encoding `ascii`",
        )),
    }
}

fn numbers<T: Sample>(
    stream: &mut dyn BufRead,
    layout: &Layout,
    sink: &mut Sink<'_>,
) -> Result<(), NrrdError> {
    let mut delivered = 0;
    let mut piece: Vec<T> = Vec::new();
    let mut word = Vec::new();
    while delivered + piece.len() < layout.count {
        next_word(stream, &mut word).map_err(|e| stream_error(layout, e))?;
        if word.is_empty() {
            let found = delivered + piece.len();
            return Err(too_short(layout, found, "numbers", layout.count));
        }
        let text = String::from_utf8_lossy(&word);
        // A comma may stand alone between numbers or before one.
        let number = text.strip_prefix(',').unwrap_or(&text);
        if number.is_empty() {
            continue;
        }
        let value = T::from_text(number).ok_or_else(|| {
            let index = delivered + piece.len();
            let name = layout.sample_type;
            data_error(format!(
                "sample {index} is `{text}`, expected a number of type `{name}`"
            ))
        })?;
        piece.push(value);
        if size_of_val(&piece[..]) >= PIECE {
            delivered += piece.len();
            sink(T::into_samples(std::mem::take(&mut piece)))?;
        }
    }
    if !piece.is_empty() {
        sink(T::into_samples(piece))?;
    }
    Ok(())
}

/// The longest word that is read as a number. No type needs this many characters, and a damaged file may be a single word.
const MAX_WORD: usize = 4096;

/// The next word of a text, empty at its end.
fn next_word(stream: &mut dyn BufRead, word: &mut Vec<u8>) -> io::Result<()> {
    word.clear();
    loop {
        let buffer = stream.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let blanks = if word.is_empty() {
            buffer
                .iter()
                .take_while(|b| b.is_ascii_whitespace())
                .count()
        } else {
            0
        };
        let rest = &buffer[blanks..];
        let end = rest.iter().position(u8::is_ascii_whitespace);
        let length = end.unwrap_or(rest.len());
        word.extend_from_slice(&rest[..length.min(MAX_WORD)]);
        let complete = end.is_some() && !word.is_empty();
        let used = blanks + length;
        stream.consume(used);
        if complete || word.len() >= MAX_WORD {
            return Ok(());
        }
    }
}
