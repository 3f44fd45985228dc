//! The book is true: its programs are compiled and run, the command prints the output that it shows, its tables are those of the
//! compiler, and its links have targets. `UPDATE_DOCS=1` regenerates outputs and tables; then read the difference.
//!
//! A block `diderot,file=NAME` is a file of its page and must be correct. `error=CODE` means that this error is reported for it,
//! `without=CODE` that it is not. Other blocks `diderot` must be correct; a missing version line or strand is added. A block `console` has
//! commands after `$ ` and their output. Commands run in a folder of the page, with its files and the folders `data` and `programs`.

mod examples;
mod library;
mod links;
mod notices;
mod options;
mod page;
mod pictures;

use compiler::{
    front::{codes, source::Source},
    pipeline::{self, Options},
};
use page::{Block, Page};
use std::{collections::BTreeSet, fs, path::Path};

/// The repository's root.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Whether to write generated text instead of comparing it.
fn updates() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Compares a page with its expected text, or writes it.
#[track_caller]
fn current(path: &Path, text: &str) {
    if updates() {
        fs::write(path, text).expect("the page can be written");
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    let differs = found.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        found == text,
        "{} is out of date from line {}: run the test with UPDATE_DOCS=1",
        path.display(),
        differs.map_or(found.lines().count(), |line| line + 1)
    );
}

/// Runs every block of a page.
#[track_caller]
fn run(name: &str) {
    let page = Page::read(name);
    let mut failures = Vec::new();
    for block in page.blocks().filter(|block| block.language() == "diderot") {
        failures.extend(wrong(&page, &block));
    }
    assert!(failures.is_empty(), "{name}\n{}", failures.join("\n"));
    current(&page.path, &page.with_outputs());
    pictures::compare(&page);
}

/// The failure of a block of Diderot, if there is one.
fn wrong(page: &Page, block: &Block<'_>) -> Option<String> {
    let text = block.program();
    let file = block.tag("file").unwrap_or("block.diderot");
    let library = !text.contains("strand ") && block.tag("file").is_some();
    let found = pipeline::check(
        &Source::new(page.folder.join(file), text),
        &Options::default(),
    )
    .diagnostics;
    let codes: Vec<&str> = found.iter().map(|d| d.code.name).collect();
    let errors = found
        .iter()
        .filter(|d| d.is_error())
        .map(|d| d.message.as_str());
    let errors: Vec<&str> = errors.collect();
    let right = match (block.tag("error"), block.tag("without")) {
        _ if library => return None,
        (Some(code), _) => codes.contains(&code),
        (_, Some(code)) => errors.is_empty() && !codes.contains(&code),
        _ => errors.is_empty(),
    };
    (!right).then(|| {
        format!(
            "line {}: {}: found {codes:?} {errors:?}",
            block.line, block.info
        )
    })
}

#[test]
fn the_tour_runs() {
    run("tour");
}

#[test]
fn the_programs_of_the_viewers_chapter_are_right() {
    run("viewer");
}

#[test]
fn the_conventions_hold() {
    run("conventions");
}

#[test]
fn arithmetic_is_as_written() {
    run("arithmetic");
}

#[test]
fn the_chapter_on_finite_elements_is_right() {
    run("finite-elements");
}

#[test]
fn the_chapter_on_time_is_right() {
    run("time");
}

#[test]
fn the_recipes_run() {
    run("cookbook");
}

/// The commands in its blocks `shell` need files of other libraries: `compiler/tests/files.py` runs them.
#[test]
fn the_programs_for_files_of_any_kind_are_right() {
    run("files");
}

#[test]
fn the_reference_is_right() {
    run("reference");
}

#[test]
fn index_notation_is_as_written() {
    run("indices");
}

#[test]
fn the_command_does_what_is_written() {
    run("command");
}

#[test]
fn the_chapter_on_clusters_is_right() {
    run("clusters");
}

#[test]
fn the_limits_are_those_of_the_compiler() {
    run("limits");
}

#[test]
fn the_compiler_prints_what_its_page_shows() {
    run("compiler");
}

#[test]
fn the_program_of_the_readme_runs() {
    let page = Page::at(&root().join("README.md"));
    for block in page.blocks().filter(|block| block.language() == "diderot") {
        assert_eq!(wrong(&page, &block), None);
        assert!(block.text.lines().count() <= 15, "short enough to be read");
    }
    let commands = page.blocks().filter(|block| block.language() == "sh");
    for command in commands.flat_map(|b| b.text.lines().map(str::to_owned).collect::<Vec<_>>()) {
        if command.starts_with("diderotc ") {
            let told = page.shell(&command);
            assert!(
                told.starts_with("wrote ") && told.lines().count() == 1,
                "{command}: {told}"
            );
        }
    }
    // Its example of the library is a part of the page that is compiled.
    let whole = Page::read("from-rust");
    for block in page.blocks().filter(|block| block.language() == "rust") {
        for line in block.text.lines().filter(|line| !line.starts_with("use ")) {
            assert!(whole.text.contains(line), "{line}");
        }
    }
}

/// The programs on the pages are compiled by the tests of codes.
#[test]
fn the_error_index_has_every_page() {
    let mut index = String::from(
        "# Error index\n\nEvery message has a code in brackets, such as `[no-derivative]`; `diderotc explain CODE` prints its entry on this page.\n",
    );
    for code in codes::ALL {
        let (_, body) = code.page.split_once('\n').expect("a title and a text");
        index += &format!("\n## `{code}`\n{body}");
    }
    current(&root().join("docs/book/src/errors.md"), &index);
}

/// The words in quotes in a text.
fn words(text: &str) -> BTreeSet<&str> {
    let quoted = text.split('"').skip(1).step_by(2);
    quoted
        .filter(|w| w.starts_with(|c: char| c.is_ascii_lowercase()) && !w.contains(' '))
        .collect()
}

#[test]
fn the_grammar_of_the_reference_has_every_word_of_the_language() {
    let grammar = fs::read_to_string(root().join("compiler/src/front/syntax/grammar.lalrpop"))
        .expect("the grammar");
    let tokens = grammar
        .split("enum Token<'s> {")
        .nth(1)
        .and_then(|rest| rest.split("\n    }").next())
        .expect("tokens");
    let kinds = [
        "name",
        "unreadable",
        "comparison",
        "sum",
        "product",
        "composition",
        "derivative",
    ];
    let known: BTreeSet<&str> = words(tokens)
        .into_iter()
        .filter(|word| !kinds.contains(word))
        .collect();
    let page = fs::read_to_string(root().join("docs/book/src/reference.md")).expect("the page");
    let shown = page.split("## Grammar").nth(1).expect("a grammar");
    assert_eq!(words(shown.split("```").nth(1).expect("a block")), known);
}

#[test]
fn the_summary_has_every_page() {
    let folder = root().join("docs/book/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).expect("the summary");
    for entry in fs::read_dir(folder).expect("the pages") {
        let name = entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned();
        assert!(
            !name.ends_with(".md")
                || name == "SUMMARY.md"
                || summary.contains(&format!("({name})")),
            "{name}"
        );
    }
}
