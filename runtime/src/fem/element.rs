//! The table of elements: cell, polynomial space, nodes, and the numbers that file formats have for them.
//!
//! An element is data. Its nodes are lattice points over the degree in VTK's order; its basis follows from them by a formula in
//! exact fractions (`basis.rs`), so that run-time code knows polynomials only.

use super::basis::Basis;
use super::cell::CellKind;
use super::polynomial::{MAX_DEGREE, Space};
use std::sync::LazyLock;

/// Which polynomials, and which nodes of the lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// All lattice points; total degree on simplices, degree per axis on cubes, total degree times degree on wedges.
    Lagrange,
    /// Corners and middles of edges only, on cubes and wedges of degree 2.
    Serendipity,
}

/// One row of the table.
#[derive(Debug)]
pub struct Element {
    /// A name for messages and tests.
    pub name: &'static str,
    /// The shape.
    pub cell: CellKind,
    /// The degree, which is also that of the lattice.
    pub degree: usize,
    /// Which polynomials.
    pub family: Family,
    /// VTK's type with a fixed number of nodes, if there is one.
    pub vtk: Option<u8>,
    /// Gmsh's type, and for each node of ours the number that Gmsh gives it; none if the orders agree.
    pub gmsh: (u32, Option<&'static [u8]>),
}

/// VTK's cells of any degree: their nodes say which.
pub(super) const VTK_LAGRANGE: [(u8, CellKind); 5] = [
    (69, CellKind::Triangle),
    (70, CellKind::Quadrilateral),
    (71, CellKind::Tetrahedron),
    (72, CellKind::Hexahedron),
    (73, CellKind::Wedge),
];

const TET10: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8];
const TET20: &[u8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10, 15, 14, 13, 12, 17, 19, 18, 16,
];
const TET35: &[u8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 14, 13, 21, 20, 19, 18, 17, 16, 25, 26, 27, 33,
    31, 32, 28, 29, 30, 22, 23, 24, 34,
];
const QUAD16: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 12, 13, 15, 14];
const HEX20: &[u8] = HEX27.split_at(20).0;
const HEX27: &[u8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15, 22, 23, 21, 24, 20, 25,
    26,
];
const HEX64: &[u8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 15, 19, 18, 10, 11, 24, 25, 28, 29, 31, 30, 26, 27, 12, 13,
    16, 17, 20, 21, 22, 23, 40, 43, 41, 42, 44, 45, 47, 46, 36, 37, 39, 38, 49, 48, 50, 51, 32, 35,
    33, 34, 52, 53, 55, 54, 56, 57, 59, 58, 60, 61, 63, 62,
];
const WEDGE15: &[u8] = WEDGE18.split_at(15).0;
const WEDGE18: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16];
const WEDGE40: &[u8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 9, 8, 18, 19, 22, 23, 21, 20, 10, 11, 14, 15, 16, 17, 24, 25,
    26, 27, 29, 28, 34, 35, 37, 36, 33, 30, 32, 31, 38, 39,
];
/// Every element.
pub static ELEMENTS: &[Element] = &[
    row("tri-p1", CellKind::Triangle, 1, Some(5), (2, None)),
    row("tri-p2", CellKind::Triangle, 2, Some(22), (9, None)),
    row("tri-p3", CellKind::Triangle, 3, None, (21, None)),
    row("tri-p4", CellKind::Triangle, 4, None, (23, None)),
    row("tet-p1", CellKind::Tetrahedron, 1, Some(10), (4, None)),
    row(
        "tet-p2",
        CellKind::Tetrahedron,
        2,
        Some(24),
        (11, Some(TET10)),
    ),
    row("tet-p3", CellKind::Tetrahedron, 3, None, (29, Some(TET20))),
    row("tet-p4", CellKind::Tetrahedron, 4, None, (30, Some(TET35))),
    row("quad-q1", CellKind::Quadrilateral, 1, Some(9), (3, None)),
    row("quad-q2", CellKind::Quadrilateral, 2, Some(28), (10, None)),
    row(
        "quad-q3",
        CellKind::Quadrilateral,
        3,
        None,
        (36, Some(QUAD16)),
    ),
    row("hex-q1", CellKind::Hexahedron, 1, Some(12), (5, None)),
    row(
        "hex-q2",
        CellKind::Hexahedron,
        2,
        Some(29),
        (12, Some(HEX27)),
    ),
    row("hex-q3", CellKind::Hexahedron, 3, None, (92, Some(HEX64))),
    row("wedge-p1", CellKind::Wedge, 1, Some(13), (6, None)),
    row(
        "wedge-p2",
        CellKind::Wedge,
        2,
        Some(32),
        (13, Some(WEDGE18)),
    ),
    row("wedge-p3", CellKind::Wedge, 3, None, (90, Some(WEDGE40))),
    Element {
        family: Family::Serendipity,
        ..row(
            "wedge-s2",
            CellKind::Wedge,
            2,
            Some(26),
            (18, Some(WEDGE15)),
        )
    },
    Element {
        family: Family::Serendipity,
        ..row("quad-s2", CellKind::Quadrilateral, 2, Some(23), (16, None))
    },
    Element {
        family: Family::Serendipity,
        ..row(
            "hex-s2",
            CellKind::Hexahedron,
            2,
            Some(25),
            (17, Some(HEX20)),
        )
    },
];

