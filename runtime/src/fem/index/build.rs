//! Builds the index from the boxes of cells.
//!
//! A cell is listed in every bin that it meets, and thin diagonal cells meet many. So lists and bins have a limit that
//! grows with the number of cells: the first grid has coarser bins where cells would be listed too often, and the longest lists are
//! divided first, for as long as the limit and the gain allow. A list that stays long makes searches slower and changes nothing else.

use super::lists::{Lists, Tally};
use super::{Bin, Box3, Geometry, Grid, INNER, Index, part_of};
use crate::memory::{Claim, Shortage};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cells per bin that are aimed at.
const CELLS_PER_BIN: f64 = 4.0;
/// Cells per bin of the first grid in space, where cells meet more bins than in the plane: with smaller ones, lists would be a tenth of
/// the memory of a mesh.
const CELLS_PER_BIN_IN_SPACE: f64 = 16.0;
/// A bin with more cells is divided. Boxes of one size never reach this number, in any arrangement.
const CROWDED: usize = 192;
/// How often bins are divided.
const DEPTH: u32 = 10;
/// The most bins along an axis.
const LONGEST: f64 = 1024.0;
/// The most bins along an axis of an inner grid.
const LONGEST_INNER: u32 = 8;
/// How many cells of a list are looked at to see whether it is worth dividing.
const SAMPLE: usize = 256;
/// How often a cell may be listed in the first grid, on average. Meshes without thin cells need about ten in space and three in the plane.
const LISTED_AT_FIRST: u64 = 24;
/// How often a cell may be listed in all lists that are made, on average.
const LISTED: u64 = 40;
/// The entries of lists that small meshes may have besides.
const FEW: u64 = 4096;
/// The most entries, whatever the number of cells: they are numbered.
const MOST: u64 = u32::MAX as u64;

/// A grid while an index is made.
struct Part {
    bounds: Box3,
    depth: u32,
    /// Whether some of its bins are divided.
    divided: bool,
}

/// What an index is made of.
pub(super) struct Builder<'a, M> {
    mesh: &'a M,
    dim: usize,
    margin: f64,
    index: Index,
    /// The properties of each grid.
    parts: Vec<Part>,
    claim: Claim,
    entries: u64,
}

impl<'a, M: Geometry> Builder<'a, M> {
    /// Makes an index. Positions up to `margin` beyond a box are within it.
    pub(super) fn build(
        mesh: &'a M,
        bounds: &Box3,
        (dim, margin): (usize, f64),
    ) -> Result<Index, Shortage> {
        let mut builder = Builder {
            mesh,
            dim,
            margin,
            index: Index {
                dim,
                ..Index::default()
            },
            parts: Vec::new(),
            claim: Claim::default(),
            entries: 0,
        };
        builder.first_grid(bounds)?;
        builder.divide()?;
        builder.finish()
    }

    /// The grid over the whole mesh.
    fn first_grid(&mut self, bounds: &Box3) -> Result<(), Shortage> {
        let claim = crate::memory::claim(4 * self.mesh.cells() as u64)?;
        let all: Vec<u32> = (0..self.mesh.cells() as u32).collect();
        let most = (LISTED_AT_FIRST * all.len() as u64 + FEW).min(MOST);
        let per_bin = match self.dim {
            3 => CELLS_PER_BIN_IN_SPACE,
            _ => CELLS_PER_BIN,
        };
        let bins = all.len() as f64 / per_bin;
        let mut sizes = self.sizes(bins, bounds, [1.0; 3]);
        let mut grid = Grid::new(bounds, sizes, 0);
        let thin = self.listed(&grid, &all) > most;
        if thin {
            let shaped = Grid::new(bounds, self.sizes(bins, bounds, self.mean_edges(&all)), 0);
            if self.listed(&shaped, &all) < self.listed(&grid, &all) {
                (sizes, grid) = (shaped.sizes, shaped);
            }
        }
        while self.listed(&grid, &all) > most && sizes != [1; 3] {
            let spans = self.spans(&grid, &all);
            let longest = (0..self.dim)
                .filter(|&a| sizes[a] > 1)
                .max_by_key(|&a| spans[a])
                .unwrap_or(0);
            sizes[longest] = sizes[longest].div_ceil(2);
            grid = Grid::new(bounds, sizes, 0);
        }
        // Where cells are not thin, boxes say enough.
        let tallies = self.count(&grid, bounds, &all, thin);
        self.push(grid, bounds, &all, (tallies, thin), 0)?;
        drop(claim);
        Ok(())
    }

