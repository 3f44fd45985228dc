//! The blur of one axis.
//!
//! Samples that are read several times are first copied, in the precision of the sums, to a buffer that stays in the cache: for
//! the fastest axis a piece of a row with the samples beyond its ends, for others a block of columns, whole from edge to edge. A block
//! may therefore be replaced by its result. Sums are over [`LANES`] neighbours along the fastest axis at the same time.

use super::gaussian::Gaussian;
use crate::image::{Image, ImageError, Real};
use crate::memory::{self, Claim, Room};
use crate::probe::{Border, sample_index};
use rayon::prelude::*;
use std::ops::Range;

/// Samples that are summed together.
const LANES: usize = 32;

/// The size of a buffer in bytes, if that is enough for one block of the least width.
const BUFFER: usize = 1 << 18;

/// The longest piece of a row that is read from another image.
const PIECE: usize = 1 << 12;

/// Samples that are worth a task of their own.
const TASK: usize = 1 << 15;

/// An axis of all components of all frames of an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// The number of samples along it.
    size: usize,
    /// The distance from one to the next, which is the number of samples that are alike for this axis and follow one another.
    stride: usize,
    /// How often all this is repeated in each component.
    repeats: usize,
    components: usize,
    /// How often all components are repeated.
    frames: usize,
}

impl Axis {
    pub(super) fn of<T: Real>(image: &Image<T>, axis: usize) -> Axis {
        let sizes = image.sizes();
        Axis {
            size: sizes[axis],
            stride: sizes[..axis].iter().product(),
            repeats: sizes[axis + 1..].iter().product(),
            components: image.components(),
            frames: image.frames(),
        }
    }

    /// How often the samples along it and those alike are repeated in the image.
    fn planes(&self) -> usize {
        self.repeats * self.components * self.frames
    }
}

/// Where samples come from.
pub(super) enum Source<'a, T> {
    /// From another image.
    Other(&'a [T]),
    /// From the image that is written.
    Same,
}

/// The blur of one axis of an image.
pub(super) struct Pass<'a, T> {
    from: *const T,
    to: Room<T>,
    axis: Axis,
    gaussian: &'a Gaussian,
    border: Border<'a>,
    /// The longest piece of a row.
    longest: usize,
    /// The sample for each index from minus the radius on; `size` stands for the constant of the border.
    samples: Vec<usize>,
    /// The memory of the buffers and of the samples of indices.
    _claim: Claim,
}

// SAFETY: tasks write different samples, and read those that others write only from another image.
unsafe impl<T: Send + Sync> Sync for Pass<'_, T> {}

