//! Which cells touch: by the positions of corners, because many files repeat points in every cell.
//!
//! A face without a partner has no neighbour, as at hanging nodes, and the index decides there. So the neighbours only matter for
//! speed and for a warning about cells that overlap.

use super::cell::MAX_FACES;
use super::invert::determinant;
use super::{Mesh, NONE};
use rayon::prelude::*;

/// A truth per kind of cell and face.
type Around = [[bool; MAX_FACES]; 5];

/// A face: its corners but the least, in ascending order, its cell, and which of the cell's faces it is.
type Face = ([u32; 3], u32, u8);

/// Two faces that are one, by their cells and which of the cells' faces they are, and whether the cells are on the same side.
type Pair = ([(u32, u8); 2], bool);

/// Points whose faces are compared by one worker, and by all at a time.
const POINTS: usize = 1 << 8;
const POINTS_AT_ONCE: usize = 1 << 13;

/// Finds the cell beyond each face. Returns the pairs of cells that are on the same side of the face they share.
///
/// Faces are compared with those that have the same least corner. Only the cells of these faces are listed, because lists of the faces
/// would be the largest of all that a mesh needs.
pub(super) fn connect(mesh: &mut Mesh) -> Vec<[u32; 2]> {
    let count = mesh.corners.points();
    let mut ends = vec![0_usize; count + 1];
    for cell in 0..mesh.records.len() as u32 {
        mesh.each_least(cell, |least| ends[least as usize + 1] += 1);
    }
    for n in 0..count {
        ends[n + 1] += ends[n];
    }
    let mut cells = vec![0_u32; ends[count]];
    // Once all lists are full, each ends where the next one begins.
    for cell in 0..mesh.records.len() as u32 {
        mesh.each_least(cell, |least| {
            let next = &mut ends[least as usize];
            cells[*next] = cell;
            *next += 1;
        });
    }
    let around = mesh.around();
    let list = |n: usize| &cells[if n == 0 { 0 } else { ends[n - 1] }..ends[n]];
    let mut overlapping = Vec::new();
    for first in (0..count).step_by(POINTS_AT_ONCE) {
        let some = first..(first + POINTS_AT_ONCE).min(count);
        let whole = &*mesh;
        let pairs = some.into_par_iter().step_by(POINTS).map(|start| {
            let (mut faces, mut pairs) = (Vec::new(), Vec::new());
            for n in start..(start + POINTS).min(count) {
                whole.pair(&around, n as u32, list(n), (&mut faces, &mut pairs));
            }
            pairs
        });
        let pairs: Vec<Vec<Pair>> = pairs.collect();
        for ([(a, i), (b, j)], overlap) in pairs.into_iter().flatten() {
            mesh.records[a as usize].neighbours[usize::from(i)] = b;
            mesh.records[b as usize].neighbours[usize::from(j)] = a;
            if overlap {
                overlapping.push([a, b]);
            }
        }
    }
    overlapping
}

impl Mesh {
    /// Gives each corner that is the least of a face of a cell, once. A face that has collapsed to an edge or a point is none.
    fn each_least(&self, cell: u32, mut give: impl FnMut(u32)) {
        let mut seen = [NONE; MAX_FACES];
        for j in 0..self.records[cell as usize].kind.faces() {
            let (corners, count) = self.face_of(cell, j);
            let least = corners.into_iter().min().unwrap_or(NONE);
            if count >= self.dim && !seen.contains(&least) {
                seen[j] = least;
                give(least);
            }
        }
    }

    /// Finds the pairs among the faces with a least corner; the cells that may have such faces are listed.
    fn pair(
        &self,
        around: &Around,
        least: u32,
        cells: &[u32],
        (faces, pairs): (&mut Vec<Face>, &mut Vec<Pair>),
    ) {
        faces.clear();
        for &cell in cells {
            for j in 0..self.records[cell as usize].kind.faces() {
                let (mut key, count) = self.face_of(cell, j);
                key.sort_unstable();
                if count >= self.dim && key[0] == least {
                    faces.push(([key[1], key[2], key[3]], cell, j as u8));
                }
            }
        }
        faces.sort_unstable();
        for same in faces.chunk_by(|a, b| a.0 == b.0) {
            if let &[(_, a, i), (_, b, j)] = same {
                let side = |cell, face| self.side(around, cell, usize::from(face));
                pairs.push(([(a, i), (b, j)], side(a, i) == side(b, j)));
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
        self.corners.of(self.sources[cell as usize])
    }
}
