//! Bytes as pixels: colours, and runs of bytes.

/// A JPEG that says nothing of its colours with components that are called R, G and B, so that they are taken as such.
pub(super) fn named_rgb(packed: &[u8]) -> Option<Vec<u8>> {
    let (mut named, mut at) = (packed.to_vec(), 2);
    loop {
        let &[0xff, mark, a, b] = packed.get(at..)?.first_chunk()? else {
            return None;
        };
        let (step, first) = match mark {
            // These segments say which colours there are.
            0xe0 | 0xee => return None,
            0xc0 | 0xc1 => (3, at + 10),
            0xda => (2, at + 5),
            _ => (0, 0),
        };
        if step > 0 {
            for (i, letter) in b"RGB".iter().enumerate() {
                *named.get_mut(first + step * i)? = *letter;
            }
        }
        if mark == 0xda {
            return Some(named);
        }
        at += 2 + usize::from(u16::from_be_bytes([a, b]));
    }
}

/// Red, green and blue of a brightness and two differences.
pub(super) fn in_colours(pixel: &mut [u8]) {
    let [y, b, r] = [pixel[0], pixel[1], pixel[2]].map(f64::from);
    let (b, r) = (b - 128.0, r - 128.0);
    let colours = [
        y + 1.402 * r,
        y - 0.114 * 1.772 / 0.587 * b - 0.299 * 1.402 / 0.587 * r,
        y + 1.772 * b,
    ];
    for (place, colour) in pixel.iter_mut().zip(colours) {
        *place = (colour + 0.5).floor().clamp(0.0, 255.0) as u8;
    }
}

/// Two brightnesses and the differences that they share, as two pixels.
pub(super) fn doubled(bytes: &[u8]) -> Vec<u8> {
    let (pairs, _) = bytes.as_chunks::<4>();
    pairs
        .iter()
        .flat_map(|&[y, z, b, r]| [y, b, r, z, b, r])
        .collect()
}

/// Runs of bytes: as they are, or one byte repeated. Two bytes stand for 128 at most.
pub(super) fn unpacked(packed: &[u8], count: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = packed;
    while out.len() < count {
        let (&head, after) = rest.split_first()?;
        rest = match head as i8 {
            run @ 0.. => {
                let (bytes, after) = after.split_at_checked(run as usize + 1)?;
                out.extend_from_slice(bytes);
                after
            }
            -128 => after,
            run => {
                let (&byte, after) = after.split_first()?;
                out.resize(out.len() + 1 + usize::from(run.unsigned_abs()), byte);
                after
            }
        };
    }
    out.truncate(count);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bytes_are_unpacked() {
        assert_eq!(
            unpacked(&[1, 5, 6, 0xfe, 7, 0x80], 5),
            Some(vec![5, 6, 7, 7, 7])
        );
        assert_eq!(unpacked(&[3, 5], 4), None);
        assert_eq!(unpacked(&[], 1), None);
    }

    #[test]
    fn differences_become_colours() {
        let mut grey = [100, 128, 128];
        in_colours(&mut grey);
        assert_eq!(grey, [100, 100, 100]);
        let mut red = [76, 85, 255];
        in_colours(&mut red);
        assert_eq!(red, [254, 0, 0]);
    }
}
