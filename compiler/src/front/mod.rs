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
pub mod tree;
pub mod typed;

pub use stack::{deep, deep_threads};
pub use typed::CheckOptions;

use diag::Diagnostic;
use elaborate::notation::Rest;
use facts::Facts;
use source::Source;

/// A program as the front end understands it.
#[derive(Debug)]
pub struct Checked {
    /// The syntax tree; where the text is wrong it is repaired.
    pub ast: syntax::ast::Program,
    /// The typed program, if there are no errors.
    pub program: Option<tree::Program>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The meanings of names and the types of expressions, also of a program with errors.
    pub facts: Facts,
    /// Index notation that was checked and is not in the typed program, until its errors are known.
    rest: Rest,
    long_int: bool,
}

impl Checked {
    /// The same after all transformations of the typed program, with the errors that show only then.
    pub fn elaborated(mut self) -> Checked {
        let (program, rest) = (self.program.take(), std::mem::take(&mut self.rest));
        let (program, found) = deep(|| {
            let mut found = elaborate::notation::problems(rest, self.long_int);
            let program = program.and_then(|program| {
                let (program, problems) = elaborate::elaborated(program, self.long_int);
                found.extend(problems);
                program.filter(|_| found.is_empty())
            });
            (program, found)
        });
        if !found.is_empty() {
            // Whether something is ever used shows only in a program without errors.
            self.diagnostics
                .retain(|d| !codes::OF_RIGHT_PROGRAMS.contains(&d.code));
        }
        self.diagnostics.extend(found);
        let exceeded = program
            .as_ref()
            .map(|program| deep(|| limits::exceeded(program)));
        let exceeded = exceeded.unwrap_or_default();
        self.program = program.filter(|_| exceeded.is_empty());
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
    let typed::Typed {
        program,
        mut rest,
        mut diagnostics,
        facts,
    } = deep(|| typed::check(&ast, options, errors));
    if source.import_problems().iter().any(Diagnostic::is_error) {
        // Without its imports, most messages about the program would be wrong.
        diagnostics = source.import_problems().to_vec();
        rest = Rest::default();
    }
    // A program rarely uses everything that a library has.
    diagnostics.retain(|d| d.is_error() || !source.is_imported(d.span));
    Checked {
        ast,
        program,
        diagnostics,
        facts,
        rest,
        long_int: options.long_int,
    }
}
