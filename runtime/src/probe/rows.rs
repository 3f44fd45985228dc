//! The samples for the lanes of the specialized primitives, row by row.
//!
//! Adjacent strands mostly probe near each other: then all taps of the lanes are in one small box,
//! and where lanes can pick from registers a row of the box is read once for all of them ([`Near`]). Otherwise every lane
//! reads its own rows ([`Apart`]). The samples are the same, and so are the results.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

use super::ProbeImage;
use crate::simd::{Float, MAX_WIDTH, Mask, Vector, opaque};

/// Rows of samples, slice by slice.
pub(super) trait Rows<V: Vector, const TAPS: usize> {
    /// What a row leaves for the same row of the next slice.
    type Kept: Copy;

    /// What the rows of the first slice of a component find, which begins at `samples`.
    ///
    /// # Safety
    ///
    /// The component is one of the image in which the rows were found.
    unsafe fn begin(&self, samples: *const V::Elem) -> [Self::Kept; TAPS];

    /// The samples of row `j` of slice `k`; what inactive lanes get is unspecified.
    ///
    /// # Safety
    ///
    /// As [`Rows::begin`]; rows and slices are as many as there are taps, and come in their order.
    unsafe fn row(
        &self,
        samples: *const V::Elem,
        j: usize,
        k: usize,
        kept: &mut Self::Kept,
    ) -> [V; TAPS];
}

/// Every lane has rows of its own.
pub(super) struct Apart {
    /// Where each lane's first tap is, relative to the first sample of a component.
    offsets: [i64; MAX_WIDTH],
    /// Distances of rows and of layers.
    row: isize,
    layer: isize,
}

impl Apart {
    /// Of lanes with these first taps along `dim` axes.
    #[inline(always)]
    pub(super) fn new<V: Vector>(image: &ProbeImage<'_>, first: &[V; 3], dim: usize) -> Apart {
        Apart {
            offsets: V::offsets(first, &image.strides, dim),
            row: image.strides[1] as isize,
            layer: image.strides[2] as isize,
        }
    }

    /// The same rows in other frames, which are so far from the first in each lane.
    #[inline(always)]
    pub(super) fn moved(&self, distances: &[i64; MAX_WIDTH]) -> Apart {
        let mut offsets = self.offsets;
        for (offset, distance) in offsets.iter_mut().zip(distances) {
            *offset += distance;
        }
        Apart { offsets, ..*self }
    }
}

impl<V: Vector, const TAPS: usize> Rows<V, TAPS> for Apart {
    type Kept = ();

    #[inline(always)]
    unsafe fn begin(&self, _: *const V::Elem) -> [(); TAPS] {
        [(); TAPS]
    }

    #[inline(always)]
    unsafe fn row(&self, samples: *const V::Elem, j: usize, k: usize, (): &mut ()) -> [V; TAPS] {
        let offset = opaque(j as isize * self.row + k as isize * self.layer);
        let p = samples.wrapping_offset(offset);
        let mut taps = [V::splat(V::Elem::from_f64(0.0)); TAPS];
        // SAFETY: all taps of all lanes are inside the image.
        unsafe {
            match TAPS {
                2 => taps.copy_from_slice(&V::rows2(p, &self.offsets)),
                4 | 6 => {
                    taps[..4].copy_from_slice(&V::rows4(p, &self.offsets));
                    if TAPS == 6 {
                        taps[4..].copy_from_slice(&V::rows2(p.add(4), &self.offsets));
                    }
                }
                _ => unreachable!("kernels have 2, 4 or 6 taps"),
            }
        }
        taps
    }
}

/// All active lanes have their taps in one box. For each row of the first lanes two vectors hold what any lane may want in its
/// place: two runs of samples along x of neighbouring rows, and two of the next slice. In an image of two axes the second
/// vector holds the two rows after those of the first, in one of one axis the samples after those of the first.
pub(super) struct Near<V: Vector, const DIM: usize, const TAPS: usize> {
    /// Where the box begins, relative to the first sample of a component.
    corner: isize,
    /// How many samples there are along x.
    length: usize,
    /// Distances of rows, and of what the two vectors hold.
    row: isize,
    layer: isize,
    /// Where the lanes find each of their taps in two vectors.
    numbers: [V; TAPS],
}

