//! Ranks that are threads of one process, for tests of everything that ranks do together.

use super::carry::Cluster;
use super::mailbox::Mailbox;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A rank of several in one process. Letters are delayed by numbers that follow from a seed: tests see many orders of events.
pub struct Threads {
    rank: usize,
    mailboxes: Arc<Vec<Mailbox>>,
    delays: AtomicU64,
}

/// Microseconds by which a letter is delayed, at most.
const LONGEST_DELAY: u64 = 300;

impl Threads {
    /// This many ranks, each to be used by a thread of its own.
    pub fn ranks(size: usize, seed: u64) -> Vec<Threads> {
        let mailboxes = (0..size).map(|_| Mailbox::new(size));
        let mailboxes = Arc::new(mailboxes.collect::<Vec<_>>());
        let rank = |rank: usize| Threads {
            rank,
            mailboxes: Arc::clone(&mailboxes),
            delays: AtomicU64::new(seed.wrapping_add(rank as u64) | 1),
        };
        (0..size).map(rank).collect()
    }

    /// The next delay; every other letter has none.
    fn delay(&self) -> Duration {
        let next = |state: u64| state.wrapping_mul(6364136223846793005).wrapping_add(1);
        let state = self
            .delays
            .fetch_update(Relaxed, Relaxed, |s| Some(next(s)));
        let number = state.unwrap_or_default() >> 33;
        Duration::from_micros(number % LONGEST_DELAY * (number >> 20 & 1))
    }
}

impl Cluster for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.mailboxes.len()
    }

    fn send(&self, to: usize, letter: Arc<Vec<u8>>) {
        match self.delay() {
            Duration::ZERO => std::thread::yield_now(),
            delay => std::thread::sleep(delay),
        }
        self.mailboxes[to].put(self.rank, letter);
    }

    fn mailbox(&self) -> &Mailbox {
        &self.mailboxes[self.rank]
    }
}
