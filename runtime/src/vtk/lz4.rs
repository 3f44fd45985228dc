//! Blocks in LZ4's format, as VTK's XML files have them: no frame, no checksum, the length known from elsewhere.

use std::io;

/// The bytes of a block, which are `length` at most.
pub(super) fn unpack(packed: &[u8], length: usize) -> io::Result<Vec<u8>> {
    sequences(packed, length)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a block is not valid LZ4 data"))
}

/// A block is a list of sequences: literal bytes, then a copy of a piece of the output so far.
fn sequences(mut packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    while let Some(token) = take(&mut packed) {
        let plain = run(token >> 4, &mut packed)?;
        let (bytes, rest) = packed.split_at_checked(plain)?;
        if plain > length - out.len() {
            return None;
        }
        out.extend(bytes);
        packed = rest;
        // The last sequence ends here.
        let Some(low) = take(&mut packed) else { break };
        let back = usize::from(low) | usize::from(take(&mut packed)?) << 8;
        let again = run(token & 15, &mut packed)?.checked_add(4)?;
        if back == 0 || back > out.len() || again > length - out.len() {
            return None;
        }
        // The piece may overlap its copy, so it is copied byte by byte.
        for _ in 0..again {
            out.push(out[out.len() - back]);
        }
    }
    Some(out)
}

fn take(packed: &mut &[u8]) -> Option<u8> {
    packed.split_off_first().copied()
}

/// A length: four bits, and bytes that add to it for as long as they are full.
fn run(bits: u8, packed: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(bits);
    if bits == 15 {
        loop {
            let more = take(packed)?;
            length = length.checked_add(usize::from(more))?;
            if more != 255 {
                break;
            }
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn pieces_are_repeated_and_may_overlap() {
        // Three bytes, then 4 + 15 + 2 from three bytes before, then two bytes.
        let packed = [0x3f, b'a', b'b', b'c', 3, 0, 2, 0x20, b'x', b'y'];
        let truth = [&b"abc".repeat(8)[..], b"xy"].concat();
        assert_eq!(unpack(&packed, 26).unwrap(), truth);
        assert!(unpack(&packed, 25).is_err(), "too long");
        for cut in 1..packed.len() - 2 {
            let _ = unpack(&packed[..cut], 26);
        }
        assert!(
            unpack(&[0x10, b'a', 2, 0, 0], 26).is_err(),
            "before the beginning"
        );
        assert!(unpack(&[0x10, b'a', 0, 0, 0], 26).is_err(), "no distance");
    }
}
