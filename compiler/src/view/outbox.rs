//! The messages that a page has yet to take. Newer ones take the place of older ones of their kind, so the memory of a page that sleeps is
//! bounded.

use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Printed text that waits for a page, in bytes; more is left out.
const MOST_PRINTED: usize = 1 << 16;
/// Files that wait for a page.
const MOST_FILES: usize = 4;
/// Binary messages that a page may have taken and not drawn.
const UNDER_WAY: usize = 2;
/// After this time a page that does not answer gets a further picture all the same.
const PATIENCE: Duration = Duration::from_secs(1);

/// A message to a page.
#[derive(Clone, Debug)]
pub enum Message {
    /// A JSON object.
    Text(String),
    /// A picture or geometry with its header.
    Frame(Arc<Vec<u8>>),
    /// A file that the page has asked for, or the reason why there is none.
    File {
        /// Its name.
        name: String,
        /// Its bytes.
        contents: Result<Vec<u8>, String>,
    },
}

/// Makes a binary message.
pub(super) type Making = Box<dyn FnOnce() -> Arc<Vec<u8>> + Send>;

/// A binary message that is made when the first page takes it, by the thread of that page.
pub(super) struct Picture(LazyLock<Arc<Vec<u8>>, Making>);

impl Picture {
    pub(super) fn new(making: Making) -> Picture {
        Picture(LazyLock::new(making))
    }
}

/// The messages to a page.
#[derive(Default)]
pub struct Outbox {
    queue: Mutex<Queue>,
    arrived: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Texts with their kinds.
    texts: Vec<(&'static str, Value)>,
    files: VecDeque<(String, Result<Vec<u8>, String>)>,
    /// The newest picture and its number.
    frame: Option<(u64, Arc<Picture>)>,
    /// The pictures that were taken and not drawn: number, size and time.
    under_way: VecDeque<(u64, usize, Instant)>,
    /// The measured speed of the connection in bytes per second.
    rate: Option<f64>,
    is_closed: bool,
}

impl Outbox {
    /// Adds a text. One of the same kind that was not taken is replaced.
    pub(super) fn put(&self, kind: &'static str, mut value: Value) {
        let mut queue = self.lock();
        value["type"] = json!(kind);
        match queue.texts.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, older)) if kind == "printed" => join_printed(older, &value),
            Some((_, older)) => *older = value,
            None => queue.texts.push((kind, value)),
        }
        self.arrived.notify_all();
    }

    /// Shows a picture, instead of one that was not taken.
    pub(super) fn show(&self, number: u64, frame: Arc<Picture>) {
        self.lock().frame = Some((number, frame));
        self.arrived.notify_all();
    }

    /// Adds a file.
    pub(super) fn hand_over(&self, name: String, contents: Result<Vec<u8>, String>) {
        let mut queue = self.lock();
        if queue.files.len() == MOST_FILES {
            queue.files.pop_front();
        }
        queue.files.push_back((name, contents));
        self.arrived.notify_all();
    }

    /// The page has drawn a picture.
    pub(super) fn drawn(&self, number: u64) {
        let mut queue = self.lock();
        let found = queue.under_way.iter().find(|(n, ..)| *n == number).copied();
        queue.under_way.retain(|(n, ..)| *n > number);
        if let Some((_, bytes, since)) = found {
            let rate = bytes as f64 / since.elapsed().as_secs_f64().max(1e-4);
            queue.rate = Some(queue.rate.map_or(rate, |old| 0.5 * (old + rate)));
        }
        self.arrived.notify_all();
    }

    /// The measured speed of the connection in bytes per second.
    pub(super) fn rate(&self) -> Option<f64> {
        self.lock().rate
    }

    /// The next message, or nothing if none comes within a time or the page is closed. Texts go before pictures, which are about them.
    pub fn next(&self, wait: Duration) -> Option<Message> {
        let end = Instant::now() + wait;
        let mut queue = self.lock();
        loop {
            if queue.is_closed {
                return None;
            }
            if !queue.texts.is_empty() {
                let (_, value) = queue.texts.remove(0);
                return Some(Message::Text(value.to_string()));
            }
            if let Some((name, contents)) = queue.files.pop_front() {
                return Some(Message::File { name, contents });
            }
            let now = Instant::now();
            let oldest = queue.under_way.front().map(|(.., since)| *since + PATIENCE);
            let is_late = oldest.is_some_and(|due| now >= due);
            if (queue.under_way.len() < UNDER_WAY || is_late)
                && let Some((number, frame)) = queue.frame.take()
            {
                if is_late {
                    queue.under_way.clear();
                }
                drop(queue);
                let bytes = Arc::clone(&frame.0);
                let sent = (number, bytes.len(), Instant::now());
                self.lock().under_way.push_back(sent);
                return Some(Message::Frame(bytes));
            }
            let left = end.checked_duration_since(now).filter(|t| !t.is_zero())?;
            let due = match (&queue.frame, oldest) {
                (Some(_), Some(due)) => due.saturating_duration_since(now),
                _ => left,
            };
            let waited = self.arrived.wait_timeout(queue, left.min(due));
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether it takes no more messages.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.arrived.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds printed text to text that was not taken yet.
fn join_printed(older: &mut Value, newer: &Value) {
    let text = |value: &Value| value["text"].as_str().unwrap_or_default().to_string();
    let mut joined = text(older) + &text(newer);
    if joined.len() > MOST_PRINTED {
        let from = joined.len() - MOST_PRINTED;
        let from = (from..joined.len()).find(|&n| joined.is_char_boundary(n));
        joined = format!("…{}", &joined[from.unwrap_or_default()..]);
    }
    older["text"] = json!(joined);
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn picture(value: u8) -> Arc<Picture> {
        Arc::new(Picture::new(Box::new(move || Arc::new(vec![value; 100]))))
    }

    fn text(message: Option<Message>) -> Value {
        match message {
            Some(Message::Text(text)) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn newer_messages_replace_older_ones_of_their_kind() {
        let page = Outbox::default();
        page.put("status", json!({ "step": 1 }));
        page.put("command", json!({ "line": "a" }));
        page.put("status", json!({ "step": 2 }));
        assert_eq!(text(page.next(NOW)), json!({ "type": "status", "step": 2 }));
        assert_eq!(text(page.next(NOW))["line"], "a");
        assert!(page.next(NOW).is_none());
    }

    #[test]
    fn a_page_that_sleeps_has_the_newest_picture_and_bounded_text() {
        let page = Outbox::default();
        for n in 0..1000 {
            page.put("printed", json!({ "text": "∇".repeat(1000) }));
            page.show(n, picture(n as u8));
        }
        let printed = text(page.next(NOW));
        assert!(printed["text"].as_str().unwrap().len() <= MOST_PRINTED + 8);
        assert!(matches!(page.next(NOW), Some(Message::Frame(frame)) if frame[0] == 231));
        assert!(page.next(NOW).is_none());
    }

    #[test]
    fn a_page_gets_no_more_pictures_than_it_draws() {
        let page = Outbox::default();
        let is_frame = |message| matches!(message, Some(Message::Frame(_)));
        for n in 0..2 {
            page.show(n, picture(0));
            assert!(is_frame(page.next(NOW)));
        }
        page.show(2, picture(0));
        assert!(page.next(NOW).is_none());
        page.drawn(0);
        assert!(is_frame(page.next(NOW)));
        // One that never answers still gets one from time to time.
        page.show(3, picture(0));
        assert!(page.next(NOW).is_none());
        assert!(is_frame(page.next(PATIENCE * 2)));
    }
}
