//! The pieces of a `print` statement, flattened: text and scalars.

use crate::ir::Scalar as Ty;
use std::{fmt, sync::Arc};

/// A part of the output of a `print` statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Literal text: strings of the program, and the brackets and commas of tensors and sequences.
    Text(Arc<str>),
    /// The value of a scalar.
    Scalar(Ty),
}

impl Piece {
    /// The scalar that this piece takes from the arguments, if any.
    pub fn scalars(&self) -> Option<Ty> {
        match self {
            Piece::Text(_) => None,
            Piece::Scalar(ty) => Some(*ty),
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Piece::Text(text) => write!(f, "{text:?}"),
            Piece::Scalar(ty) => write!(f, "{ty}"),
        }
    }
}

/// Reads pieces separated by blanks, as they print.
pub fn parse_pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = if rest.starts_with('"') {
            closing_quote(rest).ok_or_else(|| format!("unterminated string in `{text}`"))?
        } else {
            rest.find(' ').unwrap_or(rest.len())
        };
        let (word, tail) = rest.split_at(end);
        pieces.push(match unquote(word) {
            Some(text) => Piece::Text(text.into()),
            None => Piece::Scalar(word.parse()?),
        });
        rest = tail.trim_start();
    }
    Ok(pieces)
}

/// The position after the quote that closes the one at the start.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The text of a quoted string as `{:?}` prints it.
pub fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut result = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match chars.next()? {
            'n' => result.push('\n'),
            'r' => result.push('\r'),
            't' => result.push('\t'),
            '0' => result.push('\0'),
            'u' => {
                let code: String = chars.by_ref().skip(1).take_while(|&c| c != '}').collect();
                result.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
            }
            other => result.push(other),
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_survive_printing() {
        let text: Arc<str> = "a \"quoted\" \\ text\n\u{7}".into();
        let pieces = vec![
            Piece::Text(text),
            Piece::Scalar(Ty::Real),
            Piece::Text("".into()),
            Piece::Scalar(Ty::Bool),
        ];
        let printed: Vec<String> = pieces.iter().map(Piece::to_string).collect();
        assert_eq!(parse_pieces(&printed.join(" ")), Ok(pieces));
    }
}
