//! From a file to a mesh that can be searched.
//!
//! Large meshes decide how much memory is needed, so nothing is there twice: cells are put in their final order first, and their
//! records are made in that order, some thousand at a time.

use super::corners::Corners;
use super::file::FemFile;
use super::index::{Geometry, Index};
use super::locate::slope;
use super::neighbours::connect;
use super::order;
use super::polynomial::Axes;
use super::shape::{AXES_OF_LINE, Shape, shape};
use super::{Block, Contact, FemError, Mesh, NONE, Record};
use crate::memory::{self, Claim};
use crate::simd::{Isa, Real};
use rayon::prelude::*;

/// Memory per cell while a mesh is built, besides the maps of curved cells: its record, and numbers of cells.
const WHILE_BUILT: u64 = (size_of::<Record>() + 32) as u64;

/// Memory per point while those at the same place are found: numbers, and its place in a table that grows by doubling.
const WHILE_MERGED: u64 = 88;

/// Cells whose shapes are computed together.
const TOGETHER: usize = 1 << 14;

impl Mesh {
    /// Makes the mesh of a file for positions of a precision. It shares lists with the file where it can.
    ///
    /// # Errors
    /// The file has no cells of the dimension, or a cell that no position can be found in.
    pub fn new(file: &FemFile, dim: usize, real: Real) -> Result<Mesh, FemError> {
        let cells = cells_of(file, dim)?;
        order::check(file, &cells)?;
        let mut claim = memory::claim(
            cells.len() as u64 * WHILE_BUILT + file.points.len() as u64 * WHILE_MERGED,
        )?;
        let sources = along_a_curve(file, cells, dim);
        let mut mesh = Mesh {
            dim,
            real,
            theta: 0.0,
            clear: 0.0,
            bounds: [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]],
            blocks: Vec::new(),
            records: Vec::new(),
            corners: Corners::default(),
            sources,
            geometry: Vec::new(),
            index: Index::default(),
            kind: None,
            isa: Isa::detect(),
            notes: Vec::new(),
            contact: Contact::default(),
            _claim: Claim::default(),
        };
        mesh.add_cells(file, &mut claim)?;
        // Now that all cells are known to have a size.
        mesh.corners = Corners::new(file, &mesh.sources, dim);
        mesh.theta = mesh.tolerance_of_positions();
        let overlapping = connect(&mut mesh);
        mesh.notes.extend(mesh.overlap_note(&overlapping));
        mesh.clear = mesh.clear_constraint();
        let margin = mesh.theta + mesh.corners.tolerance;
        let mut index = Index::new(&mesh, &mesh.bounds, (dim, margin))?;
        index.improve(|x, from| mesh.approach(x, from));
        mesh.index = index;
        let mut kinds = mesh.blocks.iter().map(|block| block.element.cell);
        let first = kinds.next();
        mesh.kind = first.filter(|kind| kinds.all(|other| other == *kind));
        // From here on the claim covers the finished mesh; the index has a claim of its own.
        claim.keep((mesh.bytes() - mesh.index.bytes()) as u64)?;
        mesh._claim = claim;
        Ok(mesh)
    }

    /// Makes the records of all cells, and their bounds.
    fn add_cells(&mut self, file: &FemFile, claim: &mut Claim) -> Result<(), FemError> {
        let sources = std::mem::take(&mut self.sources);
        let shape_of = |&source: &u32| shape(file, &file.cells.at(source as usize), self.dim);
        self.records = memory::roomy(sources.len());
        let mut descriptions: Vec<Vec<Axes>> = Vec::new();
        let mut entries = 0;
        for own in sources.chunks(TOGETHER) {
            let shapes: Vec<Result<Shape, FemError>> = own.par_iter().map(shape_of).collect();
            let mut geometry = Vec::new();
            for (&source, shape) in own.iter().zip(shapes) {
                let Shape {
                    mut record,
                    description,
                    bounds: [low, high],
                    claim: of_shape,
                } = shape.map_err(|error| first_error(&sources, shape_of).unwrap_or(error))?;
                let element = file.cells.at(source as usize).element;
                let is_other = |block: &Block| !std::ptr::eq(block.element, element);
                if self.blocks.last().is_none_or(is_other) {
                    self.blocks.push(Block {
                        element,
                        basis: element.basis(),
                        maps: element.maps(),
                        first: self.records.len() as u32,
                    });
                }
                record.block = self.blocks.len() as u8 - 1;
                if !description.is_empty() {
                    record.curved = (entries + geometry.len()) as u32;
                    geometry.extend(description);
                    claim.add(of_shape);
                }
                self.records.push(record);
                for a in 0..3 {
                    self.bounds[0][a] = self.bounds[0][a].min(low[a]);
                    self.bounds[1][a] = self.bounds[1][a].max(high[a]);
                }
            }
            entries += geometry.len();
            if !geometry.is_empty() {
                descriptions.push(geometry);
            }
        }
        self.sources = sources;
        if entries > 0 {
            claim.grow(((entries + AXES_OF_LINE) * size_of::<Axes>()) as u64)?;
            self.set_geometry(descriptions, entries);
        }
        Ok(())
    }

    /// Puts the descriptions of curved cells one after the other, from the beginning of a line of the cache.
    fn set_geometry(&mut self, descriptions: Vec<Vec<Axes>>, entries: usize) {
        self.geometry = memory::roomy(entries + AXES_OF_LINE);
        let before = self.geometry.as_ptr().align_offset(64);
        self.geometry.resize(before, Axes([0.0; 4]));
        for own in descriptions {
            self.geometry.extend(own);
        }
        let curved = self.records.iter_mut().filter(|r| r.curved != NONE);
        curved.for_each(|record| record.curved += before as u32);
    }

    /// The tolerance of positions, from the rounding of their coordinates.
    fn tolerance_of_positions(&self) -> f64 {
        let [low, high] = &self.bounds;
        let diameter = (0..self.dim)
            .map(|a| (high[a] - low[a]).powi(2))
            .sum::<f64>()
            .sqrt();
        let largest = (0..self.dim)
            .map(|a| low[a].abs().max(high[a].abs()))
            .fold(0.0, f64::max);
        let epsilon = match self.real {
            Real::F32 => f64::from(f32::EPSILON) / 2.0,
            Real::F64 => f64::EPSILON / 2.0,
        };
        4.0 * epsilon * (largest + diameter)
    }

    /// The largest value of a constraint within 2θ of its face, over all cells; in curved ones, if they had the Jacobian of their
    /// centre everywhere.
    fn clear_constraint(&self) -> f64 {
        let steepest = |record: &Record| {
            let slopes = (0..record.kind.faces()).map(|j| slope(record.kind, j, &record.inverse));
            slopes.filter(|s| s.is_finite()).fold(0.0, f64::max)
        };
        let all = self.records.iter().map(steepest);
        2.0 * self.theta * all.fold(0.0, f64::max)
    }
}

