//! Streams that undo an encoding: hexadecimal digits to bytes, compressed members to what they hold.

use std::io::{self, BufRead, ErrorKind as IoErrorKind, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

/// The bytes spelled by pairs of hexadecimal digits; blanks are ignored.
pub(super) struct HexDigits<'a> {
    text: &'a mut dyn BufRead,
}

impl Read for HexDigits<'_> {
    /// A character that is no digit ends what is read; it is an error only for the reader that goes on to it, because
    /// whatever follows the samples does not matter.
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

    /// The next digit; what is not one stays in the stream.
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
    Bzip2(BzDecoder<R>),
}

impl<R: BufRead> Member<R> {
    fn magic(&self) -> &'static [u8] {
        match self {
            Member::Gzip(_) => b"\x1f\x8b",
            Member::Bzip2(_) => b"BZh",
        }
    }

    fn into_stream(self) -> R {
        match self {
            Member::Gzip(decoder) => decoder.into_inner(),
            Member::Bzip2(decoder) => decoder.into_inner(),
        }
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Member::Gzip(decoder) => decoder.read(out),
            Member::Bzip2(decoder) => decoder.read(out),
        }
    }
}

/// The contents of all compressed members of a file, one after the other. Parallel compressors write many; what
/// follows the last and is none is ignored.
pub(super) struct Members<R> {
    member: Option<Member<R>>,
    open: fn(R) -> Member<R>,
}

impl<R: BufRead> Members<R> {
    pub(super) fn gzip(stream: R) -> Self {
        Members::new(stream, |stream| Member::Gzip(GzDecoder::new(stream)))
    }

    pub(super) fn bzip2(stream: R) -> Self {
        Members::new(stream, |stream| Member::Bzip2(BzDecoder::new(stream)))
    }

    fn new(stream: R, open: fn(R) -> Member<R>) -> Self {
        Members {
            member: Some(open(stream)),
            open,
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(out)?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            let magic = member.magic();
            let Some(mut stream) = self.member.take().map(Member::into_stream) else {
                break;
            };
            if stream.fill_buf()?.starts_with(magic) {
                self.member = Some((self.open)(stream));
            }
        }
        Ok(0)
    }
}
