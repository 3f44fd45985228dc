//! Eigensystems of symmetric matrices: the functions of a matrix that EIN has besides those of numbers.
//!
//! Only the upper triangle of a matrix is read. Eigenvalues descend; eigenvectors are unit vectors in the same order and
//! right-handed. The sign of an eigenvector means nothing, but here it is fixed, so that evaluations can be compared: the
//! last coordinate of every vector but the last is not negative.

use crate::tensor::gauss_jordan;
use crate::{Jet, Shape, Tensor};

/// A part of an eigensystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Eigen {
    /// The eigenvalues, by their number.
    Values,
    /// The eigenvectors, by their number and then by component.
    Vectors,
    /// The reduced resolvents, by the number of their eigenvalue: Rₖ = Σⱼ eⱼ⊗eⱼ/(λₖ − λⱼ) over j ≠ k. This is the inverse of
    /// λₖ − A where that has one, and zero along eₖ. Programs cannot ask for it, but derivatives need it: it is smooth where
    /// λₖ is simple, even if the other eigenvalues coincide and their vectors are not.
    Resolvents,
}

impl Eigen {
    /// All parts.
    pub const ALL: [Eigen; 3] = [Eigen::Values, Eigen::Vectors, Eigen::Resolvents];

    /// Its name in EIN text.
    pub fn name(self) -> &'static str {
        match self {
            Eigen::Values => "evals",
            Eigen::Vectors => "evecs",
            Eigen::Resolvents => "resolvents",
        }
    }

    /// The part of this name.
    pub fn named(name: &str) -> Option<Eigen> {
        Eigen::ALL.into_iter().find(|part| part.name() == name)
    }

    /// The number of axes of the part: each has the extent of the matrix.
    pub fn order(self) -> usize {
        match self {
            Eigen::Values => 1,
            Eigen::Vectors => 2,
            Eigen::Resolvents => 3,
        }
    }

    /// One component of the part for a matrix of jets, row-major.
    ///
    /// The pair of value and vector solves Av = λv, v·v = 1. Newton's iteration on these equations, with the matrix of
    /// its linear systems at the point of expansion, makes one more order right each time; that matrix can be inverted
    /// if the eigenvalue differs from the others. If it does not, only the values are numbers. The same matrix as a series
    /// has the resolvent in its inverse.
    pub fn expand(self, matrix: &[Jet], index: &[usize]) -> Jet {
        let n = matrix.len().isqrt();
        let entry = |i: usize, j: usize| &matrix[i.min(j) * n + i.max(j)];
        let (dim, order) = (matrix[0].dim(), matrix[0].order());
        let constant = |x: f64| Jet::constant(dim, order, x);
        let at: Vec<f64> = matrix.iter().map(Jet::value).collect();
        let (values, vectors) = eigensystem(&at);
        let mut value = constant(values[index[0]]);
        let mut vector: Vec<Jet> = vectors[index[0]].iter().map(|&x| constant(x)).collect();
        if order > 0 {
            let at = |i: usize, j: usize| constant(entry(i, j).value());
            let inverse = gauss_jordan(&bordered(n, &at, &value, &vector));
            for _ in 0..order {
                let sum = |terms: &mut dyn Iterator<Item = Jet>| {
                    terms.fold(constant(0.0), |sum, term| &sum + &term)
                };
                let mut wrong: Vec<Jet> = (0..n)
                    .map(|i| {
                        let product = sum(&mut (0..n).map(|j| entry(i, j) * &vector[j]));
                        &product - &(&value * &vector[i])
                    })
                    .collect();
                let square = sum(&mut vector.iter().map(|x| x * x));
                wrong.push((&square - &constant(1.0)).scale(0.5));
                let step =
                    |i: usize| rest(&sum(&mut (0..=n).map(|j| &inverse[[i, j]] * &wrong[j])));
                let steps: Vec<Jet> = (0..=n).map(step).collect();
                for (x, step) in vector.iter_mut().zip(&steps) {
                    *x = &*x - step;
                }
                value = &value - &steps[n];
            }
        }
        match self {
            Eigen::Values => value,
            Eigen::Vectors => vector.swap_remove(index[1]),
            Eigen::Resolvents => {
                let entries = |i: usize, j: usize| entry(i, j).clone();
                -&gauss_jordan(&bordered(n, &entries, &value, &vector))[[index[1], index[2]]]
            }
        }
    }
}

