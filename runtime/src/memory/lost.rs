//! Mapped files that become shorter. A load of a page that the file has lost is a signal, `SIGBUS`. There is no result to go on with,
//! so the process ends with a message and the status [`LOST`].

use super::faults::{self, Faults, MOST, Places};
use std::ffi::c_int;
use std::io;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::SeqCst};

/// The exit status after a mapped file became shorter.
pub const LOST: i32 = 2;

/// The last act of a process whose mapped file became shorter.
static LAST_ACT: OnceLock<fn()> = OnceLock::new();

/// Chooses a function that is called before the process ends because a mapped file became shorter; the first choice counts.
///
/// Only loads of mapped samples lead there, so the act may do what any code may do, unless it needs a lock that is held around such a
/// load.
pub fn before_lost(act: fn()) {
    let _ = LAST_ACT.set(act);
}

/// Loads from pages that a file has lost.
struct Lost;

/// The mapped files.
static MAPPED: Places = Places::new();

/// The message for each of them, which is never freed, as the handler may read it at any time.
static MESSAGES: [AtomicPtr<String>; MOST] = [const { AtomicPtr::new(null_mut()) }; MOST];

impl Faults for Lost {
    const SIGNAL: c_int = libc::SIGBUS;

    fn places() -> &'static Places {
        &MAPPED
    }

    fn answer(place: usize, _: usize) {
        // SAFETY: a place in use has a message, which lives as long as the process.
        end_with(unsafe { &*MESSAGES[place].load(SeqCst) })
    }
}

/// Takes note of a mapping of a file, and gives the number of the note.
pub(super) fn enter(start: usize, bytes: usize, name: &str) -> io::Result<usize> {
    faults::watch::<Lost>(|| Ok(()))?;
    let message = format!("error: {name} became shorter while it was read\n");
    MAPPED.enter(start, bytes, |place| {
        let known = MESSAGES[place].load(SeqCst);
        // SAFETY: messages are never freed.
        let is_known = unsafe { known.as_ref() }.is_some_and(|known| *known == message);
        if !is_known {
            MESSAGES[place].store(Box::into_raw(Box::new(message)), SeqCst);
        }
    })
}

/// Forgets a mapping, which is about to end.
pub(super) fn leave(note: usize) {
    MAPPED.leave(note);
}

/// Whether a thread is about to end the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Ends the process with a message and the status [`LOST`], as a handler of a signal may do.
pub(super) fn end_with(message: &str) -> ! {
    // Other threads may find the same fault: the message comes once.
    while ENDING.swap(true, SeqCst) {
        // SAFETY: the call has no conditions.
        unsafe { libc::pause() };
    }
    // SAFETY: the call is allowed in handlers.
    unsafe { libc::write(2, message.as_ptr().cast(), message.len()) };
    if let Some(act) = LAST_ACT.get() {
        act();
    }
    // SAFETY: the call has no conditions.
    unsafe { libc::_exit(LOST) }
}
