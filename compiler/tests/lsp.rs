//! The language server in conversation with an editor: in every sample program, with errors, over imports that are not saved, and
//! while a program is being typed.

use compiler::{
    front::{CheckOptions, check, facts::Referent, source::Source},
    lsp,
    pipeline::{self, Options},
};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    thread::JoinHandle,
    time::Duration,
};

/// An editor.
struct Editor {
    connection: Connection,
    server: Option<JoinHandle<Result<(), String>>>,
    requests: i32,
    versions: i32,
}

impl Editor {
    fn start() -> Editor {
        let (connection, other) = Connection::memory();
        let server = std::thread::spawn(move || lsp::answer(&other));
        let mut editor = Editor {
            connection,
            server: Some(server),
            requests: 0,
            versions: 0,
        };
        let about = editor.ask(
            "initialize",
            json!({ "capabilities": { "general": { "positionEncodings": ["utf-8", "utf-16"] } } }),
        );
        assert_eq!(about["capabilities"]["positionEncoding"], "utf-8");
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&self, method: &str, parameters: Value) {
        let message = Notification::new(method.to_owned(), parameters);
        self.connection
            .sender
            .send(message.into())
            .expect("the server listens");
    }

    /// The answer to a request, or its error.
    fn try_ask(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        let request = Request::new(id.clone(), method.to_owned(), parameters);
        self.connection
            .sender
            .send(request.into())
            .expect("the server listens");
        loop {
            match self.next() {
                Message::Response(response) if response.id == id => {
                    return response.response_result.map_err(|error| error.message);
                }
                _ => {}
            }
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.try_ask(method, parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn next(&self) -> Message {
        let patience = Duration::from_secs(60);
        let message = self.connection.receiver.recv_timeout(patience);
        message.expect("the server answers")
    }

    fn open(&mut self, path: &Path, text: &str) {
        self.tell(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": uri(path), "languageId": "diderot", "version": 0, "text": text } }),
        );
    }

    /// Replaces bytes of a line.
    fn change(&mut self, path: &Path, start: (u32, u32), end: (u32, u32), text: &str) {
        self.versions += 1;
        let position =
            |(line, character): (u32, u32)| json!({ "line": line, "character": character });
        self.tell(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri(path), "version": self.versions },
                "contentChanges": [{ "range": { "start": position(start), "end": position(end) }, "text": text }],
            }),
        );
    }

    /// The messages about a file, once the server has sent them.
    fn diagnostics(&self, path: &Path) -> Vec<Value> {
        loop {
            if let Message::Notification(note) = self.next()
                && note.method == "textDocument/publishDiagnostics"
                && note.params["uri"] == uri(path)
            {
                return note.params["diagnostics"]
                    .as_array()
                    .expect("a list")
                    .clone();
            }
        }
    }

    fn at(&mut self, method: &str, path: &Path, text: &str, byte: usize) -> Value {
        self.ask(method, place(path, text, byte))
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        let server = self.server.take().expect("the server runs");
        let ended = server.join().expect("the server does not panic");
        ended.expect("the server ends well");
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Parameters about a byte of a text.
fn place(path: &Path, text: &str, byte: usize) -> Value {
    let (line, character) = position(text, byte);
    json!({
        "textDocument": { "uri": uri(path) },
        "position": { "line": line, "character": character },
    })
}

fn position(text: &str, byte: usize) -> (u32, u32) {
    let line = text[..byte].matches('\n').count();
    let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    (line as u32, (byte - start) as u32)
}

fn gallery() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/gallery");
    let folder = folder.canonicalize().expect("the folder");
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut programs: Vec<(PathBuf, String)> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "diderot"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a program");
            (path, text)
        })
        .collect();
    programs.sort();
    programs
}

/// Every name that a program's own file defines or uses, with the type of its definition.
fn names(source: &Source) -> Vec<(u32, String)> {
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
        Some((here.start, known.ty.as_ref()?.to_string()))
    });
    own.collect()
}

#[test]
fn hovers_show_the_checkers_types_also_beside_an_error() {
    let mut editor = Editor::start();
    let mut shown = 0;
    for (path, text) in gallery() {
        let source = Source::new(&path, text.as_str());
        let wanted = names(&source);
        editor.open(&path, &text);
        for (byte, ty) in &wanted {
            let hover = editor.at("textDocument/hover", &path, &text, *byte as usize);
            let found = hover["contents"]["value"].as_str().unwrap_or_default();
            assert!(
                found.contains(ty.as_str()),
                "{} at {byte}: {ty}: {found}",
                path.display()
            );
            shown += 1;
        }
        // An error in the middle of the strand.
        let Some(at) = text.find("update {") else {
            continue;
        };
        let at = at + "update {".len();
        let broken = format!("{} real broken = 1 + ; {}", &text[..at], &text[at..]);
        let (line, column) = position(&text, at);
        editor.change(
            &path,
            (line, column),
            (line, column),
            " real broken = 1 + ; ",
        );
        for (byte, ty) in wanted
            .iter()
            .filter(|(byte, _)| (*byte as usize) < at)
            .take(30)
        {
            let hover = editor.at("textDocument/hover", &path, &broken, *byte as usize);
            let found = hover["contents"]["value"].as_str().unwrap_or_default();
            assert!(
                found.contains(ty.as_str()),
                "{} at {byte}: {ty}: {found}",
                path.display()
            );
        }
    }
    assert!(shown > 1000, "{shown} names");
}

