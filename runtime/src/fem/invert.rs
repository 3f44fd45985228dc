//! Small matrices, and the inverse map of curved cells.

use super::cell::CellKind;
use super::polynomial::{AllPowers, Axes, Space};

pub(super) type Matrix = [[f64; 3]; 3];

/// Subdivisions of a cell in which Newton's iteration is tried again.
const DEPTH: usize = 6;

/// The most parts of a cell that are looked at: enough for any cell but those that are nearly folded along a surface.
const PARTS: u32 = 2048;

pub(super) fn determinant(m: &Matrix, dim: usize) -> f64 {
    if dim == 2 {
        return m[0][0] * m[1][1] - m[0][1] * m[1][0];
    }
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        + m[0][1] * (m[1][2] * m[2][0] - m[1][0] * m[2][2])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
}

/// The inverse, by cofactors.
#[inline(always)]
pub(super) fn inverse(m: &Matrix, dim: usize) -> Matrix {
    if dim == 2 {
        let d = 1.0 / determinant(m, 2);
        return [
            [m[1][1] * d, -m[0][1] * d, 0.0],
            [-m[1][0] * d, m[0][0] * d, 0.0],
            [0.0; 3],
        ];
    }
    let c00 = m[1][1] * m[2][2] - m[1][2] * m[2][1];
    let c01 = m[1][2] * m[2][0] - m[1][0] * m[2][2];
    let c02 = m[1][0] * m[2][1] - m[1][1] * m[2][0];
    let d = 1.0 / (m[0][0] * c00 + m[0][1] * c01 + m[0][2] * c02);
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
    }
    k
}

/// `first + Σ a·b`, as if computed in twice the precision and then rounded.
pub(super) fn sum_of_products(first: f64, terms: &[(f64, f64)]) -> f64 {
    let (mut sum, mut rest) = (first, 0.0);
    for &(a, b) in terms {
        let product = a * b;
        rest += a.mul_add(b, -product);
        let next = sum + product;
        let back = next - sum;
        rest += (sum - (next - back)) + (product - back);
        sum = next;
    }
    sum + rest
}

#[inline(always)]
pub(super) fn apply(m: &Matrix, v: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|a| m[a][0] * v[0] + m[a][1] * v[1] + m[a][2] * v[2])
}

/// The map of a curved cell.
#[derive(Clone, Copy)]
pub(super) struct Map<'a> {
    pub(super) kind: CellKind,
    pub(super) space: &'a Space,
    pub(super) coefficients: &'a [Axes],
    /// The inverse of the Jacobian at the centre.
    pub(super) at_centre: &'a Matrix,
}

/// What is known of the position in a cell that is mapped to a given one.
pub(super) enum Inverse {
    /// The position, and the inverse of the Jacobian there.
    Found([f64; 3], Matrix),
    /// There is none in the cell.
    Outside,
    /// None was found, and that there is none is not proved.
    Unknown,
}

