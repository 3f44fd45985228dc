//! The viewer: a program that runs again whenever an input, its text or a file changes, and pages that show its outputs.
//!
//! A [`Viewer`] has one thread that compiles and runs (`engine`), one that watches files (`watch`), and any number of pages. Pages send
//! their wishes (`wishes`) and take messages from a queue of their own (`outbox`), so a page that sleeps delays nothing. A page is a
//! browser behind the `server`, or a notebook.
//!
//! Pictures come coarse first: the grid of strands is created with a stride, so that the program sees its own indices and a
//! coarse picture has the values of the final one.

mod chosen_frames;
mod controls;
mod engine;
mod frame;
mod geometry;
mod interface;
mod outbox;
mod pace;
mod page;
mod protocol;
mod sampled;
mod server;
mod subject;
mod values;
mod watch;
mod wishes;

pub use outbox::{Message, Outbox};
pub use page::{script, style};
pub use server::{Server, file_message};
pub use subject::{Given, Subject};

use engine::Engine;
use protocol::Incoming;
use serde_json::Value;
use std::{
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};
use wishes::{Export, Shared};

/// A program and the pages that show it. Both end when it is dropped.
pub struct Viewer {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Viewer {
    /// Compiles and runs a program for pages to come.
    pub fn start(subject: impl Subject + 'static) -> Viewer {
        let shared = Arc::new(Shared::default());
        let engine = Engine::new(Arc::clone(&shared), Box::new(subject));
        let watched = Arc::clone(&shared);
        let threads = vec![
            thread::spawn(move || engine.serve()),
            thread::spawn(move || watch::watch(&watched)),
        ];
        Viewer { shared, threads }
    }

    /// Adds a page. It gets all that pages know by now.
    pub fn open(&self) -> Arc<Outbox> {
        let page = Arc::new(Outbox::default());
        self.shared.open(&page);
        page
    }

    /// Removes a page.
    pub fn close(&self, page: &Arc<Outbox>) {
        page.close();
        self.shared.close(page);
    }

    /// Takes a message of a page. One that is not understood is left aside.
    pub fn receive(&self, page: &Arc<Outbox>, text: &str) {
        if let Ok(message) = serde_json::from_str::<Incoming>(text) {
            self.shared.receive(page, message);
        }
    }

    /// The values of all inputs in the last run, by name.
    pub fn inputs(&self) -> Value {
        self.shared.values()
    }

    /// Sets inputs as a page does; `null` stands for the default.
    pub fn set(&self, inputs: serde_json::Map<String, Value>) {
        self.shared.set(inputs, false);
    }

    /// Waits until the picture is final or the program has failed. False if the time is over before.
    pub fn wait(&self, time: Duration) -> bool {
        self.shared.wait_final(time)
    }

    /// An output of the last finished run as a file in memory.
    ///
    /// # Errors
    /// There is none, or the format does not suit it.
    pub fn export(&self, output: &str, format: &str) -> Result<Vec<u8>, String> {
        let page = Arc::new(Outbox::default());
        self.shared.export(Export {
            page: Arc::clone(&page),
            output: output.to_string(),
            format: format.to_string(),
            options: Vec::new(),
        });
        loop {
            match page.next(Duration::from_secs(1)) {
                Some(Message::File { contents, .. }) => return contents,
                Some(_) => {}
                None if self.shared.is_over() => return Err("the viewer has ended".to_string()),
                None => {}
            }
        }
    }

    /// Ends the program and its pages.
    pub fn end(&self) {
        self.shared.end();
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.end();
        for thread in self.threads.drain(..) {
            // A panic was reported where it happened.
            let _ = thread.join();
        }
    }
}