/// What the index reads of cells.
impl Geometry for Mesh {
    fn cells(&self) -> usize {
        self.records.len()
    }

    fn centre(&self, cell: u32) -> [f64; 3] {
        self.records[cell as usize].centre
    }

    fn bounds(&self, cell: u32) -> [[f64; 3]; 2] {
        self.box_of(cell)
    }

    fn meets(&self, cell: u32, own: &[[f64; 3]; 2]) -> bool {
        self.may_meet(cell, own)
    }
}

/// The error of the first cell of the file that has one.
fn first_error(
    sources: &[u32],
    shape_of: impl Fn(&u32) -> Result<Shape, FemError> + Sync,
) -> Option<FemError> {
    let mut in_file = sources.to_vec();
    in_file.sort_unstable();
    let error = |source: &u32| shape_of(source).err();
    in_file.par_iter().find_map_first(error)
}

/// The cells of the given dimension; a mesh of dimension 2 must be planar.
fn cells_of(file: &FemFile, dim: usize) -> Result<Vec<u32>, FemError> {
    let has = |d: usize| file.cells.iter().any(|cell| cell.element.cell.dim() == d);
    if dim == 2 && has(3) {
        return Err(FemError::new(
            "the file has cells in space, but the mesh is declared of dimension 2",
        ));
    }
    if !has(dim) {
        let found = if has(5 - dim) {
            format!("; its cells have dimension {}", 5 - dim)
        } else {
            String::new()
        };
        return Err(FemError::new(format!(
            "the file has no cells of dimension {dim}{found}"
        )));
    }
    if file.cells.len() > i32::MAX as usize {
        return Err(FemError::new("the mesh has more than 2³¹ cells"));
    }
    let all = 0..file.cells.len() as u32;
    let cells: Vec<u32> = all
        .filter(|&n| file.cells.at(n as usize).element.cell.dim() == dim)
        .collect();
    if dim == 2 {
        let heights = || {
            cells
                .iter()
                .flat_map(|&n| file.nodes(n as usize))
                .map(|p| p[2])
        };
        let (low, high) = (
            heights().fold(f64::INFINITY, f64::min),
            heights().fold(f64::NEG_INFINITY, f64::max),
        );
        let size = file
            .points
            .iter()
            .flat_map(|p| [p[0].abs(), p[1].abs()])
            .fold(0.0, f64::max);
        if high - low > 1e-12 * size {
            return Err(FemError::new(format!(
                "the cells are a surface in space (z from {low} to {high}), but the mesh is declared of dimension 2"
            )));
        }
    }
    Ok(cells)
}

/// The cells by element and along a Morton curve: neighbours in space are neighbours in memory.
fn along_a_curve(file: &FemFile, cells: Vec<u32>, dim: usize) -> Vec<u32> {
    /// Bits of a place along an axis: three of them and the row of an element are a key.
    const BITS: u32 = 19;
    let nothing = || ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let join = |(low, high): ([f64; 3], [f64; 3]), (l, h): ([f64; 3], [f64; 3])| {
        (
            std::array::from_fn(|a| f64::min(low[a], l[a])),
            std::array::from_fn(|a| f64::max(high[a], h[a])),
        )
    };
    let of_cell = |all, &n: &u32| file.nodes(n as usize).fold(all, |all, p| join(all, (p, p)));
    let (low, high) = cells
        .par_iter()
        .fold(nothing, of_cell)
        .reduce(nothing, join);
    let key = |n: u32| {
        let element = file.cells.at(n as usize).element;
        let count = element.cell.corners();
        let mut centre = [0.0; 3];
        for p in file.nodes(n as usize).take(count) {
            (0..3).for_each(|a| centre[a] += p[a] / count as f64);
        }
        let at: [u64; 3] = std::array::from_fn(|a| {
            let width = high[a] - low[a];
            if a >= dim || width <= 0.0 {
                return 0;
            }
            ((centre[a] - low[a]) / width * f64::from((1 << BITS) - 1)) as u64
        });
        let mut key = element.row() as u64;
        for bit in (0..BITS).rev() {
            for x in at {
                key = key << 1 | (x >> bit & 1);
            }
        }
        key
    };
    let mut order: Vec<(u64, u32)> = cells.par_iter().map(|&n| (key(n), n)).collect();
    drop(cells);
    order.par_sort_unstable();
    order.into_iter().map(|(_, n)| n).collect()
}