#[test]
fn a_program_that_is_typed_ends_without_messages() {
    let mut editor = Editor::start();
    let folder = std::env::temp_dir();
    for (name, text) in gallery()
        .into_iter()
        .filter(|(_, text)| text.len() < 2000)
        .take(4)
    {
        let path = folder.join(name.file_name().expect("a name"));
        editor.open(&path, "");
        let (mut line, mut column) = (0, 0);
        for c in text.chars() {
            editor.change(&path, (line, column), (line, column), &c.to_string());
            match c {
                '\n' => (line, column) = (line + 1, 0),
                _ => column += c.len_utf8() as u32,
            }
            if c == ';' {
                editor.ask(
                    "textDocument/completion",
                    json!({ "textDocument": { "uri": uri(&path) }, "position": { "line": line, "character": column } }),
                );
            }
        }
        let source = Source::new(&path, text.as_str());
        let fresh = pipeline::check(&source, &Options::default()).diagnostics;
        loop {
            let found = editor.diagnostics(&path);
            if found.len() == fresh.len() {
                break;
            }
        }
    }
}

const PROGRAM: &str = "#version 2.0
import \"rings.diderot\";
// How far rings are apart.
input real gap = 1;
field#2(2)[] F(x) = ring(|x|/gap);
field#1(2)[2] G = ∇F;
strand S (int i) {
    output real y = 0;
    update { y = ring(gap*i) + |G([i, 1])|; stabilize; }
}
create_array { S(i) | i in 0..9 }
";
const RINGS: &str = "#version 2.0\n// A ring.\nfunction real ring (real r) = r*r;\n";

/// The two files of a program, open in an editor.
fn opened() -> (Editor, PathBuf, PathBuf) {
    let folder = std::env::temp_dir().join("not-saved");
    let (main, rings) = (folder.join("main.diderot"), folder.join("rings.diderot"));
    let mut editor = Editor::start();
    editor.open(&rings, RINGS);
    editor.open(&main, PROGRAM);
    (editor, main, rings)
}

#[test]
fn definitions_and_references_cross_files() {
    let (mut editor, main, rings) = opened();
    let use_of_ring = PROGRAM.find("ring(gap").expect("a use");
    let found = editor.at("textDocument/definition", &main, PROGRAM, use_of_ring);
    assert_eq!(found["uri"], uri(&rings));
    assert_eq!(
        found["range"]["start"],
        json!({ "line": 2, "character": 14 })
    );
    let mut asked = place(&rings, RINGS, RINGS.find("ring (").expect("it"));
    asked["context"] = json!({ "includeDeclaration": true });
    let found = editor.ask("textDocument/references", asked);
    assert_eq!(found.as_array().map(Vec::len), Some(3), "{found}");
    let hover = editor.at("textDocument/hover", &main, PROGRAM, use_of_ring);
    let hover = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(
        hover.contains("function real ring (real r)") && hover.contains("A ring."),
        "{hover}"
    );
    let hover = editor.at(
        "textDocument/hover",
        &main,
        PROGRAM,
        PROGRAM.find('∇').expect("it"),
    );
    let hover = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(hover.contains("gradient"), "{hover}");
}

#[test]
fn new_names_reach_all_files_and_clashes_are_refused() {
    let (mut editor, main, rings) = opened();
    let at = PROGRAM.find("ring(gap").expect("a use");
    let mut asked = place(&main, PROGRAM, at);
    for (name, reason) in [
        ("gap", "already defined"),
        ("real", "not a name"),
        ("2x", "not a name"),
    ] {
        asked["newName"] = json!(name);
        let refused = editor.try_ask("textDocument/rename", asked.clone());
        assert!(
            refused.as_ref().is_err_and(|e| e.contains(reason)),
            "{name}: {refused:?}"
        );
    }
    asked["newName"] = json!("circle");
    let edits = editor.ask("textDocument/rename", asked);
    let count = |path: &Path| edits["changes"][uri(path)].as_array().map(Vec::len);
    assert_eq!((count(&main), count(&rings)), (Some(2), Some(1)), "{edits}");
}

