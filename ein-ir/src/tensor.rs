//! Tensors: arrays of components in row-major order.

use crate::Shape;
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
