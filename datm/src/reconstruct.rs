//! Reconstruction from samples: the exact jet of an image under a kernel, and the noise a program's reconstruction has.
//!
//! Kernels are rational piecewise polynomials, so for any samples and any rational position the sums
//! Σ v·h⁽ᵐ⁾(f − i) are exact; the jet in index space is then carried to the world by a linear substitution.

use crate::data::{Cell, FieldData, rational};
use crate::jet::{Exponents, Jet, Space};
use crate::kernel::Kernel;
use crate::number::{Arithmetic, Number};

/// The Taylor coefficients of all components at a point of the grid, to the order of the space.
pub(crate) fn taylor(
    field: &FieldData,
    space: &Space,
    cell: &Cell,
    arithmetic: Arithmetic,
) -> Vec<Vec<Number>> {
    let order = space.order();
    let weights: Vec<Vec<Vec<Number>>> = cell
        .index
        .iter()
        .zip(&cell.floor)
        .enumerate()
        .map(|(axis, (x, &floor))| {
            let fraction = x.minus(&Number::integer(floor));
            axis_weights(field.kernels.on(axis), &fraction, order, arithmetic)
        })
        .collect();
    // The index coordinates as jets of world coordinates: linear, with the rows of W as slopes.
    let linear: Vec<Jet> = cell
        .index
        .iter()
        .zip(field.grid.inverse())
        .map(|(x, row)| {
            let mut coefficients = vec![Number::zero(); space.monomials().len()];
            coefficients[0] = x.clone();
            for (slot, w) in coefficients.iter_mut().skip(1).zip(row) {
                *slot = Number::leaf(w.clone(), arithmetic);
            }
            Jet::from_coefficients(coefficients)
        })
        .collect();
    let components = 0..field.image.shape.components();
    components
        .map(|component| {
            let monomials = space.monomials().iter();
            let coefficients = monomials
                .map(|m| convolve(field, cell, &weights, m, component, arithmetic))
                .collect();
            let world = space.compose(space, &Jet::from_coefficients(coefficients), &linear);
            world
                .coefficients()
                .iter()
                .cloned()
                .map(Number::silenced)
                .collect()
        })
        .collect()
}

/// For each derivative order and each tap of one axis, the weight h⁽ᵐ⁾(f − j)/m!.
fn axis_weights(
    kernel: &Kernel,
    fraction: &Number,
    order: usize,
    arithmetic: Arithmetic,
) -> Vec<Vec<Number>> {
    let mut factorial = 1;
    (0..=order)
        .map(|m| {
            factorial *= (m as i64).max(1);
            let taps = kernel.weights(m).exact.iter();
            taps.map(|weight| {
                let horner = weight
                    .iter()
                    .rev()
                    .fold(Number::zero(), |sum, coefficient| {
                        sum.times(fraction)
                            .plus(&Number::leaf(coefficient.clone(), arithmetic))
                    });
                horner.scaled(1, factorial)
            })
            .collect()
        })
        .collect()
}

/// The separable sum over all taps, one axis after the other, slowest axis outermost.
fn convolve(
    field: &FieldData,
    cell: &Cell,
    weights: &[Vec<Vec<Number>>],
    monomial: &Exponents,
    component: usize,
    arithmetic: Arithmetic,
) -> Number {
    fn along(
        field: &FieldData,
        cell: &Cell,
        weights: &[Vec<Vec<Number>>],
        monomial: &Exponents,
        sample: &mut Vec<i64>,
        leaf: &dyn Fn(&[i64]) -> Number,
    ) -> Number {
        let Some(axis) = weights.len().checked_sub(sample.len() + 1) else {
            let index: Vec<i64> = sample.iter().rev().copied().collect();
            return leaf(&index);
        };
        let mut sum = Number::zero();
        let axis_weights = &weights[axis][usize::from(monomial[axis])];
        for (tap, weight) in field.kernels.on(axis).taps().zip(axis_weights) {
            sample.push(cell.floor[axis] + tap);
            sum = sum.plus(&weight.times(&along(field, cell, weights, monomial, sample, leaf)));
            sample.pop();
        }
        sum
    }
    let leaf = |index: &[i64]| Number::leaf(rational(field.sample(index, component)), arithmetic);
    along(field, cell, weights, monomial, &mut Vec::new(), &leaf)
}

