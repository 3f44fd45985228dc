//! Derivatives in the world of curved cells, to any order, by truncated power series.
//!
//! With `K = J⁻¹` as a series about the position, a derivative along world axis i is `D_i = Σ_a K_ai ∂_a` on functions of the
//! reference position. `u,ij…` is `D_j D_i … û`; each application lowers the degree to which the series is known by one.

#![allow(
    clippy::needless_range_loop,
    reason = "axes and terms index several arrays at once"
)]

use super::polynomial::{AllPowers, Space};
use crate::derivatives::{MAX_ORDER, multi_indices};

/// The coefficients of a series in three variables to the highest order.
const TERMS: usize = (MAX_ORDER + 1) * (MAX_ORDER + 2) * (MAX_ORDER + 3) / 6;

/// The exponents of the terms, by total degree.
const EXPONENTS: [[usize; 3]; TERMS] = {
    let mut all = [[0; 3]; TERMS];
    let (mut n, mut total) = (0, 0);
    while total <= MAX_ORDER {
        let mut rest = 0;
        while rest <= total {
            let mut z = 0;
            while z <= rest {
                all[n] = [total - rest, rest - z, z];
                n += 1;
                z += 1;
            }
            rest += 1;
        }
        total += 1;
    }
    all
};

const fn terms(degree: usize) -> usize {
    (degree + 1) * (degree + 2) * (degree + 3) / 6
}

const fn place(e: [usize; 3]) -> usize {
    let total = e[0] + e[1] + e[2];
    let rest = e[1] + e[2];
    total * (total + 1) * (total + 2) / 6 + rest * (rest + 1) / 2 + e[2]
}

/// A power series, known up to a total degree.
#[derive(Clone, Copy)]
pub(super) struct Series {
    c: [f64; TERMS],
    degree: usize,
}

impl Series {
    fn zero(degree: usize) -> Series {
        Series {
            c: [0.0; TERMS],
            degree,
        }
    }

    /// The expansion of a polynomial at a position.
    pub(super) fn expand(space: &Space, c: &[f64], powers: &AllPowers, degree: usize) -> Series {
        let factorial = |n: usize| (1..n + 1).map(|i| i as f64).product::<f64>();
        let mut series = Series::zero(degree);
        for n in 0..terms(degree) {
            let e = EXPONENTS[n];
            let scale: f64 = e.iter().map(|&n| factorial(n)).product();
            series.c[n] = space.derivative(c, powers, e) / scale;
        }
        series
    }

    fn times(&self, other: &Series) -> Series {
        let degree = self.degree.min(other.degree);
        let mut product = Series::zero(degree);
        for n in (0..terms(degree)).filter(|&n| self.c[n] != 0.0) {
            let a = EXPONENTS[n];
            let left = degree - a.iter().sum::<usize>();
            for m in 0..terms(left) {
                let b = EXPONENTS[m];
                let sum = place([a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
                product.c[sum] += self.c[n] * other.c[m];
            }
        }
        product
    }

    fn plus(mut self, other: &Series, factor: f64) -> Series {
        self.degree = self.degree.min(other.degree);
        for n in 0..terms(self.degree) {
            self.c[n] += factor * other.c[n];
        }
        self
    }

    /// The derivative along a reference axis.
    fn along(&self, axis: usize) -> Series {
        let mut derivative = Series::zero(self.degree.saturating_sub(1));
        for n in 0..terms(derivative.degree) {
            let mut e = EXPONENTS[n];
            e[axis] += 1;
            derivative.c[n] = e[axis] as f64 * self.c[place(e)];
        }
        derivative
    }

    /// One divided by the series: r ← r(2 − s·r) doubles the known degree.
    fn reciprocal(&self) -> Series {
        let mut inverse = Series::zero(self.degree);
        inverse.c[0] = 1.0 / self.c[0];
        let mut known = 0;
        while known < self.degree {
            known = 2 * known + 1;
            let twice = inverse.plus(&inverse, 1.0);
            inverse = twice.plus(&inverse.times(&inverse.times(self)), -1.0);
        }
        inverse
    }

    /// The value at the position itself.
    pub(super) fn value(&self) -> f64 {
        self.c[0]
    }
}

/// The inverse of the Jacobian as series.
pub(super) struct InverseJacobian {
    /// By reference axis, then world axis.
    k: [[Series; 3]; 3],
    dim: usize,
}

impl InverseJacobian {
    /// From the series of the map, one per world axis.
    pub(super) fn new(map: &[Series]) -> InverseJacobian {
        let dim = map.len();
        let zero = Series::zero(map[0].degree);
        let mut j = [[zero; 3]; 3];
        for i in 0..dim {
            for a in 0..dim {
                j[i][a] = map[i].along(a);
            }
        }
        let mut k = [[zero; 3]; 3];
        if dim == 2 {
            let det = j[0][0].times(&j[1][1]).plus(&j[0][1].times(&j[1][0]), -1.0);
            let one_over = det.reciprocal();
            k[0][0] = j[1][1].times(&one_over);
            k[1][1] = j[0][0].times(&one_over);
            k[0][1] = zero.plus(&j[0][1].times(&one_over), -1.0);
            k[1][0] = zero.plus(&j[1][0].times(&one_over), -1.0);
        } else {
            let cofactor = |i: usize, a: usize| {
                let [i1, i2, a1, a2] = [(i + 1) % 3, (i + 2) % 3, (a + 1) % 3, (a + 2) % 3];
                let back = j[i1][a2].times(&j[i2][a1]);
                j[i1][a1].times(&j[i2][a2]).plus(&back, -1.0)
            };
            let row: [Series; 3] = std::array::from_fn(|a| cofactor(0, a));
            let mut det = j[0][0].times(&row[0]);
            det = det.plus(&j[0][1].times(&row[1]), 1.0);
            det = det.plus(&j[0][2].times(&row[2]), 1.0);
            let one_over = det.reciprocal();
            for a in 0..3 {
                for i in 0..3 {
                    k[a][i] = cofactor(i, a).times(&one_over);
                }
            }
        }
        InverseJacobian { k, dim }
    }

    /// The derivative along a world axis.
    fn derivative(&self, u: &Series, world: usize) -> Series {
        let mut sum = Series::zero(u.degree.saturating_sub(1));
        for a in 0..self.dim {
            sum = sum.plus(&u.along(a).times(&self.k[a][world]), 1.0);
        }
        sum
    }

    /// Gives the distinct derivatives of an order in the order of outputs.
    pub(super) fn derivatives(&self, u: &Series, order: usize, mut give: impl FnMut(f64)) {
        for counts in multi_indices(self.dim, order) {
            let mut derivative = *u;
            for (axis, &count) in counts.iter().enumerate() {
                for _ in 0..count {
                    derivative = self.derivative(&derivative, axis);
                }
            }
            give(derivative.value());
        }
    }
}
