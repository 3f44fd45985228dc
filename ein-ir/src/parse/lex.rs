//! Tokens of the EIN notation.

use super::error::ParseError;
use crate::Rational;
use std::fmt;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// Latin letters and digits, starting with a letter; or one Greek letter.
    Word(String),
    /// An integer or a fraction, with its sign.
    Number(Rational),
    /// A symbol of one character.
    Symbol(char),
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

const SYMBOLS: &str = "()[]{}:,.|+−/^@<≤=Σ∂δελ";

/// All tokens with the bytes at which they start; the last one is the end.
///
/// A number is read with what touches it: `-1/2` is one number, `1 / 2` is a quotient and `−` is an operator.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, ParseError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let at = text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            tokens.push((Token::End, at));
            return Ok(tokens);
        };
        let length = match first {
            'a'..='z' | 'A'..='Z' => prefix(rest, |c| c.is_ascii_alphanumeric()),
            '-' | '0'..='9' => number_length(rest),
            _ => first.len_utf8(),
        };
        let (lexeme, after) = rest.split_at(length);
        let token = match first {
            'a'..='z' | 'A'..='Z' => Token::Word(lexeme.to_owned()),
            '-' | '0'..='9' => Token::Number(number(lexeme).ok_or_else(|| ParseError {
                at,
                message: format!("`{lexeme}` is not a number"),
            })?),
            _ if SYMBOLS.contains(first) => Token::Symbol(first),
            'α'..='ω' => Token::Word(lexeme.to_owned()),
            _ => {
                return Err(ParseError {
                    at,
                    message: format!("`{first}` is not part of the notation"),
                });
            }
        };
        tokens.push((token, at));
        rest = after;
    }
}

/// The bytes of the longest prefix of such characters.
fn prefix(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn number_length(text: &str) -> usize {
    let digits = |text: &str| prefix(text, |c| c.is_ascii_digit());
    let sign = usize::from(text.starts_with('-'));
    let whole = sign + digits(&text[sign..]);
    match text[whole..].strip_prefix('/').map(digits) {
        None | Some(0) => whole,
        Some(denominator) => whole + 1 + denominator,
    }
}

fn number(lexeme: &str) -> Option<Rational> {
    let (numerator, denominator) = lexeme.split_once('/').unwrap_or((lexeme, "1"));
    let (numerator, denominator): (i128, i128) =
        (numerator.parse().ok()?, denominator.parse().ok()?);
    // The least integer has no magnitude, which reduction to lowest terms needs.
    (denominator != 0 && numerator != i128::MIN).then(|| Rational::new(numerator, denominator))
}
