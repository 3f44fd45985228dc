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
use crate::simd::small::Small;
use crate::simd::{Float, MAX_WIDTH, Mask, Real, Vector, opaque};

/// Samples from one of them on, of the real type or of a smaller one.
#[derive(Clone, Copy)]
pub(super) struct Samples<E> {
    first: *const E,
    small: Option<Small>,
}

impl<E: Float> Samples<E> {
    /// All of an image.
    #[inline(always)]
    pub(super) fn of(image: &ProbeImage<'_>) -> Samples<E> {
        Samples {
            first: image.samples.cast(),
            small: image.small,
        }
    }

    /// Those from a sample on that is so far away.
    #[inline(always)]
    pub(super) fn moved(self, distance: isize) -> Samples<E> {
        let first = match self.small {
            None => self.first.wrapping_offset(distance),
            Some(small) => self
                .first
                .wrapping_byte_offset(distance * small.bytes() as isize),
        };
        Samples { first, ..self }
    }

    /// A sample so far away.
    ///
    /// # Safety
    ///
    /// It exists.
    #[inline(always)]
    pub(super) unsafe fn at(self, distance: isize) -> E {
        let at = self.moved(distance).first;
        // SAFETY: promised by the caller; samples need not be aligned.
        unsafe {
            let number = match self.small {
                None => return at.read_unaligned(),
                Some(small) if small.bytes() == 1 => small.number(at.cast::<u8>().read()),
                Some(small) => small.number(at.cast::<u16>().read_unaligned()),
            };
            E::from_f64(f64::from(number))
        }
    }

    /// The first `TAPS` samples of each lane, so far away from the first.
    ///
    /// # Safety
    ///
    /// They exist in an image of `DIM` axes.
    #[inline(always)]
    pub(super) unsafe fn taps<V: Vector<Elem = E>, const DIM: usize, const TAPS: usize>(
        self,
        offsets: &[i64; MAX_WIDTH],
    ) -> [V; TAPS] {
        let p = self.first;
        // SAFETY: promised by the caller.
        unsafe {
            match self.small {
                Some(small) if may_be_small::<V, DIM>() => match small.bytes() {
                    1 => V::small_taps::<u8, TAPS>(p.cast(), offsets, &small),
                    _ => V::small_taps::<u16, TAPS>(p.cast(), offsets, &small),
                },
                _ => real_taps::<V, TAPS>(p, offsets),
            }
        }
    }

    /// Half the lanes of a vector from here on, half from another place on that is so far away.
    ///
    /// # Safety
    ///
    /// They exist in an image of `DIM` axes.
    #[inline(always)]
    unsafe fn halves<V: Vector<Elem = E>, const DIM: usize>(self, distance: isize) -> V {
        let (p, q) = (self.first, self.moved(distance).first);
        // SAFETY: promised by the caller.
        unsafe {
            match self.small {
                Some(small) if may_be_small::<V, DIM>() => match small.bytes() {
                    1 => V::small_halves::<u8>(p.cast(), q.cast(), &small),
                    _ => V::small_halves::<u16>(p.cast(), q.cast(), &small),
                },
                _ => V::load_halves(p, q),
            }
        }
    }
}

/// Whether images with this number of axes may have small samples.
#[inline(always)]
fn may_be_small<V: Vector, const DIM: usize>() -> bool {
    DIM == 3 && matches!(V::Elem::REAL, Real::F32)
}

/// # Safety
///
/// All taps of all lanes exist.
#[inline(always)]
unsafe fn real_taps<V: Vector, const TAPS: usize>(
    p: *const V::Elem,
    offsets: &[i64; MAX_WIDTH],
) -> [V; TAPS] {
    let mut taps = [V::splat(V::Elem::from_f64(0.0)); TAPS];
    // SAFETY: promised by the caller.
    unsafe {
        match TAPS {
            2 => taps.copy_from_slice(&V::rows2(p, offsets)),
            4 | 6 => {
                taps[..4].copy_from_slice(&V::rows4(p, offsets));
                if TAPS == 6 {
                    taps[4..].copy_from_slice(&V::rows2(p.wrapping_add(4), offsets));
                }
            }
            _ => unreachable!("kernels have 2, 4 or 6 taps"),
        }
    }
    taps
}

/// Rows of samples, slice by slice.
pub(super) trait Rows<V: Vector, const TAPS: usize> {
    /// What a row leaves for the same row of the next slice.
    type Kept: Copy;

    /// What the rows of the first slice of a component find, which begins at `samples`.
    ///
    /// # Safety
    ///
    /// The component is one of the image in which the rows were found.
    unsafe fn begin(&self, samples: Samples<V::Elem>) -> [Self::Kept; TAPS];

