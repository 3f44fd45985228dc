//! Spatial queries over the strands of a world: reads published positions, hides precision and
//! dimension from the rest.

pub(crate) mod outlook;
mod places;

pub(crate) use places::{Homes, Places};

use self::outlook::{Lanes, Outlook, OwnStrands};
use self::places::Positions;
use crate::abi::LaneMask;
use crate::abi::bits;
use crate::neighbours::sight::CellSet;
use crate::neighbours::{
    CellGrid, Coordinate, Hits, Points, RadiusStatistics, can_be_found, reach,
};
use crate::strands::roster::{LaneSets, Roster};
use crate::strands::{Position, Scalar, StateLayout};
use rayon::prelude::*;

/// Blocks whose positions a worker collects at a time.
const BLOCKS: usize = 512;

/// Answers the queries of one super-step.
pub(crate) trait Search: Send + Sync {
    /// Sorts the positions of the strands in some lanes of each block, as others see them now. `radius` is the one most
    /// queries are expected to ask for. Runs on the current rayon pool.
    fn rebuild(
        &mut self,
        layout: &StateLayout,
        roster: &Roster,
        homes: Homes<'_>,
        radius: Option<f64>,
        is_there: &(dyn Fn(usize, LaneSets) -> LaneMask + Sync),
    );

    /// True when strands should live in cell order (see `cell_order`).
    fn sorting_pays(&self) -> bool;

    /// Slots of the strands in cell order; strands at positions that are not finite are missing.
    fn cell_order(&self) -> &[u32];

    /// Follows the strands to their new slots. Runs on the current rayon pool.
    fn move_slots(&mut self, moved: &(dyn Fn(u32) -> u32 + Sync));

    /// Calls `found` for every lane with what its query finds. Gives the lanes whose queries look at strands that are not known, for
    /// which it is not called.
    ///
    /// # Safety
    /// `centres`, `radii` and `own` are planes of `width` lanes in the type of the position.
    unsafe fn spheres(
        &self,
        query: Query,
        hits: &mut Hits,
        radii: &mut RadiusStatistics,
        found: &mut dyn FnMut(usize, &[u32]),
    ) -> LaneMask;

    /// All strands are known from now on.
    fn see_everything(&mut self);

    /// Whether some strands may be unknown.
    fn is_limited(&self) -> bool;

    /// Lets the cells of sights cover all strands that are in the index now. Runs on the current rayon pool.
    fn survey(&mut self);

    /// The sight of the strands of this rank, which look as far as `reach`: all strands there have to become known before the next
    /// query. No rank looks farther than `farthest`. Runs on the current rayon pool.
    fn look_around(
        &mut self,
        layout: &StateLayout,
        homes: Homes<'_>,
        strands: &[OwnStrands],
        reach: f64,
        farthest: f64,
    ) -> &CellSet;

    /// Of these strands, which have looked around and not moved since, those that are in each of some sights. Runs on the current rayon
    /// pool.
    fn within(&self, width: usize, strands: &[OwnStrands], sights: &[&CellSet]) -> Vec<Vec<Lanes>>;
}

/// One query per lane.
#[derive(Clone, Copy)]
pub(crate) struct Query {
    pub(crate) centres: *const u8,
    pub(crate) radii: *const u8,
    /// The positions of the strands themselves, as others see them.
    pub(crate) own: *const u8,
    pub(crate) lanes: LaneMask,
    pub(crate) width: usize,
    pub(crate) first_slot: u32,
}

/// A search for positions of the given type.
pub(crate) fn search(position: Position) -> Box<dyn Search> {
    match (position.scalar, position.dimension) {
        (Scalar::F64, 1) => Box::new(Finder::<f64, 1>::default()),
        (Scalar::F64, 2) => Box::new(Finder::<f64, 2>::default()),
        (Scalar::F64, _) => Box::new(Finder::<f64, 3>::default()),
        (_, 1) => Box::new(Finder::<f32, 1>::default()),
        (_, 2) => Box::new(Finder::<f32, 2>::default()),
        (_, _) => Box::new(Finder::<f32, 3>::default()),
    }
}

struct Finder<T, const D: usize> {
    grid: Option<CellGrid<T, D>>,
    points: Points<T, D>,
    outlook: Outlook<D>,
}

impl<T: Coordinate, const D: usize> Default for Finder<T, D> {
    fn default() -> Finder<T, D> {
        Finder {
            grid: None,
            points: Points::default(),
            outlook: Outlook::default(),
        }
    }
}

