//! The samples of VTK's XML files where they are not the bytes of the file: numbers in text up to the next tag, base64, compressed
//! blocks, or compressed blocks in base64.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::base64::Base64;
use super::character_data::CharacterData;
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
            return Ok(Box::new(CharacterData::new(stream)));
        }
        let mut bytes: Box<dyn Read + 'a> = match self.base64 {
            // The buffer asks for many bytes at a time, as the decoder wants it.
            true => Box::new(BufReader::new(Base64::new(CharacterData::new(stream)))),
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
                Compression::Lz4 => Box::new(Cursor::new(lz4(&packed, self.longest)?)),
            });
        }
    }
}

/// The bytes of a block in LZ4's format, which are `longest` at most. A block has no frame and no checksum.
fn lz4(packed: &[u8], longest: usize) -> io::Result<Vec<u8>> {
    // A byte stands for 255 bytes at most, so a short block cannot ask for much memory.
    let mut bytes = vec![0; longest.min(packed.len().saturating_mul(255))];
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "a block is not valid LZ4 data");
    let length = lz4_flex::block::decompress_into(packed, &mut bytes).map_err(invalid)?;
    bytes.truncate(length);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::lz4;

    #[test]
    fn blocks_of_lz4_are_unpacked_within_their_bound() {
        // Three bytes, then 4 + 15 + 2 from three bytes before, then two bytes.
        let packed = [0x3f, b'a', b'b', b'c', 3, 0, 2, 0x20, b'x', b'y'];
        let truth = [&b"abc".repeat(8)[..], b"xy"].concat();
        assert_eq!(lz4(&packed, 26).unwrap(), truth);
        assert_eq!(lz4(&packed, usize::MAX).unwrap(), truth);
        assert!(lz4(&packed, 25).is_err(), "too long");
        for cut in 1..packed.len() - 2 {
            let _ = lz4(&packed[..cut], 26);
        }
        assert!(
            lz4(&[0x10, b'a', 2, 0, 0], 26).is_err(),
            "before the beginning"
        );
        assert!(lz4(&[0x10, b'a', 0, 0, 0], 26).is_err(), "no distance");
    }
}