/// The noise of reconstructed derivatives, to be added to true ones.
pub(crate) struct Noise {
    /// Per monomial in graded order: rounding of the convolution per unit of the largest sample.
    gains: Vec<f64>,
    /// Per world axis: the error of the position.
    shift: Vec<f64>,
    /// Per component: the largest sample that is read.
    largest: Vec<f64>,
}

/// Roundings along one path through a probe: half of the taps of each axis (errors of sums alternate), the Horner scheme,
/// the samples, and the transformation of derivatives.
fn roundings(field: &FieldData, order: usize) -> f64 {
    (field.kernels.supports().sum::<usize>() + 6 + 2 * order) as f64
}

impl Noise {
    pub(crate) fn new(field: &FieldData, cell: &Cell, order: usize) -> Noise {
        let dim = field.grid.dim();
        let inverse = field.grid.inverse_magnitudes();
        let amplification: Vec<Vec<f64>> = (0..dim)
            .map(|axis| {
                let orders = (0..=order).map(|m| field.kernels.on(axis).weights(m));
                orders.map(|weights| weights.amplification).collect()
            })
            .collect();
        let space = Space::shared(dim, order);
        let gains = space
            .monomials()
            .iter()
            .map(|alpha| {
                let m = alpha.iter().map(|&e| usize::from(e)).sum();
                let factorial: f64 = alpha
                    .iter()
                    .map(|&e| (1..=u32::from(e)).map(f64::from).product::<f64>())
                    .product();
                roundings(field, m) * world_gain(alpha, inverse, &amplification) / factorial
            })
            .collect();
        let directions = field.grid.directions();
        let shift = (0..dim)
            .map(|i| {
                directions
                    .iter()
                    .zip(&cell.index)
                    .map(|(d, x)| d[i].abs() * x.noise())
                    .sum()
            })
            .collect();
        let components = field.image.shape.components();
        let largest = (0..components)
            .map(|component| field.largest_sample(&cell.floor, component))
            .collect();
        Noise {
            gains,
            shift,
            largest,
        }
    }

    /// Adds the noise to the true Taylor coefficients, which are known one order further than wanted.
    pub(crate) fn add_to(
        &self,
        taylor: Vec<Number>,
        space: &Space,
        length: usize,
        component: usize,
    ) -> Jet {
        let monomials = space.monomials();
        let moved = |alpha: &Exponents| -> f64 {
            let slopes = self.shift.iter().enumerate().map(|(i, shift)| {
                let mut next = *alpha;
                next[i] += 1;
                let slope = monomials
                    .iter()
                    .position(|m| *m == next)
                    .map_or(0.0, |k| taylor[k].to_f64().abs());
                slope * f64::from(next[i]) * shift
            });
            slopes.sum()
        };
        let coefficients = taylor
            .iter()
            .zip(monomials)
            .zip(&self.gains)
            .take(length)
            .map(|((value, alpha), gain)| {
                value
                    .clone()
                    .with_noise(gain * self.largest[component] + moved(alpha))
            });
        Jet::from_coefficients(coefficients.collect())
    }
}

