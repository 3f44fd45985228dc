//! The page of the standard library is written from its files.

use crate::{current, root};
use compiler::{
    front::{
        source::Source,
        standard::LIBRARY,
        syntax::{self, ast::ItemKind},
    },
    run::colour_map_names,
};
use std::fmt::Write;

const HEAD: &str = "\
# The standard library

Generated from `compiler/std`; do not edit.

`import \"std/NAME\";` at the beginning of a program of version 2.0 adds the definitions of a file, which is ordinary Diderot text.
Inputs become options of the program. An input of the program replaces an input of the library with the same name and type, to give it another default.
Names are not qualified: a program that defines one of them itself gets an error that shows both places. `diderotc flatten` prints a program with all
its imports.
";

const MAPS: &str = "
## Colour maps

These images are part of the compiler. Use them as `load_image(\"std:NAME\")` or in options such as `-cmap std:NAME`. Each is an `image(1)[3]` of 256 colours with components between 0 and 1. Probe them between 0 and 1,
and `std:diverging` between -1 and 1.

";

#[test]
fn the_page_of_the_standard_library_is_current() {
    let mut page = HEAD.to_owned();
    for (name, text) in LIBRARY {
        describe(&mut page, name, text);
    }
    page.push_str(MAPS);
    for name in colour_map_names() {
        let _ = writeln!(page, "- `{name}`");
    }
    page.push_str("\n`magma`, `inferno`, `plasma` and `viridis` are those of Nathaniel J. Smith, Stefan van der Walt and Eric Firing, which are in the public domain (CC0).\n");
    current(&root().join("docs/book/src/library.md"), &page);
}

/// The comment lines of a text, as one paragraph for each block of them.
fn paragraph(comment: &[&str]) -> String {
    let lines = comment
        .iter()
        .map(|line| line.trim_start_matches("//").trim());
    lines
        .map(|line| if line.is_empty() { "\n\n" } else { line })
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" \n\n ", "\n\n")
}

fn describe(page: &mut String, name: &str, text: &str) {
    let _ = writeln!(page, "\n## std/{name}\n");
    let head: Vec<&str> = text
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("//"))
        .collect();
    let _ = writeln!(page, "{}\n", paragraph(&head));
    let (program, _) = syntax::parse(&Source::new("library.diderot", text));
    for item in &program.items {
        let start = item.span.start as usize;
        let written = &text[start..item.span.end as usize];
        let declared = match &item.kind {
            ItemKind::Function { .. } => written.split(['=', '{']).next(),
            _ => written.strip_suffix(';'),
        };
        let before: Vec<&str> = text[..start].lines().collect();
        let is_comment = |line: &&&str| line.starts_with("//");
        let mut comment: Vec<&str> = before
            .iter()
            .rev()
            .take_while(is_comment)
            .copied()
            .collect();
        comment.reverse();
        let end = item.span.end as usize;
        let after = text[end..].lines().next().unwrap_or_default().trim();
        comment.extend(after.starts_with("//").then_some(after));
        let declared = declared.unwrap_or(written).split_whitespace();
        let declared = declared.collect::<Vec<_>>().join(" ");
        // A table of numbers would fill the page.
        let shown = match declared.split_once(" = {") {
            Some((name, _)) if declared.len() > 300 => format!("{name} = {{…}}"),
            _ => declared,
        };
        let _ = write!(page, "- `{shown}`");
        match comment.is_empty() {
            true => page.push('\n'),
            false => {
                let _ = writeln!(page, ": {}", paragraph(&comment));
            }
        }
    }
}
