//! Reference meaning of what the runtime's primitives compute, for the evaluators of all IRs.
//!
//! Reconstruction is the defining sum over taps with kernels from the exact table; eigensystems are found by Jacobi rotations.
//! Nothing here is fast, and nothing is shared with what generated code calls.

use crate::ir::{
    Orders,
    leaf::{Border, Convolution, distinct_derivatives},
};
use ein_ir::rational;

/// An image as the evaluator sees it.
#[derive(Clone, Debug)]
pub struct EvalImage {
    /// Samples per axis, fastest first.
    pub sizes: Vec<usize>,
    /// All samples of component 0, then of component 1, …
    pub planes: Vec<Vec<f64>>,
    /// World to index coordinates: matrix, row-major.
    pub to_index: Vec<f64>,
    /// World to index coordinates: what is added.
    pub offset: Vec<f64>,
}

/// The derivatives of a field at a position in index space, by the defining sum.
pub fn reconstruct(image: &EvalImage, field: &Convolution, orders: Orders, at: &[f64]) -> Vec<f64> {
    let dim = field.dim();
    let (mut cell, mut fraction) = (vec![0i64; dim], vec![0.0; dim]);
    for axis in 0..dim {
        let (n, f) = locate(
            at[axis],
            image.sizes[axis],
            field.kernels[axis].0.support,
            &field.border,
        );
        cell[axis] = n;
        fraction[axis] = f;
    }
    let mut results = Vec::new();
    for order in orders.iter() {
        for (component, plane) in image.planes.iter().enumerate() {
            for axes in distinct_derivatives(dim, order) {
                let weights: Vec<Vec<f64>> = (0..dim)
                    .map(|axis| {
                        let count = axes.iter().filter(|&&a| a == axis).count() as u32;
                        let kernel = field.kernels[axis].0;
                        let s = kernel.support as i32;
                        (1 - s..=s)
                            .map(|j| polynomial(&kernel.tap(j, count), fraction[axis]))
                            .collect()
                    })
                    .collect();
                results.push(tap_sum(image, field, component, plane, &cell, &weights));
            }
        }
    }
    results
}

/// The cell and the fraction of a coordinate. Without border control the coordinate is kept where all taps exist.
fn locate(x: f64, size: usize, support: usize, border: &Border) -> (i64, f64) {
    if x.is_nan() {
        return (0, f64::NAN);
    }
    if *border == Border::None {
        let (low, high) = (support as f64 - 1.0, size as f64 - support as f64);
        if high > low {
            let x = x.clamp(low, high);
            let n = x.floor().min(high - 1.0);
            return (n as i64, x - n);
        }
    }
    // Beyond any period of the image nothing new is seen; stay where integers are exact.
    let x = x.clamp(-1e9, 1e9);
    (x.floor() as i64, x - x.floor())
}

fn tap_sum(
    image: &EvalImage,
    field: &Convolution,
    component: usize,
    plane: &[f64],
    cell: &[i64],
    weights: &[Vec<f64>],
) -> f64 {
    let dim = cell.len();
    let counts: Vec<usize> = weights.iter().map(Vec::len).collect();
    let mut sum = 0.0;
    for tap in ein_ir::Shape::new(counts).indices() {
        let mut weight = 1.0;
        let mut offset = 0;
        let mut outside = false;
        for axis in (0..dim).rev() {
            weight *= weights[axis][tap[axis]];
            let support = field.kernels[axis].0.support as i64;
            let index = cell[axis] + tap[axis] as i64 + 1 - support;
            let size = image.sizes[axis] as i64;
            let mapped = match field.border {
                Border::None | Border::Clamp => index.clamp(0, size - 1),
                Border::Wrap => index.rem_euclid(size),
                Border::Mirror => {
                    let m = index.rem_euclid(2 * size);
                    if m < size { m } else { 2 * size - 1 - m }
                }
                Border::Constant(_) => {
                    outside |= index < 0 || index >= size;
                    index.clamp(0, size - 1)
                }
            };
            offset = offset * image.sizes[axis] + mapped as usize;
        }
        let sample = match &field.border {
            Border::Constant(bits) if outside => f64::from_bits(bits[component]),
            _ => plane[offset],
        };
        sum += weight * sample;
    }
    sum
}

fn polynomial(coefficients: &[ein_ir::Rational], x: f64) -> f64 {
    coefficients
        .iter()
        .rev()
        .fold(0.0, |value, &c| value * x + rational::to_f64(c))
}

/// Eigenvalues in descending order with their eigenvectors, right-handed.
pub fn jacobi(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for _ in 0..64 {
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
    let mut vectors: Vec<Vec<f64>> = order
        .iter()
        .map(|&i| v.iter().map(|row| row[i]).collect())
        .collect();
    let handed = match n {
        2 => vectors[0][0] * vectors[1][1] - vectors[0][1] * vectors[1][0],
        _ => {
            let [a, b, c] = [&vectors[0], &vectors[1], &vectors[2]];
            a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0])
        }
    };
    if handed < 0.0 {
        vectors[n - 1].iter_mut().for_each(|x| *x = -*x);
    }
    (values, vectors)
}

impl EvalImage {
    /// World coordinates to index coordinates.
    pub fn index_of(&self, at: &[f64]) -> Vec<f64> {
        let dim = self.sizes.len();
        (0..dim)
            .map(|row| {
                (0..dim)
                    .map(|c| self.to_index[row * dim + c] * at[c])
                    .sum::<f64>()
                    + self.offset[row]
            })
            .collect()
    }
}
