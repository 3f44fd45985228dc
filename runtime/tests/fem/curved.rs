//! Curved cells: bent meshes on which everything is known exactly, strongly curved ones, and those that are refused.

use crate::meshes::{Random, blend, grid, with_array};
use crate::polynomials::distinct;
use runtime::fem::{Choice, ELEMENTS, Element, FemFile, FemValues, FemWanted, Mesh, Outside};
use runtime::simd::Real;
use std::sync::Arc;

/// A polynomial map of degree 2 with a polynomial inverse.
pub(crate) fn bend(dim: usize, strength: f64) -> impl Fn([f64; 3]) -> [f64; 3] {
    move |[x, y, z]| {
        let up = strength * (x * y / 4.0 - x * x / 8.0);
        [
            x,
            y + strength * x * x / 4.0,
            if dim == 3 { z + up } else { 0.0 },
        ]
    }
}

fn wanted(mesh: &Mesh, file: &FemFile, orders: u32) -> FemWanted {
    let choice = Choice {
        array: Some("u"),
        variable: "",
        shape: &[],
    };
    FemWanted {
        values: Arc::new(FemValues::new(mesh, file, &choice).unwrap()),
        orders,
        outside: Outside::Nan,
    }
}

/// The elements that hold the bent map exactly.
fn bendable() -> impl Iterator<Item = &'static Element> {
    ELEMENTS.iter().filter(|e| e.degree >= 2)
}

#[test]
fn coordinates_have_unit_gradients_and_no_higher_derivatives() {
    let mut random = Random(17);
    for element in bendable() {
        let dim = element.cell.dim();
        for axis in 0..dim {
            let file = grid(element, 2, 0.1, bend(dim, 1.0));
            let file = with_array(file, "u", |x| x[axis]);
            let mesh = Mesh::new(&file, dim, Real::F64).unwrap();
            assert!(mesh.curved_cells() > 0);
            let u = wanted(&mesh, &file, 0b11111);
            for _ in 0..20 {
                let inner = [0, 1, 2].map(|_| 0.05 + 0.9 * random.unit());
                let x = bend(dim, 1.0)(inner);
                let got = mesh.probe(&u, &x, None);
                let mut got = got.iter();
                for order in 0..5 {
                    for counts in distinct(dim, order) {
                        let truth = match order {
                            0 => x[axis],
                            1 => counts[axis] as f64,
                            _ => 0.0,
                        };
                        let off = got.next().unwrap() - truth;
                        let limit = 1e-13 * 30_f64.powi(order as i32);
                        assert!(off.abs() < limit, "{} {counts:?}: {off}", element.name);
                    }
                }
            }
        }
    }
}

#[test]
fn polynomials_bent_with_the_mesh_are_exact_to_order_four() {
    // u(X) = X² − 2XY + Y²/2 + X on the straight mesh is, in the world, with Y = y − x²/4, of degree 4.
    let u = |x: f64, y: f64| {
        let s = y - x * x / 4.0;
        x * x - 2.0 * x * s + s * s / 2.0 + x
    };
    // By hand: derivatives of u in the world.
    let truth = |x: f64, y: f64| {
        let s = y - x * x / 4.0;
        vec![
            u(x, y),
            2.0 * x - 2.0 * s + x * x - s * x / 2.0 + 1.0,
            -2.0 * x + s,
            2.0 + x + 2.0 * x - s / 2.0 + x * x / 4.0,
            -2.0 - x / 2.0,
            1.0,
            3.0 + x / 4.0 + x / 2.0,
            -0.5,
            0.0,
            0.0,
            0.75,
            0.0,
            0.0,
            0.0,
            0.0,
        ]
    };
    let mut random = Random(3);
    for name in [
        "tri-p2", "tri-p3", "tri-p4", "quad-q2", "quad-q3", "quad-s2",
    ] {
        let element = Element::named(name).unwrap();
        let file = with_array(grid(element, 3, 0.0, bend(2, 1.0)), "u", |p| u(p[0], p[1]));
        let mesh = Mesh::new(&file, 2, Real::F64).unwrap();
        let wanted = wanted(&mesh, &file, 0b11111);
        for _ in 0..50 {
            let x = bend(2, 1.0)([random.unit(), random.unit(), 0.0]);
            let got = mesh.probe(&wanted, &x, None);
            for (n, (got, truth)) in got.iter().zip(truth(x[0], x[1])).enumerate() {
                assert!((got - truth).abs() < 2e-9, "{name} {n}: {got} {truth}");
            }
        }
    }
}

