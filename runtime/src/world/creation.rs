//! The creation clause of a program.

use super::errors::WorldError;

/// The creation clause: how many strands, and how they are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Creation {
    /// A grid with one axis per iterator, first iterator slowest.
    Grid(Vec<usize>),
    /// A collection, created by the same nest of loops.
    Collection(Vec<usize>),
}

impl Creation {
    /// Number of iterations of each iterator.
    pub fn sizes(&self) -> &[usize] {
        match self {
            Creation::Grid(sizes) | Creation::Collection(sizes) => sizes,
        }
    }

    /// How many strands there are.
    pub(super) fn count(&self) -> Result<u32, WorldError> {
        let sizes = self.sizes().iter();
        let count = sizes.copied().try_fold(1, usize::checked_mul);
        count
            .and_then(|count| u32::try_from(count).ok())
            .filter(|&count| count < u32::MAX)
            .ok_or_else(|| WorldError::TooManyStrands(self.sizes().to_vec()))
    }
}