    /// Divides crowded bins, the most crowded first.
    fn divide(&mut self) -> Result<(), Shortage> {
        let cells = self.mesh.cells();
        let most_entries = (LISTED * cells as u64 + FEW).min(MOST);
        let most_bins = self.index.bins.len() + cells + FEW as usize;
        let mut crowded = BinaryHeap::new();
        self.note_crowded(0, &mut crowded);
        while let Some((length, Reverse((grid, bin)))) = crowded.pop() {
            if self.entries + length as u64 > most_entries {
                continue;
            }
            let part = &self.parts[grid as usize];
            let (depth, whole) = (part.depth + 1, self.index.grids[grid as usize].sizes);
            let own = part_of(&part.bounds, &whole, place(&whole, bin));
            let list = self.index.list(grid as usize, bin as usize);
            let list: Vec<u32> = list.into_iter().flatten().collect();
            let mut sizes = self.sizes(list.len() as f64 / CELLS_PER_BIN, &own, [1.0; 3]);
            // A crowded bin is divided along every axis, or the cells stay as crowded.
            sizes[..self.dim]
                .iter_mut()
                .for_each(|size| *size = (*size).clamp(2, LONGEST_INNER));
            let inner = Grid::new(&own, sizes, self.index.bins.len() as u32);
            // Lists that would not be half as long on average are not worth the memory; some of the cells show it sooner than all.
            let gains =
                |cells: &[u32], entries: u64| 2 * entries <= (cells.len() * inner.bins()) as u64;
            let step = length.div_ceil(SAMPLE);
            let some: Vec<u32> = list.iter().copied().step_by(step).collect();
            if !gains(&some, total(&self.count(&inner, &own, &some, true))) {
                continue;
            }
            let tallies = self.count(&inner, &own, &list, true);
            let fits = self.entries + total(&tallies) <= most_entries
                && self.index.bins.len() + inner.bins() <= most_bins;
            if !(gains(&list, total(&tallies)) && fits) {
                continue;
            }
            let number = self.push(inner, &own, &list, (tallies, true), depth)?;
            self.parts[grid as usize].divided = true;
            let place = self.index.grids[grid as usize].first + bin;
            self.index.bins[place as usize] = Bin::divided(number);
            self.note_crowded(number, &mut crowded);
        }
        Ok(())
    }

    /// Remembers the bins of a grid that have too many cells.
    fn note_crowded(&self, grid: u32, crowded: &mut BinaryHeap<(usize, Reverse<(u32, u32)>)>) {
        if self.parts[grid as usize].depth == DEPTH {
            return;
        }
        for bin in 0..self.index.grids[grid as usize].bins() as u32 {
            let list = self.index.list(grid as usize, bin as usize);
            let length = list.map_or(0, |list| list.len());
            if length > CROWDED {
                crowded.push((length, Reverse((grid, bin))));
            }
        }
    }

    /// Bins of a box, of the shape that `edges` have; about as many as there should be.
    fn sizes(&self, wanted: f64, bounds: &Box3, edges: [f64; 3]) -> [u32; 3] {
        let widths: [f64; 3] = std::array::from_fn(|a| (bounds[1][a] - bounds[0][a]) / edges[a]);
        let longest = widths[..self.dim].iter().copied().fold(0.0, f64::max);
        let volume: f64 = widths[..self.dim]
            .iter()
            .map(|w| w.max(1e-3 * longest))
            .product();
        let wanted = wanted.max(1.0);
        let edge = (volume / wanted).powf(1.0 / self.dim as f64);
        let mut sizes = [1_u32; 3];
        for a in 0..self.dim {
            // Numbers so small or large that nothing comes out are one bin.
            let size = (widths[a] / edge).round();
            sizes[a] = if size >= 1.0 {
                size.min(LONGEST) as u32
            } else {
                1
            };
        }
        // Rounding gives up to twice as many along an axis; more are of widths that differ too much.
        while sizes.iter().map(|&n| f64::from(n)).product::<f64>() > 8.0 * wanted {
            let largest = (0..3).max_by_key(|&a| sizes[a]).unwrap_or(0);
            sizes[largest] = sizes[largest].div_ceil(2);
        }
        sizes
    }

