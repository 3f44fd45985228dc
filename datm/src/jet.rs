//! Jets: truncated Taylor series in up to three variables, with [`Number`] coefficients.
//!
//! The coefficient of a monomial tᵅ is ∂ᵅf/α!. A [`Space`] fixes the number of variables and the
//! highest order; monomials are in graded order, so that truncation keeps a prefix. Nothing here
//! knows a differentiation rule: derivatives of products, quotients and functions come from series arithmetic.

use crate::number::{Function, Number};
use std::sync::OnceLock;

/// Orders of shared spaces; no expression of the campaigns differentiates as often.
const SHARED_ORDERS: usize = 24;

/// Exponents of a monomial in up to three variables.
pub type Exponents = [u8; 3];

/// The monomials of a number of variables up to an order, and how they multiply.
#[derive(Clone, Debug)]
pub struct Space {
    variables: usize,
    order: usize,
    monomials: Vec<Exponents>,
    /// For each monomial, the pairs of monomials whose product it is.
    factors: Vec<Vec<(u16, u16)>>,
}

/// A truncated Taylor series; its order is implied by the number of coefficients.
#[derive(Clone, Debug)]
pub struct Jet {
    coefficients: Vec<Number>,
}

fn degree(monomial: &Exponents) -> usize {
    monomial.iter().map(|&e| usize::from(e)).sum()
}

/// All monomials in the variables, by degree and then in reverse lexicographic order.
fn graded(variables: usize, order: usize) -> Vec<Exponents> {
    let mut monomials = Vec::new();
    let top = order as u8;
    for a in 0..=(if variables > 0 { top } else { 0 }) {
        for b in 0..=(if variables > 1 { top } else { 0 }) {
            for c in 0..=(if variables > 2 { top } else { 0 }) {
                monomials.push([a, b, c]);
            }
        }
    }
    monomials.retain(|m| degree(m) <= order);
    monomials.sort_by_key(|m| (degree(m), std::cmp::Reverse(*m)));
    monomials
}

impl Space {
    /// The space of series in this many variables (0 to 3) up to this order.
    pub fn new(variables: usize, order: usize) -> Space {
        let monomials = graded(variables, order);
        let mut factors = vec![Vec::new(); monomials.len()];
        for (k, product) in monomials.iter().enumerate() {
            for (i, left) in monomials.iter().enumerate().take(k + 1) {
                if (0..3).all(|v| left[v] <= product[v]) {
                    let right = [0, 1, 2].map(|v| product[v] - left[v]);
                    if let Some(j) = monomials.iter().position(|m| *m == right) {
                        factors[k].push((i as u16, j as u16));
                    }
                }
            }
        }
        Space {
            variables,
            order,
            monomials,
            factors,
        }
    }

    /// The same, made once and shared by all callers.
    pub fn shared(variables: usize, order: usize) -> &'static Space {
        static SPACES: [[OnceLock<Space>; SHARED_ORDERS]; 4] =
            [const { [const { OnceLock::new() }; SHARED_ORDERS] }; 4];
        match SPACES.get(variables).and_then(|row| row.get(order)) {
            Some(cell) => cell.get_or_init(|| Space::new(variables, order)),
            None => Box::leak(Box::new(Space::new(variables, order))),
        }
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The highest order.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The monomials in graded order.
    pub fn monomials(&self) -> &[Exponents] {
        &self.monomials
    }

    /// The number of monomials up to an order.
    pub fn count(&self, order: usize) -> usize {
        self.monomials
            .iter()
            .take_while(|m| degree(m) <= order)
            .count()
    }

    fn index(&self, monomial: Exponents) -> Option<usize> {
        self.monomials.iter().position(|m| *m == monomial)
    }

    /// The constant series of the highest order.
    pub fn constant(&self, value: Number) -> Jet {
        let mut coefficients = vec![Number::zero(); self.monomials.len()];
        coefficients[0] = value;
        Jet { coefficients }
    }

