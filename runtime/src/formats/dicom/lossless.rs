//! Lossless JPEG, as CT and MR scanners write it: each number is predicted from its neighbours, and Huffman codes have the differences.

use crate::formats::ImageError;

fn wrong(what: &str) -> ImageError {
    ImageError::new(format!("a lossless JPEG within the file: {what}"))
}

/// Huffman codes: the symbols, ordered by the lengths of their codes.
#[derive(Clone, Debug, Default)]
struct Codes {
    /// How many codes there are of each length, from 1 bit to 16.
    counts: [u16; 16],
    symbols: Vec<u8>,
}

/// The bits of entropy-coded data, in which a byte 0 follows every byte 255.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn bit(&mut self) -> Option<u32> {
        if self.count == 0 {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            if byte == 0xff {
                match self.bytes.get(self.at) {
                    Some(0) => self.at += 1,
                    _ => return None,
                }
            }
            (self.held, self.count) = (u32::from(byte), 8);
        }
        self.count -= 1;
        Some(self.held >> self.count & 1)
    }

    fn bits(&mut self, count: u8) -> Option<u32> {
        (0..count).try_fold(0, |sum, _| Some(sum << 1 | self.bit()?))
    }

    /// The next symbol of a code.
    fn symbol(&mut self, codes: &Codes) -> Option<u8> {
        let (mut code, mut first, mut index) = (0_u32, 0_u32, 0_usize);
        for &count in &codes.counts {
            code = code << 1 | self.bit()?;
            let count = u32::from(count);
            if code.checked_sub(first)? < count {
                return codes.symbols.get(index + (code - first) as usize).copied();
            }
            index += count as usize;
            first = (first + count) << 1;
        }
        None
    }

    /// A difference: its number of bits as a symbol, and then these.
    fn difference(&mut self, codes: &Codes) -> Option<i32> {
        match self.symbol(codes)? {
            0 => Some(0),
            16 => Some(32768),
            size @ 1..=15 => {
                let bits = self.bits(size)? as i32;
                let half = 1 << (size - 1);
                Some(if bits < half {
                    bits - 2 * half + 1
                } else {
                    bits
                })
            }
            _ => None,
        }
    }

    /// Goes behind the next restart mark.
    fn restart(&mut self) -> Option<()> {
        self.count = 0;
        while !matches!(self.bytes.get(self.at..self.at + 2)?, [0xff, 0xd0..=0xd7]) {
            self.at += 1;
        }
        self.at += 2;
        Some(())
    }
}

/// What the segments in front of the data say.
#[derive(Default)]
struct Frame {
    precision: u32,
    rows: usize,
    columns: usize,
    components: usize,
    codes: [Codes; 4],
    /// Pixels between restart marks; 0 if there are none.
    interval: usize,
}

/// The numbers of a picture, pixel by pixel; there are `count` of them.
pub(super) fn decode(bytes: &[u8], count: usize) -> Result<Vec<u16>, ImageError> {
    let mut frame = Frame::default();
    let mut at = 2;
    if bytes.get(..2) != Some(&[0xff, 0xd8]) {
        return Err(wrong("its beginning is damaged"));
    }
    loop {
        let cut = || wrong("it is cut off");
        let &[mark, kind, a, b] = bytes
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .ok_or_else(cut)?;
        if mark != 0xff {
            return Err(wrong("a mark is damaged"));
        }
        if kind == 0xff {
            at += 1;
            continue;
        }
        let length = usize::from(u16::from_be_bytes([a, b]));
        let segment = bytes.get(at + 4..at + 2 + length.max(2)).ok_or_else(cut)?;
        at += 2 + length.max(2);
        match kind {
            0xc3 => frame.start(segment)?,
            0xc4 => frame.tables(segment)?,
            0xdd => {
                let interval = segment.first_chunk().ok_or_else(cut)?;
                frame.interval = usize::from(u16::from_be_bytes(*interval));
            }
            0xda => return frame.scan(segment, &bytes[at..], count),
            0xc0..=0xc2 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Err(wrong("it is not lossless"));
            }
            _ => {}
        }
    }
}

impl Frame {
    fn start(&mut self, segment: &[u8]) -> Result<(), ImageError> {
        let Some(&[precision, a, b, c, d, components]) = segment.first_chunk::<6>() else {
            return Err(wrong("its sizes are missing"));
        };
        self.precision = u32::from(precision);
        self.rows = usize::from(u16::from_be_bytes([a, b]));
        self.columns = usize::from(u16::from_be_bytes([c, d]));
        self.components = usize::from(components);
        let sampled = segment[6..]
            .chunks_exact(3)
            .any(|component| component[1] != 0x11);
        match (2..=16).contains(&precision) && !(sampled && components > 1) {
            true => Ok(()),
            false => Err(wrong("its numbers or colours cannot be read")),
        }
    }