impl<'a, T: Real> Pass<'a, T> {
    pub(super) fn new(
        source: Source<'a, T>,
        to: &'a mut [T],
        axis: Axis,
        gaussian: &'a Gaussian,
        border: Border<'a>,
    ) -> Result<Pass<'a, T>, ImageError> {
        let radius = gaussian.radius();
        let all = axis.size * axis.stride * axis.planes();
        debug_assert!(to.len() >= all);
        let first = to.as_mut_ptr();
        let (from, longest) = match source {
            Source::Other(samples) => {
                debug_assert!(samples.len() >= all);
                (samples.as_ptr(), PIECE)
            }
            // A piece would read what the one beside it has written.
            Source::Same => (first.cast_const(), axis.size),
        };
        let indices = axis.size + 2 * radius;
        let buffer = size_of::<f64>()
            * match axis.stride {
                1 => longest + 2 * radius,
                _ => (axis.size + 1) * LANES,
            };
        let bytes =
            indices * size_of::<usize>() + rayon::current_num_threads() * buffer.max(BUFFER);
        let claim = memory::claim(bytes as u64)
            .map_err(|shortage| ImageError::new(format!("the blur of an image: {shortage}")))?;
        let sample = |n: usize| {
            let index = n as i64 - radius as i64;
            sample_index(index, axis.size, border).unwrap_or(axis.size)
        };
        Ok(Pass {
            from,
            to: Room::new(first),
            axis,
            gaussian,
            border,
            longest,
            samples: (0..indices).map(sample).collect(),
            _claim: claim,
        })
    }

    /// Blurs with sums of type `A`.
    pub(super) fn run<A: Real>(&self) {
        let weights: Vec<A> = (self.gaussian.weights().iter())
            .map(|&weight| A::nearest(weight))
            .collect();
        let pieces = self.pieces::<A>();
        let least = match self.axis.stride {
            1 => TASK / self.axis.size.min(self.longest),
            _ => 1,
        };
        let is_wide = has_wide_vectors();
        let piece = |buffer: &mut Vec<A>, n: usize| {
            let (plane, piece) = (n / pieces, n % pieces);
            #[cfg(target_arch = "x86_64")]
            if is_wide {
                // SAFETY: the processor has the instructions.
                return unsafe { self.wide_piece(buffer, &weights, plane, piece) };
            }
            let _ = is_wide;
            self.piece(buffer, &weights, plane, piece);
        };
        (0..self.planes() * pieces)
            .into_par_iter()
            .with_min_len(least.max(1))
            .for_each_init(Vec::new, piece);
    }

    /// How often there are all samples of the axis, each with its neighbours at the stride.
    fn planes(&self) -> usize {
        self.axis.planes()
    }

    /// The number of pieces or blocks of each.
    fn pieces<A>(&self) -> usize {
        match self.axis.stride {
            1 => self.axis.size.div_ceil(self.longest),
            stride => stride.div_ceil(self.width::<A>()),
        }
    }

    /// The same as [`Pass::piece`] in wider vectors. The operations and their order are the same, so the bits are too.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn wide_piece<A: Real>(&self, buffer: &mut Vec<A>, weights: &[A], plane: usize, piece: usize) {
        self.piece(buffer, weights, plane, piece);
    }

    /// Blurs a piece of a row, or a block of columns.
    #[inline(always)]
    fn piece<A: Real>(&self, buffer: &mut Vec<A>, weights: &[A], plane: usize, piece: usize) {
        let component = plane / self.axis.repeats % self.axis.components;
        let constant = match self.border {
            Border::Constant(values) => A::nearest(values[component]),
            Border::Clamp | Border::Mirror | Border::Wrap => A::zero(),
        };
        match self.axis.stride {
            1 => self.row(buffer, weights, plane, piece, constant),
            _ => self.columns(buffer, weights, plane, piece, constant),
        }
    }

    /// Blurs a piece of a row along itself.
    #[inline(always)]
    fn row<A: Real>(
        &self,
        buffer: &mut Vec<A>,
        weights: &[A],
        plane: usize,
        piece: usize,
        constant: A,
    ) {
        let size = self.axis.size;
        let radius = weights.len() - 1;
        let range = piece * self.longest..size.min((piece + 1) * self.longest);
        let first = plane * size;
        buffer.clear();
        let outside = |buffer: &mut Vec<A>, indices: Range<usize>| {
            let samples = self.samples[indices].iter();
            buffer.extend(samples.map(|&sample| match sample == size {
                true => constant,
                false => converted(self.read(first + sample, 1)[0]),
            }));
        };
        // An index is `radius` places further in the list of samples.
        outside(buffer, range.start..range.start + radius);
        let inside = self.read(first + range.start, range.len());
        buffer.extend(inside.iter().map(|&x| converted::<T, A>(x)));
        outside(buffer, range.end + radius..range.end + 2 * radius);
        let sums = range.len().next_multiple_of(LANES);
        buffer.resize(sums + 2 * radius, A::zero());
        for start in (0..range.len()).step_by(LANES) {
            let centre = start + radius;
            let sums = weighted(buffer, weights, centre, |k| [centre - k, centre + k]);
            self.write(first + range.start + start, range.len() - start, &sums);
        }
    }

    /// The width of a block of columns.
    fn width<A>(&self) -> usize {
        let fitting = BUFFER / size_of::<A>() / (self.axis.size + 1);
        let whole = self.axis.stride.next_multiple_of(LANES);
        (fitting / LANES * LANES).clamp(LANES, whole)
    }

    /// Blurs a block of columns along them.
    #[inline(always)]
    fn columns<A: Real>(
        &self,
        buffer: &mut Vec<A>,
        weights: &[A],
        plane: usize,
        piece: usize,
        constant: A,
    ) {
        let Axis { size, stride, .. } = self.axis;
        let width = self.width::<A>();
        let radius = weights.len() - 1;
        let start = piece * width;
        let count = width.min(stride - start);
        let row = |n: usize| (plane * size + n) * stride + start;
        buffer.clear();
        for n in 0..size {
            buffer.extend(
                self.read(row(n), count)
                    .iter()
                    .map(|&x| converted::<T, A>(x)),
            );
            buffer.resize((n + 1) * width, A::zero());
        }
        buffer.resize((size + 1) * width, constant);
        for n in 0..size {
            let samples = &self.samples[n..n + 2 * radius + 1];
            for lane in (0..count).step_by(LANES) {
                let at = |index: usize| samples[index] * width + lane;
                let sums = weighted(buffer, weights, at(radius), |k| {
                    [at(radius - k), at(radius + k)]
                });
                self.write(row(n) + lane, count - lane, &sums);
            }
        }
    }

    /// Samples that no other task writes.
    #[inline(always)]
    fn read(&self, first: usize, count: usize) -> &[T] {
        // SAFETY: callers stay within the image.
        unsafe { std::slice::from_raw_parts(self.from.add(first), count) }
    }

    /// Writes sums, `count` at most.
    #[inline(always)]
    fn write<A: Real>(&self, first: usize, count: usize, sums: &[A; LANES]) {
        for (n, sum) in sums[..count.min(LANES)].iter().enumerate() {
            // SAFETY: callers stay within the image, and no other task writes these samples.
            unsafe { self.to.put(first + n, converted(*sum)) };
        }
    }
}

