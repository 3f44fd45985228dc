//! The frames of images over time in which the lanes of a call are.

use super::{ProbeImage, ProbeSpec};
use crate::simd::{Float, MAX_WIDTH, Mask, Vector};

/// The frames of all lanes, each with its taps in time. The frames of all lanes, active or not, are frames of the image.
pub(super) struct LaneFrames<V> {
    /// The frame at or below the time; not always one of the image.
    below: V,
    /// From there to the first tap.
    first: i64,
    /// The last frame of the image.
    last: i64,
    /// Samples from one frame to the next.
    stride: i64,
}

impl<V: Vector> LaneFrames<V> {
    /// Those that the last row of the positions has.
    ///
    /// # Safety
    ///
    /// Positions are those of a call for an image over time, advanced to the first of the lanes.
    #[inline(always)]
    pub(super) unsafe fn read(
        image: &ProbeImage<'_>,
        spec: &ProbeSpec,
        positions: *const V::Elem,
    ) -> LaneFrames<V> {
        let taps = spec.frames as i64;
        let [low, high] = [-taps, image.frames + taps].map(|n| V::splat(V::Elem::from_index(n)));
        // SAFETY: the caller promises a row after those of the axes.
        let below = unsafe { V::load(positions.add(spec.dim * spec.width)) };
        LaneFrames {
            // NaN becomes the first of these.
            below: below.max(low).min(high).floor(),
            first: 1 - taps / 2,
            last: image.frames - 1,
            stride: image.frame,
        }
    }

    /// The frame at or below the time of all active lanes, if it is the same.
    #[inline(always)]
    pub(super) fn common(&self, mask: u32) -> Option<i64> {
        let lane = (mask | 1 << (V::LANES - 1)).trailing_zeros() as usize;
        let below = self.below.lane(lane);
        let same = self.below.same(V::splat(below));
        // SAFETY: it is an integer between the bounds of `read`.
        (same.bits() & mask == mask).then(|| unsafe { below.to_index() })
    }

    /// How far a tap of each lane is from the first frame, in samples.
    #[inline(always)]
    pub(super) fn offsets(&self, tap: usize) -> [i64; MAX_WIDTH] {
        let number = |n: i64| V::splat(V::Elem::from_index(n));
        let zero = number(0);
        let frame = self.below + number(self.first + tap as i64);
        let frame = frame.max(zero).min(number(self.last));
        V::offsets(&[frame, zero, zero], &[self.stride, 0, 0], 1)
    }

    /// The same for lanes that have this frame at or below their time.
    #[inline(always)]
    pub(super) fn offset(&self, tap: usize, below: i64) -> i64 {
        let frame = below + self.first + tap as i64;
        frame.max(0).min(self.last) * self.stride
    }
}
