//! Cells some of whose corners are at one place: wedges and pyramids as hexahedra, triangles as quadrilaterals.

use crate::meshes::{Random, blend, with_array};
use runtime::fem::{
    CellKind, Choice, Element, FemFile, FemValues, FemWanted, FileCell, Mesh, Outside,
};
use runtime::simd::Real;
use std::sync::Arc;

/// Cells of one element, by their nodes.
pub(crate) fn cells(element: &str, points: &[[f64; 3]], cells: &[&[u32]]) -> FemFile {
    let element = Element::named(element).unwrap();
    let mut file = FemFile {
        points: points.to_vec(),
        ..FemFile::default()
    };
    for own in cells {
        file.cells.push(FileCell {
            element,
            first: file.connectivity.len(),
            number: file.cells.len() as u32,
        });
        file.connectivity.extend_from_slice(own);
    }
    file
}

/// Value and gradient of an array at a position.
pub(crate) fn probe(mesh: &Mesh, file: &FemFile, x: &[f64; 3]) -> Vec<f64> {
    let choice = Choice {
        array: None,
        variable: "u",
        shape: &[],
    };
    let wanted = FemWanted {
        values: Arc::new(FemValues::new(mesh, file, &choice).unwrap()),
        orders: 0b11,
        outside: Outside::Nan,
    };
    mesh.probe(&wanted, x, None)
}

const LINEAR: [f64; 4] = [0.7, 1.0, 2.0, 3.0];

pub(crate) fn linear(x: [f64; 3]) -> f64 {
    LINEAR[0] + LINEAR[1] * x[0] + LINEAR[2] * x[1] + LINEAR[3] * x[2]
}

/// Says that a linear function is right at a position, and its gradient to a number of digits.
pub(crate) fn is_linear(mesh: &Mesh, file: &FemFile, x: &[f64; 3], digits: f64) {
    let got = probe(mesh, file, x);
    // In single precision another cell may accept positions near its apex.
    let exact = (10.0 * mesh.tolerance()).max(1e-12);
    assert!((got[0] - linear(*x)).abs() < exact, "{x:?}: {got:?}");
    for (got, truth) in got[1..].iter().zip(&LINEAR[1..]) {
        assert!((got - truth).abs() < digits, "{x:?}: {got} {truth}");
    }
}

/// A position between two.
fn between(a: [f64; 3], b: [f64; 3], part: f64) -> [f64; 3] {
    std::array::from_fn(|i| (1.0 - part) * a[i] + part * b[i])
}

/// Distorted shapes: their corners, and these as nodes of a hexahedron.
fn shapes() -> Vec<(Vec<[f64; 3]>, Vec<u32>)> {
    let wedge = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.1, 0.0],
        [0.1, 0.9, 0.2],
        [0.1, -0.1, 1.0],
        [1.2, 0.0, 0.9],
        [0.0, 1.1, 1.1],
    ];
    let pyramid = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.1, 0.1],
        [1.2, 1.0, 0.0],
        [-0.1, 0.8, -0.1],
        [0.4, 0.6, 0.9],
    ];
    let tetrahedron = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.1, 0.1],
        [0.2, 0.9, 0.0],
        [0.3, 0.2, 1.1],
    ];
    vec![
        (wedge, vec![0, 1, 2, 2, 3, 4, 5, 5]),
        (pyramid, vec![0, 1, 2, 3, 4, 4, 4, 4]),
        (tetrahedron, vec![0, 1, 2, 2, 3, 3, 3, 3]),
    ]
}