impl<T: Coordinate, const D: usize> Search for Finder<T, D> {
    fn rebuild(
        &mut self,
        layout: &StateLayout,
        roster: &Roster,
        homes: Homes<'_>,
        radius: Option<f64>,
        is_there: &(dyn Fn(usize, LaneSets) -> LaneMask + Sync),
    ) {
        let width = layout.width();
        let positions = Positions::<T, D>::new(layout, homes);
        // Workers first count the points that they will write, so that each knows its place.
        let found = |block: usize, sets: LaneSets| {
            let positions = positions.of_block(block);
            let all = bits(is_there(block, sets)).map(move |lane| (lane, positions.at(lane)));
            all.filter(|&(_, position)| can_be_found(position))
        };
        // Workers divide all pieces: those with points may be next to each other.
        let blocks = roster.lanes.par_chunks(BLOCKS).enumerate().with_max_len(1);
        let counts = blocks.clone().map(|(piece, lanes)| {
            let blocks = (piece * BLOCKS..).zip(lanes);
            blocks
                .map(|(block, &sets)| found(block, sets).count())
                .sum()
        });
        let mut firsts: Vec<usize> = counts.collect();
        let mut total = 0;
        for first in &mut firsts {
            total += std::mem::replace(first, total);
        }
        let rooms = self.points.rooms(total);
        blocks.zip(firsts).for_each(|((piece, lanes), mut place)| {
            for (block, &sets) in (piece * BLOCKS..).zip(lanes) {
                for (lane, position) in found(block, sets) {
                    let slot = block * width + lane as usize;
                    let (slot, rank) = (slot as u32, roster.ranks[slot]);
                    // SAFETY: the counts give every strand a place of its own.
                    unsafe { rooms.put(place, position, slot, rank) };
                    place += 1;
                }
            }
        });
        self.grid = Some(CellGrid::build(&self.points, radius, self.grid.take()));
    }

    fn sorting_pays(&self) -> bool {
        self.grid.as_ref().is_some_and(CellGrid::sorting_pays)
    }

    fn cell_order(&self) -> &[u32] {
        self.grid.as_ref().map_or(&[], CellGrid::slots)
    }

    fn move_slots(&mut self, moved: &(dyn Fn(u32) -> u32 + Sync)) {
        if let Some(grid) = &mut self.grid {
            grid.move_slots(moved);
        }
    }

    unsafe fn spheres(
        &self,
        query: Query,
        hits: &mut Hits,
        radii: &mut RadiusStatistics,
        found: &mut dyn FnMut(usize, &[u32]),
    ) -> LaneMask {
        let Some(grid) = &self.grid else {
            return 0;
        };
        let mut unknown = 0;
        for lane in bits(query.lanes) {
            let lane = lane as usize;
            let point = |planes: *const u8| -> [T; D] {
                // SAFETY: the caller's promise.
                std::array::from_fn(|axis| unsafe {
                    *planes.cast::<T>().add(axis * query.width + lane)
                })
            };
            let centre = point(query.centres);
            // SAFETY: the caller's promise.
            let radius = unsafe { *query.radii.cast::<T>().add(lane) };
            radii.note(radius.to_f64());
            if let Some(reach) = reach(centre, radius) {
                let own = point(query.own);
                // Strands at no position have no sight.
                if can_be_found(own) {
                    let axes = centre.into_iter().zip(own);
                    let away = axes.map(|(x, own)| (x.to_f64() - own.to_f64()).abs());
                    radii.note_span(away.fold(0.0, f64::max) + reach);
                }
                if !self.outlook.knows(centre.map(T::to_f64), reach) {
                    unknown |= 1 << lane;
                    continue;
                }
            }
            grid.sphere(centre, radius, query.first_slot + lane as u32, hits);
            found(lane, hits.slots());
        }
        unknown
    }

    fn see_everything(&mut self) {
        self.outlook.see_everything();
    }

    fn is_limited(&self) -> bool {
        self.outlook.is_limited()
    }

    fn survey(&mut self) {
        self.outlook.survey(&self.points.coordinates);
    }

    fn look_around(
        &mut self,
        layout: &StateLayout,
        homes: Homes<'_>,
        strands: &[OwnStrands],
        reach: f64,
        farthest: f64,
    ) -> &CellSet {
        let positions = Positions::<T, D>::new(layout, homes);
        let outlook = &mut self.outlook;
        outlook.look_around(&positions, layout.width(), strands, reach, farthest)
    }

    fn within(&self, width: usize, strands: &[OwnStrands], sights: &[&CellSet]) -> Vec<Vec<Lanes>> {
        self.outlook.within(width, strands, sights)
    }
}
