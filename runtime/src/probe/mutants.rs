//! Deliberate faults at the edges of images, to see that testing would find them.
//!
//! At the place of a fault, the code calls a function of this file, which returns its argument unless that fault is switched on.

#![cfg_attr(
    not(feature = "mutants"),
    allow(unreachable_pub, reason = "public where they can be on")
)]

crate::mutants::mutants! {
    MovedPositions: "positions beyond the edge of an image are moved to where all samples of the kernel exist";
    LostLastSample: "samples beyond the last one of an axis are the one before it";
}

/// Between which positions the samples of an axis are not all the same, given these and the first and last that have all taps.
#[inline(always)]
pub(super) fn bounds(bounds: [i64; 2], inside: [i64; 2]) -> [i64; 2] {
    if is_on(Mutant::MovedPositions) {
        return inside;
    }
    bounds
}

/// The index of the last of `size` samples.
#[inline(always)]
pub(super) fn last(size: i64) -> i64 {
    if is_on(Mutant::LostLastSample) {
        return (size - 2).max(0);
    }
    size - 1
}