const fn row(
    name: &'static str,
    cell: CellKind,
    degree: usize,
    vtk: Option<u8>,
    gmsh: (u32, Option<&'static [u8]>),
) -> Element {
    Element {
        name,
        cell,
        degree,
        family: Family::Lagrange,
        vtk,
        gmsh,
    }
}

/// The most nodes of an element.
pub(super) const MAX_NODES: usize = 64;

static BASES: LazyLock<Vec<(Vec<[u8; 3]>, Basis)>> = LazyLock::new(|| {
    let make = |element: &Element| {
        let nodes = element.lattice();
        assert!(
            nodes.len() <= MAX_NODES,
            "{} has too many nodes",
            element.name
        );
        let basis = Basis::new(element, &nodes);
        (nodes, basis)
    };
    ELEMENTS.iter().map(make).collect()
});

impl Element {
    /// The element with a name.
    pub fn named(name: &str) -> Option<&'static Element> {
        ELEMENTS.iter().find(|element| element.name == name)
    }

    /// The element of a type of VTK with this many nodes.
    pub(super) fn of_vtk(kind: i64, nodes: usize) -> Option<&'static Element> {
        let lagrange = VTK_LAGRANGE.iter().find(|(k, _)| i64::from(*k) == kind);
        ELEMENTS.iter().find(|element| match lagrange {
            Some((_, cell)) => {
                element.cell == *cell
                    && element.family == Family::Lagrange
                    && element.nodes().len() == nodes
            }
            None => element.vtk.map(i64::from) == Some(kind) && element.nodes().len() == nodes,
        })
    }

    /// The element of a type of Gmsh.
    pub(super) fn of_gmsh(kind: u32) -> Option<&'static Element> {
        ELEMENTS.iter().find(|element| element.gmsh.0 == kind)
    }

    /// The place in the table, without a search: every cell of a file asks for it.
    pub(super) fn row(&self) -> usize {
        let address = |element: *const Element| element.addr();
        let off = address(self).wrapping_sub(address(&raw const ELEMENTS[0]));
        let row = off / size_of::<Element>();
        assert!(
            std::ptr::eq(self, &raw const ELEMENTS[row]),
            "a row of the table"
        );
        row
    }

    /// The nodes as lattice points over the degree, in VTK's order.
    pub fn nodes(&self) -> &'static [[u8; 3]] {
        &BASES[self.row()].0
    }

    /// A node in the reference cell.
    pub fn node(&self, n: usize) -> [f64; 3] {
        self.nodes()[n].map(|i| f64::from(i) / self.degree as f64)
    }

    /// The basis polynomials.
    pub fn basis(&self) -> &'static Basis {
        &BASES[self.row()].1
    }

    /// The polynomials of maps of a degree up to the element's. Those of simplices come one after the other in the order of
    /// coefficients; of the others there is one.
    pub(super) fn maps(&self) -> [&'static Space; MAX_DEGREE + 1] {
        std::array::from_fn(|degree| {
            let lower = |row: &&Element| row.cell == self.cell && row.degree == degree;
            let of_degree = ELEMENTS.iter().find(lower);
            let map = of_degree.filter(|row| self.cell.is_simplex() && row.degree <= self.degree);
            map.map_or(&self.basis().space, |row| &row.basis().space)
        })
    }

    fn lattice(&self) -> Vec<[u8; 3]> {
        let k = self.degree as i32;
        let mut nodes = match self.cell {
            CellKind::Triangle => triangle(k),
            CellKind::Tetrahedron => tetrahedron(k),
            CellKind::Quadrilateral => square(k),
            CellKind::Hexahedron => cube(k),
            CellKind::Wedge => wedge(k),
        };
        if self.family == Family::Serendipity {
            // The corners and the middles of edges come first.
            let middle = |p: &Point| p.iter().filter(|&&i| i == 1).count();
            let edges = |p: &Point| match self.cell {
                CellKind::Wedge => p[2] != 1 || (p[0] != 1 && p[1] != 1),
                _ => middle(p) < 2,
            };
            nodes.retain(edges);
        }
        nodes.iter().map(|p| p.map(|i| i as u8)).collect()
    }
}

type Point = [i32; 3];

