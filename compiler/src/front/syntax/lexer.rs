//! From text to tokens.
//!
//! Takes a text and its version; gives every token with its place, and the lexical errors. Characters that belong to nothing are
//! reported, a run of them once, and skipped, so there is always a token list to parse.

use logos::Logos;

use super::{
    ast::Version,
    operators::{self, Position, Spelling},
    token::{Keyword, Punct, Spanned, Token},
};
use crate::front::{
    codes,
    diag::{Diagnostic, Fix},
    source::Span,
};

/// What the lexer makes of a text.
#[derive(Debug)]
pub(crate) struct Lexed<'s> {
    /// The tokens in order.
    pub(crate) tokens: Vec<Spanned<'s>>,
    /// The lexical errors in order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether an unterminated comment swallowed the rest of the text.
    pub(crate) cut_short: bool,
}

/// The tokens that logos distinguishes; the rest needs a table or the text after the token.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\n\r\x0b\x0c]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
enum Raw {
    #[token("/*")]
    Comment,
    #[regex(
        r"[A-Za-zαβγζηθλμξπρστφψω][A-Za-z0-9_'αβγζηθλμξπρστφψω]*",
        priority = 10
    )]
    Name,
    #[regex(r"[0-9]+")]
    Int,
    #[regex(r"[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?")]
    Real,
    #[token("\"")]
    Quote,
    #[regex(r"\\[A-Za-z]+")]
    Word,
    #[regex(r"[^\x00-\x7F]", priority = 1)]
    Wide,
    #[token("<")]
    #[token("<=")]
    #[token("==")]
    #[token("!=")]
    #[token(">=")]
    #[token(">")]
    #[token("+")]
    #[token("@")]
    #[token("*")]
    #[token("/")]
    #[token("%")]
    Operator,
    #[token("(", |_| Punct::OpenParen)]
    #[token(")", |_| Punct::CloseParen)]
    #[token("[", |_| Punct::OpenBracket)]
    #[token("]", |_| Punct::CloseBracket)]
    #[token("{", |_| Punct::OpenBrace)]
    #[token("}", |_| Punct::CloseBrace)]
    #[token(",", |_| Punct::Comma)]
    #[token(";", |_| Punct::Semicolon)]
    #[token(":", |_| Punct::Colon)]
    #[token(".", |_| Punct::Dot)]
    #[token("..", |_| Punct::Range)]
    #[token("#", |_| Punct::Hash)]
    #[token("|", |_| Punct::Bar)]
    #[token("=", |_| Punct::Set)]
    #[token("+=", |_| Punct::AddSet)]
    #[token("-=", |_| Punct::SubSet)]
    #[token("*=", |_| Punct::MulSet)]
    #[token("/=", |_| Punct::DivSet)]
    #[token("%=", |_| Punct::RemSet)]
    #[token("@=", |_| Punct::AppendSet)]
    #[token("-", |_| Punct::Minus)]
    #[token("!", |_| Punct::Not)]
    #[token("^", |_| Punct::Power)]
    #[token("&&", |_| Punct::And)]
    #[token("||", |_| Punct::Or)]
    Punct(Punct),
}

/// Splits `text` from byte `start` on into tokens.
pub(crate) fn lex(text: &str, start: usize, version: Version) -> Lexed<'_> {
    let mut lexer = Lexer {
        text,
        version,
        lexed: Lexed {
            tokens: Vec::with_capacity(text.len() / 4),
            diagnostics: Vec::new(),
            cut_short: false,
        },
        bad: None,
    };
    let mut raw = Raw::lexer(text);
    raw.bump(start);
    while let Some(result) = raw.next() {
        let span = raw.span();
        let end = lexer.token(result, span.start, span.end);
        raw.bump(end - span.end);
    }
    lexer.report_bad_characters();
    lexer.lexed
}

struct Lexer<'s> {
    text: &'s str,
    version: Version,
    lexed: Lexed<'s>,
    /// The run of bad characters that is not yet reported.
    bad: Option<Span>,
}

