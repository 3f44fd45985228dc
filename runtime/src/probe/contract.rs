//! The specialized primitives: dimension, taps and orders are constants, all taps of all lanes are inside.
//!
//! The separable sum is contracted along x first, row by row, then along y, then along z. A row is loaded once
//! per component and serves all derivatives. `general.rs` does the same operations in the same order.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

use super::frames::LaneFrames;
use super::kernel::{degree_of, specialized_powers};
use super::locate::{Cells, first_taps, interior};
use super::rows::{Apart, Near, Picked, Rows, Samples};
use super::rows_over_time::NearOverTime;
use super::{ProbeImage, ProbeKernel};
use crate::simd::Vector;

/// Weights of one axis, by order of the derivative and tap.
type Weights<V, const TAPS: usize, const ORDERS: usize> = [[V; TAPS]; ORDERS];

/// Sums by the number of derivatives along x, y, z.
type Sums<V, const ORDERS: usize> = [[[V; ORDERS]; ORDERS]; ORDERS];

/// Probes `V::LANES` positions and stores the wanted orders; answers false, having written nothing, if a tap of
/// an active lane is outside.
///
/// # Safety
///
/// `positions` and `out` are as in [`super::ProbeFn`], advanced to the first of the lanes; image and kernel fit
/// `DIM`, `TAPS`, `ORDERS` and `TIMED`, which tells images over time.
#[inline(always)]
pub(super) unsafe fn probe<
    V: Vector,
    const DIM: usize,
    const TAPS: usize,
    const ORDERS: usize,
    const TIMED: bool,
>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    mask: u32,
    positions: *const V::Elem,
    out: *mut V::Elem,
) -> bool {
    let spec = kernel.spec();
    debug_assert!(spec.dim == DIM && spec.support[..DIM] == [TAPS / 2; 3][..DIM]);
    debug_assert!(TIMED == (spec.frames > 0) && TIMED == image.is_timed());
    debug_assert!(
        spec.highest_order() + 1 == ORDERS && kernel.powers() == specialized_powers(TAPS)
    );
    let zero = V::splat(num(0.0));
    // Written out per axis: a loop would keep weights in memory, and clear it first.
    macro_rules! along {
        ($axis:literal) => {
            if DIM > $axis {
                // SAFETY: passed on, for an axis of the image.
                match unsafe { along::<V, TAPS, ORDERS>(image, kernel, mask, positions, $axis) } {
                    Some(cell_and_weights) => cell_and_weights,
                    None => return false,
                }
            } else {
                (zero, [[zero; TAPS]; ORDERS])
            }
        };
    }
    let (x, x_weights) = along!(0);
    let (y, y_weights) = along!(1);
    let (z, z_weights) = along!(2);
    // Not in one array: those of z are looked up by slice, so they are in memory, and the others would be as well.
    let weights = [&x_weights, &y_weights, &z_weights];
    let first = first_taps(image, [TAPS / 2; 3], [x, y, z], DIM);
    let samples = Samples::of(image);
    // SAFETY: the first taps and the strides are those of the image; the output has room for all results.
    unsafe {
        if TIMED {
            let frames = LaneFrames::read(image, spec, positions);
            over_time::<V, DIM, TAPS, ORDERS>(image, kernel, mask, &frames, &first, weights, out);
            return true;
        }
        if let Some(near) = Near::<V, DIM, TAPS>::find(image, mask, &first) {
            let near = Picked(near);
            components::<V, DIM, TAPS, ORDERS>(image, kernel, samples, &near, weights, out);
        } else {
            let apart = Apart::<DIM>::new(image, &first);
            components::<V, DIM, TAPS, ORDERS>(image, kernel, samples, &apart, weights, out);
        }
    }
    true
}

