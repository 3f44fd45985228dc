//! Loads that raise a signal, and the handler that answers those from memory that this module knows.
//!
//! A handler may do very little, and takes no lock. So the places of known memory are atomic numbers, and their count is fixed.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A kind of such loads.
pub(super) trait Faults: 'static {
    /// The signal that they raise.
    const SIGNAL: c_int;

    /// The memory from which they come.
    fn places() -> &'static Places;

    /// Answers a load from an address in a place, as the handler of a signal may. The load is repeated afterwards.
    fn answer(place: usize, address: usize);
}

/// The number of places that one kind of loads may have.
pub(super) const MOST: usize = 256;

/// Where memory of one kind is, and the handler of its signal before.
pub(super) struct Places {
    ranges: [Range; MOST],
    before: Before,
    watched: OnceLock<Result<(), Option<i32>>>,
}

struct Range {
    /// The address of the first byte; 0 where there is no memory.
    start: AtomicUsize,
    end: AtomicUsize,
}

/// Marks a place that is being filled: no memory begins there.
const TAKEN: usize = 1;

struct Before(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: it is written once, before the handler that reads it can be called.
unsafe impl Sync for Before {}

impl Places {
    pub(super) const fn new() -> Places {
        Places {
            ranges: [const {
                Range {
                    start: AtomicUsize::new(0),
                    end: AtomicUsize::new(0),
                }
            }; MOST],
            before: Before(UnsafeCell::new(MaybeUninit::zeroed())),
            watched: OnceLock::new(),
        }
    }

    /// Adds memory, and gives the number of its place. `describe` is called with it before the handler can find the place.
    ///
    /// # Errors
    /// There are too many places.
    pub(super) fn enter(
        &self,
        start: usize,
        bytes: usize,
        describe: impl FnOnce(usize),
    ) -> io::Result<usize> {
        let take = |range: &Range| {
            let taken = range.start.compare_exchange(0, TAKEN, SeqCst, SeqCst);
            taken.is_ok()
        };
        let free = self.ranges.iter().position(take);
        let place = free.ok_or_else(|| io::Error::other("too many files are used at once"))?;
        describe(place);
        self.ranges[place].end.store(start + bytes, SeqCst);
        self.ranges[place].start.store(start, SeqCst);
        Ok(place)
    }

    /// Forgets memory, which is about to end.
    pub(super) fn leave(&self, place: usize) {
        self.ranges[place].start.store(0, SeqCst);
    }

    fn find(&self, address: usize) -> Option<usize> {
        let holds = |range: &Range| {
            let start = range.start.load(SeqCst);
            start > TAKEN && (start..range.end.load(SeqCst)).contains(&address)
        };
        self.ranges.iter().position(holds)
    }
}

/// Lets a signal go to the handler, after `prepare`; both happen once.
///
/// # Errors
/// The system refuses.
pub(super) fn watch<F: Faults>(prepare: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let start = || {
        prepare()
            .and_then(|()| install::<F>())
            .map_err(|error| error.raw_os_error())
    };
    F::places()
        .watched
        .get_or_init(start)
        .map_err(|code| match code {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::other("signals cannot be handled"),
        })
}

fn install<F: Faults>() -> io::Result<()> {
    // SAFETY: the handler has the signature that the flag announces, and the structure is filled as the call wants.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle::<F>;
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        let before = F::places().before.0.get().cast();
        match libc::sigaction(F::SIGNAL, &raw const action, before) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

extern "C" fn handle<F: Faults>(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system gives the handler a description of the signal.
    let address = unsafe { (*info).si_addr() } as usize;
    let places = F::places();
    match places.find(address) {
        Some(place) => F::answer(place, address),
        // The load is repeated, and raises the signal again for the handler before.
        // SAFETY: the structure is the one that the system gave.
        None => unsafe {
            libc::sigaction(signal, places.before.0.get().cast(), null_mut());
        },
    }
}
