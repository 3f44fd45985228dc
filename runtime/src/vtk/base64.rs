//! Bytes in base64, read piece by piece.

use std::io::{self, BufRead, Read};

/// The bytes spelled by base64. Blanks are ignored; after padding another run of it may follow, and what cannot be part of
/// any ends it.
pub(super) struct Base64<R> {
    text: R,
    group: Group,
    is_over: bool,
}

/// Up to four digits.
#[derive(Default)]
struct Group {
    bits: u32,
    digits: usize,
    /// How many of them are padding.
    padding: usize,
}

/// The meaning of a byte.
enum Part {
    /// It belongs to a group that is not complete, or is blank.
    Open,
    /// It completes a group of up to three bytes.
    Bytes([u8; 3], usize),
    /// It is not base64.
    End,
}

impl Group {
    fn take(&mut self, byte: u8) -> Part {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                self.padding += 1;
                0
            }
            _ if byte.is_ascii_whitespace() => return Part::Open,
            _ => return Part::End,
        };
        self.bits = self.bits << 6 | u32::from(digit);
        self.digits += 1;
        if self.digits < 4 {
            return Part::Open;
        }
        let [_, bytes @ ..] = self.bits.to_be_bytes();
        match std::mem::take(self).padding {
            padding @ 0..=2 => Part::Bytes(bytes, 3 - padding),
            _ => Part::End,
        }
    }
}

impl<R> Base64<R> {
    pub(super) fn new(text: R) -> Base64<R> {
        Base64 {
            text,
            group: Group::default(),
            is_over: false,
        }
    }
}

impl<R: BufRead> Read for Base64<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        // A rest of `out` that is too short for a group stays empty.
        while !self.is_over && out.len() - written >= 3 {
            let buffer = self.text.fill_buf()?;
            self.is_over = buffer.is_empty();
            let mut used = 0;
            for &byte in buffer {
                used += 1;
                match self.group.take(byte) {
                    Part::Open => {}
                    Part::Bytes(bytes, count) => {
                        out[written..written + count].copy_from_slice(&bytes[..count]);
                        written += count;
                        if out.len() - written < 3 {
                            break;
                        }
                    }
                    Part::End => {
                        self.is_over = true;
                        break;
                    }
                }
            }
            self.text.consume(used);
        }
        Ok(written)
    }
}