    /// A variable of a one-variable space, expanded about a point.
    fn variable_at(&self, at: &Number) -> Jet {
        let mut jet = self.constant(at.clone());
        if jet.coefficients.len() > 1 {
            jet.coefficients[1] = Number::integer(1);
        }
        jet
    }

    /// The product, truncated to the smaller order.
    pub fn times(&self, a: &Jet, b: &Jet) -> Jet {
        let length = a.coefficients.len().min(b.coefficients.len());
        let coefficients = (0..length).map(|k| {
            let mut sum: Option<Number> = None;
            for &(i, j) in &self.factors[k] {
                let (x, y) = (
                    &a.coefficients[usize::from(i)],
                    &b.coefficients[usize::from(j)],
                );
                if x.is_silent_zero() || y.is_silent_zero() {
                    continue;
                }
                let term = x.times(y);
                sum = Some(match sum {
                    Some(sum) => sum.plus(&term),
                    None => term,
                });
            }
            sum.unwrap_or_else(Number::zero)
        });
        Jet {
            coefficients: coefficients.collect(),
        }
    }

    /// The partial derivative in a variable: one order lower.
    pub fn derivative(&self, a: &Jet, variable: usize) -> Jet {
        let order = a.order(self);
        let length = self.count(order.saturating_sub(1));
        let coefficients = (0..length).map(|k| {
            let mut higher = self.monomials[k];
            higher[variable] += 1;
            let factor = i64::from(higher[variable]);
            match self.index(higher) {
                Some(i) if i < a.coefficients.len() => a.coefficients[i].scaled(factor, 1),
                _ => Number::zero(),
            }
        });
        Jet {
            coefficients: coefficients.collect(),
        }
    }

    /// The series Σ cₙ·(a − a₀)ⁿ.
    fn substitute(&self, series: &[Number], a: &Jet) -> Jet {
        let mut shifted = a.clone();
        shifted.coefficients[0] = Number::zero();
        let order = a.order(self);
        let mut result = self
            .constant(Number::zero())
            .truncated(a.coefficients.len());
        let mut power = self
            .constant(Number::integer(1))
            .truncated(a.coefficients.len());
        for (n, coefficient) in series.iter().enumerate().take(order + 1) {
            if n > 0 {
                power = self.times(&power, &shifted);
            }
            let term = self.times(
                &power,
                &self
                    .constant(coefficient.clone())
                    .truncated(a.coefficients.len()),
            );
            result = result.plus(&term);
        }
        result
    }

    /// The composition of a series in other variables with jets that replace them: the series is expanded about the
    /// jets' values.
    pub fn compose(&self, outer_space: &Space, outer: &Jet, inner: &[Jet]) -> Jet {
        let length = inner
            .iter()
            .map(|jet| jet.coefficients.len())
            .min()
            .unwrap_or(1);
        let shifted: Vec<Jet> = inner
            .iter()
            .map(|jet| {
                let mut jet = jet.clone().truncated(length);
                jet.coefficients[0] = Number::zero();
                jet
            })
            .collect();
        let mut result = self.constant(Number::zero()).truncated(length);
        for (coefficient, monomial) in outer.coefficients.iter().zip(&outer_space.monomials) {
            let mut term = self.constant(coefficient.clone()).truncated(length);
            for (variable, jet) in shifted.iter().enumerate() {
                for _ in 0..monomial[variable] {
                    term = self.times(&term, jet);
                }
            }
            result = result.plus(&term);
        }
        result
    }

    /// The reciprocal of a series whose value is not zero.
    pub fn reciprocal(&self, a: &Jet) -> Jet {
        let inverse = a.value().reciprocal();
        let mut series = vec![inverse.clone()];
        for n in 0..a.order(self) {
            series.push(series[n].times(&inverse).negated());
        }
        self.substitute(&series, a)
    }

    /// An elementary function of a series whose value is inside its domain.
    pub fn apply(&self, function: Function, a: &Jet) -> Jet {
        let order = a.order(self);
        let series = expansion(function, a.value(), order);
        self.substitute(&series, a)
    }
}

