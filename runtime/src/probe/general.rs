//! The general primitive: any dimension, support, order and border, with loops whose bounds are run-time values.
//!
//! It serves the specifications without a specialized version, single lanes, and the calls of the specialized
//! versions in which a tap is outside. Operations and their order are those of `contract.rs`, so that results
//! agree to the bit; the lanes are still computed on together.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

use super::frames::{Frames, LaneFrames};
use super::kernel::degree_of;
use super::locate::{Cells, Taps, first_taps, interior, remapped, remapped_together};
use super::rows::Samples;
use super::{Border, MAX_SUPPORT, ProbeImage, ProbeKernel};
use crate::derivatives::{MAX_ORDER, multi_indices};
use crate::simd::{Float, MAX_WIDTH, Mask, Vector};
use std::mem::MaybeUninit;

const ORDERS: usize = MAX_ORDER + 1;
const TAPS: usize = 2 * MAX_SUPPORT;

/// Where the samples of a row come from, counted from the first of a component.
#[allow(
    clippy::large_enum_variant,
    reason = "lives on the stack of one probe, where a box would cost more"
)]
enum Source {
    /// All taps exist, from the first one of each lane on.
    Interior,
    /// How far each tap of each lane is along each axis from the first sample, or [`NOWHERE`].
    Remapped([[[i64; MAX_WIDTH]; TAPS]; 3]),
}

/// The distance of a tap that has no sample: negative, whatever is added for other axes.
const NOWHERE: i64 = i64::MIN / 4;

/// Weights of one axis by order and tap; only those of the wanted orders are written, and read.
type Weights<V> = [[MaybeUninit<V>; TAPS]; ORDERS];

/// Probes `V::LANES` positions and stores the wanted orders.
///
/// # Safety
///
/// `positions` and `out` are as in [`super::ProbeFn`], advanced to the first of the lanes; image and kernel
/// belong together.
#[inline(always)]
pub(super) unsafe fn probe<V: Vector>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    mask: u32,
    positions: *const V::Elem,
    out: *mut V::Elem,
) {
    let spec = kernel.spec();
    debug_assert!(spec.real == V::Elem::REAL && image.real == spec.real);
    debug_assert!(spec.dim == image.dim && spec.components == image.components);
    debug_assert!((spec.frames > 0) == image.is_timed());
    let mut x = [V::splat(V::Elem::from_f64(0.0)); 3];
    for (axis, x) in x.iter_mut().enumerate().take(spec.dim) {
        // SAFETY: positions of `dim` axes are there.
        *x = unsafe { V::load(positions.add(axis * spec.width)) };
    }
    // SAFETY: positions come from the caller, the rest from image and kernel.
    let (source, first, fractions) = unsafe { locate(image, kernel, mask, x) };
    // The axes an image lacks have a single tap of weight one.
    let mut weights = [[[MaybeUninit::uninit(); TAPS]; ORDERS]; 3];
    for weights in &mut weights[spec.dim..] {
        weights[0][0] = MaybeUninit::new(V::splat(V::Elem::from_f64(1.0)));
    }
    for axis in 0..spec.dim {
        // SAFETY: the table belongs to the kernel.
        unsafe { weigh(kernel, axis, fractions[axis], &mut weights[axis]) };
    }
    let frames = match spec.frames {
        0 => None,
        // SAFETY: the image is one over time, so the positions have frames.
        _ => Some(unsafe { LaneFrames::<V>::read(image, spec, positions) }.apart(&first)),
    };
    let place = Place {
        source: &source,
        first: &first,
        frames: frames.as_ref(),
    };
    for component in 0..spec.components {
        // SAFETY: place and weights are those of this image and kernel.
        unsafe { contract::<V>(image, kernel, &place, &weights, component, out) };
    }
}

/// The samples and fractions of all lanes, and how far the first sample of each is from that of a component; 0 if the taps of each
/// have distances of their own.
///
/// # Safety
///
/// Image and kernel belong together.
#[inline(always)]
unsafe fn locate<V: Vector>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    mask: u32,
    x: [V; 3],
) -> (Source, [i64; MAX_WIDTH], [V; 3]) {
    let spec = kernel.spec();
    let (mut cells, mut fractions) = (x, x);
    let mut inside = true;
    for axis in 0..spec.dim {
        match interior(
            x[axis],
            image.sizes[axis],
            spec.support[axis],
            V::mask(mask),
        ) {
            Some(Cells { cell, fraction }) => (cells[axis], fractions[axis]) = (cell, fraction),
            None => inside = false,
        }
    }
    if inside {
        let first = first_taps(image, spec.support, cells, spec.dim);
        let offsets = V::offsets(&first, &image.strides, spec.dim);
        return (Source::Interior, offsets, fractions);
    }
    let zero = V::splat(V::Elem::from_f64(0.0));
    let mut distances = [[[0; MAX_WIDTH]; TAPS]; 3];
    for axis in 0..spec.dim {
        let (size, support) = (image.sizes[axis], spec.support[axis]);
        let position = V::select(V::mask(mask), x[axis], zero);
        let taps = remapped_together(position, size, support, image.border)
            .unwrap_or_else(|| remapped_one_by_one(position, size, support, image.border));
        fractions[axis] = taps.fraction;
        for (tap, &index) in taps.index.iter().enumerate().take(2 * support) {
            let cells = [zero.max(index), zero, zero];
            let along = &mut distances[axis][tap];
            *along = V::offsets(&cells, &[image.strides[axis], 0, 0], 1);
            let outside = index.lt(zero).bits();
            for (l, distance) in along.iter_mut().enumerate().take(V::LANES) {
                if outside >> l & 1 == 1 {
                    *distance = NOWHERE;
                }
            }
        }
    }
    (Source::Remapped(distances), [0; MAX_WIDTH], fractions)
}

