//! Letters that have arrived and have not been read.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The letters to a rank, in the order of their arrival from each sender.
pub struct Mailbox {
    letters: Mutex<Vec<VecDeque<Arc<Vec<u8>>>>>,
    arrival: Condvar,
    /// The threads that cannot go on without a letter.
    readers: AtomicUsize,
}

/// The need of a thread for a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// The work of the rank stands still without it.
    Urgent,
    /// Other threads work meanwhile, which a busy courier would slow down.
    Leisurely,
}

impl Mailbox {
    /// An empty one, for letters of this many ranks.
    pub fn new(size: usize) -> Mailbox {
        Mailbox {
            letters: Mutex::new(vec![VecDeque::new(); size]),
            arrival: Condvar::new(),
            readers: AtomicUsize::new(0),
        }
    }

    /// Puts a letter in.
    pub fn put(&self, from: usize, letter: Arc<Vec<u8>>) {
        self.lock()[from].push_back(letter);
        self.arrival.notify_all();
    }

    /// Whether a letter is needed urgently, so that it should be brought quickly.
    pub fn is_awaited(&self) -> bool {
        self.readers.load(Relaxed) > 0
    }

    /// The next letter of a sender, once it has come.
    pub(super) fn from(&self, sender: usize, need: Need) -> Arc<Vec<u8>> {
        let readers = usize::from(need == Need::Urgent);
        self.readers.fetch_add(readers, Relaxed);
        let mut letters = self.lock();
        let letter = loop {
            match letters[sender].pop_front() {
                Some(letter) => break letter,
                None => {
                    let woken = self.arrival.wait(letters);
                    letters = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        self.readers.fetch_sub(readers, Relaxed);
        letter
    }

    /// The next letter of any sender, which is not needed urgently; none if none comes within this time.
    pub(super) fn any(&self, patience: Duration) -> Option<(usize, Arc<Vec<u8>>)> {
        let none_there = |letters: &mut Vec<VecDeque<_>>| letters.iter().all(VecDeque::is_empty);
        let waited = self
            .arrival
            .wait_timeout_while(self.lock(), patience, none_there);
        let mut letters = waited.unwrap_or_else(PoisonError::into_inner).0;
        let mut senders = letters.iter_mut().enumerate();
        senders.find_map(|(from, letters)| Some((from, letters.pop_front()?)))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<VecDeque<Arc<Vec<u8>>>>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
