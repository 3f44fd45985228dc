//! Positions of the protocol, which are lines and columns, and bytes of texts.

use crate::front::source::Span;
use ls_types::{Position, PositionEncodingKind, Range};

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every client knows.
    Utf16,
}

impl Encoding {
    /// The better one of those that a client offers.
    pub(super) fn of_client(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        match offered {
            Some(kinds) if kinds.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
            _ => Encoding::Utf16,
        }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
        }
    }
}

/// A text whose positions are wanted.
#[derive(Clone, Debug)]
pub(super) struct Text<'t> {
    text: &'t str,
    /// Where lines start.
    starts: Vec<usize>,
    encoding: Encoding,
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Text<'t> {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Text {
            text,
            starts: std::iter::once(0).chain(after).collect(),
            encoding,
        }
    }

    /// The position of a byte; a byte past the end is the end.
    pub(super) fn position(&self, byte: u32) -> Position {
        let byte = self.text.floor_char_boundary(byte as usize);
        let line = self.starts.partition_point(|start| *start <= byte) - 1;
        let before = &self.text[self.starts[line]..byte];
        let column: usize = before.chars().map(|c| self.encoding.width(c)).sum();
        Position::new(line as u32, column as u32)
    }

    pub(super) fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// The byte of a position; a column past the end of a line is its end.
    pub(super) fn byte(&self, position: Position) -> u32 {
        let Some(&start) = self.starts.get(position.line as usize) else {
            return self.text.len() as u32;
        };
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        let line = line.trim_end_matches('\r');
        let mut column = 0;
        for (at, c) in line.char_indices() {
            if column >= position.character as usize {
                return (start + at) as u32;
            }
            column += self.encoding.width(c);
        }
        (start + line.len()) as u32
    }

    /// The bytes of a range.
    pub(super) fn bytes(&self, range: Range) -> std::ops::Range<usize> {
        let (start, end) = (self.byte(range.start), self.byte(range.end));
        start as usize..end.max(start) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_bytes_are_inverse_in_both_encodings() {
        let text = "a∇𝛁b\r\nx̂ = ∇F;\n";
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let lines = Text::new(text, encoding);
            for (byte, c) in text.char_indices().filter(|(_, c)| *c != '\n') {
                let position = lines.position(byte as u32);
                assert_eq!(lines.byte(position) as usize, byte, "{encoding:?} {c:?}");
            }
            assert_eq!(lines.byte(Position::new(9, 0)) as usize, text.len());
            assert_eq!(lines.byte(Position::new(0, 99)) as usize, 9);
        }
        let columns = |encoding| Text::new(text, encoding).position(8).character;
        assert_eq!((columns(Encoding::Utf8), columns(Encoding::Utf16)), (8, 4));
    }
}
