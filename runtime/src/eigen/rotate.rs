//! The rotations that diagonalize symmetric matrices, on all lanes of a vector without branches.
//!
//! A lane that is done is left alone exactly, so that its result does not depend on how long its neighbours
//! take.

use crate::simd::{Float, Mask, Vector};

#[inline(always)]
fn num<V: Vector>(x: f64) -> V {
    V::splat(V::Elem::from_f64(x))
}

/// NaN where an entry is not finite, else zero.
#[inline(always)]
fn poison<V: Vector>(entries: &[V]) -> V {
    let mut sum = num::<V>(0.0);
    for &x in entries {
        sum = sum + x * num(0.0);
    }
    sum
}

/// The largest magnitude.
#[inline(always)]
fn largest<V: Vector>(entries: &[V]) -> V {
    let mut scale = num::<V>(0.0);
    for &x in entries {
        scale = scale.max(x.abs());
    }
    scale
}

/// A power of two by which entries of this magnitude are multiplied so that sums neither overflow nor lose
/// bits, and its inverse.
#[inline(always)]
fn balance<V: Vector>(scale: V) -> (V, V) {
    let (big, small) = (num::<V>(2f64.powi(60)), num::<V>(2f64.powi(-60)));
    let (up, down) = (num::<V>(2f64.powi(64)), num::<V>(2f64.powi(-64)));
    let (high, low) = (big.lt(scale), scale.lt(small));
    let one = num::<V>(1.0);
    (
        V::select(high, down, V::select(low, up, one)),
        V::select(high, up, V::select(low, down, one)),
    )
}

/// Values and vectors of the matrix `[[a, b], [b, c]]`.
#[inline(always)]
pub(super) fn system2<V: Vector>(a: V, b: V, c: V) -> ([V; 2], [[V; 2]; 2]) {
    let (zero, one, half) = (num::<V>(0.0), num::<V>(1.0), num::<V>(0.5));
    let poison = poison(&[a, b, c]);
    let (shrink, grow) = balance(largest(&[a, b, c]));
    let (a, b, c) = (a * shrink, b * shrink, c * shrink);
    let mean = (a + c) * half;
    let difference = (a - c) * half;
    // Dividing by the larger of the two keeps their squares in range.
    let scale = difference.abs().max(b.abs());
    let equal = scale.le(mean.abs() * V::splat(V::Elem::EPSILON));
    let unit = V::select(equal, one, scale);
    let (d, b) = (
        V::select(equal, zero, difference / unit),
        V::select(equal, zero, b / unit),
    );
    let radius = d.mul_add(d, b * b).sqrt();
    // The longer of the two columns of M − λ₁, which are multiples of the first vector.
    let falling = zero.le(d);
    let x = V::select(falling, radius + d, b);
    let y = V::select(falling, b, radius - d);
    let length = x.mul_add(x, y * y).sqrt();
    let signed = V::select(y.lt(zero), -length, length);
    let x = V::select(equal, one, x / signed);
    let y = V::select(equal, zero, y / signed);
    let spread = radius * unit;
    let values = [
        (mean + spread) * grow + poison,
        (mean - spread) * grow + poison,
    ];
    let (x, y) = (x + poison, y + poison);
    (values, [[x, y], [-y, x]])
}

/// Sweeps after which no matrix of finite numbers has anything left to rotate; most need four or five.
pub(super) const SWEEPS: usize = 10;

/// A matrix that is being diagonalized: its diagonal `a`, the entries `b` off the diagonal, opposite to each axis (12, 02, 01), and the
/// axes so far.
pub(super) struct Turning<V> {
    pub(super) a: [V; 3],
    pub(super) b: [V; 3],
    pub(super) e: [[V; 3]; 3],
}

/// Values that stay the same during the rotations: the magnitude below which an entry counts as zero, the factor that undoes the
/// balancing, and NaN if an entry is not finite.
pub(super) struct Measure<V> {
    pub(super) negligible: V,
    pub(super) grow: V,
    pub(super) poison: V,
}

/// Values and vectors of the symmetric matrix with this diagonal and the entries opposite to each axis (12, 02,
/// 01) off it.
#[inline(always)]
pub(super) fn system3<V: Vector>(diagonal: [V; 3], off_diagonal: [V; 3]) -> ([V; 3], [[V; 3]; 3]) {
    let (mut turning, measure) = begin3(diagonal, off_diagonal);
    for _ in 0..SWEEPS {
        if is_left(&turning.b, measure.negligible).bits() == 0 {
            break;
        }
        sweep(&mut turning, measure.negligible);
    }
    end3(turning.a, turning.e, measure.grow, measure.poison)
}