#[test]
fn collapsed_edges_and_apexes_are_inside() {
    let mut random = Random(3);
    for (corners, nodes) in shapes() {
        let file = cells("hex-q1", &corners, &[&nodes]);
        let file = with_array(file, "u", linear);
        let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
        let own: Vec<[f64; 3]> = file.nodes(0).collect();
        for &corner in &corners {
            is_linear(&mesh, &file, &corner, 1e-6);
        }
        // Every edge of the hexahedron, collapsed or not, and next to its ends.
        for (a, b) in [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 0),
            (4, 5),
            (5, 6),
            (6, 7),
            (7, 4),
        ]
        .into_iter()
        .chain([(0, 4), (1, 5), (2, 6), (3, 7)])
        {
            for part in [1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.25, 0.5, 0.75] {
                is_linear(&mesh, &file, &between(own[a], own[b], part), 1e-6);
                is_linear(&mesh, &file, &between(own[b], own[a], part), 1e-6);
            }
        }
        for _ in 0..2000 {
            let xi = random.in_cell(CellKind::Hexahedron);
            let x = blend(CellKind::Hexahedron, &own, &xi);
            is_linear(&mesh, &file, &x, 1e-6);
            // Next to all corners.
            let near = random.unit().powi(12);
            for corner in 0..8 {
                let corner = Element::named("hex-q1").unwrap().node(corner);
                let x = blend(CellKind::Hexahedron, &own, &between(corner, xi, near));
                is_linear(&mesh, &file, &x, 1e-6);
            }
            // On the faces, and beyond them.
            for (axis, side) in [(0, 0.0), (0, 1.0), (1, 0.0), (1, 1.0), (2, 0.0), (2, 1.0)] {
                let mut xi = xi;
                xi[axis] = side;
                let x = blend(CellKind::Hexahedron, &own, &xi);
                is_linear(&mesh, &file, &x, 1e-6);
            }
        }
        let middle = blend(CellKind::Hexahedron, &own, &[0.5; 3]);
        for &corner in &corners {
            let beyond = between(middle, corner, 1.0 + 1e-12);
            assert_eq!(mesh.locate(&beyond, None), None, "{beyond:?}");
            let beyond = between(middle, corner, 1.5);
            assert_eq!(mesh.locate(&beyond, None), None, "{beyond:?}");
        }
        assert_eq!(mesh.unresolved(), 0);
    }
}

#[test]
fn collapsed_quadrilaterals_are_triangles() {
    let mut random = Random(4);
    let points = [[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.3, 0.9, 0.0]];
    for nodes in [[0, 1, 2, 2], [0, 0, 1, 2], [0, 1, 1, 2], [2, 0, 1, 2]] {
        let file = with_array(cells("quad-q1", &points, &[&nodes]), "u", linear);
        let mesh = Mesh::new(&file, 2, Real::F64).unwrap();
        for corner in points {
            is_linear(&mesh, &file, &corner, 1e-6);
        }
        let own: Vec<[f64; 3]> = file.nodes(0).collect();
        for _ in 0..1000 {
            let x = blend(
                CellKind::Quadrilateral,
                &own,
                &random.in_cell(CellKind::Quadrilateral),
            );
            let near = random.unit().powi(12);
            is_linear(&mesh, &file, &x, 1e-6);
            for corner in points {
                is_linear(&mesh, &file, &between(corner, x, near), 1e-6);
            }
        }
    }
}

#[test]
fn collapsed_cells_meet_their_neighbours() {
    // Six pyramids that share an apex fill a cube; hints from anywhere lead to the same cell.
    let cube = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.0, 1.0, 1.0],
        [0.4, 0.55, 0.45],
    ];
    let sides = [
        [0, 1, 2, 3],
        [4, 7, 6, 5],
        [0, 4, 5, 1],
        [3, 2, 6, 7],
        [0, 3, 7, 4],
        [1, 5, 6, 2],
    ];
    let all: Vec<Vec<u32>> = sides.iter().map(|s| [&s[..], &[8; 4]].concat()).collect();
    let all: Vec<&[u32]> = all.iter().map(Vec::as_slice).collect();
    let file = with_array(cells("hex-q1", &cube, &all), "u", linear);
    for real in [Real::F64, Real::F32] {
        let mesh = Mesh::new(&file, 3, real).unwrap();
        assert!(mesh.notes().is_empty(), "{:?}", mesh.notes());
        let mut random = Random(8);
        for n in 0..3000 {
            let mut x: [f64; 3] = std::array::from_fn(|_| random.unit());
            if n % 3 == 0 {
                x = between(cube[8], x, random.unit().powi(12));
            }
            if n == 0 {
                x = cube[8];
            }
            let found = mesh.locate(&x, None).unwrap();
            assert_eq!(mesh.locate_by_rule(&x), Some(found));
            for hint in 0..6 {
                assert_eq!(mesh.locate(&x, Some(hint)), Some(found));
            }
            is_linear(&mesh, &file, &x, 1e-6);
        }
        assert_eq!(mesh.unresolved(), 0);
    }
}
