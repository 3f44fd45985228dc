//! Deep nesting of any kind gets one error and no stack overflow; nesting within the limit is read, printed and dropped.

mod trees;

use compiler::front::syntax::{MAX_DEPTH, print};
use trees::{messages, parse, parse_right, program_with_expression, without_spans};

/// Ways to nest: what stands before, in the middle and after, repeated.
const EXPRESSIONS: &[(&str, &str, &str)] = &[
    ("(", "x", ")"),
    ("[", "x", "]"),
    ("{", "x", "}"),
    ("|(", "x", ")|"),
    ("f(", "x", ")"),
    ("a[", "x", "]"),
    ("sum { 1 | x in ", "s", " }"),
    ("-", "x", ""),
    ("!", "x", ""),
    ("∇", "F", ""),
    ("x + ", "x", ""),
    ("", "x", " + x"),
    ("", "x", "(x)"),
    ("", "x", "[0]"),
    ("", "x", ".y"),
    ("x^", "x", ""),
    ("x && ", "x", ""),
    ("x || ", "x", ""),
    ("x if c else ", "x", ""),
    ("real(", "x", ")"),
    ("identity[", "2", "]"),
];

const STATEMENTS: &[(&str, &str, &str)] = &[
    ("{", "", "}"),
    ("if (c) ", "die;", ""),
    ("if (c) { } else ", "die;", ""),
    ("foreach (int i in s) {", "", "}"),
];

fn nest((before, middle, after): (&str, &str, &str), levels: usize) -> String {
    [&before.repeat(levels), middle, &after.repeat(levels)].concat()
}

fn program_with_statement(stmt: &str) -> String {
    format!(
        "#version 2.0\nstrand S () {{ update {{ {stmt} }} }}\ncreate_array {{ S() | i in 0..1 }}\n"
    )
}

fn programs(levels: usize) -> impl Iterator<Item = String> {
    let expressions = EXPRESSIONS
        .iter()
        .map(move |&form| program_with_expression(&nest(form, levels)));
    let statements = STATEMENTS
        .iter()
        .map(move |&form| program_with_statement(&nest(form, levels)));
    let types = std::iter::once(program_with_statement(&format!(
        "real{} x;",
        "[2]".repeat(levels)
    )));
    expressions.chain(statements).chain(types)
}

#[test]
fn ten_thousand_levels_are_one_error() {
    let expected = format!("nested too deeply: more than {MAX_DEPTH} levels");
    for text in programs(10_000) {
        let (program, diagnostics) = parse(&text);
        let found: Vec<_> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(found, [expected.as_str()], "{}", &text[..80]);
        assert!(!print::print(&program).is_empty());
    }
}

#[test]
fn a_few_hundred_levels_are_read_and_printed() {
    for text in programs(MAX_DEPTH as usize / 2 - 10) {
        let program = parse_right(&text);
        let again = parse_right(&print::print(&program));
        assert_eq!(without_spans(&program), without_spans(&again));
    }
}

#[test]
fn brackets_that_are_never_closed_are_a_few_errors() {
    for open in ["(", "[", "{", "|", "f(", "∇(", "x if ", "-", "["] {
        let found = messages(&program_with_expression(&open.repeat(10_000)));
        assert!((1..60).contains(&found.len()), "{open}: {}", found.len());
    }
    for open in ["{", "if (c) ", "foreach (", "if (", "strand S () {"] {
        let text = format!(
            "#version 2.0\nstrand S () {{ update {{ {}",
            open.repeat(10_000)
        );
        assert!((1..60).contains(&messages(&text).len()), "{open}");
    }
    for close in [")", "]", "}", "else", "|", ";"] {
        let text = program_with_statement(&close.repeat(10_000));
        assert!((1..60).contains(&messages(&text).len()), "{close}");
    }
}

#[test]
fn after_many_errors_the_rest_is_not_read() {
    let found = messages(&program_with_statement(&"x = ;\n".repeat(1_000)));
    assert_eq!(found.len(), 51);
    let last = found.last().map(String::as_str);
    assert_eq!(last, Some("too many syntax errors: the rest is not read"));
}

#[test]
fn an_empty_file_is_one_error() {
    for text in ["", "\u{feff}"] {
        assert_eq!(messages(text), ["empty source file"]);
    }
}