#[test]
fn completion_knows_names_symbols_and_modules() {
    let (mut editor, main, _) = opened();
    let labels = |found: &Value| -> Vec<String> {
        let items = found.as_array().cloned().unwrap_or_default();
        items
            .iter()
            .map(|item| item["label"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let inside = PROGRAM.find("y = ring").expect("it");
    let found = labels(&editor.at("textDocument/completion", &main, PROGRAM, inside));
    for name in [
        "gap",
        "ring",
        "F",
        "y",
        "i",
        "stabilize",
        "normalize",
        "bspln3",
    ] {
        assert!(found.iter().any(|label| label == name), "{name}");
    }
    let line = PROGRAM[..inside].matches('\n').count() as u32;
    editor.change(&main, (line, 0), (line, 0), "\\nab");
    let found = editor.ask(
        "textDocument/completion",
        json!({ "textDocument": { "uri": uri(&main) }, "position": { "line": line, "character": 4 } }),
    );
    assert_eq!(found[0]["textEdit"]["newText"], "∇", "{found}");
    assert_eq!(found[0]["textEdit"]["range"]["start"]["character"], 0);
}

#[test]
fn messages_have_fixes_and_go_away() {
    let (mut editor, main, _) = opened();
    let wrong = PROGRAM.find("ring(gap").expect("it");
    let (line, column) = position(PROGRAM, wrong);
    editor.change(&main, (line, column), (line, column + 4), "rimg");
    let found = loop {
        let found = editor.diagnostics(&main);
        if !found.is_empty() {
            break found;
        }
    };
    let range = found[0]["range"].clone();
    assert_eq!(range["start"], json!({ "line": line, "character": column }));
    let actions = editor.ask(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": uri(&main) }, "range": range, "context": { "diagnostics": [] } }),
    );
    let edit = &actions[0]["edit"]["changes"][uri(&main)][0];
    assert_eq!(edit["newText"], "ring", "{actions}");
    editor.change(&main, (line, column), (line, column + 4), "ring");
    while !editor.diagnostics(&main).is_empty() {}
}

#[test]
fn outlines_foldings_tokens_hints_and_signatures_are_there() {
    let (mut editor, main, _) = opened();
    let document = json!({ "textDocument": { "uri": uri(&main) } });
    let outline = editor.ask("textDocument/documentSymbol", document.clone());
    let names: Vec<&str> = outline
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert_eq!(names, ["gap", "F", "G", "S"]);
    assert_eq!(outline[3]["children"][0]["name"], "y");
    let folds = editor.ask("textDocument/foldingRange", document.clone());
    assert_eq!(
        (&folds[0]["startLine"], &folds[0]["endLine"]),
        (&json!(6), &json!(9))
    );
    let tokens = editor.ask("textDocument/semanticTokens/full", document.clone());
    let count = tokens["data"].as_array().map_or(0, Vec::len) / 5;
    assert!(count > 20, "{count}");
    let mut asked = document;
    asked["range"] =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 20, "character": 0 } });
    let hints = editor.ask("textDocument/inlayHint", asked);
    assert_eq!(hints[0]["label"], ": field#1(2)[2]", "{hints}");
    let inside = PROGRAM.find("gap*i").expect("it");
    let help = editor.at("textDocument/signatureHelp", &main, PROGRAM, inside);
    assert_eq!(
        help["signatures"][0]["label"], "function real ring (real r)",
        "{help}"
    );
}

#[test]
fn places_beyond_a_text_are_its_end() {
    let (mut editor, main, _) = opened();
    let far = json!({ "textDocument": { "uri": uri(&main) }, "position": { "line": 900, "character": 900 } });
    for method in [
        "textDocument/hover",
        "textDocument/completion",
        "textDocument/definition",
        "textDocument/signatureHelp",
    ] {
        editor.ask(method, far.clone());
    }
}

/// Edits at random places, of a character, a word or several lines, also outside ASCII. After each, the server knows the changed text as
/// well as a text that it has just been given.
#[test]
fn random_edits_leave_the_server_with_the_text_of_the_editor() {
    let seed = std::time::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_secs());
    println!("seed {seed}");
    let mut state = seed;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n.max(1)
    };
    let inserted = [
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
    let mut editor = Editor::start();
    let folder = std::env::temp_dir();
    for (n, (_, text)) in gallery().into_iter().take(12).enumerate() {
        let path = folder.join(format!("edited-{n}.diderot"));
        let mut text = text;
        editor.open(&path, &text);
        for edit in 0..25 {
            let start = text.floor_char_boundary(below(text.len() + 1));
            let end = text.floor_char_boundary((start + below(12)).min(text.len()));
            let new = inserted[below(inserted.len())];
            let (from, to) = (position(&text, start), position(&text, end.max(start)));
            editor.change(&path, from, to, new);
            text.replace_range(start..end.max(start), new);
            let fresh = folder.join(format!("fresh-{n}-{edit}.diderot"));
            editor.open(&fresh, &text);
            let mut tokens = |path: &Path| {
                let document = json!({ "textDocument": { "uri": uri(path) } });
                editor.ask("textDocument/semanticTokens/full", document)
            };
            assert_eq!(tokens(&path), tokens(&fresh), "seed {seed}\n{text}");
            let fresh = json!({ "textDocument": { "uri": uri(&fresh) } });
            editor.tell("textDocument/didClose", fresh);
        }
    }
}
