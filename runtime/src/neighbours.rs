//! Spatial queries: takes the positions of strands at the start of a super-step, gives for a sphere
//! the strands strictly inside it.
//!
//! Positions are sorted into cells of about the size of the query radius, so that a query looks at
//! a few rows of cells. The result does not depend on the cells: the cell of a coordinate is a
//! monotone function of it, the cells looked at cover the sphere with a margin for rounding, and
//! every candidate is tested in the precision of the program: squared distance `< r * r`. Results
//! come in strand order. Strands at a NaN or infinite position are never found; a radius that is
//! not positive finds nothing.

mod cells;
mod counting;
mod lanes;
mod radii;
mod select;
pub(crate) mod sight;

pub use radii::RadiusStatistics;
pub use select::Hits;

use crate::memory::Room;
use cells::Cells;
use counting::Counting;
use rayon::prelude::*;
use std::ops::{Add, Mul, Sub};

/// Points that a worker takes at a time.
const PIECE: usize = 1 << 13;

/// A number that positions are made of, in one of the two precisions of the language.
pub trait Coordinate:
    Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + 'static
{
    /// Not a number: the coordinate of padding.
    const NAN: Self;
    /// How much farther than `r` a point may be whose squared distance, computed in this precision,
    /// is below `r * r`: relative part.
    const SLACK: f64;
    /// The absolute part, which matters when squares underflow.
    const TINY: f64;

    /// The same value in double precision.
    fn to_f64(self) -> f64;

    /// Bit `i` says whether `values[i] < bound`.
    fn bits_below(values: &[Self; 16], bound: Self) -> u32;
}

impl Coordinate for f32 {
    const NAN: f32 = f32::NAN;
    const SLACK: f64 = 16.0 * f32::EPSILON as f64;
    const TINY: f64 = 1e-18;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn bits_below(values: &[f32; 16], bound: f32) -> u32 {
        lanes::bits_below_f32(values, bound)
    }
}

impl Coordinate for f64 {
    const NAN: f64 = f64::NAN;
    const SLACK: f64 = 16.0 * f64::EPSILON;
    const TINY: f64 = 1e-150;

    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn bits_below(values: &[f64; 16], bound: f64) -> u32 {
        lanes::bits_below_f64(values, bound)
    }
}

/// Strands with their positions, as parallel columns.
#[derive(Clone, Debug)]
pub struct Points<T, const D: usize> {
    /// One column per axis.
    pub coordinates: [Vec<T>; D],
    /// Where each strand lives.
    pub slots: Vec<u32>,
    /// Its place in the order of results; no two have the same.
    pub ranks: Vec<u32>,
}

impl<T, const D: usize> Default for Points<T, D> {
    fn default() -> Points<T, D> {
        Points {
            coordinates: [const { Vec::new() }; D],
            slots: Vec::new(),
            ranks: Vec::new(),
        }
    }
}

impl<T: Coordinate, const D: usize> Points<T, D> {
    /// Becomes a list of this many points that are to be written, at any places and by any workers.
    pub(crate) fn rooms(&mut self, count: usize) -> PointRooms<T, D> {
        let coordinates = self.coordinates.each_mut().map(|column| {
            column.resize(count, T::NAN);
            Room::new(column.as_mut_ptr())
        });
        let [slots, ranks] = [&mut self.slots, &mut self.ranks].map(|column| {
            column.resize(count, 0);
            Room::new(column.as_mut_ptr())
        });
        PointRooms {
            coordinates,
            slots,
            ranks,
        }
    }

    /// Adds a strand. Strands at positions that are not finite are left out.
    pub fn push(&mut self, position: [T; D], slot: u32, rank: u32) {
        if can_be_found(position) {
            for (column, x) in self.coordinates.iter_mut().zip(position) {
                column.push(x);
            }
            self.slots.push(slot);
            self.ranks.push(rank);
        }
    }

