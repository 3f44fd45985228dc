//! Wedges and pyramids.

use crate::distorted::{PYRAMID, WEDGE, between, cells, is_linear, linear, probe};
use crate::meshes::{Random, blend, with_array};
use runtime::fem::{CellKind, Element, FemFile, Mesh};
use runtime::simd::Real;

/// Parallelogram and apex.
const STRAIGHT: [[f64; 3]; 5] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.1],
    [1.2, 1.0, 0.1],
    [0.2, 1.0, 0.0],
    [0.5, 0.6, 1.0],
];

/// A legacy file of one cell with an array.
fn vtk(kind: u8, points: &[[f64; 3]], values: &[f64]) -> FemFile {
    use std::fmt::Write;
    let count = points.len();
    let mut text = format!(
        "# vtk DataFile Version 4.2\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {count} double\n"
    );
    for [x, y, z] in points {
        let _ = writeln!(text, "{x:?} {y:?} {z:?}");
    }
    let nodes: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    let _ = writeln!(text, "CELLS 1 {}\n{count} {}", count + 1, nodes.join(" "));
    let _ = writeln!(text, "CELL_TYPES 1\n{kind}\nPOINT_DATA {count}");
    let _ = writeln!(text, "SCALARS u double\nLOOKUP_TABLE default");
    values.iter().for_each(|x| {
        let _ = writeln!(text, "{x:?}");
    });
    FemFile::parse(text.as_bytes()).unwrap()
}

/// The corners and the middles of edges.
fn with_middles(corners: &[[f64; 3]], edges: &[(usize, usize)]) -> Vec<[f64; 3]> {
    let middles = edges
        .iter()
        .map(|&(a, b)| between(corners[a], corners[b], 0.5));
    corners.iter().copied().chain(middles).collect()
}

const EDGES_OF_PYRAMID: [(usize, usize); 8] = [
    (0, 1),
    (1, 2),
    (2, 3),
    (3, 0),
    (0, 4),
    (1, 4),
    (2, 4),
    (3, 4),
];

#[test]
fn weights_are_those_of_vtk() {
    let unit = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    let wedge: Vec<[f64; 3]> = [0.0, 1.0]
        .iter()
        .flat_map(|&z| unit.map(|[x, y]| [x, y, z]))
        .collect();
    let weights = [0.225, 0.225, 0.3, 0.075, 0.075, 0.1];
    for (n, weight) in weights.iter().enumerate() {
        let mut values = [0.0; 6];
        values[n] = 1.0;
        let file = vtk(13, &wedge, &values);
        let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
        let got = probe(&mesh, &file, &[0.3, 0.4, 0.25])[0];
        assert!((got - weight).abs() < 1e-15, "{n}: {got}");
    }
    let weights = [0.315, 0.135, 0.09, 0.21, 0.25];
    let sum = |axis: usize| (0..5).map(|n| weights[n] * PYRAMID[n][axis]).sum();
    let x: [f64; 3] = std::array::from_fn(sum);
    for (n, weight) in weights.iter().enumerate() {
        let mut values = [0.0; 5];
        values[n] = 1.0;
        let file = vtk(14, &PYRAMID, &values);
        let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
        let got = probe(&mesh, &file, &x)[0];
        assert!((got - weight).abs() < 1e-14, "{n}: {got}");
    }
}

/// VTK's type of a cell, its nodes, and positions with the values that VTK has there.
type Case<'a> = (u8, &'a [[f64; 3]], [([f64; 3], f64); 3]);

#[test]
fn values_are_those_of_vtk() {
    let bent = [
        [0.51, 0.07, 0.02],
        [0.53, 0.49, 0.12],
        [0.02, 0.47, 0.12],
        [0.65, -0.06, 0.94],
        [0.59, 0.55, 1.0],
        [0.05, 0.53, 1.07],
        [0.06, -0.02, 0.48],
        [1.08, 0.06, 0.42],
        [0.02, 1.0, 0.65],
    ];
    let u = [
        3.0, -0.75, 2.5, 1.25, 5.0, -0.75, 4.5, 0.75, 4.0, 2.75, 6.5, 0.75, 6.0, 2.25, 5.5,
    ];
    let bent = [&WEDGE[..], &bent].concat();
    let cases: [Case<'_>; 3] = [
        (
            13,
            &WEDGE,
            [
                ([0.3525, 0.395, 0.3125], 1.65),
                ([0.183, 0.154, 0.913], 1.355),
                ([0.6275, 0.32, 0.5175], 1.75),
            ],
        ),
        (
            14,
            &PYRAMID,
            [
                ([0.322, 0.4215, 0.2175], 2.58125),
                ([0.3686, 0.5572, 0.809], 4.7375),
                ([0.48475, 0.45575, 0.4625], 3.11875),
            ],
        ),
        (
            26,
            &bent,
            [
                ([0.32475, 0.4157, 0.32255], 5.805),
                ([0.18036, 0.17612, 0.91628], 3.305),
                ([0.59805, 0.33285, 0.50985], 5.8425),
            ],
        ),
    ];
    for (kind, points, places) in cases {
        let file = vtk(kind, points, &u[..points.len()]);
        let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
        for (x, truth) in places {
            let got = probe(&mesh, &file, &x)[0];
            assert!((got - truth).abs() < 1e-12, "{kind} {x:?}: {got} {truth}");
        }
    }
}

