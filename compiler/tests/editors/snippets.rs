//! The snippets that are whole programs are right.

use compiler::front::{self, CheckOptions, source::Source};
use std::collections::BTreeMap;

/// The text that a snippet leaves if everything in it is accepted.
fn expanded(body: &str) -> String {
    let mut defaults: BTreeMap<String, String> = BTreeMap::new();
    let mut text = String::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let digits =
            |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
        if let Some(inner) = after.strip_prefix('{') {
            let number = digits(inner);
            let (default, after) = inner[number.len() + 1..].split_once('}').expect("an end");
            text.push_str(default);
            defaults.insert(number, default.to_owned());
            rest = after;
        } else {
            let number = digits(after);
            text.push_str(defaults.get(&number).map_or("", String::as_str));
            rest = &after[number.len()..];
        }
    }
    text + rest
}

#[test]
fn programs_among_the_snippets_are_right() {
    let all: serde_json::Value =
        serde_json::from_str(&super::read("vscode/snippets/diderot.json")).expect("JSON");
    let mut programs = 0;
    for (name, snippet) in all.as_object().expect("snippets") {
        let body = snippet["body"].as_array().expect("lines").iter();
        let lines: Vec<&str> = body.map(|line| line.as_str().expect("a line")).collect();
        if lines[0].starts_with("#version") {
            let text = expanded(&lines.join("\n"));
            let source = Source::new("snippet.diderot", text.as_str());
            let found = front::check(&source, &CheckOptions::default()).diagnostics;
            assert!(found.is_empty(), "{name}: {found:?}\n{text}");
            programs += 1;
        }
    }
    assert_eq!(programs, 2);
}
