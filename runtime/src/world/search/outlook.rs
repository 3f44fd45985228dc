//! The part of space in which a rank of a cluster knows all strands, and the strands that others have to know.

use super::places::Positions;
use crate::abi::{LaneMask, bits};
use crate::neighbours::sight::{CellSet, Lattice};
use crate::neighbours::{Coordinate, can_be_found};
use rayon::prelude::*;

/// Blocks that a worker looks at, at a time.
const BLOCKS: usize = 256;

/// Some lanes of a block.
pub(crate) type Lanes = (u32, LaneMask);

/// See the head of this module.
#[derive(Debug)]
pub(super) struct Outlook<const D: usize> {
    /// The box that the cells cover.
    bounds: [(f64, f64); D],
    lattice: Lattice<D>,
    /// The part of space whose strands are all known; nothing if all strands are known.
    sight: Option<Sight>,
}

#[derive(Debug)]
struct Sight {
    cells: CellSet,
    /// Those of the strands of this rank. All cells that are at most `around` cells away along each axis are in sight, too.
    own: CellSet,
    around: usize,
}

impl<const D: usize> Default for Outlook<D> {
    fn default() -> Outlook<D> {
        let bounds = [(f64::INFINITY, f64::NEG_INFINITY); D];
        Outlook {
            bounds,
            lattice: Lattice::new(&bounds, 0.0),
            sight: None,
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

    /// Looks around some strands as far as `reach`; no rank looks farther than `farthest`. All strands there have to become known then.
    pub(super) fn look_around<T: Coordinate>(
        &mut self,
        positions: &Positions<'_, T, D>,
        width: usize,
        lanes: &[Lanes],
        reach: f64,
        farthest: f64,
    ) -> &CellSet {
        debug_assert!(width.is_power_of_two());
        self.lattice = Lattice::new(&self.bounds, farthest);
        let lattice = &self.lattice;
        let around = lattice.cells_within(reach);
        // The cells of strands, and those that they see farther away because of rounding.
        let nothing = || [(); 2].map(|()| CellSet::none(lattice.cells()));
        let pieces = lanes
            .par_chunks(BLOCKS)
            .fold(nothing, |[mut own, mut beyond], lanes| {
                for &(block, mask) in lanes {
                    let found = bits(mask).map(|lane| positions.at(block as usize, lane));
                    for position in found.filter(|&position| can_be_found(position)) {
                        let position = position.map(T::to_f64);
                        let span = lattice.span(position, reach);
                        if let Some(cell) = lattice.middle(position, span, around) {
                            own.insert(cell..cell + 1);
                        } else {
                            lattice.all_runs(span, |run| {
                                beyond.insert(run);
                                true
                            });
                        }
                    }
                }
                [own, beyond]
            });
        let unite =
            |[own, beyond]: [CellSet; 2], [a, b]: [CellSet; 2]| [own.unite(&a), beyond.unite(&b)];
        let [own, beyond] = pieces.reduce(nothing, unite);
        let sight = self.sight.insert(Sight {
            cells: lattice.around(&own, around).unite(&beyond),
            own,
            around,
        });
        &sight.cells
    }

    /// Of some lanes those that are in each of some sights.
    pub(super) fn within<T: Coordinate>(
        &self,
        positions: &Positions<'_, T, D>,
        lanes: &[Lanes],
        sights: &[&CellSet],
    ) -> Vec<Vec<Lanes>> {
        // Most strands are far from what others see.
        let none = CellSet::none(self.lattice.cells());
        let seen_by_any = sights.iter().fold(none, |any, sight| any.unite(sight));
        let pieces = lanes.par_chunks(BLOCKS).map(|lanes| {
            let mut wanted: Vec<Vec<Lanes>> = vec![Vec::new(); sights.len()];
            let mut cells = Vec::new();
            for &(block, mask) in lanes {
                let found = bits(mask).map(|lane| (lane, positions.at(block as usize, lane)));
                let found = found.filter(|&(_, position)| can_be_found(position));
                let found = found.map(|(lane, at)| (lane, self.lattice.cell(at.map(T::to_f64))));
                cells.clear();
                cells.extend(found.filter(|(_, cell)| seen_by_any.has(*cell)));
                if cells.is_empty() {
                    continue;
                }
                for (sight, wanted) in sights.iter().zip(&mut wanted) {
                    let seen = cells.iter().filter(|(_, cell)| sight.has(*cell));
                    match seen.fold(0, |seen, (lane, _)| seen | 1 << lane) {
                        0 => {}
                        seen => wanted.push((block, seen)),
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
        let span = self.lattice.span(centre, reach);
        let cell = self.lattice.middle(centre, span, sight.around);
        cell.is_some_and(|cell| sight.own.has(cell))
            || (self.lattice).all_runs(span, |run| sight.cells.has_all(run))
    }

    /// Whether some strands may be unknown.
    pub(super) fn is_limited(&self) -> bool {
        self.sight.is_some()
    }
}
