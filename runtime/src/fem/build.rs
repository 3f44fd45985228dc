//! From a file to a mesh that can be searched.

use super::element::{Element, MAX_NODES};
use super::file::{FemFile, FileCell};
use super::index::Index;
use super::invert::{MILD_MARGIN, Matrix, REACH, apply, careful_inverse, determinant};
use super::locate::slope;
use super::neighbours::{connect, merge_points};
use super::order;
use super::polynomial::{Axes, Space};
use super::{AFTER_MAP, Block, Contact, FemError, Mesh, NONE, Record};
use crate::memory::{self, Claim};
use crate::simd::{Isa, Real};
use rayon::prelude::*;

/// A cell is affine if no node is farther than this, in reference units, from where the corners put it.
const AFFINE: f64 = 1.0 / (1_u64 << 40) as f64;

/// What rounding may change of the bounds of a map, as a part of their distance.
const BOUNDS: f64 = 1e-12;

/// The smallest volume of a cell, as a part of the product of its edges, that is not nothing.
const FLAT: f64 = 1e-14;

/// Entries of the geometry in a line of the cache.
const AXES_OF_LINE: usize = 64 / size_of::<Axes>();

/// Memory per cell while a mesh is built, besides the maps of curved cells: its shape, its record, its faces, and lists.
const WHILE_BUILT: u64 = (size_of::<Shape>() + size_of::<Record>() + 6 * 28 + 128) as u64;

/// Memory per corner while those at the same place are found: its position, its number, and its place in a table, all in memory
/// that grows by doubling.
const WHILE_MERGED: u64 = 200;

/// One cell while a mesh is made.
struct Shape {
    record: Record,
    /// What the geometry says of it if it is curved.
    description: Vec<Axes>,
    bounds: [[f64; 3]; 2],
    /// What the description takes.
    _claim: Claim,
}

impl Mesh {
    /// Makes the mesh of a file for positions of a precision.
    ///
    /// # Errors
    /// The file has no cells of the dimension, or a cell that no position can be found in.
    pub fn new(file: &FemFile, dim: usize, real: Real) -> Result<Mesh, FemError> {
        let cells = cells_of(file, dim)?;
        order::check(file, &cells)?;
        let corners = cells
            .iter()
            .map(|&n| file.cells[n as usize].element.cell.corners());
        let corners = corners.sum::<usize>().min(file.points.len()) as u64;
        let numbers = 4 * file.points.len() as u64;
        let mut claim =
            memory::claim(cells.len() as u64 * WHILE_BUILT + corners * WHILE_MERGED + numbers)?;
        let all = cells
            .par_iter()
            .map(|&n| shape(file, &file.cells[n as usize], dim));
        let all: Vec<Result<Shape, FemError>> = all.collect();
        let shapes = all.into_iter().collect::<Result<Vec<Shape>, FemError>>()?;
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
            records: memory::roomy(cells.len()),
            numbers: Vec::with_capacity(cells.len()),
            sources: Vec::with_capacity(cells.len()),
            points: Vec::new(),
            corners: Vec::new(),
            geometry: Vec::new(),
            index: Index::default(),
            kind: None,
            isa: Isa::detect(),
            notes: Vec::new(),
            contact: Contact::default(),
            _claim: Claim::default(),
        };
        let entries: usize = shapes.iter().map(|shape| shape.description.len()).sum();
        if entries > 0 {
            claim.grow(((entries + AXES_OF_LINE) * size_of::<Axes>()) as u64)?;
            mesh.geometry = memory::roomy(entries + AXES_OF_LINE);
            let before = mesh.geometry.as_ptr().align_offset(64);
            mesh.geometry.resize(before, Axes([0.0; 4]));
        }
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
        mesh.clear = mesh.clear_constraint();
        let boxes: Vec<_> = order.iter().map(|&n| shapes[n as usize].bounds).collect();
        let meets = |cell: u32, own: &[[f64; 3]; 2]| mesh.may_meet(cell, own);
        let mut index = Index::new(&boxes, &bounds, (dim, theta), meets)?;
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
    let (basis, lattice) = (element.basis(), element.nodes());
    let count = lattice.len();
    let node = |n: usize| lattice[n].map(|i| f64::from(i) / element.degree as f64);
    let mut nodes = [[0.0; 3]; MAX_NODES];
    let mut along = [[0.0; MAX_NODES]; 3];
    for n in 0..count {
        nodes[n] = file.points[file.connectivity[cell.first + n] as usize];
        (0..3).for_each(|axis| along[axis][n] = nodes[n][axis]);
    }
    let nodes = &nodes[..count];
    let bad = |what: &str| FemError::new(format!("cell {} {what}", cell.number));
    let space = &basis.space;
    let mut coefficients = [0.0; 3 * MAX_NODES];
    let mut bounds = [[0.0; 3]; 2];
    for axis in 0..dim {
        let own = &mut coefficients[axis * space.len()..][..space.len()];
        basis.coefficients(&along[axis][..count], own);
    }
    let coefficients = &coefficients[..dim * space.len()];
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
    let largest = nodes.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    if !(edges.is_finite() && volume.is_finite()) {
        return Err(
            bad(&format!("is too large: it has a coordinate of {largest:e}"))
                .hint("products of lengths must be numbers: use a larger unit of length"),
        );
    }
    if volume.abs() <= FLAT * edges {
        return Err(bad("has no volume"));
    }
    // The map of a simplex of degree 1 is affine.
    let affine = kind.is_simplex() && element.degree == 1;
    for n in if affine { 0..0 } else { 0..count } {
        let t = node(n).map(|x| x - kind.centre());
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
    let across = |a: usize| corner(kind.axis_corners()[a]);
    let is_straight = |n: usize| {
        let xi = node(n);
        let off: [f64; 3] = std::array::from_fn(|i| {
            let edges = (0..dim).map(|a| xi[a] * (across(a)[i] - corner(0)[i]));
            nodes[n][i] - corner(0)[i] - edges.sum::<f64>()
        });
        (0..dim).all(|a| (0..dim).map(|i| k[a][i] * off[i]).sum::<f64>().abs() <= AFFINE)
    };
    let straight = affine || (0..count).all(is_straight);
    let mut description = Vec::new();
    let mut claim = Claim::default();
    let (mut margin, mut degree) = (0, 1);
    if straight {
        for axis in 0..dim {
            let all = || nodes[..kind.corners()].iter().map(|p| p[axis]);
            bounds[0][axis] = all().fold(f64::INFINITY, f64::min);
            bounds[1][axis] = all().fold(f64::NEG_INFINITY, f64::max);
        }
    } else {
        for axis in 0..dim {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for bound in basis.bounds(&along[axis][..count]) {
                (low, high) = (low.min(bound), high.max(bound));
            }
            // Where a node is next to an end, it is the end: bounds have been rounded.
            let rounding = BOUNDS * (high - low);
            for &x in &along[axis][..count] {
                low = if x < low + rounding { low.min(x) } else { low };
                high = if x > high - rounding {
                    high.max(x)
                } else {
                    high
                };
            }
            (bounds[0][axis], bounds[1][axis]) = (low, high);
        }
        let largest = margin_of_estimate(element, nodes, &k, &at_centre, &centre, dim);
        margin = largest.log2().ceil().clamp(-100.0, 100.0) as i8;
        let along = |axis: usize, n: usize| coefficients.get(axis * space.len() + n);
        let most = (space.len() + AFTER_MAP).next_multiple_of(AXES_OF_LINE);
        claim.grow((most * size_of::<Axes>()) as u64)?;
        description.reserve_exact(most);
        description.push(Axes([0.0; 4]));
        description.extend((1..space.len()).map(|n| {
            Axes(std::array::from_fn(|axis| {
                along(axis, n).copied().unwrap_or(0.0)
            }))
        }));
        degree = degree_of_map(element, &k, &description, dim);
        let map = element.maps()[degree];
        description.truncate(map.len());
        description[0].0[3] = curvature(map, &k, &description, margin);
        let ends: [[f64; 3]; AFTER_MAP] = bounds;
        description.extend(ends.map(|[x, y, z]| Axes([x, y, z, 0.0])));
        description.resize(
            description.len().next_multiple_of(AXES_OF_LINE),
            Axes([0.0; 4]),
        );
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
        _claim: claim,
    })
}

