//! The least and the greatest samples of boxes.
//!
//! A box is given by the numbers of its first and last samples along each axis, as reals. Beyond the image, the border tells which samples
//! there are: the nearest ones, or a constant; along an axis on which the image is repeated or reflected, a box that leaves it has all
//! samples. If one of the samples is not finite, or no number tells where the box is, its range is that of all numbers. No operation rounds, so all machines find the
//! same.

use super::bounds::{Range, UNKNOWN};
use super::{Border, ProbeImage, Real};
use crate::simd::{Float, Isa, Vector, entry_points, version};
use std::ffi::c_void;

/// A primitive that finds extremes.
///
/// # Safety
///
/// The image is of the real type of the lookup; places are `[2 * dim][width]` numbers of it, the first samples along all axes and then the
/// last ones, and the output `[2][width]`: the least and the greatest sample. The processor has the instruction set of the lookup.
pub type ExtremesFn = unsafe extern "C" fn(
    image: *const ProbeImage<'_>,
    mask: u32,
    places: *const c_void,
    out: *mut c_void,
);

/// The primitive that finds extremes on this processor.
///
/// # Errors
/// No primitive has this width.
pub fn lookup_extremes(real: Real, width: usize) -> Result<ExtremesFn, String> {
    lookup_extremes_for(Isa::detect(), real, width)
}

/// The primitive that finds extremes in the version of `isa`, which may be called only if it [is available](Isa::is_available).
///
/// # Errors
/// No primitive has this width, or the instruction set does not exist.
pub fn lookup_extremes_for(isa: Isa, real: Real, width: usize) -> Result<ExtremesFn, String> {
    version!(isa, real, width, 1, [portable, vex, evex])
}

entry_points!(find(
    image: *const ProbeImage<'_>,
    mask: u32,
    places: *const c_void,
    out: *mut c_void,
));

/// Finds the extremes for all lanes.
///
/// # Safety
///
/// As [`ExtremesFn`].
#[inline(always)]
unsafe fn find<V: Vector, const N: usize, const W: usize>(
    image: *const ProbeImage<'_>,
    mask: u32,
    places: *const c_void,
    out: *mut c_void,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let image = &*image;
        let (places, out) = (places.cast::<V::Elem>(), out.cast::<V::Elem>());
        for lane in (0..W).filter(|lane| mask >> lane & 1 == 1) {
            let [mut first, mut last] = [[0.0; 3]; 2];
            for axis in 0..image.dim {
                first[axis] = (*places.add(axis * W + lane)).to_f64();
                last[axis] = (*places.add((image.dim + axis) * W + lane)).to_f64();
            }
            let range = image.extremes_between(first, last);
            // Zeros have one sign, whichever was met first.
            *out.add(lane) = V::Elem::from_f64(range.low + 0.0);
            *out.add(W + lane) = V::Elem::from_f64(range.high + 0.0);
        }
    }
}

impl ProbeImage<'_> {
    /// A sample.
    pub(super) fn sample(&self, component: usize, index: usize) -> f64 {
        let at = component * self.plane as usize + index;
        // SAFETY: the sample exists; it need not be aligned.
        unsafe {
            match (self.small, self.real) {
                (Some(small), _) if small.bytes() == 1 => small
                    .number(self.samples.cast::<u8>().add(at).read())
                    .into(),
                (Some(small), _) => {
                    let sample = self.samples.cast::<u16>().add(at).read_unaligned();
                    small.number(sample).into()
                }
                (None, Real::F32) => self.samples.cast::<f32>().add(at).read_unaligned().into(),
                (None, Real::F64) => self.samples.cast::<f64>().add(at).read_unaligned(),
            }
        }
    }

    /// The range of all components in a box.
    #[inline(always)]
    fn extremes_between(&self, first: [f64; 3], last: [f64; 3]) -> Range {
        let [mut from, mut to] = [[0; 3]; 2];
        let [mut leaves, mut is_away] = [false; 2];
        for axis in 0..self.dim {
            let (a, b, end) = (first[axis], last[axis], self.sizes[axis] - 1);
            // Not for NaN either.
            let is_box = a <= b;
            if !is_box {
                return UNKNOWN;
            }
            let leaves_here = a < 0.0 || b > end as f64;
            leaves |= leaves_here;
            is_away |= b < 0.0 || a > end as f64;
            let has_all = leaves_here && matches!(self.border, Border::Mirror | Border::Wrap);
            let inside = |x: f64| x.clamp(0.0, end as f64) as i64;
            [from[axis], to[axis]] = match has_all {
                true => [0, end],
                false => [inside(a), inside(b)],
            };
        }
        let constants = match &self.border {
            Border::Constant(values) if leaves => Some(values),
            _ => None,
        };
        let mut range = Range::EMPTY;
        for component in 0..self.components {
            if let Some(constants) = constants {
                range = range.and(finite(constants[component]));
            }
            if constants.is_none() || !is_away {
                range = range.and(self.extremes(component, from, to));
            }
        }
        if !is_away {
            self.notice_box();
        }
        range
    }

    /// The range of the samples of a component between two, which exist; the range of all numbers if one is not finite.
    #[inline(always)]
    pub(super) fn extremes(&self, component: usize, first: [i64; 3], last: [i64; 3]) -> Range {
        let mut start = component as i64 * self.plane;
        let mut counts = [1; 3];
        for axis in 0..self.dim {
            start += first[axis] * self.strides[axis];
            counts[axis] = (last[axis] - first[axis] + 1) as usize;
        }
        let samples_of = SampleBox {
            start: start as usize,
            strides: [self.strides[1] as usize, self.strides[2] as usize],
            counts,
        };
        // SAFETY: the samples of the box exist.
        unsafe {
            match (self.small, self.real) {
                (Some(small), _) if small.bytes() == 1 => {
                    extremes(self.samples.cast::<u8>(), samples_of, |x| small.number(x))
                }
                (Some(small), _) => {
                    extremes(self.samples.cast::<u16>(), samples_of, |x| small.number(x))
                }
                (None, Real::F32) => extremes(self.samples.cast::<f32>(), samples_of, |x| x),
                (None, Real::F64) => extremes(self.samples.cast::<f64>(), samples_of, |x| x),
            }
        }
    }
}