impl<'s> Lexer<'s> {
    /// Adds the token that starts at `start` and, as far as logos knows, ends at `end`; gives its true end.
    fn token(&mut self, raw: Result<Raw, ()>, start: usize, end: usize) -> usize {
        let text = self.text;
        let slice = &text[start..end];
        match raw {
            Ok(Raw::Comment) => self.comment(start, end),
            Ok(Raw::Name) => {
                let end = self.name_end(end);
                self.push(start, end, name_or_keyword(&text[start..end], self.version))
            }
            Ok(Raw::Int) => self.push(start, end, Token::Int(slice)),
            Ok(Raw::Real) => self.push(start, end, Token::Real(slice)),
            Ok(Raw::Quote) => self.string(start),
            Ok(Raw::Word) => self.word(start, end),
            Ok(Raw::Wide) => self.wide(start, end),
            Ok(Raw::Operator) => match operators::find_operator(slice) {
                Some(spelling) => self.push(start, end, symbol_token(spelling)),
                None => self.bad_character(start, end),
            },
            Ok(Raw::Punct(punct)) => self.push(start, end, Token::Punct(punct)),
            Err(()) => self.bad_character(start, end),
        }
    }

    fn push(&mut self, start: usize, end: usize, token: Token<'s>) -> usize {
        self.report_bad_characters();
        // Some names are special words only before certain tokens.
        if let Some(last) = self.lexed.tokens.last_mut() {
            match (last.token, token) {
                (Token::Keyword(Keyword::Nan), Token::Punct(Punct::OpenBracket)) => {
                    last.token = Token::NanOf;
                }
                (Token::Name("import"), Token::String(_)) => last.token = Token::Import,
                (
                    Token::Name(word @ ("fem" | "mesh")),
                    Token::Punct(Punct::OpenParen | Punct::Hash),
                ) => last.token = Token::Data(word),
                _ => {}
            }
        }
        self.lexed.tokens.push(Spanned {
            token,
            span: Span::new(start, end),
        });
        end
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.lexed.diagnostics.push(diagnostic);
    }

    fn comment(&mut self, start: usize, end: usize) -> usize {
        match self.text[end..].find("*/") {
            Some(length) => end + length + 2,
            None => {
                self.error(Diagnostic::error(
                    codes::UNTERMINATED_COMMENT,
                    Span::new(start, end),
                    "this comment has no end: expected `*/`",
                ));
                self.lexed.cut_short = true;
                self.text.len()
            }
        }
    }

    /// The end of a name some of whose letters are backslash words; `end` is the end of the part that is already read.
    fn name_end(&self, mut end: usize) -> usize {
        loop {
            let rest = &self.text[end..];
            let plain = rest.len() - rest.trim_start_matches(is_name_character).len();
            let word = rest[plain..].strip_prefix('\\').map_or(0, |rest| {
                let word = leading_letters(rest);
                operators::greek_letter(word).map_or(0, |_| 1 + word.len())
            });
            if plain + word == 0 {
                return end;
            }
            end += plain + word;
        }
    }

    /// A backslash word: a letter that begins a name, a constant or an operator.
    fn word(&mut self, start: usize, end: usize) -> usize {
        let written = &self.text[start..end];
        let constant = operators::find(Position::Constant, written);
        if operators::greek_letter(&written[1..]).is_some() {
            let name_end = self.name_end(end);
            if name_end > end || constant.is_none() {
                return self.push(start, name_end, Token::Name(&self.text[start..name_end]));
            }
        }
        let mut notation = operators::INDEX_SYMBOLS.iter();
        if let Some((symbol, _)) = notation.find(|(_, word)| *word == &written[1..]) {
            return self.push(start, end, index_symbol(symbol));
        }
        match constant.or_else(|| operators::find_operator(written)) {
            Some(spelling) => self.push(start, end, symbol_token(spelling)),
            None => {
                let message = format!("unknown symbol `{written}`");
                let error =
                    Diagnostic::error(codes::UNKNOWN_SYMBOL, Span::new(start, end), message);
                self.error(error.hint(operators::words_like(&written[1..])));
                end
            }
        }
    }

    /// A character outside ASCII that begins no name.
    fn wide(&mut self, start: usize, end: usize) -> usize {
        let written = &self.text[start..end];
        if operators::is_index_symbol(written) {
            return self.push(start, end, index_symbol(written));
        }
        match operators::longest_prefix(&self.text[start..]) {
            Some(spelling) => {
                let end = start + spelling.written.len();
                self.push(start, end, symbol_token(spelling))
            }
            None => self.bad_character(start, end),
        }
    }

    fn string(&mut self, start: usize) -> usize {
        let literal = super::literal::scan_string(self.text, start);
        let end = literal.end;
        for error in literal.diagnostics {
            self.error(error);
        }
        self.push(start, end, Token::String(&self.text[start..end]))
    }