/// Sums and stores all components of an image over time.
///
/// # Safety
///
/// As [`components`], for first taps that [`first_taps`] gave.
#[inline(always)]
unsafe fn over_time<V: Vector, const DIM: usize, const TAPS: usize, const ORDERS: usize>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    mask: u32,
    frames: &LaneFrames<V>,
    first: &[V; 3],
    weights: [&Weights<V, TAPS, ORDERS>; 3],
    out: *mut V::Elem,
) {
    let samples = Samples::of(image);
    if let Some(frames) = frames.shared(mask)
        && let Some(near) = Near::<V, DIM, TAPS>::find(image, mask, first)
    {
        let near = Picked(NearOverTime { near, frames });
        // SAFETY: promised by the caller; the frames are those of the image.
        unsafe { components::<V, DIM, TAPS, ORDERS>(image, kernel, samples, &near, weights, out) }
    } else {
        let apart = Apart::<DIM>::new(image, first).over_time(frames);
        // SAFETY: as above.
        unsafe { components::<V, DIM, TAPS, ORDERS>(image, kernel, samples, &apart, weights, out) }
    }
}

/// Sums and stores all components of the image that begins at `samples`.
///
/// # Safety
///
/// `rows` finds `TAPS` samples of each of `DIM` axes for all active lanes; the rest is as for [`probe`].
#[inline(always)]
unsafe fn components<V: Vector, const DIM: usize, const TAPS: usize, const ORDERS: usize>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    samples: Samples<V::Elem>,
    rows: &impl Rows<V, TAPS>,
    weights: [&Weights<V, TAPS, ORDERS>; 3],
    out: *mut V::Elem,
) {
    let spec = kernel.spec();
    for component in 0..spec.components {
        // SAFETY: planes are `plane` apart; the rest is promised by the caller.
        unsafe {
            let samples = samples.moved(component as isize * image.plane as isize);
            let sums = contract::<V, DIM, TAPS, ORDERS>(samples, rows, weights);
            let place = (component, spec.components);
            store::<V, DIM, ORDERS>(&sums, spec.orders, place, spec.width, out);
        }
    }
}

/// Cells and weights along one axis, if all taps of all active lanes are inside.
///
/// # Safety
///
/// As [`probe`]; `axis` is one of the image's.
#[inline(always)]
unsafe fn along<V: Vector, const TAPS: usize, const ORDERS: usize>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    mask: u32,
    positions: *const V::Elem,
    axis: usize,
) -> Option<(V, Weights<V, TAPS, ORDERS>)> {
    // SAFETY: positions of all axes are there, and coefficients, as many for every axis.
    let (x, table) = unsafe {
        let coefficients = kernel.coefficients::<V::Elem>(0);
        let before = axis * ORDERS * TAPS * (specialized_powers(TAPS) + 1);
        (
            V::load(positions.add(axis * kernel.spec().width)),
            coefficients.add(before),
        )
    };
    let Cells { cell, fraction } = interior(x, image.sizes[axis], TAPS / 2, V::mask(mask))?;
    // SAFETY: as above.
    Some((cell, unsafe { weigh::<V, TAPS, ORDERS>(table, fraction) }))
}

/// A constant in the type of a lane.
#[inline(always)]
fn num<T: crate::simd::Float>(x: f64) -> T {
    T::from_f64(x)
}

/// Evaluates the polynomials of all orders and taps at `f`.
///
/// # Safety
///
/// `table` holds `ORDERS × TAPS × (powers + 1)` coefficients.
#[inline(always)]
unsafe fn weigh<V: Vector, const TAPS: usize, const ORDERS: usize>(
    table: *const V::Elem,
    f: V,
) -> Weights<V, TAPS, ORDERS> {
    let powers = specialized_powers(TAPS);
    let mut weights = [[f; TAPS]; ORDERS];
    for order in 0..ORDERS {
        let degree = degree_of(order, powers);
        for tap in 0..TAPS {
            let at = (order * TAPS + tap) * (powers + 1);
            // SAFETY: promised by the caller.
            let mut w = V::splat(unsafe { *table.add(at + degree) });
            for p in (0..degree).rev() {
                // SAFETY: promised by the caller.
                w = w.mul_add(f, V::splat(unsafe { *table.add(at + p) }));
            }
            weights[order][tap] = w;
        }
    }
    weights
}

