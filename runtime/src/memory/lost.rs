//! Mapped files that become shorter. A load of a page that the file has lost is a signal, `SIGBUS`. There is no result to go on with,
//! so the process ends with a message and the status [`LOST`].

use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::sync::{Once, OnceLock};

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

/// What the handler of the signal knows of a mapping. It takes no lock, so the slots are atomic, and there is a fixed number of them.
struct Slot {
    /// The address of the first byte; 0 where there is no mapping.
    start: AtomicUsize,
    end: AtomicUsize,
    /// The message, which is never freed, as the handler may read it at any time.
    message: AtomicPtr<String>,
}

const SLOTS: usize = 256;

static MAPPED: [Slot; SLOTS] = [const {
    Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        message: AtomicPtr::new(null_mut()),
    }
}; SLOTS];

/// Marks a slot that is being filled: no mapping begins there.
const TAKEN: usize = 1;

/// Takes note of a mapping of a file, and gives the number of the note.
pub(super) fn enter(start: usize, bytes: usize, name: &str) -> io::Result<usize> {
    let take = |slot: &Slot| {
        slot.start
            .compare_exchange(0, TAKEN, SeqCst, SeqCst)
            .is_ok()
    };
    let free = MAPPED.iter().position(take);
    let slot = free.ok_or_else(|| io::Error::other("too many files are mapped"))?;
    let message = format!("error: {name} became shorter while it was read\n");
    let known = MAPPED[slot].message.load(SeqCst);
    // SAFETY: messages are never freed.
    let is_known = unsafe { known.as_ref() }.is_some_and(|known| *known == message);
    if !is_known {
        let kept = Box::into_raw(Box::new(message));
        MAPPED[slot].message.store(kept, SeqCst);
    }
    MAPPED[slot].end.store(start + bytes, SeqCst);
    MAPPED[slot].start.store(start, SeqCst);
    Ok(slot)
}

/// Forgets a mapping, which is about to end.
pub(super) fn leave(slot: usize) {
    MAPPED[slot].start.store(0, SeqCst);
}

/// Lets the signal end the process with a message if it comes from a mapping.
pub(super) fn watch() -> io::Result<()> {
    static WATCH: Once = Once::new();
    let mut result = Ok(());
    WATCH.call_once(|| {
        // SAFETY: the handler has the signature that the flag announces, and the structure is filled as the call wants.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = lost;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            let before = OLD.as_ptr();
            if libc::sigaction(libc::SIGBUS, &raw const action, before) != 0 {
                result = Err(io::Error::last_os_error());
            }
        }
    });
    result
}

/// The handler that was there before.
struct Old(std::cell::UnsafeCell<std::mem::MaybeUninit<libc::sigaction>>);

// SAFETY: it is written once, before the handler that reads it can be called.
unsafe impl Sync for Old {}

impl Old {
    fn as_ptr(&self) -> *mut libc::sigaction {
        self.0.get().cast()
    }
}

static OLD: Old = Old(std::cell::UnsafeCell::new(std::mem::MaybeUninit::zeroed()));

/// Whether a thread is about to end the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The handler of the signal.
extern "C" fn lost(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system gives the handler a description of the signal.
    let address = unsafe { (*info).si_addr() } as usize;
    let holds = |slot: &&Slot| {
        let start = slot.start.load(SeqCst);
        start > TAKEN && (start..slot.end.load(SeqCst)).contains(&address)
    };
    let Some(slot) = MAPPED.iter().find(holds) else {
        // It is not ours: the load that raised it is repeated, and raises it again for the handler before.
        // SAFETY: the structure is what the system gave.
        unsafe { libc::sigaction(signal, OLD.as_ptr(), null_mut()) };
        return;
    };
    // Other threads may find the same file too short: the message comes once.
    while ENDING.swap(true, SeqCst) {
        // SAFETY: the call has no conditions.
        unsafe { libc::pause() };
    }
    // SAFETY: a slot in use has a message, which lives as long as the process; the calls are allowed in handlers.
    unsafe {
        let message = &*slot.message.load(SeqCst);
        libc::write(2, message.as_ptr().cast(), message.len());
    }
    if let Some(act) = LAST_ACT.get() {
        act();
    }
    // SAFETY: the call has no conditions.
    unsafe { libc::_exit(LOST) }
}