    /// The mean edges of the boxes of cells.
    fn mean_edges(&self, cells: &[u32]) -> [f64; 3] {
        let edge = |cell: &u32, a: usize| {
            let [low, high] = self.mesh.bounds(*cell);
            high[a] - low[a] + 2.0 * self.margin
        };
        std::array::from_fn(|a| {
            let sum: f64 = cells.iter().map(|cell| edge(cell, a)).sum();
            (sum / cells.len() as f64).max(f64::MIN_POSITIVE)
        })
    }

    /// The bins that the box of a cell meets: the first and the last along each axis.
    fn range(&self, grid: &Grid, cell: u32) -> [[u32; 3]; 2] {
        let [low, high] = self.mesh.bounds(cell);
        [
            grid.bin(&low.map(|x| x - self.margin)),
            grid.bin(&high.map(|x| x + self.margin)),
        ]
    }

    /// How many entries the lists of a grid would have by the boxes of cells.
    fn listed(&self, grid: &Grid, cells: &[u32]) -> u64 {
        let of_cell = |&cell: &u32| {
            let [from, to] = self.range(grid, cell);
            (0..3)
                .map(|a| u64::from(to[a] - from[a] + 1))
                .product::<u64>()
        };
        cells.par_iter().map(of_cell).sum()
    }

    /// How many bins cells meet along each axis, all together.
    fn spans(&self, grid: &Grid, cells: &[u32]) -> [u64; 3] {
        let mut sums = [0; 3];
        for &cell in cells {
            let [from, to] = self.range(grid, cell);
            (0..3).for_each(|a| sums[a] += u64::from(to[a] - from[a] + 1));
        }
        sums
    }

    /// Gives every bin that a cell meets: by its box, and, if asked to look closely, by its faces.
    fn visit(
        &self,
        grid: &Grid,
        bounds: &Box3,
        (cell, closely): (u32, bool),
        give: &mut dyn FnMut(usize),
    ) {
        let [from, to] = self.range(grid, cell);
        if closely {
            return self.visit_closely(grid, bounds, cell, [from, to], give);
        }
        for z in from[2]..to[2] + 1 {
            for y in from[1]..to[1] + 1 {
                for x in from[0]..to[0] + 1 {
                    give(grid.number([x, y, z]));
                }
            }
        }
    }

    /// Gives every bin of a range that a cell meets by its faces. Parts of the range that are beyond a face are skipped as a whole.
    fn visit_closely(
        &self,
        grid: &Grid,
        bounds: &Box3,
        cell: u32,
        [from, to]: [[u32; 3]; 2],
        give: &mut dyn FnMut(usize),
    ) {
        let [low, _] = part_of(bounds, &grid.sizes, from);
        let [_, high] = part_of(bounds, &grid.sizes, to);
        let own = [low.map(|x| x - self.margin), high.map(|x| x + self.margin)];
        if !self.mesh.meets(cell, &own) {
            return;
        }
        let longest = (0..3).max_by_key(|&a| to[a] - from[a]).unwrap_or(0);
        if to[longest] == from[longest] {
            return give(grid.number(from));
        }
        let (mut middle, mut next) = (to, from);
        middle[longest] = from[longest].midpoint(to[longest]);
        next[longest] = middle[longest] + 1;
        self.visit_closely(grid, bounds, cell, [from, middle], give);
        self.visit_closely(grid, bounds, cell, [next, to], give);
    }

    /// What the lists of a grid would be like.
    fn count(&self, grid: &Grid, bounds: &Box3, cells: &[u32], closely: bool) -> Vec<Tally> {
        let mut tallies = vec![Tally::default(); grid.bins()];
        for &cell in cells {
            self.visit(grid, bounds, (cell, closely), &mut |n| tallies[n].add(cell));
        }
        tallies
    }

