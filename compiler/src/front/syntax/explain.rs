//! Explains a syntax error in the user's words: the token that was found, those that were expected, and the likely mistake.

use super::{
    ast::Version,
    hints,
    recover::Nesting,
    token::{Keyword, Punct, Spanned, Token, reserved_in_other_version},
};
use crate::front::{
    codes,
    diag::{Diagnostic, Fix},
    source::Span,
};

/// Where and why the parser stopped.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// The first token that is not part of a complete definition.
    pub(crate) from: usize,
    /// The token that was not accepted; past the last one at the end of the text.
    pub(crate) error: usize,
    /// The grammar's names of the tokens that would have been accepted.
    pub(crate) expected: Vec<String>,
}

impl Stop {
    /// What the generated parser says, with the grammar's names without their quotes.
    pub(crate) fn new(from: usize, error: usize, expected: Vec<String>) -> Stop {
        let expected = expected
            .iter()
            .map(|name| name.trim_matches('"').to_owned())
            // A word that may begin a type is a name to the user.
            .filter(|name| name != "data word")
            .collect();
        Stop {
            from,
            error,
            expected,
        }
    }

    /// Whether the token with this name would have been accepted.
    pub(crate) fn expects(&self, name: &str) -> bool {
        self.expected.iter().any(|expected| expected == name)
    }
}