    fn bad_character(&mut self, start: usize, end: usize) -> usize {
        let span = Span::new(start, end);
        match &mut self.bad {
            Some(run) if run.end == span.start => run.end = span.end,
            _ => {
                self.report_bad_characters();
                self.bad = Some(span);
            }
        }
        end
    }

    fn report_bad_characters(&mut self) {
        let Some(span) = self.bad.take() else { return };
        let text = &self.text[span.start as usize..span.end as usize];
        let mut characters = text.chars();
        let (Some(first), others) = (characters.next(), characters.count()) else {
            return;
        };
        let message = match others {
            0 => format!("bad character {}", show_character(first)),
            1 => format!("bad character {} and another one", show_character(first)),
            _ => format!("bad character {} and {others} more", show_character(first)),
        };
        let mut error = Diagnostic::error(codes::BAD_CHARACTER, span, message);
        if let Some(wanted) = operators::look_alike(first) {
            error = error.hint(format!("did you mean `{wanted}`?"));
            // A quotation mark has a partner.
            if others == 0 && wanted != "\"" {
                error = error.fix(Fix::replace(span, wanted));
            }
        }
        error.hints.extend(operators::about_character(first));
        self.error(error);
    }
}

/// The character in quotes if it can be seen, and its code point if it is not ASCII.
fn show_character(character: char) -> String {
    if character.is_ascii_graphic() {
        format!("`{character}`")
    } else if character.is_alphanumeric()
        || operators::look_alike(character).is_some()
        || operators::about_character(character).is_some()
    {
        format!("`{character}` (U+{:04X})", u32::from(character))
    } else {
        format!("U+{:04X}", u32::from(character))
    }
}

/// The token for an operator or a constant.
fn symbol_token(spelling: &'static Spelling) -> Token<'static> {
    let punct = Punct::ALL
        .iter()
        .find(|punct| punct.text() == spelling.symbol);
    match (spelling.position, punct) {
        (Position::Constant, _) => Token::Real(spelling.symbol),
        (Position::Infix | Position::Prefix, Some(&punct)) => Token::Punct(punct),
        (Position::Infix | Position::Prefix, None) => {
            Token::Operator(spelling.level, spelling.symbol)
        }
    }
}

/// The token for a symbol of index notation: those that are subscripted are names to the grammar.
fn index_symbol(symbol: &str) -> Token<'_> {
    match symbol == Punct::Partial.text() {
        true => Token::Punct(Punct::Partial),
        false => Token::Name(symbol),
    }
}

fn name_or_keyword(text: &str, version: Version) -> Token<'_> {
    match Keyword::find(text) {
        Some(keyword) if keyword.is_reserved_in(version) => Token::Keyword(keyword),
        _ => match operators::find(Position::Constant, text) {
            Some(spelling) => symbol_token(spelling),
            None => Token::Name(text),
        },
    }
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || matches!(character, '_' | '\'')
        || operators::GREEK
            .iter()
            .any(|&(letter, _)| letter == character)
}

fn leading_letters(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    &text[..text.len() - rest.len()]
}