    /// Adds a grid with its lists.
    fn push(
        &mut self,
        grid: Grid,
        bounds: &Box3,
        cells: &[u32],
        (mut tallies, closely): (Vec<Tally>, bool),
        depth: u32,
    ) -> Result<u32, Shortage> {
        let (number, bins) = (self.index.grids.len() as u32, grid.bins());
        // The memory of bins doubles when it grows, and there are starts beside them.
        let of_bin = 2 * size_of::<Bin>() + (4 << self.dim) + size_of::<Tally>() + 4;
        let of_grid = size_of::<Part>() + size_of::<Grid>() + size_of::<Lists>();
        self.claim
            .grow(Lists::bytes_of(&tallies) + (bins * of_bin + of_grid) as u64)?;
        self.entries += total(&tallies);
        let own = &mut self.index.bins;
        own.reserve(bins);
        let mut lists = Lists::new(&mut tallies, |at| own.push(Bin(at as u64)));
        for &cell in cells {
            self.visit(&grid, bounds, (cell, closely), &mut |n| {
                lists.write(&mut tallies[n], cell);
            });
        }
        self.index.grids.push(grid);
        self.index.lists.push(lists);
        self.parts.push(Part {
            bounds: *bounds,
            depth,
            divided: false,
        });
        Ok(number)
    }

    /// Drops lists of divided bins, and puts a cell to begin with in every bin.
    fn finish(mut self) -> Result<Index, Shortage> {
        let parts = std::mem::take(&mut self.parts);
        for (number, part) in parts.iter().enumerate() {
            if part.divided {
                self.drop_divided(number);
            }
        }
        self.index.starts = vec![super::super::NONE; self.index.bins.len() << self.dim];
        for (number, part) in parts.iter().enumerate() {
            let starts = self.starts(number, &part.bounds);
            let grid = &self.index.grids[number];
            for (bin, start) in starts.into_iter().enumerate() {
                let at = place(&grid.sizes, bin as u32);
                for half in 0..1_u32 << self.dim {
                    let half = [0, 1, 2].map(|a| 2 * at[a] + (half >> a & 1));
                    self.index.starts[grid.half_number(half, self.dim)] = start;
                }
            }
        }
        let mut index = self.index;
        index.shrink();
        let kept = index.bytes() as u64;
        self.claim.keep(kept)?;
        index._claim = self.claim;
        Ok(index)
    }

    /// Drops the lists of bins of a grid that are divided.
    fn drop_divided(&mut self, number: usize) {
        let mut kept = Lists::default();
        let first = self.index.grids[number].first as usize;
        for bin in 0..self.index.grids[number].bins() {
            if let Some(list) = self.index.list(number, bin) {
                let at = kept.append(list);
                self.index.bins[first + bin] = Bin(at as u64);
            }
        }
        kept.shrink();
        self.index.lists[number] = kept;
    }

    /// Where a search in each bin of a grid begins: the inner grid, or the cell of the list that is nearest to the middle.
    fn starts(&self, number: usize, bounds: &Box3) -> Vec<u32> {
        let grid = &self.index.grids[number];
        let start = |bin: usize| {
            if let Ok(inner) = self.index.bins[grid.first as usize + bin].contents() {
                return INNER | inner;
            }
            let [low, high] = part_of(bounds, &grid.sizes, place(&grid.sizes, bin as u32));
            let distance = |cell: u32| -> f64 {
                let centre = self.mesh.centre(cell);
                let off = |a: usize| (2.0 * centre[a] - low[a] - high[a]).powi(2);
                (0..self.dim).map(off).sum()
            };
            let list = self.index.list(number, bin).into_iter().flatten();
            let nearest = list
                .map(|cell| (distance(cell), cell))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            nearest.map_or(super::super::NONE, |(_, cell)| cell)
        };
        let bins = (0..grid.bins()).into_par_iter().with_min_len(256);
        bins.map(start).collect()
    }
}

/// How many entries lists have.
fn total(tallies: &[Tally]) -> u64 {
    tallies.iter().map(|tally| u64::from(tally.count)).sum()
}

/// The place of a bin in a grid of such sizes.
fn place(sizes: &[u32; 3], bin: u32) -> [u32; 3] {
    [
        bin % sizes[0],
        bin / sizes[0] % sizes[1],
        bin / sizes[0] / sizes[1],
    ]
}
