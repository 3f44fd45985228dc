//! Builds the index from the boxes of cells.
//!
//! A cell is listed in every bin that it meets, and thin diagonal cells meet many. So lists and bins have a limit that
//! grows with the number of cells: the first grid has coarser bins where cells would be listed too often, and the longest lists are
//! divided first, for as long as the limit and the gain allow. A list that stays long makes searches slower and changes nothing else.

use super::{Bin, Box3, Grid, INNER, Index, part_of};
use crate::memory::{Claim, Shortage};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cells per bin that are aimed at.
const CELLS_PER_BIN: f64 = 4.0;
/// A bin with more cells is divided. Boxes of one size never reach this number, in any arrangement.
const CROWDED: usize = 128;
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

/// A grid whose lists are not yet in their place.
struct Lists {
    /// Where the list of each bin ends; the first begins at 0.
    ends: Vec<u32>,
    members: Vec<u32>,
    /// For each bin the number of its grid, if it was divided.
    inner: Vec<Option<u32>>,
    bounds: Box3,
    depth: u32,
}

/// What an index is made of.
pub(super) struct Builder<'a, M> {
    boxes: &'a [Box3],
    dim: usize,
    margin: f64,
    /// Whether a cell may contain positions of a box.
    meets: M,
    index: Index,
    lists: Vec<Lists>,
    /// The memory that is claimed for lists until they are in their place.
    claim: Claim,
    entries: u64,
}

impl<'a, M: Fn(u32, &Box3) -> bool> Builder<'a, M> {
    /// Makes an index. Positions up to `margin` beyond a box are within it.
    pub(super) fn build(
        boxes: &'a [Box3],
        bounds: &Box3,
        (dim, margin): (usize, f64),
        meets: M,
    ) -> Result<Index, Shortage> {
        let mut builder = Builder {
            boxes,
            dim,
            margin,
            meets,
            index: Index {
                dim,
                ..Index::default()
            },
            lists: Vec::new(),
            claim: Claim::default(),
            entries: 0,
        };
        builder.first_grid(bounds)?;
        builder.divide()?;
        builder.finish()
    }

    /// The grid over the whole mesh.
    fn first_grid(&mut self, bounds: &Box3) -> Result<(), Shortage> {
        let claim = crate::memory::claim(4 * self.boxes.len() as u64)?;
        let all: Vec<u32> = (0..self.boxes.len() as u32).collect();
        let most = (LISTED_AT_FIRST * all.len() as u64 + FEW).min(MOST);
        let mut sizes = self.sizes(&all, bounds, [1.0; 3]);
        let mut grid = Grid::new(bounds, sizes, 0);
        let thin = self.listed(&grid, &all) > most;
        if thin {
            let shaped = Grid::new(bounds, self.sizes(&all, bounds, self.mean_edges(&all)), 0);
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
        let ends = self.count(&grid, bounds, &all, thin);
        self.push(grid, bounds, &all, (ends, thin), 0)?;
        drop(claim);
        Ok(())
    }

    /// Divides crowded bins, the most crowded first.
    fn divide(&mut self) -> Result<(), Shortage> {
        let most_entries = (LISTED * self.boxes.len() as u64 + FEW).min(MOST);
        let most_bins = self.index.bins.len() + self.boxes.len() + FEW as usize;
        let mut crowded = BinaryHeap::new();
        self.note_crowded(0, &mut crowded);
        while let Some((length, Reverse((grid, bin)))) = crowded.pop() {
            if self.entries + length as u64 > most_entries {
                continue;
            }
            let lists = &self.lists[grid as usize];
            let (depth, whole) = (lists.depth + 1, self.index.grids[grid as usize].sizes);
            let own = part_of(&lists.bounds, &whole, place(&whole, bin));
            let list = lists.list(bin).to_vec();
            let mut sizes = self.sizes(&list, &own, [1.0; 3]);
            // A crowded bin is divided along every axis, or the cells stay as crowded.
            sizes[..self.dim]
                .iter_mut()
                .for_each(|size| *size = (*size).clamp(2, LONGEST_INNER));
            let inner = Grid::new(&own, sizes, self.index.bins.len() as u32);
            // Lists that would not be half as long on average are not worth the memory; some of the cells show it sooner than all.
            let gains = |cells: &[u32], entries: u32| {
                2 * u64::from(entries) <= (cells.len() * inner.bins()) as u64
            };
            let step = length.div_ceil(SAMPLE);
            let some: Vec<u32> = list.iter().copied().step_by(step).collect();
            if !gains(&some, total(&self.count(&inner, &own, &some, true))) {
                continue;
            }
            let ends = self.count(&inner, &own, &list, true);
            let fits = self.entries + u64::from(total(&ends)) <= most_entries
                && self.index.bins.len() + inner.bins() <= most_bins;
            if !(gains(&list, total(&ends)) && fits) {
                continue;
            }
            let number = self.push(inner, &own, &list, (ends, true), depth)?;
            self.lists[grid as usize].inner[bin as usize] = Some(number);
            self.note_crowded(number, &mut crowded);
        }
        Ok(())
    }

    /// Remembers the bins of a grid that have too many cells.
    fn note_crowded(&self, grid: u32, crowded: &mut BinaryHeap<(usize, Reverse<(u32, u32)>)>) {
        let lists = &self.lists[grid as usize];
        if lists.depth == DEPTH {
            return;
        }
        for bin in 0..lists.inner.len() as u32 {
            let length = lists.list(bin).len();
            if length > CROWDED {
                crowded.push((length, Reverse((grid, bin))));
            }
        }
    }

    /// Bins of a box for some cells, of the shape that `edges` have; as many as there should be.
    fn sizes(&self, cells: &[u32], bounds: &Box3, edges: [f64; 3]) -> [u32; 3] {
        let widths: [f64; 3] = std::array::from_fn(|a| (bounds[1][a] - bounds[0][a]) / edges[a]);
        let longest = widths[..self.dim].iter().copied().fold(0.0, f64::max);
        let volume: f64 = widths[..self.dim]
            .iter()
            .map(|w| w.max(1e-3 * longest))
            .product();
        let wanted = (cells.len() as f64 / CELLS_PER_BIN).max(1.0);
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
            let [low, high] = self.boxes[*cell as usize];
            high[a] - low[a] + 2.0 * self.margin
        };
        std::array::from_fn(|a| {
            let sum: f64 = cells.iter().map(|cell| edge(cell, a)).sum();
            (sum / cells.len() as f64).max(f64::MIN_POSITIVE)
        })
    }