/// The separable sums of one component for all derivatives up to total order `ORDERS − 1`.
///
/// # Safety
///
/// `rows` finds `TAPS` samples of each of `DIM` axes, for a component that begins at `samples`.
#[inline(always)]
unsafe fn contract<V: Vector, const DIM: usize, const TAPS: usize, const ORDERS: usize>(
    samples: Samples<V::Elem>,
    rows: &impl Rows<V, TAPS>,
    [x_weights, y_weights, z_weights]: [&Weights<V, TAPS, ORDERS>; 3],
) -> Sums<V, ORDERS> {
    let zero = V::splat(num(0.0));
    let mut sums = [[[zero; ORDERS]; ORDERS]; ORDERS];
    let in_slice = if DIM > 1 { TAPS } else { 1 };
    let slices = if DIM > 2 { TAPS } else { 1 };
    // SAFETY: promised by the caller.
    let mut kept = unsafe { rows.begin(samples) };
    for k in 0..slices {
        let mut slice = [[zero; ORDERS]; ORDERS];
        for j in 0..in_slice {
            // SAFETY: promised by the caller.
            let row = unsafe { rows.row(samples, j, k, &mut kept[j]) };
            for dx in 0..ORDERS {
                let mut sum = x_weights[dx][0] * row[0];
                for i in 1..TAPS {
                    sum = x_weights[dx][i].mul_add(row[i], sum);
                }
                if DIM == 1 {
                    slice[dx][0] = sum;
                } else {
                    for dy in 0..ORDERS - dx {
                        slice[dx][dy] = y_weights[dy][j].mul_add(sum, slice[dx][dy]);
                    }
                }
            }
        }
        for dx in 0..ORDERS {
            for dy in 0..ORDERS - dx {
                if DIM < 3 {
                    sums[dx][dy][0] = slice[dx][dy];
                } else {
                    for dz in 0..ORDERS - dx - dy {
                        sums[dx][dy][dz] =
                            z_weights[dz][k].mul_add(slice[dx][dy], sums[dx][dy][dz]);
                    }
                }
            }
        }
    }
    sums
}

/// Writes the sums of one component where [`super::outputs`] says.
///
/// # Safety
///
/// `out` has room for all results, `width` apart.
#[inline(always)]
unsafe fn store<V: Vector, const DIM: usize, const ORDERS: usize>(
    sums: &Sums<V, ORDERS>,
    orders: u32,
    (component, components): (usize, usize),
    width: usize,
    out: *mut V::Elem,
) {
    // Where the results of each order begin, for this component.
    let mut first = [0; ORDERS];
    let mut slots = 0;
    for order in 0..ORDERS {
        let count = match DIM {
            1 => 1,
            2 => order + 1,
            _ => (order + 1) * (order + 2) / 2,
        };
        first[order] = slots + component * count;
        slots += if orders >> order & 1 == 1 {
            components * count
        } else {
            0
        };
    }
    for dx in 0..ORDERS {
        for dy in 0..if DIM > 1 { ORDERS - dx } else { 1 } {
            for dz in 0..if DIM > 2 { ORDERS - dx - dy } else { 1 } {
                let order = dx + dy + dz;
                if orders >> order & 1 == 1 {
                    // Of the derivatives with the same order, those with more along x come first, then y.
                    let others = dy + dz;
                    let before = if DIM > 2 {
                        others * (others + 1) / 2 + dz
                    } else {
                        others
                    };
                    // SAFETY: promised by the caller.
                    unsafe { sums[dx][dy][dz].store(out.add((first[order] + before) * width)) };
                }
            }
        }
    }
}
