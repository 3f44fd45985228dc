//! What Ctrl-C and a request to terminate do: they end a run, not the process, so that nothing half-written is left. A second one,
//! or one while no program runs, ends the process.

use super::INTERRUPTED;
use runtime::{output::remove_unfinished, world::Control};
use std::sync::{
    Arc, Mutex, Once, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// The run that an interrupt ends, and whether it keeps what it has.
static RUN: Mutex<Option<(Arc<Control>, bool)>> = Mutex::new(None);
static HAPPENED: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();

/// Lets interrupts end this run until the guard is dropped.
pub(super) struct Watch;

impl Watch {
    pub(super) fn over(control: Arc<Control>, keep: bool) -> Watch {
        set(Some((control, keep)));
        INSTALL.call_once(|| {
            // If there can be no handler the process ends at once, which is as good.
            let _ = ctrlc::set_handler(handle);
        });
        Watch
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        set(None);
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
            std::process::exit(i32::from(INTERRUPTED));
        }
    }
}
