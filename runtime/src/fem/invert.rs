//! Small matrices, and the inverse map of curved cells.

use super::cell::CellKind;
use super::mutants;
use super::number::Number;
use super::polynomial::{AllPowers, Axes, Planes, Space, simple};
use crate::simd::Vector;

pub(super) type Matrix<S = f64> = [[S; 3]; 3];

/// Subdivisions of a cell in which Newton's iteration is tried again.
const DEPTH: usize = 6;

/// The most parts of a cell that are looked at: enough for any cell but those that are nearly folded along a surface.
const PARTS: u32 = 2048;

/// How far the image of a solution may be from the position, in reference units of the centre: rounding.
pub(super) const CLOSE: f64 = 1.0 / (1_u64 << 48) as f64;

/// Steps of Newton's iteration below this are small.
pub(super) const SMALL: f64 = 1.0 / (1 << 12) as f64;

/// Steps of Newton's iteration below this are rounding.
pub(super) const ROUNDING: f64 = 1.0 / (1_u64 << 50) as f64;

/// The most steps of Newton's iteration, and how often each is tried, half as long every time.
pub(super) const NEWTON_STEPS: usize = 16;
pub(super) const TRIES: usize = 5;

pub(super) fn determinant<S: Number>(m: &Matrix<S>, dim: usize) -> S {
    if dim == 2 {
        return m[0][0] * m[1][1] - m[0][1] * m[1][0];
    }
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        + m[0][1] * (m[1][2] * m[2][0] - m[1][0] * m[2][2])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
}

/// The inverse, by cofactors.
#[inline(always)]
pub(super) fn inverse<S: Number>(m: &Matrix<S>, dim: usize) -> Matrix<S> {
    if dim == 2 {
        let d = (m[0][0] * m[1][1] - m[0][1] * m[1][0]).reciprocal();
        let zero = S::constant(0.0);
        return [
            [m[1][1] * d, -m[0][1] * d, zero],
            [-m[1][0] * d, m[0][0] * d, zero],
            [zero; 3],
        ];
    }
    let c00 = m[1][1] * m[2][2] - m[1][2] * m[2][1];
    let c01 = m[1][2] * m[2][0] - m[1][0] * m[2][2];
    let c02 = m[1][0] * m[2][1] - m[1][1] * m[2][0];
    let d = (m[0][0] * c00 + m[0][1] * c01 + m[0][2] * c02).reciprocal();
    [
        [
            c00 * d,
            (m[0][2] * m[2][1] - m[0][1] * m[2][2]) * d,
            (m[0][1] * m[1][2] - m[0][2] * m[1][1]) * d,
        ],
        [
            c01 * d,
            (m[0][0] * m[2][2] - m[0][2] * m[2][0]) * d,
            (m[0][2] * m[1][0] - m[0][0] * m[1][2]) * d,
        ],
        [
            c02 * d,
            (m[0][1] * m[2][0] - m[0][0] * m[2][1]) * d,
            (m[0][0] * m[1][1] - m[0][1] * m[1][0]) * d,
        ],
    ]
}

/// The solution of `m s = v`, by cofactors.
#[inline(always)]
fn solve<S: Number>(m: &Matrix<S>, v: &[S; 3], dim: usize) -> [S; 3] {
    let [a, b, c] = [
        [m[0][0], m[1][0], m[2][0]],
        [m[0][1], m[1][1], m[2][1]],
        [m[0][2], m[1][2], m[2][2]],
    ];
    if dim == 2 {
        let d = cross(&a, &b)[2].reciprocal();
        let (x, y) = (cross(v, &b)[2], cross(&a, v)[2]);
        return [x * d, y * d, S::constant(0.0)];
    }
    let (normal, across) = (cross(&b, &c), cross(&a, v));
    let d = dot(&a, &normal).reciprocal();
    let (x, y, z) = (dot(v, &normal), dot(&c, &across), dot(&b, &across));
    [x * d, y * d, -(z * d)]
}

