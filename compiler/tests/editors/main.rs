//! The lists of words in files for editors agree with the tables of the compiler. `UPDATE_DOCS=1` updates the lists; the parser of
//! tree-sitter is then made from them by `tree-sitter generate --abi 14`.
//!
//! A list stands between a line with `tables:` and one with `end of tables`, or, in JSON, on lines whose key is given here.

mod lists;
mod snippets;

use compiler::front::{
    source::Source,
    syntax::{ast::Version, operators, parse, vocabulary},
};
use std::{fs, path::PathBuf};

/// A file below `editors`.
fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../editors")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Compares a file with the text that it should have, or writes it.
#[track_caller]
fn current(name: &str, text: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(file(name), text).expect("the file can be written");
    }
    let found = fs::read_to_string(file(name)).unwrap_or_default();
    let differs = found.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        found == text,
        "editors/{name} is out of date from line {}: run the test with UPDATE_DOCS=1",
        differs.map_or(found.lines().count(), |line| line + 1)
    );
}

/// The text with other lines in the place of those for which `old` holds, which follow each other.
fn replaced(text: &str, new: &[String], old: impl Fn(&str) -> bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines
        .iter()
        .position(|line| old(line))
        .expect("lines to replace");
    let rest = lines[first..]
        .iter()
        .position(|line| !old(line))
        .expect("lines after them");
    let new = new.iter().map(String::as_str);
    let all = lines[..first]
        .iter()
        .copied()
        .chain(new)
        .chain(lines[first + rest..].iter().copied());
    all.map(|line| format!("{line}\n")).collect()
}

/// Compares the lines between the marks of a file.
#[track_caller]
fn between_marks(name: &str, new: &[String]) {
    let text = read(name);
    let line_with = |mark| {
        let found: Vec<_> = text.lines().filter(|line| line.contains(mark)).collect();
        assert_eq!(found.len(), 1, "`{mark}` in {name}");
        found[0]
    };
    let (begin, end) = (line_with(" tables: "), line_with(" end of tables"));
    let (before, rest) = text.split_once(begin).expect("a beginning");
    let (_, after) = rest.split_once(end).expect("an end after it");
    let indent = &begin[..begin.len() - begin.trim_start().len()];
    let new: String = new.iter().map(|line| format!("{indent}{line}\n")).collect();
    current(name, &format!("{before}{begin}\n{new}{end}{after}"));
}

#[test]
fn just_the_reserved_words_cannot_be_names() {
    for word in vocabulary::words() {
        let text = format!(
            "#version 2.0\nreal {0} = 1;\nstrand S (int i) {{ output real x = {0}; update {{ stabilize; }} }}\ncreate_array {{ S(i) | i in 0..1 }}",
            word.text
        );
        let (_, errors) = parse(&Source::new("p.diderot", text));
        let reserved = word.reserved && word.only_in != Some(Version::V1);
        assert_eq!(!errors.is_empty(), reserved, "{}: {errors:?}", word.text);
    }
}

#[test]
fn symbols_that_editors_insert_are_those_of_the_language() {
    for (word, symbol) in vocabulary::symbol_words() {
        let operator = operators::spellings().any(|spelling| spelling.symbol == symbol);
        let letter = operators::greek_letter(word).is_some();
        let known = operator || letter || operators::is_index_symbol(&symbol);
        assert!(known, "\\{word} is {symbol}");
    }
}

#[test]
fn the_grammar_of_tree_sitter_has_every_operator() {
    between_marks("tree-sitter-diderot/grammar.js", &lists::javascript());
}

/// Words that only one version has and that make a value are read as names of functions.
#[test]
fn the_grammar_of_tree_sitter_has_every_word() {
    let grammar = read("tree-sitter-diderot/grammar.js");
    for word in vocabulary::words() {
        let is_function = word.role == vocabulary::Role::Function && word.only_in.is_some();
        let named = grammar.contains(&format!("'{}'", word.text));
        assert_eq!(named, !is_function, "{}", word.text);
    }
}

/// A parser that was not made again has other strings than the grammar.
#[test]
fn the_parser_of_tree_sitter_is_made_from_this_grammar() {
    let made = read("tree-sitter-diderot/src/grammar.json");
    let made: serde_json::Value = serde_json::from_str(&made).expect("JSON");
    let mut strings = Vec::new();
    collect_strings(&made["rules"], &mut strings);
    let missing: Vec<_> = lists::tokens()
        .into_iter()
        .filter(|token| !strings.contains(&token.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "{missing:?} are not in src/grammar.json: run `tree-sitter generate --abi 14`"
    );
}

fn collect_strings<'v>(value: &'v serde_json::Value, strings: &mut Vec<&'v str>) {
    match value {
        serde_json::Value::Object(map) => {
            if map.get("type").is_some_and(|kind| kind == "STRING") {
                strings.extend(map["value"].as_str());
            }
            map.values()
                .for_each(|inner| collect_strings(inner, strings));
        }
        serde_json::Value::Array(items) => {
            items
                .iter()
                .for_each(|inner| collect_strings(inner, strings));
        }
        _ => {}
    }
}

#[test]
fn the_queries_have_every_function_and_kernel() {
    let name = "tree-sitter-diderot/queries/highlights.scm";
    between_marks(name, &lists::query());
    // Helix has other names for some captures.
    let captures = [
        ("@number.float", "@constant.numeric.float"),
        ("@number", "@constant.numeric.integer"),
        ("@boolean", "@constant.builtin.boolean"),
        ("@string.escape", "@constant.character.escape"),
        ("@keyword.conditional", "@keyword.control.conditional"),
        ("@keyword.repeat", "@keyword.control.repeat"),
        ("@keyword.return", "@keyword.control.return"),
        ("@keyword.import", "@keyword.control.import"),
        ("@variable.member", "@variable.other.member"),
        ("@type.definition", "@type"),
    ];
    let mut text = read(name);
    for (ours, theirs) in captures {
        text = text.replace(ours, theirs);
    }
    let head = format!("; Written from `{name}` by the test `editors`; do not edit.\n");
    current("helix/queries/highlights.scm", &format!("{head}\n{text}"));
}

#[test]
fn the_grammar_of_vs_code_has_every_list() {
    let name = "vscode/syntaxes/diderot.tmLanguage.json";
    let is_table = |line: &str| line.trim_start().starts_with("\"table-");
    current(name, &replaced(&read(name), &lists::textmate(), is_table));
}

#[test]
fn vs_code_knows_the_letters_of_names() {
    let name = "vscode/language-configuration.json";
    let is_pattern = |line: &str| line.trim_start().starts_with("\"wordPattern\"");
    current(
        name,
        &replaced(&read(name), &[lists::word_pattern()], is_pattern),
    );
}

#[test]
fn vs_code_has_every_symbol() {
    current("vscode/snippets/symbols.json", &lists::symbol_snippets());
}

#[test]
fn vim_has_every_list() {
    between_marks("vim/syntax/diderot.vim", &lists::vim());
    between_marks("vim/ftplugin/diderot.vim", &lists::vim_abbreviations());
}

#[test]
fn emacs_has_every_list() {
    between_marks("emacs/diderot-mode.el", &lists::emacs());
}

#[test]
fn kate_has_every_list() {
    between_marks("kate/diderot.xml", &lists::kate());
}

#[test]
fn the_chapter_of_the_book_has_every_symbol() {
    between_marks("../docs/book/src/editors.md", &lists::book());
}
