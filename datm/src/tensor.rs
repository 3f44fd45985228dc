//! Dense tensors with the last axis fastest: the container for jets, symbols and samples.

/// A tensor of any order; the components are row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T> {
    extents: Vec<usize>,
    components: Vec<T>,
}

impl<T> Tensor<T> {
    /// The tensor whose component at each index is given by a function.
    pub fn from_fn(extents: &[usize], mut component: impl FnMut(&[usize]) -> T) -> Tensor<T> {
        let mut index = vec![0; extents.len()];
        let total = extents.iter().product();
        let mut components = Vec::with_capacity(total);
        for _ in 0..total {
            components.push(component(&index));
            for axis in (0..extents.len()).rev() {
                index[axis] += 1;
                if index[axis] < extents[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        Tensor {
            extents: extents.to_vec(),
            components,
        }
    }

    /// A scalar.
    pub fn scalar(value: T) -> Tensor<T> {
        Tensor {
            extents: Vec::new(),
            components: vec![value],
        }
    }

    /// The extents of the axes.
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// The components, last axis fastest.
    pub fn components(&self) -> &[T] {
        &self.components
    }

    /// The component at an index with one entry per axis.
    pub fn at(&self, index: &[usize]) -> &T {
        let offset = index
            .iter()
            .zip(&self.extents)
            .fold(0, |offset, (i, n)| offset * n + i);
        &self.components[offset]
    }

    /// The tensor with a function applied to each component.
    pub fn map<U>(&self, change: impl FnMut(&T) -> U) -> Tensor<U> {
        Tensor {
            extents: self.extents.clone(),
            components: self.components.iter().map(change).collect(),
        }
    }
}
