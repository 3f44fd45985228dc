//! Which cells touch: by the positions of corners, because many files repeat points in every cell.
//!
//! A face without partner has none, as at hanging nodes, and the index decides there. So nothing depends on what is found here
//! but speed.

use super::file::FemFile;
use super::{Mesh, NONE};
use std::collections::HashMap;

/// Points that are closer than this part of the shortest edge are one.
const SAME: f64 = 1e-8;

/// The corners of a mesh, each position once.
pub(super) struct Merged {
    pub(super) points: Vec<[f64; 3]>,
    /// The number of each point of the file that is a corner.
    pub(super) ids: Vec<u32>,
}

/// Numbers the positions of corners.
pub(super) fn merge_points(file: &FemFile, cells: &[u32], dim: usize) -> Merged {
    let corners = |n: u32| {
        let cell = &file.cells[n as usize];
        &file.connectivity[cell.first..][..cell.element.cell.corners()]
    };
    let flat = |p: [f64; 3]| if dim == 2 { [p[0], p[1], 0.0] } else { p };
    let point = |p: u32| flat(file.points[p as usize]);
    let mut shortest = f64::INFINITY;
    for &n in cells {
        let nodes = corners(n);
        for (a, b) in nodes.iter().zip(&nodes[1..]) {
            let (a, b) = (point(*a), point(*b));
            let square: f64 = (0..dim).map(|i| (a[i] - b[i]).powi(2)).sum();
            shortest = if square > 0.0 {
                shortest.min(square)
            } else {
                shortest
            };
        }
    }
    // Bins are much larger than the distance within which points are one, so few have to look into the next.
    let tolerance = SAME * shortest.sqrt();
    let width = 1024.0 * tolerance;
    // Positions so far out that bins cannot tell them apart are all in the last.
    let last = (i64::MAX >> 1) as f64;
    let bin = |p: [f64; 3]| p.map(|x| (x / width).floor().clamp(-last, last) as i64);
    let mut merged = Merged {
        points: Vec::new(),
        ids: vec![NONE; file.points.len()],
    };
    let mut bins: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    for &n in cells {
        for &p in corners(n) {
            if merged.ids[p as usize] != NONE {
                continue;
            }
            let at = point(p);
            let (low, high) = (
                bin(at.map(|x| x - tolerance)),
                bin(at.map(|x| x + tolerance)),
            );
            let is_near = |id: &u32| {
                let other = merged.points[*id as usize];
                (0..dim).all(|i| (at[i] - other[i]).abs() <= tolerance)
            };
            let mut found = None;
            for x in low[0]..high[0] + 1 {
                for y in low[1]..high[1] + 1 {
                    for z in low[2]..high[2] + 1 {
                        let there = bins.get(&[x, y, z]).map_or(&[][..], Vec::as_slice);
                        found = found.or_else(|| there.iter().copied().find(|id| is_near(id)));
                    }
                }
            }
            merged.ids[p as usize] = found.unwrap_or_else(|| {
                let id = merged.points.len() as u32;
                merged.points.push(at);
                bins.entry(bin(at)).or_default().push(id);
                id
            });
        }
    }
    merged
}

/// Finds the cell beyond each face.
pub(super) fn connect(mesh: &mut Mesh) {
    let mut faces: Vec<([u32; 4], u32, u8)> = Vec::new();
    for cell in 0..mesh.records.len() as u32 {
        let corners = mesh.corners_of(cell);
        let kind = mesh.block_of(cell).element.cell;
        for j in 0..kind.faces() {
            let mut key = [NONE; 4];
            for (k, &corner) in key.iter_mut().zip(kind.face(j)) {
                *k = corners[corner];
            }
            key.sort_unstable();
            faces.push((key, cell, j as u8));
        }
    }
    faces.sort_unstable();
    for same in faces.chunk_by(|a, b| a.0 == b.0) {
        if let &[(_, a, i), (_, b, j)] = same {
            mesh.records[a as usize].neighbours[usize::from(i)] = b;
            mesh.records[b as usize].neighbours[usize::from(j)] = a;
        }
    }
}

impl Mesh {
    /// The corners of a cell among the points.
    pub(super) fn corners_of(&self, cell: u32) -> &[u32] {
        let block = self.block_of(cell);
        let count = block.element.cell.corners();
        let first = block.corners + (cell - block.first) as usize * count;
        &self.corners[first..first + count]
    }
}
