//! Fields from finite elements: a mesh, values on it, and their derivatives in the world.
//!
//! # Definition
//!
//! A cell of a mesh is the image of a reference cell under a polynomial map `x = T(ξ)`; in it a field is a polynomial `û(ξ)`. At a
//! position the value is `û(T⁻¹(x))` in *the* cell of the position, and derivatives are those of that composed function.
//! At load, nodal values become coefficients ([`Element`] is a row of a table), so run-time code knows polynomials only.
//!
//! # The cell of a position
//!
//! Distances to faces are measured in the world, in units of `θ = 4εX` where X is the largest coordinate plus the diameter of
//! the mesh and ε the rounding of the program's positions. A cell *holds* a position that is inside by more than 2θ; at most one does. Otherwise the cell is the one
//! with the lowest number in the file among those that *accept* the position: within θ of their box and of all faces.
//! So no position of the closed mesh is lost, and the cell is a function of the position: not of the cell where the search begins.
//!
//! Positions without a cell are outside: results are NaN, or a constant with derivatives of zero.
//!
//! All arithmetic is in double precision, whatever the program's; lanes do not depend on each other.

mod basis;
mod build;
mod cell;
mod collapsed;
mod corners;
mod element;
mod error;
mod evaluate;
mod field;
mod file;
mod index;
mod invert;
mod lanes;
mod locate;
#[cfg(not(feature = "mutants"))]
mod mutants;
#[cfg(feature = "mutants")]
pub mod mutants;
mod neighbours;
mod number;
mod order;
mod polynomial;
mod primitive;
pub mod recorded;
mod series;
mod shape;
pub mod tables;
mod times;
mod world;

pub use basis::Basis;
pub use cell::CellKind;
pub use element::{ELEMENTS, Element, Family};
pub use error::FemError;
pub use field::{Choice, FemValues};
pub(crate) use file::mesh_formats;
pub use file::{ArrayPlace, Cells, FemArray, FemFile, FileCell, Shared, holds_mesh, mesh_files};
pub use locate::Found;
pub use primitive::{FemWanted, OUTSIDE, Outside};
pub use times::FemSeries;

use crate::grid::{AskedBox, BoxBits};
use crate::memory::Claim;
use crate::simd::{Isa, Real};
use cell::MAX_FACES;
use corners::Corners;
use index::Index;
use polynomial::{Axes, MAX_DEGREE, Space};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// No cell.
pub(crate) const NONE: u32 = u32::MAX;

/// What location reads of a cell: two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Record {
    /// The image of the centre of the reference cell.
    centre: [f64; 3],
    /// The inverse of the Jacobian there, by reference axis, then world axis. In affine cells it holds everywhere.
    inverse: [[f64; 3]; 3],
    /// The cell beyond each face.
    neighbours: [u32; MAX_FACES],
    /// Where the description of a curved cell begins in the geometry, or `NONE`.
    curved: u32,
    /// The block that the cell is in.
    block: u8,
    kind: CellKind,
    /// The degree of the map, which may be lower than that of the element.
    degree: u8,
    /// A power of two that no margin of the affine estimate of a curved cell exceeds.
    margin: i8,
}

impl Record {
    /// Its size in numbers. It begins with the centre and the inverse.
    const NUMBERS: usize = size_of::<Record>() / size_of::<f64>();
    /// Where the inverse begins, in numbers.
    const INVERSE: usize = std::mem::offset_of!(Record, inverse) / size_of::<f64>();

    /// Where the map of a curved cell begins in the geometry, in numbers.
    #[inline(always)]
    fn map(&self) -> i64 {
        i64::from(self.curved) * (size_of::<Axes>() / size_of::<f64>()) as i64
    }
}

/// How many entries of the geometry come after the coefficients of a curved cell's map: the smallest and largest coordinates.
const AFTER_MAP: usize = 2;

