//! Tensors: arrays of components in row-major order.

use crate::{Jet, Shape};
use std::ops::Index;

/// A tensor with components of type `T`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T> {
    shape: Shape,
    components: Vec<T>,
}

impl<T> Tensor<T> {
    /// The tensor with these components in row-major order. Panics if their number is not that of the shape.
    pub fn new(shape: Shape, components: Vec<T>) -> Tensor<T> {
        assert_eq!(shape.size(), components.len(), "components of {shape}");
        Tensor { shape, components }
    }

    /// The tensor of order 0.
    pub fn scalar(component: T) -> Tensor<T> {
        Tensor::new(Shape::SCALAR, vec![component])
    }

    /// The tensor whose component at each index tuple is computed by `component`.
    pub fn from_fn(shape: &Shape, mut component: impl FnMut(&[usize]) -> T) -> Tensor<T> {
        Tensor {
            components: shape.indices().map(|index| component(&index)).collect(),
            shape: shape.clone(),
        }
    }

    /// The extents of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// All components in row-major order.
    pub fn components(&self) -> &[T] {
        &self.components
    }

    /// The tensor of the same shape with every component changed.
    pub fn map<U>(&self, change: impl FnMut(&T) -> U) -> Tensor<U> {
        Tensor {
            shape: self.shape.clone(),
            components: self.components.iter().map(change).collect(),
        }
    }

    /// The component at an index tuple.
    pub fn at(&self, index: &[usize]) -> &T {
        &self.components[self.shape.offset(index)]
    }
}

impl<T, const N: usize> Index<[usize; N]> for Tensor<T> {
    type Output = T;

    fn index(&self, index: [usize; N]) -> &T {
        self.at(&index)
    }
}

/// The determinant as an alternating sum over permutations.
pub(crate) fn leibniz(x: &Tensor<Jet>) -> Jet {
    let n = x.shape().dims()[0];
    let zero = Jet::constant(x[[0, 0]].dim(), x[[0, 0]].order(), 0.0);
    let one = Jet::constant(x[[0, 0]].dim(), x[[0, 0]].order(), 1.0);
    Shape::new(vec![n; n]).indices().fold(zero, |sum, columns| {
        let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (j, i)));
        if pairs().any(|(j, i)| columns[j] == columns[i]) {
            return sum;
        }
        let inversions = pairs().filter(|&(j, i)| columns[j] > columns[i]).count();
        let product = (0..n).fold(one.clone(), |product, row| {
            &product * &x[[row, columns[row]]]
        });
        if inversions % 2 == 0 {
            &sum + &product
        } else {
            &sum - &product
        }
    })
}

/// The inverse by elimination, with the largest pivot of each column.
pub(crate) fn gauss_jordan(x: &Tensor<Jet>) -> Tensor<Jet> {
    let n = x.shape().dims()[0];
    let constant = |value| Jet::constant(x[[0, 0]].dim(), x[[0, 0]].order(), value);
    let unit = |row| {
        (0..n)
            .map(move |k| if k == row { 1.0 } else { 0.0 })
            .map(constant)
    };
    let mut rows: Vec<Vec<Jet>> = (0..n)
        .map(|i| (0..n).map(|j| x[[i, j]].clone()).chain(unit(i)).collect())
        .collect();
    for column in 0..n {
        let size = |row: &Vec<Jet>| row[column].value().abs();
        let best = (column..n).max_by(|&i, &j| size(&rows[i]).total_cmp(&size(&rows[j])));
        rows.swap(column, best.expect("there is a row left"));
        let pivot = rows[column][column].clone();
        rows[column] = rows[column].iter().map(|c| c / &pivot).collect();
        for row in (0..n).filter(|&row| row != column) {
            let factor = rows[row][column].clone();
            rows[row] = (0..2 * n)
                .map(|k| &rows[row][k] - &(&factor * &rows[column][k]))
                .collect();
        }
    }
    Tensor::from_fn(x.shape(), |i| rows[i[0]][n + i[1]].clone())
}
