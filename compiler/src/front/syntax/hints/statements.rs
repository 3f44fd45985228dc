//! Slips in statements and definitions.

use super::{Advice, Slip, is_punct};
use crate::front::{
    diag::Fix,
    syntax::{
        operators::Level,
        token::{Keyword, Punct, Token, reserved_in_other_version},
    },
};

pub(super) fn word_of_the_other_version(slip: &Slip<'_>) -> Option<Advice> {
    let end = (slip.stop.error + 1).min(slip.tokens.len());
    let read = slip.tokens.get(slip.unit + 1..end)?;
    read.iter().rev().find_map(|spanned| {
        let Token::Name(word) = spanned.token else {
            return None;
        };
        let other = reserved_in_other_version(word, slip.version)?;
        let text = format!(
            "`{word}` is a keyword of version {other}, but this file is version {}: a first line `#version {other}` would change that",
            slip.version
        );
        Some(text.into())
    })
}

/// Words of other languages, those that take their place here, if there are any, and what to do.
#[rustfmt::skip]
const OTHER_LANGUAGES: &[(&str, Option<&str>, &str)] = &[
    ("while", None, LOOPS),
    ("for", None, LOOPS),
    ("do", None, LOOPS),
    ("loop", None, LOOPS),
    ("repeat", None, LOOPS),
    ("break", None, "there is no `break`: a loop runs to its end, and `continue`, `stabilize` and `die` leave the whole method"),
    ("switch", None, "there is no `switch`: write `if … else if …`"),
    ("case", None, "there is no `case`: write `if … else if …`"),
    ("elif", Some("else if"), "write `else if`"),
    ("elsif", Some("else if"), "write `else if`"),
    ("elseif", Some("else if"), "write `else if`"),
    ("and", Some("&&"), LOGIC),
    ("or", Some("||"), LOGIC),
    ("not", Some("!"), LOGIC),
    ("let", None, "a variable is declared with its type: `real x = …;`"),
    ("var", None, "a variable is declared with its type: `real x = …;`"),
];

const LOGIC: &str = "the logical operators are `&&`, `||` and `!`";

const LOOPS: &str = "the only loop is `foreach (T x in s) { … }`; other repetition is done by successive updates of a strand";

pub(super) fn word_of_other_languages(slip: &Slip<'_>) -> Option<Advice> {
    let first = slip.unit as isize - slip.stop.error as isize;
    [0, -1, first].into_iter().find_map(|at| {
        let Some(Token::Name(word)) = slip.token(at) else {
            return None;
        };
        let (_, here, text) = OTHER_LANGUAGES.iter().find(|row| row.0 == word)?;
        match here {
            Some(here) => slip.replace((at, at), here, *text),
            None => Some((*text).into()),
        }
    })
}

/// `x++;` and `x--;`
pub(super) fn increment(slip: &Slip<'_>) -> Option<Advice> {
    let sign = |offset| match slip.token(offset) {
        Some(Token::Operator(Level::Sum, symbol)) => Some(symbol),
        Some(Token::Punct(Punct::Minus)) => Some("-"),
        _ => None,
    };
    let last = [1, 0, -1]
        .into_iter()
        .find(|&offset| sign(offset).is_some())?;
    let symbol = sign(last)?;
    let is_statement = matches!(slip.first(), Some(Token::Name(_)));
    if !is_statement || sign(last - 1) != Some(symbol) || !slip.touches_next(last - 1) {
        return None;
    }
    let text = format!("write `x {symbol}= 1;`");
    slip.replace((last - 1, last), &format!(" {symbol}= 1"), text)
}

/// `v[0] = 1;` and `q.x = 1;`
pub(super) fn assignment_to_a_part(slip: &Slip<'_>) -> Option<Advice> {
    let in_block = matches!(slip.first(), Some(Token::Name(_)));
    let closed = matches!(
        slip.token(-1),
        Some(Token::Punct(Punct::CloseBracket | Punct::CloseBrace))
    );
    let element = slip.token(0).is_some_and(|found| found.assigns()) && closed;
    let member = slip.stop.error == slip.unit + 1 && is_punct(slip.token(0), Punct::Dot);
    (in_block && (element || member))
        .then(|| "only whole variables can be assigned: build the new value and assign that".into())
}

/// `f(x);`
pub(super) fn call_as_a_statement(slip: &Slip<'_>) -> Option<Advice> {
    let Some(Token::Name(name)) = slip.first() else {
        return None;
    };
    let known = OTHER_LANGUAGES.iter().any(|row| row.0 == name)
        || reserved_in_other_version(name, slip.version).is_some();
    (!known && slip.stop.error == slip.unit + 1 && is_punct(slip.token(0), Punct::OpenParen)).then(
        || {
            format!("a call is not a statement: store its result, as in `real r = {name}(…);`")
                .into()
        },
    )
}

