//! A look at the first directory of a TIFF before the decoder sees it: the decoder makes room for its entries before a
//! limit can be set.

use std::io::{self, Read, Seek, SeekFrom};

/// Bytes of a value of each type, by the number of the type.
const VALUE_BYTES: [u64; 19] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];

/// Numbers of a file in its byte order. Offsets and counts are longer in large files (BigTIFF).
struct Numbers<'r, R> {
    file: &'r mut R,
    big_endian: bool,
    large: bool,
}

impl<R: Read> Numbers<'_, R> {
    fn number(&mut self, bytes: usize) -> io::Result<u64> {
        let mut buffer = [0; 8];
        self.file.read_exact(&mut buffer[..bytes])?;
        if self.big_endian {
            buffer[..bytes].reverse();
        }
        Ok(u64::from_le_bytes(buffer))
    }

    /// A number that is as long as an offset.
    fn long(&mut self) -> io::Result<u64> {
        self.number(if self.large { 8 } else { 4 })
    }
}

/// Whether the entries of the first directory can be in a file of `length` bytes. A file without a directory is left to the
/// decoder.
pub(super) fn fits<R: Read + Seek>(file: &mut R, length: u64) -> bool {
    let fits = first_directory(file, length).unwrap_or(true);
    fits && file.rewind().is_ok()
}

fn first_directory<R: Read + Seek>(file: &mut R, length: u64) -> io::Result<bool> {
    let mut numbers = Numbers {
        file,
        big_endian: false,
        large: false,
    };
    numbers.big_endian = numbers.number(2)? == u64::from(u16::from_le_bytes(*b"MM"));
    numbers.large = numbers.number(2)? == 43;
    if numbers.large {
        // The length of offsets, and nothing.
        numbers.number(4)?;
    }
    let start = numbers.long()?;
    numbers.file.seek(SeekFrom::Start(start))?;
    let entries = numbers.number(if numbers.large { 8 } else { 2 })?;
    for _ in 0..entries {
        let _tag = numbers.number(2)?;
        let kind = numbers.number(2)?;
        let (count, _value) = (numbers.long()?, numbers.long()?);
        let bytes = VALUE_BYTES.get(kind as usize).copied().unwrap_or(0);
        if count.checked_mul(bytes).is_none_or(|bytes| bytes > length) {
            return Ok(false);
        }
    }
    Ok(true)
}
