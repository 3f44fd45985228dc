//! The samples of VTK's XML files where they are not the bytes of the file: numbers in text up to the next tag, base64, compressed
//! blocks, or compressed blocks in base64.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::lz4;
use crate::nrrd::{Decompressed, Endian};

/// How samples are packed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packing {
    /// Bytes of the file before them.
    pub(crate) start: usize,
    /// They are numbers in text, which end at the next tag; nothing else holds of them.
    pub(crate) text: bool,
    pub(crate) base64: bool,
    pub(crate) compression: Option<Compression>,
    /// The numbers that describe blocks.
    pub(crate) width: HeaderType,
    pub(crate) endian: Endian,
}

/// How blocks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Zlib,
    Lz4,
}

impl Compression {
    /// What the attribute `compressor` of a file says.
    ///
    /// # Errors
    /// The name of a compression that is not read.
    pub(crate) fn named(compressor: Option<&str>) -> Result<Option<Compression>, &str> {
        match compressor {
            None => Ok(None),
            Some("vtkZLibDataCompressor") => Ok(Some(Compression::Zlib)),
            Some("vtkLZ4DataCompressor") => Ok(Some(Compression::Lz4)),
            Some(other) => Err(other
                .trim_start_matches("vtk")
                .trim_end_matches("DataCompressor")),
        }
    }
}

/// The numbers in front of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderType {
    /// Four bytes.
    Narrow,
    /// Eight bytes.
    Wide,
}

impl HeaderType {
    pub(crate) fn bytes(self) -> usize {
        match self {
            HeaderType::Narrow => 4,
            HeaderType::Wide => 8,
        }
    }
}

impl Packing {
    /// The bytes of the samples in a stream at the beginning of the file.
    pub(crate) fn unpack<'a>(
        self,
        mut stream: Box<dyn BufRead + 'a>,
    ) -> Result<Box<dyn BufRead + 'a>, String> {
        let fail = |e: io::Error| format!("the samples cannot be unpacked: {e}");
        io::copy(
            &mut stream.by_ref().take(self.start as u64),
            &mut io::sink(),
        )
        .map_err(fail)?;
        if self.text {
            return Ok(Box::new(BeforeTag::new(stream)));
        }
        let mut bytes: Box<dyn Read + 'a> = match self.base64 {
            // The buffer asks for many bytes at a time, as the decoder wants it.
            true => Box::new(BufReader::new(Base64 { text: stream })),
            false => Box::new(stream),
        };
        let Some(compression) = self.compression else {
            self.number(&mut bytes).map_err(fail)?;
            return Ok(Box::new(BufReader::new(bytes)));
        };
        let blocks = self.number(&mut bytes).map_err(fail)?;
        // The sizes of a block before compression, of the last one, and of each after it.
        let sizes = blocks
            .saturating_add(2)
            .saturating_mul(self.width.bytes() as u64);
        let mut table = Vec::new();
        bytes
            .by_ref()
            .take(sizes)
            .read_to_end(&mut table)
            .map_err(fail)?;
        if table.len() as u64 != sizes {
            return Err("the table of compressed blocks is cut off".to_string());
        }
        let numbers = table.chunks(self.width.bytes()).map(|n| self.decode(n));
        let mut numbers = numbers.collect::<Vec<_>>().into_iter();
        let longest = numbers.next().unwrap_or(0).max(numbers.next().unwrap_or(0));
        Ok(Box::new(BufReader::new(Blocks {
            packed: bytes,
            compression,
            longest: usize::try_from(longest).unwrap_or(usize::MAX),
            lengths: numbers,
            block: None,
        })))
    }

    fn number(self, bytes: &mut dyn Read) -> io::Result<u64> {
        let mut number = [0; 8];
        let number = &mut number[..self.width.bytes()];
        bytes.read_exact(number)?;
        Ok(self.decode(number))
    }

    fn decode(self, bytes: &[u8]) -> u64 {
        let join = |all: u64, byte: &u8| all << 8 | u64::from(*byte);
        match self.endian {
            Endian::Big => bytes.iter().fold(0, join),
            Endian::Little => bytes.iter().rev().fold(0, join),
        }
    }
}

/// A text up to its next tag, which may touch the last number.
struct BeforeTag<R> {
    text: R,
    /// Bytes that were seen to be before the tag, so that none is looked at twice.
    clear: usize,
    /// Whether the tag is behind them.
    ended: bool,
}

impl<R> BeforeTag<R> {
    fn new(text: R) -> BeforeTag<R> {
        BeforeTag {
            text,
            clear: 0,
            ended: false,
        }
    }
}

impl<R: BufRead> BufRead for BeforeTag<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let buffer = self.text.fill_buf()?;
        if self.clear == 0 && !self.ended {
            let end = buffer.iter().position(|b| *b == b'<');
            self.clear = end.unwrap_or(buffer.len());
            self.ended = end.is_some();
        }
        Ok(&buffer[..self.clear.min(buffer.len())])
    }

    fn consume(&mut self, count: usize) {
        self.clear -= count;
        self.text.consume(count);
    }
}

impl<R: BufRead> Read for BeforeTag<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

/// The contents of blocks that are compressed one by one.
struct Blocks<R> {
    packed: R,
    compression: Compression,
    /// The most bytes that a block has when it is unpacked.
    longest: usize,
    lengths: std::vec::IntoIter<u64>,
    block: Option<Box<dyn Read>>,
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(block) = &mut self.block {
                let read = block.read(out)?;
                if read > 0 || out.is_empty() {
                    return Ok(read);
                }
            }
            let Some(length) = self.lengths.next() else {
                return Ok(0);
            };
            let mut packed = Vec::new();
            self.packed.by_ref().take(length).read_to_end(&mut packed)?;
            self.block = Some(match self.compression {
                Compression::Zlib => Box::new(Decompressed::gzip(Cursor::new(packed))),
                Compression::Lz4 => Box::new(Cursor::new(lz4::unpack(&packed, self.longest)?)),
            });
        }
    }
}

/// The bytes spelled by base64. Blanks are ignored; after padding another run of it may follow, and what cannot be part of
/// any ends it.
struct Base64<R> {
    text: R,
}

impl<R: BufRead> Base64<R> {
    /// The next four digits, and how many of them are none but padding.
    fn group(&mut self) -> io::Result<Option<([u8; 4], usize)>> {
        let (mut digits, mut count, mut padding) = ([0; 4], 0, 0);
        while count < 4 {
            let Some(&byte) = self.text.fill_buf()?.first() else {
                break;
            };
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' => {
                    padding += 1;
                    0
                }
                _ if byte.is_ascii_whitespace() => {
                    self.text.consume(1);
                    continue;
                }
                _ => break,
            };
            self.text.consume(1);
            digits[count] = digit;
            count += 1;
        }
        Ok((count == 4 && padding < 3).then_some((digits, padding)))
    }
}

impl<R: BufRead> Read for Base64<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        // A group is three bytes at most; a rest of `out` that is too short for a group stays empty.
        while out.len() - written >= 3 {
            let Some((digits, padding)) = self.group()? else {
                break;
            };
            let all = digits.iter().fold(0_u32, |all, d| all << 6 | u32::from(*d));
            let bytes = &all.to_be_bytes()[1..4 - padding];
            out[written..written + bytes.len()].copy_from_slice(bytes);
            written += bytes.len();
        }
        Ok(written)
    }
}
