//! The shape of one cell: the record that location reads, and the map of a curved cell.

use super::element::{Element, MAX_NODES};
use super::file::{FemFile, FileCell};
use super::invert::{MILD_MARGIN, Matrix, REACH, apply, careful_inverse, determinant};
use super::polynomial::{Axes, Space};
use super::{AFTER_MAP, FemError, NONE, Record};
use crate::memory::Claim;

/// A cell is affine if no node is farther than this, in reference units, from where the corners put it.
const AFFINE: f64 = 1.0 / (1_u64 << 40) as f64;

/// What rounding may change of the bounds of a map, as a part of their distance.
const BOUNDS: f64 = 1e-12;

/// The smallest volume of a cell, as a part of the product of its edges, that is not nothing.
const FLAT: f64 = 1e-14;

/// Entries of the geometry in a line of the cache.
pub(super) const AXES_OF_LINE: usize = 64 / size_of::<Axes>();

/// One cell while a mesh is made.
pub(super) struct Shape {
    pub(super) record: Record,
    /// The entries of the geometry, if the cell is curved.
    pub(super) description: Vec<Axes>,
    pub(super) bounds: [[f64; 3]; 2],
    /// The memory of the description.
    pub(super) claim: Claim,
}

/// The shape of a cell of a file.
///
/// # Errors
/// No position can be found in the cell.
pub(super) fn shape(file: &FemFile, cell: &FileCell, dim: usize) -> Result<Shape, FemError> {
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
        claim,
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
