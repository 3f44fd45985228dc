//! Truth of eigensystems of symmetric matrices, of which the upper triangle is read.
//!
//! Eigenvalues are roots of the characteristic polynomial in closed form. The eigenvectors' signs are nobody's business, so
//! what is compared is v⊗v, which is a polynomial of the matrix: Π (A − λⱼ) / (λᵢ − λⱼ) over the other eigenvalues.

use super::{JetTensor, MARGIN, Undefined, above};
use crate::jet::Space;
use crate::number::{Function, Number};
use crate::tensor::Tensor;

/// Roundings of a program that finds an eigenvalue, relative to the norm of the matrix.
const ROUNDINGS: f64 = 16.0;

/// A symmetric matrix with its eigenvalues, descending and apart from each other.
struct System {
    matrix: Tensor<Number>,
    values: Vec<Number>,
    /// What a program may lose on the way to an eigenvalue, in units of its roundoff.
    noise: f64,
    /// The smallest distance of two eigenvalues.
    gap: f64,
}

impl System {
    fn of(argument: &JetTensor) -> Result<System, Undefined> {
        let upper = |i: &[usize]| argument.at(&[i[0].min(i[1]), i[0].max(i[1])]).value();
        let given = Tensor::from_fn(argument.extents(), |i| upper(i).clone());
        let matrix = given.map(|x| x.clone().silenced());
        let values = if matrix.extents()[0] == 2 {
            of_two(&matrix)
        } else {
            of_three(&matrix)?
        };
        let norm = Number::root_of_squares(matrix.components()).to_f64();
        let gaps = values.windows(2).map(|pair| pair[0].minus(&pair[1]));
        let mut gap = f64::INFINITY;
        for distance in gaps {
            above(&distance, MARGIN * norm, "eigenvalues close to each other")?;
            gap = gap.min(distance.to_f64());
        }
        let lost: f64 = given.components().iter().map(Number::noise).sum();
        Ok(System {
            matrix,
            values,
            noise: lost + ROUNDINGS * norm,
            gap,
        })
    }
}

/// (a+c)/2 ± √(((a−c)/2)² + b²)
fn of_two(m: &Tensor<Number>) -> Vec<Number> {
    let (a, b, c) = (m.at(&[0, 0]), m.at(&[0, 1]), m.at(&[1, 1]));
    let center = a.plus(c).scaled(1, 2);
    let radius = Number::root_of_squares(&[a.minus(c).scaled(1, 2), b.clone()]);
    vec![center.plus(&radius), center.minus(&radius)]
}

/// With A − μ = K, tr K = 0: λ = μ + 2√p cos(φ + 2πk/3), p = |K|²/6, cos 3φ = det K / 2p√p.
fn of_three(m: &Tensor<Number>) -> Result<Vec<Number>, Undefined> {
    let trace = (1..3).fold(m.at(&[0, 0]).clone(), |sum, i| sum.plus(m.at(&[i, i])));
    let mean = trace.scaled(1, 3);
    let rest = Tensor::from_fn(&[3, 3], |i| match i[0] == i[1] {
        true => m.at(i).minus(&mean),
        false => m.at(i).clone(),
    });
    let squares = rest.components().iter().map(|x| x.times(x));
    let p = squares
        .fold(Number::zero(), |sum, x| sum.plus(&x))
        .scaled(1, 6);
    above(&p, MARGIN * MARGIN, "eigenvalues close to each other")?;
    let root = p.apply(Function::Sqrt);
    let cosine = determinant(&rest).over(&p.times(&root)).scaled(1, 2);
    above(
        &Number::integer(1).minus(&cosine.magnitude()),
        MARGIN,
        "eigenvalues close to each other",
    )?;
    let angle = cosine.apply(Function::Acos).scaled(1, 3);
    let (cos, sin) = (angle.apply(Function::Cos), angle.apply(Function::Sin));
    let tilted = Number::integer(3).apply(Function::Sqrt).times(&sin);
    // cos(φ ± 2π/3) = (−cos φ ∓ √3 sin φ)/2.
    let [middle, last] = [tilted.minus(&cos), tilted.negated().minus(&cos)];
    let around = |twice_cosine: &Number| mean.plus(&root.times(twice_cosine));
    Ok(vec![
        around(&cos.scaled(2, 1)),
        around(&middle),
        around(&last),
    ])
}

fn determinant(m: &Tensor<Number>) -> Number {
    let term =
        |i: usize, j: usize, k: usize| m.at(&[0, i]).times(m.at(&[1, j])).times(m.at(&[2, k]));
    let cyclic = (0..3).map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        term(i, j, k).minus(&term(i, k, j))
    });
    cyclic.fold(Number::zero(), |sum, x| sum.plus(&x))
}

/// The eigenvalue of a place in descending order.
pub(super) fn value(space: &Space, a: &[JetTensor], place: usize) -> Result<JetTensor, Undefined> {
    let system = System::of(&a[0])?;
    let value = system.values[place].clone().silenced();
    Ok(Tensor::scalar(
        space.constant(value.with_noise(system.noise)),
    ))
}

/// The projection onto the eigenvector of a place.
pub(super) fn projector(
    space: &Space,
    a: &[JetTensor],
    place: usize,
) -> Result<JetTensor, Undefined> {
    let system = System::of(&a[0])?;
    let n = system.values.len();
    let own = &system.values[place];
    let factors = (0..n).filter(|&k| k != place).map(|k| {
        let (other, scale) = (&system.values[k], own.minus(&system.values[k]));
        Tensor::from_fn(&[n, n], |i| {
            let entry = system.matrix.at(i);
            match i[0] == i[1] {
                true => entry.minus(other).over(&scale),
                false => entry.over(&scale),
            }
        })
    });
    let product = factors.reduce(|a, b| {
        Tensor::from_fn(&[n, n], |i| {
            let terms = (0..n).map(|k| a.at(&[i[0], k]).times(b.at(&[k, i[1]])));
            terms.fold(Number::zero(), |sum, term| sum.plus(&term))
        })
    });
    let product = product.ok_or(Undefined("matrix of one eigenvalue"))?;
    // A perturbation turns an eigenvector by its size over the gap; v⊗v has v twice.
    let noise = 2.0 * system.noise / system.gap + ROUNDINGS;
    Ok(product.map(|x| space.constant(x.clone().silenced().with_noise(noise))))
}
