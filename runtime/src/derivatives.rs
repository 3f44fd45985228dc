//! Partial derivatives, as probes of images and of meshes count them.

/// The highest total order of derivatives that a primitive computes.
pub const MAX_ORDER: usize = 8;

/// The derivatives of total order `order` in `dim` dimensions, as counts per axis, in the order of outputs.
pub(crate) fn multi_indices(dim: usize, order: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..order + 1).rev().flat_map(move |x| {
        (0..order - x + 1)
            .rev()
            .map(move |y| [x, y, order - x - y])
            .filter(move |c| c[dim..].iter().all(|&n| n == 0))
    })
}