impl Map<'_> {
    /// The image of a position, given relative to the centre, and the Jacobian there, by world axis.
    #[inline(always)]
    pub(super) fn image(&self, t: &[f64; 3]) -> ([f64; 3], Matrix) {
        let (x, [u, v, w]) = self.space.value_and_gradient(self.coefficients, t);
        let [x, y, z, _] = x.0;
        ([x, y, z], [0, 1, 2].map(|i| [u.0[i], v.0[i], w.0[i]]))
    }

    /// The coefficients along one world axis.
    pub(super) fn along(&self, axis: usize) -> Vec<f64> {
        self.coefficients.iter().map(|c| c.0[axis]).collect()
    }

    /// The reference position of `x`, from an estimate of it.
    #[inline(always)]
    pub(super) fn invert(&self, x: &[f64; 3], estimate: &[f64; 3]) -> Inverse {
        if let Some((xi, k)) = self.newton(x, estimate) {
            return Inverse::Found(xi, k);
        }
        let mut left = PARTS;
        match self.subdivide(x, [0.5; 3], 0.5, 0, &mut left) {
            Some(Some((xi, k))) => Inverse::Found(xi, k),
            Some(None) => Inverse::Unknown,
            None => Inverse::Outside,
        }
    }

    /// Newton's iteration to rounding. Once a step was small the Jacobian is kept: every further step then multiplies the error
    /// by about as much as that step was long, and saves an inverse. It is taken anew where that turns out to be too slow.
    #[inline(always)]
    fn newton(&self, x: &[f64; 3], estimate: &[f64; 3]) -> Option<([f64; 3], Matrix)> {
        const SMALL: f64 = 1.0 / (1 << 12) as f64;
        const ROUNDING: f64 = 1.0 / (1_u64 << 50) as f64;
        let (dim, c) = (self.kind.dim(), self.kind.centre());
        let keep = |xi: f64| xi.clamp(-0.5, 1.5);
        let mut t: [f64; 3] = estimate.map(|xi| keep(xi) - c);
        t[dim..].fill(0.0);
        let (mut at, mut j) = self.image(&t);
        let size = |at: &[f64; 3]| {
            let off = apply(self.at_centre, &std::array::from_fn(|i| x[i] - at[i]));
            off[0] * off[0] + off[1] * off[1] + off[2] * off[2]
        };
        let mut error = size(&at);
        let mut k = inverse(&j, dim);
        // The length of the step before, once the Jacobian is kept.
        let mut before = None;
        for _ in 0..16 {
            let off = std::array::from_fn(|i| if i < dim { x[i] - at[i] } else { 0.0 });
            let step = apply(&k, &off);
            let length = step[0].abs().max(step[1].abs()).max(step[2].abs());
            // A comparison with NaN is false, and the largest of numbers and NaN is a number.
            if !(step[0] + step[1] + step[2]).is_finite() {
                return None;
            }
            if let Some(before) = before {
                // What the next step would be, if it shrinks as this one did.
                if length < ROUNDING || length * length < before * (ROUNDING / 32.0) {
                    let xi =
                        std::array::from_fn(|a| if a < dim { t[a] + step[a] + c } else { 0.0 });
                    return Some((xi, k));
                }
            }
            let small = length < SMALL;
            let mut factor = 1.0;
            for _ in 0..5 {
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
                return None;
            }
            let slow = before.is_some_and(|before| length > before / 256.0);
            before = small.then_some(length);
            if !small || slow {
                k = inverse(&j, dim);
            }
        }
        None
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
        let lowest: f64 = centre[..dim].iter().map(|c| c - half).sum();
        let beyond = self.kind.is_simplex() && lowest > 1.0;
        if beyond || !self.may_contain(x, &centre, half) {
            return None;
        }
        if depth > 0
            && let Some((xi, k)) = self.newton(x, &centre)
        {
            if self.kind.least(&xi).1 > -1e-6 {
                return Some(Some((xi, k)));
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
        self.expand(centre, |total, term| {
            for i in 0..dim {
                if total == 0 {
                    middle[i] = term[i];
                } else {
                    radius[i] += term[i].abs() * half.powi(total as i32);
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
        self.expand(centre, |total, term| {
            if total > 1 {
                let rest = apply(&k, &term);
                for (sum, rest) in change.iter_mut().zip(rest) {
                    *sum += rest.abs() * total as f64 * half.powi(total as i32 - 1);
                }
            }
        });
        // False also where the Jacobian has no inverse.
        change[..dim].iter().all(|&sum| sum < 0.999)
    }

    /// The terms of the map's expansion at a position: total degree and coefficients.
    fn expand(&self, centre: &[f64; 3], mut give: impl FnMut(usize, [f64; 3])) {
        let (dim, c) = (self.kind.dim(), self.kind.centre());
        let mut t = centre.map(|x| x - c);
        t[dim..].fill(0.0);
        let powers = AllPowers::new(&t);
        let factorial = |n: usize| (1..n + 1).map(|i| i as f64).product::<f64>();
        for e in self.space.exponents() {
            let counts = e.map(usize::from);
            let scale: f64 = counts.iter().map(|&n| factorial(n)).product();
            let [x, y, z, _] = self.space.derivative(self.coefficients, &powers, counts).0;
            give(counts.iter().sum(), [x / scale, y / scale, z / scale]);
        }
    }
}
