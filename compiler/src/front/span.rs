//! Places in a text: ranges of bytes, lines and columns.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where the lines of a text start.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Where the lines of a text start.
    pub fn of(text: &str) -> Lines {
        let after_newlines = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        Lines {
            starts: std::iter::once(0).chain(after_newlines).collect(),
        }
    }

    /// The line of a byte, counted from 1.
    pub fn line(&self, byte: u32) -> usize {
        self.starts.partition_point(|&start| start <= byte)
    }

    /// The first byte of a line, counted from 1.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts[line - 1] as usize
    }

    /// A line of `text`, counted from 1, without its end.
    pub(super) fn text<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let start = self.start(line);
        let end = self
            .starts
            .get(line)
            .map_or(text.len(), |&next| next as usize);
        text[start..end].trim_end_matches(['\r', '\n'])
    }

    /// The line and the column, in characters, of a byte of `text`, both counted from 1. A byte past the end is the end.
    pub fn position(&self, text: &str, byte: u32) -> (usize, usize) {
        let line = self.line(byte);
        let start = self.start(line);
        let before = text.get(start..byte as usize).unwrap_or(&text[start..]);
        (line, before.chars().count() + 1)
    }
}

/// A range of bytes in the source text.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The same place after this many bytes are put before the text.
    pub(super) fn after(self, bytes: u32) -> Span {
        Span {
            start: self.start + bytes,
            end: self.end + bytes,
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
