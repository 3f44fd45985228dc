//! Deliberate faults of fields on meshes, to see that testing would find them.
//!
//! At the place of a fault, the code calls a function of this file, which returns its argument unless that fault is switched on.

#![cfg_attr(
    not(feature = "mutants"),
    allow(unreachable_pub, reason = "public where they can be on")
)]

use super::invert::Matrix;

crate::mutants::mutants! {
    TransposedInverse: "gradients go to the world with the inverse of the Jacobian instead of its transpose";
    ForgottenCurvature: "second derivatives leave out those of the map of a curved cell";
    ExchangedNodes: "the values of the last two nodes of an element are exchanged";
    AffineEstimate: "the affine estimate of a position in a curved cell is taken for the position";
    LostFaces: "no cell accepts a position on one of its faces";
    ForeignValues: "a cell of the mesh has the values of the cell with its number in the file";
}

/// The matrix that takes gradients to the world.
#[inline(always)]
pub(super) fn to_world<S: Copy>(k: &Matrix<S>) -> Matrix<S> {
    let [a, b, c] = *k;
    if is_on(Mutant::TransposedInverse) {
        return [[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]];
    }
    *k
}

/// The second derivatives of a map.
#[inline(always)]
pub(super) fn bend(bend: [[f64; 6]; 3]) -> [[f64; 6]; 3] {
    if is_on(Mutant::ForgottenCurvature) {
        return [[0.0; 6]; 3];
    }
    bend
}

/// Puts the values of a cell's nodes in their order.
#[inline(always)]
pub(super) fn order_nodes(values: &mut [f64]) {
    if is_on(Mutant::ExchangedNodes)
        && let [.., a, b] = values
    {
        std::mem::swap(a, b);
    }
}

/// Whether the iteration for the position in a curved cell is left out.
#[inline(always)]
pub(super) fn is_content_with_estimates() -> bool {
    is_on(Mutant::AffineEstimate)
}

/// The place in the file of a cell of the mesh.
#[inline(always)]
pub(super) fn source(sources: &[u32], cell: u32) -> usize {
    if is_on(Mutant::ForeignValues) {
        return cell as usize;
    }
    sources[cell as usize] as usize
}

/// Whether a cell accepts a position that is within the tolerance of it.
#[inline(always)]
pub(super) fn accepts(near: bool) -> bool {
    near && !is_on(Mutant::LostFaces)
}
