//! Compression of HDF5 that the reader of the format does not have.

use hdf5_reader::FilterRegistry;
use hdf5_reader::error::Error;

/// The number under which h5py's LZF is registered.
const LZF: u16 = 32000;

pub(super) fn register(registry: &mut FilterRegistry) {
    let failed = |what: &str| Error::InvalidData(format!("a chunk cannot be decompressed: {what}"));
    registry.register(
        LZF,
        Box::new(move |_, bytes, _| lzf(bytes).ok_or_else(|| failed("LZF data are damaged"))),
    );
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
