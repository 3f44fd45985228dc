//! Cells: maps coordinates to cells and a box to the rows of cells that cover it.
//!
//! Usually the cells form a dense box with about as many cells as points. When points are so
//! clustered that such cells would be crowded, only the rows that hold points are kept, sorted, and
//! found by binary search.

use super::PIECE;
use super::counting::Counting;
use rayon::prelude::*;
use std::ops::Range;

/// More cells than this per point are not kept.
const CELLS_PER_POINT: usize = 4;
/// Points per cell aimed at when no radius is known.
const POINTS_PER_CELL: f64 = 8.0;
/// Points in a point's own cell, on average, from which cells larger than the radius count as
/// crowded.
const CROWDED: u64 = 64;
/// Cells of the sparse form are at least this fraction of the extent, so that their numbers stay
/// exact.
const FINEST: f64 = 1.0 / (1u64 << 40) as f64;

/// A partition of space into boxes and the points in each, as places in cell order.
#[derive(Debug)]
pub(super) struct Cells<const D: usize> {
    low: [f64; D],
    /// Cells per unit length.
    inverse: f64,
    /// Largest cell number per axis.
    last: [i64; D],
    store: Store<D>,
}

#[derive(Debug)]
enum Store<const D: usize> {
    /// First place of each cell in row-major order, axis 0 fastest, and the end of the last.
    Dense(Vec<u32>),
    Sparse {
        /// Rows that hold points, sorted by their cell numbers on the axes from the last to the
        /// second.
        rows: Vec<Row<D>>,
        /// Cell number on axis 0 of each place.
        first: Vec<i64>,
    },
}

/// A row of cells along axis 0: its cell numbers on the other axes (the entry for axis 0 is unused)
/// and its places.
#[derive(Debug)]
struct Row<const D: usize> {
    key: [i64; D],
    places: Range<u32>,
}

/// Makes cells for `count` points with finite coordinates; the place of each point in cell order is in `sorted` then. Points of
/// one cell keep their order. Runs on the current rayon pool.
pub(super) fn sort<const D: usize>(
    count: usize,
    axis: impl Fn(usize, usize) -> f64 + Sync,
    radius: Option<f64>,
    sorted: &mut Counting,
) -> Cells<D> {
    let bounds: [(f64, f64); D] = std::array::from_fn(|a| {
        let points = (0..count).into_par_iter().with_min_len(PIECE);
        points.map(|point| (axis(a, point), axis(a, point))).reduce(
            || (f64::INFINITY, f64::NEG_INFINITY),
            |a, b| (a.0.min(b.0), a.1.max(b.1)),
        )
    });
    let low = bounds.map(|(low, high)| if low <= high { low } else { 0.0 });
    let extent = bounds.map(|(low, high)| if low <= high { high - low } else { 0.0 });
    let radius = radius.filter(|radius| *radius > 0.0 && radius.is_finite());
    let most = (count * CELLS_PER_POINT).max(64) as f64;
    let edge = dense_edge(
        extent,
        radius.unwrap_or_else(|| expected_spacing(extent, count)),
        most,
    );
    let mut cells = Cells::new(low, extent, edge);
    let boxes = cells.last.iter().map(|&last| last as usize + 1).product();
    let number = |point: usize| cells.dense_number(|a| axis(a, point));
    let crowding = sorted.sort(count, boxes, number);
    if crowding > CROWDED * count as u64 && radius.is_none_or(|radius| edge > 1.5 * radius) {
        let edge = radius.unwrap_or(edge / 16.0);
        return sort_sparse(count, axis, low, extent, edge, &mut sorted.places);
    }
    cells.store = Store::Dense(std::mem::take(&mut sorted.starts));
    cells
}

/// The smallest edge from `edge` upwards with which a dense box has at most `most` cells.
fn dense_edge<const D: usize>(extent: [f64; D], edge: f64, most: f64) -> f64 {
    // An extent that overflows is beyond any grid: one cell then, until the sparse form takes over.
    let mut edge = edge.max(f64::MIN_POSITIVE);
    while extent
        .iter()
        .map(|length| (length / edge).floor() + 1.0)
        .product::<f64>()
        > most
    {
        edge *= 1.25;
    }
    edge
}

/// An edge that would put [`POINTS_PER_CELL`] into each cell if the points filled their bounding
/// box evenly.
fn expected_spacing<const D: usize>(extent: [f64; D], count: usize) -> f64 {
    let lengths = extent.iter().filter(|length| **length > 0.0);
    let (axes, log_volume) = lengths.fold((0, 0.0), |(axes, log), length| {
        (axes + 1, log + length.ln())
    });
    if axes == 0 {
        1.0
    } else {
        ((log_volume + (POINTS_PER_CELL / count as f64).ln()) / f64::from(axes)).exp()
    }
}

