//! The type that is expected where an expression is being written, as far as the text before it shows.

use super::{documents::Asked, signature::call_around};
use crate::front::{
    facts::{Definition, DefinitionKind, Facts},
    syntax::vocabulary,
};
use ein_ir::Type;

/// What suits a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expected {
    /// A value of a type.
    Value(Type),
    /// Any field: the operand of a derivative.
    Field,
    /// An image: the operand of a convolution.
    Image,
}

impl Expected {
    /// What suits the place right after a text, without the word that is being written there.
    pub(super) fn after(before: &str, asked: &Asked) -> Option<Expected> {
        // The word may be the name of a symbol.
        let word = before.trim_end_matches(is_letter);
        let before = match word.ends_with('\\') {
            true => before,
            false => word.trim_end(),
        };
        if ends_with_derivative(before) {
            return Some(Expected::Field);
        }
        if before.ends_with('⊛') {
            return Some(Expected::Image);
        }
        let facts = &asked.analysis.checked.facts;
        if let Some((name, argument)) = call_around(before) {
            return of_argument(facts, asked.byte, name, argument as usize);
        }
        let statement = &before[before.rfind([';', '{', '}']).map_or(0, |at| at + 1)..];
        let (name, has_parameters) = assigned(statement)?;
        let ty = type_of(facts, asked.byte, name)?;
        Some(Expected::Value(match ty {
            // The body of a field function is its value.
            Type::Field { shape, .. } if has_parameters => Type::Tensor(shape),
            other => other,
        }))
    }

    /// Whether a definition suits.
    pub(super) fn suits(&self, known: &Definition) -> bool {
        let Some(ty) = &known.ty else { return false };
        match (self, ty) {
            (Expected::Field, ty) => matches!(ty, Type::Field { .. }),
            (Expected::Image, ty) => matches!(ty, Type::Image { .. }),
            (Expected::Value(wanted), ty) => fits(ty, wanted),
        }
    }

    /// Whether a kernel suits: fields are made of kernels and images.
    pub(super) fn suits_kernel(&self) -> bool {
        matches!(
            self,
            Expected::Value(Type::Kernel(_) | Type::Field { .. }) | Expected::Image
        )
    }
}

/// Whether a value of a type can stand where another is expected.
fn fits(ty: &Type, wanted: &Type) -> bool {
    match (ty, wanted) {
        (Type::Field { .. }, Type::Field { .. }) => ty.coerces_to(wanted),
        (Type::Int, Type::Tensor(shape)) => shape.order() == 0,
        (ty, wanted) => ty == wanted,
    }
}

/// Whether a text ends with the symbol of a derivative, or with its name.
fn ends_with_derivative(text: &str) -> bool {
    let mut words = vocabulary::symbol_words().into_iter();
    words.any(|(word, symbol)| {
        let is_written = text.ends_with(&symbol)
            || text
                .strip_suffix(word)
                .is_some_and(|rest| rest.ends_with('\\'));
        symbol.starts_with('∇') && is_written
    })
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

/// What a function takes as an argument, or a condition.
fn of_argument(facts: &Facts, byte: u32, name: &str, argument: usize) -> Option<Expected> {
    if matches!(name, "if" | "while") {
        return Some(Expected::Value(Type::Bool));
    }
    let mut visible = facts.in_scope(byte).into_iter();
    let (_, called) = visible.find(|(_, known)| {
        let can_be_called = matches!(
            known.kind,
            DefinitionKind::Function | DefinitionKind::Strand
        );
        known.name == name && can_be_called
    })?;
    let parameter = facts.definition(*called.parameters.get(argument)?)?;
    parameter.ty.clone().map(Expected::Value)
}

/// The name that a statement without its end assigns to, and whether it is a function of a position.
fn assigned(statement: &str) -> Option<(&str, bool)> {
    let bytes = statement.as_bytes();
    let is_comparison = |at: usize| {
        let before = at.checked_sub(1).map(|n| bytes[n]);
        matches!(before, Some(b'=' | b'<' | b'>' | b'!')) || bytes.get(at + 1) == Some(&b'=')
    };
    let equals = statement.match_indices('=');
    let (at, _) = equals.into_iter().find(|(at, _)| !is_comparison(*at))?;
    let left = statement[..at].trim_end();
    let left = left
        .trim_end_matches(['+', '-', '*', '/', '@', '^'])
        .trim_end();
    let (left, has_parameters) = match left.strip_suffix(')') {
        Some(inner) => (inner[..inner.rfind('(')?].trim_end(), true),
        None => (left, false),
    };
    // Indices of a definition by components.
    let left = match left.strip_suffix(']') {
        Some(inner) => inner[..inner.rfind('[')?].trim_end(),
        None => left,
    };
    let name = &left[left.trim_end_matches(is_letter).len()..];
    (!name.is_empty()).then_some((name, has_parameters))
}

/// The type of a name that is visible at a byte, or that is being defined there.
fn type_of(facts: &Facts, byte: u32, name: &str) -> Option<Type> {
    let visible = facts.in_scope(byte).into_iter();
    let visible = visible
        .map(|(_, known)| known)
        .find(|known| known.name == name);
    // A variable cannot be used in its own definition.
    let defined = || {
        let before = facts.definitions().filter(|(place, _)| place.start <= byte);
        before
            .map(|(_, known)| known)
            .filter(|known| known.name == name)
            .last()
    };
    visible.or_else(defined)?.ty.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_have_symbols_and_names() {
        for text in [
            "x = ∇",
            "x = ∇⊗",
            "x = ∇×",
            "x = ∇•",
            "x = \\grad",
            "x = \\curl",
        ] {
            assert!(ends_with_derivative(text), "{text}");
        }
        for text in ["x = ", "x = grad", "x = ⊗", "x = \\pi"] {
            assert!(!ends_with_derivative(text), "{text}");
        }
    }

    #[test]
    fn the_left_side_of_an_assignment_is_found() {
        for (statement, wanted) in [
            ("\n    real y = 1 + ", Some(("y", false))),
            (" y += ", Some(("y", false))),
            (" field#2(2)[] F(x) = ", Some(("F", true))),
            (" tensor[3,3] T[i,j] = ", Some(("T", false))),
            (" if (a == b && c <= ", None),
            (" x' = a <= b ? ", Some(("x'", false))),
            (" print(", None),
        ] {
            assert_eq!(assigned(statement), wanted, "{statement}");
        }
    }
}
