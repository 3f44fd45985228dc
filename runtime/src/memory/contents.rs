//! The contents of files and streams that are read as a whole. Their memory is claimed as they come, because a device or a pipe
//! does not say how long it is, and may have no end.

use super::Meter;
use std::io::Read;
use std::ops::Deref;

/// Bytes that are claimed.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    bytes: Vec<u8>,
    meter: Meter,
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for Contents {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Contents {
    /// The room that is made first.
    const FIRST: usize = 1 << 16;

    /// Reads a stream to its end.
    ///
    /// # Errors
    /// It cannot be read, or there is no memory for more of it.
    pub(crate) fn read(mut stream: impl Read) -> Result<Contents, String> {
        let mut contents = Contents::default();
        loop {
            let room = contents.bytes.len().max(Contents::FIRST);
            let more = contents.meter.take(room as u64);
            more.map_err(|shortage| format!("the file is too long: {shortage}"))?;
            contents.bytes.reserve_exact(room);
            let mut piece = stream.by_ref().take(room as u64);
            let read = piece.read_to_end(&mut contents.bytes);
            if read.map_err(|e| e.to_string())? < room {
                return Ok(contents);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_to_their_ends() {
        for length in [0, 1, Contents::FIRST, Contents::FIRST + 1, 1_000_000] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let contents = Contents::read(&bytes[..]).expect("bytes in memory");
            assert_eq!(&*contents, &bytes[..]);
            // Growing by doubling takes no more than that.
            assert!(contents.bytes.capacity() <= 2 * length.max(Contents::FIRST));
        }
    }
}
