//! The spatial index of a mesh: a start for searches that have no better one, and the cells that may contain a position. It is
//! a grid of bins; crowded bins are grids themselves. Its memory is at most a constant times the number of cells, and is claimed
//! before it is allocated.

mod build;
mod lists;

use crate::memory::{Claim, Shortage};
use lists::{Lists, Members};
use rayon::prelude::*;

/// Marks a start as the number of an inner grid.
const INNER: u32 = 1 << 31;

/// A grid over a box.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) low: [f64; 3],
    /// Bins per unit of length.
    pub(super) scale: [f64; 3],
    pub(super) sizes: [u32; 3],
    /// The first of its bins.
    pub(super) first: u32,
}

/// A part of a grid: where the list of the cells that meet it begins among those of the grid, or a grid of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bin(u64);

impl Bin {
    const DIVIDED: u64 = 1 << 63;

    fn divided(grid: u32) -> Bin {
        Bin(Bin::DIVIDED | u64::from(grid))
    }

    /// The number of its grid, or where its list begins.
    fn contents(self) -> Result<u32, usize> {
        match self.0 & Bin::DIVIDED {
            0 => Err(self.0 as usize),
            _ => Ok(self.0 as u32),
        }
    }
}

/// What an index reads of the cells of a mesh.
pub(super) trait Geometry: Sync {
    /// How many cells there are.
    fn cells(&self) -> usize;
    /// A position in a cell.
    fn centre(&self, cell: u32) -> [f64; 3];
    /// The smallest and largest coordinates of a cell.
    fn bounds(&self, cell: u32) -> Box3;
    /// Whether a cell may contain positions of a box.
    fn meets(&self, cell: u32, own: &Box3) -> bool;
}

/// The index of a mesh.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) grids: Vec<Grid>,
    pub(super) bins: Vec<Bin>,
    /// The lists of each grid.
    lists: Vec<Lists>,
    /// Where a search begins: for each half of a bin along each axis a cell, the number of an inner grid, or `NONE`.
    pub(super) starts: Vec<u32>,
    dim: usize,
    _claim: Claim,
}

pub(super) type Box3 = [[f64; 3]; 2];

impl Index {
    /// An index of cells by their boxes, which are made larger by a margin.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn new(
        mesh: &impl Geometry,
        bounds: &Box3,
        (dim, margin): (usize, f64),
    ) -> Result<Index, Shortage> {
        // Positions at the rim and up to the tolerance beyond it are in the outermost bins.
        build::Builder::build(mesh, bounds, (dim, 2.0 * margin))
    }

    /// The list of a bin of a grid, unless the bin is divided.
    fn list(&self, grid: usize, bin: usize) -> Option<Members<'_>> {
        let contents = self.bins[self.grids[grid].first as usize + bin].contents();
        contents.err().map(|first| self.lists[grid].members(first))
    }

    /// What each bin has: a list, or a grid of its own.
    pub(super) fn contents(&self) -> impl Iterator<Item = Result<Members<'_>, u32>> {
        let mut grids: Vec<usize> = (0..self.grids.len()).collect();
        grids.sort_unstable_by_key(|&grid| self.grids[grid].first);
        grids.into_iter().flat_map(move |number| {
            let first = self.grids[number].first as usize;
            let own = &self.bins[first..][..self.grids[number].bins()];
            let lists = &self.lists[number];
            own.iter().map(move |bin| match bin.contents() {
                Ok(inner) => Err(inner),
                Err(first) => Ok(lists.members(first)),
            })
        })
    }

    /// The number of the inner grid that a start is.
    pub(super) fn inner_of(&self, start: u32) -> Option<u32> {
        (start & INNER != 0 && start != super::NONE).then_some(start & !INNER)
    }

    /// Gives back memory that nothing is in.
    fn shrink(&mut self) {
        self.grids.shrink_to_fit();
        self.bins.shrink_to_fit();
        self.lists.shrink_to_fit();
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.grids[..])
            + size_of_val(&self.bins[..])
            + self.lists.iter().map(Lists::bytes).sum::<usize>()
            + size_of_val(&self.starts[..])
    }

    /// Puts better cells in place of the starts: `approach` is given a position and a cell near it.
    pub(super) fn improve(&mut self, approach: impl Fn(&[f64; 3], u32) -> u32 + Sync) {
        for grid in &self.grids {
            let halves = std::array::from_fn(|a| if a < self.dim { 2 * grid.sizes[a] } else { 1 });
            let [nx, ny, nz]: [u32; 3] = halves;
            let first = grid.half_number([0; 3], self.dim);
            let own = &mut self.starts[first..][..(nx * ny * nz) as usize];
            let better = |(place, start): (usize, &mut u32)| {
                if *start & INNER != 0 {
                    return;
                }
                let place = place as u32;
                let at = [place % nx, place / nx % ny, place / nx / ny];
                let mut middle = [0.0; 3];
                for a in (0..self.dim).filter(|&a| grid.scale[a] > 0.0) {
                    middle[a] = grid.low[a] + (f64::from(at[a]) + 0.5) / (2.0 * grid.scale[a]);
                }
                *start = approach(&middle, *start);
            };
            own.par_iter_mut()
                .with_min_len(1024)
                .enumerate()
                .for_each(better);
        }
    }

    /// The cell to begin with, or `NONE` if none contains the position.
    #[inline(always)]
    pub(super) fn start(&self, x: &[f64; 3]) -> u32 {
        let mut grid = &self.grids[0];
        loop {
            let start = self.starts[grid.half_number(grid.half(x), self.dim)];
            if start & INNER == 0 || start == super::NONE {
                return start;
            }
            grid = &self.grids[(start & !INNER) as usize];
        }
    }

    /// The cells whose boxes may contain a position.
    pub(super) fn find(&self, x: &[f64; 3]) -> Members<'_> {
        let mut number = 0;
        loop {
            let grid = &self.grids[number];
            match self.bins[grid.first as usize + grid.number(grid.bin(x))].contents() {
                Ok(inner) => number = inner as usize,
                Err(first) => return self.lists[number].members(first),
            }
        }
    }
}

