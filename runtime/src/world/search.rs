//! Spatial queries over the strands of a world: reads published positions, hides precision and
//! dimension from the rest.

use crate::abi::LaneMask;
use crate::abi::bits;
use crate::neighbours::{CellGrid, Coordinate, Hits, Points, RadiusStatistics, can_be_found};
use crate::strands::blocks::Blocks;
use crate::strands::roster::{LaneSets, Roster};
use crate::strands::{Plane, Position, Scalar, Sharing, StateLayout};
use rayon::prelude::*;

/// Blocks whose positions a worker collects at a time.
const BLOCKS: usize = 512;

/// Answers the queries of one super-step.
pub(crate) trait Search: Send + Sync {
    /// Sorts the positions of all living strands, as others see them now. `radius` is the one most
    /// queries are expected to ask for. Runs on the current rayon pool.
    fn rebuild(
        &mut self,
        layout: &StateLayout,
        roster: &Roster,
        homes: Homes<'_>,
        radius: Option<f64>,
    );

    /// True when strands should live in cell order (see `cell_order`).
    fn sorting_pays(&self) -> bool;

    /// Slots of the strands in cell order; strands at positions that are not finite are missing.
    fn cell_order(&self) -> &[u32];

    /// Follows the strands to their new slots. Runs on the current rayon pool.
    fn move_slots(&mut self, moved: &(dyn Fn(u32) -> u32 + Sync));

    /// Calls `found` for every lane with what its query finds.
    ///
    /// # Safety
    /// `centres` and `radii` are planes of `width` lanes in the type of the position.
    unsafe fn spheres(
        &self,
        query: Query,
        hits: &mut Hits,
        radii: &mut RadiusStatistics,
        found: &mut dyn FnMut(usize, &[u32]),
    );
}

/// The two places where planes of others are read.
#[derive(Clone, Copy)]
pub(crate) struct Homes<'a> {
    pub(crate) state: &'a Blocks,
    pub(crate) published: &'a Blocks,
}

impl Homes<'_> {
    /// Where others read a plane of block `block`.
    pub(crate) fn visible(self, plane: Plane, block: usize) -> *const u8 {
        let base = match plane.sharing {
            Sharing::Communicated => self.published.block(block),
            Sharing::Private | Sharing::Constant => self.state.block(block),
        };
        // SAFETY: a plane is inside its block.
        unsafe { base.add(plane.offset) }
    }
}

/// One query per lane.
#[derive(Clone, Copy)]
pub(crate) struct Query {
    pub(crate) centres: *const u8,
    pub(crate) radii: *const u8,
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
}

impl<T: Coordinate, const D: usize> Default for Finder<T, D> {
    fn default() -> Finder<T, D> {
        Finder {
            grid: None,
            points: Points::default(),
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
    ) {
        let position = layout
            .position()
            .expect("a program that queries has positions");
        let planes: [Plane; D] = std::array::from_fn(|axis| layout.plane(position.variable, axis));
        let width = layout.width();
        let position = |block: usize, lane: u32| -> [T; D] {
            // SAFETY: the position's planes hold `T` in every lane of the block, and nothing
            // writes them between super-steps.
            planes
                .map(|plane| unsafe { *homes.visible(plane, block).cast::<T>().add(lane as usize) })
        };
        // Workers first count the points that they will write, so that each knows its place.
        let found = |block: usize, sets: LaneSets| {
            bits(sets.alive()).filter(move |&lane| can_be_found(position(block, lane)))
        };
        let blocks = roster.lanes.par_chunks(BLOCKS).enumerate();
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
                for lane in found(block, sets) {
                    let slot = block * width + lane as usize;
                    let (slot, rank) = (slot as u32, roster.ranks[slot]);
                    // SAFETY: the counts give every strand a place of its own.
                    unsafe { rooms.put(place, position(block, lane), slot, rank) };
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
    ) {
        let Some(grid) = &self.grid else {
            return;
        };
        for lane in bits(query.lanes) {
            let lane = lane as usize;
            // SAFETY: the caller's promise.
            let (centre, radius) = unsafe {
                let centres = query.centres.cast::<T>().add(lane);
                (
                    std::array::from_fn(|axis| *centres.add(axis * query.width)),
                    *query.radii.cast::<T>().add(lane),
                )
            };
            radii.note(radius.to_f64());
            grid.sphere(centre, radius, query.first_slot + lane as u32, hits);
            found(lane, hits.slots());
        }
    }
}