/// The interval of one number; that of all numbers if it is not finite.
fn finite(x: f64) -> Range {
    match x.is_finite() {
        true => Range { low: x, high: x },
        false => UNKNOWN,
    }
}

/// A box of samples: where it begins, the way from row to row and from slice to slice, and its sizes.
#[derive(Clone, Copy)]
struct SampleBox {
    start: usize,
    strides: [usize; 2],
    counts: [usize; 3],
}

/// The least and the greatest number of a box; the range of all numbers if one is not finite.
///
/// # Safety
/// The samples exist; they need not be aligned.
#[inline(always)]
unsafe fn extremes<S: Copy, T: Float>(
    samples: *const S,
    samples_of: SampleBox,
    number: impl Fn(S) -> T + Copy,
) -> Range {
    // A part of all rows, from a column on.
    let part = |x: usize| SampleBox {
        start: samples_of.start + x,
        ..samples_of
    };
    let length = samples_of.counts[0];
    // SAFETY: promised by the caller.
    unsafe {
        // The lengths of rows in bricks, for the supports of kernels; longer rows are read in parts, and the last two parts may overlap.
        match length {
            5 => extremes_of_rows::<S, T, 5>(samples, samples_of, number),
            7 => extremes_of_rows::<S, T, 7>(samples, samples_of, number),
            9 => extremes_of_rows::<S, T, 9>(samples, samples_of, number),
            11 => extremes_of_rows::<S, T, 11>(samples, samples_of, number),
            16.. => {
                let starts = (0..length / 16).map(|n| 16 * n).chain([length - 16]);
                starts.fold(Range::EMPTY, |range, x| {
                    range.and(extremes_of_rows::<S, T, 16>(samples, part(x), number))
                })
            }
            8.. => [0, length - 8].into_iter().fold(Range::EMPTY, |range, x| {
                range.and(extremes_of_rows::<S, T, 8>(samples, part(x), number))
            }),
            _ => (0..length).fold(Range::EMPTY, |range, x| {
                range.and(extremes_of_rows::<S, T, 1>(samples, part(x), number))
            }),
        }
    }
}

/// The same for rows of a fixed length, whose numbers are compared side by side.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn extremes_of_rows<S: Copy, T: Float, const LENGTH: usize>(
    samples: *const S,
    samples_of: SampleBox,
    number: impl Fn(S) -> T + Copy,
) -> Range {
    let [none, least, greatest] = [0.0, f64::INFINITY, f64::NEG_INFINITY].map(T::from_f64);
    let (mut low, mut high, mut odd) = ([least; LENGTH], [greatest; LENGTH], [none; LENGTH]);
    let [_, rows, slices] = samples_of.counts;
    for z in 0..slices {
        for y in 0..rows {
            let at = samples_of.start + y * samples_of.strides[0] + z * samples_of.strides[1];
            // SAFETY: promised by the caller.
            let row = unsafe { samples.add(at).cast::<[S; LENGTH]>().read_unaligned() };
            for x in 0..LENGTH {
                let sample = number(row[x]);
                low[x] = if sample < low[x] { sample } else { low[x] };
                high[x] = if sample > high[x] { sample } else { high[x] };
                // Zero as long as all numbers are finite.
                odd[x] = odd[x].minus(sample.minus(sample));
            }
        }
    }
    let is_finite = odd.iter().all(|&odd| odd == none);
    if !is_finite {
        return UNKNOWN;
    }
    let ranges = low.into_iter().zip(high).map(|(low, high)| Range {
        low: low.to_f64(),
        high: high.to_f64(),
    });
    ranges.fold(Range::EMPTY, Range::and)
}
