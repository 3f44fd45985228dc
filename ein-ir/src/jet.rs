//! Jets: multivariate Taylor series, truncated at a total order.
//!
//! A jet holds a function's value and derivatives at one point. Arithmetic on jets is exact up to rounding, so it gives
//! derivatives of any composed function without a differentiation rule: this is the ground truth of everything that
//! differentiates symbolically. A number is a jet in no variables.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The most variables a jet may have: fields live in at most three dimensions.
pub const MAX_DIM: usize = 3;

type Exponents = [usize; MAX_DIM];

/// A truncated Taylor series around a point, in the differences from that point.
#[derive(Clone, Debug, PartialEq)]
pub struct Jet {
    dim: usize,
    order: usize,
    /// By total degree, then by decreasing exponent of the first variable, and so on; truncation keeps a prefix.
    coefficients: Vec<f64>,
}

impl Jet {
    /// A constant function.
    pub fn constant(dim: usize, order: usize, value: f64) -> Jet {
        assert!(dim <= MAX_DIM, "a jet in {dim} variables");
        let mut coefficients = vec![0.0; count(dim, order)];
        coefficients[0] = value;
        Jet {
            dim,
            order,
            coefficients,
        }
    }

    /// The coordinate function x ↦ x\[axis\] around the point whose coordinate is `at`.
    pub fn variable(dim: usize, order: usize, axis: usize, at: f64) -> Jet {
        assert!(axis < dim, "variable {axis} of {dim}");
        let mut jet = Jet::constant(dim, order, at);
        if order > 0 {
            jet.coefficients[1 + axis] = 1.0;
        }
        jet
    }

    /// The jet in one variable with these coefficients of 1, t, t², …
    pub fn series(coefficients: Vec<f64>) -> Jet {
        assert!(!coefficients.is_empty(), "a series without terms");
        Jet {
            dim: 1,
            order: coefficients.len() - 1,
            coefficients,
        }
    }

    /// The jet whose coefficient of each monomial is given by its exponents.
    pub fn from_fn(dim: usize, order: usize, mut coefficient: impl FnMut(&[usize]) -> f64) -> Jet {
        assert!(dim <= MAX_DIM, "a jet in {dim} variables");
        let coefficients = monomials(dim, order)
            .iter()
            .map(|e| coefficient(&e[..dim]))
            .collect();
        Jet {
            dim,
            order,
            coefficients,
        }
    }

    /// The number of variables.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The highest total degree that is known.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The function's value at the point.
    pub fn value(&self) -> f64 {
        self.coefficients[0]
    }

    /// All Taylor coefficients, by total degree.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The exponents and the coefficient of every monomial.
    pub fn terms(&self) -> impl Iterator<Item = (Vec<usize>, f64)> {
        let exponents = monomials(self.dim, self.order)
            .into_iter()
            .map(|e| e[..self.dim].to_vec());
        exponents.zip(self.coefficients.iter().copied())
    }

    /// The partial derivative at the point with respect to each of `axes` in turn.
    pub fn partial(&self, axes: &[usize]) -> f64 {
        assert!(
            axes.len() <= self.order,
            "derivative {} of a jet of order {}",
            axes.len(),
            self.order
        );
        let mut exponents = Exponents::default();
        for &axis in axes {
            exponents[axis] += 1;
        }
        let factorials: f64 = exponents
            .iter()
            .flat_map(|&e| 1..=e)
            .map(|k| k as f64)
            .product();
        self.coefficients[rank(&exponents, self.dim)] * factorials
    }

    /// The same function known to a lower order.
    pub fn truncate(&self, order: usize) -> Jet {
        assert!(
            order <= self.order,
            "a jet of order {} has no order {order}",
            self.order
        );
        let coefficients = self.coefficients[..count(self.dim, order)].to_vec();
        Jet {
            dim: self.dim,
            order,
            coefficients,
        }
    }

    /// The derivative with respect to a variable, known to one order less.
    pub fn derivative(&self, axis: usize) -> Jet {
        assert!(
            axis < self.dim && self.order > 0,
            "derivative {axis} of a jet of order {}",
            self.order
        );
        Jet::from_fn(self.dim, self.order - 1, |exponents| {
            let mut raised = Exponents::default();
            raised[..self.dim].copy_from_slice(exponents);
            raised[axis] += 1;
            raised[axis] as f64 * self.coefficients[rank(&raised, self.dim)]
        })
    }

    /// For a jet in one variable: the function with this derivative and this value, known to one order more.
    pub fn integral(&self, value: f64) -> Jet {
        assert_eq!(self.dim, 1, "integral of a jet in {} variables", self.dim);
        let integrated = self
            .coefficients
            .iter()
            .enumerate()
            .map(|(k, c)| c / (k + 1) as f64);
        Jet::series(std::iter::once(value).chain(integrated).collect())
    }

