//! Detects images that were never probed inside.
//!
//! If the volume is elsewhere, an empty picture is correct by the rules for positions outside, but never intended. Every call of
//! a primitive tests its positions until one is inside; after that no call does.

use super::ProbeImage;
use crate::simd::Float;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Some probe was outside.
const PROBED: u8 = 1;
/// Some probe was inside.
const INSIDE: u8 = 2;

/// The facts about the probes of an image.
#[derive(Debug, Default)]
pub(super) struct Contact(AtomicU8);

impl ProbeImage<'_> {
    /// Whether the image was probed.
    pub fn was_probed(&self) -> bool {
        self.contact.0.load(Relaxed) != 0
    }

    /// Whether the image was probed, but never between its first and its last samples.
    pub fn was_missed(&self) -> bool {
        self.contact.0.load(Relaxed) == PROBED
    }

    /// The facts about the probes, as a number for other ranks.
    pub fn contact(&self) -> u8 {
        self.contact.0.load(Relaxed)
    }

    /// Takes over what another rank knows about them.
    pub fn learn_contact(&self, contact: u8) {
        self.contact.0.fetch_or(contact & PROBED, Relaxed);
        if contact & INSIDE != 0 {
            self.assume_inside();
        }
    }

    /// Counts as probed inside from now on, for tests of code that call no primitive first.
    pub fn assume_inside(&self) {
        self.contact.0.fetch_or(PROBED | INSIDE, Relaxed);
        self.linear.open();
    }

    /// Takes notice of the positions of a call, if none was inside before.
    ///
    /// # Safety
    ///
    /// Positions are `[dim][width]`.
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
        let inside = |lane: usize| {
            (0..self.dim).all(|axis| {
                // SAFETY: there are `width` positions for each axis.
                let x = unsafe { *positions.add(axis * width + lane) }.to_f64();
                (0.0..=(self.sizes[axis] - 1) as f64).contains(&x)
            })
        };
        let mut active = (0..width).filter(|lane| mask >> lane & 1 == 1).peekable();
        if active.peek().is_none() {
            return;
        }
        self.contact.0.fetch_or(PROBED, Relaxed);
        if active.any(inside) {
            self.assume_inside();
        }
    }
}