/// The Taylor coefficients of a function at a point.
fn expansion(function: Function, at: &Number, order: usize) -> Vec<Number> {
    let value = at.apply(function);
    if order == 0 {
        return vec![value];
    }
    match function {
        Function::Exp => {
            let mut series = vec![value];
            for n in 1..=order {
                series.push(series[n - 1].scaled(1, n as i64));
            }
            series
        }
        Function::Sin | Function::Cos => {
            let other = at.apply(if function == Function::Sin {
                Function::Cos
            } else {
                Function::Sin
            });
            // sin → cos → −sin → −cos, and the same cycle entered one step later with signs for cos.
            let cycle = match function {
                Function::Sin => [
                    value.clone(),
                    other.clone(),
                    value.negated(),
                    other.negated(),
                ],
                _ => [value.clone(), other.negated(), value.negated(), other],
            };
            let mut factorial = 1;
            (0..=order)
                .map(|n| {
                    factorial *= (n as i64).max(1);
                    cycle[n % 4].scaled(1, factorial)
                })
                .collect()
        }
        Function::Sqrt => {
            let inverse = at.reciprocal();
            let mut series = vec![value];
            for n in 0..order as i64 {
                series.push(
                    series[n as usize]
                        .times(&inverse)
                        .scaled(1 - 2 * n, 2 * (n + 1)),
                );
            }
            series
        }
        Function::Ln | Function::Asin | Function::Acos | Function::Atan | Function::Erf => {
            let line = Space::shared(1, order - 1);
            let x = line.variable_at(at);
            let one = line.constant(Number::integer(1));
            let slope = match function {
                Function::Ln => line.reciprocal(&x),
                Function::Atan => line.reciprocal(&one.plus(&line.times(&x, &x))),
                Function::Erf => {
                    let bell = line.apply(Function::Exp, &line.times(&x, &x).negated());
                    let factor = Number::integer(1)
                        .apply(Function::Atan)
                        .apply(Function::Sqrt)
                        .reciprocal();
                    line.times(&bell, &line.constant(factor))
                }
                _ => {
                    let root = line.apply(Function::Sqrt, &one.minus(&line.times(&x, &x)));
                    let slope = line.reciprocal(&root);
                    if function == Function::Acos {
                        slope.negated()
                    } else {
                        slope
                    }
                }
            };
            let integrated = slope.coefficients.iter().enumerate();
            std::iter::once(value)
                .chain(integrated.map(|(n, c)| c.scaled(1, n as i64 + 1)))
                .collect()
        }
    }
}

impl Jet {
    /// The jet with these coefficients, in the graded order of a space.
    pub fn from_coefficients(coefficients: Vec<Number>) -> Jet {
        Jet { coefficients }
    }

    /// The coefficients in graded order.
    pub fn coefficients(&self) -> &[Number] {
        &self.coefficients
    }

    /// The value at the point of expansion.
    pub fn value(&self) -> &Number {
        &self.coefficients[0]
    }

    /// The order to which the series is known.
    pub fn order(&self, space: &Space) -> usize {
        degree(&space.monomials[self.coefficients.len() - 1])
    }

    /// The first coefficients only.
    pub fn truncated(mut self, length: usize) -> Jet {
        self.coefficients.truncate(length);
        self
    }

    fn zip(&self, other: &Jet, combine: impl Fn(&Number, &Number) -> Number) -> Jet {
        let pairs = self.coefficients.iter().zip(&other.coefficients);
        Jet {
            coefficients: pairs.map(|(a, b)| combine(a, b)).collect(),
        }
    }

    /// The sum, to the smaller order.
    pub fn plus(&self, other: &Jet) -> Jet {
        self.zip(other, Number::plus)
    }

    /// The difference, to the smaller order.
    pub fn minus(&self, other: &Jet) -> Jet {
        self.zip(other, Number::minus)
    }

    /// The series times a small integer ratio.
    pub fn scaled(&self, numerator: i64, denominator: i64) -> Jet {
        let scaled = |x: &Number| x.scaled(numerator, denominator);
        Jet {
            coefficients: self.coefficients.iter().map(scaled).collect(),
        }
    }