/// The points strictly between two corners of a lattice, from the first to the second.
fn between(a: Point, b: Point, k: i32) -> impl Iterator<Item = Point> {
    (1..k).map(move |i| std::array::from_fn(|x| ((k - i) * a[x] + i * b[x]) / k))
}

fn shifted(points: Vec<Point>, by: Point) -> impl Iterator<Item = Point> {
    points
        .into_iter()
        .map(move |p| std::array::from_fn(|x| p[x] + by[x]))
}

fn triangle(k: i32) -> Vec<Point> {
    if k <= 0 {
        return if k == 0 { vec![[0; 3]] } else { vec![] };
    }
    let corners = [[0, 0, 0], [k, 0, 0], [0, k, 0]];
    let mut nodes = corners.to_vec();
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        nodes.extend(between(corners[a], corners[b], k));
    }
    nodes.extend(shifted(triangle(k - 3), [1, 1, 0]));
    nodes
}

fn tetrahedron(k: i32) -> Vec<Point> {
    if k <= 0 {
        return if k == 0 { vec![[0; 3]] } else { vec![] };
    }
    let corners = [[0, 0, 0], [k, 0, 0], [0, k, 0], [0, 0, k]];
    let mut nodes = corners.to_vec();
    for (a, b) in [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)] {
        nodes.extend(between(corners[a], corners[b], k));
    }
    for face in [[0, 1, 3], [2, 3, 1], [0, 3, 2], [0, 2, 1]] {
        for [i, j, _] in triangle(k - 3) {
            let weights = [k - 2 - i - j, i + 1, j + 1];
            let along = |x: usize| {
                (0..3)
                    .map(|c| weights[c] * corners[face[c]][x])
                    .sum::<i32>()
                    / k
            };
            nodes.push(std::array::from_fn(along));
        }
    }
    nodes.extend(shifted(tetrahedron(k - 4), [1, 1, 1]));
    nodes
}

fn square(k: i32) -> Vec<Point> {
    let mut nodes = vec![[0, 0, 0], [k, 0, 0], [k, k, 0], [0, k, 0]];
    nodes.extend((1..k).map(|i| [i, 0, 0]));
    nodes.extend((1..k).map(|i| [k, i, 0]));
    nodes.extend((1..k).map(|i| [i, k, 0]));
    nodes.extend((1..k).map(|i| [0, i, 0]));
    nodes.extend((1..k).flat_map(|j| (1..k).map(move |i| [i, j, 0])));
    nodes
}

fn cube(k: i32) -> Vec<Point> {
    let around = [[0, 0], [k, 0], [k, k], [0, k]];
    let mut nodes: Vec<Point> = Vec::new();
    for t in [0, k] {
        nodes.extend(around.map(|[r, s]| [r, s, t]));
    }
    for t in [0, k] {
        let edges = 4..4 + 4 * (k as usize - 1);
        nodes.extend(square(k)[edges].iter().map(|[r, s, _]| [*r, *s, t]));
    }
    nodes.extend(
        around
            .iter()
            .flat_map(|&[r, s]| (1..k).map(move |t| [r, s, t])),
    );
    let inner = || (1..k).flat_map(|slow| (1..k).map(move |fast| (fast, slow)));
    for r in [0, k] {
        nodes.extend(inner().map(|(s, t)| [r, s, t]));
    }
    for s in [0, k] {
        nodes.extend(inner().map(|(r, t)| [r, s, t]));
    }
    for t in [0, k] {
        nodes.extend(inner().map(|(r, s)| [r, s, t]));
    }
    nodes.extend((1..k).flat_map(|t| inner().map(move |(r, s)| [r, s, t])));
    nodes
}

fn wedge(k: i32) -> Vec<Point> {
    let corners = [[0, 0], [k, 0], [0, k]];
    let flat = triangle(k);
    let (edges, inner) = flat[3..].split_at(3 * (k as usize - 1));
    let mut nodes: Vec<Point> = Vec::new();
    for t in [0, k] {
        nodes.extend(corners.map(|[r, s]| [r, s, t]));
    }
    for t in [0, k] {
        nodes.extend(edges.iter().map(|&[r, s, _]| [r, s, t]));
    }
    for [r, s] in corners {
        nodes.extend((1..k).map(|t| [r, s, t]));
    }
    for t in [0, k] {
        nodes.extend(inner.iter().map(|&[r, s, _]| [r, s, t]));
    }
    // The faces over the edges, each row in the direction of its edge.
    for edge in edges.chunks_exact((k as usize - 1).max(1)) {
        nodes.extend((1..k).flat_map(|t| edge.iter().map(move |&[r, s, _]| [r, s, t])));
    }
    nodes.extend((1..k).flat_map(|t| inner.iter().map(move |&[r, s, _]| [r, s, t])));
    nodes
}
