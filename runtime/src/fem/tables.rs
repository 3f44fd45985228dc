//! Meshes and values for machines that the primitives are not compiled for: the properties that code for a mesh depends on, and its
//! data as tables.

use super::cell::MAX_FACES;
use super::element::Element;
use super::{FemValues, Mesh, NONE, Record};
use crate::grid::TimeAxis;
use rayon::prelude::*;

/// The properties of a mesh that code for it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traits {
    /// The dimension of cells and positions.
    pub dim: usize,
    /// The cells, element by element.
    pub blocks: Vec<BlockTraits>,
}

/// The cells of an element.
#[derive(Clone, Debug)]
pub struct BlockTraits {
    /// The element.
    pub element: &'static Element,
    /// Whether some are straight.
    pub has_straight: bool,
    /// The degrees of the maps of curved cells.
    pub maps: Vec<usize>,
}

impl PartialEq for BlockTraits {
    fn eq(&self, other: &BlockTraits) -> bool {
        std::ptr::eq(self.element, other.element)
            && (self.has_straight, &self.maps) == (other.has_straight, &other.maps)
    }
}

impl Eq for BlockTraits {}

impl Traits {
    /// Those of a mesh of straight simplices of degree 1.
    ///
    /// # Panics
    /// If there are no such cells in the dimension.
    pub fn plain(dim: usize) -> Traits {
        let is_plain = |element: &&Element| {
            element.cell.dim() == dim && element.cell.is_simplex() && element.degree == 1
        };
        let element = super::ELEMENTS.iter().find(is_plain);
        Traits {
            dim,
            blocks: vec![BlockTraits {
                element: element.expect("simplices"),
                has_straight: true,
                maps: Vec::new(),
            }],
        }
    }

    /// Whether some cell is curved.
    pub fn are_curved(&self) -> bool {
        self.blocks.iter().any(|block| !block.maps.is_empty())
    }

    /// The most corners of a cell.
    pub fn corners(&self) -> usize {
        let corners = self.blocks.iter().map(|b| b.element.cell.corners());
        corners.max().unwrap_or(0)
    }
}

/// A table of a mesh: entries of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// Of each cell: the image of the centre and the inverse of the Jacobian there (12 numbers); the first entry of its map, or −1
    /// (1 integer); its block, the degree of its map, and its margin, as a power of two more [`MARGIN_OFFSET`] (3 bytes).
    Records,
    /// The cells beyond the faces of each cell, as many as any has, or −1.
    Neighbours,
    /// The maps of curved cells: an entry of 4 numbers for each coefficient, then the least and the greatest coordinates.
    Geometry,
    /// The grids of the index: the least coordinates and the bins in a unit of length (6 numbers), the numbers of bins and the first bin (4
    /// integers).
    Grids,
    /// Of each half of a bin the cell where a search begins, −1, or −2 less the number of an inner grid.
    Starts,
    /// Of each bin the place of its list, or −1 less the number of an inner grid.
    Bins,
    /// The lists: the number of cells, then these.
    Members,
    /// The corners of each cell.
    Corners,
    /// The points that are corners: a coordinate for each axis.
    Points,
    /// The number of each cell in the file.
    Numbers,
    /// The coefficients of values on the mesh, by their number in the program.
    Values(u32),
    /// The times of these; if they are regular, the first one and the step.
    Times(u32),
}

impl Table {
    /// The tables of each mesh, and their names.
    pub const OF_MESHES: [(Table, &'static str); 10] = [
        (Table::Records, "records"),
        (Table::Neighbours, "neighbours"),
        (Table::Geometry, "geometry"),
        (Table::Grids, "grids"),
        (Table::Starts, "starts"),
        (Table::Bins, "bins"),
        (Table::Members, "members"),
        (Table::Corners, "corners"),
        (Table::Points, "points"),
        (Table::Numbers, "numbers"),
    ];

    /// Bytes from one entry to the next.
    pub fn stride(self, traits: &Traits) -> usize {
        match self {
            Table::Records => 128,
            Table::Geometry => 32,
            Table::Grids => 64,
            Table::Neighbours | Table::Starts | Table::Bins | Table::Members | Table::Numbers => 4,
            Table::Corners => 4 * traits.corners(),
            Table::Points => 8 * traits.dim,
            Table::Values(_) | Table::Times(_) => 8,
        }
    }

    /// Where the integers of an entry begin, after its numbers.
    pub fn integers(self) -> usize {
        match self {
            Table::Records => 96,
            Table::Grids => 48,
            _ => 0,
        }
    }

    /// Where the bytes of an entry begin, after its integers.
    pub fn bytes(self) -> usize {
        match self {
            Table::Records => 100,
            _ => 0,
        }
    }
}

/// The most faces that a cell has.
pub const MOST_FACES: i64 = MAX_FACES as i64;
/// The bytes of a record: its block, the degree of its map, and its margin.
pub const BLOCK: u32 = 0;
/// See [`BLOCK`].
pub const DEGREE: u32 = 1;
/// See [`BLOCK`].
pub const MARGIN: u32 = 2;
/// A margin is a power of two, and its byte is more than that by this number.
pub const MARGIN_OFFSET: i64 = 128;

/// A number of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The tolerance of positions.
    Theta,
    /// A constraint above this holds in straight cells.
    Clear,
    /// The least coordinate of what may be inside, along an axis.
    Low(u8),
    /// The greatest.
    High(u8),
}

