//! Five habits that make the prose hard to read are counted per file, in pages, comments and messages. `english.txt` has the
//! allowed counts, which only go down: `UPDATE_ENGLISH=1` lowers them. A file that moves takes its line along.

use std::{
    collections::BTreeMap,
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

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/english.txt");

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
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'')
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
            found.extend(vec![label; count(phrase) - excused]);
        }
    }
    found
}

/// Sources and pages of the repository.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let visible = entries.filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        !name.starts_with('.') && name != "target"
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
fn habits_become_fewer() {
    let allowed: BTreeMap<String, usize> = fs::read_to_string(LIST)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(count, path)| (path.to_owned(), count.parse().expect("a count")))
        .collect();
    let (mut counts, mut failures) = (BTreeMap::new(), String::new());
    for path in files(root()) {
        let name = path.strip_prefix(root()).expect("a file");
        let name = name.display().to_string();
        // This file has the phrases as data.
        if path.ends_with("tests/english.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        let found: Vec<(usize, String)> = prose(&path, &text)
            .iter()
            .flat_map(|(line, text)| habits(text).into_iter().map(|habit| (*line, habit)))
            .collect();
        let limit = match allowed.is_empty() {
            true => found.len(),
            false => allowed.get(&name).copied().unwrap_or(0),
        };
        if found.len() > limit {
            let _ = writeln!(failures, "{name}: {} habits, {limit} allowed", found.len());
            for (line, habit) in &found {
                let _ = writeln!(failures, "    line {line}: {habit}");
            }
        }
        counts.insert(name, found.len().min(limit));
    }
    if std::env::var_os("UPDATE_ENGLISH").is_some() {
        let some = counts.iter().filter(|(_, count)| **count > 0);
        let list: String = some
            .map(|(name, count)| format!("{count} {name}\n"))
            .collect();
        fs::write(LIST, list).expect("the list can be written");
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn phrases_are_whole_words_and_good_english_is_excused() {
    let bad = "What is kept is no row; nobody lies there.";
    assert_eq!(habits(bad).len(), 4);
    let good = "There is no row that is no longer kept; flies believe, somewhat isolated.";
    assert_eq!(habits(good), [""; 0]);
    let page = "Nobody.\n```\nnobody\n```\n";
    assert_eq!(prose(Path::new("a.md"), page)[0], (1, "Nobody.".to_owned()));
    assert_eq!(
        prose(Path::new("a.rs"), "x(\"so many\") + nobody; // lies"),
        [(1, " lies".to_owned())]
    );
}
