//! An editor as tests need it.

use compiler::lsp;
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    thread::JoinHandle,
    time::Duration,
};

/// An editor.
pub(crate) struct Editor {
    connection: Connection,
    server: Option<JoinHandle<Result<(), String>>>,
    requests: i32,
    versions: i32,
}

impl Editor {
    pub(crate) fn start() -> Editor {
        Editor::with(json!({}))
    }

    /// An editor that says more about itself than others.
    pub(crate) fn with(mut about: Value) -> Editor {
        let (connection, other) = Connection::memory();
        let server = std::thread::spawn(move || lsp::answer(&other));
        let mut editor = Editor {
            connection,
            server: Some(server),
            requests: 0,
            versions: 0,
        };
        about["capabilities"] = json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } });
        let about = editor.ask("initialize", about);
        assert_eq!(about["capabilities"]["positionEncoding"], "utf-8");
        editor.tell("initialized", json!({}));
        editor
    }

    pub(crate) fn tell(&self, method: &str, parameters: Value) {
        let message = Notification::new(method.to_owned(), parameters);
        self.connection
            .sender
            .send(message.into())
            .expect("the server listens");
    }

    /// The answer to a request, or its error.
    pub(crate) fn try_ask(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
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
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.try_ask(method, parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn next(&self) -> Message {
        let patience = Duration::from_secs(60);
        let message = self.connection.receiver.recv_timeout(patience);
        message.expect("the server answers")
    }

    pub(crate) fn open(&mut self, path: &Path, text: &str) {
        self.tell(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": uri(path), "languageId": "diderot", "version": 0, "text": text } }),
        );
    }

    /// Replaces bytes of a line.
    pub(crate) fn change(&mut self, path: &Path, start: (u32, u32), end: (u32, u32), text: &str) {
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
    pub(crate) fn diagnostics(&self, path: &Path) -> Vec<Value> {
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

    pub(crate) fn at(&mut self, method: &str, path: &Path, text: &str, byte: usize) -> Value {
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

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Parameters about a byte of a text.
pub(crate) fn place(path: &Path, text: &str, byte: usize) -> Value {
    let (line, character) = position(text, byte);
    json!({
        "textDocument": { "uri": uri(path) },
        "position": { "line": line, "character": character },
    })
}

pub(crate) fn position(text: &str, byte: usize) -> (u32, u32) {
    let line = text[..byte].matches('\n').count();
    let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    (line as u32, (byte - start) as u32)
}

/// The programs in a folder of `programs/`, and in the folders in it.
pub(crate) fn programs(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let mut folders = vec![root.join(folder).canonicalize().expect("the folder")];
    let mut programs = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "diderot") {
                let text = fs::read_to_string(&path).expect("a program");
                programs.push((path, text));
            }
        }
    }
    programs.sort();
    programs
}