    /// Every coefficient times a number.
    pub fn scale(&self, factor: f64) -> Jet {
        let coefficients = self.coefficients.iter().map(|c| c * factor).collect();
        Jet {
            coefficients,
            ..*self
        }
    }

    /// An integer power by repeated multiplication; the zeroth power is 1 everywhere.
    pub fn powi(&self, exponent: i32) -> Jet {
        let one = Jet::constant(self.dim, self.order, 1.0);
        let (mut power, mut square, mut left) =
            (one.clone(), self.clone(), exponent.unsigned_abs());
        while left > 0 {
            if left % 2 == 1 {
                power = &power * &square;
            }
            left /= 2;
            if left > 0 {
                square = &square * &square;
            }
        }
        if exponent < 0 { &one / &power } else { power }
    }

    /// The composition x ↦ self(inner(x)); `self` must be the expansion around the values of `inner`.
    ///
    /// Derivatives of `self` along arguments that are constant do not count, not even if they are not finite.
    pub fn compose(&self, inner: &[Jet]) -> Jet {
        assert_eq!(
            self.dim,
            inner.len(),
            "arguments of a jet in {} variables",
            self.dim
        );
        let Some(first) = inner.first() else {
            return self.clone();
        };
        let order = inner
            .iter()
            .map(|jet| jet.order)
            .min()
            .unwrap_or(0)
            .min(self.order);
        let one = Jet::constant(first.dim, order, 1.0);
        // powers[variable][exponent] of the differences from the point of expansion
        let powers: Vec<Vec<Jet>> = inner
            .iter()
            .map(|jet| {
                let mut difference = jet.truncate(order);
                difference.coefficients[0] = 0.0;
                let highest = if difference.coefficients.iter().all(|&c| c == 0.0) {
                    0
                } else {
                    order
                };
                let mut powers = vec![one.clone()];
                for k in 0..highest {
                    powers.push(&powers[k] * &difference);
                }
                powers
            })
            .collect();
        let mut result = Jet::constant(first.dim, order, 0.0);
        for (exponents, &c) in monomials(self.dim, order).iter().zip(&self.coefficients) {
            let factors: Option<Vec<&Jet>> = powers
                .iter()
                .zip(exponents)
                .map(|(powers, &e)| powers.get(e))
                .collect();
            if let Some(factors) = factors {
                let product = factors
                    .into_iter()
                    .fold(one.scale(c), |product, factor| &product * factor);
                result = &result + &product;
            }
        }
        result
    }
}

/// The number of monomials of total degree at most `order`.
fn count(dim: usize, order: usize) -> usize {
    binomial(order + dim, dim)
}

