//! The manual's page of operators, written from the tables.

use super::{Domain, Level, Lift, OPERATORS, OpDef, Syntax};
use crate::{KERNELS, parse::param_name};
use std::fmt::Write;

const HEAD: &str = "\
# Operators, functions and kernels

Generated from the tables in `ein-ir/src/ops`, `ein-ir/src/elementary.rs` and `ein-ir/src/kernel.rs`; do not edit.

Types are written `[]` for `real`, `[3]` for `tensor[3]`, `τ{}` for a sequence of any length and `τ{2}` for one of two
elements. A letter is any extent, a Greek letter in brackets any number of axes, `τ` any type, `ν` any value type and
`η` any value type or the strand; `n×` stands for any number of arguments. Rows of one spelling are tried from top to
bottom, first without and then with coercions.

*Fields*: **pointwise** means that every tensor among the arguments may also be a field, all of one dimension, and the
result is then a field; its continuity is the least of the arguments'. If the result is a sequence, it is then a sequence
of fields, and a constant index selects one, as in `evals(∇⊗∇F)[0]`. **derivative** means that the arguments are
fields, `d` is their dimension, and the result has one continuous derivative less; **second derivative** means two
less. In one dimension there is no axis of extent `d`.

*Domain*: where the result is defined and has derivatives. This is not checked at run time.

Every symbol that is not ASCII has an ASCII spelling. It begins with a backslash, so it cannot be confused with a name.
";

/// The page in Markdown.
pub fn manual() -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n## Operators\n\nThe loosest operators come first.\n");
    for level in LEVELS {
        let rows: Vec<&OpDef> = OPERATORS
            .iter()
            .filter(|row| !is_function(row) && row.syntax[0].level() == level)
            .collect();
        if !rows.is_empty() {
            let _ = write!(page, "\n### {}\n\n", title(level));
            table(&mut page, &rows);
        }
    }
    page.push_str("\n## Functions\n\n");
    table(&mut page, &functions());
    kernels(&mut page);
    page
}

const LEVELS: [Level; 13] = [
    Level::Conditional,
    Level::Range,
    Level::Or,
    Level::And,
    Level::Comparison,
    Level::Sum,
    Level::Product,
    Level::Composition,
    Level::Unary,
    Level::Power,
    Level::Suffix,
    Level::Derivative,
    Level::Atom,
];

fn title(level: Level) -> &'static str {
    match level {
        Level::Conditional => "Choice",
        Level::Range => "Ranges",
        Level::Or => "Disjunction",
        Level::And => "Conjunction",
        Level::Comparison => "Comparison",
        Level::Sum => "Sums",
        Level::Product => "Products",
        Level::Composition => "Composition",
        Level::Unary => "Signs and negation",
        Level::Power => "Powers",
        Level::Suffix => "Probing and indexing",
        Level::Derivative => "Differentiation",
        Level::Atom => "Brackets and constants",
    }
}

fn is_function(row: &OpDef) -> bool {
    matches!(row.syntax[0], Syntax::Call(_))
}

/// The rows of functions, those of one name together where the first of them is.
fn functions() -> Vec<&'static OpDef> {
    let mut rows: Vec<&OpDef> = Vec::new();
    for row in OPERATORS.iter().filter(|row| is_function(row)) {
        if !rows.iter().any(|listed| listed.syntax[0] == row.syntax[0]) {
            rows.extend(
                OPERATORS
                    .iter()
                    .filter(|other| other.syntax[0] == row.syntax[0]),
            );
        }
    }
    rows
}

fn table(page: &mut String, rows: &[&OpDef]) {
    page.push_str("| written | types | fields | domain | |\n|---|---|---|---|---|\n");
    for row in rows {
        let written: Vec<String> = row
            .syntax
            .iter()
            .map(|syntax| code(&example(*syntax, row)))
            .collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} |",
            written.join(", "),
            code(row.sig),
            fields(row),
            domain(row),
            cell(row.doc)
        );
    }
}

/// How a program writes it.
fn example(syntax: Syntax, row: &OpDef) -> String {
    match syntax {
        Syntax::Infix(spelling, _) => format!("a {spelling} b"),
        // A word needs a blank before the operand.
        Syntax::Prefix(spelling, _) if spelling.starts_with('\\') => format!("{spelling} a"),
        Syntax::Prefix(spelling, _) => format!("{spelling}a"),
        Syntax::Call(name) if is_function(row) && !row.signature().args.is_empty() => {
            name.to_owned()
        }
        Syntax::Call(name) => {
            let signature = row.signature();
            let repeated = signature.repeat.map(|_| "b, …".to_owned());
            let args = (0..signature.args.len()).map(param_name);
            let args: Vec<String> = args.chain(repeated).collect();
            format!("{name}({})", args.join(", "))
        }
        Syntax::Constant(name) => name.to_owned(),
        Syntax::Form(_, example, _) => example.to_owned(),
    }
}

fn fields(row: &OpDef) -> &'static str {
    match (row.lift, row.derivatives) {
        (Lift::None, _) => "",
        (Lift::Pointwise, _) => "pointwise",
        (Lift::Derivative, 0 | 1) => "derivative",
        (Lift::Derivative, _) => "second derivative",
    }
}

fn domain(row: &OpDef) -> String {
    let limits: Vec<String> = row
        .domain
        .iter()
        .map(|&(argument, domain)| {
            let name = (b'a' + argument as u8) as char;
            match domain {
                Domain::NonZero => format!("`{name}` ≠ 0"),
                Domain::Positive => format!("`{name}` > 0"),
                Domain::UnitInterval => format!("−1 < `{name}` < 1"),
                Domain::NonZeroDet => format!("det `{name}` ≠ 0"),
                Domain::DistinctEigenvalues => format!("eigenvalues of `{name}` distinct"),
            }
        })
        .collect();
    limits.join(", ")
}

fn kernels(page: &mut String) {
    page.push_str(
        "\n## Kernels\n\n| name | continuity | support | reproduces | |\n|---|---|---|---|---|\n",
    );
    for kernel in KERNELS {
        let degree = match kernel.reproduces {
            0 => "constants",
            1 => "linear functions",
            2 => "quadratics",
            _ => "cubics",
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {degree} | {} |",
            code(kernel.name),
            kernel.continuity,
            kernel.support,
            cell(kernel.doc)
        );
    }
}

/// Text in a cell of a table, where a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn code(text: &str) -> String {
    format!("`{}`", cell(text))
}
