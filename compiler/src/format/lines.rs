//! The lines of a program, divided into code, texts in quotes, and comments.

/// A line.
pub(super) struct Line<'t> {
    /// All of it.
    pub(super) text: &'t str,
    /// Its pieces in order.
    pub(super) pieces: Vec<Piece<'t>>,
    /// Whether it begins inside a comment of several lines.
    pub(super) is_inside_comment: bool,
}

/// A piece of a line.
pub(super) enum Piece<'t> {
    /// Code.
    Code(&'t str),
    /// A text in quotes.
    Text(&'t str),
    /// A comment, or a part of one.
    Comment(&'t str),
}

impl Line<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The characters of its code.
    pub(super) fn code(&self) -> impl DoubleEndedIterator<Item = char> {
        let code = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Code(code) => Some(*code),
            Piece::Text(_) | Piece::Comment(_) => None,
        });
        code.flat_map(str::chars)
    }

    /// The blanks that it begins with.
    pub(super) fn indent(&self) -> usize {
        self.text.chars().take_while(|c| *c == ' ').count()
    }

    pub(super) fn begins_with(&self, word: &str) -> bool {
        self.text.trim_start().starts_with(word)
    }

    pub(super) fn is_only_comment(&self) -> bool {
        self.last_of_code().is_none()
    }

    /// The last character of its code or texts.
    pub(super) fn last_of_code(&self) -> Option<char> {
        self.pieces.iter().rev().find_map(|piece| match piece {
            Piece::Code(code) => code.trim_end().chars().next_back(),
            Piece::Text(_) => Some('"'),
            Piece::Comment(_) => None,
        })
    }

    /// The number of closing brackets that it begins with.
    pub(super) fn closers_first(&self) -> usize {
        let code = self.code().filter(|c| !c.is_whitespace());
        code.take_while(|c| matches!(c, '}' | ')' | ']')).count()
    }

    pub(super) fn begins_with_closer(&self) -> bool {
        self.closers_first() > 0
    }
}

/// The lines of a text.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut inside = false;
    let mut all = Vec::new();
    for text in text.lines() {
        let is_inside_comment = inside;
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, length) = piece(rest, &mut inside);
            pieces.push(piece);
            rest = &rest[length..];
        }
        all.push(Line {
            text,
            pieces,
            is_inside_comment,
        });
    }
    all
}

/// The first piece of a part of a line, and its length.
fn piece<'t>(text: &'t str, inside: &mut bool) -> (Piece<'t>, usize) {
    if *inside || text.starts_with("/*") {
        let from = if *inside { 0 } else { 2 };
        let end = text[from..].find("*/").map(|at| from + at + 2);
        *inside = end.is_none();
        let end = end.unwrap_or(text.len());
        return (Piece::Comment(&text[..end]), end);
    }
    if text.starts_with("//") {
        return (Piece::Comment(text), text.len());
    }
    if text.starts_with('"') {
        let mut is_escaped = false;
        let close = text.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            ends
        });
        let end = close.map_or(text.len(), |(at, _)| at + 1);
        return (Piece::Text(&text[..end]), end);
    }
    let ends = ["\"", "//", "/*"];
    let end = ends.iter().filter_map(|mark| text.find(mark)).min();
    let end = end.unwrap_or(text.len());
    (Piece::Code(&text[..end]), end)
}
