//! Polynomials of a cell: values and derivatives from coefficients.

use super::number::Number;
use crate::simd::{MAX_WIDTH, Vector};
use std::ops::{Add, Mul};

/// What a polynomial of numbers `S` has as coefficients.
pub(super) trait Coefficient<S>: Copy + Add<Output = Self> + Mul<S, Output = Self> {
    /// Nothing.
    fn zero() -> Self;
}

impl<S: Number> Coefficient<S> for S {
    #[inline(always)]
    fn zero() -> S {
        S::constant(0.0)
    }
}

/// One number per world axis, side by side: the map of a cell is one polynomial of these. The fourth fills a vector register.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Axes(pub(super) [f64; 4]);

impl Add for Axes {
    type Output = Axes;

    #[inline(always)]
    fn add(self, other: Axes) -> Axes {
        Axes(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl Mul<f64> for Axes {
    type Output = Axes;

    #[inline(always)]
    fn mul(self, by: f64) -> Axes {
        Axes(self.0.map(|x| x * by))
    }
}

impl Coefficient<f64> for Axes {
    #[inline(always)]
    fn zero() -> Axes {
        Axes([0.0; 4])
    }
}

/// The same for several lanes: a vector per world axis.
#[derive(Clone, Copy)]
pub(super) struct Planes<V>(pub(super) [V; 3]);

impl<V: Vector> Add for Planes<V> {
    type Output = Planes<V>;

    #[inline(always)]
    fn add(self, other: Planes<V>) -> Planes<V> {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Planes([a + x, b + y, c + z])
    }
}

impl<V: Vector> Mul<V> for Planes<V> {
    type Output = Planes<V>;

    #[inline(always)]
    fn mul(self, by: V) -> Planes<V> {
        let [x, y, z] = self.0;
        Planes([x * by, y * by, z * by])
    }
}

impl<V: Vector<Elem = f64>> Planes<V> {
    /// Coefficients of several lanes, which begin at offsets, and the fourth numbers of the first.
    ///
    /// # Safety
    /// From every offset on there are this many coefficients of four numbers.
    #[inline(always)]
    pub(super) unsafe fn gather<const N: usize>(
        start: *const f64,
        offsets: &[i64; MAX_WIDTH],
    ) -> ([Planes<V>; N], V) {
        let mut all = [Planes([V::splat(0.0); 3]); N];
        let mut fourth = V::splat(0.0);
        for (n, planes) in all.iter_mut().enumerate() {
            // SAFETY: promised by the caller.
            let [x, y, z, w] = unsafe { V::rows4(start.add(4 * n), offsets) };
            *planes = Planes([x, y, z]);
            if n == 0 {
                fourth = w;
            }
        }
        (all, fourth)
    }

    /// The transpose: rows by world axis from columns by reference axis.
    #[inline(always)]
    pub(super) fn by_world_axis([u, v, w]: [Planes<V>; 3]) -> [[V; 3]; 3] {
        [
            [u.0[0], v.0[0], w.0[0]],
            [u.0[1], v.0[1], w.0[1]],
            [u.0[2], v.0[2], w.0[2]],
        ]
    }
}

impl<V: Vector<Elem = f64>> Coefficient<V> for Planes<V> {
    #[inline(always)]
    fn zero() -> Planes<V> {
        Planes([V::splat(0.0); 3])
    }
}

/// The largest degree along one axis.
pub(super) const MAX_DEGREE: usize = 4;

/// The monomials of a polynomial.
#[derive(Clone, Debug)]
pub(super) struct Space {
    dim: usize,
    exponents: Vec<[u8; 3]>,
    shape: Shape,
}

/// Spaces that have code of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Linear,
    Quadratic,
    General,
}

impl Space {
    /// Polynomials up to a total degree.
    pub(super) fn total(dim: usize, degree: usize) -> Space {
        let shape = match degree {
            1 => Shape::Linear,
            2 => Shape::Quadratic,
            _ => Shape::General,
        };
        Space {
            shape,
            ..Space::selected(dim, degree, |_| true)
        }
    }

    /// Polynomials up to a degree in each variable.
    pub(super) fn tensor(dim: usize, degree: usize) -> Space {
        Space::selected(dim, dim * degree, |e| e.iter().all(|&n| n <= degree))
    }

    /// Polynomials up to a total degree in the first two variables, and up to it in the third.
    pub(super) fn prism(degree: usize) -> Space {
        Space::selected(3, 2 * degree, |e| e[0] + e[1] <= degree && e[2] <= degree)
    }

    /// The monomials up to a total degree that a condition selects.
    fn selected(dim: usize, highest: usize, selects: impl Fn(&[usize; 3]) -> bool) -> Space {
        let mut exponents = Vec::new();
        for total in 0..highest + 1 {
            let all = crate::derivatives::multi_indices(dim, total);
            exponents.extend(all.filter(&selects).map(|e| e.map(|n| n as u8)));
        }
        Space {
            dim,
            exponents,
            shape: Shape::General,
        }
    }

    pub(super) fn exponents(&self) -> &[[u8; 3]] {
        &self.exponents
    }

    /// The number of coefficients.
    pub(super) fn len(&self) -> usize {
        self.exponents.len()
    }

    /// The largest total degree.
    pub(super) fn total_degree(&self) -> usize {
        let last = self.exponents.last().expect("the constant is there");
        last.iter().map(|&n| usize::from(n)).sum()
    }

    /// Value and gradient at `t`.
    #[inline(always)]
    pub(super) fn value_and_gradient<C: Coefficient<S>, S: Number>(
        &self,
        c: &[C],
        t: &[S; 3],
    ) -> (C, [C; 3]) {
        let few = "as many coefficients as monomials";
        match (self.shape, self.dim) {
            (Shape::Linear, 2) => simple::<C, S, 3>(c.first_chunk().expect(few), t),
            (Shape::Linear, _) => simple::<C, S, 4>(c.first_chunk().expect(few), t),
            (Shape::Quadratic, 2) => simple::<C, S, 6>(c.first_chunk().expect(few), t),
            (Shape::Quadratic, _) => simple::<C, S, 10>(c.first_chunk().expect(few), t),
            (Shape::General, _) => self.general(c, t),
        }
    }

    /// Whether [`simple`] knows these polynomials.
    pub(super) fn is_simple(&self) -> bool {
        self.shape != Shape::General
    }

    fn general<C: Coefficient<S>, S: Number>(&self, c: &[C], t: &[S; 3]) -> (C, [C; 3]) {
        let powers = Powers::<S, 2>::new(t);
        let mut value = C::zero();
        let mut gradient = [C::zero(); 3];
        for (e, &c) in self.exponents.iter().zip(c) {
            let [px, py, pz]: [S; 3] = std::array::from_fn(|a| powers.0[a][0][usize::from(e[a])]);
            let [dx, dy, dz]: [S; 3] = std::array::from_fn(|a| powers.0[a][1][usize::from(e[a])]);
            value = value + c * (px * py * pz);
            gradient[0] = gradient[0] + c * (dx * py * pz);
            gradient[1] = gradient[1] + c * (px * dy * pz);
            gradient[2] = gradient[2] + c * (px * py * dz);
        }
        (value, gradient)
    }

    /// The derivative with `counts` derivatives along each axis, given the powers of a position.
    pub(super) fn derivative<C: Coefficient<S>, S: Number>(
        &self,
        c: &[C],
        powers: &AllPowers<S>,
        counts: [usize; 3],
    ) -> C {
        let mut sum = C::zero();
        for (e, &c) in self.exponents.iter().zip(c) {
            let factor = |a: usize| powers.0[a][counts[a]][usize::from(e[a])];
            sum = sum + c * (factor(0) * factor(1) * factor(2));
        }
        sum
    }
}

/// Value and gradient at `t` of a polynomial of total degree 1 or 2 in two or three variables. The number of coefficients determines
/// the degree and the number of variables.
#[inline(always)]
pub(super) fn simple<C: Coefficient<S>, S: Number, const N: usize>(
    c: &[C; N],
    t: &[S; 3],
) -> (C, [C; 3]) {
    let [x, y, z] = *t;
    let (two, half) = (S::constant(2.0), S::constant(0.5));
    match N {
        3 => (c[0] + (c[1] * x + c[2] * y), [c[1], c[2], C::zero()]),
        4 => {
            let value = c[0] + (c[1] * x + c[2] * y + c[3] * z);
            (value, [c[1], c[2], c[3]])
        }
        // By Euler: the parts of degree 1 and 2 together are half the sum of the gradient and the linear coefficients, times t.
        6 => {
            let gx = c[1] + (c[3] * two * x + c[4] * y);
            let gy = c[2] + (c[4] * x + c[5] * two * y);
            let value = c[0] + ((gx + c[1]) * x + (gy + c[2]) * y) * half;
            (value, [gx, gy, C::zero()])
        }
        10 => {
            let gx = c[1] + (c[4] * two * x + c[5] * y + c[6] * z);
            let gy = c[2] + (c[5] * x + c[7] * two * y + c[8] * z);
            let gz = c[3] + (c[6] * x + c[8] * y + c[9] * two * z);
            let value = c[0] + ((gx + c[1]) * x + (gy + c[2]) * y + (gz + c[3]) * z) * half;
            (value, [gx, gy, gz])
        }
        _ => unreachable!("polynomials of total degree 1 or 2 have 3, 4, 6 or 10 coefficients"),
    }
}

/// The powers of a position and their derivatives below an order, by axis, order of the derivative, and power.
pub(super) struct Powers<S, const ORDERS: usize>([[[S; MAX_DEGREE + 1]; ORDERS]; 3]);

/// Those of all orders.
pub(super) type AllPowers<S = f64> = Powers<S, { crate::derivatives::MAX_ORDER + 1 }>;

impl<S: Number, const ORDERS: usize> Powers<S, ORDERS> {
    #[inline(always)]
    pub(super) fn new(t: &[S; 3]) -> Powers<S, ORDERS> {
        let mut table = [[[S::constant(0.0); MAX_DEGREE + 1]; ORDERS]; 3];
        for (axis, table) in table.iter_mut().enumerate() {
            table[0][0] = S::constant(1.0);
            for e in 1..MAX_DEGREE + 1 {
                table[0][e] = table[0][e - 1] * t[axis];
            }
            for k in 1..ORDERS.min(MAX_DEGREE + 1) {
                for e in k..MAX_DEGREE + 1 {
                    table[k][e] = S::constant(e as f64) * table[k - 1][e - 1];
                }
            }
        }
        Powers(table)
    }
}
