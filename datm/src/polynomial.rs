//! Polynomials with quarter-integer coefficients: exact samples and exact Taylor coefficients.

use crate::data::for_each_index;
use crate::frame::Coefficients;
use crate::grid::{GRID_BITS, Grid, POSITION_BITS, Position};
use crate::jet::Exponents;
use crate::number::{Arithmetic, Number};
use crate::program::literal;
use crate::random::Stream;
use num_traits::{AsPrimitive, PrimInt};

/// Coefficients are multiples of 2^−COEFFICIENT_BITS.
const COEFFICIENT_BITS: u32 = 2;

/// Highest total degree: beyond it samples would not fit a double, nor intermediate integers 128 bits.
pub(crate) const MAX_TOTAL_DEGREE: usize = 6;

/// A polynomial in up to three variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    /// Exponents, and the coefficient in units of 2^−COEFFICIENT_BITS.
    terms: Vec<(Exponents, i64)>,
}

fn degree(exponents: &Exponents) -> usize {
    exponents.iter().map(|&e| usize::from(e)).sum()
}

/// The exponents of a full basis: degree up to `degree` in each variable, or in all together.
pub(crate) fn basis(dim: usize, degree_limit: usize, total: bool) -> Vec<Exponents> {
    let top = |axis: usize| if axis < dim { degree_limit as u8 } else { 0 };
    let mut basis = Vec::new();
    for a in 0..=top(0) {
        for b in 0..=top(1) {
            for c in 0..=top(2) {
                basis.push([a, b, c]);
            }
        }
    }
    let limit = if total {
        degree_limit
    } else {
        MAX_TOTAL_DEGREE
    };
    basis.retain(|exponents| degree(exponents) <= limit);
    basis
}

/// One coefficient in units of a quarter.
pub(crate) fn draw_quarters(range: Coefficients, stream: &mut Stream) -> i64 {
    match range {
        Coefficients::Full => stream.between(-5, 5) * stream.choose(&[4, 4, 2, 1]),
        Coefficients::Unit => stream.between(-1, 1) * 4,
    }
}

fn binomial(n: u8, k: u8) -> i128 {
    (0..i128::from(k)).fold(1, |value, i| value * (i128::from(n) - i) / (i + 1))
}

impl Polynomial {
    /// The polynomial with these terms, coefficients in quarters.
    pub fn from_quarters(terms: Vec<(Exponents, i64)>) -> Polynomial {
        Polynomial { terms }
    }

    /// Draws coefficients for a basis.
    pub fn draw(basis: &[Exponents], range: Coefficients, stream: &mut Stream) -> Polynomial {
        Polynomial {
            terms: basis
                .iter()
                .map(|&exponents| (exponents, draw_quarters(range, stream)))
                .collect(),
        }
    }

    /// The highest total degree with a coefficient that is not zero.
    pub fn total_degree(&self) -> usize {
        self.terms
            .iter()
            .filter(|(_, c)| *c != 0)
            .map(|(exponents, _)| degree(exponents))
            .max()
            .unwrap_or(0)
    }

    /// The formula of a position `p` with this many coordinates.
    pub(crate) fn source(&self, dim: u8) -> String {
        let terms = self.terms.iter().filter(|(_, quarters)| *quarters != 0);
        let terms: Vec<String> = terms
            .map(|(exponents, quarters)| {
                let mut term = literal(*quarters as f64 / f64::from(1 << COEFFICIENT_BITS));
                for (axis, &exponent) in exponents.iter().enumerate().filter(|(_, e)| **e > 0) {
                    term += "*p";
                    if dim > 1 {
                        term += &format!("[{axis}]");
                    }
                    if exponent > 1 {
                        term += &format!("^{exponent}");
                    }
                }
                term
            })
            .collect();
        if terms.is_empty() {
            literal(0.0)
        } else {
            terms.join(" + ")
        }
    }

    /// The Taylor coefficient ∂ᵅ/α! at integer coordinates over 2^bits, times 2^(bits·(top − |α|) + COEFFICIENT_BITS).
    fn coefficient(&self, place: &[i64], bits: u32, alpha: Exponents, top: usize) -> i128 {
        let mut sum = 0;
        for (exponents, coefficient) in &self.terms {
            if *coefficient == 0 || (0..3).any(|v| exponents[v] < alpha[v]) {
                continue;
            }
            let mut term = i128::from(*coefficient);
            for (v, &x) in place.iter().enumerate() {
                term *= binomial(exponents[v], alpha[v]);
                for _ in alpha[v]..exponents[v] {
                    term *= i128::from(x);
                }
            }
            sum += term << (bits as usize * (top - degree(exponents)));
        }
        sum
    }