fn sort_sparse<const D: usize>(
    count: usize,
    axis: impl Fn(usize, usize) -> f64,
    low: [f64; D],
    extent: [f64; D],
    radius: f64,
    places: &mut [u32],
) -> Cells<D> {
    let longest = extent
        .iter()
        .fold(0.0, |longest: f64, length| longest.max(*length))
        .min(f64::MAX);
    let mut cells = Cells::new(low, extent, radius.max(longest * FINEST));
    let mut points: Vec<([i64; D], u32)> = (0..count)
        .map(|point| {
            (
                std::array::from_fn(|a| cells.number(D - 1 - a, axis(D - 1 - a, point))),
                point as u32,
            )
        })
        .collect();
    // The keys are reversed, so this sorts by the last axis first, then by the point's own order.
    points.sort_unstable();
    let mut rows: Vec<Row<D>> = Vec::new();
    let mut first = Vec::with_capacity(count);
    for (place, (mut key, point)) in (0u32..).zip(points) {
        places[point as usize] = place;
        first.push(key[D - 1]);
        key[D - 1] = 0;
        match rows.last_mut() {
            Some(row) if row.key == key => row.places.end = place + 1,
            _ => rows.push(Row {
                key,
                places: place..place + 1,
            }),
        }
    }
    cells.store = Store::Sparse { rows, first };
    cells
}

impl<const D: usize> Cells<D> {
    /// Memory that other cells can use.
    pub(super) fn into_memory(self) -> Vec<u32> {
        match self.store {
            Store::Dense(starts) => starts,
            Store::Sparse { .. } => Vec::new(),
        }
    }

    fn new(low: [f64; D], extent: [f64; D], edge: f64) -> Cells<D> {
        let inverse = 1.0 / edge;
        let mut cells = Cells {
            low,
            inverse,
            last: [i64::MAX; D],
            store: Store::Dense(Vec::new()),
        };
        cells.last = std::array::from_fn(|axis| cells.number(axis, low[axis] + extent[axis]));
        cells
    }

    /// The cell number of a coordinate: monotone, and clamped to the cells there are.
    #[inline(always)]
    fn number(&self, axis: usize, x: f64) -> i64 {
        // The cast saturates and takes NaN to 0. It need not round down, because numbers below 0 go to the first cell anyway.
        (((x - self.low[axis]) * self.inverse) as i64).clamp(0, self.last[axis])
    }

    fn dense_number(&self, x: impl Fn(usize) -> f64) -> u32 {
        (0..D).rev().fold(0, |number, axis| {
            number * (self.last[axis] + 1) + self.number(axis, x(axis))
        }) as u32
    }

    /// True if two positions are in the same cell or in cells that are neighbours along axis 0.
    pub(super) fn adjacent(&self, a: [f64; D], b: [f64; D]) -> bool {
        (0..D).all(|axis| {
            (self.number(axis, a[axis]) - self.number(axis, b[axis])).abs() <= i64::from(axis == 0)
        })
    }

    /// Appends ranges of places that together hold every point within `reach` of `centre`, none
    /// twice.
    pub(super) fn cover(
        &self,
        centre: [f64; D],
        reach: f64,
        count: usize,
        ranges: &mut Vec<Range<usize>>,
    ) {
        let low: [i64; D] = std::array::from_fn(|axis| self.number(axis, centre[axis] - reach));
        let high: [i64; D] = std::array::from_fn(|axis| self.number(axis, centre[axis] + reach));
        let rows = (1..D)
            .map(|axis| high[axis] as f64 - low[axis] as f64 + 1.0)
            .product::<f64>();
        if rows > count as f64 {
            // Looking up the rows would cost more than looking at all points.
            ranges.push(0..count);
            return;
        }
        match &self.store {
            Store::Dense(starts) => {
                let length = (high[0] - low[0]) as usize + 1;
                for_each_row(low, high, |row| {
                    let first = (0..D)
                        .rev()
                        .fold(0, |number, axis| number * (self.last[axis] + 1) + row[axis])
                        as usize;
                    let places = starts[first] as usize..starts[first + length] as usize;
                    if !places.is_empty() {
                        ranges.push(places);
                    }
                });
            }
            Store::Sparse { rows, first } => for_each_row(low, high, |row| {
                let mut key: [i64; D] = std::array::from_fn(|a| row[D - 1 - a]);
                key[D - 1] = 0;
                if let Ok(found) = rows.binary_search_by(|row| row.key.cmp(&key)) {
                    let places = rows[found].places.start as usize..rows[found].places.end as usize;
                    let numbers = &first[places.clone()];
                    let begin = numbers.partition_point(|&number| number < low[0]);
                    let end = numbers.partition_point(|&number| number <= high[0]);
                    if begin < end {
                        ranges.push(places.start + begin..places.start + end);
                    }
                }
            }),
        }
    }
}

/// Calls `visit` with the cell numbers of every row of a box of cells; the entry for axis 0 is that
/// of `low`.
#[inline(always)]
fn for_each_row<const D: usize>(low: [i64; D], high: [i64; D], mut visit: impl FnMut([i64; D])) {
    let mut row = low;
    loop {
        visit(row);
        let mut axis = 1;
        loop {
            if axis >= D {
                return;
            }
            if row[axis] < high[axis] {
                row[axis] += 1;
                break;
            }
            row[axis] = low[axis];
            axis += 1;
        }
    }
}
