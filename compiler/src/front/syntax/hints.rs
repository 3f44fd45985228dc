//! Hints for common slips, one rule each: rules look at the tokens around the place where the parser stopped.

mod expressions;
mod statements;

use super::{
    ast::Version,
    explain::Stop,
    recover::Nesting,
    token::{Punct, Spanned, Token},
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

impl<T: Into<String>> From<T> for Advice {
    fn from(text: T) -> Advice {
        let text = text.into();
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
    expressions::comparison_with_one_equals_sign,
    expressions::real_without_digits,
    expressions::number_with_exponent_only,
    expressions::derivative_with_a_blank,
    expressions::sign_after_power,
    expressions::power_with_two_stars,
    expressions::brackets_after_the_name,
    statements::word_of_the_other_version,
    statements::word_of_other_languages,
    statements::increment,
    statements::assignment_to_a_part,
    statements::call_as_a_statement,
    expressions::bars_that_touch,
    expressions::conversion_by_type_name,
    statements::empty_statement,
    statements::word_alone,
    statements::variable_without_a_type,
    statements::include,
    statements::import_without_quotes,
    statements::function_without_keyword,
    statements::foreach_without_a_type,
    statements::reserved_word_as_a_name,
    statements::late_version_line,
    statements::return_without_a_value,
    statements::header_without_parentheses,
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
    fn replace(
        &self,
        (first, last): (isize, isize),
        with: &str,
        text: impl Into<String>,
    ) -> Option<Advice> {
        let fix = Some(Fix::replace(self.place(first, last)?, with));
        let text = text.into();
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