    /// The value at a place in units of 2^−GRID_BITS: exact if it fits a double, else rounded once.
    pub(crate) fn value_on_grid(&self, place: &[i64]) -> f64 {
        let top = self.total_degree();
        let units = GRID_BITS as usize * top + COEFFICIENT_BITS as usize;
        self.coefficient(place, GRID_BITS, [0; 3], top) as f64 * 2.0_f64.powi(-(units as i32))
    }

    /// The polynomial with the coordinate on an axis less the square of the first.
    pub(crate) fn with_last_minus_square(&self, axis: usize) -> Polynomial {
        let mut terms: Vec<(Exponents, i64)> = Vec::new();
        for (exponents, coefficient) in &self.terms {
            let power = exponents[axis];
            for squares in 0..=power {
                let mut now = *exponents;
                now[axis] -= squares;
                now[0] += 2 * squares;
                let sign = if squares % 2 == 0 { 1 } else { -1 };
                let term = coefficient * sign * binomial(power, squares) as i64;
                match terms.iter_mut().find(|(known, _)| *known == now) {
                    Some((_, sum)) => *sum += term,
                    None => terms.push((now, term)),
                }
            }
        }
        Polynomial { terms }
    }

    /// The exact Taylor coefficients at a position.
    pub fn taylor_at(
        &self,
        position: &Position,
        monomials: &[Exponents],
        arithmetic: Arithmetic,
    ) -> Vec<Number> {
        let top = self.total_degree();
        let coefficient = |alpha: &Exponents| {
            let order = degree(alpha);
            if order > top {
                return Number::zero();
            }
            let sum = self.coefficient(&position.numerators, POSITION_BITS, *alpha, top);
            // Each remaining power of a coordinate divides by 2^bits.
            let shift = POSITION_BITS * (top - order) as u32 + COEFFICIENT_BITS;
            Number::dyadic(sum, shift, arithmetic)
        };
        monomials.iter().map(coefficient).collect()
    }

    /// The Taylor coefficients at a point that is itself the result of a computation.
    pub fn taylor_near(
        &self,
        point: &[Number],
        monomials: &[Exponents],
        arithmetic: Arithmetic,
    ) -> Vec<Number> {
        let coefficient = |alpha: &Exponents| {
            let mut sum = Number::zero();
            for (exponents, coefficient) in &self.terms {
                if *coefficient == 0 || (0..3).any(|v| exponents[v] < alpha[v]) {
                    continue;
                }
                let factor: i128 = (0..3).map(|v| binomial(exponents[v], alpha[v])).product();
                let scaled = i128::from(*coefficient) * factor;
                let mut term = Number::dyadic(scaled, COEFFICIENT_BITS, arithmetic);
                for (v, x) in point.iter().enumerate() {
                    for _ in alpha[v]..exponents[v] {
                        term = term.times(x);
                    }
                }
                sum = sum.plus(&term);
            }
            sum
        };
        monomials.iter().map(coefficient).collect()
    }
}

/// The values of polynomials, one per component, at all samples of a grid: components of a sample together, first axis
/// fastest. Exact if they fit a double, else rounded once.
pub(crate) fn sample(polynomials: &[Polynomial], grid: &Grid) -> Vec<f64> {
    let top = polynomials
        .iter()
        .map(Polynomial::total_degree)
        .max()
        .unwrap_or(0);
    // Coefficients have 5 bits, and there are at most 27 terms.
    let bits = (i64::BITS - grid.reach().leading_zeros()) as usize * top + 10;
    if bits < i64::BITS as usize {
        sample_in::<i64>(polynomials, grid, top)
    } else {
        sample_in::<i128>(polynomials, grid, top)
    }
}