impl<V: Vector, const DIM: usize, const TAPS: usize> Near<V, DIM, TAPS> {
    /// The box of the active lanes, whose first taps along `DIM` axes these are, if they are so near each other.
    #[inline(always)]
    pub(super) fn find(
        image: &ProbeImage<'_>,
        mask: u32,
        first: &[V; 3],
    ) -> Option<Near<V, DIM, TAPS>> {
        if !V::PICKS {
            return None;
        }
        let (lanes, row) = (V::LANES as i64, image.strides[1] as isize);
        let taps = TAPS as i64;
        // How many samples the box has along each axis, and how far apart they are in the vectors.
        let (samples, steps, layer) = match DIM {
            1 => (
                [image.sizes[0].min(2 * lanes), 1, 1],
                [1, 0, 0],
                V::LANES as isize,
            ),
            2 => ([lanes / 2, taps + 3, 1], [1, lanes / 2, 0], 2 * row),
            _ => (
                [lanes / 2, taps + 1, taps + 1],
                [1, lanes / 2, lanes],
                image.strides[2] as isize,
            ),
        };
        let zero = V::splat(V::Elem::from_f64(0.0));
        let lane = (mask | 1 << (V::LANES - 1)).trailing_zeros() as usize;
        let (mut corner, mut number, mut near) = (0, zero, mask);
        for axis in 0..DIM {
            let last = image.sizes[axis] - samples[axis];
            if last < 0 {
                return None;
            }
            // Around the first active lane, or with more room on the side on which there are others.
            let some = first[axis].lane(lane);
            let spare = samples[axis] - taps;
            let below = first[axis].lt(V::splat(some)).bits() & mask != 0;
            // SAFETY: it is the index of a sample.
            let begin = unsafe { some.to_index() } - (spare + i64::from(below)) / 2;
            let begin = begin.max(0).min(last);
            let distance = first[axis] - V::splat(V::Elem::from_index(begin));
            let most = V::splat(V::Elem::from_index(spare));
            near &= (zero.le(distance) & distance.le(most)).bits();
            number = V::splat(V::Elem::from_index(steps[axis])).mul_add(distance, number);
            corner += (begin * image.strides[axis]) as isize;
        }
        if near != mask {
            return None;
        }
        let mut numbers = [number; TAPS];
        for tap in 1..TAPS {
            numbers[tap] = number + V::splat(V::Elem::from_index(tap as i64));
        }
        Some(Near {
            corner,
            length: samples[0] as usize,
            row,
            layer,
            numbers,
        })
    }

    /// The vector that begins with row `j` of layer `k`.
    #[inline(always)]
    unsafe fn rows(&self, samples: *const V::Elem, j: usize, k: usize) -> V {
        let begin = opaque(self.corner + k as isize * self.layer + j as isize * self.row);
        let begin = samples.wrapping_offset(begin);
        // SAFETY: the box is inside the image.
        unsafe {
            if DIM == 1 {
                V::load_some(begin, self.length.saturating_sub(k * V::LANES))
            } else {
                V::load_halves(begin, begin.offset(self.row))
            }
        }
    }
}

impl<V: Vector, const DIM: usize, const TAPS: usize> Rows<V, TAPS> for Near<V, DIM, TAPS> {
    type Kept = V;

    #[inline(always)]
    unsafe fn begin(&self, samples: *const V::Elem) -> [V; TAPS] {
        // SAFETY: promised by the caller.
        let mut first = [unsafe { self.rows(samples, 0, 0) }; TAPS];
        for j in 1..TAPS {
            // SAFETY: promised by the caller.
            first[j] = unsafe { self.rows(samples, j, 0) };
        }
        first
    }

    #[inline(always)]
    unsafe fn row(&self, samples: *const V::Elem, j: usize, k: usize, kept: &mut V) -> [V; TAPS] {
        // SAFETY: promised by the caller.
        let next = unsafe { self.rows(samples, j, k + 1) };
        let mut taps = [V::pick(*kept, next, self.numbers[0]); TAPS];
        for tap in 1..TAPS {
            taps[tap] = V::pick(*kept, next, self.numbers[tap]);
        }
        *kept = next;
        taps
    }
}
