//! Words and numbers of files that are text or mix text with binary numbers.

use crate::nrrd::{Endian, SampleType};

/// A place in a file.
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

/// How numbers are written.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Text,
    Binary(Endian),
}

impl<'a> Cursor<'a> {
    /// The beginning of these bytes.
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    fn skip_blanks(&mut self) {
        let rest = &self.bytes[self.at..];
        let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.at += blanks;
    }

    /// The next word, or none at the end.
    pub(super) fn peek(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take_while(|b| !b.is_ascii_whitespace()).count();
        let word = std::str::from_utf8(&rest[..length.min(200)]).ok();
        word.filter(|word| !word.is_empty())
    }

    /// Takes the next word.
    pub(super) fn word(&mut self) -> Result<&'a str, String> {
        let word = self
            .peek()
            .ok_or("the file ends too early, or has binary data where text is expected")?;
        self.at += word.len();
        Ok(word)
    }

    /// Takes the next word as a number; `what` names it.
    pub(super) fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word()?;
        // Writers in Python have been seen to print a number with its type.
        let plain = word
            .strip_prefix("np.float64(")
            .and_then(|w| w.strip_suffix(')'));
        let number = plain.unwrap_or(word).parse();
        number.map_err(|_| format!("found `{word}`, expected {what}"))
    }

    /// Takes the rest of the line.
    pub(super) fn line(&mut self) -> String {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        String::from_utf8_lossy(&rest[..end]).trim().to_string()
    }

    /// Takes bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let end = self
            .at
            .checked_add(count)
            .filter(|end| *end <= self.bytes.len());
        let end = end.ok_or("the file ends within numbers")?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Takes real numbers.
    pub(super) fn reals(
        &mut self,
        count: usize,
        kind: SampleType,
        form: Form,
    ) -> Result<Vec<f64>, String> {
        match form {
            Form::Text => {
                self.room(count)?;
                (0..count).map(|_| self.number("a number")).collect()
            }
            Form::Binary(endian) => {
                let bytes = self.take(length(count, kind)?)?;
                reals(bytes, kind, endian)
            }
        }
    }

    /// Takes integers.
    pub(super) fn ints(
        &mut self,
        count: usize,
        kind: SampleType,
        form: Form,
    ) -> Result<Vec<i64>, String> {
        match form {
            Form::Text => {
                self.room(count)?;
                (0..count).map(|_| self.number("an integer")).collect()
            }
            Form::Binary(endian) => {
                let bytes = self.take(length(count, kind)?)?;
                ints(bytes, kind, endian)
            }
        }
    }

    /// Checks that `count` numbers can follow: each has at least a digit and a blank.
    pub(super) fn room(&self, count: usize) -> Result<(), String> {
        if count > self.bytes.len() - self.at {
            return Err(format!(
                "{count} numbers are announced, but the file is too short"
            ));
        }
        Ok(())
    }
}

/// Bytes of numbers.
pub(super) fn length(count: usize, kind: SampleType) -> Result<usize, String> {
    let size = kind.size().unwrap_or(1);
    count
        .checked_mul(size)
        .ok_or_else(|| "too many numbers".to_string())
}

macro_rules! decode {
    ($bytes:expr, $endian:expr, $number:ty, $into:ty) => {
        $bytes
            .chunks_exact(size_of::<$number>())
            .map(|b| {
                let b = b.try_into().expect("as many bytes as a number has");
                match $endian {
                    Endian::Little => <$number>::from_le_bytes(b) as $into,
                    Endian::Big => <$number>::from_be_bytes(b) as $into,
                }
            })
            .collect()
    };
}

/// Numbers of any type as reals.
pub(super) fn reals(bytes: &[u8], kind: SampleType, endian: Endian) -> Result<Vec<f64>, String> {
    Ok(match kind {
        SampleType::F32 => decode!(bytes, endian, f32, f64),
        SampleType::F64 => decode!(bytes, endian, f64, f64),
        _ => ints(bytes, kind, endian)?
            .into_iter()
            .map(|n| n as f64)
            .collect(),
    })
}

/// Numbers of an integer type.
pub(super) fn ints(bytes: &[u8], kind: SampleType, endian: Endian) -> Result<Vec<i64>, String> {
    Ok(match kind {
        SampleType::I8 => decode!(bytes, endian, i8, i64),
        SampleType::U8 => decode!(bytes, endian, u8, i64),
        SampleType::I16 => decode!(bytes, endian, i16, i64),
        SampleType::U16 => decode!(bytes, endian, u16, i64),
        SampleType::I32 => decode!(bytes, endian, i32, i64),
        SampleType::U32 => decode!(bytes, endian, u32, i64),
        SampleType::I64 => decode!(bytes, endian, i64, i64),
        SampleType::U64 => decode!(bytes, endian, u64, i64),
        _ => return Err("integers are stored as another type".to_string()),
    })
}