impl Grid {
    /// A grid with these numbers of bins along the axes; `first` is the number of its first bin.
    fn new(bounds: &Box3, sizes: [u32; 3], first: u32) -> Grid {
        let scale = std::array::from_fn(|a| {
            let width = bounds[1][a] - bounds[0][a];
            if width > 0.0 {
                f64::from(sizes[a]) / width
            } else {
                0.0
            }
        });
        Grid {
            low: bounds[0],
            scale,
            sizes,
            first,
        }
    }

    /// How many bins it has.
    fn bins(&self) -> usize {
        self.sizes.iter().map(|&n| n as usize).product()
    }

    /// The bin of a position; those beyond the box are in the outermost.
    fn bin(&self, x: &[f64; 3]) -> [u32; 3] {
        std::array::from_fn(|a| {
            let at = (x[a] - self.low[a]) * self.scale[a];
            // The conversion saturates below at zero.
            (at as u32).min(self.sizes[a] - 1)
        })
    }

    fn number(&self, [x, y, z]: [u32; 3]) -> usize {
        ((z * self.sizes[1] + y) * self.sizes[0] + x) as usize
    }

    /// The half of a bin that a position is in, counted from the first along each axis.
    #[inline(always)]
    fn half(&self, x: &[f64; 3]) -> [u32; 3] {
        std::array::from_fn(|a| {
            let at = (x[a] - self.low[a]) * (2.0 * self.scale[a]);
            (at as u32).min(2 * self.sizes[a] - 1)
        })
    }

    /// The place of the start of a half.
    #[inline(always)]
    fn half_number(&self, [x, y, z]: [u32; 3], dim: usize) -> usize {
        let own = (z * (2 * self.sizes[1]) + y) * (2 * self.sizes[0]) + x;
        ((self.first as usize) << dim) + own as usize
    }
}

/// The box of a bin.
fn part_of(bounds: &Box3, sizes: &[u32; 3], at: [u32; 3]) -> Box3 {
    let edge = |a: usize, n: u32| {
        bounds[0][a] + (bounds[1][a] - bounds[0][a]) * f64::from(n) / f64::from(sizes[a])
    };
    [
        std::array::from_fn(|a| edge(a, at[a])),
        std::array::from_fn(|a| edge(a, at[a] + 1)),
    ]
}
