//! Slips in expressions and types.

use super::{Advice, Slip, is_punct};
use crate::front::syntax::{
    operators::{self, Level, Position},
    token::{Keyword, Punct, Token},
};

pub(super) fn comparison_with_one_equals_sign(slip: &Slip<'_>) -> Option<Advice> {
    if !is_punct(slip.token(0), Punct::Set) || !slip.stop.expects("comparison") {
        return None;
    }
    let text = "`=` assigns; two values are compared with `==`";
    slip.replace((0, 0), "==", text)
}

/// `1.` and `.5`
pub(super) fn real_without_digits(slip: &Slip<'_>) -> Option<Advice> {
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
pub(super) fn number_with_exponent_only(slip: &Slip<'_>) -> Option<Advice> {
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
pub(super) fn derivative_with_a_blank(slip: &Slip<'_>) -> Option<Advice> {
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
pub(super) fn sign_after_power(slip: &Slip<'_>) -> Option<Advice> {
    if !is_punct(slip.token(-1), Punct::Power) || !is_punct(slip.token(0), Punct::Minus) {
        return None;
    }
    let text = "put the exponent in parentheses: `x^(-1)`";
    match slip.token(1) {
        Some(Token::Int(exponent) | Token::Real(exponent) | Token::Name(exponent)) => {
            slip.replace((0, 1), &format!("(-{exponent})"), text)
        }
        _ => Some(text.into()),
    }
}

/// `y**2`
pub(super) fn power_with_two_stars(slip: &Slip<'_>) -> Option<Advice> {
    let is_star = |offset| {
        matches!(
            slip.token(offset),
            Some(Token::Operator(Level::Product, "*"))
        )
    };
    if !is_star(-1) || !is_star(0) || !slip.touches_next(-1) {
        return None;
    }
    slip.replace((-1, 0), "^", "a power is written with `^`: `y^2`")
}

/// `real l[] = …;`
pub(super) fn brackets_after_the_name(slip: &Slip<'_>) -> Option<Advice> {
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

/// `||a||`
pub(super) fn bars_that_touch(slip: &Slip<'_>) -> Option<Advice> {
    is_punct(slip.token(0), Punct::Or).then(|| {
        "`||` is always the logical operator: put a blank between the bars of two norms".into()
    })
}

/// `int(x)` and `vec2(x, y)`
pub(super) fn conversion_by_type_name(slip: &Slip<'_>) -> Option<Advice> {
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
    .map(Advice::from)
}