#[inline(always)]
fn cross<S: Number>(a: &[S; 3], b: &[S; 3]) -> [S; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
fn dot<S: Number>(a: &[S; 3], b: &[S; 3]) -> S {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn plus<S: Number>(a: &[S; 3], b: &[S; 3]) -> [S; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn minus<S: Number>(a: &[S; 3], b: &[S; 3]) -> [S; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The inverse with every row right to rounding, however flat the cell is: a face of a sliver must stay where it is.
///
/// Cofactors lose digits to cancellation; Newton's step for the inverse, with sums of products as if in twice the
/// precision, brings them back.
pub(super) fn careful_inverse(m: &Matrix, dim: usize) -> Matrix {
    let mut k = inverse(m, dim);
    for _ in 0..3 {
        let mut off = [[0.0; 3]; 3];
        for i in 0..dim {
            for j in 0..dim {
                let one = if i == j { 1.0 } else { 0.0 };
                let terms = [0, 1, 2].map(|a| (-m[i][a], if a < dim { k[a][j] } else { 0.0 }));
                off[i][j] = sum_of_products(one, &terms);
            }
        }
        for row in &mut k[..dim] {
            let old = *row;
            for (j, x) in row.iter_mut().enumerate().take(dim) {
                *x += (0..dim).map(|i| old[i] * off[i][j]).sum::<f64>();
            }
        }
        // The step has squared the error, which is `off` before the step.
        if off
            .as_flattened()
            .iter()
            .all(|x| x.abs() < 1.0 / (1 << 27) as f64)
        {
            break;
        }
    }
    k
}

/// `first + Σ a·b`, as if computed in twice the precision and then rounded.
pub(super) fn sum_of_products<S: Number>(first: S, terms: &[(S, S)]) -> S {
    let (mut sum, mut rest) = (first, S::constant(0.0));
    for &(a, b) in terms {
        let product = a * b;
        rest = rest + a.fused(b, -product);
        let next = sum + product;
        let back = next - sum;
        rest = rest + ((sum - (next - back)) + (product - back));
        sum = next;
    }
    sum + rest
}

#[inline(always)]
pub(super) fn apply<S: Number>(m: &Matrix<S>, v: &[S; 3]) -> [S; 3] {
    [dot(&m[0], v), dot(&m[1], v), dot(&m[2], v)]
}

/// Cells whose Jacobian changes less than this are mild: Newton's iteration from the affine estimate converges, and how far it is from
/// its end is known.
pub(super) const CURVED: f64 = 0.25;

/// How far from the centre the bound of that change holds, along any axis.
pub(super) const REACH: f64 = 1.25;

/// The largest margin of the affine estimate of a mild cell, as a power of two.
pub(super) const MILD_MARGIN: i8 = -3;

/// The map of a curved cell, relative to the image of the centre.
#[derive(Clone, Copy)]
pub(super) struct Map<'a> {
    pub(super) kind: CellKind,
    pub(super) space: &'a Space,
    pub(super) coefficients: &'a [Axes],
    /// The inverse of the Jacobian at the centre.
    pub(super) at_centre: &'a Matrix,
    /// The tolerance of positions, in the world.
    pub(super) tolerance: f64,
}

/// Newton's iteration in mild cells. There, within the reach of the bound κ of second derivatives, the map with the inverse of the
/// Jacobian at the centre is the identity to within κ·REACH < 1/3. So there is one solution at most, and after a step
/// of length s the error is below κs²: the iteration ends where that is less than rounding.
///
/// Given are the image and the inverse of the Jacobian at the centre, and κ; what comes back is the reference position, the Jacobian of the
/// last step, and where the iteration has ended.
#[inline(always)]
pub(super) fn quick<S: Number>(
    kind: CellKind,
    (x, at_centre, curvature): (&[S; 3], &Matrix<S>, S),
    map: &impl Image<S>,
    wanted: S::Truth,
) -> ([S; 3], Matrix<S>, S::Truth) {
    let dim = kind.dim();
    // Two steps with the Jacobian of the centre; the first has nothing to evaluate.
    let mut t = apply(at_centre, x);
    let (at, mut jacobian) = map.image(&t);
    t = second_step((x, at_centre), &t, &at);
    let (mut going, mut sound) = (wanted, wanted);
    if mutants::is_content_with_estimates() {
        (t, going) = (apply(at_centre, x), S::except(wanted, wanted));
    }
    for _ in 0..QUICK_STEPS {
        if !S::any(going) {
            break;
        }
        let at;
        (at, jacobian) = map.image(&t);
        let ([a, b, c], short, ended) = quick_step(dim, (x, curvature), &t, (&at, &jacobian));
        t = [
            S::choose(going, a, t[0]),
            S::choose(going, b, t[1]),
            S::choose(going, c, t[2]),
        ];
        sound = S::except(sound, S::except(going, short));
        going = S::except(S::both(going, short), ended);
    }
    let (c, zero) = (S::constant(kind.centre()), S::constant(0.0));
    let third = if dim == 3 { t[2] + c } else { zero };
    let xi = [t[0] + c, t[1] + c, third];
    (xi, jacobian, S::except(sound, going))
}

/// The most steps of [`quick`] beyond the first two.
pub(super) const QUICK_STEPS: usize = 6;

/// The position after the second step of [`quick`], from that after the first and its image.
#[inline(always)]
pub(super) fn second_step<S: Number>(
    (x, at_centre): (&[S; 3], &Matrix<S>),
    t: &[S; 3],
    at: &[S; 3],
) -> [S; 3] {
    plus(t, &apply(at_centre, &minus(x, at)))
}

/// The position after a further step of [`quick`], from that before it, its image and the Jacobian; whether the step was short, and whether it
/// was the last.
#[inline(always)]
pub(super) fn quick_step<S: Number>(
    dim: usize,
    (x, curvature): (&[S; 3], S),
    t: &[S; 3],
    (at, jacobian): (&[S; 3], &Matrix<S>),
) -> ([S; 3], S::Truth, S::Truth) {
    let (longest, rounding) = (S::constant(0.25), S::constant(f64::EPSILON / 2.0));
    let step = solve(jacobian, &minus(x, at), dim);
    let length = step[0].magnitude().larger(step[1].magnitude());
    let length = length.larger(step[2].magnitude());
    // False for NaN.
    let short = length.less(longest);
    let ended = (curvature * length * length).less(rounding);
    (plus(t, &step), short, ended)
}

/// A map of reference positions, given relative to the centre.
pub(super) trait Image<S> {
    /// The image of a position, and the Jacobian there, by world axis.
    fn image(&self, t: &[S; 3]) -> ([S; 3], Matrix<S>);
}

impl Image<f64> for Map<'_> {
    #[inline(always)]
    fn image(&self, t: &[f64; 3]) -> ([f64; 3], Matrix) {
        let (x, [u, v, w]) = self.space.value_and_gradient(self.coefficients, t);
        let [x, y, z, _] = x.0;
        ([x, y, z], [0, 1, 2].map(|i| [u.0[i], v.0[i], w.0[i]]))
    }
}

/// Maps of several lanes of total degree 2.
impl<V: Vector<Elem = f64>, const N: usize> Image<V> for [Planes<V>; N] {
    #[inline(always)]
    fn image(&self, t: &[V; 3]) -> ([V; 3], Matrix<V>) {
        let (at, columns) = simple(self, t);
        (at.0, Planes::by_world_axis(columns))
    }
}

/// The result of inverting the map of a cell at a world position.
pub(super) enum Inverse {
    /// The position, and the Jacobian next to it.
    Found([f64; 3], Matrix),
    /// There is none in the cell.
    Outside,
    /// None was found, but it is not proved that there is none.
    Unknown,
}

impl Map<'_> {
    /// The coefficients along one world axis.
    pub(super) fn along(&self, axis: usize) -> Vec<f64> {
        self.coefficients.iter().map(|c| c.0[axis]).collect()
    }

    /// Whether the Jacobian changes so little that [`quick`] is right.
    #[inline(always)]
    pub(super) fn is_mild(&self) -> bool {
        self.coefficients[0].0[3] <= CURVED
    }

    /// The reference position of `x`. In a mild cell the affine estimate has to be within the margin of the cell.
    #[inline(always)]
    pub(super) fn invert(&self, x: &[f64; 3]) -> Inverse {
        if self.is_mild() {
            let given = (x, self.at_centre, self.coefficients[0].0[3]);
            let (xi, jacobian, found) = quick(self.kind, given, self, true);
            if found {
                return Inverse::Found(xi, jacobian);
            }
        }
        self.invert_any(x)
    }

    #[cold]
    fn invert_any(&self, x: &[f64; 3]) -> Inverse {
        let c = self.kind.centre();
        let estimate = apply(self.at_centre, x).map(|t| t + c);
        if let Some((xi, jacobian)) = self.newton(x, &estimate) {
            return Inverse::Found(xi, jacobian);
        }
        if self.collapses() {
            return self.bisect(x);
        }
        let mut left = PARTS;
        match self.subdivide(x, [0.5; 3], 0.5, 0, &mut left) {
            Some(Some((xi, jacobian))) => Inverse::Found(xi, jacobian),
            Some(None) => Inverse::Unknown,
            None => Inverse::Outside,
        }
    }

    /// Whether a part of the box around the reference cell is outside the cell.
    pub(super) fn is_beyond(&self, centre: &[f64; 3], half: &[f64; 3]) -> bool {
        let lowest = |a: usize| centre[a] - half[a];
        match self.kind {
            CellKind::Quadrilateral | CellKind::Hexahedron => false,
            CellKind::Triangle | CellKind::Wedge => lowest(0) + lowest(1) > 1.0,
            CellKind::Tetrahedron => lowest(0) + lowest(1) + lowest(2) > 1.0,
        }
    }

    /// Newton's iteration to rounding. Once a step was small the Jacobian is kept: every further step then multiplies the error
    /// by about as much as that step was long, and saves an inverse. It is computed again where that turns out to be too slow.
    pub(super) fn newton(&self, x: &[f64; 3], estimate: &[f64; 3]) -> Option<([f64; 3], Matrix)> {
        let (dim, c) = (self.kind.dim(), self.kind.centre());
        let keep = |xi: f64| xi.clamp(-0.5, 1.5);
        let mut t: [f64; 3] = estimate.map(|xi| keep(xi) - c);
        t[dim..].fill(0.0);
        let (mut at, mut j) = self.image(&t);
        if mutants::is_content_with_estimates() {
            return Some((*estimate, j));
        }
        let size = |at: &[f64; 3]| {
            let off = apply(self.at_centre, &std::array::from_fn(|i| x[i] - at[i]));
            off[0] * off[0] + off[1] * off[1] + off[2] * off[2]
        };
        let mut error = size(&at);
        let mut k = inverse(&j, dim);
        // The length of the step before, once the Jacobian is kept.
        let mut before = None;
        // Near where the cell has collapsed, steps along collapsed axes are arbitrary and never become short. There the nearest
        // image counts, once two steps have brought none that is nearer.
        let mut nearest: Option<(f64, [f64; 3], Matrix)> = None;
        let mut in_vain = 0;
        for _ in 0..NEWTON_STEPS {
            if error <= CLOSE * CLOSE {
                in_vain += 1;
                if nearest.is_none_or(|(least, ..)| error < least) {
                    nearest = Some((error, t, j));
                    in_vain = 0;
                }
                if in_vain == 2 || error == 0.0 && self.has_collapsed(&j) {
                    break;
                }
            }
            let off = std::array::from_fn(|i| if i < dim { x[i] - at[i] } else { 0.0 });
            let step = apply(&k, &off);
            let length = step[0].abs().max(step[1].abs()).max(step[2].abs());
            // A comparison with NaN is false, and the largest of numbers and NaN is a number.
            if !(step[0] + step[1] + step[2]).is_finite() {
                break;
            }
            if let Some(before) = before {
                // What the next step would be, if it shrinks as this one did.
                if length < ROUNDING || length * length < before * (ROUNDING / 32.0) {
                    let xi =
                        std::array::from_fn(|a| if a < dim { t[a] + step[a] + c } else { 0.0 });
                    return Some((xi, j));
                }
            }
            let small = length < SMALL;
            let mut factor = 1.0;
            for _ in 0..TRIES {
                let mut next = [0.0; 3];
                for a in 0..dim {
                    next[a] = keep(t[a] + factor * step[a] + c) - c;
                }
                let (next_at, next_j) = self.image(&next);
                let next_error = size(&next_at);
                if next_error < error || small {
                    (t, at, j, error) = (next, next_at, next_j, next_error);
                    break;
                }
                factor /= 2.0;
            }
            if factor < 1.0 / 31.0 {
                break;
            }
            let slow = before.is_some_and(|before| length > before / 256.0);
            before = small.then_some(length);
            if !small || slow {
                k = inverse(&j, dim);
            }
        }
        nearest.map(|(_, t, j)| {
            (
                std::array::from_fn(|a| if a < dim { t[a] + c } else { 0.0 }),
                j,
            )
        })
    }

    /// Looks into the parts of a box of the reference cell whose image may contain `x`. None if no part is left.
    #[cold]
    fn subdivide(
        &self,
        x: &[f64; 3],
        centre: [f64; 3],
        half: f64,
        depth: usize,
        left: &mut u32,
    ) -> Option<Option<([f64; 3], Matrix)>> {
        if *left == 0 {
            return Some(None);
        }
        *left -= 1;
        let dim = self.kind.dim();
        if self.is_beyond(&centre, &[half; 3]) || !self.may_contain(x, &centre, half) {
            return None;
        }
        if depth > 0
            && let Some((xi, jacobian)) = self.newton(x, &centre)
        {
            if self.kind.least(&xi).1 > -1e-6 {
                return Some(Some((xi, jacobian)));
            }
            // The only one for far around, and not here.
            let off = |a: usize| (xi[a] - centre[a]).abs();
            let around = (0..dim).map(off).fold(half, f64::max);
            if around > half * (1.0 + 1e-6) && self.is_injective(&centre, around) {
                return None;
            }
        }
        if depth == DEPTH {
            return Some(None);
        }
        let mut found = None;
        for part in 0..1 << dim {
            let offset = |a: usize| {
                if part >> a & 1 == 1 {
                    half / 2.0
                } else {
                    -half / 2.0
                }
            };
            let middle = std::array::from_fn(|a| centre[a] + offset(a));
            match self.subdivide(x, middle, half / 2.0, depth + 1, left) {
                Some(Some(end)) => return Some(Some(end)),
                Some(None) => found = Some(None),
                None => {}
            }
        }
        found
    }

    /// Whether the image of a box may contain `x`: the expansion of the map at its middle bounds it.
    fn may_contain(&self, x: &[f64; 3], centre: &[f64; 3], half: f64) -> bool {
        let dim = self.kind.dim();
        let (mut middle, mut radius) = ([0.0; 3], [0.0; 3]);
        self.expand(centre, |e, term| {
            let total: u8 = e.iter().sum();
            for i in 0..dim {
                if total == 0 {
                    middle[i] = term[i];
                } else {
                    radius[i] += term[i].abs() * half.powi(total.into());
                }
            }
        });
        (0..dim).all(|i| (x[i] - middle[i]).abs() <= radius[i] * (1.0 + 1e-9) + 1e-300)
    }

    /// Whether no two positions of a box have the same image, for certain: with the inverse of the Jacobian in the middle, the map is the
    /// identity and a rest, and two images differ if the rest changes less than the position.
    fn is_injective(&self, centre: &[f64; 3], half: f64) -> bool {
        let (dim, c) = (self.kind.dim(), self.kind.centre());
        let mut t = centre.map(|x| x - c);
        t[dim..].fill(0.0);
        let k = inverse(&self.image(&t).1, dim);
        let mut change = [0.0; 3];
        self.expand(centre, |e, term| {
            let total: u8 = e.iter().sum();
            if total > 1 {
                let rest = apply(&k, &term);
                for (sum, rest) in change.iter_mut().zip(rest) {
                    *sum += rest.abs() * f64::from(total) * half.powi(i32::from(total) - 1);
                }
            }
        });
        // False also where the Jacobian has no inverse.
        change[..dim].iter().all(|&sum| sum < 0.999)
    }

    /// The terms of the map's expansion at a position: exponents and coefficients.
    pub(super) fn expand(&self, centre: &[f64; 3], mut give: impl FnMut(&[u8; 3], [f64; 3])) {
        let (dim, c) = (self.kind.dim(), self.kind.centre());
        let mut t = centre.map(|x| x - c);
        t[dim..].fill(0.0);
        let powers = AllPowers::new(&t);
        let factorial = |n: usize| (1..n + 1).map(|i| i as f64).product::<f64>();
        for e in self.space.exponents() {
            let counts = e.map(usize::from);
            let scale: f64 = counts.iter().map(|&n| factorial(n)).product();
            let [x, y, z, _] = self.space.derivative(self.coefficients, &powers, counts).0;
            give(e, [x / scale, y / scale, z / scale]);
        }
    }
}
