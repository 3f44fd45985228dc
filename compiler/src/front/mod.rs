//! From source text to typed program, with every error that the tree shows.
//!
//! [`check`] leads from text to a typed program. `pipeline::check` adds the errors of derivatives by variables, which show after
//! translation; a program that it accepts can be compiled.

pub(crate) mod as_text;
pub mod codes;
pub mod diag;
mod elaborate;
pub mod facts;
pub mod files;
mod import;
pub(crate) mod limits;
pub mod report;
pub mod source;
mod span;
mod stack;
pub mod standard;
pub mod syntax;
pub mod typed;

pub use stack::{deep, deep_threads};
pub use typed::CheckOptions;

use diag::Diagnostic;
use facts::Facts;
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
    /// The meanings of names and the types of expressions, also of a program with errors.
    pub facts: Facts,
}

impl Checked {
    /// The same after all transformations of the typed program, with the errors that show only then.
    pub fn elaborated(mut self) -> Checked {
        let Some(program) = self.program.take() else {
            return self;
        };
        let (program, exceeded) = deep(|| {
            let program = elaborate::elaborated(program);
            let exceeded = limits::exceeded(&program);
            (program, exceeded)
        });
        self.program = exceeded.is_empty().then_some(program);
        self.diagnostics.extend(exceeded);
        self
    }
}

/// Reads and checks a program: syntax, types, and constructs that cannot be compiled.
pub fn check(source: &Source, options: &CheckOptions) -> Checked {
    let (ast, errors) = syntax::parse(source);
    check_parsed(source, ast, errors, options).elaborated()
}

/// Checks a program that was read, with the errors of its syntax. The typed program is as the user wrote it.
pub fn check_parsed(
    source: &Source,
    ast: syntax::ast::Program,
    errors: Vec<Diagnostic>,
    options: &CheckOptions,
) -> Checked {
    let (program, mut diagnostics, facts) = deep(|| typed::check(&ast, options, errors));
    if source.import_problems().iter().any(Diagnostic::is_error) {
        // Without its imports, most messages about the program would be wrong.
        diagnostics = source.import_problems().to_vec();
    }
    // A program rarely uses everything that a library has.
    diagnostics.retain(|d| d.is_error() || !source.is_imported(d.span));
    Checked {
        ast,
        program,
        diagnostics,
        facts,
    }
}
