//! From a file to a mesh that can be searched.

use super::element::Element;
use super::file::{FemFile, FileCell};
use super::index::Index;
use super::invert::{Matrix, careful_inverse, determinant, inverse};
use super::locate::slope;
use super::neighbours::{connect, merge_points};
use super::order;
use super::polynomial::Axes;
use super::{BEFORE_MAP, Block, Contact, FemError, Mesh, NONE, Record};
use crate::memory::{self, Claim};
use crate::simd::{Isa, Real};

/// A cell is affine if no node is farther than this, in reference units, from where the corners put it.
const AFFINE: f64 = 1.0 / (1_u64 << 40) as f64;

/// The smallest volume of a cell, as a part of the product of its edges, that is not nothing.
const FLAT: f64 = 1e-14;

/// Memory per cell while a mesh is made, besides curved ones: what is known of it twice, its record, its faces, and lists.
const WHILE_BUILT: u64 = (size_of::<Shape>() + size_of::<Record>() + 6 * 28 + 64) as u64;

/// One cell while a mesh is made.
struct Shape {
    record: Record,
    /// What the geometry says of it if it is curved.
    description: Vec<Axes>,
    bounds: [[f64; 3]; 2],
}

impl Mesh {
    /// Makes the mesh of a file for positions of a precision.
    ///
    /// # Errors
    /// The file has no cells of the dimension, or a cell that no position can be found in.
    pub fn new(file: &FemFile, dim: usize, real: Real) -> Result<Mesh, FemError> {
        let cells = cells_of(file, dim)?;
        order::check(file, &cells)?;
        let mut claim = memory::claim(cells.len() as u64 * WHILE_BUILT)?;
        let mut shapes = Vec::with_capacity(cells.len());
        for &n in &cells {
            shapes.push(shape(file, &file.cells[n as usize], dim)?);
        }
        let bounds = shapes.iter().fold(
            [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]],
            |[low, high], shape| {
                [
                    std::array::from_fn(|a| low[a].min(shape.bounds[0][a])),
                    std::array::from_fn(|a| high[a].max(shape.bounds[1][a])),
                ]
            },
        );
        let [low, high] = bounds;
        let diameter = (0..dim)
            .map(|a| (high[a] - low[a]).powi(2))
            .sum::<f64>()
            .sqrt();
        let largest = (0..dim)
            .map(|a| low[a].abs().max(high[a].abs()))
            .fold(0.0, f64::max);
        let epsilon = match real {
            Real::F32 => f64::from(f32::EPSILON) / 2.0,
            Real::F64 => f64::EPSILON / 2.0,
        };
        let theta = 4.0 * epsilon * (largest + diameter);
        let order = along_a_curve(file, &cells, &shapes, &bounds, dim);
        let mut mesh = Mesh {
            dim,
            real,
            theta,
            clear: 0.0,
            bounds,
            blocks: Vec::new(),
            records: Vec::with_capacity(cells.len()),
            numbers: Vec::with_capacity(cells.len()),
            sources: Vec::with_capacity(cells.len()),
            points: Vec::new(),
            corners: Vec::new(),
            geometry: Vec::new(),
            index: Index::default(),
            wide: Isa::Avx2.is_available(),
            notes: Vec::new(),
            contact: Contact::default(),
            _claim: Claim::default(),
        };
        let merged = merge_points(file, &cells, dim);
        mesh.points = merged.points;
        for &n in &order {
            let source = cells[n as usize];
            mesh.add(&file.cells[source as usize], source, &shapes[n as usize]);
            let cell = &file.cells[source as usize];
            let nodes = &file.connectivity[cell.first..][..cell.element.cell.corners()];
            mesh.corners
                .extend(nodes.iter().map(|&p| merged.ids[p as usize]));
        }
        let overlapping = connect(&mut mesh);
        mesh.notes.extend(mesh.overlap_note(&overlapping));
        let boxes: Vec<_> = order.iter().map(|&n| shapes[n as usize].bounds).collect();
        let mut index = Index::new(&boxes, &bounds, dim, theta);
        index.improve(|x, from| mesh.approach(x, from));
        mesh.index = index;
        mesh.clear = mesh.clear_constraint();
        // From here on it is what is kept; curved cells and those of many bins take more than is needed on the way.
        claim.give_back(cells.len() as u64 * WHILE_BUILT);
        claim.grow(mesh.bytes() as u64)?;
        mesh._claim = claim;
        Ok(mesh)
    }

    fn add(&mut self, cell: &FileCell, source: u32, shape: &Shape) {
        let new = |block: &Block| !std::ptr::eq(block.element, cell.element);
        if self.blocks.last().is_none_or(new) {
            self.blocks.push(Block {
                element: cell.element,
                basis: cell.element.basis(),
                maps: cell.element.maps(),
                first: self.records.len() as u32,
                corners: self.corners.len(),
            });
        }
        let mut record = shape.record;
        record.block = self.blocks.len() as u8 - 1;
        if !shape.description.is_empty() {
            record.curved = self.geometry.len() as u32;
            self.geometry.extend(&shape.description);
        }
        self.records.push(record);
        self.numbers.push(cell.number);
        self.sources.push(source);
    }

    /// The largest value of a constraint within 2θ of its face, over all cells; curved ones are looked at in their nodes.
    fn clear_constraint(&self) -> f64 {
        let mut steepest = 0.0_f64;
        for (cell, record) in (0..).zip(&self.records) {
            let element = self.blocks[usize::from(record.block)].element;
            let mut look = |k: &Matrix| {
                let slopes = (0..element.cell.faces()).map(|j| slope(element.cell, j, k));
                steepest = slopes.filter(|s| s.is_finite()).fold(steepest, f64::max);
            };
            look(&record.inverse);
            if record.curved != NONE {
                for n in 0..element.nodes().len() {
                    let t = element.node(n).map(|x| x - element.cell.centre());
                    look(&inverse(&self.map_of(cell).image(&t).1, self.dim));
                }
            }
        }
        2.0 * self.theta * steepest
    }
}

