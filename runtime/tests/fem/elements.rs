//! The table of elements: nodes, orders, and bases.

use crate::meshes::{Random, blend, grid, with_array};
use crate::polynomials::{Polynomial, distinct};
use crate::reference::data;
use runtime::fem::{
    Choice, ELEMENTS, Element, Family, FemFile, FemValues, FemWanted, Mesh, Outside,
};
use runtime::simd::Real;
use std::sync::Arc;

fn probe(mesh: &Mesh, file: &FemFile, array: &str, orders: u32, x: &[f64; 3]) -> Vec<f64> {
    let choice = Choice {
        array: Some(array),
        variable: "",
        shape: &[],
    };
    let wanted = FemWanted {
        values: Arc::new(FemValues::new(mesh, file, &choice).unwrap()),
        orders,
        outside: Outside::Nan,
    };
    mesh.probe(&wanted, x, None)
}

/// The integers in a text.
fn integers(text: &str) -> Vec<usize> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    words.filter_map(|w| w.parse().ok()).collect()
}

#[test]
fn nodes_are_in_the_order_that_vtk_and_gmsh_state() {
    let text = std::fs::read_to_string(data("orders.json")).unwrap();
    let mut seen = 0;
    for line in text.lines().filter(|l| l.starts_with("{\"cell\"")) {
        let after = |key: &str| line.split_once(&format!("\"{key}\":")).unwrap().1;
        let gmsh = integers(after("gmsh").split(',').next().unwrap())[0] as u32;
        let element = ELEMENTS.iter().find(|e| e.gmsh.0 == gmsh).unwrap();
        let dim = element.cell.dim();
        let nodes = integers(after("nodes").split_once("]]").unwrap().0);
        let own: Vec<usize> = element
            .nodes()
            .iter()
            .flat_map(|node| node[..dim].iter().map(|&i| usize::from(i)))
            .collect();
        assert_eq!(own, nodes, "{}", element.name);
        let order = integers(after("gmsh_node_of_vtk_node"));
        let own: Vec<usize> = match element.gmsh.1 {
            Some(order) => order.iter().map(|&n| usize::from(n)).collect(),
            None => (0..element.nodes().len()).collect(),
        };
        assert_eq!(own, order, "{}", element.name);
        seen += 1;
    }
    assert_eq!(seen, 14);
}

#[test]
fn basis_polynomials_are_one_at_their_node_and_zero_at_the_others() {
    for element in ELEMENTS {
        let file = grid(element, 1, 0.0, |p| p);
        let mesh = Mesh::new(&file, element.cell.dim(), Real::F64).unwrap();
        for a in 0..element.nodes().len() {
            // Of the first cell only: the others have points of their own.
            let mut file = with_array(file.clone(), "u", |_| 0.0);
            file.arrays[0].values[a] = 1.0;
            for b in 0..element.nodes().len() {
                let x = file.points[b];
                let found = mesh.locate(&x, None).unwrap();
                if mesh.number(found.cell) == 0 {
                    let value = probe(&mesh, &file, "u", 1, &x)[0];
                    let wanted = f64::from(u8::from(a == b));
                    assert!(
                        (value - wanted).abs() < 2e-14,
                        "{} {a} {b}: {value}",
                        element.name
                    );
                }
            }
        }
    }
}

/// Random polynomials of a total degree.
fn polynomial(dim: usize, degree: usize, random: &mut Random) -> Polynomial {
    let mut polynomial = Polynomial::default();
    for order in 0..degree + 1 {
        for counts in distinct(dim, order) {
            polynomial
                .0
                .insert(counts, (random.below(9) as f64 - 4.0) / 4.0);
        }
    }
    polynomial
}

