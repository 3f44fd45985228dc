//! Every option has an example: a command of the book that uses it, which the tests of its page run.

use crate::{page::Page, root};
use std::{collections::BTreeSet, fs};

/// The words of all commands of the book.
fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for entry in fs::read_dir(root().join("docs/book/src")).expect("the pages") {
        let path = entry.expect("an entry").path();
        let is_page = path.extension().is_some_and(|e| e == "md");
        let text = is_page.then(|| fs::read_to_string(path).expect("a page"));
        let text = text.unwrap_or_default();
        let commands = text.lines().filter_map(|line| line.strip_prefix("$ "));
        words.extend(commands.flat_map(str::split_whitespace).map(str::to_owned));
    }
    words
}

/// The spellings on a line of a help text that introduces an option.
fn spellings(line: &str) -> Vec<&str> {
    let line = line.trim();
    let left = line.split("  ").next().unwrap_or(line);
    let words = left.split(", ").filter(|part| part.starts_with('-'));
    let bare = words.filter_map(|part| part.split([' ', '[']).next());
    // Constants have names of their own.
    bare.filter(|word| !word.contains('=')).collect()
}

#[test]
fn every_option_has_an_example() {
    let page = Page::read_into("command", "options");
    let used = words();
    let is_used = |spelling: &&str| {
        let is_it = |word: &String| {
            let rest = word.strip_prefix(*spelling);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '=']))
        };
        used.iter().any(is_it)
    };
    let commands = [
        "check", "build", "emit", "explain", "info", "compare", "flatten",
    ];
    let mut texts = vec![page.shell("diderotc --help")];
    texts.extend(commands.map(|command| page.shell(&format!("diderotc {command} --help"))));
    // A program with an image has all options.
    texts.push(page.shell("diderotc plane.diderot -h"));
    let mut count = 0;
    let mut missing = BTreeSet::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let spellings = spellings(line);
        // Inputs are options of their program.
        let is_input = ["-vol", "-z", "-res"].contains(spellings.first().unwrap_or(&""));
        if spellings.is_empty() || is_input {
            continue;
        }
        count += 1;
        if !spellings.iter().any(is_used) {
            missing.insert(spellings.join(", "));
        }
    }
    assert!(count > 40, "options are found");
    assert!(
        missing.is_empty(),
        "no command of the book uses {missing:?}"
    );
}