/// The taps of all lanes, each on its own.
#[inline(always)]
fn remapped_one_by_one<V: Vector>(
    x: V,
    size: i64,
    support: usize,
    border: Border<'_>,
) -> Taps<V, V> {
    let zero = V::Elem::from_f64(0.0);
    let mut fractions = [zero; MAX_WIDTH];
    let mut indices = [[zero; MAX_WIDTH]; TAPS];
    // SAFETY: there is room for `MAX_WIDTH` lanes.
    unsafe { x.store(fractions.as_mut_ptr()) };
    for (l, lane) in fractions.iter_mut().enumerate().take(V::LANES) {
        let taps = remapped(*lane, size, support, border);
        *lane = taps.fraction;
        for (index, &tap) in indices.iter_mut().zip(&taps.index) {
            index[l] = V::Elem::from_index(tap);
        }
    }
    // SAFETY: as above.
    unsafe {
        Taps {
            fraction: V::load(fractions.as_ptr()),
            index: indices.map(|lanes| V::load(lanes.as_ptr())),
        }
    }
}

/// Evaluates the polynomials of the wanted orders and all taps of `axis` at `f`.
///
/// # Safety
///
/// `axis` is one of the kernel's.
#[inline(always)]
unsafe fn weigh<V: Vector>(kernel: &ProbeKernel, axis: usize, f: V, weights: &mut Weights<V>) {
    let spec = kernel.spec();
    let powers = kernel.powers();
    let taps = 2 * spec.support[axis];
    let table = kernel.coefficients::<V::Elem>(axis);
    for order in 0..spec.highest_order() + 1 {
        let degree = degree_of(order, powers);
        for tap in 0..taps {
            let at = (order * taps + tap) * (powers + 1);
            // SAFETY: the table holds `powers + 1` coefficients for each order and tap.
            let mut w = V::splat(unsafe { *table.add(at + degree) });
            for p in (0..degree).rev() {
                // SAFETY: as above.
                w = w.mul_add(f, V::splat(unsafe { *table.add(at + p) }));
            }
            weights[order][tap] = MaybeUninit::new(w);
        }
    }
}

/// The samples of all lanes.
struct Place<'a, V> {
    source: &'a Source,
    /// How far the first of each lane is from that of a component.
    first: &'a [i64; MAX_WIDTH],
    /// The same in each frame of an image over time.
    frames: Option<&'a Frames<V, [i64; MAX_WIDTH]>>,
}

