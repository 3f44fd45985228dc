//! Detects images that were never probed inside.
//!
//! If the volume is elsewhere, an empty picture is correct by the rules for positions outside, but never intended. Every call of
//! a primitive tests its positions until one is inside; after that no call does. For images over time, the primitive that locates
//! times tests these in the same way, and a probe is inside only if its frame is one of the image as well. The frame after which there
//! is none counts once some time was that of this frame: it is also the frame of times after it.

use super::ProbeImage;
use crate::simd::Float;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Some probe was outside.
const PROBED: u8 = 1;
/// Some probe was inside, in space and in a frame of the image.
const INSIDE: u8 = 2;
/// Some probe was inside in space, in whatever frame. Images without time do not have it.
const IN_SPACE: u8 = 4;
/// Some time was inside. Images without time do not have it.
const IN_TIME: u8 = 8;

/// Some time was that of the last frame.
const AT_END: u8 = 16;
/// All facts.
const ALL: u8 = PROBED | INSIDE | IN_SPACE | IN_TIME | AT_END;

/// The facts about the probes of an image.
#[derive(Debug, Default)]
pub(super) struct Contact(AtomicU8);

/// Where the probes of an image were that was never probed inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// Outside its grid.
    InSpace,
    /// Before its first frame or after its last.
    InTime,
    /// One or the other.
    Either,
}

impl ProbeImage<'_> {
    /// Whether the image was probed.
    pub fn was_probed(&self) -> bool {
        self.contact.0.load(Relaxed) & PROBED != 0
    }

    /// Whether the image was probed, but never between its first and its last samples, in space and in time.
    pub fn was_missed(&self) -> bool {
        self.missed().is_some()
    }

    /// Where the probes were, if there were some and none was inside.
    pub fn missed(&self) -> Option<Missed> {
        let facts = self.contact.0.load(Relaxed);
        let [probed, inside, in_space, in_time] =
            [PROBED, INSIDE, IN_SPACE, IN_TIME].map(|fact| facts & fact != 0);
        match self.is_timed() {
            _ if !probed => None,
            false => (!inside).then_some(Missed::InSpace),
            true if inside && in_time => None,
            true => Some(match (in_space, in_time) {
                (false, true) => Missed::InSpace,
                (true, false) => Missed::InTime,
                (false, false) | (true, true) => Missed::Either,
            }),
        }
    }

    /// The facts about the probes, as a number for other ranks.
    pub fn contact(&self) -> u8 {
        self.contact.0.load(Relaxed)
    }

    /// Takes over what another rank knows about them.
    pub fn learn_contact(&self, contact: u8) {
        let known = contact & ALL;
        self.contact.0.fetch_or(known, Relaxed);
        if known & INSIDE != 0 {
            self.linear.open();
        }
    }

    /// Counts as probed inside from now on, for tests of code that call no primitive first.
    pub fn assume_inside(&self) {
        self.learn_contact(ALL);
    }

    /// Takes notice of the positions of a call, if none was inside before.
    ///
    /// # Safety
    ///
    /// Positions are `[dim][width]`, of an image over time `[dim + 1][width]`.
    #[inline(always)]
    pub(super) unsafe fn notice<T: Float>(&self, mask: u32, positions: *const T, width: usize) {
        if self.contact.0.load(Relaxed) & INSIDE == 0 {
            // SAFETY: passed on.
            unsafe { self.look(mask, positions, width) }
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn look<T: Float>(&self, mask: u32, positions: *const T, width: usize) {
        let is_between = |axis: usize, size: i64, lane: usize| {
            // SAFETY: there are `width` positions for each axis, and frames after them.
            let x = unsafe { *positions.add(axis * width + lane) }.to_f64();
            (0.0..=(size - 1) as f64).contains(&x)
        };
        let at_end = self.contact.0.load(Relaxed) & AT_END != 0;
        let frames = self.frames - i64::from(!at_end);
        let mut facts = 0;
        for lane in (0..width).filter(|lane| mask >> lane & 1 == 1) {
            facts |= PROBED;
            if (0..self.dim).all(|axis| is_between(axis, self.sizes[axis], lane)) {
                facts |= match self.is_timed() {
                    false => INSIDE,
                    true if is_between(self.dim, frames, lane) => INSIDE | IN_SPACE,
                    true => IN_SPACE,
                };
            }
        }
        self.learn_contact(facts);
    }

    /// Takes notice of the times of a call, if none was inside before.
    ///
    /// # Safety
    ///
    /// There are `width` times.
    #[inline(always)]
    pub(super) unsafe fn notice_times<T: Float>(&self, mask: u32, times: *const T, width: usize) {
        let facts = self.contact.0.load(Relaxed);
        if facts & IN_TIME == 0 || facts & (AT_END | INSIDE) == 0 {
            // SAFETY: passed on.
            unsafe { self.look_at_times(mask, times, width) }
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn look_at_times<T: Float>(&self, mask: u32, times: *const T, width: usize) {
        let [start, end] = self.span;
        let mut facts = 0;
        for lane in (0..width).filter(|lane| mask >> lane & 1 == 1) {
            // SAFETY: there are `width` times.
            let time = unsafe { *times.add(lane) }.to_f64();
            facts |= match time {
                time if time == end => IN_TIME | AT_END,
                time if (start..end).contains(&time) => IN_TIME,
                _ => 0,
            };
        }
        self.learn_contact(facts);
    }
}