/// A name as it is known in the program: backslash words replaced by their letters.
pub(crate) fn decode_name(written: &str) -> String {
    let mut name = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        name.push_str(&rest[..at]);
        let word = leading_letters(&rest[at + 1..]);
        name.extend(operators::greek_letter(word));
        rest = &rest[at + 1 + word.len()..];
    }
    name.push_str(rest);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::syntax::operators::Level;

    /// The tokens as their descriptions, and the messages.
    fn lexed(text: &str, version: Version) -> (Vec<String>, Vec<String>) {
        let Lexed {
            tokens,
            diagnostics,
            ..
        } = lex(text, 0, version);
        for spanned in &tokens {
            let Span { start, end } = spanned.span;
            assert!(text.get(start as usize..end as usize).is_some());
        }
        let tokens = tokens.iter().map(|spanned| spanned.token.describe());
        let messages = diagnostics.into_iter().map(|error| error.message);
        (tokens.collect(), messages.collect())
    }

    #[track_caller]
    fn check(text: &str, tokens: &[&str]) {
        let (found, messages) = lexed(text, Version::V2);
        assert_eq!(found, tokens);
        assert_eq!(messages, [""; 0]);
    }

    #[test]
    fn blanks_and_comments_separate_tokens() {
        check(
            "a\tb\r\n\x0b\x0cc",
            &["the name `a`", "the name `b`", "the name `c`"],
        );
        check(
            "a// b\nc/* * / d\n/* e */f",
            &["the name `a`", "the name `c`", "the name `f`"],
        );
        check("/**/a/***/", &["the name `a`"]);
        check("// no newline at the end", &[]);
    }

    #[test]
    fn reals_need_digits_on_both_sides_of_the_point() {
        check("0..3", &["the number `0`", "`..`", "the number `3`"]);
        check(
            "1.5e-3 2.0E7 3.25",
            &[
                "the number `1.5e-3`",
                "the number `2.0E7`",
                "the number `3.25`",
            ],
        );
        check("1. .5", &["the number `1`", "`.`", "`.`", "the number `5`"]);
        check("1e5", &["the number `1`", "the name `e5`"]);
        check("1.5e+", &["the number `1.5`", "the name `e`", "`+`"]);
        check(
            "1.5..2.5",
            &["the number `1.5`", "`..`", "the number `2.5`"],
        );
    }

    #[test]
    fn names_have_greek_letters_and_primes() {
        check(
            "phi' α_1 xπ πx",
            &[
                "the name `phi'`",
                "the name `α_1`",
                "the name `xπ`",
                "the name `πx`",
            ],
        );
        check(
            "π ∞ inf infx",
            &[
                "the number `π`",
                "the number `∞`",
                "the number `∞`",
                "the name `infx`",
            ],
        );
        assert_eq!(decode_name("\\alpha_1x\\beta'"), "α_1xβ'");
    }

    #[test]
    fn each_version_has_its_own_keywords() {
        let text = "const load global strand mat3";
        let (in_1, _) = lexed(text, Version::V1);
        assert_eq!(
            in_1,
            [
                "the name `const`",
                "`load`",
                "`global`",
                "`strand`",
                "the name `mat3`"
            ]
        );
        let (in_2, _) = lexed(text, Version::V2);
        assert_eq!(
            in_2,
            [
                "`const`",
                "the name `load`",
                "the name `global`",
                "`strand`",
                "`mat3`"
            ]
        );
    }

    #[test]
    fn the_longest_symbol_wins() {
        check(
            "∇⊗∇×∇•∇⋅∇∇ ⊗",
            &["`∇⊗`", "`∇×`", "`∇•`", "`∇•`", "`∇`", "`∇`", "`⊗`"],
        );
        check(
            "a||b|c<=d<e",
            &[
                "the name `a`",
                "`||`",
                "the name `b`",
                "`|`",
                "the name `c`",
                "`<=`",
                "the name `d`",
                "`<`",
                "the name `e`",
            ],
        );
        check(
            "+=-=*=/=%=!====",
            &[
                "`+=`", "`-=`", "`*=`", "`/=`", "`%=`", "`!=`", "`==`", "`=`",
            ],
        );
    }

    #[test]
    fn every_symbol_of_the_operator_table_is_one_token() {
        for spelling in operators::spellings() {
            let Lexed {
                tokens,
                diagnostics,
                ..
            } = lex(spelling.written, 0, Version::V2);
            assert_eq!(diagnostics, []);
            let [Spanned { token, .. }] = tokens[..] else {
                panic!("{}: {tokens:?}", spelling.written);
            };
            match token {
                Token::Operator(level, symbol) => {
                    assert_eq!((level, symbol), (spelling.level, spelling.symbol));
                    // Only these levels are terminals of the grammar.
                    assert!(matches!(
                        level,
                        Level::Comparison
                            | Level::Sum
                            | Level::Product
                            | Level::Composition
                            | Level::Derivative
                    ));
                }
                Token::Punct(punct) => assert_eq!(punct.text(), spelling.symbol),
                Token::Real(text) => assert_eq!(text, spelling.symbol),
                other => panic!("{}: {other:?}", spelling.written),
            }
        }
    }

    #[test]
    fn nan_knows_whether_a_shape_follows() {
        let kinds = |text| -> Vec<bool> {
            let tokens = lex(text, 0, Version::V1).tokens;
            tokens
                .iter()
                .map(|spanned| spanned.token == Token::NanOf)
                .collect()
        };
        assert_eq!(kinds("nan [2"), [true, false, false]);
        assert_eq!(kinds("nan + nan)["), [false, false, false, false, false]);
    }

    #[test]
    fn a_run_of_bad_characters_is_reported_once_and_skipped() {
        let (tokens, messages) = lexed("a £££ b $ c", Version::V1);
        assert_eq!(tokens, ["the name `a`", "the name `b`", "the name `c`"]);
        assert_eq!(
            messages,
            ["bad character U+00A3 and 2 more", "bad character `$`"]
        );
    }
}
