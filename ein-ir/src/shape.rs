//! Shapes of tensors.

use std::{fmt, str::FromStr};

/// The extents of a tensor's axes. An axis of extent 1 is the same as no axis, so none is ever stored:
/// `[1]` and `[]` are one shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape(Vec<usize>);

impl Shape {
    /// The shape of a real number.
    pub const SCALAR: Shape = Shape(Vec::new());

    /// The shape with these extents, axes of extent 1 left out.
    pub fn new(dims: impl IntoIterator<Item = usize>) -> Shape {
        Shape(dims.into_iter().filter(|&n| n != 1).collect())
    }

    /// The extents, first (slowest) axis first.
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// The number of axes.
    pub fn order(&self) -> usize {
        self.0.len()
    }

    /// The number of components.
    pub fn size(&self) -> usize {
        self.0.iter().product()
    }

    /// Whether this is the shape of a real number.
    pub fn is_scalar(&self) -> bool {
        self.0.is_empty()
    }

    /// The axes of `self` followed by those of `other`.
    pub fn append(&self, other: &[usize]) -> Shape {
        Shape::new(self.0.iter().chain(other).copied())
    }

    /// All index tuples in row-major order (last axis fastest).
    pub fn indices(&self) -> impl Iterator<Item = Vec<usize>> + use<> {
        let dims = self.0.clone();
        (0..self.size()).map(move |mut flat| {
            let mut index = vec![0; dims.len()];
            for (slot, &n) in index.iter_mut().zip(&dims).rev() {
                *slot = flat % n;
                flat /= n;
            }
            index
        })
    }

    /// The row-major position of an index tuple.
    pub fn offset(&self, index: &[usize]) -> usize {
        debug_assert_eq!(index.len(), self.0.len());
        index
            .iter()
            .zip(&self.0)
            .fold(0, |flat, (&i, &n)| flat * n + i)
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Shape {
        Shape::new(dims.iter().copied())
    }
}

/// Prints as in types: `[]`, `[3]`, `[2,2]`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.0.iter().map(usize::to_string).collect();
        write!(f, "[{}]", dims.join(","))
    }
}

/// Reads the printed form.
impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let bad = || format!("unknown shape `{text}`");
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let dims = inner.ok_or_else(bad)?.split(',').filter(|d| !d.is_empty());
        let dims: Result<Vec<usize>, String> = dims.map(|d| d.parse().map_err(|_| bad())).collect();
        Ok(Shape::new(dims?))
    }
}