impl Fact {
    /// All of them, with their names.
    pub const ALL: [(Fact, &'static str); 8] = [
        (Fact::Theta, "theta"),
        (Fact::Clear, "clear"),
        (Fact::Low(0), "low-0"),
        (Fact::Low(1), "low-1"),
        (Fact::Low(2), "low-2"),
        (Fact::High(0), "high-0"),
        (Fact::High(1), "high-1"),
        (Fact::High(2), "high-2"),
    ];
}

/// Collects numbers as bytes, and gives them away in pieces.
struct Pieces<'a> {
    bytes: Vec<u8>,
    take: &'a mut dyn FnMut(&[u8]),
}

impl Pieces<'_> {
    fn numbers(&mut self, numbers: &[f64]) {
        self.put(numbers.iter().flat_map(|x| x.to_le_bytes()));
    }

    fn integers(&mut self, integers: &[u32]) {
        self.put(integers.iter().flat_map(|n| n.to_le_bytes()));
    }

    fn put(&mut self, bytes: impl Iterator<Item = u8>) {
        self.bytes.extend(bytes);
        if self.bytes.len() >= PIECE {
            (self.take)(&self.bytes);
            self.bytes.clear();
        }
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        (self.take)(&self.bytes);
    }
}

impl Mesh {
    /// The properties that code for it depends on.
    pub fn traits(&self) -> Traits {
        let blocks = self.blocks.iter().zip(self.ends_of_blocks());
        let blocks = blocks.map(|(block, end)| {
            let records = &self.records[block.first as usize..end as usize];
            let is_curved = |record: &&Record| record.curved != NONE;
            let mut maps: Vec<usize> = (records.iter().filter(is_curved))
                .map(|record| record.degree.into())
                .collect();
            let has_straight = maps.len() < records.len();
            maps.sort_unstable();
            maps.dedup();
            BlockTraits {
                element: block.element,
                has_straight,
                maps,
            }
        });
        Traits {
            dim: self.dim,
            blocks: blocks.collect(),
        }
    }

    /// Whether a cell has collapsed to an edge or a point somewhere, as pyramids have: many positions near such a cell need a search in its
    /// parts.
    pub fn has_collapsed_cells(&self) -> bool {
        let cells = 0..self.records.len();
        cells.into_par_iter().any(|cell| {
            let record = &self.records[cell];
            record.curved != NONE && !record.kind.is_simplex() && {
                let map = self.map_of(cell as u32);
                !map.is_mild() && map.collapses()
            }
        })
    }

    /// A number of it.
    pub fn fact(&self, fact: Fact) -> f64 {
        match fact {
            Fact::Theta => self.theta,
            Fact::Clear => self.clear,
            Fact::Low(axis) => self.ends(axis.into())[0],
            Fact::High(axis) => self.ends(axis.into())[1],
        }
    }

    /// The number of entries of a table.
    ///
    /// # Panics
    /// For values, which are not of the mesh alone.
    pub fn entries(&self, table: Table) -> usize {
        match table {
            Table::Records | Table::Corners | Table::Numbers => self.records.len(),
            Table::Neighbours => self.records.len() * MAX_FACES,
            Table::Geometry => self.geometry.len(),
            Table::Grids => self.index.grids.len(),
            Table::Starts => self.index.starts.len(),
            Table::Bins => self.index.bins.len(),
            Table::Members => {
                let lists = self.index.contents().filter_map(Result::ok);
                lists.map(|list| list.len() + 1).sum()
            }
            Table::Points => self.corners.points(),
            Table::Values(_) | Table::Times(_) => unreachable!("values are not of the mesh alone"),
        }
    }

