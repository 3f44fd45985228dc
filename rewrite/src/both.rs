//! Two pieces of work at the same time.

use std::{panic::resume_unwind, sync::Mutex, thread};

/// Bytes of stack for work on a thread of its own, as much as for the most deeply nested programs; only the pages that are
/// used take memory.
const STACK: usize = 256 << 20;

/// The results of two pieces of work, done at the same time if there can be a thread for the second.
pub fn both<A, B: Send>(first: impl FnOnce() -> A, second: impl FnOnce() -> B + Send) -> (A, B) {
    let waiting = Mutex::new(Some(second));
    let begin = || {
        let work = waiting.lock().ok()?.take()?;
        Some(work())
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, begin);
        let a = first();
        // Without a thread it is still waiting.
        let b = match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => begin(),
        };
        (a, b.expect("it is done once"))
    })
}

#[cfg(test)]
mod tests {
    use super::both;
    use std::{panic, sync::Mutex};

    #[test]
    fn both_things_are_done_once() {
        let done = Mutex::new(Vec::new());
        let work = |n: u32| {
            done.lock().unwrap().push(n);
            n
        };
        assert_eq!(
            both(|| work(1), || both(|| work(2), || work(3))),
            (1, (2, 3))
        );
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!(done, [1, 2, 3]);
    }

    #[test]
    fn what_goes_wrong_elsewhere_goes_wrong_here() {
        let caught = panic::catch_unwind(|| both(|| 1, || -> u32 { panic!("elsewhere") }));
        assert!(caught.is_err());
    }
}
