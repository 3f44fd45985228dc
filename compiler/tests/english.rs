//! Five habits make prose hard to read. Pages, comments and messages have none of them.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// A habit, its phrases in lower case, and longer phrases that are good English.
const HABITS: [(&str, &str, &str); 5] = [
    (
        "a clause instead of a noun",
        "what is, what are, what was, what has, what can, what they, what it, what there, who has, who is, who asks, of which, that which",
        "",
    ),
    (
        "`is no` instead of `is not a`",
        "is no, are no, was no, were no",
        "there is no, there are no, there was no, there were no, is no longer, are no longer",
    ),
    ("`so many` instead of a number", "so many", ""),
    (
        "a verb of speech or rest instead of an exact one",
        "is told, are told, told by, is said, said so, says so, say so, hands on, handed on, hand on, made ready, makes ready, make ready, lies, lie, anew",
        "",
    ),
    (
        "a person instead of code",
        "nobody, whoever, someone, somebody, everyone, everybody, anybody, no one",
        "",
    ),
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The prose of a file: of a page everything outside code blocks, of a source the comments and the strings.
fn prose(path: &Path, text: &str) -> Vec<(usize, String)> {
    let is_page = path.extension().is_some_and(|e| e == "md");
    let mut in_code = false;
    let lines = text.lines().enumerate().filter_map(|(number, line)| {
        in_code ^= is_page && line.starts_with("```");
        let words = match line.split_once("//") {
            _ if in_code => return None,
            _ if is_page => line.to_owned(),
            Some((_, comment)) => comment.to_owned(),
            None => line
                .split('"')
                .skip(1)
                .step_by(2)
                .collect::<Vec<_>>()
                .join(" "),
        };
        Some((number + 1, words))
    });
    lines.collect()
}

/// The phrases of habits in a text, each with its habit.
fn habits(text: &str) -> Vec<String> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && !"_'{}".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return Vec::new();
    }
    let text = format!(" {} ", words.join(" ").to_lowercase());
    let count = |phrase: &str| text.matches(&format!(" {phrase} ")).count();
    let mut found = Vec::new();
    for (habit, phrases, good) in HABITS {
        for phrase in phrases.split(", ") {
            let contained = good.split(", ").filter(|longer| longer.contains(phrase));
            let excused: usize = contained.map(count).sum();
            let label = format!("`{phrase}`: {habit}");
            found.extend(vec![label; count(phrase).saturating_sub(excused)]);
        }
    }
    found
}

/// Sources and pages of the repository.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let visible = entries.filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        !name.starts_with('.') && name != "target" && name != "node_modules"
    });
    visible
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files(&path),
            path if path.extension().is_some_and(|e| e == "rs" || e == "md") => vec![path],
            _ => vec![],
        })
        .collect()
}

#[test]
fn pages_comments_and_messages_have_none_of_the_habits() {
    let mut failures = String::new();
    for path in files(root()) {
        // This file has the phrases as data.
        if path.ends_with("tests/english.rs") {
            continue;
        }
        let name = path.strip_prefix(root()).expect("a file").display();
        let text = fs::read_to_string(&path).expect("a text");
        for (line, text) in prose(&path, &text) {
            for habit in habits(&text) {
                let _ = writeln!(failures, "{name}:{line}: {habit}");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn phrases_are_whole_words_and_good_english_is_excused() {
    let bad = "What is kept is no row; nobody lies there.";
    assert_eq!(habits(bad).len(), 4);
    let good = "There is no row that is no longer kept; flies believe, somewhat isolated; {what} is a value.";
    assert_eq!(habits(good), [""; 0]);
    let page = "Nobody.\n```\nnobody\n```\n";
    assert_eq!(prose(Path::new("a.md"), page)[0], (1, "Nobody.".to_owned()));
    assert_eq!(
        prose(Path::new("a.rs"), "x(\"so many\") + nobody; // lies"),
        [(1, " lies".to_owned())]
    );
}
