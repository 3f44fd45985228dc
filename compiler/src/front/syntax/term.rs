//! Finds the end of an expression from its beginning, for errors at run time.

use super::{
    lexer,
    operators::Level,
    token::{Keyword, Punct, Token},
    version::version_line,
};
use crate::front::source::{Source, Span};

/// The term that begins at a byte of a program: its factors up to a sign that binds less than a product.
pub fn term_at(source: &Source, start: u32) -> Span {
    let line = version_line(&source.text);
    let tokens = lexer::lex(&source.text, line.length, line.version).tokens;
    let first = tokens.partition_point(|spanned| spanned.span.start < start);
    let mut end = start + 1;
    let mut open = 0;
    for (n, spanned) in tokens[first..].iter().enumerate() {
        match spanned.token {
            Token::Punct(Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace) => open += 1,
            Token::Punct(Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace) => {
                if open == 0 {
                    break;
                }
                open -= 1;
            }
            token if n > 0 && open == 0 && ends_term(token) => break,
            _ => {}
        }
        end = spanned.span.end;
    }
    Span { start, end }
}

fn ends_term(token: Token<'_>) -> bool {
    match token {
        Token::Punct(punct) => !matches!(punct, Punct::Dot | Punct::Power | Punct::Bar),
        Token::Operator(level, _) => level < Level::Product,
        Token::Keyword(keyword) => matches!(keyword, Keyword::If | Keyword::Else | Keyword::In),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, from: &str, term: &str) {
        let text = format!("#version 2.0\n{text}");
        let source = Source::new("p.diderot", text.as_str());
        let start = text.find(from).expect("the beginning") as u32;
        let span = term_at(&source, start);
        assert_eq!(&text[span.start as usize..span.end as usize], term);
    }

    #[test]
    fn a_term_ends_before_what_binds_less_or_closes() {
        check("real y = 2.0 + a/(b - c) + d;", "a/", "a/(b - c)");
        check("real y = real(a/b);", "a/", "a/b");
        check("real y = s[i + 1] - 1;", "s[", "s[i + 1]");
        check("real y = s[i]{0} if c else 2;", "s[", "s[i]{0}");
        check(
            "image(2)[] v = load_image(\"v.nrrd\");",
            "load",
            "load_image(\"v.nrrd\")",
        );
        check("int y = a%b", "a%", "a%b");
    }
}