    /// The same series with another value.
    pub fn with_value(mut self, value: Number) -> Jet {
        self.coefficients[0] = value;
        self
    }

    /// The negative.
    pub fn negated(&self) -> Jet {
        Jet {
            coefficients: self.coefficients.iter().map(Number::negated).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use num_rational::BigRational;

    fn ratio(n: i64, d: i64) -> Number {
        Number::exact(BigRational::new(BigInt::from(n), BigInt::from(d)))
    }

    #[test]
    fn monomials_are_counted_by_binomials() {
        for (variables, order, count) in [(0, 4, 1), (1, 4, 5), (2, 3, 10), (3, 4, 35)] {
            assert_eq!(Space::new(variables, order).monomials().len(), count);
        }
    }

    #[test]
    fn reciprocal_inverts_a_series_exactly() {
        let space = Space::new(3, 3);
        let jet = Jet::from_coefficients((0..20).map(|n| ratio(7 - 3 * n, 1 + n % 4)).collect());
        let unit = space.times(&jet, &space.reciprocal(&jet));
        for (k, coefficient) in unit.coefficients().iter().enumerate() {
            let wanted = BigRational::from(BigInt::from(i64::from(k == 0)));
            assert_eq!(coefficient.to_rational(), Some(wanted));
        }
    }

    #[test]
    fn inverse_functions_undo_each_other_to_all_orders() {
        let space = Space::new(2, 4);
        let jet = Jet::from_coefficients((0..15).map(|n| ratio(2 + n % 5, 7 + n)).collect());
        let pairs = [
            (Function::Exp, Function::Ln),
            (Function::Sin, Function::Asin),
        ];
        for (there, back) in pairs {
            let again = space.apply(back, &space.apply(there, &jet));
            for (a, b) in again.coefficients().iter().zip(jet.coefficients()) {
                assert!(a.minus(b).to_f64().abs() < 1e-18, "{there:?}");
            }
        }
        let root = space.apply(Function::Sqrt, &jet);
        for (a, b) in space
            .times(&root, &root)
            .coefficients()
            .iter()
            .zip(jet.coefficients())
        {
            assert!(a.minus(b).to_f64().abs() < 1e-20);
        }
    }

    #[test]
    fn derivative_of_a_product_obeys_leibniz() {
        let space = Space::new(2, 3);
        let f = Jet::from_coefficients((0..10).map(|n| ratio(n * n - 5, 3)).collect());
        let g = Jet::from_coefficients((0..10).map(|n| ratio(4 - n, 2)).collect());
        for v in 0..2 {
            let whole = space.derivative(&space.times(&f, &g), v);
            let parts = space
                .times(&space.derivative(&f, v), &g)
                .plus(&space.times(&f, &space.derivative(&g, v)));
            assert_eq!(whole.coefficients().len(), 6);
            for (a, b) in whole.coefficients().iter().zip(parts.coefficients()) {
                assert_eq!(a.to_rational(), b.to_rational());
            }
        }
    }

    #[test]
    fn composition_substitutes_series() {
        // f(u, v) = u·v + v² about the values of u = x², v = 1 + x: f = x² + x³ + 1 + 2x + x².
        let (outer, line) = (Space::new(2, 3), Space::new(1, 3));
        let u = Jet::from_coefficients([0, 0, 1, 0].map(Number::integer).to_vec());
        let v = Jet::from_coefficients([1, 1, 0, 0].map(Number::integer).to_vec());
        // About (0, 1): f = 1 + u + 2s + u·s + s² with v = 1 + s; monomials are 1, u, s, u², us, s², …
        let mut f = [1, 1, 2, 0, 1, 1].map(Number::integer).to_vec();
        f.resize(10, Number::zero());
        let composed = line.compose(&outer, &Jet::from_coefficients(f), &[u, v]);
        let found: Vec<f64> = composed.coefficients().iter().map(Number::to_f64).collect();
        assert_eq!(found, [1.0, 2.0, 2.0, 1.0]);
    }
}