fn binomial(n: usize, k: usize) -> usize {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// The position of a monomial among the coefficients.
fn rank(exponents: &Exponents, dim: usize) -> usize {
    // Counts, for each variable k in turn, the monomials in variables k… of a degree below that of the rest.
    (0..dim)
        .map(|k| match exponents[k..dim].iter().sum::<usize>() {
            0 => 0,
            degree => binomial(degree + dim - k - 1, dim - k),
        })
        .sum()
}

/// All exponents of total degree at most `order`, in the order of the coefficients.
fn monomials(dim: usize, order: usize) -> Vec<Exponents> {
    fn extend(
        exponents: &mut Exponents,
        axis: usize,
        dim: usize,
        degree: usize,
        all: &mut Vec<Exponents>,
    ) {
        if axis + 1 >= dim {
            if dim > 0 {
                exponents[axis] = degree;
            }
            all.push(*exponents);
            return;
        }
        for e in (0..=degree).rev() {
            exponents[axis] = e;
            extend(exponents, axis + 1, dim, degree - e, all);
        }
    }
    let mut all = Vec::with_capacity(count(dim, order));
    for degree in 0..=if dim == 0 { 0 } else { order } {
        extend(&mut Exponents::default(), 0, dim, degree, &mut all);
    }
    all
}

fn sum_of_exponents(a: &Exponents, b: &Exponents) -> Exponents {
    std::array::from_fn(|k| a[k] + b[k])
}

/// The dimension and order that the combination of two jets has.
fn common(a: &Jet, b: &Jet) -> (usize, usize) {
    assert_eq!(a.dim, b.dim, "jets in different numbers of variables");
    (a.dim, a.order.min(b.order))
}

fn zip_with(a: &Jet, b: &Jet, combine: impl Fn(f64, f64) -> f64) -> Jet {
    let (dim, order) = common(a, b);
    let coefficients = a
        .coefficients
        .iter()
        .zip(&b.coefficients)
        .map(|(&x, &y)| combine(x, y));
    Jet {
        dim,
        order,
        coefficients: coefficients.collect(),
    }
}

impl Add for &Jet {
    type Output = Jet;

    fn add(self, other: &Jet) -> Jet {
        zip_with(self, other, |x, y| x + y)
    }
}

impl Sub for &Jet {
    type Output = Jet;

    fn sub(self, other: &Jet) -> Jet {
        zip_with(self, other, |x, y| x - y)
    }
}

impl Mul for &Jet {
    type Output = Jet;

    fn mul(self, other: &Jet) -> Jet {
        let (dim, order) = common(self, other);
        let monomials = monomials(dim, order);
        let mut coefficients = vec![0.0; monomials.len()];
        for (a, x) in monomials.iter().zip(&self.coefficients) {
            let left = order - a.iter().sum::<usize>();
            for (b, y) in monomials[..count(dim, left)]
                .iter()
                .zip(&other.coefficients)
            {
                coefficients[rank(&sum_of_exponents(a, b), dim)] += x * y;
            }
        }
        Jet {
            dim,
            order,
            coefficients,
        }
    }
}

impl Div for &Jet {
    type Output = Jet;

    /// Solves quotient · divisor = dividend, one degree after the other.
    fn div(self, divisor: &Jet) -> Jet {
        let (dim, order) = common(self, divisor);
        let monomials = monomials(dim, order);
        let mut rest = self.truncate(order).coefficients;
        let mut quotient = Vec::with_capacity(rest.len());
        for (k, a) in monomials.iter().enumerate() {
            let q = rest[k] / divisor.coefficients[0];
            quotient.push(q);
            let left = order - a.iter().sum::<usize>();
            for (b, y) in monomials[..count(dim, left)]
                .iter()
                .zip(&divisor.coefficients)
                .skip(1)
            {
                rest[rank(&sum_of_exponents(a, b), dim)] -= q * y;
            }
        }
        Jet {
            dim,
            order,
            coefficients: quotient,
        }
    }
}

impl Neg for &Jet {
    type Output = Jet;

    fn neg(self) -> Jet {
        self.scale(-1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_found_where_the_monomials_are_listed() {
        for dim in 0..=MAX_DIM {
            let all = monomials(dim, 5);
            assert_eq!(all.len(), count(dim, 5));
            for (k, exponents) in all.iter().enumerate() {
                assert_eq!(rank(exponents, dim), k, "{exponents:?} in {dim} variables");
            }
        }
    }

    #[test]
    fn products_have_the_derivatives_of_polynomials() {
        let (x, y) = (Jet::variable(2, 3, 0, 2.0), Jet::variable(2, 3, 1, -1.0));
        let p = &(&x * &x) * &y; // x²y at (2, −1)
        assert_eq!(p.value(), -4.0);
        assert_eq!([p.partial(&[0]), p.partial(&[1])], [-4.0, 4.0]);
        assert_eq!(
            [p.partial(&[0, 0]), p.partial(&[0, 1]), p.partial(&[1, 1])],
            [-2.0, 4.0, 0.0]
        );
        assert_eq!(p.partial(&[1, 0, 0]), 2.0);
        assert_eq!(p.derivative(0).partial(&[0, 1]), 2.0);
    }

    #[test]
    fn quotient_times_divisor_is_the_dividend() {
        let a = Jet::from_fn(3, 4, |e| {
            1.0 + e[0] as f64 - 0.5 * e[1] as f64 + 0.25 * e[2] as f64
        });
        let b = Jet::from_fn(3, 4, |e| 2.0 - e[0] as f64 + 0.125 * (e[1] * e[2]) as f64);
        let back = &(&a / &b) * &b;
        for (x, y) in back.coefficients().iter().zip(a.coefficients()) {
            assert!((x - y).abs() < 1e-9, "{x} {y}");
        }
    }

    #[test]
    fn composition_of_polynomials_is_the_composed_polynomial() {
        // p(u, v) = u² v with u = x + y², v = x y: p = x y (x + y²)² = x³y + 2x²y³ + x y⁵
        let (x, y) = (Jet::variable(2, 6, 0, 0.5), Jet::variable(2, 6, 1, 1.5));
        let (u, v) = (&x + &(&y * &y), &x * &y);
        let p = &Jet::variable(2, 6, 0, u.value()).powi(2) * &Jet::variable(2, 6, 1, v.value());
        let composed = p.compose(&[u, v]);
        let wanted =
            &(&(&x.powi(3) * &y) + &(&x.powi(2) * &y.powi(3)).scale(2.0)) + &(&x * &y.powi(5));
        for (a, b) in composed.coefficients().iter().zip(wanted.coefficients()) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
    }

    #[test]
    fn negative_powers_are_reciprocals_and_the_zeroth_is_one_everywhere() {
        let x = Jet::variable(1, 3, 0, 0.5);
        assert_eq!(x.powi(-2).coefficients(), [4.0, -16.0, 48.0, -128.0]);
        assert_eq!(
            Jet::variable(1, 2, 0, 0.0).powi(0).coefficients(),
            [1.0, 0.0, 0.0]
        );
    }
}
