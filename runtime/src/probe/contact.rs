//! Detects images that were never probed inside.
//!
//! If the volume is elsewhere, an empty picture is correct by the rules for positions outside, but never intended. Every call of
//! a primitive tests its positions until one is inside; after that no call does. For images over time, the primitive that locates
//! times tests these in the same way, and a probe is inside only if its frame is one of the image as well. The frame after which there
//! is none counts once some time was that of this frame: it is also the frame of times after it.
//!
//! As long as no position is inside, the box of all positions is kept, which a warning shows beside the box of the image.

use super::{ProbeImage, Real};
use crate::grid::{AskedBox, BoxBits};
use crate::simd::Float;
use std::ffi::c_void;
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
pub(super) struct Contact {
    facts: AtomicU8,
    /// The positions before one was inside, in index space.
    asked: AskedBox,
}

/// The facts about the probes of an image, for other ranks.
#[derive(Clone, Copy, Debug)]
pub struct ContactFacts {
    /// The facts that hold.
    pub facts: u8,
    /// The box of the positions before one was inside.
    pub asked: BoxBits,
}

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

/// A primitive that takes notice of coordinates, in index space, that a program compares with the end of an axis of an image.
///
/// # Safety
///
/// The image is of the real type of the lookup, and there is a coordinate for each lane of the mask.
pub type AskFn = unsafe extern "C" fn(
    image: *const ProbeImage<'_>,
    mask: u32,
    coordinates: *const c_void,
    out: *mut c_void,
);

/// The primitive that takes notice of coordinates along an axis.
pub fn lookup_ask(real: Real, axis: u8) -> AskFn {
    match (real, axis) {
        (Real::F32, 0) => ask::<f32, 0>,
        (Real::F32, 1) => ask::<f32, 1>,
        (Real::F32, _) => ask::<f32, 2>,
        (Real::F64, 0) => ask::<f64, 0>,
        (Real::F64, 1) => ask::<f64, 1>,
        (Real::F64, _) => ask::<f64, 2>,
    }
}

unsafe extern "C" fn ask<T: Float, const AXIS: usize>(
    image: *const ProbeImage<'_>,
    mask: u32,
    coordinates: *const c_void,
    _out: *mut c_void,
) {
    let lanes = (0..u32::BITS as usize).filter(|lane| mask >> lane & 1 == 1);
    // SAFETY: this is the contract of `AskFn`.
    let (image, at) = unsafe {
        let at = |lane: usize| (*coordinates.cast::<T>().add(lane)).to_f64();
        (&*image, at)
    };
    image.contact.asked.include_all(AXIS, lanes.map(at));
}

impl ProbeImage<'_> {
    /// Whether the image was probed.
    pub fn was_probed(&self) -> bool {
        self.contact.facts.load(Relaxed) & PROBED != 0
    }

    /// Whether the image was probed, but never between its first and its last samples, in space and in time.
    pub fn was_missed(&self) -> bool {
        self.missed().is_some()
    }

    /// Where the probes were, if there were some and none was inside.
    pub fn missed(&self) -> Option<Missed> {
        let facts = self.contact.facts.load(Relaxed);
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

    /// The box of the positions, in index space, of an image that was never probed inside in space.
    pub fn asked(&self) -> Option<Vec<(f64, f64)>> {
        self.contact.asked.get(self.dim)
    }

    /// The facts about the probes, for other ranks.
    pub fn contact(&self) -> ContactFacts {
        ContactFacts {
            facts: self.contact.facts.load(Relaxed),
            asked: self.contact.asked.bits(),
        }
    }

    /// Takes over what another rank knows about them.
    pub fn learn_contact(&self, contact: ContactFacts) {
        self.contact.asked.learn(contact.asked);
        self.learn_facts(contact.facts);
    }

    /// Takes over what a machine knows that does not look at times: whether there were probes, and whether one was inside. It counts as one
    /// at a time of the image.
    pub fn learn_of_machine(&self, [probed, inside]: [bool; 2]) {
        let facts = match self.is_timed() {
            _ if !inside => 0,
            false => INSIDE,
            true => ALL,
        };
        self.learn_facts(if probed { PROBED | facts } else { facts });
    }

    fn learn_facts(&self, facts: u8) {
        let known = facts & ALL;
        self.contact.facts.fetch_or(known, Relaxed);
        if known & INSIDE != 0 {
            self.linear.open();
        }
    }

    /// Takes notice of samples that were compared: they tell what probes inside would.
    #[inline(always)]
    pub(super) fn notice_box(&self) {
        if self.contact.facts.load(Relaxed) & INSIDE == 0 {
            self.learn_facts(ALL);
        }
    }

    /// Counts as probed inside from now on, for tests of code that call no primitive first.
    pub fn assume_inside(&self) {
        self.learn_facts(ALL);
    }

    /// Takes notice of the positions of a call, if none was inside before.
    ///
    /// # Safety
    ///
    /// Positions are `[dim][width]`, of an image over time `[dim + 1][width]`.
    #[inline(always)]
    pub(super) unsafe fn notice<T: Float>(&self, mask: u32, positions: *const T, width: usize) {
        if self.contact.facts.load(Relaxed) & INSIDE == 0 {
            // SAFETY: passed on.
            unsafe { self.look(mask, positions, width) }
        }
    }

    /// Takes notice of the positions of a call that decided without a probe, if none was inside before: they count as probed.
    ///
    /// # Safety
    ///
    /// Positions are `[dim][width]` and verdicts `[width]`.
    #[inline(always)]
    pub(super) unsafe fn notice_decided<T: Float>(
        &self,
        mask: u32,
        positions: *const T,
        verdicts: *const T,
        width: usize,
    ) {
        if self.contact.facts.load(Relaxed) & INSIDE == 0 {
            // SAFETY: there are `width` verdicts.
            let is_decided = |lane: usize| unsafe { *verdicts.add(lane) }.to_f64() != 0.0;
            let decided = (0..width).filter(|&lane| is_decided(lane));
            let decided = decided.fold(0, |lanes, lane| lanes | 1 << lane);
            // SAFETY: passed on.
            unsafe { self.look(mask & decided, positions, width) }
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
        let at_end = self.contact.facts.load(Relaxed) & AT_END != 0;
        let frames = self.frames - i64::from(!at_end);
        let mut facts = 0;
        let lanes = (0..width).filter(|lane| mask >> lane & 1 == 1);
        for axis in 0..self.dim {
            // SAFETY: as above.
            let at = |lane| unsafe { *positions.add(axis * width + lane) }.to_f64();
            self.contact.asked.include_all(axis, lanes.clone().map(at));
        }
        for lane in lanes {
            facts |= PROBED;
            if (0..self.dim).all(|axis| is_between(axis, self.sizes[axis], lane)) {
                facts |= match self.is_timed() {
                    false => INSIDE,
                    true if is_between(self.dim, frames, lane) => INSIDE | IN_SPACE,
                    true => IN_SPACE,
                };
            }
        }
        self.learn_facts(facts);
    }

    /// Takes notice of the times of a call, if none was inside before.
    ///
    /// # Safety
    ///
    /// There are `width` times.
    #[inline(always)]
    pub(super) unsafe fn notice_times<T: Float>(&self, mask: u32, times: *const T, width: usize) {
        let facts = self.contact.facts.load(Relaxed);
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
        self.learn_facts(facts);
    }
}
