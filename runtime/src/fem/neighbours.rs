//! Which cells touch: by the positions of corners, because many files repeat points in every cell.
//!
//! A face without a partner has no neighbour, as at hanging nodes, and the index decides there. So the neighbours only matter for
//! speed and for a warning about cells that overlap.

use super::cell::MAX_FACES;
use super::file::FemFile;
use super::invert::determinant;
use super::{Mesh, NONE};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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
    let tolerance = SAME * shortest.sqrt();
    let bins = Bins::new(tolerance);
    let bin = |p: [f64; 3]| p.map(|x| bins.number(x));
    let mut merged = Merged {
        points: Vec::new(),
        ids: vec![NONE; file.points.len()],
    };
    // The newest point of each bin, and for each point the one before it.
    let mut newest: HashMap<[i64; 3], u32, BuildHasherDefault<Mixer>> = HashMap::default();
    let mut before: Vec<u32> = Vec::new();
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
            let is_near = |id: u32| {
                let other = merged.points[id as usize];
                (0..dim).all(|i| (at[i] - other[i]).abs() <= tolerance)
            };
            let mut found = NONE;
            for x in low[0]..high[0] + 1 {
                for y in low[1]..high[1] + 1 {
                    for z in low[2]..high[2] + 1 {
                        let mut there = newest.get(&[x, y, z]).copied().unwrap_or(NONE);
                        while there != NONE {
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
            if found == NONE {
                found = merged.points.len() as u32;
                merged.points.push(at);
                before.push(newest.insert(bin(at), found).unwrap_or(NONE));
            }
            merged.ids[p as usize] = found;
        }
    }
    merged
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

/// A truth per kind of cell and face.
type Around = [[bool; MAX_FACES]; 5];

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

/// Finds the cell beyond each face. Returns the pairs of cells that are on the same side of the face they share.
pub(super) fn connect(mesh: &mut Mesh) -> Vec<[u32; 2]> {
    // Sorted by their least corner by counting, which leaves few to compare.
    let count = mesh.points.len();
    let mut ends = vec![0_usize; count + 1];
    mesh.each_face(|[least, ..], _, _| ends[least as usize + 1] += 1);
    for n in 0..count {
        ends[n + 1] += ends[n];
    }
    let mut faces = vec![([0_u32; 4], 0_u32, 0_u8); ends[count]];
    let mut next = ends.clone();
    mesh.each_face(|corners, cell, face| {
        let place = &mut next[corners[0] as usize];
        faces[*place] = (corners, cell, face);
        *place += 1;
    });
    let around = mesh.around();
    let mut overlapping = Vec::new();
    for n in 0..count {
        let own = &mut faces[ends[n]..ends[n + 1]];
        own.sort_unstable();
        for same in own.chunk_by(|a, b| a.0 == b.0) {
            if let &[(_, a, i), (_, b, j)] = same {
                mesh.records[a as usize].neighbours[usize::from(i)] = b;
                mesh.records[b as usize].neighbours[usize::from(j)] = a;
                if mesh.side(&around, a, usize::from(i)) == mesh.side(&around, b, usize::from(j)) {
                    overlapping.push([a, b]);
                }
            }
        }
    }
    overlapping
}

impl Mesh {
    /// Gives the corners of every face in ascending order, its cell, and which of the cell's faces it is. A face that has collapsed to an
    /// edge or a point is none.
    fn each_face(&self, mut give: impl FnMut([u32; 4], u32, u8)) {
        for cell in 0..self.records.len() as u32 {
            for j in 0..self.records[cell as usize].kind.faces() {
                let (mut key, count) = self.face_of(cell, j);
                if count >= self.dim {
                    key.sort_unstable();
                    give(key, cell, j as u8);
                }
            }
        }
    }

    /// The corners of a face around it, each once, and how many they are: neighbouring corners may be at one place.
    fn face_of(&self, cell: u32, face: usize) -> ([u32; 4], usize) {
        let corners = self.corners_of(cell);
        let listed = self.records[cell as usize].kind.face(face);
        let (mut own, mut count) = ([NONE; 4], 0);
        for &corner in listed {
            if !own[..count].contains(&corners[corner]) {
                own[count] = corners[corner];
                count += 1;
            }
        }
        (own, count)
    }

    /// On which side of a face the cell is: two cells that share a face are on the same if this is equal. The order of a cell's nodes
    /// does not matter, nor how far it is bent.
    fn side(&self, around: &Around, cell: u32, face: usize) -> bool {
        let record = &self.records[cell as usize];
        let positive =
            around[record.kind as usize][face] == (determinant(&record.inverse, self.dim) > 0.0);
        // The same for an order that does not depend on the cell: from the least corner to the lesser of its neighbours.
        let (corners, count) = self.face_of(cell, face);
        let corner = |n: usize| corners[n % count];
        let least = (0..count).min_by_key(|&n| corner(n)).unwrap_or(0);
        let (next, before) = (corner(least + 1), corner(least + count - 1));
        let turned = if count == 2 {
            least == 1
        } else {
            next > before
        };
        positive != turned
    }

    /// Whether the corners of each face of each kind of cell, in the order in which they are listed, go around it positively as seen from
    /// inside.
    fn around(&self) -> Around {
        let mut around = Around::default();
        for element in self.blocks.iter().map(|block| block.element) {
            let kind = element.cell;
            let own = &mut around[kind as usize][..kind.faces()];
            for (face, own) in own.iter_mut().enumerate() {
                let at = |n: usize| element.node(kind.face(face)[n]);
                let edge = |n: usize| -> [f64; 3] { std::array::from_fn(|a| at(n)[a] - at(0)[a]) };
                let inwards = kind.gradient(face);
                let frame = match self.dim {
                    2 => [edge(1), inwards, [0.0; 3]],
                    _ => [edge(1), edge(2), inwards],
                };
                *own = determinant(&frame, self.dim) > 0.0;
            }
        }
        around
    }

    /// The note about cells that are on the same side of the face they share.
    pub(super) fn overlap_note(&self, pairs: &[[u32; 2]]) -> Option<String> {
        let [a, b] = pairs.first()?.map(|cell| self.number(cell));
        let more = match pairs.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more pairs of cells"),
        };
        Some(format!(
            "the mesh overlaps itself: cells {} and {} are on the same side of their common face{more}; where they overlap, it is arbitrary which of them is probed",
            a.min(b),
            a.max(b)
        ))
    }

    /// The corners of a cell among the points.
    pub(super) fn corners_of(&self, cell: u32) -> &[u32] {
        let block = self.block_of(cell);
        let count = block.element.cell.corners();
        let first = block.corners + (cell - block.first) as usize * count;
        &self.corners[first..first + count]
    }
}