fn sample_in<T: PrimInt + AsPrimitive<f64>>(
    polynomials: &[Polynomial],
    grid: &Grid,
    top: usize,
) -> Vec<f64>
where
    i64: AsPrimitive<T>,
{
    let mut basis: Vec<Exponents> = polynomials
        .iter()
        .flat_map(|p| p.terms.iter().map(|(exponents, _)| *exponents))
        .filter(|exponents| degree(exponents) <= top)
        .collect();
    basis.sort_unstable();
    basis.dedup();
    // Per monomial the coefficients of all components, brought to the units of the highest degree.
    let coefficients: Vec<Vec<T>> = basis
        .iter()
        .map(|wanted| {
            let shift = GRID_BITS as usize * (top - degree(wanted));
            let coefficient = |p: &Polynomial| {
                let found = p.terms.iter().filter(|(exponents, _)| exponents == wanted);
                found.map(|(_, c)| *c).sum::<i64>()
            };
            let scaled = |p| AsPrimitive::<T>::as_(coefficient(p)) << shift;
            polynomials.iter().map(scaled).collect()
        })
        .collect();
    let scale = 2.0_f64.powi(-((GRID_BITS as usize * top) as i32 + COEFFICIENT_BITS as i32));
    let mut values = Vec::new();
    let mut sums = vec![T::zero(); polynomials.len()];
    for_each_index(&grid.sizes, |index| {
        let place = grid.sample_place(index);
        sums.fill(T::zero());
        for (exponents, row) in basis.iter().zip(&coefficients) {
            let mut monomial = T::one();
            for (&x, &exponent) in place.iter().zip(exponents) {
                for _ in 0..exponent {
                    monomial = monomial * x.as_();
                }
            }
            for (sum, &coefficient) in sums.iter_mut().zip(row) {
                *sum = *sum + coefficient * monomial;
            }
        }
        values.extend(sums.iter().map(|sum| AsPrimitive::<f64>::as_(*sum) * scale));
    });
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Orientation;
    use crate::jet::Space;
    use crate::kernel::{AxisKernels, kernel};

    #[test]
    fn bases_are_full() {
        assert_eq!(basis(3, 2, true).len(), 10);
        assert_eq!(basis(3, 2, false).len(), 27);
        assert_eq!(basis(2, 3, false).len(), 16);
        assert!(basis(3, 2, true).contains(&[0, 0, 2]));
    }

    #[test]
    fn formulas_have_the_terms_that_are_not_zero() {
        let terms = vec![([0, 0, 0], 6), ([0, 1, 0], 0), ([2, 1, 0], -1)];
        let polynomial = Polynomial::from_quarters(terms);
        assert_eq!(polynomial.source(2), "1.5 + -0.25*p[0]^2*p[1]");
        assert_eq!(Polynomial::from_quarters(Vec::new()).source(1), "0.0");
    }

    #[test]
    fn samples_are_the_values_of_the_polynomials() {
        let mut stream = Stream::new(&["samples"]);
        for (dim, degree_limit) in [(1, 3), (2, 2), (3, 1), (3, 2)] {
            let grid = Grid::draw(dim, 5, Orientation::Any, &mut stream);
            let basis = basis(dim, degree_limit, false);
            let polynomials =
                [(); 3].map(|()| Polynomial::draw(&basis, Coefficients::Full, &mut stream));
            let mut values = sample(&polynomials, &grid).into_iter();
            for_each_index(&grid.sizes, |index| {
                let place = grid.sample_place(index);
                for polynomial in &polynomials {
                    let top = polynomial.total_degree();
                    let sum = polynomial.coefficient(&place, GRID_BITS, [0; 3], top);
                    let units = (GRID_BITS as usize * top) as i32 + COEFFICIENT_BITS as i32;
                    assert_eq!(values.next(), Some(sum as f64 * 2.0_f64.powi(-units)));
                }
            });
            assert_eq!(values.next(), None);
        }
    }

    #[test]
    fn both_taylor_expansions_agree_exactly() {
        let mut stream = Stream::new(&["taylor"]);
        for dim in 1..=3 {
            let space = Space::new(dim, 3);
            let grid = Grid::draw(dim, 10, Orientation::Any, &mut stream);
            let kernels = AxisKernels::new(&[kernel("c4hexic").expect("a row")], dim);
            for _ in 0..20 {
                let polynomial =
                    Polynomial::draw(&basis(dim, 2, false), Coefficients::Full, &mut stream);
                let position = grid.draw_position(&kernels, false, true, &mut stream);
                let point: Vec<Number> = position
                    .to_rationals()
                    .into_iter()
                    .map(Number::exact)
                    .collect();
                let exact = polynomial.taylor_at(&position, space.monomials(), Arithmetic::Exact);
                let near = polynomial.taylor_near(&point, space.monomials(), Arithmetic::Exact);
                for (a, b) in exact.iter().zip(&near) {
                    assert_eq!(a.to_rational(), b.to_rational());
                }
            }
        }
    }
}
