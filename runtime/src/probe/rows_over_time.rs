//! Sums over the frames of images over time, in place of the samples of single images.
#![allow(
    clippy::needless_range_loop,
    reason = "frames and taps index several arrays at once"
)]

use super::frames::{Frames, LaneFrames};
use super::rows::{Apart, Boxes, Near, Rows, Samples};
use crate::simd::{MAX_WIDTH, Vector, opaque};

impl<const DIM: usize> Apart<DIM> {
    /// The same rows in several frames.
    #[inline(always)]
    pub(super) fn over_time<V: Vector>(&self, frames: &LaneFrames<V>) -> ApartOverTime<V, DIM> {
        ApartOverTime {
            frames: frames.apart(&self.offsets),
            row: self.row,
            layer: self.layer,
        }
    }
}

/// Every lane has rows of its own, which are sums over its frames.
pub(super) struct ApartOverTime<V, const DIM: usize> {
    /// The frames, with the distances of each lane's first tap.
    frames: Frames<V, [i64; MAX_WIDTH]>,
    row: isize,
    layer: isize,
}

impl<V: Vector, const DIM: usize, const TAPS: usize> Rows<V, TAPS> for ApartOverTime<V, DIM> {
    type Kept = ();

    #[inline(always)]
    unsafe fn begin(&self, _: Samples<V::Elem>) -> [(); TAPS] {
        [(); TAPS]
    }

    #[inline(always)]
    unsafe fn row(&self, samples: Samples<V::Elem>, j: usize, k: usize, (): &mut ()) -> [V; TAPS] {
        let samples = samples.moved(opaque(j as isize * self.row + k as isize * self.layer));
        // SAFETY: promised by the caller.
        unsafe {
            match self.frames.count {
                2 => self.sum::<TAPS, 2>(samples),
                4 => self.sum::<TAPS, 4>(samples),
                _ => self.sum::<TAPS, 6>(samples),
            }
        }
    }
}

impl<V: Vector, const DIM: usize> ApartOverTime<V, DIM> {
    /// The sums over `COUNT` frames of the rows that begin with `samples`.
    ///
    /// # Safety
    ///
    /// As [`Rows::row`]; there are as many frames.
    #[inline(always)]
    unsafe fn sum<const TAPS: usize, const COUNT: usize>(
        &self,
        samples: Samples<V::Elem>,
    ) -> [V; TAPS] {
        let Frames {
            distances, weights, ..
        } = &self.frames;
        // SAFETY: all taps of all lanes are inside the image, in all of its frames.
        let mut sums = unsafe { samples.taps::<V, DIM, TAPS>(&distances[0]) };
        for sum in &mut sums {
            *sum = weights[0] * *sum;
        }
        for frame in 1..COUNT {
            // SAFETY: as above.
            let taps = unsafe { samples.taps::<V, DIM, TAPS>(&distances[frame]) };
            for tap in 0..TAPS {
                sums[tap] = weights[frame].mul_add(taps[tap], sums[tap]);
            }
        }
        sums
    }
}

/// Boxes in several frames, which all active lanes weigh alike, so that they are summed before the lanes pick.
pub(super) struct NearOverTime<V: Vector, const DIM: usize, const TAPS: usize> {
    /// The box in the first frame of the image.
    pub(super) near: Near<V, DIM, TAPS>,
    /// The frames.
    pub(super) frames: Frames<V, isize>,
}

impl<V: Vector, const DIM: usize, const TAPS: usize> Boxes<V, TAPS> for NearOverTime<V, DIM, TAPS> {
    #[inline(always)]
    unsafe fn rows(&self, samples: Samples<V::Elem>, j: usize, k: usize) -> V {
        // SAFETY: promised by the caller.
        unsafe {
            match self.frames.count {
                2 => self.sum::<2>(samples, j, k),
                4 => self.sum::<4>(samples, j, k),
                _ => self.sum::<6>(samples, j, k),
            }
        }
    }

    #[inline(always)]
    fn numbers(&self) -> &[V; TAPS] {
        self.near.numbers()
    }
}

impl<V: Vector, const DIM: usize, const TAPS: usize> NearOverTime<V, DIM, TAPS> {
    /// The sum over `COUNT` frames of the vectors that begin with row `j` of layer `k`.
    ///
    /// # Safety
    ///
    /// As [`Rows::begin`]; there are as many frames.
    #[inline(always)]
    unsafe fn sum<const COUNT: usize>(&self, samples: Samples<V::Elem>, j: usize, k: usize) -> V {
        let Frames {
            distances, weights, ..
        } = &self.frames;
        let begin = self.near.begin_of(j, k);
        // SAFETY: promised by the caller; the frames are those of the image.
        let mut sum = weights[0] * unsafe { self.near.stored(samples, begin + distances[0], k) };
        for frame in 1..COUNT {
            // SAFETY: as above.
            let rows = unsafe { self.near.stored(samples, begin + distances[frame], k) };
            sum = weights[frame].mul_add(rows, sum);
        }
        sum
    }
}