/// The matrix before the first rotation, balanced.
#[inline(always)]
pub(super) fn begin3<V: Vector>(
    diagonal: [V; 3],
    off_diagonal: [V; 3],
) -> (Turning<V>, Measure<V>) {
    let (zero, one) = (num::<V>(0.0), num::<V>(1.0));
    let mut a = diagonal;
    let mut b = off_diagonal;
    let entries = [a[0], a[1], a[2], b[0], b[1], b[2]];
    let poison = poison(&entries);
    let scale = largest(&entries);
    let (shrink, grow) = balance(scale);
    for i in 0..3 {
        a[i] = a[i] * shrink;
        b[i] = b[i] * shrink;
    }
    let negligible = scale * shrink * V::splat(V::Elem::EPSILON) * num(0.125);
    let e = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
    let measure = Measure {
        negligible,
        grow,
        poison,
    };
    (Turning { a, b, e }, measure)
}

/// Whether anything off the diagonal is left to rotate away. A NaN never gets small; its lane is poisoned anyway.
#[inline(always)]
pub(super) fn is_left<V: Vector>(b: &[V; 3], negligible: V) -> V::Mask {
    let left = b[0].abs().max(b[1].abs()).max(b[2].abs());
    negligible.lt(left)
}

/// One rotation for each pair of axes.
#[inline(always)]
pub(super) fn sweep<V: Vector>(Turning { a, b, e }: &mut Turning<V>, negligible: V) {
    annihilate(a, b, e, 0, 1, 2, negligible);
    annihilate(a, b, e, 0, 2, 1, negligible);
    annihilate(a, b, e, 1, 2, 0, negligible);
}

/// Values and vectors in their order and size.
#[inline(always)]
pub(super) fn end3<V: Vector>(
    mut a: [V; 3],
    mut e: [[V; 3]; 3],
    grow: V,
    poison: V,
) -> ([V; 3], [[V; 3]; 3]) {
    let mut handedness = num::<V>(1.0);
    exchange(&mut a, &mut e, 0, 1, &mut handedness);
    exchange(&mut a, &mut e, 1, 2, &mut handedness);
    exchange(&mut a, &mut e, 0, 1, &mut handedness);
    for i in 0..3 {
        a[i] = a[i] * grow + poison;
        e[2][i] = e[2][i] * handedness;
        for vector in &mut e {
            vector[i] = vector[i] + poison;
        }
    }
    (a, e)
}

/// Rotates axes `p` and `q` so that their entry off the diagonal, `b[r]`, vanishes.
#[inline(always)]
fn annihilate<V: Vector>(
    a: &mut [V; 3],
    b: &mut [V; 3],
    e: &mut [[V; 3]; 3],
    p: usize,
    q: usize,
    r: usize,
    negligible: V,
) {
    let (zero, one) = (num::<V>(0.0), num::<V>(1.0));
    let done = b[r].abs().le(negligible);
    // The smaller of the two angles whose cotangent of the double is θ.
    let theta = (a[q] - a[p]) / (b[r] + b[r]);
    let t = one.copysign(theta) / (theta.abs() + theta.mul_add(theta, one).sqrt());
    let t = V::select(done, zero, t);
    let cosine = one / t.mul_add(t, one).sqrt();
    let sine = t * cosine;
    let shift = V::select(done, zero, t * b[r]);
    a[p] = a[p] - shift;
    a[q] = a[q] + shift;
    b[r] = V::select(done, b[r], zero);
    // The entries that share an index with the vanishing one: b[q] couples p and r, b[p] couples q and r.
    (b[q], b[p]) = (b[q] * cosine - b[p] * sine, b[q] * sine + b[p] * cosine);
    for i in 0..3 {
        (e[p][i], e[q][i]) = (
            e[p][i] * cosine - e[q][i] * sine,
            e[p][i] * sine + e[q][i] * cosine,
        );
    }
}

/// Puts the larger of two values first, with its vector.
#[inline(always)]
fn exchange<V: Vector>(
    a: &mut [V; 3],
    e: &mut [[V; 3]; 3],
    i: usize,
    j: usize,
    handedness: &mut V,
) {
    let swap = a[i].lt(a[j]);
    (a[i], a[j]) = (V::select(swap, a[j], a[i]), V::select(swap, a[i], a[j]));
    for k in 0..3 {
        (e[i][k], e[j][k]) = (
            V::select(swap, e[j][k], e[i][k]),
            V::select(swap, e[i][k], e[j][k]),
        );
    }
    *handedness = V::select(swap, -*handedness, *handedness);
}
