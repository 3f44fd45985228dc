//! Compression of bytes. Nothing is unpacked to more bytes than are expected.

use std::io::Read;

use super::blosc;

/// A way in which bytes are packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zlib,
    Zstd,
    Blosc,
    /// A length of four bytes, and a block.
    Lz4,
    /// Four bytes at the end are a sum of the others.
    Crc32c,
    /// Bytes are ordered by their place within numbers of this many bytes.
    Shuffle(usize),
}

impl Packing {
    /// The packing of a name in metadata, with the size of numbers for a shuffle.
    pub(super) fn named(name: &str, size: usize) -> Result<Packing, String> {
        Ok(match name.strip_prefix("numcodecs.").unwrap_or(name) {
            "gzip" => Packing::Gzip,
            "zlib" => Packing::Zlib,
            "zstd" => Packing::Zstd,
            "blosc" => Packing::Blosc,
            "lz4" => Packing::Lz4,
            "crc32c" => Packing::Crc32c,
            "shuffle" => Packing::Shuffle(size.max(1)),
            _ => return Err(format!("the codec `{name}` is not read")),
        })
    }

    /// The bytes of packed ones, `most` at most.
    pub(super) fn unpack(&self, bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
        match self {
            Packing::Gzip => bounded(flate2::read::MultiGzDecoder::new(bytes), most),
            Packing::Zlib => inflated_zlib(bytes, most),
            Packing::Zstd => zstd(bytes, most),
            Packing::Blosc => blosc::unpack(bytes, most),
            Packing::Lz4 => {
                let (length, block) = bytes.split_first_chunk().ok_or("a chunk is cut off")?;
                let length = u32::from_le_bytes(*length) as usize;
                match length <= most {
                    true => lz4(block, length),
                    false => Err(too_long(most)),
                }
            }
            Packing::Crc32c => {
                let (plain, sum) = bytes.split_last_chunk().ok_or("a chunk is cut off")?;
                match crc32c(plain) == u32::from_le_bytes(*sum) {
                    true => Ok(plain.to_vec()),
                    false => Err("the sum of a chunk is wrong: the file is damaged".to_string()),
                }
            }
            Packing::Shuffle(size) => Ok(blosc::unshuffled(bytes, *size)),
        }
    }
}

fn too_long(most: usize) -> String {
    format!("a chunk has more than the {most} bytes that are expected")
}

/// All bytes of a stream, if they are not more than `most`.
fn bounded(stream: impl Read, most: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = stream.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|e| format!("a chunk cannot be decompressed: {e}"))?;
    match bytes.len() <= most {
        true => Ok(bytes),
        false => Err(too_long(most)),
    }
}

pub(super) fn inflated_zlib(bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
    bounded(flate2::read::ZlibDecoder::new(bytes), most)
}

/// A block of LZ4 with so much in it.
pub(in crate::formats) fn lz4(bytes: &[u8], wanted: usize) -> Result<Vec<u8>, String> {
    // A byte stands for 255 at most, so that no memory is taken for more.
    if wanted > bytes.len().saturating_mul(255) {
        return Err("data of LZ4 are cut off".to_string());
    }
    let mut out = vec![0; wanted];
    let length = lz4_flex::block::decompress_into(bytes, &mut out);
    let length = length.map_err(|e| format!("a chunk cannot be decompressed: {e}"))?;
    out.truncate(length);
    Ok(out)
}

/// Zstandard: all frames of the data.
pub(in crate::formats) fn zstd(bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        check_window(rest, most)?;
        let decoder = ruzstd::decoding::StreamingDecoder::new(&mut rest);
        let decoder = decoder.map_err(|e| format!("a chunk cannot be decompressed: {e}"))?;
        out.extend(bounded(decoder, most - out.len())?);
    }
    Ok(out)
}

/// Refuses a frame that wants to look back further than there are bytes: memory is taken for that.
fn check_window(frame: &[u8], most: usize) -> Result<(), String> {
    let least: u64 = 8 << 20;
    let [_, _, _, _, flags, window, ..] = *frame else {
        return Err("data of Zstandard are cut off".to_string());
    };
    let wanted = match flags >> 5 & 1 {
        0 => {
            let base = 1_u64 << (10 + (window >> 3));
            base + base / 8 * u64::from(window & 7)
        }
        _ => return Ok(()),
    };
    match wanted <= (most as u64).next_power_of_two().max(least) {
        true => Ok(()),
        false => Err("a chunk wants more memory than it has bytes".to_string()),
    }
}

/// The sum of Castagnoli.
fn crc32c(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    const TABLE: [u32; 256] = {
        let (mut table, mut byte) = ([0; 256], 0);
        while byte < 256 {
            let (mut sum, mut bit) = (byte as u32, 0);
            while bit < 8 {
                sum = if sum & 1 == 1 {
                    sum >> 1 ^ POLYNOMIAL
                } else {
                    sum >> 1
                };
                bit += 1;
            }
            table[byte] = sum;
            byte += 1;
        }
        table
    };
    let add = |sum: u32, byte: &u8| TABLE[((sum ^ u32::from(*byte)) & 255) as usize] ^ sum >> 8;
    !bytes.iter().fold(!0, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standard() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    #[test]
    fn nothing_is_unpacked_to_more_than_is_expected() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, &[0; 100_000]).unwrap();
        let packed = encoder.finish().unwrap();
        assert!(Packing::Gzip.unpack(&packed, 99_999).is_err());
        assert_eq!(Packing::Gzip.unpack(&packed, 100_000), Ok(vec![0; 100_000]));
        assert!(lz4(&[0; 10], 1 << 30).is_err());
        assert!(zstd(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 0, 0], 10).is_err());
    }
}