/// The cells of the dimension; a mesh in the plane must lie in a plane.
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
        .filter(|&n| file.cells[n as usize].element.cell.dim() == dim)
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

fn shape(file: &FemFile, cell: &FileCell, dim: usize) -> Result<Shape, FemError> {
    let (element, kind) = (cell.element, cell.element.cell);
    let basis = element.basis();
    let points = &file.connectivity[cell.first..][..element.nodes().len()];
    let nodes: Vec<[f64; 3]> = points.iter().map(|&p| file.points[p as usize]).collect();
    let bad = |what: &str| FemError::new(format!("cell {} {what}", cell.number));
    let mut coefficients = Vec::new();
    let mut bounds = [[0.0; 3]; 2];
    for axis in 0..dim {
        let along: Vec<f64> = nodes.iter().map(|p| p[axis]).collect();
        basis.coefficients(&along, &mut coefficients);
    }
    let space = &basis.space;
    let jacobian = |t: &[f64; 3]| {
        let mut j = [[0.0; 3]; 3];
        for (row, c) in j.iter_mut().zip(coefficients.chunks_exact(space.len())) {
            *row = space.value_and_gradient(c, t).1;
        }
        j
    };
    let at_centre = jacobian(&[0.0; 3]);
    let volume = determinant(&at_centre, dim);
    let edges: f64 = (0..dim)
        .map(|a| {
            (0..dim)
                .map(|i| at_centre[i][a].powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .product();
    if volume.is_nan() || volume.abs() <= FLAT * edges {
        return Err(bad("has no volume"));
    }
    for n in 0..element.nodes().len() {
        let t = element.node(n).map(|x| x - kind.centre());
        if determinant(&jacobian(&t), dim) * volume.signum() < -FLAT * edges {
            return Err(bad("is folded: its map turns inside out")
                .hint("the order of its nodes may be that of another program"));
        }
    }
    let k = careful_inverse(&at_centre, dim);
    let mut centre = [0.0; 3];
    for axis in 0..dim {
        centre[axis] = coefficients[axis * space.len()];
    }
    // How far each node is from where the map of the corners puts it, in reference units.
    let corner = |n: usize| nodes[n];
    let across: Vec<[f64; 3]> = kind.axis_corners().iter().map(|&c| corner(c)).collect();
    let straight = (0..element.nodes().len()).all(|n| {
        let xi = element.node(n);
        let off: [f64; 3] = std::array::from_fn(|i| {
            let edges = (0..dim).map(|a| xi[a] * (across[a][i] - corner(0)[i]));
            nodes[n][i] - corner(0)[i] - edges.sum::<f64>()
        });
        (0..dim).all(|a| (0..dim).map(|i| k[a][i] * off[i]).sum::<f64>().abs() <= AFFINE)
    });
    let mut description = Vec::new();
    let (mut margin, mut degree) = (0, 1);
    if straight {
        for axis in 0..dim {
            let all = || nodes[..kind.corners()].iter().map(|p| p[axis]);
            bounds[0][axis] = all().fold(f64::INFINITY, f64::min);
            bounds[1][axis] = all().fold(f64::NEG_INFINITY, f64::max);
        }
    } else {
        for axis in 0..dim {
            let along: Vec<f64> = nodes.iter().map(|p| p[axis]).collect();
            let row: Vec<f64> = basis.bounds(&along).collect();
            bounds[0][axis] = row.iter().copied().fold(f64::INFINITY, f64::min);
            bounds[1][axis] = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        }
        let margins = margins(element, &nodes, &k, &at_centre, &centre, dim);
        let largest = margins.into_iter().fold(0.0, f64::max);
        margin = largest.log2().ceil().clamp(-100.0, 100.0) as i8;
        let before: [[f64; 3]; BEFORE_MAP] = [margins, bounds[0], bounds[1]];
        description.extend(before.map(|[x, y, z]| Axes([x, y, z, 0.0])));
        let along = |axis: usize, n: usize| coefficients.get(axis * space.len() + n);
        let map = (0..space.len()).map(|n| {
            Axes(std::array::from_fn(|axis| {
                along(axis, n).copied().unwrap_or(0.0)
            }))
        });
        description.extend(map);
        degree = degree_of_map(element, &k, &description[BEFORE_MAP..], dim);
        description.truncate(BEFORE_MAP + element.maps()[degree].len());
    }
    Ok(Shape {
        record: Record {
            centre,
            inverse: k,
            neighbours: [NONE; super::cell::MAX_FACES],
            curved: NONE,
            block: 0,
            kind,
            degree: degree as u8,
            margin,
        },
        description,
        bounds,
    })
}

/// The least degree of polynomials that have the map of a simplex: many files have elements of a high degree on cells that are
/// bent less. What is left out moves no position by more than what makes a cell affine.
fn degree_of_map(element: &Element, k: &Matrix, map: &[Axes], dim: usize) -> usize {
    let maps = element.maps();
    let is_nothing = |c: &Axes| {
        let along = |a: usize| (0..dim).map(|i| k[a][i] * c.0[i]).sum::<f64>();
        (0..dim).all(|a| along(a).abs() <= AFFINE)
    };
    let enough = |degree: &usize| map[maps[*degree].len()..].iter().all(is_nothing);
    let degrees = 1..element.degree;
    degrees.clone().find(enough).unwrap_or(degrees.end)
}

/// Bounds of the difference between the affine estimate of a reference position and the true one, along each axis: the largest
/// Bernstein coefficients of K(c)(T − A), and a little for rounding.
fn margins(
    element: &Element,
    nodes: &[[f64; 3]],
    k: &[[f64; 3]; 3],
    j: &[[f64; 3]; 3],
    centre: &[f64; 3],
    dim: usize,
) -> [f64; 3] {
    let mut margins = [0.0; 3];
    let c = element.cell.centre();
    for (a, margin) in margins.iter_mut().enumerate().take(dim) {
        let off = |n: usize| {
            let t = element.node(n).map(|x| x - c);
            let along = |i: usize| {
                let affine = centre[i] + (0..dim).map(|b| j[i][b] * t[b]).sum::<f64>();
                k[a][i] * (nodes[n][i] - affine)
            };
            (0..dim).map(along).sum::<f64>()
        };
        let nodal: Vec<f64> = (0..nodes.len()).map(off).collect();
        let largest = element
            .basis()
            .bounds(&nodal)
            .map(f64::abs)
            .fold(0.0, f64::max);
        *margin = largest * (1.0 + 1e-9) + 1e-12;
    }
    margins
}

/// The cells by element and along a Morton curve: neighbours in space are neighbours in memory.
fn along_a_curve(
    file: &FemFile,
    cells: &[u32],
    shapes: &[Shape],
    bounds: &[[f64; 3]; 2],
    dim: usize,
) -> Vec<u32> {
    const BITS: u32 = 20;
    let key = |shape: &Shape| {
        let mut key = 0_u64;
        let at: [u64; 3] = std::array::from_fn(|a| {
            let width = bounds[1][a] - bounds[0][a];
            if a >= dim || width <= 0.0 {
                return 0;
            }
            let part = (shape.record.centre[a] - bounds[0][a]) / width;
            (part * f64::from((1 << BITS) - 1)) as u64
        });
        for bit in (0..BITS).rev() {
            for x in at {
                key = key << 1 | (x >> bit & 1);
            }
        }
        key
    };
    let mut order: Vec<(usize, u64, u32)> = (0..cells.len())
        .map(|n| {
            let element = file.cells[cells[n] as usize].element;
            (element.row(), key(&shapes[n]), n as u32)
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, _, n)| n).collect()
}
