//! The frames of images over time that the lanes of a call are made of, and their weights.

use super::{MAX_SUPPORT, ProbeImage, ProbeSpec};
use crate::simd::{Float, MAX_WIDTH, Mask, Vector};

/// The most taps in time.
const MOST: usize = 2 * MAX_SUPPORT;

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
    /// The number of taps.
    count: usize,
    /// Their weights.
    weights: [V; MOST],
}

/// An integer in all lanes. It is not a closure: those are not inlined into the versions for instruction sets.
#[inline(always)]
pub(super) fn number<V: Vector>(n: i64) -> V {
    V::splat(V::Elem::from_index(n))
}

impl<V: Vector> LaneFrames<V> {
    /// Those that the last rows of the positions have.
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
        let count = spec.frames;
        let taps = count as i64;
        let (low, high) = (number::<V>(-taps), number::<V>(image.frames + taps));
        // SAFETY: the caller promises a row after those of the axes.
        let below = unsafe { V::load(positions.add(spec.dim * spec.width)) };
        let mut weights = [low; MOST];
        for (tap, weight) in weights.iter_mut().enumerate().take(count) {
            // SAFETY: and one for each tap after that.
            *weight = unsafe { V::load(positions.add((spec.dim + 1 + tap) * spec.width)) };
        }
        LaneFrames {
            // NaN becomes the first of these.
            below: below.max(low).min(high).floor(),
            first: 1 - taps / 2,
            last: image.frames - 1,
            stride: image.frame,
            count,
            weights,
        }
    }

    /// The frames and weights of all active lanes, if these have the same. Weights are never −0.
    #[inline(always)]
    pub(super) fn shared(&self, mask: u32) -> Option<Frames<V, isize>> {
        let lane = (mask | 1 << (V::LANES - 1)).trailing_zeros() as usize;
        let below = self.below.lane(lane);
        let mut same = self.below.same(V::splat(below)).bits();
        let mut weights = self.weights;
        for weight in weights.iter_mut().take(self.count) {
            let own = V::splat(weight.lane(lane));
            same &= weight.same(own).bits();
            *weight = own;
        }
        if same & mask != mask {
            return None;
        }
        // SAFETY: it is an integer between the bounds of `read`.
        let below = unsafe { below.to_index() };
        let mut distances = [0; MOST];
        for (tap, distance) in distances.iter_mut().enumerate().take(self.count) {
            let frame = below + self.first + tap as i64;
            *distance = (frame.max(0).min(self.last) * self.stride) as isize;
        }
        Some(Frames {
            count: self.count,
            distances,
            weights,
        })
    }

    /// The frames of each lane; a sample of it is so far from the first one.
    #[inline(always)]
    pub(super) fn apart(&self, sample: &[i64; MAX_WIDTH]) -> Frames<V, [i64; MAX_WIDTH]> {
        let zero = number::<V>(0);
        let mut distances = [[0; MAX_WIDTH]; MOST];
        for (tap, distances) in distances.iter_mut().enumerate().take(self.count) {
            let frame = self.below + number::<V>(self.first + tap as i64);
            let frame = frame.max(zero).min(number::<V>(self.last));
            *distances = V::offsets(&[frame, zero, zero], &[self.stride, 0, 0], 1);
            for (distance, sample) in distances.iter_mut().zip(sample) {
                *distance += sample;
            }
        }
        Frames {
            count: self.count,
            distances,
            weights: self.weights,
        }
    }
}

/// Frames that samples are summed over, before the sums over space.
pub(super) struct Frames<V, D> {
    /// Their number.
    pub(super) count: usize,
    /// How far each is from the first frame of the image, in samples, of all lanes; or how far a sample of each lane is there.
    pub(super) distances: [D; MOST],
    /// The weight of each.
    pub(super) weights: [V; MOST],
}
