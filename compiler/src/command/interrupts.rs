//! Handles Ctrl-C and requests to terminate: they end a run, not the process, so that nothing half-written is left. A second
//! one, or one while no program runs, ends the process, with a message.

use super::{INTERRUPTED, complain};
use runtime::{output::remove_unfinished, world::Control};
use std::sync::{
    Arc, Mutex, Once, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// The run that an interrupt ends, and whether it keeps its results so far.
static RUN: Mutex<Option<(Arc<Control>, bool)>> = Mutex::new(None);
static HAPPENED: AtomicBool = AtomicBool::new(false);
/// Whether strands have run.
static BEGAN: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();

/// Takes interrupts from now on. To be called before the first file is created, so that none is left when the process ends.
pub(super) fn install() {
    INSTALL.call_once(|| {
        // If there can be no handler the process ends at once, which is as good.
        let _ = ctrlc::set_handler(handle);
    });
}

/// Takes Ctrl-C back from an interpreter, which would only make a note of it: until there is a handler it ends the process, or is
/// ignored if the parent of the process wants that.
pub(super) fn take_back() {
    #[cfg(unix)]
    {
        use nix::libc::{SIG_DFL, SIG_IGN, SIGINT, signal};
        // SAFETY: neither action is a function that could be called, and no other thread sets one.
        unsafe {
            if signal(SIGINT, SIG_DFL) == SIG_IGN {
                signal(SIGINT, SIG_IGN);
            }
        }
    }
}

/// Lets interrupts end this run until the guard is dropped.
pub(super) struct Watch;

impl Watch {
    pub(super) fn over(control: Arc<Control>, keep: bool) -> Watch {
        BEGAN.store(true, Ordering::Relaxed);
        set(Some((control, keep)));
        install();
        Watch
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        set(None);
    }
}

/// Waits for an interrupt, which then ends nothing by itself.
pub(super) fn wait() {
    let control = Arc::new(Control::default());
    let _watch = Watch::over(control, false);
    while !happened() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Whether there was an interrupt.
pub(super) fn happened() -> bool {
    HAPPENED.load(Ordering::Relaxed)
}

fn set(run: Option<(Arc<Control>, bool)>) {
    *RUN.lock().unwrap_or_else(PoisonError::into_inner) = run;
}

fn handle() {
    let is_second = HAPPENED.swap(true, Ordering::Relaxed);
    let run = RUN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*run {
        Some((control, keep)) if !is_second => {
            if *keep {
                control.stop();
            } else {
                control.cancel();
            }
        }
        _ => {
            remove_unfinished();
            if !is_second {
                complain(match BEGAN.load(Ordering::Relaxed) {
                    true => "error: interrupted; outputs that were not complete are removed\n",
                    false => "error: interrupted before the strands ran; no output was written\n",
                });
            }
            std::process::exit(i32::from(INTERRUPTED));
        }
    }
}
