//! From source text to typed program, with every error that the tree shows.
//!
//! [`check`] leads from text to a typed program. `pipeline::check` adds the errors of derivatives by variables, which show after
//! translation; a program that it accepts can be compiled.

pub(crate) mod as_text;
pub mod codes;
pub mod diag;
pub mod files;
mod import;
pub mod report;
pub mod source;
mod span;
mod stack;
pub mod standard;
pub mod syntax;
pub mod typed;

pub use stack::{deep, deep_threads};
pub use typed::CheckOptions;

use diag::{Diagnostic, Severity};
use source::Source;

/// A program as the front end understands it.
#[derive(Debug)]
pub struct Checked {
    /// The syntax tree; where the text is wrong it is repaired.
    pub ast: syntax::ast::Program,
    /// The typed program, if there are no errors.
    pub program: Option<typed::tree::Program>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks a program: syntax, types, and constructs that cannot be compiled.
pub fn check(source: &Source, options: &CheckOptions) -> Checked {
    let (ast, errors) = syntax::parse(source);
    check_parsed(source, ast, errors, options)
}

/// Checks a program that was read, with the errors of its syntax.
pub fn check_parsed(
    source: &Source,
    ast: syntax::ast::Program,
    errors: Vec<Diagnostic>,
    options: &CheckOptions,
) -> Checked {
    let (program, mut diagnostics) = deep(|| typed::check(&ast, options, errors));
    let mut program = deep(|| program.map(typed::fused));
    // A program rarely uses everything that a library has.
    diagnostics.retain(|d| d.is_error() || !source.is_imported(d.span));
    diagnostics.extend(program.iter().flat_map(typed::unsupported));
    diagnostics.extend(deep(|| program.as_ref().and_then(typed::too_much_code)));
    diagnostics.extend(deep(|| program.as_ref().and_then(typed::too_many_probes)));
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        program = None;
    }
    Checked {
        ast,
        program,
        diagnostics,
    }
}
