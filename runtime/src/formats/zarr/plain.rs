//! Compressions of bytes without a container around them. None gives more bytes than are expected.

use std::io::Read;

pub(super) fn too_long(most: usize) -> String {
    format!("a chunk has more than the {most} bytes that are expected")
}

/// All bytes of a stream, if they are not more than `most`.
pub(super) fn bounded(stream: impl Read, most: usize) -> Result<Vec<u8>, String> {
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

/// Bytes that were ordered by their place within numbers of `size` bytes.
pub(super) fn unshuffled(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let mut out = bytes.to_vec();
    for place in 0..size {
        for number in 0..count {
            out[number * size + place] = bytes[place * count + number];
        }
    }
    out
}
