//! Hints for common slips, one rule each: rules look at the tokens around the place where the parser stopped.

use super::{
    ast::Version,
    explain::Stop,
    operators::{self, Level, Position},
    recover::Nesting,
    token::{Keyword, Punct, Spanned, Token, reserved_in_other_version},
};
use crate::front::{
    diag::{Diagnostic, Fix},
    source::Span,
};

/// The tokens around an error.
struct Slip<'a> {
    version: Version,
    tokens: &'a [Spanned<'a>],
    stop: &'a Stop,
    /// The innermost open bracket.
    open: Option<usize>,
    /// The first token of the statement, member or definition.
    unit: usize,
}

/// A hint, with the change that it proposes if that is a definite one.
struct Advice {
    text: String,
    fix: Option<Fix>,
}

impl From<String> for Advice {
    fn from(text: String) -> Advice {
        Advice { text, fix: None }
    }
}

/// Adds hints to an error, those of all rules that apply.
pub(crate) fn advise(
    mut error: Diagnostic,
    version: Version,
    tokens: &[Spanned<'_>],
    nesting: &Nesting,
    stop: &Stop,
) -> Diagnostic {
    let slip = Slip {
        version,
        tokens,
        stop,
        open: nesting.innermost_open(),
        unit: nesting.unit(),
    };
    for advice in RULES.iter().filter_map(|rule| rule(&slip)) {
        error.hints.push(advice.text);
        error.fixes.extend(advice.fix);
    }
    error
}

type Rule = fn(&Slip<'_>) -> Option<Advice>;

const RULES: &[Rule] = &[
    comparison_with_one_equals_sign,
    real_without_digits,
    number_with_exponent_only,
    derivative_with_a_blank,
    sign_after_power,
    power_with_two_stars,
    append,
    brackets_after_the_name,
    word_of_the_other_version,
    word_of_other_languages,
    increment,
    assignment_to_a_part,
    call_as_a_statement,
    bars_that_touch,
    conversion_by_type_name,
    empty_statement,
    word_alone,
    variable_without_a_type,
    include,
    import_without_quotes,
    function_without_keyword,
    foreach_without_a_type,
    reserved_word_as_a_name,
    late_version_line,
    return_without_a_value,
    header_without_parentheses,
];

impl<'a> Slip<'a> {
    /// The token `offset` places after the one that was not accepted, before it if negative.
    fn token(&self, offset: isize) -> Option<Token<'a>> {
        let index = self.stop.error.checked_add_signed(offset)?;
        Some(self.tokens.get(index)?.token)
    }

    /// The place from one such token to another.
    fn place(&self, first: isize, last: isize) -> Option<Span> {
        let span = |offset| {
            let index = self.stop.error.checked_add_signed(offset)?;
            Some(self.tokens.get(index)?.span)
        };
        Some(span(first)?.to(span(last)?))
    }

    /// Advice to put a text in the place of the tokens from one to another.
    fn replace(&self, (first, last): (isize, isize), with: &str, text: String) -> Option<Advice> {
        let fix = Some(Fix::replace(self.place(first, last)?, with));
        Some(Advice { text, fix })
    }

    /// Whether nothing stands between that token and the next.
    fn touches_next(&self, offset: isize) -> bool {
        let span = |offset| self.place(offset, offset);
        match (span(offset), span(offset + 1)) {
            (Some(first), Some(second)) => first.end == second.start,
            _ => false,
        }
    }

    fn first(&self) -> Option<Token<'a>> {
        Some(self.tokens.get(self.unit)?.token)
    }
}

fn is_punct(token: Option<Token<'_>>, punct: Punct) -> bool {
    token.is_some_and(|token| token.is(punct))
}

fn comparison_with_one_equals_sign(slip: &Slip<'_>) -> Option<Advice> {
    if !is_punct(slip.token(0), Punct::Set) || !slip.stop.expects("comparison") {
        return None;
    }
    let text = "`=` assigns; two values are compared with `==`";
    slip.replace((0, 0), "==", text.to_owned())
}

/// `1.` and `.5`
fn real_without_digits(slip: &Slip<'_>) -> Option<Advice> {
    let (real, place) = match (slip.token(-2), slip.token(-1), slip.token(0), slip.token(1)) {
        (Some(Token::Int(digits)), Some(dot), _, _)
            if dot.is(Punct::Dot) && slip.touches_next(-2) =>
        {
            (format!("{digits}.0"), (-2, -1))
        }
        (_, _, Some(dot), Some(Token::Int(digits)))
            if dot.is(Punct::Dot) && slip.touches_next(0) =>
        {
            (format!("0.{digits}"), (0, 1))
        }
        _ => return None,
    };
    slip.replace(place, &real, both_sides(&real))
}