/// The matrix of the linear systems for a pair of value and vector: A − λ with the vector as one more column and row.
fn bordered(
    n: usize,
    entry: &dyn Fn(usize, usize) -> Jet,
    value: &Jet,
    vector: &[Jet],
) -> Tensor<Jet> {
    Tensor::from_fn(&Shape::new([n + 1; 2]), |place| match *place {
        [i, j] if i < n && j < n && i == j => &entry(i, j) - value,
        [i, j] if i < n && j < n => entry(i, j),
        [i, _] if i < n => -&vector[i],
        [_, j] if j < n => vector[j].clone(),
        _ => Jet::constant(value.dim(), value.order(), 0.0),
    })
}

/// A jet without its value, which is right already, whatever is made of a multiple eigenvalue.
fn rest(jet: &Jet) -> Jet {
    let mut coefficients = std::iter::once(0.0).chain(jet.coefficients()[1..].iter().copied());
    Jet::from_fn(jet.dim(), jet.order(), |_| {
        coefficients.next().unwrap_or(f64::NAN)
    })
}

/// Sweeps of rotations after which nothing is left to rotate; five or six are usual.
const SWEEPS: usize = 16;

/// The eigenvalues and eigenvectors of a matrix of two or three rows, row-major, by Jacobi rotations.
pub fn eigensystem(matrix: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = matrix.len().isqrt();
    let entry = |i: usize, j: usize| matrix[i.min(j) * n + i.max(j)];
    let mut a: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect();
    let mut v: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(i == j)).collect())
        .collect();
    for _ in 0..SWEEPS {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                let rotate = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
                for row in a.iter_mut().chain(&mut v) {
                    (row[p], row[q]) = rotate(row[p], row[q]);
                }
                let rotated: Vec<(f64, f64)> = a[p]
                    .iter()
                    .zip(&a[q])
                    .map(|(&x, &y)| rotate(x, y))
                    .collect();
                (a[p], a[q]) = rotated.into_iter().unzip();
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    let values = order.iter().map(|&i| a[i][i]).collect();
    let column = |&i: &usize| v.iter().map(|row| row[i]).collect();
    let mut vectors: Vec<Vec<f64>> = order.iter().map(column).collect();
    let turn = |vector: &mut Vec<f64>| vector.iter_mut().for_each(|x| *x = -*x);
    for vector in &mut vectors[..n - 1] {
        if vector[n - 1] < 0.0 {
            turn(vector);
        }
    }
    let handed = match &vectors[..] {
        [a, b] => a[0] * b[1] - a[1] * b[0],
        [a, b, c] => (0..3)
            .map(|i| a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3]))
            .sum(),
        _ => 1.0,
    };
    if handed < 0.0 {
        turn(&mut vectors[n - 1]);
    }
    (values, vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_of_known_matrices_are_found() {
        let root = 2f64.sqrt();
        let known: [(&[f64], &[f64]); 4] = [
            (&[2.0, 1.0, 1.0, 2.0], &[3.0, 1.0]),
            // Only the upper triangle is read.
            (&[5.0, 0.0, 9.0, -5.0], &[5.0, -5.0]),
            (
                &[2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0],
                &[2.0 + root, 2.0, 2.0 - root],
            ),
            (
                &[4.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 4.0],
                &[6.0, 3.0, 3.0],
            ),
        ];
        for (matrix, wanted) in known {
            let n = wanted.len();
            let (values, vectors) = eigensystem(matrix);
            for k in 0..n {
                assert!((values[k] - wanted[k]).abs() < 1e-14, "{values:?}");
                for i in 0..n {
                    let entry = |j: usize| matrix[i.min(j) * n + i.max(j)];
                    let applied: f64 = (0..n).map(|j| entry(j) * vectors[k][j]).sum();
                    assert!((applied - values[k] * vectors[k][i]).abs() < 1e-14);
                }
                assert!(k + 1 == n || vectors[k][n - 1] >= 0.0, "{vectors:?}");
            }
        }
    }

    #[test]
    fn a_multiple_eigenvalue_has_a_value_but_no_derivative() {
        let x = Jet::variable(1, 1, 0, 2.0);
        let zero = Jet::constant(1, 1, 0.0);
        let value = Eigen::Values.expand(&[x.clone(), zero.clone(), zero, x], &[0]);
        assert_eq!(value.value(), 2.0);
        assert!(!value.partial(&[0]).is_finite());
    }
}