pub(super) fn empty_statement(slip: &Slip<'_>) -> Option<Advice> {
    if slip.stop.error != slip.unit || !is_punct(slip.token(0), Punct::Semicolon) {
        return None;
    }
    Some(Advice {
        text: "remove this `;`: there is no empty statement".to_owned(),
        fix: Some(Fix::remove(slip.place(0, 0)?, ";")),
    })
}

/// `stabilise;`
pub(super) fn word_alone(slip: &Slip<'_>) -> Option<Advice> {
    let Some(Token::Name(word)) = slip.first() else {
        return None;
    };
    let is_alone = slip.stop.error == slip.unit + 1 && is_punct(slip.token(0), Punct::Semicolon);
    let statements = [Keyword::Stabilize, Keyword::Die, Keyword::Continue];
    let distance = |keyword: &Keyword| strsim::osa_distance(&word.to_lowercase(), keyword.text());
    let nearest = statements.into_iter().min_by_key(distance)?;
    if !is_alone || distance(&nearest) > nearest.text().len() / 3 {
        return None;
    }
    let text = format!("did you mean `{};`?", nearest.text());
    slip.replace((-1, -1), nearest.text(), text)
}

/// `x = 4;` among the definitions
pub(super) fn variable_without_a_type(slip: &Slip<'_>) -> Option<Advice> {
    let Some(Token::Name(name)) = slip.first() else {
        return None;
    };
    let is_definition = slip.open.is_none() && slip.stop.error == slip.unit + 1;
    (is_definition && is_punct(slip.token(0), Punct::Set))
        .then(|| format!("a variable is defined with its type: `real {name} = …;`").into())
}

/// `#include "…"`
pub(super) fn include(slip: &Slip<'_>) -> Option<Advice> {
    (is_punct(slip.token(0), Punct::Hash) && slip.token(1) == Some(Token::Name("include")))
        .then(|| "definitions of another file are imported: `import \"file.diderot\";`".into())
}

/// `import <…>`
pub(super) fn import_without_quotes(slip: &Slip<'_>) -> Option<Advice> {
    (slip.first() == Some(Token::Name("import")) && slip.stop.error == slip.unit + 1)
        .then(|| "the name of the file stands in quotes: `import \"file.diderot\";`".into())
}

/// `real f (real x) = …;`
pub(super) fn function_without_keyword(slip: &Slip<'_>) -> Option<Advice> {
    let open = slip.open?;
    let named = matches!(slip.tokens.get(open.checked_sub(1)?)?.token, Token::Name(_));
    let keyword = matches!(
        slip.first(),
        Some(Token::Keyword(
            Keyword::Function | Keyword::Strand | Keyword::Input
        ))
    );
    (slip.stop.error == open + 1
        && named
        && !keyword
        && slip.stop.expected.len() <= 2
        && slip.stop.expects("name"))
    .then(|| "a function is defined by `function T f (T x, …) …`".into())
}

/// `foreach (x in s)`
pub(super) fn foreach_without_a_type(slip: &Slip<'_>) -> Option<Advice> {
    (slip.token(0) == Some(Token::Keyword(Keyword::In))
        && slip.token(-3) == Some(Token::Keyword(Keyword::Foreach)))
    .then(|| {
        "the variable of a `foreach` is declared with its type: `foreach (real x in s)`".into()
    })
}

pub(super) fn reserved_word_as_a_name(slip: &Slip<'_>) -> Option<Advice> {
    if foreach_without_a_type(slip).is_some() {
        return None;
    }
    let Some(Token::Keyword(keyword)) = slip.token(0) else {
        return None;
    };
    let only_a_name = slip
        .stop
        .expected
        .iter()
        .all(|expected| matches!(expected.as_str(), "name" | "[" | "{" | "unreadable"));
    let in_parentheses = is_punct(slip.token(-1), Punct::OpenParen);
    (only_a_name && !in_parentheses && slip.stop.expects("name")).then(|| {
        format!(
            "`{}` is a reserved word and cannot be a name",
            keyword.text()
        )
        .into()
    })
}

pub(super) fn late_version_line(slip: &Slip<'_>) -> Option<Advice> {
    (is_punct(slip.token(0), Punct::Hash) && slip.token(1) == Some(Token::Name("version")))
        .then(|| "`#version` counts only at the very beginning of the first line".into())
}

pub(super) fn return_without_a_value(slip: &Slip<'_>) -> Option<Advice> {
    (slip.token(-1) == Some(Token::Keyword(Keyword::Return))
        && is_punct(slip.token(0), Punct::Semicolon))
    .then(|| "every function returns a value".into())
}

/// `if x < 1 …`
pub(super) fn header_without_parentheses(slip: &Slip<'_>) -> Option<Advice> {
    match slip.token(-1) {
        Some(Token::Keyword(keyword @ (Keyword::If | Keyword::Foreach)))
            if slip.stop.expected == ["("] =>
        {
            let text = format!("what follows `{}` stands in parentheses", keyword.text());
            Some(text.into())
        }
        _ => None,
    }
}