fn both_sides(real: &str) -> String {
    format!("a real number has digits on both sides of the point: `{real}`")
}

/// `1e5`
fn number_with_exponent_only(slip: &Slip<'_>) -> Option<Advice> {
    let (Some(Token::Int(digits)), Some(Token::Name(name))) = (slip.token(-1), slip.token(0))
    else {
        return None;
    };
    let is_exponent = name
        .strip_prefix(['e', 'E'])
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_exponent || !slip.touches_next(-1) {
        return None;
    }
    let real = format!("{digits}.0{name}");
    slip.replace((-1, 0), &real, both_sides(&real))
}

/// `∇ ⊗ F`
fn derivative_with_a_blank(slip: &Slip<'_>) -> Option<Advice> {
    match (slip.token(-1), slip.token(0)) {
        (
            Some(Token::Operator(Level::Derivative, nabla)),
            Some(Token::Operator(Level::Product, symbol)),
        ) => {
            let joined = format!("{nabla}{symbol}");
            let symbol = operators::find(Position::Prefix, &joined)?.symbol;
            let text = format!("`{symbol}` is one symbol, without a blank inside");
            slip.replace((-1, 0), symbol, text)
        }
        _ => None,
    }
}

/// `x^-1`
fn sign_after_power(slip: &Slip<'_>) -> Option<Advice> {
    if !is_punct(slip.token(-1), Punct::Power) || !is_punct(slip.token(0), Punct::Minus) {
        return None;
    }
    let text = "put the exponent in parentheses: `x^(-1)`".to_owned();
    match slip.token(1) {
        Some(Token::Int(exponent) | Token::Real(exponent) | Token::Name(exponent)) => {
            slip.replace((0, 1), &format!("(-{exponent})"), text)
        }
        _ => Some(text.into()),
    }
}

/// `y**2`
fn power_with_two_stars(slip: &Slip<'_>) -> Option<Advice> {
    let is_star = |offset| {
        matches!(
            slip.token(offset),
            Some(Token::Operator(Level::Product, "*"))
        )
    };
    if !is_star(-1) || !is_star(0) || !slip.touches_next(-1) {
        return None;
    }
    let text = "a power is written with `^`: `y^2`".to_owned();
    slip.replace((-1, 0), "^", text)
}

/// `path @= x;`
fn append(slip: &Slip<'_>) -> Option<Advice> {
    let is_at = |offset| matches!(slip.token(offset), Some(Token::Operator(_, "@")));
    let at = [0, -1].into_iter().find(|&offset| is_at(offset))?;
    let name = match slip.first() {
        Some(Token::Name(name)) => name,
        _ => return None,
    };
    if !is_punct(slip.token(at + 1), Punct::Set) || !slip.touches_next(at) {
        return None;
    }
    let text = format!("there is no `@=`: write `{name} = {name} @ …;`");
    slip.replace((at, at + 1), &format!("= {name} @"), text)
}

/// `real l[] = …;`
fn brackets_after_the_name(slip: &Slip<'_>) -> Option<Advice> {
    let Some(Token::Name(name)) = slip.token(-2) else {
        return None;
    };
    let is_empty = is_punct(slip.token(-1), Punct::OpenBracket)
        && is_punct(slip.token(0), Punct::CloseBracket);
    let is_declared = matches!(slip.token(-3), Some(Token::Keyword(_)));
    if !is_empty || !is_declared {
        return None;
    }
    let text = format!(
        "the brackets of a sequence stand after the type of its elements: `real[2] {name}` has 2 elements, `real[] {name}` any number"
    );
    slip.replace((-2, 0), &format!("[] {name}"), text)
}

