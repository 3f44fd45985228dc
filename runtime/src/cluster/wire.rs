//! Numbers and bytes in letters: written one after the other, read in the same order.

/// Appends a number.
pub fn put(letter: &mut Vec<u8>, number: u64) {
    letter.extend_from_slice(&number.to_le_bytes());
}

/// Appends some bytes and how many they are.
pub fn put_bytes(letter: &mut Vec<u8>, bytes: &[u8]) {
    put(letter, bytes.len() as u64);
    letter.extend_from_slice(bytes);
}

/// Reads a letter from its beginning to its end. Nothing comes of a letter that is too short.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next number.
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    /// The next number of things that are in memory.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// This many bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The next bytes that were written with their number.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        self.take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_as_they_were_written_and_no_further() {
        let mut letter = Vec::new();
        put(&mut letter, 7);
        put_bytes(&mut letter, b"text");
        put_bytes(&mut letter, b"");
        let mut reader = Reader(&letter);
        assert_eq!(reader.number(), Some(7));
        assert_eq!(reader.bytes(), Some(&b"text"[..]));
        assert_eq!(reader.bytes(), Some(&b""[..]));
        assert_eq!((reader.number(), reader.take(1)), (None, None));
        let mut damaged = Reader(&letter[..20]);
        assert_eq!(damaged.number(), Some(7));
        assert_eq!(damaged.bytes(), Some(&b"text"[..]));
        assert_eq!(damaged.bytes(), None);
    }
}