#[test]
fn strongly_curved_cells_are_inverted_to_rounding() {
    let mut random = Random(23);
    for element in bendable() {
        let dim = element.cell.dim();
        // One cube, so that a cell is as curved as the map.
        for strength in [1.0, 2.0, 3.0] {
            let file = grid(element, 1, 0.0, bend(dim, strength));
            let file = with_array(file, "u", |x| x[0]);
            let Ok(mesh) = Mesh::new(&file, dim, Real::F64) else {
                panic!("{} {strength}", element.name)
            };
            for _ in 0..200 {
                let straight: [f64; 3] =
                    std::array::from_fn(|a| if a < dim { random.unit() } else { 0.0 });
                let x = bend(dim, strength)(straight);
                let found = mesh.locate(&x, None);
                let found = found.unwrap_or_else(|| panic!("{} lost {straight:?}", element.name));
                // The map is exact in these elements, so the reference position is known as well.
                let number = mesh.number(found.cell) as usize;
                let unbent: Vec<[f64; 3]> = grid(element, 1, 0.0, |p| p)
                    .nodes(number)
                    .take(element.cell.corners())
                    .collect();
                let back = blend(element.cell, &unbent, &found.reference);
                for a in 0..dim {
                    assert!(
                        (back[a] - straight[a]).abs() < 1e-13,
                        "{} {strength}",
                        element.name
                    );
                }
            }
            assert_eq!(mesh.unresolved(), 0);
        }
    }
}

#[test]
fn a_map_of_a_lower_degree_than_the_element_gives_the_same() {
    // The same bent triangles, and the same field on them, as elements of degree 2 and 4: the latter keep a map of degree 2.
    let u = |x: [f64; 3]| x[0] * x[0] - x[0] * x[1] + 0.3;
    let mut random = Random(31);
    for names in [["tri-p2", "tri-p4"], ["tet-p2", "tet-p4"]] {
        let meshes = names.map(|name| {
            let element = Element::named(name).unwrap();
            let dim = element.cell.dim();
            // Values are those of the straight mesh, so they are of degree 2 in every cell.
            let straight = with_array(grid(element, 3, 0.1, |x| x), "u", u);
            let file = FemFile {
                points: grid(element, 3, 0.1, bend(dim, 1.0)).points,
                ..straight
            };
            let mesh = Mesh::new(&file, dim, Real::F64).unwrap();
            let wanted = wanted(&mesh, &file, 0b111);
            (mesh, wanted)
        });
        let dim = meshes[0].0.dim();
        for _ in 0..500 {
            let x = bend(dim, 1.0)([random.unit(), random.unit(), random.unit()]);
            let [low, high] = meshes.each_ref().map(|(mesh, u)| mesh.probe(u, &x, None));
            for (a, b) in low.iter().zip(&high) {
                assert!(
                    (a - b).abs() < 1e-10,
                    "{names:?} at {x:?}: {low:?} {high:?}"
                );
            }
        }
    }
}

#[test]
fn whether_a_position_is_in_a_curved_cell_is_always_known() {
    // Cells around holes, wedges, twisted ones: near them, but outside, the iteration has nothing to find.
    for name in ["link", "link-linear", "tangle", "cylinder"] {
        let path = format!("{}/../data/gallery/{name}.vtu", env!("CARGO_MANIFEST_DIR"));
        let file = FemFile::read(path.as_ref()).unwrap_or_else(|e| panic!("{e}"));
        let dim = if name == "cylinder" { 2 } else { 3 };
        let mesh = Mesh::new(&file, dim, Real::F64).unwrap();
        assert!(mesh.curved_cells() > 0 && mesh.notes().is_empty(), "{name}");
        let mut random = Random(41);
        for n in 0..20_000 {
            let mut x = [0.0; 3];
            for (x, (low, high)) in x.iter_mut().zip(mesh.world_box()) {
                *x = low + (high - low) * random.unit();
            }
            let found = mesh.locate(&x, None);
            if n % 400 == 0 {
                assert_eq!(mesh.locate_by_rule(&x), found, "{name} at {x:?}");
            }
        }
        assert_eq!(mesh.unresolved(), 0, "{name}");
    }
}

#[test]
fn folded_and_flat_cells_are_refused() {
    let element = Element::named("quad-q1").unwrap();
    let mut file = grid(element, 1, 0.0, |p| p);
    file.points[2] = [0.2, 0.2, 0.0];
    let error = Mesh::new(&file, 2, Real::F64).unwrap_err();
    assert!(error.headline().contains("cell 0 is folded"), "{error}");
    file.points[2] = [0.5, 0.5, 0.0];
    file.points[1] = [0.7, 0.7, 0.0];
    file.points[3] = [0.3, 0.3, 0.0];
    let error = Mesh::new(&file, 2, Real::F64).unwrap_err();
    assert!(error.headline().contains("has no volume"), "{error}");
}