    /// The bytes of a table, in pieces.
    ///
    /// # Panics
    /// For values, which are not of the mesh alone.
    pub fn table(&self, table: Table, take: &mut dyn FnMut(&[u8])) {
        let mut to = Pieces {
            bytes: Vec::with_capacity(2 * PIECE),
            take,
        };
        let cells = 0..self.records.len() as u32;
        match table {
            Table::Records => self.records.iter().for_each(|r| {
                to.numbers(&r.centre);
                to.numbers(r.inverse.as_flattened());
                to.integers(&[r.curved]);
                let margin = (i64::from(r.margin) + MARGIN_OFFSET) as u8;
                to.put([r.block, r.degree, margin].into_iter().chain([0; 25]));
            }),
            Table::Neighbours => (self.records.iter()).for_each(|r| to.integers(&r.neighbours)),
            Table::Geometry => self.geometry.iter().for_each(|entry| to.numbers(&entry.0)),
            Table::Grids => self.index.grids.iter().for_each(|grid| {
                to.numbers(&grid.low);
                to.numbers(&grid.scale);
                to.integers(&grid.sizes);
                to.integers(&[grid.first]);
            }),
            Table::Starts => (self.index.starts.iter()).for_each(|&start| {
                let inner = self.index.inner_of(start);
                to.integers(&[inner.map_or(start, |grid| u32::MAX - 1 - grid)]);
            }),
            Table::Bins => {
                let mut place = 0;
                for contents in self.index.contents() {
                    match contents {
                        Err(grid) => to.integers(&[u32::MAX - grid]),
                        Ok(list) => {
                            to.integers(&[place]);
                            place += list.len() as u32 + 1;
                        }
                    }
                }
            }
            Table::Members => {
                for list in self.index.contents().filter_map(Result::ok) {
                    to.integers(&[list.len() as u32]);
                    list.for_each(|cell| to.integers(&[cell]));
                }
            }
            Table::Corners => {
                let most = self.traits().corners();
                for cell in cells {
                    let corners = self.corners_of(cell);
                    let last = corners[corners.len() - 1];
                    (0..most).for_each(|n| to.integers(&[*corners.get(n).unwrap_or(&last)]));
                }
            }
            Table::Points => {
                let points = 0..self.corners.points() as u32;
                points.for_each(|p| to.numbers(&self.corners.point(p)[..self.dim]));
            }
            Table::Numbers => cells.for_each(|cell| to.integers(&[self.number(cell)])),
            Table::Values(_) | Table::Times(_) => unreachable!("values are not of the mesh alone"),
        }
    }

    /// Whether a table has more entries than an integer of 32 bits can count.
    pub fn is_huge(&self) -> bool {
        let mut tables = Table::OF_MESHES.into_iter();
        tables.any(|(table, _)| self.entries(table) > i32::MAX as usize)
    }
}

/// Bytes that are given away together.
const PIECE: usize = 1 << 20;

impl FemValues {
    /// The coefficients of all frames.
    fn all(&self) -> &[f64] {
        &self.coefficients[self.starts.first().copied().unwrap_or(0)..]
    }

    /// How many coefficients there are.
    pub fn count(&self) -> usize {
        self.all().len()
    }

    /// Their bytes, in pieces.
    pub fn bytes(&self, take: &mut dyn FnMut(&[u8])) {
        let mut to = Pieces {
            bytes: Vec::with_capacity(2 * PIECE),
            take,
        };
        let parts = self.all().chunks(PIECE / size_of::<f64>());
        parts.for_each(|part| to.numbers(part));
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// From the coefficients of one frame to those of the next.
    pub fn frame_stride(&self) -> usize {
        self.frame_stride
    }

    /// Whether they are over time at times that do not follow each other evenly.
    pub fn has_irregular_times(&self) -> bool {
        matches!(self.times, Some(TimeAxis::Table(_)))
    }

    /// The times of the frames; if they are regular, the first one and the step.
    pub fn times(&self) -> Vec<f64> {
        match &self.times {
            None => Vec::new(),
            Some(TimeAxis::Regular { start, step }) => vec![*start, *step],
            Some(TimeAxis::Table(times)) => times.clone(),
        }
    }

    /// Whether they belong to cells as a whole.
    pub fn are_constant(&self) -> bool {
        self.constant.is_some()
    }

    /// The place of the coefficients of a block's cells, if its first cell were cell 0.
    pub fn base(&self, mesh: &Mesh, block: usize) -> i64 {
        let own = &mesh.blocks[block];
        let stride = self.components * self.space(own).len();
        let start = self.starts[block] - self.starts[0];
        start as i64 - i64::from(own.first) * stride as i64
    }
}
