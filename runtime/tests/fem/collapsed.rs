//! Cells some of whose corners are at one place: wedges and pyramids as hexahedra, triangles as quadrilaterals.

use crate::distorted::{PYRAMID, WEDGE, between, cells, is_linear, linear};
use crate::meshes::{Random, blend, with_array};
use runtime::fem::{CellKind, Element, Mesh};
use runtime::simd::Real;

/// Distorted shapes: their corners, and these as nodes of a hexahedron.
fn shapes() -> Vec<(Vec<[f64; 3]>, Vec<u32>)> {
    let tetrahedron = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.1, 0.1],
        [0.2, 0.9, 0.0],
        [0.3, 0.2, 1.1],
    ];
    vec![
        (WEDGE.to_vec(), vec![0, 1, 2, 2, 3, 4, 5, 5]),
        (PYRAMID.to_vec(), vec![0, 1, 2, 3, 4, 4, 4, 4]),
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