/// Sums one component and stores it.
///
/// # Safety
///
/// Place and weights belong to this image and kernel, and `out` has room for all results.
#[inline(always)]
unsafe fn contract<V: Vector>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    place: &Place<'_, V>,
    weights: &[Weights<V>; 3],
    component: usize,
    out: *mut V::Elem,
) {
    let spec = kernel.spec();
    let highest = spec.highest_order();
    let taps = |axis: usize| {
        if axis < spec.dim {
            2 * spec.support[axis]
        } else {
            1
        }
    };
    // How many derivatives are possible along an axis, given how many the others have.
    let along = |axis: usize, others: usize| if axis < spec.dim { highest - others } else { 0 };
    let zero = V::splat(V::Elem::from_f64(0.0));
    let mut sums = [[[MaybeUninit::<V>::uninit(); ORDERS]; ORDERS]; ORDERS];
    for k in 0..taps(2) {
        let mut slice = [[MaybeUninit::<V>::uninit(); ORDERS]; ORDERS];
        for j in 0..taps(1) {
            // SAFETY: promised by the caller.
            let row = unsafe { row::<V>(image, kernel, place, component, j, k) };
            for dx in 0..highest + 1 {
                // SAFETY: `weigh` wrote all orders up to `highest` and all taps of the axis; the first row writes
                // the sums of a slice, the others read them.
                unsafe {
                    let mut sum = weights[0][dx][0].assume_init() * row[0];
                    for i in 1..taps(0) {
                        sum = weights[0][dx][i].assume_init().mul_add(row[i], sum);
                    }
                    for dy in 0..along(1, dx) + 1 {
                        let before = if j == 0 {
                            zero
                        } else {
                            slice[dx][dy].assume_init()
                        };
                        slice[dx][dy] =
                            MaybeUninit::new(weights[1][dy][j].assume_init().mul_add(sum, before));
                    }
                }
            }
        }
        for dx in 0..highest + 1 {
            for dy in 0..along(1, dx) + 1 {
                for dz in 0..along(2, dx + dy) + 1 {
                    let sum = &mut sums[dx][dy][dz];
                    // SAFETY: `weigh` wrote these weights; the first slice writes the sum, the others read it.
                    unsafe {
                        let before = if k == 0 { zero } else { sum.assume_init() };
                        let w = weights[2][dz][k].assume_init();
                        *sum = MaybeUninit::new(w.mul_add(slice[dx][dy].assume_init(), before));
                    }
                }
            }
        }
    }
    let mut first = 0;
    for order in (0..highest + 1).filter(|m| spec.orders >> m & 1 == 1) {
        let count = multi_indices(spec.dim, order).count();
        for (i, [dx, dy, dz]) in multi_indices(spec.dim, order).enumerate() {
            let slot = first + component * count + i;
            // SAFETY: every derivative up to `highest` was summed; the caller made room for every slot.
            unsafe {
                sums[dx][dy][dz]
                    .assume_init()
                    .store(out.add(slot * spec.width))
            };
        }
        first += spec.components * count;
    }
}

/// The samples of row `j` of slice `k`, or their sums over the frames; entries beyond the number of taps are unspecified.
///
/// # Safety
///
/// The place belongs to this image and kernel.
#[inline(always)]
unsafe fn row<V: Vector>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    place: &Place<'_, V>,
    component: usize,
    j: usize,
    k: usize,
) -> [V; TAPS] {
    let source = place.source;
    let Some(frames) = place.frames else {
        // SAFETY: passed on.
        return unsafe { row_of_frame::<V>(image, kernel, source, place.first, component, j, k) };
    };
    let mut sums = [V::splat(V::Elem::from_f64(0.0)); TAPS];
    for frame in 0..frames.count {
        let distances = &frames.distances[frame];
        // SAFETY: passed on; the frame is one of the image.
        let row = unsafe { row_of_frame::<V>(image, kernel, source, distances, component, j, k) };
        for tap in 0..2 * kernel.spec().support[0] {
            sums[tap] = match frame {
                0 => frames.weights[0] * row[tap],
                _ => frames.weights[frame].mul_add(row[tap], sums[tap]),
            };
        }
    }
    sums
}

/// The samples of row `j` of slice `k`, where the first of each lane is so far from that of a component.
///
/// # Safety
///
/// As [`row`].
#[inline(always)]
unsafe fn row_of_frame<V: Vector>(
    image: &ProbeImage<'_>,
    kernel: &ProbeKernel,
    source: &Source,
    first: &[i64; MAX_WIDTH],
    component: usize,
    j: usize,
    k: usize,
) -> [V; TAPS] {
    let support = kernel.spec().support[0];
    let zero = V::Elem::from_f64(0.0);
    let mut row = [V::splat(zero); TAPS];
    let plane = component as i64 * image.plane;
    let samples = Samples::of(image);
    match source {
        Source::Interior => {
            let offset = plane + j as i64 * image.strides[1] + k as i64 * image.strides[2];
            for i in 0..support {
                let samples = samples.moved(offset as isize + 2 * i as isize);
                // SAFETY: all taps of all lanes are inside; small samples are those of volumes.
                let pair = unsafe { samples.taps::<V, 3, 2>(first) };
                row[2 * i] = pair[0];
                row[2 * i + 1] = pair[1];
            }
        }
        Source::Remapped(distances) => {
            let constant = match image.border {
                Border::Constant(values) => V::Elem::from_f64(values[component]),
                Border::Clamp | Border::Mirror | Border::Wrap => zero,
            };
            let mut taps = [[constant; MAX_WIDTH]; TAPS];
            for (i, tap) in taps.iter_mut().enumerate().take(2 * support) {
                for (l, tap) in tap.iter_mut().enumerate().take(V::LANES) {
                    let offset = distances[0][i][l] + distances[1][j][l] + distances[2][k][l];
                    if offset >= 0 {
                        let offset = plane + offset + first[l];
                        debug_assert!(offset < image.frame * image.frames);
                        // SAFETY: indices are inside each axis.
                        *tap = unsafe { samples.at(offset as isize) };
                    }
                }
            }
            for (row, tap) in row.iter_mut().zip(&taps) {
                // SAFETY: a tap has `MAX_WIDTH` lanes.
                *row = unsafe { V::load(tap.as_ptr()) };
            }
        }
    }
    row
}
