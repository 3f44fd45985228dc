//! Small matrices, and the inverse map of curved cells.

use super::cell::CellKind;
use super::polynomial::{Powers, Space};

pub(super) type Matrix = [[f64; 3]; 3];

/// Subdivisions of a cell in which Newton's iteration is tried again.
const DEPTH: usize = 6;

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
    /// By world axis.
    pub(super) coefficients: &'a [f64],
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
    /// The image of a position, given relative to the centre, and the Jacobian there.
    #[inline(always)]
    pub(super) fn image(&self, t: &[f64; 3]) -> ([f64; 3], Matrix) {
        let (mut x, mut j) = ([0.0; 3], [[0.0; 3]; 3]);
        for (i, c) in self.coefficients.chunks_exact(self.space.len()).enumerate() {
            (x[i], j[i]) = self.space.value_and_gradient(c, t);
        }
        (x, j)
    }

    /// The reference position of `x`, from an estimate of it.
    pub(super) fn invert(&self, x: &[f64; 3], estimate: &[f64; 3]) -> Inverse {
        if let Some((xi, k)) = self.newton(x, estimate) {
            return Inverse::Found(xi, k);
        }
        match self.subdivide(x, [0.5; 3], 0.5, 0) {
            Some(Some((xi, k))) => Inverse::Found(xi, k),
            Some(None) => Inverse::Unknown,
            None => Inverse::Outside,
        }
    }

    /// Newton's iteration to rounding: after a step below 2⁻²⁶ one more makes the error that of rounding.
    fn newton(&self, x: &[f64; 3], estimate: &[f64; 3]) -> Option<([f64; 3], Matrix)> {
        let (dim, c) = (self.kind.dim(), self.kind.centre());
        let keep = |xi: f64| xi.clamp(-0.5, 1.5);
        let mut t: [f64; 3] = estimate.map(|xi| keep(xi) - c);
        t[dim..].fill(0.0);
        let (mut at, mut j) = self.image(&t);
        let size = |at: &[f64; 3]| {
            let off = apply(self.at_centre, &std::array::from_fn(|i| x[i] - at[i]));
            off[..dim].iter().map(|d| d * d).sum::<f64>()
        };
        let mut error = size(&at);
        let mut last = false;
        for _ in 0..16 {
            let k = inverse(&j, dim);
            let step = apply(
                &k,
                &std::array::from_fn(|i| if i < dim { x[i] - at[i] } else { 0.0 }),
            );
            let length = step[..dim].iter().map(|s| s.abs()).fold(0.0, f64::max);
            if length.is_nan() {
                return None;
            }
            if last {
                let xi = std::array::from_fn(|a| if a < dim { t[a] + step[a] + c } else { 0.0 });
                return Some((xi, k));
            }
            last = length < 1.0 / f64::from(1 << 26);
            let mut factor = 1.0;
            for _ in 0..5 {
                let mut next = [0.0; 3];
                for a in 0..dim {
                    next[a] = keep(t[a] + factor * step[a] + c) - c;
                }
                let (next_at, next_j) = self.image(&next);
                let next_error = size(&next_at);
                if next_error < error || last {
                    (t, at, j, error) = (next, next_at, next_j, next_error);
                    break;
                }
                factor /= 2.0;
            }
            if factor < 1.0 / 31.0 {
                return None;
            }
        }
        None
    }

    /// Looks into the parts of a box of the reference cell whose image may contain `x`. None if no part is left.
    fn subdivide(
        &self,
        x: &[f64; 3],
        centre: [f64; 3],
        half: f64,
        depth: usize,
    ) -> Option<Option<([f64; 3], Matrix)>> {
        let dim = self.kind.dim();
        let lowest: f64 = centre[..dim].iter().map(|c| c - half).sum();
        let beyond = self.kind.is_simplex() && lowest > 1.0;
        if beyond || !self.may_contain(x, &centre, half) {
            return None;
        }
        if depth > 0
            && let Some((xi, k)) = self.newton(x, &centre)
            && self.kind.least(&xi).1 > -1e-6
        {
            return Some(Some((xi, k)));
        }
        if depth == DEPTH {
            return Some(None);
        }
        let mut left = None;
        for part in 0..1 << dim {
            let offset = |a: usize| {
                if part >> a & 1 == 1 {
                    half / 2.0
                } else {
                    -half / 2.0
                }
            };
            let middle = std::array::from_fn(|a| centre[a] + offset(a));
            match self.subdivide(x, middle, half / 2.0, depth + 1) {
                Some(Some(found)) => return Some(Some(found)),
                Some(None) => left = Some(None),
                None => {}
            }
        }
        left
    }

    /// Whether the image of a box may contain `x`: the expansion of the map at its middle bounds it.
    fn may_contain(&self, x: &[f64; 3], centre: &[f64; 3], half: f64) -> bool {
        let (dim, c) = (self.kind.dim(), self.kind.centre());
        let highest = self.space.total_degree();
        let mut t = [0.0; 3];
        for a in 0..dim {
            t[a] = centre[a] - c;
        }
        let powers = Powers::new(&t, highest);
        let factorial = |n: usize| (1..n + 1).map(|i| i as f64).product::<f64>();
        self.coefficients
            .chunks_exact(self.space.len())
            .enumerate()
            .all(|(i, c)| {
                let mut middle = 0.0;
                let mut radius = 0.0;
                for e in self.space.exponents() {
                    let counts = e.map(usize::from);
                    let scale: f64 = counts.iter().map(|&n| factorial(n)).product();
                    let term = self.space.derivative(c, &powers, counts) / scale;
                    let total: usize = counts.iter().sum();
                    if total == 0 {
                        middle = term;
                    } else {
                        radius += term.abs() * half.powi(total as i32);
                    }
                }
                (x[i] - middle).abs() <= radius * (1.0 + 1e-9) + 1e-300
            })
    }
}