#[test]
fn linear_functions_are_exact_on_distorted_cells_and_their_boundaries() {
    let mut random = Random(11);
    for name in ["wedge-p1", "wedge-s2", "wedge-p2", "wedge-p3"] {
        let element = Element::named(name).unwrap();
        let nodes = element.nodes().len();
        let bend = |[x, y, z]: [f64; 3]| [x, y + 0.1 * x * z, z + 0.05 * x * y];
        let at = |n: usize| bend(blend(CellKind::Wedge, &WEDGE, &element.node(n)));
        let points: Vec<[f64; 3]> = (0..nodes).map(at).collect();
        let all: Vec<u32> = (0..nodes as u32).collect();
        let file = with_array(cells(name, &points, &[&all]), "u", linear);
        let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
        for x in &points {
            assert!(mesh.locate(x, None).is_some(), "{name}: {x:?}");
            is_linear(&mesh, &file, x, 1e-11);
        }
        // The map of the cell itself.
        let axes: Vec<FemFile> = (0..3)
            .map(|axis| {
                let file = cells(name, &points, &[&all]);
                with_array(file, "u", |x| x[axis])
            })
            .collect();
        let reference = cells(
            name,
            &(0..nodes).map(|n| element.node(n)).collect::<Vec<_>>(),
            &[&all],
        );
        let straight = Mesh::new(&reference, 3, Real::F64).unwrap();
        for _ in 0..500 {
            let mut xi = random.in_cell(CellKind::Wedge);
            match random.below(6) {
                0 => xi[0] = 0.0,
                1 => xi[1] = 0.0,
                2 => xi[2] = 0.0,
                3 => xi[2] = 1.0,
                4 => xi[1] = 1.0 - xi[0],
                _ => {}
            }
            assert!(straight.locate(&xi, None).is_some(), "{name}: {xi:?}");
            // Rounding of the map must not take the position out of the cell.
            let xi = xi.map(|x| x + 1e-12 * (0.25 - x));
            let x = std::array::from_fn(|axis| probe(&straight, &axes[axis], &xi)[0]);
            is_linear(&mesh, &file, &x, 1e-11);
        }
    }
    for (corners, edges) in [(PYRAMID, &EDGES_OF_PYRAMID[..]), (PYRAMID, &[])] {
        let points = with_middles(&corners, edges);
        let kind = if edges.is_empty() { 14 } else { 27 };
        let values: Vec<f64> = points.iter().map(|&x| linear(x)).collect();
        let file = vtk(kind, &points, &values);
        let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
        for x in &points {
            is_linear(&mesh, &file, x, 1e-6);
        }
        let own: Vec<[f64; 3]> = file.nodes(0).take(8).collect();
        for _ in 0..1000 {
            let mut xi = random.in_cell(CellKind::Hexahedron);
            match random.below(8) {
                side @ 0..6 => xi[side / 2] = (side % 2) as f64,
                6 => xi[2] = 1.0 - random.unit().powi(12),
                _ => {}
            }
            let x = blend(CellKind::Hexahedron, &own, &xi);
            is_linear(&mesh, &file, &x, 1e-6);
        }
        assert_eq!(mesh.unresolved(), 0);
    }
}

#[test]
fn quadratic_functions_are_exact_on_straight_pyramids() {
    let quadratic = |[x, y, z]: [f64; 3]| {
        1.0 + x - 2.0 * y + x * x - x * y + 0.5 * y * z + z * z - 0.3 * x * z + y * y
    };
    let points = with_middles(&STRAIGHT, &EDGES_OF_PYRAMID);
    let values: Vec<f64> = points.iter().map(|&x| quadratic(x)).collect();
    let file = vtk(27, &points, &values);
    let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
    let own: Vec<[f64; 3]> = file.nodes(0).take(8).collect();
    let mut random = Random(12);
    for _ in 0..500 {
        let xi = random.in_cell(CellKind::Hexahedron);
        let x = blend(CellKind::Hexahedron, &own, &xi);
        let got = probe(&mesh, &file, &x);
        let [a, b, c] = x;
        let gradient = [
            1.0 + 2.0 * a - b - 0.3 * c,
            -2.0 - a + 0.5 * c + 2.0 * b,
            0.5 * b + 2.0 * c - 0.3 * a,
        ];
        assert!((got[0] - quadratic(x)).abs() < 1e-12, "{x:?}: {got:?}");
        for (got, truth) in got[1..].iter().zip(gradient) {
            let near = 1e-12 / (1.0 - xi[2]);
            assert!((got - truth).abs() < 1e-11 + near, "{x:?}: {got} {truth}");
        }
    }
    let apex = probe(&mesh, &file, &STRAIGHT[4]);
    assert!((apex[0] - quadratic(STRAIGHT[4])).abs() < 1e-14);
    assert!(apex.iter().all(|x| x.is_finite()), "{apex:?}");
}
