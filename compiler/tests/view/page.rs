//! A page as tests need it, and programs for it to show.

use compiler::{
    codegen::Compiled,
    front::{files::read_text, source::Source},
    pipeline::Options,
    run::Inputs,
    view::{Given, Message, Outbox, Subject, Viewer},
};
use runtime::input::InputValue;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// The time that an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program in a file, without inputs from outside.
pub(crate) struct InFile {
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    /// An image by the name of its input, and its file.
    pub(crate) image: Option<(&'static str, String)>,
}

impl Subject for InFile {
    fn source(&self) -> Result<Source, String> {
        Ok(Source::new(&self.path, read_text(&self.path)?))
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn given(&self, _: &Source, program: &Compiled) -> Result<Given, String> {
        let mut inputs = Inputs::of(program);
        if let Some((name, file)) = &self.image {
            let file = InputValue::File(file.into());
            inputs
                .set(name, file)
                .map_err(|failure| failure.to_string())?;
        }
        Ok(Given {
            inputs,
            workers: Some(2),
            limit: None,
            command: vec!["diderotc".to_string(), "p.diderot".to_string()],
        })
    }
}

/// A folder for the files of a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("view")
        .join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A viewer of a text, and a page of it.
pub(crate) fn open(name: &str, text: &str) -> (Arc<Viewer>, Page, PathBuf) {
    let path = folder(name).join("p.diderot");
    std::fs::write(&path, text).expect("a file");
    let viewer = Arc::new(Viewer::start(InFile {
        path: path.clone(),
        options: Options::default(),
        image: None,
    }));
    let page = Page::of(&viewer);
    (viewer, page, path)
}

pub(crate) struct Page {
    viewer: Arc<Viewer>,
    outbox: Arc<Outbox>,
    sets: u64,
}

/// A binary message.
pub(crate) struct Frame {
    pub(crate) header: Value,
    pub(crate) data: Vec<u8>,
}

impl Frame {
    pub(crate) fn read(bytes: &[u8]) -> Frame {
        let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
        let header = serde_json::from_slice(&bytes[4..4 + length]).expect("a header");
        let data = bytes[(4 + length).next_multiple_of(4)..].to_vec();
        Frame { header, data }
    }

    /// The numbers of a picture that is exact.
    pub(crate) fn numbers(&self) -> Vec<f32> {
        assert_eq!(self.header["encoding"], "f32");
        let numbers = self.data.chunks_exact(4);
        numbers
            .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
            .collect()
    }

    pub(crate) fn is_final(&self) -> bool {
        self.header["final"] == true
    }
}

impl Page {
    pub(crate) fn of(viewer: &Arc<Viewer>) -> Page {
        Page {
            viewer: Arc::clone(viewer),
            outbox: viewer.open(),
            sets: 0,
        }
    }

    pub(crate) fn say(&self, message: Value) {
        self.viewer.receive(&self.outbox, &message.to_string());
    }

    /// Sets inputs; gives the number of the change.
    pub(crate) fn set(&mut self, inputs: Value, dragging: bool) -> u64 {
        self.sets += 1;
        self.say(json!({ "type": "set", "id": self.sets, "inputs": inputs, "dragging": dragging }));
        self.sets
    }

    fn next(&self) -> Message {
        let message = self.outbox.next(PATIENCE);
        message.expect("a message within a minute")
    }

    /// The next binary message that is wanted. It and those before it are drawn.
    pub(crate) fn frame(&self, is_wanted: impl Fn(&Frame) -> bool) -> Frame {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match self.next() {
                Message::Frame(bytes) => {
                    let frame = Frame::read(&bytes);
                    self.say(json!({ "type": "shown", "frame": frame.header["frame"] }));
                    if is_wanted(&frame) {
                        return frame;
                    }
                }
                Message::Text(text) => {
                    let value: Value = serde_json::from_str(&text).expect("JSON");
                    assert_ne!(value["type"], "failure", "{text}");
                }
                Message::File { .. } => {}
            }
        }
        panic!("no such picture in time");
    }

    /// The final picture of a change of inputs.
    pub(crate) fn final_frame(&self, set: u64) -> Frame {
        self.frame(|frame| frame.is_final() && frame.header["set"] == set)
    }

    /// The next text of a kind that is wanted.
    pub(crate) fn text(&self, kind: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match self.next() {
                Message::Text(text) => {
                    let value: Value = serde_json::from_str(&text).expect("JSON");
                    if value["type"] == kind && is_wanted(&value) {
                        return value;
                    }
                }
                Message::Frame(bytes) => {
                    let frame = Frame::read(&bytes);
                    self.say(json!({ "type": "shown", "frame": frame.header["frame"] }));
                }
                Message::File { .. } => {}
            }
        }
        panic!("no such message in time: {kind}");
    }

    pub(crate) fn close(&self) {
        self.viewer.close(&self.outbox);
    }
}
