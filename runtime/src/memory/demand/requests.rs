//! Loads of pages that are not there: the request of the handler, and the threads that make the pages.
//!
//! A handler may do very little. It writes the address to a pipe and sleeps until a thread has served it; the load is repeated then.

use super::pool::POOL;
use crate::memory::faults::{self, Faults, MOST, Places};
use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread;

/// Loads from pages that are not there yet.
struct Absent;

/// The memory on demand.
static ROOMS: Places = Places::new();

/// The number of each room in the pool.
static NUMBERS: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];

/// A note that the handler has of a room.
pub(super) struct Note(usize);

impl Note {
    /// Takes note of a room.
    ///
    /// # Errors
    /// There are too many notes.
    pub(super) fn new(start: usize, bytes: usize, number: usize) -> io::Result<Note> {
        let describe = |place: usize| NUMBERS[place].store(number, SeqCst);
        ROOMS.enter(start, bytes, describe).map(Note)
    }

    /// Forgets the room, which is about to end.
    pub(super) fn end(&self) {
        ROOMS.leave(self.0);
    }
}

/// The number of a thread in the system.
pub(super) type ThreadId = libc::pid_t;

/// A load that waits, on the stack of its thread.
struct Waiting {
    number: usize,
    address: usize,
    thread: ThreadId,
    /// One of the constants below.
    answer: AtomicU32,
}

const NO_ANSWER: u32 = 0;
const THERE: u32 = 1;
const LATER: u32 = 2;

/// The time after which a thread tries again.
static PAUSE: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 1_000_000,
};

/// The end of the pipe for handlers.
static REQUESTS: AtomicI32 = AtomicI32::new(-1);

/// The process whose threads serve loads.
static OWNER: AtomicI32 = AtomicI32::new(0);

/// Starts the threads, and lets the signal go to the handler.
///
/// # Errors
/// The system refuses.
pub(super) fn watch() -> io::Result<()> {
    faults::watch::<Absent>(start)
}

fn start() -> io::Result<()> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors, which are new and owned by nothing else.
    let (requests, handlers) = unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        (OwnedFd::from_raw_fd(ends[0]), ends[1])
    };
    REQUESTS.store(handlers, SeqCst);
    // SAFETY: the call has no conditions.
    OWNER.store(unsafe { libc::getpid() }, SeqCst);
    let requests = std::sync::Arc::new(requests);
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for _ in 0..workers {
        let requests = std::sync::Arc::clone(&requests);
        thread::Builder::new()
            .name("samples on demand".to_string())
            .spawn(move || serve(&requests))?;
    }
    Ok(())
}

/// Serves loads, one after the other, as long as the process lives.
fn serve(requests: &OwnedFd) {
    loop {
        let mut request: *const Waiting = null();
        let size = size_of::<*const Waiting>();
        // SAFETY: there is room for an address. Writes of so few bytes are never mixed.
        let read = unsafe {
            let room = (&raw mut request).cast::<c_void>();
            libc::read(requests.as_raw_fd(), room, size)
        };
        if read != size as isize {
            continue;
        }
        // SAFETY: the thread that wrote it keeps it until it is served.
        let waiting = unsafe { &*request };
        let answer = match POOL.fetch(waiting.number, waiting.address, waiting.thread) {
            true => THERE,
            false => LATER,
        };
        let word = waiting.answer.as_ptr();
        waiting.answer.store(answer, SeqCst);
        // SAFETY: only the address counts, and no other thread waits there.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word,
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            )
        };
    }
}

impl Faults for Absent {
    const SIGNAL: c_int = libc::SIGSEGV;

    fn places() -> &'static Places {
        &ROOMS
    }

    fn answer(place: usize, address: usize) {
        // SAFETY: the calls are allowed in handlers, and the number of the last error is left as it was.
        unsafe {
            let last_error = *libc::__errno_location();
            if libc::getpid() != OWNER.load(SeqCst) {
                const MESSAGE: &[u8] =
                    b"error: samples that are loaded on demand cannot be used after a fork\n";
                libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
                libc::_exit(crate::memory::LOST);
            }
            let waiting = Waiting {
                number: NUMBERS[place].load(SeqCst),
                address,
                // The function of this name is younger than the systems for which releases are made.
                thread: libc::syscall(libc::SYS_gettid) as ThreadId,
                answer: AtomicU32::new(NO_ANSWER),
            };
            while !is_served(&waiting) {
                waiting.answer.store(NO_ANSWER, SeqCst);
                wait(&waiting.answer, NO_ANSWER, &raw const PAUSE);
            }
            *libc::__errno_location() = last_error;
        }
    }
}

/// Passes a load to a thread that serves it; whether its page is there then, or is to be asked for again.
///
/// # Safety
/// As for the calls that a handler may make.
unsafe fn is_served(waiting: &Waiting) -> bool {
    let request: *const Waiting = waiting;
    let size = size_of::<*const Waiting>();
    // SAFETY: the address of the request is written as a whole, and the request stays until it is answered.
    unsafe {
        let address = (&raw const request).cast::<c_void>();
        while libc::write(REQUESTS.load(SeqCst), address, size) != size as isize {}
        while waiting.answer.load(SeqCst) == NO_ANSWER {
            wait(&waiting.answer, NO_ANSWER, null());
        }
    }
    waiting.answer.load(SeqCst) == THERE
}

/// Waits until a word is another one, or for some time.
///
/// # Safety
/// The time is one, or there is none.
unsafe fn wait(word: &AtomicU32, old: u32, time: *const libc::timespec) {
    // SAFETY: the word lives as long as the call; the rest is promised by the caller.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            old,
            time,
        )
    };
}