#[test]
fn polynomials_of_the_degree_are_reproduced_on_shaken_cells() {
    let mut random = Random(5);
    for element in ELEMENTS {
        let dim = element.cell.dim();
        let p = polynomial(dim, element.degree, &mut random);
        let file = grid(element, 2, 0.2, |x| x);
        let file = with_array(file, "u", |x| p.derivative([0; 3], &x));
        let mesh = Mesh::new(&file, dim, Real::F64).unwrap();
        // Serendipity elements reproduce total degree 2 on parallelepipeds only.
        let affine = element.cell.is_simplex() || element.family == Family::Lagrange;
        let (file, mesh) = if affine {
            (file, mesh)
        } else {
            let shear = |x: [f64; 3]| [x[0] + 0.3 * x[1], x[1] - 0.2 * x[2], x[2] + 0.1 * x[0]];
            let shear = |x| {
                if dim == 3 {
                    shear(x)
                } else {
                    [x[0] + 0.3 * x[1], x[1], 0.0]
                }
            };
            let file = grid(element, 2, 0.0, shear);
            let file = with_array(file, "u", |x| p.derivative([0; 3], &x));
            let mesh = Mesh::new(&file, dim, Real::F64).unwrap();
            (file, mesh)
        };
        assert_eq!(
            mesh.curved_cells() == 0,
            element.cell.is_simplex() || !affine
        );
        for cell in 0..file.cells.len().min(6) {
            let corners: Vec<[f64; 3]> = file.nodes(cell).take(element.cell.corners()).collect();
            for _ in 0..5 {
                let x = blend(element.cell, &corners, &random.in_cell(element.cell));
                let got = probe(&mesh, &file, "u", 0b11111, &x);
                let mut got = got.iter();
                for order in 0..5 {
                    for counts in distinct(dim, order) {
                        let off = got.next().unwrap() - p.derivative(counts, &x);
                        let limit = 4e-14 * 40_f64.powi(order as i32);
                        assert!(off.abs() < limit, "{} {counts:?}: {off}", element.name);
                    }
                }
            }
        }
    }
}

#[test]
fn derivatives_above_the_degree_of_affine_cells_are_exactly_zero() {
    let element = Element::named("tet-p2").unwrap();
    let file = grid(element, 2, 0.2, |x| x);
    let file = with_array(file, "u", |x| x[0] * x[1] - x[2] * x[2] + 0.1);
    let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
    let third = probe(&mesh, &file, "u", 0b1000, &[0.3, 0.4, 0.55]);
    assert_eq!(third, vec![0.0; 10]);
}

#[test]
fn outside_is_nan_or_the_constant() {
    let element = Element::named("tri-p1").unwrap();
    let file = with_array(grid(element, 2, 0.0, |x| x), "u", |x| x[0]);
    let mesh = Mesh::new(&file, 2, Real::F64).unwrap();
    let outside = [2.0, 0.5, 0.0];
    assert!(
        probe(&mesh, &file, "u", 0b111, &outside)
            .iter()
            .all(|x| x.is_nan())
    );
    let choice = Choice {
        array: None,
        variable: "u",
        shape: &[],
    };
    let wanted = FemWanted {
        values: Arc::new(FemValues::new(&mesh, &file, &choice).unwrap()),
        orders: 0b11,
        outside: Outside::Constant(vec![7.0]),
    };
    assert_eq!(mesh.probe(&wanted, &outside, None), [7.0, 0.0, 0.0]);
    for x in [
        [f64::NAN, 0.5, 0.0],
        [0.5, f64::INFINITY, 0.0],
        [f64::NEG_INFINITY, 0.5, 0.0],
    ] {
        assert_eq!(mesh.locate(&x, None), None);
    }
}

#[test]
fn an_order_of_nodes_that_is_not_the_formats_is_named() {
    let told = |name: &str, swaps: &[(usize, usize)]| {
        let element = Element::named(name).unwrap();
        let mut file = grid(element, 2, 0.1, |x| x);
        assert!(Mesh::new(&file, 3, Real::F64).is_ok(), "{name} as it is");
        let nodes = element.nodes().len();
        for cell in file.connectivity.chunks_exact_mut(nodes) {
            swaps.iter().for_each(|&(a, b)| cell.swap(a, b));
        }
        Mesh::new(&file, 3, Real::F64).unwrap_err().to_string()
    };
    // Gmsh exchanges two edges of quadratic tetrahedra, VTK before version 9 two of Lagrange hexahedra.
    let message = told("tet-p2", &[(8, 9)]);
    assert!(message.contains("look as in Gmsh's order"), "{message}");
    let message = told("hex-q2", &[(18, 19)]);
    assert!(
        message.contains("look as in files before VTK 9"),
        "{message}"
    );
    let message = told("hex-q3", &[(28, 30), (29, 31)]);
    assert!(
        message.contains("look as in files before VTK 9"),
        "{message}"
    );
}
