//! The corners of cells, each position once: many files repeat points in every cell.

use super::file::{Cells, FemFile, FileCell, Shared};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Points that are closer than this part of the shortest edge are one.
const SAME: f64 = 1e-8;

/// The number of a point that is not a corner.
const NO_CORNER: u32 = u32::MAX;

/// The corners of the cells of a file. If the file has each position once and nothing but corners, these are lists of the file.
#[derive(Debug, Default)]
pub(super) struct Corners {
    points: Shared<Vec<[f64; 3]>>,
    /// The cells at their places in the file, and the corners of all.
    cells: Cells,
    nodes: Shared<Vec<u32>>,
    /// How far along each axis a corner may be from the one of the file.
    pub(super) tolerance: f64,
}

impl Corners {
    /// The corners of the cells at these places of a file.
    pub(super) fn new(file: &FemFile, places: &[u32], dim: usize) -> Corners {
        let of_cell = |n: u32| {
            let cell = file.cells.at(n as usize);
            &file.connectivity[cell.first..][..cell.element.cell.corners()]
        };
        let flat = |[x, y, z]: [f64; 3]| [x, y, if dim == 2 { 0.0 } else { z }];
        let point = |p: u32| flat(file.points[p as usize]);
        let shortest = places.par_iter().map(|&n| {
            let nodes = of_cell(n);
            let edges = nodes.iter().zip(&nodes[1..]).map(|(a, b)| {
                let (a, b) = (point(*a), point(*b));
                (0..dim).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>()
            });
            edges.filter(|e| *e > 0.0).fold(f64::INFINITY, f64::min)
        });
        let shortest = shortest.reduce(|| f64::INFINITY, f64::min);
        let tolerance = SAME * shortest.sqrt();
        let mut ids = vec![NO_CORNER; file.points.len()];
        for &p in places.iter().flat_map(|&n| of_cell(n)) {
            ids[p as usize] = p;
        }
        let apart = merge(&mut ids, point, dim, tolerance);
        let only_corners = places.iter().all(|&n| {
            let element = file.cells.at(n as usize).element;
            element.nodes().len() == element.cell.corners()
        });
        if apart && only_corners && (dim == 3 || file.points.iter().all(|p| p[2] == 0.0)) {
            return Corners {
                points: file.points.clone(),
                cells: file.cells.clone(),
                nodes: file.connectivity.clone(),
                tolerance: 0.0,
            };
        }
        let mut own = Corners {
            tolerance,
            ..Corners::default()
        };
        // A point that another one stands for comes after that one.
        for p in 0..ids.len() {
            ids[p] = match ids[p] {
                NO_CORNER => NO_CORNER,
                other if other as usize == p => {
                    own.points.push(point(p as u32));
                    own.points.len() as u32 - 1
                }
                other => ids[other as usize],
            };
        }
        for n in 0..file.cells.len() {
            let FileCell {
                element, number, ..
            } = file.cells.at(n);
            let corners = of_cell(n as u32);
            let first = own.nodes.len();
            let cell = FileCell {
                element,
                first,
                number,
            };
            own.cells.push_with_stride(cell, corners.len());
            own.nodes.extend(corners.iter().map(|&p| ids[p as usize]));
        }
        own
    }

    /// How many points there are.
    pub(super) fn points(&self) -> usize {
        self.points.len()
    }

    /// The position of a corner.
    #[inline]
    pub(super) fn point(&self, corner: u32) -> [f64; 3] {
        self.points[corner as usize]
    }

    /// The corners of the cell at a place of the file.
    #[inline]
    pub(super) fn of(&self, place: u32) -> &[u32] {
        let cell = self.cells.at(place as usize);
        &self.nodes[cell.first..][..cell.element.cell.corners()]
    }

    /// The number of the cell at a place of the file.
    pub(super) fn number(&self, place: u32) -> u32 {
        self.cells.at(place as usize).number
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.points[..]) + self.cells.bytes() + size_of_val(&self.nodes[..])
    }
}

/// Gives each point the number of the first one at its place; those that are corners have their own number to begin with. Says
/// whether all of these are apart.
fn merge(ids: &mut [u32], point: impl Fn(u32) -> [f64; 3], dim: usize, tolerance: f64) -> bool {
    let bins = Bins::new(tolerance);
    let bin = |p: [f64; 3]| p.map(|x| bins.number(x));
    // The newest point of each bin, and for each point the one before it.
    let mut newest: HashMap<[i64; 3], u32, BuildHasherDefault<Mixer>> = HashMap::default();
    let mut before = vec![NO_CORNER; ids.len()];
    let mut apart = true;
    for p in 0..ids.len() {
        if ids[p] == NO_CORNER {
            continue;
        }
        let at = point(p as u32);
        let (low, high) = (
            bin(at.map(|x| x - tolerance)),
            bin(at.map(|x| x + tolerance)),
        );
        let is_near = |id: u32| {
            let other = point(id);
            (0..dim).all(|i| (at[i] - other[i]).abs() <= tolerance)
        };
        let mut found = NO_CORNER;
        for x in low[0]..high[0] + 1 {
            for y in low[1]..high[1] + 1 {
                for z in low[2]..high[2] + 1 {
                    let mut there = newest.get(&[x, y, z]).copied().unwrap_or(NO_CORNER);
                    while there != NO_CORNER {
                        // The oldest, whatever the order of bins.
                        found = if is_near(there) {
                            found.min(there)
                        } else {
                            found
                        };
                        there = before[there as usize];
                    }
                }
            }
        }
        if found == NO_CORNER {
            before[p] = newest.insert(bin(at), p as u32).unwrap_or(NO_CORNER);
        } else {
            ids[p] = found;
            apart = false;
        }
    }
    apart
}

/// Intervals along an axis. They are larger than the distance within which points are one, so few points have to look into the next
/// one; and not much larger, so that no bin has more than some hundred points, wherever the points of a file are.
struct Bins {
    width: f64,
    /// The bits of the first number behind those that the width divides.
    first_far: u64,
}

impl Bins {
    /// Quotients up to this one are exact integers.
    const MOST: f64 = (1_u64 << 53) as f64;

    fn new(tolerance: f64) -> Bins {
        let width = 8.0 * tolerance;
        Bins {
            width,
            first_far: (Bins::MOST * width).to_bits(),
        }
    }

    /// The number of the bin of a coordinate; it grows with the coordinate.
    fn number(&self, x: f64) -> i64 {
        let quotient = (x / self.width).floor();
        if quotient.abs() < Bins::MOST {
            return quotient as i64;
        }
        // So far out, neighbouring numbers are farther apart than a bin is wide, and each has a bin of its own.
        let beyond = x.abs().to_bits().saturating_sub(self.first_far);
        let number = (Bins::MOST as i64).saturating_add_unsigned(beyond);
        if x < 0.0 { -number } else { number }
    }
}

/// A quick hash of the numbers of bins.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            let mixed = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ mixed >> 29;
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