fn word_of_the_other_version(slip: &Slip<'_>) -> Option<Advice> {
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

fn word_of_other_languages(slip: &Slip<'_>) -> Option<Advice> {
    let first = slip.unit as isize - slip.stop.error as isize;
    [0, -1, first].into_iter().find_map(|at| {
        let Some(Token::Name(word)) = slip.token(at) else {
            return None;
        };
        let (_, here, text) = OTHER_LANGUAGES.iter().find(|row| row.0 == word)?;
        match here {
            Some(here) => slip.replace((at, at), here, (*text).to_owned()),
            None => Some((*text).to_owned().into()),
        }
    })
}

/// `x++;` and `x--;`
fn increment(slip: &Slip<'_>) -> Option<Advice> {
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
fn assignment_to_a_part(slip: &Slip<'_>) -> Option<Advice> {
    let in_block = matches!(slip.first(), Some(Token::Name(_)));
    let closed = matches!(
        slip.token(-1),
        Some(Token::Punct(Punct::CloseBracket | Punct::CloseBrace))
    );
    let element = slip.token(0).is_some_and(|found| found.assigns()) && closed;
    let member = slip.stop.error == slip.unit + 1 && is_punct(slip.token(0), Punct::Dot);
    (in_block && (element || member)).then(|| {
        "only whole variables can be assigned: build the new value and assign that"
            .to_owned()
            .into()
    })
}

/// `f(x);`
fn call_as_a_statement(slip: &Slip<'_>) -> Option<Advice> {
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

/// `||a||`
fn bars_that_touch(slip: &Slip<'_>) -> Option<Advice> {
    is_punct(slip.token(0), Punct::Or).then(|| {
        "`||` is always the logical operator: put a blank between the bars of two norms"
            .to_owned()
            .into()
    })
}

/// `int(x)` and `vec2(x, y)`
fn conversion_by_type_name(slip: &Slip<'_>) -> Option<Advice> {
    let Some(Token::Keyword(keyword)) = slip.token(0) else {
        return None;
    };
    if !slip.stop.expects("real literal") {
        return None;
    }
    use Keyword::*;
    match keyword {
        Int => Some("there is no conversion from real to int; `floor`, `ceil`, `round` and `trunc` give reals"),
        Vec2 | Vec3 | Vec4 | Mat2 | Mat3 | Mat4 | Tensor => {
            Some("tensors are written by their components: `[x, y]`, `[[a, b], [c, d]]`")
        }
        _ => None,
    }
    .map(|text| text.to_owned().into())
}

fn empty_statement(slip: &Slip<'_>) -> Option<Advice> {
    if slip.stop.error != slip.unit || !is_punct(slip.token(0), Punct::Semicolon) {
        return None;
    }
    Some(Advice {
        text: "remove this `;`: there is no empty statement".to_owned(),
        fix: Some(Fix::remove(slip.place(0, 0)?, ";")),
    })
}

/// `stabilise;`
fn word_alone(slip: &Slip<'_>) -> Option<Advice> {
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
fn variable_without_a_type(slip: &Slip<'_>) -> Option<Advice> {
    let Some(Token::Name(name)) = slip.first() else {
        return None;
    };
    let is_definition = slip.open.is_none() && slip.stop.error == slip.unit + 1;
    (is_definition && is_punct(slip.token(0), Punct::Set))
        .then(|| format!("a variable is defined with its type: `real {name} = …;`").into())
}

/// `#include "…"`
fn include(slip: &Slip<'_>) -> Option<Advice> {
    (is_punct(slip.token(0), Punct::Hash) && slip.token(1) == Some(Token::Name("include"))).then(
        || {
            "definitions of another file are imported: `import \"file.diderot\";`"
                .to_owned()
                .into()
        },
    )
}

/// `import <…>`
fn import_without_quotes(slip: &Slip<'_>) -> Option<Advice> {
    (slip.first() == Some(Token::Name("import")) && slip.stop.error == slip.unit + 1).then(|| {
        "the name of the file stands in quotes: `import \"file.diderot\";`"
            .to_owned()
            .into()
    })
}

/// `real f (real x) = …;`
fn function_without_keyword(slip: &Slip<'_>) -> Option<Advice> {
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
    .then(|| {
        "a function is defined by `function T f (T x, …) …`"
            .to_owned()
            .into()
    })
}

/// `foreach (x in s)`
fn foreach_without_a_type(slip: &Slip<'_>) -> Option<Advice> {
    (slip.token(0) == Some(Token::Keyword(Keyword::In))
        && slip.token(-3) == Some(Token::Keyword(Keyword::Foreach)))
    .then(|| {
        "the variable of a `foreach` is declared with its type: `foreach (real x in s)`"
            .to_owned()
            .into()
    })
}

fn reserved_word_as_a_name(slip: &Slip<'_>) -> Option<Advice> {
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

fn late_version_line(slip: &Slip<'_>) -> Option<Advice> {
    (is_punct(slip.token(0), Punct::Hash) && slip.token(1) == Some(Token::Name("version"))).then(
        || {
            "`#version` counts only at the very beginning of the first line"
                .to_owned()
                .into()
        },
    )
}

fn return_without_a_value(slip: &Slip<'_>) -> Option<Advice> {
    (slip.token(-1) == Some(Token::Keyword(Keyword::Return))
        && is_punct(slip.token(0), Punct::Semicolon))
    .then(|| "every function returns a value".to_owned().into())
}

/// `if x < 1 …`
fn header_without_parentheses(slip: &Slip<'_>) -> Option<Advice> {
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