    /// Number of strands.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

/// Whether a strand at this position is ever found.
pub(crate) fn can_be_found<T: Coordinate, const D: usize>(position: [T; D]) -> bool {
    position.iter().all(|x| x.to_f64().is_finite())
}

/// How far from its centre, on every axis, the points are that a query may find; `None` if it finds nothing.
pub(crate) fn reach<T: Coordinate, const D: usize>(centre: [T; D], radius: T) -> Option<f64> {
    let finds = radius > T::default() && can_be_found(centre);
    finds.then(|| radius.to_f64() * (1.0 + T::SLACK) + T::TINY)
}

/// Where points are written, each by one worker.
pub(crate) struct PointRooms<T, const D: usize> {
    coordinates: [Room<T>; D],
    slots: Room<u32>,
    ranks: Room<u32>,
}

impl<T: Coordinate, const D: usize> PointRooms<T, D> {
    /// Writes a strand, which can be found.
    ///
    /// # Safety
    /// There is room at this place, and no other thread reads or writes it meanwhile.
    pub(crate) unsafe fn put(&self, place: usize, position: [T; D], slot: u32, rank: u32) {
        // SAFETY: promised by the caller.
        unsafe {
            for (column, x) in self.coordinates.iter().zip(position) {
                column.put(place, x);
            }
            self.slots.put(place, slot);
            self.ranks.put(place, rank);
        }
    }
}

/// Points sorted by cell, ready for queries in `D` dimensions.
#[derive(Debug)]
pub struct CellGrid<T, const D: usize> {
    cells: Cells<D>,
    /// How they were sorted.
    sorted: Counting,
    /// In cell order, followed by padding at NaN so that a group of candidates can be loaded at any
    /// place.
    points: Points<T, D>,
    count: usize,
    /// The slot of each rank; empty when ranks are far from dense.
    slot_of: Vec<u32>,
    sorting_pays: bool,
}

impl<T: Coordinate, const D: usize> CellGrid<T, D> {
    /// Sorts `points` into cells. `radius` is what queries are expected to ask for; it influences
    /// speed only.
    ///
    /// The memory of `old`, if there is such a grid, is used again. Runs on the current rayon pool.
    pub fn build(
        given: &Points<T, D>,
        radius: Option<f64>,
        old: Option<CellGrid<T, D>>,
    ) -> CellGrid<T, D> {
        let count = given.len();
        let (mut sorted, mut points, mut slot_of) = old.map_or_else(Default::default, |old| {
            let mut sorted = old.sorted;
            sorted.starts = old.cells.into_memory();
            (sorted, old.points, old.slot_of)
        });
        let axis = |axis: usize, point: usize| given.coordinates[axis][point].to_f64();
        let cells = cells::sort::<D>(count, axis, radius, &mut sorted);
        let places = &sorted.places;
        for (to, from) in points.coordinates.iter_mut().zip(&given.coordinates) {
            to.resize(count + lanes::GROUP, T::NAN);
            to[count..].fill(T::NAN);
            scatter(from, places, to);
        }
        for (to, from) in [
            (&mut points.slots, &given.slots),
            (&mut points.ranks, &given.ranks),
        ] {
            to.resize(count + lanes::GROUP, 0);
            scatter(from, places, to);
        }
        by_rank(&given.ranks, &given.slots, &mut slot_of);
        let sorting_pays = sorting_pays(&cells, given, &points);
        CellGrid {
            cells,
            sorted,
            points,
            count,
            slot_of,
            sorting_pays,
        }
    }

    /// True when the points came in an order in which neighbours in space are far apart, and cell
    /// order is much better.
    pub fn sorting_pays(&self) -> bool {
        self.sorting_pays
    }

    /// Slots of all points in cell order.
    pub fn slots(&self) -> &[u32] {
        &self.points.slots[..self.count]
    }

    /// Tells the grid that every strand has moved to the slot `moved` gives for its old one. Runs on the current rayon pool.
    pub fn move_slots(&mut self, moved: impl Fn(u32) -> u32 + Sync) {
        let slots = self.points.slots[..self.count].par_iter_mut();
        let slots = slots.chain(&mut self.slot_of).with_min_len(PIECE);
        slots.for_each(|slot| *slot = moved(*slot));
    }

    /// Finds the points strictly closer than `radius` to `centre`, except the strand at slot `own`,
    /// and leaves them in `hits` in rank order.
    pub fn sphere(&self, centre: [T; D], radius: T, own: u32, hits: &mut Hits) {
        hits.clear();
        if let Some(reach) = reach(centre, radius) {
            let middle = centre.map(T::to_f64);
            self.cells
                .cover(middle, reach, self.count, &mut hits.ranges);
            select::select(
                &self.points,
                &self.slot_of,
                centre,
                radius * radius,
                own,
                hits,
            );
        }
    }
}

/// Pairs of consecutive points looked at by [`sorting_pays`].
const SAMPLES: usize = 4096;

/// Compares how often consecutive points are in cells that are not neighbours, as given and in cell
/// order.
fn sorting_pays<T: Coordinate, const D: usize>(
    cells: &Cells<D>,
    given: &Points<T, D>,
    sorted: &Points<T, D>,
) -> bool {
    let stride = (given.len() / SAMPLES).max(1);
    let jumps = |points: &Points<T, D>| {
        let position =
            |place: usize| std::array::from_fn(|axis| points.coordinates[axis][place].to_f64());
        let firsts = (0..given.len().saturating_sub(1)).into_par_iter();
        let firsts = firsts.step_by(stride).with_min_len(SAMPLES / 16);
        firsts
            .filter(|&place| !cells.adjacent(position(place), position(place + 1)))
            .count()
    };
    let samples = given.len() / stride;
    given.len() >= SAMPLES && jumps(given) > 2 * jumps(sorted) + samples / 4
}

/// The slot of each rank, where there are not many more ranks than strands; else nothing. The dead keep their ranks for a while.
fn by_rank(ranks: &[u32], slots: &[u32], slot_of: &mut Vec<u32>) {
    let end = ranks
        .par_iter()
        .with_min_len(PIECE)
        .max()
        .map_or(0, |&last| last as usize + 1);
    if end > 4 * ranks.len() + 64 {
        slot_of.clear();
    } else {
        slot_of.resize(end, 0);
        scatter(slots, ranks, slot_of);
    }
}

/// Puts `from[i]` at `to[places[i]]`; no two places are the same.
fn scatter<V: Copy + Send + Sync>(from: &[V], places: &[u32], to: &mut [V]) {
    assert!(from.len() <= to.len(), "room for everything");
    let room = Room::new(to.as_mut_ptr());
    let pieces = from.par_chunks(PIECE).zip(places.par_chunks(PIECE));
    pieces.for_each(|(from, places)| {
        for (&value, &place) in from.iter().zip(places) {
            // SAFETY: places are below their number, and each is that of one value.
            unsafe { room.put(place as usize, value) };
        }
    });
}
