//! Programs in a viewer: pages in browsers and notebooks.

use crate::{Inputs, Program};
use compiler::{
    front::source::Source,
    pipeline::{Compiled, Options},
    run,
    view::{Given, Message, Outbox, Server, Subject, Viewer},
};
use serde_json::{Map, Value};
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

pub use compiler::view::{script, style};

/// A program that runs again whenever an input changes, and pages that show its outputs. It ends when it is dropped.
pub struct View {
    viewer: Arc<Viewer>,
    server: Mutex<Option<Server>>,
}

/// A page of a viewer whose messages take another way than a socket, for example through a notebook.
pub struct Page {
    viewer: Arc<Viewer>,
    outbox: Arc<Outbox>,
}

/// A message to a page.
pub enum PageMessage {
    /// A JSON object.
    Text(String),
    /// A header and data.
    Binary(Vec<u8>),
}

/// A compiled program with its inputs.
struct Fixed {
    source: Source,
    options: Options,
    inputs: run::Inputs,
    workers: Option<usize>,
}

impl Subject for Fixed {
    fn source(&self) -> Result<Source, String> {
        Ok(self.source.clone())
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn given(&self, _: &Source, _: &Compiled) -> Result<Given, String> {
        Ok(Given {
            inputs: self.inputs.clone(),
            workers: self.workers,
            limit: None,
            command: Vec::new(),
        })
    }
}

impl Program {
    /// Shows the program with these inputs, on this many threads or on all cores.
    pub fn view(&self, inputs: &Inputs, workers: Option<usize>) -> View {
        let viewer = Viewer::start(Fixed {
            source: self.source().as_ref().clone(),
            options: self.options().clone(),
            inputs: inputs.values.clone(),
            workers,
        });
        View {
            viewer: Arc::new(viewer),
            server: Mutex::default(),
        }
    }
}

impl View {
    /// The address of the page on this machine. The first call begins to serve it.
    ///
    /// # Errors
    /// There is no free port.
    pub fn address(&self) -> io::Result<String> {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = &*server {
            return Ok(server.address());
        }
        let started = Server::start(Arc::clone(&self.viewer), 0)?;
        let address = started.address();
        *server = Some(started);
        Ok(address)
    }

    /// Adds a page.
    pub fn open(&self) -> Page {
        Page {
            viewer: Arc::clone(&self.viewer),
            outbox: self.viewer.open(),
        }
    }

    /// The values of all inputs in the last run, by name, as a JSON object.
    pub fn inputs(&self) -> String {
        self.viewer.inputs().to_string()
    }

    /// Sets the inputs of a JSON object; `null` stands for the default. False if it is not an object.
    pub fn set(&self, inputs: &str) -> bool {
        let inputs = serde_json::from_str::<Map<String, Value>>(inputs);
        inputs.map(|inputs| self.viewer.set(inputs)).is_ok()
    }

    /// Waits until the picture is final or the program has failed. False if the time is over before.
    pub fn wait(&self, time: Duration) -> bool {
        self.viewer.wait(time)
    }

    /// An output of the last finished run as a file in memory.
    ///
    /// # Errors
    /// There is none, or the format does not suit it.
    pub fn export(&self, output: &str, format: &str) -> Result<Vec<u8>, String> {
        self.viewer.export(output, format)
    }

    /// Ends the program and its pages.
    pub fn end(&self) {
        self.viewer.end();
        let server = self.server.lock();
        drop(server.unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Page {
    /// Takes a message of the page.
    pub fn receive(&self, text: &str) {
        self.viewer.receive(&self.outbox, text);
    }

    /// The next message to the page, or nothing if none comes within a time.
    pub fn next(&self, wait: Duration) -> Option<PageMessage> {
        Some(match self.outbox.next(wait)? {
            Message::Text(text) => PageMessage::Text(text),
            Message::Frame(bytes) => PageMessage::Binary(bytes.to_vec()),
            Message::File { name, contents } => {
                PageMessage::Binary(compiler::view::file_message(&name, contents))
            }
        })
    }

    /// Whether no more messages come.
    pub fn is_closed(&self) -> bool {
        self.outbox.is_closed()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.viewer.close(&self.outbox);
    }
}
