//! The part of space in which a rank of a cluster knows all strands, and the strands that others have to know.

use super::places::Positions;
use crate::abi::{LaneMask, bits};
use crate::neighbours::sight::{CellSet, Lattice};
use crate::neighbours::{Coordinate, can_be_found};
use rayon::prelude::*;

/// Blocks that a worker looks at, at a time.
const BLOCKS: usize = 1024;
/// The cell of strands that are never found.
const NOWHERE: u32 = u32::MAX;

/// Some lanes of a block.
pub(crate) type Lanes = (u32, LaneMask);

/// The strands of a block of this rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnStrands {
    pub(crate) block: u32,
    pub(crate) alive: LaneMask,
    /// Those of them that will look around.
    pub(crate) active: LaneMask,
}

/// See the head of this module.
#[derive(Debug)]
pub(super) struct Outlook<const D: usize> {
    /// The box that the cells cover.
    bounds: [(f64, f64); D],
    lattice: Lattice<D>,
    /// The part of space whose strands are all known; nothing if all strands are known.
    sight: Option<Sight>,
    /// The cell of every lane of the blocks of this rank, from when it looked around.
    own_cells: Vec<u32>,
}

#[derive(Debug)]
struct Sight {
    cells: CellSet,
    /// Those of the strands of this rank that look around.
    own: CellSet,
    /// All cells within this distance of a position in one of `own` are in sight.
    reach: f64,
}

impl<const D: usize> Default for Outlook<D> {
    fn default() -> Outlook<D> {
        let bounds = [(f64::INFINITY, f64::NEG_INFINITY); D];
        Outlook {
            bounds,
            lattice: Lattice::new(&bounds, 0.0),
            sight: None,
            own_cells: Vec::new(),
        }
    }
}

impl<const D: usize> Outlook<D> {
    /// All strands are known.
    pub(super) fn see_everything(&mut self) {
        self.sight = None;
    }

    /// Lets the cells cover all of these points from now on.
    pub(super) fn survey<T: Coordinate>(&mut self, coordinates: &[Vec<T>; D]) {
        self.bounds = coordinates.each_ref().map(|column| {
            let empty = || (f64::INFINITY, f64::NEG_INFINITY);
            let wider = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
            let found = column.par_iter().filter(|x| x.to_f64().is_finite());
            let found = found.map(|x| (x.to_f64(), x.to_f64()));
            found.reduce(empty, wider)
        });
    }

    /// Looks around the strands of this rank as far as `reach`; no rank looks farther than `farthest`. All strands there have to become
    /// known then.
    pub(super) fn look_around<T: Coordinate>(
        &mut self,
        positions: &Positions<'_, T, D>,
        width: usize,
        strands: &[OwnStrands],
        reach: f64,
        farthest: f64,
    ) -> &CellSet {
        self.lattice = Lattice::new(&self.bounds, farthest);
        let lattice = &self.lattice;
        let none = || CellSet::none(lattice.cells());
        self.own_cells.resize(strands.len() * width, NOWHERE);
        let cells = self.own_cells.par_chunks_mut(BLOCKS * width);
        let pieces = strands.par_chunks(BLOCKS).zip(cells);
        let pieces = pieces.fold(none, |mut own, (strands, cells)| {
            for (strands, cells) in strands.iter().zip(cells.chunks_exact_mut(width)) {
                let positions = positions.of_block(strands.block as usize);
                for lane in bits(strands.alive) {
                    let position = positions.at(lane);
                    cells[lane as usize] = match can_be_found(position) {
                        true => lattice.cell(position.map(T::to_f64)) as u32,
                        false => NOWHERE,
                    };
                }
                let looking = bits(strands.active).map(|lane| cells[lane as usize]);
                let looking = looking.filter(|&cell| cell != NOWHERE);
                looking.for_each(|cell| own.insert(cell as usize));
            }
            own
        });
        let own = pieces.reduce(none, |own, more| own.unite(&more));
        let around = lattice.cells_within(reach);
        let sight = self.sight.insert(Sight {
            cells: lattice.around(&own, around.unwrap_or(0)),
            own,
            reach: around.map_or(f64::NEG_INFINITY, |_| reach),
        });
        &sight.cells
    }

    /// Of the strands that have looked around, and those beside them, the ones that are in each of some sights.
    pub(super) fn within(
        &self,
        width: usize,
        strands: &[OwnStrands],
        sights: &[&CellSet],
    ) -> Vec<Vec<Lanes>> {
        // Most strands are far from what others see.
        let none = CellSet::none(self.lattice.cells());
        let seen_by_any = sights.iter().fold(none, |any, sight| any.unite(sight));
        let cells = self.own_cells.par_chunks(BLOCKS * width);
        let pieces = strands
            .par_chunks(BLOCKS)
            .zip(cells)
            .map(|(strands, cells)| {
                let mut wanted: Vec<Vec<Lanes>> = vec![Vec::new(); sights.len()];
                for (strands, cells) in strands.iter().zip(cells.chunks_exact(width)) {
                    let among = |lanes: LaneMask, sight: &CellSet| {
                        let seen =
                            bits(lanes).filter(|&lane| sight.has(cells[lane as usize] as usize));
                        seen.fold(0, |seen, lane| seen | 1 << lane)
                    };
                    let seen = among(strands.alive, &seen_by_any);
                    if seen == 0 {
                        continue;
                    }
                    for (sight, wanted) in sights.iter().zip(&mut wanted) {
                        match among(seen, sight) {
                            0 => {}
                            seen => wanted.push((strands.block, seen)),
                        }
                    }
                }
                wanted
            });
        let pieces: Vec<Vec<Vec<Lanes>>> = pieces.collect();
        let of_sight = |n: usize| pieces.iter().flat_map(|piece| &piece[n]).copied().collect();
        (0..sights.len()).map(of_sight).collect()
    }

    /// Whether all strands within a distance of a centre are known.
    #[inline]
    pub(super) fn knows(&self, centre: [f64; D], reach: f64) -> bool {
        let Some(sight) = &self.sight else {
            return true;
        };
        reach <= sight.reach && sight.own.has(self.lattice.cell(centre))
            || (self.lattice).all_runs(self.lattice.span(centre, reach), |run| {
                sight.cells.has_all(run)
            })
    }

    /// Whether some strands may be unknown.
    pub(super) fn is_limited(&self) -> bool {
        self.sight.is_some()
    }
}
