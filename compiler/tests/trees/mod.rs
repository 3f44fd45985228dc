//! Reading programs and comparing trees up to spans, for the tests of the syntax.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fmt::Debug;

use compiler::front::{
    diag::Diagnostic,
    report,
    source::Source,
    syntax::{
        self,
        ast::{ItemKind, Program},
    },
};

/// A source with a name for messages.
pub(crate) fn source(text: &str) -> Source {
    Source::new("test.diderot", text)
}

/// The tree and the messages of a program.
pub(crate) fn parse(text: &str) -> (Program, Vec<Diagnostic>) {
    syntax::parse(&source(text))
}

/// The texts of the messages about a program.
pub(crate) fn messages(text: &str) -> Vec<String> {
    parse(text).1.into_iter().map(|d| d.message).collect()
}

/// The tree of a program that must be right.
#[track_caller]
pub(crate) fn parse_right(text: &str) -> Program {
    let (program, diagnostics) = parse(text);
    let rendered = report::render(&source(text), diagnostics.clone(), false);
    assert!(diagnostics.is_empty(), "{text}\n{rendered}");
    program
}

/// A 2.0 program with the expression in it.
pub(crate) fn program_with_expression(expr: &str) -> String {
    format!(
        "#version 2.0\nreal e = {expr};\nstrand S () {{ update {{ }} }}\ncreate_array {{ S() | i in 0..1 }}\n"
    )
}

/// The tree of an expression, without spans, as text.
#[track_caller]
pub(crate) fn expression(expr: &str) -> String {
    let program = parse_right(&program_with_expression(expr));
    match &program.items[0].kind {
        ItemKind::Global { value, .. } => without_spans(value),
        other => panic!("not a global: {other:?}"),
    }
}

/// The texts of the messages about an expression.
pub(crate) fn messages_of_expression(expr: &str) -> Vec<String> {
    messages(&program_with_expression(expr))
}

/// A tree as text in which the spans are left out, so that equal texts mean equal trees up to spans.
pub(crate) fn without_spans(tree: &impl Debug) -> String {
    let text = format!("{tree:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find("Span {") {
        out.push_str(&rest[..start]);
        let end = rest[start..].find('}').expect("a span ends with a brace");
        rest = &rest[start + end + 1..];
    }
    out.push_str(rest);
    out
}
