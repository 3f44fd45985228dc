//! Helpers that the tests of the checker share: programs around a few lines, and their diagnostics.

#![allow(
    dead_code,
    reason = "every test uses another part of what the tests share"
)]

use compiler::front::{
    CheckOptions, check_parsed,
    diag::{Diagnostic, in_order},
    source::Source,
    syntax, tree,
};

/// Parses and checks a program.
pub(crate) fn check_with(
    text: &str,
    options: &CheckOptions,
) -> (Option<tree::Program>, Vec<Diagnostic>) {
    let source = Source::new("test.diderot", text);
    let (program, errors) = syntax::parse(&source);
    let checked = check_parsed(&source, program, errors, options);
    (checked.program, in_order(checked.diagnostics))
}

/// Parses and checks a program without options.
pub(crate) fn check(text: &str) -> (Option<tree::Program>, Vec<Diagnostic>) {
    check_with(text, &CheckOptions::default())
}

/// The texts of the errors.
pub(crate) fn errors(diagnostics: &[Diagnostic]) -> Vec<String> {
    let errors = diagnostics.iter().filter(|d| d.is_error());
    errors.map(|d| d.message.clone()).collect()
}

/// A 2.0 program with these definitions at the top level.
pub(crate) fn with_items(items: &str) -> String {
    format!(
        "#version 2.0\n{items}\nstrand S (int i) {{\n    output real out = i;\n    update {{ stabilize; }}\n}}\n\
         create_array {{ S(i) | i in 0..9 }}\n"
    )
}

/// A 2.0 program whose strand has this `update` method, after these definitions. The strand is called `S`, has a
/// position, and is created as a collection.
pub(crate) fn with_update(items: &str, update: &str) -> String {
    format!(
        "#version 2.0\n{items}\nstrand S (int i) {{\n    output vec2 pos = [i, i];\n    real x = 0;\n    \
         update {{\n{update}\n    }}\n}}\ncreate_collection {{ S(i) | i in 0..9 }}\n"
    )
}

/// The tree of a program that must be accepted.
#[track_caller]
pub(crate) fn accept(text: &str) -> tree::Program {
    let (tree, diagnostics) = check(text);
    let errors = errors(&diagnostics);
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    tree.expect("a program without errors has a tree")
}

/// The type of an expression after these definitions, as messages write it.
#[track_caller]
pub(crate) fn type_of(items: &str, expr: &str) -> String {
    // A kernel is what no expression of interest is, so the message names the type.
    let text = with_items(&format!("{items}\nkernel#9 wanted = {expr};"));
    let (_, diagnostics) = check(&text);
    let errors = errors(&diagnostics);
    let [message] = errors.as_slice() else {
        panic!("{errors:#?}\n{text}");
    };
    let found =
        message.strip_prefix("the value of `wanted` must have type `kernel#9`, but has type `");
    let found = found.and_then(|rest| rest.strip_suffix('`'));
    found
        .unwrap_or_else(|| panic!("{message}\n{text}"))
        .to_owned()
}

/// The value of a constant expression after these definitions.
#[track_caller]
pub(crate) fn value_of(items: &str, ty: &str, expr: &str) -> tree::Constant {
    let program = accept(&with_items(&format!(
        "{items}\ninput {ty} wanted = {expr};"
    )));
    let default = program.globals.iter().find_map(|global| match global {
        tree::Global::Input {
            var,
            default: Some(tree::InputDefault::Value(value)),
            ..
        } if program.vars[var.0].name == "wanted" => Some(value.clone()),
        _ => None,
    });
    default.expect("the input has a default")
}

/// The typed program as text, only the line that defines a variable of this name.
#[track_caller]
pub(crate) fn line_of(text: &str, name: &str) -> String {
    let printed = tree::print(&accept(text));
    let line = printed
        .lines()
        .find(|line| line.contains(&format!(" {name}.")));
    line.unwrap_or_else(|| panic!("no `{name}` in\n{printed}"))
        .trim()
        .to_owned()
}