/// Cells of one element, side by side.
#[derive(Clone, Copy, Debug)]
struct Block {
    element: &'static Element,
    /// The element's basis, without a look into the table.
    basis: &'static Basis,
    /// The polynomials of maps by their degree.
    maps: [&'static Space; MAX_DEGREE + 1],
    first: u32,
}

/// A mesh that can be searched. It does not change.
#[derive(Debug)]
pub struct Mesh {
    dim: usize,
    real: Real,
    /// The tolerance of positions, in the world.
    theta: f64,
    /// A constraint above this holds, whatever the cell.
    clear: f64,
    /// The smallest and largest coordinates.
    bounds: [[f64; 3]; 2],
    blocks: Vec<Block>,
    records: Vec<Record>,
    /// The place of each cell in the list of the file.
    sources: Vec<u32>,
    /// The corners of cells, by these places.
    corners: Corners,
    /// Of each curved cell: coefficients of the map, box. The map is relative to the image of the centre, so its constant is zero;
    /// the fourth number there is how curved it is. Each begins with a line of the cache.
    geometry: Vec<Axes>,
    index: Index,
    /// The shape of all cells, if they have one.
    kind: Option<CellKind>,
    /// Which versions of the primitives the processor runs.
    isa: Isa,
    notes: Vec<String>,
    contact: Contact,
    _claim: Claim,
}

/// What became of the probes of a mesh.
#[derive(Debug, Default)]
struct Contact {
    probed: AtomicU64,
    inside: AtomicU64,
    /// The positions before one was inside.
    asked: AskedBox,
    /// Positions for which the inverse map of a cell was not found, and the first of them.
    unresolved: AtomicU64,
}

impl Mesh {
    /// The mesh with the primitives of another instruction set, which this processor has to have.
    ///
    /// # Panics
    /// It does not.
    pub fn on(mut self, isa: Isa) -> Mesh {
        assert!(isa.is_available(), "{} is not there", isa.name());
        self.isa = isa;
        self
    }

    /// The dimension of cells and positions.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.records.len()
    }

    /// How many cells are curved.
    pub fn curved_cells(&self) -> usize {
        self.records.iter().filter(|r| r.curved != NONE).count()
    }

    /// The largest degree of a cell's element.
    pub fn degree(&self) -> usize {
        let degrees = self.blocks.iter().map(|block| block.element.degree);
        degrees.max().unwrap_or(0)
    }

    /// The smallest and the largest coordinate along each axis.
    pub fn world_box(&self) -> Vec<(f64, f64)> {
        let [low, high] = &self.bounds;
        (0..self.dim).map(|a| (low[a], high[a])).collect()
    }

    /// The memory that it takes, with lists that it shares with its file.
    pub fn bytes(&self) -> usize {
        let lists = size_of_val(&self.records[..])
            + size_of_val(&self.sources[..])
            + size_of_val(&self.geometry[..]);
        lists + self.corners.bytes() + self.index.bytes()
    }

    /// The memory that the index of cells takes: a bounded number of bytes per cell, whatever the shape of the cells.
    pub fn index_bytes(&self) -> usize {
        self.index.bytes()
    }

    /// How many cells the index has for a position: those that are asked where a walk does not lead to the cell.
    pub fn candidates(&self, x: &[f64; 3]) -> usize {
        self.index.find(x).len()
    }

    /// The number of a cell in its file.
    pub fn number(&self, cell: u32) -> u32 {
        self.corners.number(self.sources[cell as usize])
    }

    /// The tolerance of positions: a position within this distance of the mesh may count as inside.
    pub fn tolerance(&self) -> f64 {
        self.theta
    }

    /// Notes about the mesh for the user, such as cells that overlap.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the mesh was probed, but never inside.
    pub fn was_missed(&self) -> bool {
        self.contact.probed.load(Relaxed) != 0 && self.contact.inside.load(Relaxed) == 0
    }

    /// The box of the positions of a mesh that was never probed inside.
    pub fn asked(&self) -> Option<Vec<(f64, f64)>> {
        self.contact.asked.get(self.dim)
    }

    /// Gives away the facts about the probes, for rank 0: numbers, and the box of positions.
    pub fn take_contact(&self) -> ([u64; 3], BoxBits) {
        let Contact {
            probed,
            inside,
            asked,
            unresolved,
        } = &self.contact;
        let facts = [probed.load(Relaxed), inside.load(Relaxed)];
        let facts = [facts[0], facts[1], unresolved.swap(0, Relaxed)];
        (facts, asked.bits())
    }

    /// Takes over the facts that a rank has given away.
    pub fn learn_contact(&self, [probed, inside, unresolved]: [u64; 3], asked: BoxBits) {
        self.contact.probed.fetch_or(probed, Relaxed);
        self.contact.inside.fetch_or(inside, Relaxed);
        self.contact.asked.learn(asked);
        self.contact.unresolved.fetch_add(unresolved, Relaxed);
    }

    /// For how many positions the inverse map of a cell that may contain them was not found.
    pub fn unresolved(&self) -> u64 {
        self.contact.unresolved.load(Relaxed)
    }

    /// Where each block of cells ends.
    fn ends_of_blocks(&self) -> impl Iterator<Item = u32> {
        let next = self.blocks.iter().skip(1).map(|block| block.first);
        next.chain([self.records.len() as u32])
    }
}
