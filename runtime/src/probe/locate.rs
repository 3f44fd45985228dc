//! From positions in index space to cells and fractions.
//!
//! Guarantees: the cell of every lane, active or not, NaN or not, has all its taps inside the image, whenever
//! [`interior`] answers.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

use super::{Border, ProbeImage, mutants};
use crate::simd::{Float, MAX_WIDTH, Mask, Vector};

/// The cells of all lanes along one axis: `fraction` is NaN where the position was.
pub(super) struct Cells<V> {
    /// `n`, the sample at or below the position.
    pub(super) cell: V,
    /// The position relative to `n`.
    pub(super) fraction: V,
}

/// The cells of positions `x` along an axis of `size` samples, if all taps of all active lanes are inside.
#[inline(always)]
pub(super) fn interior<V: Vector>(
    x: V,
    size: i64,
    support: usize,
    active: V::Mask,
) -> Option<Cells<V>> {
    let support = support as i64;
    let lowest = V::splat(V::Elem::from_index(support - 1));
    let end = V::splat(V::Elem::from_index(size - support));
    let x = V::select(active, x, lowest);
    let inside = lowest.le(x) & x.lt(end);
    if inside.bits() != V::ALL_LANES {
        return None;
    }
    let cell = x.floor();
    Some(Cells {
        cell,
        fraction: x - cell,
    })
}

/// The index of each lane's first tap along `dim` axes, given the cells as [`interior`] found them for kernels of this
/// support.
#[inline(always)]
pub(super) fn first_taps<V: Vector>(
    image: &ProbeImage<'_>,
    support: [usize; 3],
    cells: [V; 3],
    dim: usize,
) -> [V; 3] {
    let mut first = cells;
    for axis in 0..dim {
        let s = support[axis] as i64;
        first[axis] = first[axis] - V::splat(V::Elem::from_index(s - 1));
        if cfg!(debug_assertions) {
            let mut lanes = [V::Elem::from_index(0); MAX_WIDTH];
            // SAFETY: there is room for `MAX_WIDTH` lanes.
            unsafe { first[axis].store(lanes.as_mut_ptr()) };
            for lane in &lanes[..V::LANES] {
                assert!((0.0..=(image.sizes[axis] - 2 * s) as f64).contains(&lane.to_f64()));
            }
        }
    }
    first
}

/// One axis where taps may be outside: the remapped index of each tap, `OUTSIDE` for the constant. Of one lane, or of all.
pub(super) struct Taps<T, I = i64> {
    pub(super) fraction: T,
    pub(super) index: [I; 2 * super::MAX_SUPPORT],
}

/// The index of a tap that has no sample.
const OUTSIDE: i64 = -1;

/// What [`remapped`] gives for every lane, computed for all lanes together. Not for axes shorter than the support nor, where
/// the image is repeated, for positions so far away that there are no fractions.
#[inline(always)]
pub(super) fn remapped_together<V: Vector>(
    x: V,
    size: i64,
    support: usize,
    border: Border<'_>,
) -> Option<Taps<V, V>> {
    let s = support as i64;
    let number = |n: i64| V::splat(V::Elem::from_index(n));
    let (zero, end) = (number(0), number(size));
    let period = match border {
        Border::Mirror => 2 * size,
        _ => size,
    };
    let (cell, fraction) = match border {
        Border::Clamp | Border::Constant(_) => {
            let [low, high] = beyond(size, s).map(number);
            let x = high.min(low.max(x));
            let cell = x.floor();
            // That of NaN may be anything.
            (cell.max(low), x - cell)
        }
        Border::Mirror | Border::Wrap => {
            let far = 0.5 / V::Elem::EPSILON.to_f64();
            let near = x.abs().le(V::splat(V::Elem::from_f64(far)));
            if near.bits() != V::ALL_LANES || size < s || period as f64 > far {
                return None;
            }
            let cell = x.floor();
            let period = number(period);
            // The quotient may be one off, the products and differences of such integers are exact.
            let rest = cell - (cell / period).floor() * period;
            (around(rest, period), x - cell)
        }
    };
    let index = std::array::from_fn(|tap| {
        let at = cell + number(1 - s + tap as i64);
        match border {
            Border::Clamp => number(mutants::last(size)).min(zero.max(at)),
            Border::Wrap => around(at, end),
            Border::Mirror => {
                let at = around(at, number(period));
                V::select(at.lt(end), at, number(period - 1) - at)
            }
            Border::Constant(_) => {
                let inside = zero.le(at) & at.lt(end);
                V::select(inside, at, number(OUTSIDE))
            }
        }
    });
    Some(Taps { fraction, index })
}

/// An integer less than one period below or above the first one, moved into it.
#[inline(always)]
fn around<V: Vector>(n: V, period: V) -> V {
    let zero = V::splat(V::Elem::from_index(0));
    let n = V::select(n.lt(zero), n + period, n);
    V::select(n.lt(period), n, n - period)
}

/// The taps of position `x` along an axis of `size` samples, under any border control.
pub(super) fn remapped<T: Float>(x: T, size: i64, support: usize, border: Border<'_>) -> Taps<T> {
    let s = support as i64;
    let (cell, fraction) = match border {
        Border::Clamp | Border::Constant(_) => split(bounded(x, beyond(size, s))),
        Border::Mirror => periodic(x, 2 * size),
        Border::Wrap => periodic(x, size),
    };
    let mut index = [0; 2 * super::MAX_SUPPORT];
    for (tap, index) in index.iter_mut().enumerate().take(2 * support) {
        *index = border_index(cell + 1 - s + tap as i64, size, border);
        debug_assert!(*index == OUTSIDE || (0..size).contains(index));
    }
    Taps { fraction, index }
}

/// The sample that stands for index `i` of an axis of `size` samples.
fn border_index(i: i64, size: i64, border: Border<'_>) -> i64 {
    match border {
        Border::Clamp => i.clamp(0, mutants::last(size)),
        Border::Mirror => {
            let m = i.rem_euclid(2 * size);
            if m < size { m } else { 2 * size - 1 - m }
        }
        Border::Wrap => i.rem_euclid(size),
        Border::Constant(_) if (0..size).contains(&i) => i,
        Border::Constant(_) => OUTSIDE,
    }
}

/// The sample that stands for index `i` of an axis of `size` samples; `None` where the border is a constant.
pub(crate) fn sample_index(i: i64, size: usize, border: Border<'_>) -> Option<usize> {
    usize::try_from(border_index(i, size as i64, border)).ok()
}

/// Positions before and after an axis from which on all taps of a kernel are the same sample, so that one farther away gives
/// the same result.
#[inline(always)]
fn beyond(size: i64, support: i64) -> [i64; 2] {
    mutants::bounds(
        [-support - 1, size + support + 1],
        [support - 1, size - support],
    )
}

/// `x` moved between the bounds; NaN stays.
fn bounded<T: Float>(x: T, bounds: [i64; 2]) -> T {
    let [low, high] = bounds.map(T::from_index);
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// Cell and fraction of a position of moderate magnitude; the cell of NaN is 0.
fn split<T: Float>(x: T) -> (i64, T) {
    let cell = x.floor();
    (cell.to_f64() as i64, x.minus(cell))
}

/// Cell, up to multiples of `period`, and fraction of any position; infinities have none, so they give NaN.
fn periodic<T: Float>(x: T, period: i64) -> (i64, T) {
    let cell = x.floor();
    (
        cell.remainder(T::from_index(period)).to_f64() as i64,
        x.minus(cell),
    )
}
