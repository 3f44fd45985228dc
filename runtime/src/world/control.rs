//! Lets another thread watch a run and stop it.

use crate::strands::Counts;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Lets another thread watch and stop a run.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    stopped: AtomicBool,
    tally: Tally,
}

/// How far a run is, in lines of the cache of its own: what asks workers to stop is read all the time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Tally {
    step: AtomicU64,
    active: AtomicU64,
    stable: AtomicU64,
    dead: AtomicU64,
}

impl Control {
    /// Asks the run to stop at once, also inside the loops of a method. The super-step it is in stays incomplete, so the
    /// world can be read but not continued.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
        self.stopped.store(true, Relaxed);
    }

    /// Asks the run to stop after the super-step it is in. If strands run independently of each other, those whose update
    /// takes long stay as they were before it. The world can be read.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    #[inline]
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    pub(crate) fn cancelled(&self) -> *const AtomicBool {
        &raw const self.cancelled
    }

    pub(crate) fn stopped(&self) -> *const AtomicBool {
        &raw const self.stopped
    }

    /// Super-steps completed, and sizes of the strand sets then; while strands run independently of each other, the
    /// super-steps of the strand that is farthest.
    pub fn progress(&self) -> (u64, Counts) {
        let counts = Counts {
            active: self.tally.active.load(Relaxed),
            stable: self.tally.stable.load(Relaxed),
            dead: self.tally.dead.load(Relaxed),
        };
        (self.tally.step.load(Relaxed), counts)
    }

    /// Tells of some strands that have come to a super-step, and of those among them that ended meanwhile.
    pub(super) fn advance(&self, step: u64, stabilized: u64, died: u64) {
        // Nothing is written for nothing: all workers share these.
        if step > self.tally.step.load(Relaxed) {
            self.tally.step.fetch_max(step, Relaxed);
        }
        if stabilized + died > 0 {
            self.tally.active.fetch_sub(stabilized + died, Relaxed);
        }
        if stabilized > 0 {
            self.tally.stable.fetch_add(stabilized, Relaxed);
        }
        if died > 0 {
            self.tally.dead.fetch_add(died, Relaxed);
        }
    }

    pub(super) fn show(&self, step: u64, counts: Counts) {
        self.tally.step.store(step, Relaxed);
        self.tally.active.store(counts.active, Relaxed);
        self.tally.stable.store(counts.stable, Relaxed);
        self.tally.dead.store(counts.dead, Relaxed);
    }
}
