//! Where a search begins that has no better start, and which cells may contain a position: a grid of bins, of which crowded ones
//! are grids themselves.

use rayon::prelude::*;

/// Cells per bin that are aimed at.
const CELLS_PER_BIN: f64 = 4.0;
/// A bin with more cells is divided; boxes of one size, however they lie, are fewer.
const CROWDED: usize = 128;
/// How often bins are divided.
const DEPTH: usize = 10;
/// The most bins along an axis.
const LONGEST: f64 = 1024.0;
/// Marks a start as the number of an inner grid.
const INNER: u32 = 1 << 31;

/// A grid over a box.
#[derive(Debug)]
struct Grid {
    low: [f64; 3],
    /// Bins per unit of length.
    scale: [f64; 3],
    sizes: [u32; 3],
    /// The first of its bins.
    first: u32,
}

/// A part of a grid.
#[derive(Clone, Copy, Debug)]
enum Bin {
    /// The cells that meet it, in a list: where it begins and how many.
    Cells { first: u32, count: u32 },
    /// A grid of its own.
    Divided(u32),
}

/// The index of a mesh.
#[derive(Debug, Default)]
pub(super) struct Index {
    grids: Vec<Grid>,
    bins: Vec<Bin>,
    cells: Vec<u32>,
    /// Where a search begins: for each half of a bin along each axis a cell, the number of an inner grid, or `NONE`.
    starts: Vec<u32>,
    dim: usize,
}

type Box3 = [[f64; 3]; 2];

impl Index {
    /// An index of cells by their boxes, which are made larger by a margin.
    pub(super) fn new(boxes: &[Box3], bounds: &Box3, dim: usize, margin: f64) -> Index {
        let mut index = Index {
            dim,
            ..Index::default()
        };
        let all: Vec<u32> = (0..boxes.len() as u32).collect();
        // Positions at the rim and up to the tolerance beyond it are in the outermost bins.
        index.grid(boxes, &all, bounds, dim, 2.0 * margin, 0);
        index
    }

    fn grid(
        &mut self,
        boxes: &[Box3],
        cells: &[u32],
        bounds: &Box3,
        dim: usize,
        margin: f64,
        depth: usize,
    ) -> u32 {
        let widths: [f64; 3] = std::array::from_fn(|a| bounds[1][a] - bounds[0][a]);
        let longest = widths[..dim].iter().copied().fold(0.0, f64::max);
        let volume: f64 = widths[..dim]
            .iter()
            .map(|w| w.max(1e-3 * longest))
            .product();
        let wanted = (cells.len() as f64 / CELLS_PER_BIN).max(1.0);
        let edge = (volume / wanted).powf(1.0 / dim as f64);
        let mut sizes = [1_u32; 3];
        for a in 0..dim {
            sizes[a] = (widths[a] / edge).round().clamp(1.0, LONGEST) as u32;
        }
        if depth > 0 {
            // A crowded bin is divided along every axis, or the cells stay as crowded.
            sizes[..dim]
                .iter_mut()
                .for_each(|size| *size = (*size).clamp(2, 8));
        }
        let scale = std::array::from_fn(|a| {
            if widths[a] > 0.0 {
                f64::from(sizes[a]) / widths[a]
            } else {
                0.0
            }
        });
        let number = self.grids.len() as u32;
        let first = self.bins.len() as u32;
        let count: usize = sizes.iter().map(|&n| n as usize).product();
        let grid = Grid {
            low: bounds[0],
            scale,
            sizes,
            first,
        };
        // Counted first, so that the lists of all bins are one.
        let visit = |cell: u32, bins: &mut dyn FnMut(usize)| {
            let [low, high] = boxes[cell as usize];
            let from = grid.bin(&low.map(|x| x - margin));
            let to = grid.bin(&high.map(|x| x + margin));
            for z in from[2]..to[2] + 1 {
                for y in from[1]..to[1] + 1 {
                    for x in from[0]..to[0] + 1 {
                        bins(grid.number([x, y, z]));
                    }
                }
            }
        };
        let mut ends = vec![0_usize; count + 1];
        cells
            .iter()
            .for_each(|&cell| visit(cell, &mut |n| ends[n + 1] += 1));
        for n in 0..count {
            ends[n + 1] += ends[n];
        }
        let mut members = vec![0_u32; ends[count]];
        let mut next = ends.clone();
        for &cell in cells {
            visit(cell, &mut |n| {
                members[next[n]] = cell;
                next[n] += 1;
            });
        }
        self.grids.push(grid);
        let empty = Bin::Cells { first: 0, count: 0 };
        self.bins.resize(self.bins.len() + count, empty);
        self.starts.resize(self.bins.len() << dim, super::NONE);
        for n in 0..count {
            let list = &members[ends[n]..ends[n + 1]];
            let at = [
                n as u32 % sizes[0],
                n as u32 / sizes[0] % sizes[1],
                n as u32 / sizes[0] / sizes[1],
            ];
            let own = part_of(bounds, &sizes, at);
            let fewer = list.len() * 10 < cells.len() * 9 || depth == 0;
            let (bin, start) = if list.len() > CROWDED && depth < DEPTH && fewer {
                let inner = self.grid(boxes, list, &own, dim, margin, depth + 1);
                (Bin::Divided(inner), INNER | inner)
            } else {
                self.list(boxes, list, &own, dim)
            };
            self.bins[first as usize + n] = bin;
            for half in 0..1_u32 << dim {
                let half = [0, 1, 2].map(|a| 2 * at[a] + (half >> a & 1));
                let place = self.grids[number as usize].half_number(half, dim);
                self.starts[place] = start;
            }
        }
        number
    }

    fn list(&mut self, boxes: &[Box3], list: &[u32], own: &Box3, dim: usize) -> (Bin, u32) {
        let distance = |cell: &&u32| -> f64 {
            let [low, high] = boxes[**cell as usize];
            let off = |a: usize| (low[a] + high[a] - own[0][a] - own[1][a]).powi(2);
            (0..dim).map(off).sum()
        };
        let nearest = list
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let bin = Bin::Cells {
            first: self.cells.len() as u32,
            count: list.len() as u32,
        };
        self.cells.extend(list);
        (bin, nearest.copied().unwrap_or(super::NONE))
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.grids[..])
            + size_of_val(&self.bins[..])
            + size_of_val(&self.cells[..])
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
    pub(super) fn find(&self, x: &[f64; 3]) -> &[u32] {
        let mut grid = &self.grids[0];
        loop {
            match self.bins[grid.first as usize + grid.number(grid.bin(x))] {
                Bin::Divided(inner) => grid = &self.grids[inner as usize],
                Bin::Cells { first, count } => {
                    return &self.cells[first as usize..][..count as usize];
                }
            }
        }
    }
}

impl Grid {
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