/// The least degree of polynomials that represent the map of a simplex: many files have elements of a high degree on cells that are
/// bent less. The dropped terms move no position by more than the tolerance `AFFINE`.
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

/// How fast the Jacobian of a map may change: a bound of its second derivatives along steps of unit length, in reference units of the
/// centre, wherever the iteration that relies on it goes. Infinite if the affine estimate may be elsewhere.
fn curvature(map: &Space, k: &Matrix, coefficients: &[Axes], margin: i8) -> f64 {
    if margin > MILD_MARGIN {
        return f64::INFINITY;
    }
    let mut sums = [0.0; 3];
    for (e, c) in map.exponents().iter().zip(coefficients) {
        let degree: u8 = e.iter().sum();
        if degree > 1 {
            let most =
                f64::from(degree) * f64::from(degree - 1) * REACH.powi(i32::from(degree) - 2);
            let [x, y, z, _] = c.0;
            let along = apply(k, &[x, y, z]);
            sums.iter_mut()
                .zip(along)
                .for_each(|(sum, a)| *sum += a.abs() * most);
        }
    }
    sums.into_iter().fold(0.0, f64::max)
}

/// A bound of the difference between the affine estimate of a reference position and the true one, along any axis: the largest of the
/// Bernstein coefficients of K(c)(T − A), and a little for rounding.
fn margin_of_estimate(
    element: &Element,
    nodes: &[[f64; 3]],
    k: &Matrix,
    j: &Matrix,
    centre: &[f64; 3],
    dim: usize,
) -> f64 {
    let (lattice, c) = (element.nodes(), element.cell.centre());
    let mut nodal = [[0.0; MAX_NODES]; 3];
    for (n, point) in nodes.iter().enumerate() {
        let t = lattice[n].map(|i| f64::from(i) / element.degree as f64 - c);
        let affine = apply(j, &t);
        let off = apply(
            k,
            &std::array::from_fn(|i| point[i] - (centre[i] + affine[i])),
        );
        (0..dim).for_each(|a| nodal[a][n] = off[a]);
    }
    let mut margin = 0.0_f64;
    for nodal in &nodal[..dim] {
        let all = element.basis().bounds(&nodal[..nodes.len()]).map(f64::abs);
        margin = all.fold(margin, f64::max);
    }
    margin * (1.0 + 1e-9) + 1e-12
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
        .into_par_iter()
        .map(|n| {
            let element = file.cells[cells[n] as usize].element;
            (element.row(), key(&shapes[n]), n as u32)
        })
        .collect();
    order.par_sort_unstable();
    order.into_iter().map(|(_, _, n)| n).collect()
}
