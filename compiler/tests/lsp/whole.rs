//! Whole programs: hovers at every name, programs that are typed, edited at random and renamed.
//!
//! ```text
//! cargo test --test lsp -- --ignored                 all programs of the repository, 10,000 edits
//! DIDEROT_SEED=42 cargo test --test lsp              the edits of a seed
//! ```

use crate::editor::{Editor, place, position, programs, uri};
use compiler::{
    front::{CheckOptions, check, facts::Referent, source::Source},
    pipeline::{self, Options},
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Every name that a program's own file defines or uses, with the type of its definition.
fn names(source: &Source) -> Vec<(usize, String)> {
    let checked = check(source, &CheckOptions::default());
    let facts = &checked.facts;
    let own = facts.names().filter_map(|(place, referent)| {
        let Referent::Defined(definition) = referent else {
            return None;
        };
        if source.is_imported(place) {
            return None;
        }
        let known = facts.definition(definition)?;
        let (_, here) = source.file_of(place);
        Some((here.start as usize, known.ty.as_ref()?.to_string()))
    });
    own.collect()
}

#[track_caller]
fn assert_hover(editor: &mut Editor, path: &Path, text: &str, byte: usize, ty: &str) {
    let hover = editor.at("textDocument/hover", path, text, byte);
    let found = hover["contents"]["value"].as_str().unwrap_or_default();
    let name = path.display();
    assert!(found.contains(ty), "{name} at {byte}: {ty}: {found}");
}

/// Hovers at every name have the checker's types, and at some names before and after an error; gives their number.
fn hover_everywhere(programs: Vec<(PathBuf, String)>) -> usize {
    const BROKEN: &str = " real broken = 1 + ; ";
    let mut editor = Editor::start();
    let mut shown = 0;
    for (path, text) in programs {
        let wanted = names(&Source::new(&path, text.as_str()));
        editor.open(&path, &text);
        for (byte, ty) in &wanted {
            assert_hover(&mut editor, &path, &text, *byte, ty);
        }
        shown += wanted.len();
        // An error in the middle of the strand.
        if let Some(at) = text.find("update {").map(|at| at + "update {".len()) {
            let broken = format!("{}{BROKEN}{}", &text[..at], &text[at..]);
            let here = position(&text, at);
            editor.change(&path, here, here, BROKEN);
            let (before, after): (Vec<_>, Vec<_>) = wanted.iter().partition(|(n, _)| *n < at);
            for (byte, ty) in before.iter().take(30) {
                assert_hover(&mut editor, &path, &broken, *byte, ty);
            }
            for (byte, ty) in after.iter().take(30) {
                assert_hover(&mut editor, &path, &broken, byte + BROKEN.len(), ty);
            }
        }
        let closed = json!({ "textDocument": { "uri": uri(&path) } });
        editor.tell("textDocument/didClose", closed);
    }
    shown
}

#[test]
fn hovers_show_the_checkers_types_also_beside_an_error() {
    let shown = hover_everywhere(programs("gallery"));
    assert!(shown > 1000, "{shown} names");
}

#[test]
#[ignore = "all programs take a while"]
fn hovers_show_the_checkers_types_in_all_programs() {
    let valid = |(path, text): &(PathBuf, String)| {
        let source = Source::new(path, text.as_str());
        check(&source, &CheckOptions::default()).program.is_some()
    };
    let shown = hover_everywhere(programs("").into_iter().filter(valid).collect());
    println!("{shown} names");
}

#[test]
fn a_program_that_is_typed_ends_without_messages() {
    let mut editor = Editor::start();
    let folder = std::env::temp_dir();
    for (name, text) in programs("gallery") {
        let path = folder.join(name.file_name().expect("a name"));
        editor.open(&path, "");
        let (mut line, mut column) = (0, 0);
        for (n, c) in text.chars().enumerate() {
            editor.change(&path, (line, column), (line, column), &c.to_string());
            match c {
                '\n' => (line, column) = (line + 1, 0),
                _ => column += c.len_utf8() as u32,
            }
            if n % 97 == 0 {
                let here = json!({ "line": line, "character": column });
                let asked = json!({ "textDocument": { "uri": uri(&path) }, "position": here });
                editor.ask("textDocument/completion", asked);
            }
        }
        let source = Source::new(&path, text.as_str());
        let fresh = pipeline::check(&source, &Options::default()).diagnostics;
        while editor.diagnostics(&path).len() != fresh.len() {}
        editor.tell(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": uri(&path) } }),
        );
    }
}

/// A sequence of numbers that looks like chance.
struct Dice(u64);

impl Dice {
    fn of_run() -> (Dice, u64) {
        let given = std::env::var("DIDEROT_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let clock = || {
            std::time::UNIX_EPOCH
                .elapsed()
                .map_or(0, |since| since.as_secs())
        };
        let seed = given.unwrap_or_else(clock);
        println!("DIDEROT_SEED={seed}");
        (Dice(seed), seed)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Texts that edits insert.
const INSERTED: [&str; 11] = [
    "",
    "x",
    "∇F(x)",
    "\n",
    " = 1;\n",
    "{",
    "}",
    "𝛁",
    "// α\n",
    "\"",
    "real y = 0;\n",
];

/// Edits at random places, of a character, a word or several lines, also outside ASCII. After each, the server knows the changed text as
/// well as a text that it has just been given, and reports what a fresh check does.
fn edit_at_random(programs: Vec<(PathBuf, String)>, edits: usize) {
    let (mut dice, seed) = Dice::of_run();
    let mut editor = Editor::start();
    let folder = std::env::temp_dir();
    for (n, (_, text)) in programs.into_iter().enumerate() {
        let path = folder.join(format!("edited-{n}.diderot"));
        let mut text = text;
        editor.open(&path, &text);
        for edit in 0..edits {
            let start = text.floor_char_boundary(dice.below(text.len() + 1));
            let end = text.floor_char_boundary((start + dice.below(12)).min(text.len()));
            let new = INSERTED[dice.below(INSERTED.len())];
            let (from, to) = (position(&text, start), position(&text, end.max(start)));
            editor.change(&path, from, to, new);
            text.replace_range(start..end.max(start), new);
            let fresh = folder.join(format!("fresh-{n}-{edit}.diderot"));
            editor.open(&fresh, &text);
            for method in [
                "textDocument/semanticTokens/full",
                "textDocument/documentSymbol",
            ] {
                let mut answer = |path: &Path| {
                    editor.ask(method, json!({ "textDocument": { "uri": uri(path) } }))
                };
                assert_eq!(
                    answer(&path),
                    answer(&fresh),
                    "seed {seed}: {method}\n{text}"
                );
            }
            let closed = json!({ "textDocument": { "uri": uri(&fresh) } });
            editor.tell("textDocument/didClose", closed);
        }
        // The messages at the end are those of a fresh check.
        let source = Source::new(&path, text.as_str());
        let wanted = pipeline::check(&source, &Options::default()).diagnostics;
        let mut wanted: Vec<String> = wanted.into_iter().map(|m| m.code.name.to_owned()).collect();
        wanted.sort();
        loop {
            let found = editor.diagnostics(&path);
            let mut found: Vec<String> = found
                .iter()
                .map(|m| m["code"].as_str().unwrap_or_default().to_owned())
                .collect();
            found.sort();
            if found == wanted {
                break;
            }
        }
        editor.tell(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": uri(&path) } }),
        );
    }
}

#[test]
fn random_edits_leave_the_server_with_the_text_of_the_editor() {
    edit_at_random(programs("gallery").into_iter().take(12).collect(), 25);
}

#[test]
#[ignore = "ten thousand edits take a while"]
fn ten_thousand_random_edits_leave_the_server_with_the_text_of_the_editor() {
    let all = programs("");
    let edits = 10_000usize.div_ceil(all.len());
    println!("{} programs, {edits} edits each", all.len());
    edit_at_random(all, edits);
}

/// Applies the edits of an answer to a text.
fn edited(text: &str, edits: &Value) -> String {
    let byte = |place: &Value| {
        let line = place["line"].as_u64().expect("a line") as usize;
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let start = std::iter::once(0).chain(starts).nth(line).expect("a line");
        start + place["character"].as_u64().expect("a column") as usize
    };
    let edits = edits.as_array().expect("a list").iter();
    let mut edits: Vec<(usize, usize, &str)> = edits
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().expect("a text");
            (byte(&range["start"]), byte(&range["end"]), new)
        })
        .collect();
    edits.sort();
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

#[test]
fn a_name_that_changes_twice_is_the_old_one() {
    let mut editor = Editor::start();
    let (mut dice, seed) = Dice::of_run();
    let mut renamed = 0;
    for (path, text) in programs("gallery") {
        let source = Source::new(&path, text.as_str());
        let checked = check(&source, &CheckOptions::default());
        let own: Vec<(usize, String)> = checked
            .facts
            .definitions()
            .filter(|(place, known)| !source.is_imported(*place) && known.ty.is_some())
            .map(|(place, known)| (source.file_of(place).1.start as usize, known.name.clone()))
            .collect();
        editor.open(&path, &text);
        for _ in 0..3 {
            let (at, name) = &own[dice.below(own.len())];
            let mut asked = place(&path, &text, *at);
            // An input that replaces one of the library has the name that the library uses.
            if editor
                .ask("textDocument/prepareRename", asked.clone())
                .is_null()
            {
                continue;
            }
            asked["newName"] = json!("quite_another");
            let changes = editor.try_ask("textDocument/rename", asked);
            let Ok(changes) = changes else {
                panic!(
                    "seed {seed}: {} at {at}: {name}: {changes:?}",
                    path.display()
                );
            };
            let other = edited(&text, &changes["changes"][uri(&path)]);
            assert_ne!(other, text, "seed {seed}: {name}");
            let after = Source::new(&path, other.as_str());
            let after = check(&after, &CheckOptions::default());
            assert_eq!(
                after.diagnostics.len(),
                checked.diagnostics.len(),
                "seed {seed}: {} {name}",
                path.display()
            );
            let (start, end) = ((0, 0), position(&text, text.len()));
            editor.change(&path, start, end, &other);
            let mut asked = place(&path, &other, other.find("quite_another").expect("it"));
            asked["newName"] = json!(name);
            // A name that a strand and a variable share is refused to both.
            if let Ok(changes) = editor.try_ask("textDocument/rename", asked) {
                let back = edited(&other, &changes["changes"][uri(&path)]);
                assert_eq!(back, text, "seed {seed}: {name}");
            }
            editor.change(&path, start, position(&other, other.len()), &text);
            renamed += 1;
        }
        editor.tell(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": uri(&path) } }),
        );
    }
    assert!(renamed > 20, "seed {seed}: {renamed} names");
}