    /// The bins that the box of a cell meets: the first and the last along each axis.
    fn range(&self, grid: &Grid, cell: u32) -> [[u32; 3]; 2] {
        let [low, high] = self.boxes[cell as usize];
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
        cells.iter().map(of_cell).sum()
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
        if !(self.meets)(cell, &own) {
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

    /// Where the list of each bin of a grid would end.
    fn count(&self, grid: &Grid, bounds: &Box3, cells: &[u32], closely: bool) -> Vec<u32> {
        let mut ends = vec![0_u32; grid.bins()];
        for &cell in cells {
            self.visit(grid, bounds, (cell, closely), &mut |n| ends[n] += 1);
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        ends
    }

    /// Adds a grid with its lists.
    fn push(
        &mut self,
        grid: Grid,
        bounds: &Box3,
        cells: &[u32],
        (ends, closely): (Vec<u32>, bool),
        depth: u32,
    ) -> Result<u32, Shortage> {
        let (number, bins) = (self.index.grids.len() as u32, grid.bins());
        let entries = total(&ends);
        // Lists are copied once, the memory of bins doubles when it grows, and there are places and numbers beside them.
        let of_bin = 2 * (size_of::<Bin>() + (4 << self.dim)) + 4 + 4 + 8;
        self.claim.grow(
            8 * u64::from(entries)
                + (bins * of_bin + size_of::<Lists>() + size_of::<Grid>()) as u64,
        )?;
        let mut members = vec![0_u32; entries as usize];
        let mut next: Vec<u32> = (0..bins)
            .map(|n| if n == 0 { 0 } else { ends[n - 1] })
            .collect();
        for &cell in cells {
            self.visit(&grid, bounds, (cell, closely), &mut |n| {
                members[next[n] as usize] = cell;
                next[n] += 1;
            });
        }
        self.entries += u64::from(entries);
        self.index.grids.push(grid);
        let empty = Bin::Cells { first: 0, count: 0 };
        self.index.bins.resize(self.index.bins.len() + bins, empty);
        self.lists.push(Lists {
            ends,
            members,
            inner: vec![None; bins],
            bounds: *bounds,
            depth,
        });
        Ok(number)
    }

    /// Puts lists in their place, and a cell to begin with in every bin.
    fn finish(mut self) -> Result<Index, Shortage> {
        let mut index = self.index;
        index.starts = vec![super::super::NONE; index.bins.len() << self.dim];
        for (number, lists) in self.lists.iter().enumerate() {
            let (sizes, first) = (index.grids[number].sizes, index.grids[number].first);
            for bin in 0..lists.inner.len() as u32 {
                let at = place(&sizes, bin);
                let (own, start) = match lists.inner[bin as usize] {
                    Some(inner) => (Bin::Divided(inner), INNER | inner),
                    None => {
                        let own = part_of(&lists.bounds, &sizes, at);
                        index.list(self.boxes, lists.list(bin), &own)
                    }
                };
                index.bins[(first + bin) as usize] = own;
                for half in 0..1_u32 << self.dim {
                    let half = [0, 1, 2].map(|a| 2 * at[a] + (half >> a & 1));
                    let place = index.grids[number].half_number(half, self.dim);
                    index.starts[place] = start;
                }
            }
        }
        index.shrink();
        let kept = index.bytes() as u64;
        drop(self.lists);
        self.claim.keep(kept)?;
        index._claim = self.claim;
        Ok(index)
    }
}

impl Lists {
    /// The cells of a bin.
    fn list(&self, bin: u32) -> &[u32] {
        let bin = bin as usize;
        let first = if bin == 0 { 0 } else { self.ends[bin - 1] };
        &self.members[first as usize..self.ends[bin] as usize]
    }
}

/// How many entries lists have that end so.
fn total(ends: &[u32]) -> u32 {
    ends.last().copied().unwrap_or(0)
}

/// The place of a bin in a grid of such sizes.
fn place(sizes: &[u32; 3], bin: u32) -> [u32; 3] {
    [
        bin % sizes[0],
        bin / sizes[0] % sizes[1],
        bin / sizes[0] / sizes[1],
    ]
}
