//! Compression of HDF5 that the reader of the format does not have.

use hdf5_reader::FilterRegistry;
use hdf5_reader::error::Error;

use crate::formats::zarr;
use crate::memory::most_unpacked;

/// The numbers under which compressions are registered.
const LZF: u16 = 32000;
const BLOSC: u16 = 32001;
const LZ4: u16 = 32004;
const ZSTD: u16 = 32015;

pub(super) fn register(registry: &mut FilterRegistry) {
    let failed =
        |what: String| Error::InvalidData(format!("a chunk cannot be decompressed: {what}"));
    let damaged = |name: &str| format!("{name} data are damaged");
    registry.register(
        LZF,
        Box::new(move |_, bytes, _| lzf(bytes).ok_or_else(|| failed(damaged("LZF")))),
    );
    registry.register(
        BLOSC,
        Box::new(move |_, bytes, _| {
            zarr::unpack_blosc(bytes, most_unpacked(bytes.len() as u64)).map_err(failed)
        }),
    );
    registry.register(
        LZ4,
        Box::new(move |_, bytes, _| lz4(bytes).ok_or_else(|| failed(damaged("LZ4")))),
    );
    registry.register(
        ZSTD,
        Box::new(move |_, bytes, _| {
            zarr::zstd(bytes, most_unpacked(bytes.len() as u64)).map_err(failed)
        }),
    );
}

/// Bytes that were compressed by LZ4 in blocks: the length of all, that of a block, and before each block how long it is; a block that is
/// as long as its contents is not compressed. The numbers have the highest byte first.
fn lz4(bytes: &[u8]) -> Option<Vec<u8>> {
    let (total, rest) = bytes.split_first_chunk::<8>()?;
    let (block, mut rest) = rest.split_first_chunk::<4>()?;
    let total = usize::try_from(u64::from_be_bytes(*total)).ok()?;
    let block = u32::from_be_bytes(*block) as usize;
    let mut out: Vec<u8> = Vec::new();
    while out.len() < total {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (packed, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        let wanted = block.min(total - out.len());
        match packed.len() == wanted {
            true => out.extend_from_slice(packed),
            false => out.extend(zarr::lz4(packed, wanted).ok()?),
        }
        if wanted == 0 {
            return None;
        }
        rest = after;
    }
    Some(out)
}

/// Bytes that were compressed by LZF: runs as they are, and copies of earlier ones. Three bytes stand for 264 at most.
fn lzf(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    let mut rest = bytes.iter();
    while let Some(&control) = rest.next() {
        if control < 32 {
            let (run, after) = rest.as_slice().split_at_checked(usize::from(control) + 1)?;
            out.extend_from_slice(run);
            rest = after.iter();
            continue;
        }
        let mut length = usize::from(control >> 5);
        if length == 7 {
            length += usize::from(*rest.next()?);
        }
        let back = usize::from(control & 31) << 8 | usize::from(*rest.next()?);
        let from = out.len().checked_sub(back + 1)?;
        // The copy may overlap its own end.
        for at in from..from + length + 2 {
            out.push(out[at]);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_copies_are_unpacked() {
        assert_eq!(lzf(&[2, 1, 2, 3]), Some(vec![1, 2, 3]));
        // One byte, and a copy of it that overlaps itself.
        assert_eq!(lzf(&[0, 7, 0xe0, 1, 0]), Some(vec![7; 11]));
        assert_eq!(lzf(&[5, 1]), None);
        assert_eq!(lzf(&[0x20, 0]), None);
        assert_eq!(lzf(&[]), Some(Vec::new()));
    }
}
