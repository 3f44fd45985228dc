//! Compression of bytes. Nothing is unpacked to more bytes than are expected.

use super::blosc;
use super::plain::{bounded, inflated_zlib, lz4, too_long, unshuffled, zstd};

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
            Packing::Shuffle(size) => Ok(unshuffled(bytes, *size)),
        }
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