    fn tables(&mut self, mut segment: &[u8]) -> Result<(), ImageError> {
        while let Some((&class, rest)) = segment.split_first() {
            let short = || wrong("a table of codes is cut off");
            let lengths = rest.first_chunk::<16>().ok_or_else(short)?;
            let total = lengths.iter().map(|&n| usize::from(n)).sum();
            let symbols = rest[16..].get(..total).ok_or_else(short)?;
            let table = self.codes.get_mut(usize::from(class & 15));
            *table.ok_or_else(|| wrong("a table of codes has a wrong number"))? = Codes {
                counts: lengths.map(u16::from),
                symbols: symbols.to_vec(),
            };
            segment = &rest[16 + total..];
        }
        Ok(())
    }

    fn scan(&self, segment: &[u8], data: &[u8], count: usize) -> Result<Vec<u16>, ImageError> {
        let cut = || wrong("it is cut off");
        let components = usize::from(*segment.first().ok_or_else(cut)?);
        let selectors = segment.get(1..1 + 2 * components).ok_or_else(cut)?;
        let &[predictor, _, shift] = segment[1 + 2 * components..]
            .first_chunk()
            .ok_or_else(cut)?;
        let shift = u32::from(shift & 15);
        let fits = self.rows.checked_mul(self.columns * self.components) == Some(count);
        if !fits || components != self.components || count == 0 || shift >= self.precision {
            return Err(wrong("it has other sizes than the file says"));
        }
        let tables: Option<Vec<&Codes>> = selectors
            .chunks_exact(2)
            .map(|selector| self.codes.get(usize::from(selector[1] >> 4)))
            .collect();
        let tables = tables.ok_or_else(|| wrong("a table of codes is missing"))?;
        let mut bits = Bits {
            bytes: data,
            at: 0,
            held: 0,
            count: 0,
        };
        let (row, first) = (
            self.columns * components,
            1_i32 << (self.precision - shift - 1),
        );
        let mut out: Vec<u16> = Vec::with_capacity(count);
        // The row in which prediction began, after a restart again.
        let mut begun = 0;
        for pixel in 0..count / components {
            let fresh = pixel > 0 && self.interval > 0 && pixel % self.interval == 0;
            if fresh {
                bits.restart().ok_or_else(cut)?;
                begun = pixel / self.columns;
            }
            let (y, x) = (pixel / self.columns, pixel % self.columns);
            for codes in &tables {
                let at = out.len();
                let left = || i32::from(out[at - components]);
                let above = || i32::from(out[at - row]);
                let corner = || i32::from(out[at - row - components]);
                let predicted = match (y == begun, x) {
                    (true, _) if fresh || pixel == 0 => first,
                    (true, 0) => first,
                    (true, _) => left(),
                    (false, 0) => above(),
                    _ => match predictor {
                        1 => left(),
                        2 => above(),
                        3 => corner(),
                        4 => left() + above() - corner(),
                        5 => left() + ((above() - corner()) >> 1),
                        6 => above() + ((left() - corner()) >> 1),
                        7 => (left() + above()) >> 1,
                        _ => return Err(wrong("its prediction is not known")),
                    },
                };
                let difference = bits.difference(codes).ok_or_else(cut)?;
                out.push((predicted + difference) as u16);
            }
        }
        if shift > 0 {
            out.iter_mut().for_each(|n| *n <<= shift);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of two numbers of 8 bits: 128, 129, 128 and 130, predicted by the left one.
    fn file() -> Vec<u8> {
        let mut bytes = vec![0xff, 0xd8];
        bytes.extend([0xff, 0xc3, 0, 11, 8, 0, 2, 0, 2, 1, 1, 0x11, 0]);
        // Codes 0, 10 and 110 for differences of 0, 1 and 2 bits.
        bytes.extend([
            0xff, 0xc4, 0, 22, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2,
        ]);
        bytes.extend([0xff, 0xda, 0, 8, 1, 1, 0, 1, 0, 0]);
        // 0, then 10 and the bit 1, then 0, then 110 and the bits 10, and ones to the end.
        bytes.extend([0b0101_0110, 0b1011_1111, 0xff, 0xd9]);
        bytes
    }

    #[test]
    fn differences_are_added_to_predictions() {
        assert_eq!(decode(&file(), 4).unwrap(), [128, 129, 128, 130]);
    }

    #[test]
    fn damaged_data_are_refused() {
        let whole = file();
        for length in 0..whole.len() - 3 {
            assert!(decode(&whole[..length], 4).is_err(), "{length}");
        }
        assert!(decode(&whole, 5).is_err());
    }
}
