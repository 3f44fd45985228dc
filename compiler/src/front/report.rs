//! Messages as text for people, and as data and JSON for tools.

mod excerpt;
mod json;
mod render;

pub use json::{Located, LocatedEdit, LocatedFix, LocatedLabel, Location, located, to_json_lines};
pub use render::render;

/// A program and messages about it, for tests.
#[cfg(test)]
mod examples {
    use crate::front::{
        codes,
        diag::Diagnostic,
        source::{Source, Span},
    };

    pub(super) fn source() -> Source {
        Source::new("a.diderot", "real α = β;\nint n = m;\n")
    }

    pub(super) fn undeclared(start: usize, end: usize, name: &str) -> Diagnostic {
        let message = format!("undeclared variable `{name}`");
        Diagnostic::error(codes::UNDECLARED_VARIABLE, Span::new(start, end), message)
    }
}