    /// The samples of row `j` of slice `k`; what inactive lanes get is unspecified.
    ///
    /// # Safety
    ///
    /// As [`Rows::begin`]; rows and slices are as many as there are taps, and come in their order.
    unsafe fn row(
        &self,
        samples: Samples<V::Elem>,
        j: usize,
        k: usize,
        kept: &mut Self::Kept,
    ) -> [V; TAPS];
}

/// Every lane has rows of its own.
pub(super) struct Apart<const DIM: usize> {
    /// Where each lane's first tap is, relative to the first sample of a component.
    pub(super) offsets: [i64; MAX_WIDTH],
    /// Distances of rows and of layers.
    pub(super) row: isize,
    pub(super) layer: isize,
}

impl<const DIM: usize> Apart<DIM> {
    /// Of lanes with these first taps.
    #[inline(always)]
    pub(super) fn new<V: Vector>(image: &ProbeImage<'_>, first: &[V; 3]) -> Apart<DIM> {
        Apart {
            offsets: V::offsets(first, &image.strides, DIM),
            row: image.strides[1] as isize,
            layer: image.strides[2] as isize,
        }
    }
}

impl<V: Vector, const DIM: usize, const TAPS: usize> Rows<V, TAPS> for Apart<DIM> {
    type Kept = ();

    #[inline(always)]
    unsafe fn begin(&self, _: Samples<V::Elem>) -> [(); TAPS] {
        [(); TAPS]
    }

    #[inline(always)]
    unsafe fn row(&self, samples: Samples<V::Elem>, j: usize, k: usize, (): &mut ()) -> [V; TAPS] {
        let offset = opaque(j as isize * self.row + k as isize * self.layer);
        // SAFETY: all taps of all lanes are inside the image.
        unsafe { samples.moved(offset).taps::<V, DIM, TAPS>(&self.offsets) }
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

    /// How far row `j` of layer `k` is.
    #[inline(always)]
    pub(super) fn begin_of(&self, j: usize, k: usize) -> isize {
        opaque(self.corner + k as isize * self.layer + j as isize * self.row)
    }

    /// The vector that begins so far away, in layer `k`.
    ///
    /// # Safety
    ///
    /// As [`Rows::begin`].
    #[inline(always)]
    pub(super) unsafe fn stored(&self, samples: Samples<V::Elem>, begin: isize, k: usize) -> V {
        let samples = samples.moved(begin);
        // SAFETY: the box is inside the image.
        unsafe {
            if DIM == 1 {
                V::load_some(samples.first, self.length.saturating_sub(k * V::LANES))
            } else {
                samples.halves::<V, DIM>(self.row)
            }
        }
    }
}

/// Boxes of samples, or of sums over frames, from which lanes pick their taps.
pub(super) trait Boxes<V: Vector, const TAPS: usize> {
    /// The vector that begins with row `j` of layer `k`.
    ///
    /// # Safety
    ///
    /// As [`Rows::begin`].
    unsafe fn rows(&self, samples: Samples<V::Elem>, j: usize, k: usize) -> V;

    /// Where the lanes find each of their taps in two vectors.
    fn numbers(&self) -> &[V; TAPS];
}

impl<V: Vector, const DIM: usize, const TAPS: usize> Boxes<V, TAPS> for Near<V, DIM, TAPS> {
    #[inline(always)]
    unsafe fn rows(&self, samples: Samples<V::Elem>, j: usize, k: usize) -> V {
        // SAFETY: promised by the caller.
        unsafe { self.stored(samples, self.begin_of(j, k), k) }
    }

    #[inline(always)]
    fn numbers(&self) -> &[V; TAPS] {
        &self.numbers
    }
}

/// Rows that lanes pick from boxes.
pub(super) struct Picked<B>(pub(super) B);

impl<V: Vector, B: Boxes<V, TAPS>, const TAPS: usize> Rows<V, TAPS> for Picked<B> {
    type Kept = V;

    #[inline(always)]
    unsafe fn begin(&self, samples: Samples<V::Elem>) -> [V; TAPS] {
        // SAFETY: promised by the caller.
        let mut first = [unsafe { self.0.rows(samples, 0, 0) }; TAPS];
        for j in 1..TAPS {
            // SAFETY: promised by the caller.
            first[j] = unsafe { self.0.rows(samples, j, 0) };
        }
        first
    }

    #[inline(always)]
    unsafe fn row(&self, samples: Samples<V::Elem>, j: usize, k: usize, kept: &mut V) -> [V; TAPS] {
        // SAFETY: promised by the caller.
        let next = unsafe { self.0.rows(samples, j, k + 1) };
        let numbers = self.0.numbers();
        let mut taps = [V::pick(*kept, next, numbers[0]); TAPS];
        for tap in 1..TAPS {
            taps[tap] = V::pick(*kept, next, numbers[tap]);
        }
        *kept = next;
        taps
    }
}
