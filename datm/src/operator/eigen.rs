//! Truth of eigensystems of symmetric matrices; only the upper triangle is read.
//!
//! Eigenvalues are roots of the characteristic polynomial in closed form. The signs of eigenvectors are arbitrary, so
//! v⊗v is compared, which is a polynomial of the matrix: Π (A − λⱼ) / (λᵢ − λⱼ) over the other eigenvalues.

use super::{JetTensor, MARGIN, Undefined, above};
use crate::jet::{Jet, Space};
use crate::number::{Function, Number};
use crate::tensor::Tensor;

/// Roundings of a program that finds an eigenvalue, relative to the norm of the matrix.
const ROUNDINGS: f64 = 16.0;

/// A symmetric matrix with its eigenvalues, descending and apart from each other.
struct System {
    matrix: JetTensor,
    values: Vec<Jet>,
    /// What a program may lose on the way to an eigenvalue, in units of its roundoff.
    noise: f64,
    /// The smallest distance of two eigenvalues.
    gap: f64,
}

impl System {
    fn of(space: &Space, argument: &JetTensor) -> Result<System, Undefined> {
        let upper = |i: &[usize]| argument.at(&[i[0].min(i[1]), i[0].max(i[1])]).clone();
        let given = Tensor::from_fn(argument.extents(), upper);
        let entries: Vec<Number> = given
            .components()
            .iter()
            .map(|x| x.value().clone())
            .collect();
        let norm = Number::root_of_squares(&entries).to_f64();
        // A program finds the eigensystem of a matrix that is a few roundings away; derivatives are those of that one.
        let matrix = given.map(|x| {
            let value = x.value().clone();
            x.clone().with_value(value.with_noise(ROUNDINGS * norm))
        });
        let values = if matrix.extents()[0] == 2 {
            of_two(space, &matrix, norm)?
        } else {
            of_three(space, &matrix)?
        };
        let mut gap = f64::INFINITY;
        for pair in values.windows(2) {
            let distance = pair[0].value().minus(pair[1].value());
            above(&distance, MARGIN * norm, CLOSE)?;
            gap = gap.min(distance.to_f64());
        }
        let lost: f64 = entries.iter().map(Number::noise).sum();
        Ok(System {
            matrix,
            values,
            noise: lost + ROUNDINGS * norm,
            gap,
        })
    }
}

const CLOSE: &str = "eigenvalues close to each other";

/// A value with the noise that is known of it, whatever the formula here would have.
fn settled(jet: Jet, noise: f64) -> Jet {
    let value = jet.value().clone().silenced().with_noise(noise);
    jet.with_value(value)
}

fn total(terms: impl IntoIterator<Item = Jet>, space: &Space) -> Jet {
    super::algebra::sum(terms).unwrap_or_else(|| space.constant(Number::zero()))
}

/// (a+c)/2 ± √(((a−c)/2)² + b²)
fn of_two(space: &Space, m: &JetTensor, norm: f64) -> Result<Vec<Jet>, Undefined> {
    let (a, b, c) = (m.at(&[0, 0]), m.at(&[0, 1]), m.at(&[1, 1]));
    let center = a.plus(c).scaled(1, 2);
    let half = a.minus(c).scaled(1, 2);
    let square = space.times(&half, &half).plus(&space.times(b, b));
    let least = MARGIN * norm / 2.0;
    above(square.value(), least * least, CLOSE)?;
    let radius = space.apply(Function::Sqrt, &square);
    Ok(vec![center.plus(&radius), center.minus(&radius)])
}

/// With A − μ = K, tr K = 0: λ = μ + 2√p cos(φ + 2πk/3), p = |K|²/6, cos 3φ = det K / 2p√p.
fn of_three(space: &Space, m: &JetTensor) -> Result<Vec<Jet>, Undefined> {
    let mean = total((0..3).map(|i| m.at(&[i, i]).clone()), space).scaled(1, 3);
    let rest = Tensor::from_fn(&[3, 3], |i| match i[0] == i[1] {
        true => m.at(i).minus(&mean),
        false => m.at(i).clone(),
    });
    let squares = rest.components().iter().map(|x| space.times(x, x));
    let p = total(squares, space).scaled(1, 6);
    above(p.value(), MARGIN * MARGIN, CLOSE)?;
    let root = space.apply(Function::Sqrt, &p);
    let scale = space.reciprocal(&space.times(&p, &root));
    let cosine = space.times(&determinant(space, &rest), &scale).scaled(1, 2);
    let inside = Number::integer(1).minus(&cosine.value().magnitude());
    above(&inside, MARGIN, CLOSE)?;
    let angle = space.apply(Function::Acos, &cosine).scaled(1, 3);
    let (cos, sin) = (
        space.apply(Function::Cos, &angle),
        space.apply(Function::Sin, &angle),
    );
    let root_of_three = space.constant(Number::integer(3).apply(Function::Sqrt));
    let tilted = space.times(&root_of_three, &sin);
    // cos(φ ± 2π/3) = (−cos φ ∓ √3 sin φ)/2.
    let [middle, last] = [tilted.minus(&cos), tilted.negated().minus(&cos)];
    let around = |twice_cosine: &Jet| mean.plus(&space.times(&root, twice_cosine));
    Ok(vec![
        around(&cos.scaled(2, 1)),
        around(&middle),
        around(&last),
    ])
}

fn determinant(space: &Space, m: &JetTensor) -> Jet {
    let term = |i: usize, j: usize, k: usize| {
        let first = space.times(m.at(&[0, i]), m.at(&[1, j]));
        space.times(&first, m.at(&[2, k]))
    };
    let cyclic = (0..3).map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        term(i, j, k).minus(&term(i, k, j))
    });
    total(cyclic, space)
}

/// The eigenvalue of a place in descending order.
pub(super) fn value(space: &Space, a: &[JetTensor], place: usize) -> Result<JetTensor, Undefined> {
    let mut system = System::of(space, &a[0])?;
    let value = system.values.swap_remove(place);
    Ok(Tensor::scalar(settled(value, system.noise)))
}

/// The projection onto the eigenvector of a place.
pub(super) fn projector(
    space: &Space,
    a: &[JetTensor],
    place: usize,
) -> Result<JetTensor, Undefined> {
    let system = System::of(space, &a[0])?;
    let n = system.values.len();
    let own = &system.values[place];
    let factors = (0..n).filter(|&k| k != place).map(|k| {
        let other = &system.values[k];
        let scale = space.reciprocal(&own.minus(other));
        Tensor::from_fn(&[n, n], |i| {
            let entry = system.matrix.at(i);
            match i[0] == i[1] {
                true => space.times(&entry.minus(other), &scale),
                false => space.times(entry, &scale),
            }
        })
    });
    let product = factors.reduce(|a, b| {
        Tensor::from_fn(&[n, n], |i| {
            let terms = (0..n).map(|k| space.times(a.at(&[i[0], k]), b.at(&[k, i[1]])));
            total(terms, space)
        })
    });
    let product = product.ok_or(Undefined("matrix of one eigenvalue"))?;
    // A perturbation turns an eigenvector by its size over the gap; v⊗v has v twice.
    let noise = 2.0 * system.noise / system.gap + ROUNDINGS;
    Ok(product.map(|x| settled(x.clone(), noise)))
}
