//! A file is written by one worker at a time. A worker with something to write while another is writing queues it for that
//! worker, and carries on instead of waiting.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// What waits to be written, and the right to write.
pub(super) struct WriterQueue<T> {
    waiting: Mutex<VecDeque<T>>,
    right: Mutex<()>,
}

impl<T> Default for WriterQueue<T> {
    fn default() -> WriterQueue<T> {
        WriterQueue {
            waiting: Mutex::default(),
            right: Mutex::default(),
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> WriterQueue<T> {
    /// Writes something and what else waits, or queues it for the worker that is writing, unless more than `most` wait already.
    pub(super) fn write(&self, thing: T, most: usize, write: impl Fn(T)) {
        lock(&self.waiting).push_back(thing);
        loop {
            let right = match self.right.try_lock() {
                Ok(right) => right,
                Err(TryLockError::WouldBlock) if lock(&self.waiting).len() <= most => return,
                Err(_) => lock(&self.right),
            };
            loop {
                let next = lock(&self.waiting).pop_front();
                match next {
                    Some(next) => write(next),
                    None => break,
                }
            }
            drop(right);
            // Another worker may have queued something just before.
            if lock(&self.waiting).is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn everything_is_written_once_and_by_one_at_a_time() {
        for most in [0, 3, usize::MAX] {
            let queue = WriterQueue::default();
            let written = [const { AtomicUsize::new(0) }; 4000];
            let writers = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for worker in 0..4 {
                    let (queue, written, writers) = (&queue, &written, &writers);
                    scope.spawn(move || {
                        for thing in (worker..written.len()).step_by(4) {
                            queue.write(thing, most, |thing: usize| {
                                assert_eq!(writers.fetch_add(1, Relaxed), 0);
                                written[thing].fetch_add(1, Relaxed);
                                writers.fetch_sub(1, Relaxed);
                            });
                        }
                    });
                }
            });
            assert!(written.iter().all(|times| times.load(Relaxed) == 1));
        }
    }
}
