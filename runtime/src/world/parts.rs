//! Parts of a grid whose values are handed on as soon as all their strands have ended, while others still run.

use crate::strands::tiles::Walk;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Takes values of an output while others are computed, from any worker: its number among the outputs wanted, how many bytes
/// of its values come before, and the bytes of these, in creation order.
pub type Taker<'a> = &'a (dyn Fn(usize, usize, &[u8]) + Sync);

/// Bytes that are worth handing on.
const WORTHWHILE: usize = 1 << 20;

/// Rows of tiles, several together if they are short: the strands of each part follow each other in creation order.
pub(super) struct Parts<'a> {
    pub(super) taker: Taker<'a>,
    /// Of every part the tiles that have not ended.
    left: Vec<AtomicUsize>,
    /// Tiles of a part, and strands; the last may have fewer.
    tiles: usize,
    strands: usize,
    /// Strands of the grid.
    all: usize,
    /// Whether a strand died: then values are not where they will be.
    spoilt: AtomicBool,
}

impl<'a> Parts<'a> {
    /// The parts of a grid whose strands have so many bytes of outputs.
    pub(super) fn new(walk: &Walk, bytes: usize, taker: Taker<'a>) -> Parts<'a> {
        let (tiles, strands) = walk.row();
        let rows = WORTHWHILE.div_ceil((strands * bytes).max(1));
        let (tiles, strands) = ((rows * tiles).max(1), rows * strands);
        let whole = |part: usize| AtomicUsize::new(tiles.min(walk.tiles() - part * tiles));
        Parts {
            taker,
            left: (0..walk.tiles().div_ceil(tiles)).map(whole).collect(),
            tiles,
            strands,
            all: walk.points(),
            spoilt: AtomicBool::new(false),
        }
    }

    /// Nothing more is handed on.
    pub(super) fn spoil(&self) {
        self.spoilt.store(true, Ordering::Relaxed);
    }

    /// Notes that a tile has ended and that its values are written; gives the strands of its part if it was the last of it.
    pub(super) fn end(&self, tile: usize) -> Option<Range<usize>> {
        let part = tile / self.tiles;
        // Whoever ends a part sees what the others wrote.
        let left = self.left[part].fetch_sub(1, Ordering::AcqRel) - 1;
        let first = part * self.strands;
        let is_ready = left == 0 && !self.spoilt.load(Ordering::Relaxed);
        is_ready.then(|| first..(first + self.strands).min(self.all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_with_their_last_tiles_and_cover_the_grid() {
        for (sizes, bytes) in [
            (vec![70, 300], 4000),
            (vec![33, 40, 50], 1000),
            (vec![5000], 8000),
            (vec![3], 1),
            (vec![], 4),
            (vec![4, 0, 3], 4),
        ] {
            let walk = Walk::new(&sizes, 8);
            let parts = Parts::new(&walk, bytes, &|_, _, _| {});
            let (mut covered, mut ended) = (vec![0; walk.points()], vec![false; walk.points()]);
            // From the last tile to the first, so that order does not matter.
            for tile in (0..walk.tiles()).rev() {
                walk.ranks(tile)
                    .for_each(|rank| ended[rank as usize] = true);
                for strand in parts.end(tile).into_iter().flatten() {
                    assert!(ended[strand], "{sizes:?}: {strand} has not ended");
                    covered[strand] += 1;
                }
            }
            assert!(covered.iter().all(|&times| times == 1), "{sizes:?}");
        }
    }

    #[test]
    fn nothing_is_handed_on_after_a_death() {
        let walk = Walk::new(&[40, 40], 4);
        let parts = Parts::new(&walk, 4, &|_, _, _| {});
        parts.spoil();
        assert!((0..walk.tiles()).all(|tile| parts.end(tile).is_none()));
    }
}
