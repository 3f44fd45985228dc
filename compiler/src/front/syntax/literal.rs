//! String literals: finding their end, checking, decoding and writing them.

use crate::front::{codes, diag::Diagnostic, source::Span};

/// A string literal in a text.
#[derive(Debug)]
pub(crate) struct StringLiteral {
    /// One past its last byte.
    pub(crate) end: usize,
    /// Its value, as far as it could be read.
    pub(crate) value: String,
    /// The errors in it.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The letters that may follow a backslash, and what each stands for.
const ESCAPES: &[(char, char)] = &[
    ('a', '\x07'),
    ('b', '\x08'),
    ('f', '\x0c'),
    ('n', '\n'),
    ('r', '\r'),
    ('t', '\t'),
    ('v', '\x0b'),
    ('\\', '\\'),
    ('"', '"'),
];

/// Reads the string literal whose opening quote is at byte `start`. An unterminated one ends before the end of its line.
pub(crate) fn scan_string(text: &str, start: usize) -> StringLiteral {
    let mut value = String::new();
    let mut diagnostics = Vec::new();
    let mut at = start + 1;
    loop {
        let rest = &text[at..];
        let Some(character) = rest.chars().next().filter(|&c| c != '\n' && c != '\r') else {
            diagnostics.push(
                Diagnostic::error(
                    codes::UNTERMINATED_STRING,
                    Span::new(start, at),
                    "this string has no end: expected `\"` on the same line",
                )
                .hint("a line break in a string is written `\\n`"),
            );
            return StringLiteral {
                end: at,
                value,
                diagnostics,
            };
        };
        let length = match character {
            '"' => {
                return StringLiteral {
                    end: at + 1,
                    value,
                    diagnostics,
                };
            }
            '\\' => match escape(&rest[1..]) {
                Ok((meaning, length)) => {
                    value.push(meaning);
                    1 + length
                }
                Err((message, length)) => {
                    let span = Span::new(at, at + 1 + length);
                    diagnostics.push(
                        Diagnostic::error(codes::BAD_ESCAPE, span, message).hint(
                            "escapes are `\\a \\b \\f \\n \\r \\t \\v \\\\ \\\"` and `\\ddd` with three decimal digits",
                        ),
                    );
                    1 + length
                }
            },
            ' '..='~' => {
                value.push(character);
                1
            }
            _ => {
                let length = character.len_utf8();
                let message = format!(
                    "character U+{:04X} in a string: only printable ASCII characters are allowed",
                    u32::from(character)
                );
                let span = Span::new(at, at + length);
                diagnostics.push(Diagnostic::error(codes::BAD_STRING, span, message));
                length
            }
        };
        at += length;
    }
}

/// The character that the text after a backslash stands for, or an error message; and the number of bytes concerned.
fn escape(rest: &str) -> Result<(char, usize), (String, usize)> {
    let Some(character) = rest.chars().next().filter(|c| !c.is_control()) else {
        return Err(("nothing follows the backslash".to_owned(), 0));
    };
    if let Some(&(_, meaning)) = ESCAPES.iter().find(|(letter, _)| *letter == character) {
        return Ok((meaning, 1));
    }
    let digits: String = rest
        .chars()
        .take(3)
        .take_while(char::is_ascii_digit)
        .collect();
    match digits.parse::<u32>() {
        Ok(code) if digits.len() == 3 => u8::try_from(code)
            .map(|code| (char::from(code), 3))
            .map_err(|_| (format!("escape `\\{digits}` is above 255"), 3)),
        Ok(_) => Err((
            format!("escape `\\{digits}` has fewer than three digits"),
            digits.len(),
        )),
        Err(_) => Err((
            format!("unknown escape `\\{character}`"),
            character.len_utf8(),
        )),
    }
}

/// The literal that stands for `value`.
pub(crate) fn write_string(value: &str) -> String {
    let mut literal = String::from('"');
    for character in value.chars() {
        if let Some((letter, _)) = ESCAPES.iter().find(|(_, meaning)| *meaning == character) {
            literal.extend(['\\', *letter]);
        } else if matches!(character, ' '..='~') {
            literal.push(character);
        } else {
            literal.push_str(&format!("\\{:03}", u32::from(character)));
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, end: usize, value: &str, messages: &[&str]) {
        let literal = scan_string(text, 0);
        assert_eq!((literal.end, literal.value.as_str()), (end, value));
        let found: Vec<_> = literal.diagnostics.iter().map(|d| &d.message).collect();
        assert_eq!(found, messages);
    }

    #[test]
    fn escapes_are_decoded() {
        check(r#""a\tb\"\\\065" x"#, 14, "a\tb\"\\A", &[]);
        check(
            r#""\a\b\f\n\r\v\255""#,
            18,
            "\x07\x08\x0c\n\r\x0b\u{ff}",
            &[],
        );
    }

    #[test]
    fn bad_strings_are_reported_and_read_on() {
        let unterminated = "this string has no end: expected `\"` on the same line";
        check("\"abc\nd\"", 4, "abc", &[unterminated]);
        check(
            "\"abc\\",
            5,
            "abc",
            &["nothing follows the backslash", unterminated],
        );
        check(
            r#""a\qb\12c\999d""#,
            15,
            "abcd",
            &[
                "unknown escape `\\q`",
                "escape `\\12` has fewer than three digits",
                "escape `\\999` is above 255",
            ],
        );
        check(
            "\"aπb\"",
            6,
            "ab",
            &["character U+03C0 in a string: only printable ASCII characters are allowed"],
        );
    }

    #[test]
    fn every_byte_survives_writing_and_reading() {
        let value: String = (0..=255u8).map(char::from).collect();
        let written = write_string(&value);
        let read = scan_string(&written, 0);
        assert_eq!((read.value, read.end), (value, written.len()));
        assert!(written.is_ascii() && read.diagnostics.is_empty());
    }
}
