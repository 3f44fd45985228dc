//! Numbers of an array that are unpacked piece by piece, so that neither all bytes nor all wide integers are in memory at once.

use super::cursor::{Cursor, Form, ints, reals};
use crate::nrrd::{Endian, SampleType};
use std::borrow::Cow;
use std::io::{BufRead, Read};

/// Numbers of a piece.
const PIECE: usize = 1 << 14;

/// Numbers of an array that are bytes of a stream.
pub(super) struct Numbers<'a> {
    /// The array.
    pub(super) name: String,
    pub(super) stream: Box<dyn BufRead + 'a>,
    /// How many the stream has to have.
    pub(super) count: usize,
    pub(super) kind: SampleType,
    pub(super) endian: Endian,
}

impl<'a> Numbers<'a> {
    /// No numbers.
    pub(super) fn none(kind: SampleType) -> Numbers<'a> {
        Numbers {
            name: String::new(),
            stream: Box::new(std::io::empty()),
            count: 0,
            kind,
            endian: Endian::Little,
        }
    }

    /// All of them as real numbers.
    ///
    /// # Errors
    /// The stream is damaged or too short.
    pub(super) fn reals(self) -> Result<Vec<f64>, String> {
        let mut pieces = Pieces::of(self);
        let mut all = Vec::new();
        while pieces.left() > 0 {
            let bytes = pieces.next(PIECE)?;
            let numbers = &pieces.numbers;
            let piece = reals(&bytes, numbers.kind, numbers.endian)?;
            // Only now, because a short file may announce any number; the memory is claimed.
            if all.is_empty() {
                all.reserve_exact(pieces.numbers.count);
            }
            all.extend(piece);
        }
        Ok(all)
    }

    /// All of them as integers, to be taken one by one.
    ///
    /// # Errors
    /// The type of the numbers is not one of integers.
    pub(super) fn ints(self) -> Result<Ints<'a>, String> {
        ints(&[], self.kind, self.endian)?;
        Ok(Ints {
            source: Source::Bytes(Pieces::of(self)),
            piece: Vec::new(),
            at: 0,
        })
    }
}

/// The bytes of numbers, piece by piece.
struct Pieces<'a> {
    numbers: Numbers<'a>,
    /// How many numbers have been read.
    read: usize,
}

impl<'a> Pieces<'a> {
    fn of(numbers: Numbers<'a>) -> Pieces<'a> {
        Pieces { numbers, read: 0 }
    }

    /// How many numbers are to come.
    fn left(&self) -> usize {
        self.numbers.count - self.read
    }

    /// The bytes of at most this number of next numbers.
    fn next(&mut self, most: usize) -> Result<Vec<u8>, String> {
        let Numbers {
            name,
            stream,
            kind,
            count,
            ..
        } = &mut self.numbers;
        let size = kind.size().unwrap_or(1);
        let wanted = most.min(*count - self.read);
        let mut bytes = Vec::with_capacity(wanted * size);
        let mut piece = stream.by_ref().take((wanted * size) as u64);
        let read = piece.read_to_end(&mut bytes);
        read.map_err(|e| format!("array `{name}` cannot be unpacked: {e}"))?;
        if bytes.len() != wanted * size {
            return Err(format!(
                "array `{name}` has {} bytes, expected {}",
                self.read * size + bytes.len(),
                *count * size
            ));
        }
        self.read += wanted;
        Ok(bytes)
    }
}

/// Integers of an array, some at a time.
pub(super) struct Ints<'a> {
    source: Source<'a>,
    /// Numbers that have been read, and how many of them have been taken.
    piece: Vec<i64>,
    at: usize,
}

enum Source<'a> {
    Bytes(Pieces<'a>),
    /// A text, how much of it has been read, and how many numbers are to come.
    Text(Cow<'a, [u8]>, usize, usize),
}

impl<'a> Ints<'a> {
    /// The first numbers of a text.
    ///
    /// # Errors
    /// The text is too short for them.
    pub(super) fn of_text(text: Cow<'a, [u8]>, count: usize) -> Result<Ints<'a>, String> {
        Cursor::new(&text).room(count)?;
        Ok(Ints {
            source: Source::Text(text, 0, count),
            piece: Vec::new(),
            at: 0,
        })
    }

    /// The next numbers.
    ///
    /// # Errors
    /// There are fewer, or they are damaged.
    pub(super) fn take(&mut self, count: usize) -> Result<&[i64], String> {
        if self.piece.len() - self.at < count {
            self.piece.drain(..self.at);
            self.at = 0;
            let more = self.source.next(PIECE.max(count))?;
            self.piece.extend(more);
        }
        let end = self.at + count;
        let taken = self.piece.get(self.at..end);
        self.at = end;
        taken.ok_or_else(|| "an array has too few numbers".to_string())
    }

    /// All numbers that have not been taken.
    ///
    /// # Errors
    /// They are damaged.
    pub(super) fn rest(mut self) -> Result<Vec<i64>, String> {
        let mut all = self.piece.split_off(self.at);
        loop {
            let more = self.source.next(PIECE)?;
            if more.is_empty() {
                return Ok(all);
            }
            all.extend(more);
        }
    }
}

impl Source<'_> {
    /// At most this number of next numbers; none at the end.
    fn next(&mut self, most: usize) -> Result<Vec<i64>, String> {
        match self {
            Source::Bytes(pieces) => {
                let bytes = pieces.next(most)?;
                ints(&bytes, pieces.numbers.kind, pieces.numbers.endian)
            }
            Source::Text(text, at, left) => {
                let mut cursor = Cursor::new(text);
                cursor.at = *at;
                let count = most.min(*left);
                let numbers = cursor.ints(count, SampleType::I64, Form::Text)?;
                (*at, *left) = (cursor.at, *left - count);
                Ok(numbers)
            }
        }
    }
}