/// Σ over index derivatives c of |W|-coefficients times Π amplification(cₐ): how much ∂ᵅ can amplify the samples.
fn world_gain(alpha: &Exponents, inverse: &[Vec<f64>], amplification: &[Vec<f64>]) -> f64 {
    let mut terms: Vec<(Exponents, f64)> = vec![([0; 3], 1.0)];
    for (i, &count) in alpha.iter().enumerate() {
        for _ in 0..count {
            let mut next: Vec<(Exponents, f64)> = Vec::new();
            for (exponents, weight) in &terms {
                for (axis, row) in inverse.iter().enumerate() {
                    let mut raised = *exponents;
                    raised[axis] += 1;
                    let term = weight * row[i];
                    match next.iter_mut().find(|(known, _)| *known == raised) {
                        Some((_, sum)) => *sum += term,
                        None => next.push((raised, term)),
                    }
                }
            }
            terms = next;
        }
    }
    let gain = |exponents: &Exponents| -> f64 {
        exponents
            .iter()
            .zip(amplification)
            .map(|(&m, axis)| axis[usize::from(m)])
            .product()
    };
    terms
        .iter()
        .map(|(exponents, weight)| weight * gain(exponents))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Datum, Point, Source, draw};
    use crate::experiment::prepare;
    use crate::kernel::KERNELS;
    use crate::label::Case;
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use num_traits::{ToPrimitive, Zero};

    #[test]
    fn reconstruction_from_samples_is_the_polynomial_with_all_derivatives() {
        for grid in ["axis", "rot", "shear"] {
            for (tree, kernel, degree) in [
                ("neg(F1#4[2])", "c4hexic", 3),
                ("neg(F2#4[])", "c4hexic", 3),
                ("neg(F3#4[])", "c4hexic", 2),
                ("neg(F2#1[2])", "ctmr", 2),
                ("neg(F3#0[])", "tent", 1),
            ] {
                let label = format!("{tree}|krn={kernel}|deg={degree}|grid={grid}|pos=1");
                let case: Case = label.parse().expect("a label");
                let experiment = prepare(&case, Arithmetic::Exact).expect("not vacuous");
                let Datum::Field(field) = &experiment.data[0] else {
                    panic!("a field")
                };
                let order = usize::from(field.kernels.least(|k| k.true_continuity)).min(3);
                let space = Space::new(field.grid.dim(), order);
                let point = Point::Drawn(experiment.positions[0].clone());
                let polynomial = field
                    .jets(&space, &point, order, Arithmetic::Exact)
                    .expect("inside");
                let cell = field
                    .locate(&point, order, Arithmetic::Exact)
                    .expect("inside");
                let reconstructed = taylor(field, &space, &cell, Arithmetic::Exact);
                for (a, b) in polynomial.iter().zip(&reconstructed) {
                    for (x, y) in a.coefficients().iter().zip(b) {
                        assert_eq!(x.to_rational(), y.to_rational(), "{label}");
                    }
                }
            }
        }
    }

    #[test]
    fn samples_of_drawn_polynomials_are_exact() {
        let case: Case = "add(F3#4[3,3],F3#4[3,3])|deg=2|seed=9"
            .parse()
            .expect("a label");
        for datum in draw(&case, 0) {
            let Datum::Field(field) = datum else {
                panic!("a field")
            };
            let Source::Polynomials(polynomials) = &field.source else {
                panic!("polynomials")
            };
            // The same samples by rational arithmetic from the Taylor coefficients at the origin of the world.
            let space = Space::new(3, 6);
            let origin = crate::grid::Position {
                numerators: vec![0; 3],
            };
            let taylor = polynomials[4].taylor_at(&origin, space.monomials(), Arithmetic::Exact);
            for index in [[0, 0, 0], [9, 10, 11], [3, 7, 2], [5, 0, 8]] {
                let unit = BigInt::from(1u64 << crate::grid::GRID_BITS);
                let place: Vec<BigRational> = field
                    .grid
                    .sample_place(&index)
                    .iter()
                    .map(|&n| BigRational::new(n.into(), unit.clone()))
                    .collect();
                let mut sum = BigRational::zero();
                for (coefficient, monomial) in taylor.iter().zip(space.monomials()) {
                    let mut term = coefficient.to_rational().expect("exact");
                    for (x, &power) in place.iter().zip(monomial) {
                        term *= x.pow(i32::from(power));
                    }
                    sum += term;
                }
                let stored = field.sample(&index.map(|n| n as i64), 4);
                assert_eq!(rational(stored), sum);
            }
        }
    }

    #[test]
    fn kernels_reproduce_a_published_test_vector() {
        // An 8×9 image on a skew grid, probed at index (123/37, 104/37): value, and derivatives in index space.
        let wanted = [
            ("tent", 3.761869978086),
            ("ctmr", 3.156485218608),
            ("bspln3", 5.012043647822),
            ("bspln5", 5.444570655544),
            ("c4hexic", 4.289455964954),
        ];
        for (name, value) in wanted {
            let kernel = KERNELS
                .iter()
                .find(|kernel| kernel.name == name)
                .expect("a row");
            let ratio = |n: i64| BigRational::new(BigInt::from(n), BigInt::from(37));
            let (fx, fy) = (ratio(123 - 3 * 37), ratio(104 - 2 * 37));
            let at = |c: &[BigRational], x: &BigRational| {
                c.iter().rev().fold(BigRational::zero(), |s, c| s * x + c)
            };
            let mut sum = BigRational::zero();
            for (i, wx) in kernel.taps().zip(&kernel.weights(0).exact) {
                for (j, wy) in kernel.taps().zip(&kernel.weights(0).exact) {
                    let (i, j) = (3 + i, 2 + j);
                    let sample = (7 * i + 13 * j + 3 * i * j) % 17;
                    sum += at(wx, &fx) * at(wy, &fy) * BigInt::from(sample);
                }
            }
            assert!(
                (sum.to_f64().expect("finite") - value).abs() < 1e-11,
                "{name}"
            );
        }
    }
}