/// The place of a token, or the end of the text.
pub(crate) fn place(tokens: &[Spanned<'_>], index: usize) -> Span {
    let end = tokens.last().map_or(0, |last| last.span.end);
    let at_end = Span { start: end, end };
    tokens.get(index).map_or(at_end, |spanned| spanned.span)
}

/// The error for a missing `;` or closing bracket, which belongs right after the token before.
pub(crate) fn missing(
    tokens: &[Spanned<'_>],
    nesting: &Nesting,
    stop: &Stop,
    punct: Punct,
) -> Diagnostic {
    let end = place(tokens, stop.error.saturating_sub(1)).end;
    let span = Span { start: end, end };
    let message = format!(
        "expected `{}` before {}",
        punct.text(),
        found(tokens, stop.error)
    );
    let error =
        Diagnostic::error(codes::MISSING_TOKEN, span, message).fix(Fix::insert(end, punct.text()));
    match nesting.innermost_open() {
        Some(open) if punct != Punct::Semicolon => {
            error.label(tokens[open].span, format!("`{}` closes this", punct.text()))
        }
        _ => error,
    }
}

/// The error for a token that was not accepted.
pub(crate) fn unexpected(
    version: Version,
    tokens: &[Spanned<'_>],
    nesting: &Nesting,
    stop: &Stop,
) -> Diagnostic {
    let found = found(tokens, stop.error);
    let message = match in_words(&stop.expected, version).as_slice() {
        [] => format!("unexpected {found}"),
        [only] => format!("expected {only}, found {found}"),
        [first @ .., last] => format!("expected {} or {last}, found {found}", first.join(", ")),
    };
    let error = Diagnostic::error(codes::SYNTAX, place(tokens, stop.error), message);
    hints::advise(error, version, tokens, nesting, stop)
}

/// The error for a definition or statement that begins with a keyword of the other version.
pub(crate) fn foreign_unit(
    version: Version,
    tokens: &[Spanned<'_>],
    unit: usize,
) -> Option<Diagnostic> {
    let Spanned { token, span } = *tokens.get(unit)?;
    let Token::Name(word) = token else {
        return None;
    };
    foreign_word(version, word, span)
}

/// The error for a keyword of the other version.
pub(crate) fn foreign_word(version: Version, word: &str, span: Span) -> Option<Diagnostic> {
    let keyword = Keyword::find(word)?;
    let other = reserved_in_other_version(word, version)?;
    let message = format!("`{word}` is version {other} syntax, but this file is version {version}");
    let error = Diagnostic::error(codes::VERSION_SYNTAX, span, message);
    Some(match keyword.counterpart() {
        Some(instead) => {
            let error = error
                .hint(format!("in version {version} write `{instead}`"))
                .hint(format!("or make `#version {other}` the first line"));
            match instead
                .strip_suffix("(…)")
                .or(instead.strip_suffix(" { … }"))
            {
                Some(word) if !word.contains(' ') => error.fix(Fix::replace(span, word)),
                _ => error,
            }
        }
        None => error.hint(format!("make `#version {other}` the first line")),
    })
}

/// The token in a message.
pub(crate) fn found(tokens: &[Spanned<'_>], index: usize) -> String {
    let at_end = || "the end of the file".to_owned();
    tokens
        .get(index)
        .map_or_else(at_end, |spanned| spanned.token.describe())
}

/// Tokens that together mean one thing to the user.
struct Group {
    /// What the user calls it.
    name: &'static str,
    /// Tokens that occur together only where the group is expected.
    signs: &'static [&'static str],
    /// The tokens it stands for.
    members: &'static [&'static [&'static str]],
}

#[rustfmt::skip]
const TYPES: &[&str] = &[
    "name", "bool", "int", "string", "real", "tensor", "vec2", "vec3", "vec4", "mat2", "mat3", "mat4", "image", "field", "kernel",
];

/// Larger groups come first: their tokens are not named again.
#[rustfmt::skip]
const GROUPS: &[Group] = &[
    Group {
        name: "a definition",
        signs: &["function", "strand"],
        members: &[TYPES, &["import", "const", "input", "function", "strand", "initialize", "start", "update", "global", "initially", "create_array", "create_collection"]],
    },
    Group {
        name: "a statement",
        signs: &["foreach", "die"],
        members: &[TYPES, &["{", "if", "foreach", "print", "new", "stabilize", "die", "continue", "return"]],
    },
    Group {
        name: "a state variable, a method",
        signs: &["output", "update"],
        members: &[TYPES, &["output", "initialize", "start", "update", "stabilize"]],
    },
    Group {
        name: "an expression",
        signs: &["true", "zeros"],
        members: &[&[
            "name", "int literal", "real literal", "string literal", "true", "false", "derivative", "∂", "-", "!", "(", "[", "{", "|",
            "identity", "zeros", "nan", "nan of", "real", "image", "load", "load_image", "load_sequence",
        ]],
    },
    Group { name: "a type", signs: &["bool", "tensor"], members: &[TYPES] },
    Group {
        name: "an assignment or a declaration",
        signs: &["=", "+=", "name"],
        members: &[&["=", "+=", "-=", "*=", "/=", "%=", "@=", "name", "[", "{"]],
    },
    Group { name: "a name", signs: &["name", "[", "{"], members: &[&["name", "[", "{"]] },
    Group {
        name: "an operator",
        signs: &["sum", "product"],
        members: &[&["comparison", "sum", "product", "composition", "-", "^", "&&", "||", ":", "..", "if", "(", "[", "{", ".", "#"]],
    },
];

/// What the expected tokens are called, most telling first.
fn in_words(expected: &[String], version: Version) -> Vec<String> {
    let foreign =
        |name: &str| Keyword::find(name).is_some_and(|keyword| !keyword.is_reserved_in(version));
    let mut rest: Vec<&str> = expected
        .iter()
        .map(String::as_str)
        .filter(|name| *name != "unreadable" && !foreign(name))
        .collect();
    let mut groups = Vec::new();
    for group in GROUPS {
        if group.signs.iter().all(|sign| rest.contains(sign)) {
            groups.push(group.name.to_owned());
            rest.retain(|name| !group.members.iter().any(|members| members.contains(name)));
        }
    }
    let single = rest.into_iter().map(|name| match name {
        "name" => "a name".to_owned(),
        "int literal" => "an integer".to_owned(),
        "string literal" => "a string".to_owned(),
        _ => format!("`{name}`"),
    });
    // Operators can follow almost anything, so they are named last.
    let operators = groups.iter().position(|group| group == "an operator");
    let last = operators.map(|index| groups.remove(index));
    groups.into_iter().chain(single).chain(last).collect()
}
