//! Streams that undo an encoding: they turn hexadecimal digits into bytes, and compressed members into their contents.

use std::io::{self, BufRead, ErrorKind as IoErrorKind, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::{GzDecoder, ZlibDecoder};

/// The bytes spelled by pairs of hexadecimal digits; blanks are ignored.
pub(super) struct HexDigits<'a> {
    text: &'a mut dyn BufRead,
}

impl Read for HexDigits<'_> {
    /// A character that is not a digit ends the data. It is an error only for a reader that reads on to it, because the text
    /// after the samples does not matter.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        for (written, byte) in out.iter_mut().enumerate() {
            match self.byte() {
                Ok(Some(value)) => *byte = value,
                Ok(None) => return Ok(written),
                Err(_) if written > 0 => return Ok(written),
                Err(error) => return Err(error),
            }
        }
        Ok(out.len())
    }
}

impl<'a> HexDigits<'a> {
    pub(super) fn new(text: &'a mut dyn BufRead) -> Self {
        HexDigits { text }
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        let (Some(high), Some(low)) = (self.digit()?, self.digit()?) else {
            return Ok(None);
        };
        Ok(Some(high << 4 | low))
    }

    /// The next digit; any other character stays in the stream.
    fn digit(&mut self) -> io::Result<Option<u8>> {
        while let Some(&byte) = self.text.fill_buf()?.first() {
            let shown = char::from(byte);
            if let Some(digit) = shown.to_digit(16) {
                self.text.consume(1);
                return Ok(Some(digit as u8));
            }
            if !byte.is_ascii_whitespace() {
                let message = format!("found {shown:?}, expected a hexadecimal digit");
                return Err(io::Error::new(IoErrorKind::InvalidData, message));
            }
            self.text.consume(1);
        }
        Ok(None)
    }
}

/// One compressed member of a file.
enum Member<R> {
    Gzip(GzDecoder<R>),
    Zlib(ZlibDecoder<R>),
    Bzip2(BzDecoder<R>),
}

impl<R: BufRead> Member<R> {
    /// What another member of the same kind begins with. A zlib stream has no mark of its own, so nothing follows it.
    fn magic(&self) -> Option<&'static [u8]> {
        match self {
            Member::Gzip(_) => Some(b"\x1f\x8b"),
            Member::Zlib(_) => None,
            Member::Bzip2(_) => Some(b"BZh"),
        }
    }

    fn into_stream(self) -> R {
        match self {
            Member::Gzip(decoder) => decoder.into_inner(),
            Member::Zlib(decoder) => decoder.into_inner(),
            Member::Bzip2(decoder) => decoder.into_inner(),
        }
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Member::Gzip(decoder) => decoder.read(out),
            Member::Zlib(decoder) => decoder.read(out),
            Member::Bzip2(decoder) => decoder.read(out),
        }
    }
}

/// The contents of a compressed file: of all its members one after the other, because parallel compressors write many.
/// What follows the last and is none is ignored.
///
/// ```
/// use nrrd_rs::Decompressed;
/// use std::io::Read;
///
/// let zlib = [0x78, 0x9c, 0x4b, 0x4c, 0x4a, 0x06, 0x00, 0x02, 0x4d, 0x01, 0x27];
/// let mut text = String::new();
/// Decompressed::gzip(&zlib[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "abc");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Decompressed<R> {
    state: State<R>,
    open: fn(R, u8) -> Member<R>,
}

enum State<R> {
    /// At the first byte of a member.
    Before(R),
    Inside(Member<R>),
    End,
}

impl<R: BufRead> Decompressed<R> {
    /// Of gzip members, or of one zlib stream: the first byte tells which.
    pub fn gzip(stream: R) -> Self {
        Decompressed {
            state: State::Before(stream),
            // The low half of the first byte is the method of a zlib stream, 8; a gzip member begins with 1f.
            open: |stream, first| match first & 0x0f {
                8 => Member::Zlib(ZlibDecoder::new(stream)),
                _ => Member::Gzip(GzDecoder::new(stream)),
            },
        }
    }

    /// Of bzip2 members.
    pub fn bzip2(stream: R) -> Self {
        Decompressed {
            state: State::Before(stream),
            open: |stream, _| Member::Bzip2(BzDecoder::new(stream)),
        }
    }
}

impl<R: BufRead> Read for Decompressed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut member = match std::mem::replace(&mut self.state, State::End) {
                State::Before(mut stream) => {
                    let first = stream.fill_buf()?.first().copied().unwrap_or(0);
                    (self.open)(stream, first)
                }
                State::Inside(member) => member,
                State::End => return Ok(0),
            };
            let read = member.read(out)?;
            if read > 0 || out.is_empty() {
                self.state = State::Inside(member);
                return Ok(read);
            }
            let Some(magic) = member.magic() else {
                continue;
            };
            let mut stream = member.into_stream();
            if stream.fill_buf()?.starts_with(magic) {
                self.state = State::Before(stream);
            }
        }
    }
}
