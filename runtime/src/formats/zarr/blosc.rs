//! Blosc: blocks of compressed bytes, which may be ordered by their place within numbers.

use super::plain::{inflated_zlib, lz4, unshuffled, zstd};

/// The longest number whose bytes are compressed apart, and the fewest bytes for which they are.
const MOST_SPLITS: usize = 16;
const LEAST_OF_SPLIT: usize = 128;

/// The bytes of a buffer, which must not be more than `limit`.
pub(in crate::formats) fn unpack(bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let cut = || "a buffer of Blosc is cut off".to_string();
    let word = |at: usize| {
        let word = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(word)).ok()
    };
    let head = bytes.first_chunk::<16>().ok_or_else(cut)?;
    let (flags, size) = (head[2], usize::from(head[3]).max(1));
    let (total, block) = (word(4).ok_or_else(cut)?, word(8).ok_or_else(cut)?);
    if total > limit {
        return Err(format!(
            "a buffer of Blosc has {total} bytes, expected {limit}"
        ));
    }
    if flags & 2 != 0 {
        let plain = bytes.get(16..16 + total).ok_or_else(cut)?;
        return Ok(plain.to_vec());
    }
    if total == 0 {
        return Ok(Vec::new());
    }
    if block == 0 || block > total {
        return Err("a buffer of Blosc has blocks of a wrong size".to_string());
    }
    let mut out = Vec::with_capacity(total);
    for index in 0..total.div_ceil(block) {
        let start = word(16 + 4 * index).ok_or_else(cut)?;
        let length = block.min(total - out.len());
        let whole = length == block;
        let split = flags & 0x10 == 0 && size <= MOST_SPLITS && block / size >= LEAST_OF_SPLIT;
        let splits = if split && whole { size } else { 1 };
        let (mut at, mut decoded) = (start, Vec::with_capacity(length));
        for _ in 0..splits {
            let packed = word(at).ok_or_else(cut)?;
            let piece = at
                .checked_add(4)
                .and_then(|at| bytes.get(at..at.checked_add(packed)?));
            let piece = piece.ok_or_else(cut)?;
            let wanted = length / splits;
            match packed == wanted {
                true => decoded.extend_from_slice(piece),
                false => decoded.extend(one(flags >> 5, piece, wanted)?),
            }
            at += 4 + packed;
        }
        if decoded.len() != length {
            return Err("a block of Blosc has a wrong length".to_string());
        }
        out.extend(ordered(decoded, flags, size));
    }
    Ok(out)
}

/// One piece by the compression of a buffer.
fn one(codec: u8, piece: &[u8], wanted: usize) -> Result<Vec<u8>, String> {
    match codec {
        0 => blosclz(piece, wanted).ok_or_else(|| "data of BloscLZ are damaged".to_string()),
        1 => lz4(piece, wanted),
        3 => inflated_zlib(piece, wanted),
        4 => zstd(piece, wanted),
        2 => Err("Blosc with Snappy is not read".to_string()),
        other => Err(format!("Blosc with compression {other} is not read")),
    }
}

/// Bytes in the order of numbers again.
fn ordered(bytes: Vec<u8>, flags: u8, size: usize) -> Vec<u8> {
    match (flags & 1 != 0, flags & 4 != 0) {
        (true, _) if size > 1 => unshuffled(&bytes, size),
        (false, true) => bits_in_order(&bytes, size),
        _ => bytes,
    }
}

/// Bits that were ordered by their place within numbers of `size` bytes, eight numbers at a time.
fn bits_in_order(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size / 8 * 8;
    let mut out = bytes.to_vec();
    out[..count * size].fill(0);
    for place in 0..size {
        for bit in 0..8 {
            let row = &bytes[(place * 8 + bit) * (count / 8)..][..count / 8];
            for (eighth, byte) in row.iter().enumerate() {
                for number in 0..8 {
                    out[(eighth * 8 + number) * size + place] |= (byte >> number & 1) << bit;
                }
            }
        }
    }
    out
}

/// Bytes that were compressed by BloscLZ: runs as they are, and copies of earlier ones.
fn blosclz(bytes: &[u8], wanted: usize) -> Option<Vec<u8>> {
    const FAR: usize = 8191;
    let mut out: Vec<u8> = Vec::with_capacity(wanted);
    let mut rest = bytes.iter().copied();
    let mut control = usize::from(rest.next()? & 31);
    loop {
        if control < 32 {
            for _ in 0..=control {
                out.push(rest.next()?);
            }
        } else {
            let mut length = (control >> 5) - 1;
            let high = (control & 31) << 8;
            if length == 6 {
                loop {
                    let more = rest.next()?;
                    length += usize::from(more);
                    if more != 255 {
                        break;
                    }
                }
            }
            let low = usize::from(rest.next()?);
            let mut distance = high + low;
            if low == 255 && high == 31 << 8 {
                let far = usize::from(rest.next()?) << 8;
                distance = far + usize::from(rest.next()?) + FAR;
            }
            let from = out.len().checked_sub(distance + 1)?;
            if out.len() + length + 3 > wanted {
                return None;
            }
            // The copy may overlap its own end.
            for at in from..from + length + 3 {
                out.push(out[at]);
            }
        }
        if out.len() > wanted {
            return None;
        }
        match rest.next() {
            Some(next) => control = usize::from(next),
            None => return Some(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_bits_are_put_in_order() {
        assert_eq!(unshuffled(&[1, 3, 5, 2, 4, 6, 9], 2), [1, 2, 3, 4, 5, 6, 9]);
        // Eight numbers of one byte: the lowest bits of all come first.
        let shuffled = [0b1010_1010, 0b1100_1100, 0b1111_0000, 0, 0, 0, 0, 0, 77];
        assert_eq!(bits_in_order(&shuffled, 1), [0, 1, 2, 3, 4, 5, 6, 7, 77]);
    }

    #[test]
    fn copies_overlap() {
        // One byte, and a copy of nine of it.
        assert_eq!(blosclz(&[0, 7, 6 << 5, 0], 10), Some(vec![7; 9]));
        assert_eq!(blosclz(&[0, 7, 6 << 5, 9], 10), None);
        assert_eq!(blosclz(&[5, 7], 10), None);
    }
}