/// The nearest number of another precision.
#[inline(always)]
fn converted<T: Real, A: Real>(x: T) -> A {
    A::nearest(x.in_double())
}

/// Sums of samples, each `LANES` of the buffer: the one at `centre`, and pairs at equal distances from it. The smallest weights
/// come first, so that little is lost when they are added.
#[inline(always)]
fn weighted<A: Real>(
    buffer: &[A],
    weights: &[A],
    centre: usize,
    pair: impl Fn(usize) -> [usize; 2],
) -> [A; LANES] {
    let mut sums = [A::zero(); LANES];
    for (k, &weight) in weights.iter().enumerate().skip(1).rev() {
        let [before, after] = pair(k);
        let (before, after) = (&buffer[before..][..LANES], &buffer[after..][..LANES]);
        for lane in 0..LANES {
            sums[lane] = sums[lane] + weight * (before[lane] + after[lane]);
        }
    }
    let centre = &buffer[centre..][..LANES];
    for lane in 0..LANES {
        sums[lane] = sums[lane] + weights[0] * centre[lane];
    }
    sums
}

#[cfg(target_arch = "x86_64")]
fn has_wide_vectors() -> bool {
    is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_wide_vectors() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_vectors_give_the_same_bits() {
        let gaussian = Gaussian::new(1.7);
        for (size, stride) in [(100, 1), (37, 70)] {
            let axis = Axis {
                size,
                stride,
                repeats: 2,
                components: 1,
                frames: 1,
            };
            let samples: Vec<f32> = (0..2 * size * stride).map(|n| (n as f32).sin()).collect();
            let bits = |blur: &dyn Fn(&Pass<'_, f32>)| {
                let mut blurred = samples.clone();
                let pass = Pass::new(Source::Same, &mut blurred, axis, &gaussian, Border::Wrap);
                blur(&pass.expect("little memory"));
                blurred.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            let chosen = bits(&|pass| pass.run::<f64>());
            let plain = bits(&|pass| {
                let (pieces, weights) = (pass.pieces::<f64>(), gaussian.weights());
                for n in 0..pass.planes() * pieces {
                    pass.piece(&mut Vec::new(), weights, n / pieces, n % pieces);
                }
            });
            assert!(chosen == plain);
        }
    }
}
