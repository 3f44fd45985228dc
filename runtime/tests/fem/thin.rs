//! Meshes of thin cells across the axes, and of cells inside each other: no position is lost, the answer is that of the rule over
//! all cells, and memory stays in proportion to the number of cells.

use crate::location::position;
use crate::meshes::{Random, grid};
use runtime::fem::{Element, FemFile, FileCell, Mesh};
use runtime::simd::Real;

/// Layers of two triangles each along a line of length 1, turned by an angle.
pub(crate) fn strip(layers: usize, thickness: f64, angle: f64) -> FemFile {
    let element = Element::named("tri-p1").unwrap();
    let (sine, cosine) = angle.sin_cos();
    let mut file = FemFile::default();
    for layer in 0..layers + 1 {
        let y = layer as f64 * thickness;
        for x in [0.0, 1.0] {
            file.points
                .push([cosine * x - sine * y, sine * x + cosine * y, 0.0]);
        }
    }
    for layer in 0..layers as u32 {
        let low = 2 * layer;
        for corners in [[low, low + 1, low + 3], [low, low + 3, low + 2]] {
            file.cells.push(FileCell {
                element,
                first: file.connectivity.len(),
                number: file.cells.len() as u32,
            });
            file.connectivity.extend(corners);
        }
    }
    file
}

/// Boundary layers in space: bricks of six tetrahedra, thin along one axis, turned about two.
fn slab(n: usize, thin: f64) -> FemFile {
    let element = Element::named("tet-p1").unwrap();
    grid(element, n, 0.1, |[x, y, z]| {
        let z = thin * z;
        let (x, y) = (0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y);
        [0.8 * x - 0.6 * z, y, 0.6 * x + 0.8 * z]
    })
}

/// Boundary layers of cells that are `aspect` times as long as thick, thin along `thin` axes, turned by an angle about the z axis and, in
/// space, about the x axis after that.
fn layers(dim: usize, n: usize, (aspect, thin): (f64, usize), angle: f64) -> FemFile {
    let element = Element::named(if dim == 2 { "tri-p1" } else { "tet-p1" }).unwrap();
    let (sine, cosine) = angle.sin_cos();
    let turn = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
    grid(element, n, 0.1, |x| {
        let [x, y, z] = std::array::from_fn(|a| if a < thin { x[a] / aspect } else { x[a] });
        let (x, y) = turn(x, y);
        let (y, z) = if dim == 2 { (y, 0.0) } else { turn(y, z) };
        [x, y, z]
    })
}

/// Slivers from a point, or in space from an edge, to the parts of a circle; the axis of the circle is turned by an angle.
fn fan(dim: usize, count: u32, angle: f64) -> FemFile {
    let element = Element::named(if dim == 2 { "tri-p1" } else { "tet-p1" }).unwrap();
    let (sine, cosine) = angle.sin_cos();
    let mut file = FemFile::default();
    let mut point = |[x, y, z]: [f64; 3]| {
        let (y, z) = match dim {
            2 => (y, 0.0),
            _ => (cosine * y - sine * z, sine * y + cosine * z),
        };
        file.points.push([x, y, z]);
    };
    (0..dim - 1).for_each(|n| point([0.0, 0.0, n as f64]));
    for n in 0..count {
        let turn = std::f64::consts::TAU * f64::from(n) / f64::from(count);
        point([turn.cos(), turn.sin(), 0.5]);
    }
    let first = dim as u32 - 1;
    for n in 0..count {
        file.cells.push(FileCell {
            element,
            first: file.connectivity.len(),
            number: n,
        });
        file.connectivity.extend(0..first);
        file.connectivity
            .extend([first + n, first + (n + 1) % count]);
    }
    file
}

/// Ratios of edges, and degrees by which meshes are turned.
const ASPECTS: [f64; 5] = [1.0, 10.0, 100.0, 1000.0, 10_000.0];
const TURNS: [f64; 5] = [0.0, 10.0, 30.0, 45.0, 77.0];

/// Tetrahedra in each other, each a little larger than the one before.
fn nested(count: usize) -> FemFile {
    let element = Element::named("tet-p1").unwrap();
    let mut file = FemFile::default();
    for n in 0..count {
        let size = 1.0 + n as f64 / count as f64;
        file.cells.push(FileCell {
            element,
            first: file.connectivity.len(),
            number: n as u32,
        });
        for corner in [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ] {
            file.connectivity.push(file.points.len() as u32);
            file.points.push(corner.map(|x: f64| size * (x - 0.25)));
        }
    }
    file
}

fn follows_the_rule(file: &FemFile, dim: usize, tries: usize, real: Real) {
    let mesh = Mesh::new(file, dim, real).unwrap();
    let mut random = Random(2026);
    for _ in 0..tries {
        let mut x = position(file, &mut random);
        if real == Real::F32 {
            x = x.map(|x| f64::from(x as f32));
        }
        let rule = mesh.locate_by_rule(&x);
        assert!(rule.is_some() || real == Real::F32, "lost {x:?}");
        assert_eq!(mesh.locate(&x, None), rule, "at {x:?}");
        let hint = random.below(mesh.cells()) as u32;
        assert_eq!(mesh.locate(&x, Some(hint)), rule, "at {x:?} from {hint}");
        // Beside the mesh, where its box may still be.
        let beside = x.map(|x| x + 0.3 * (random.unit() - 0.5));
        let beside = [beside[0], beside[1], if dim == 2 { 0.0 } else { beside[2] }];
        assert_eq!(
            mesh.locate(&beside, None),
            mesh.locate_by_rule(&beside),
            "at {beside:?}"
        );
    }
}

#[test]
fn thin_cells_follow_the_rule() {
    for angle in [0.0, 0.5, 1.2] {
        follows_the_rule(&strip(200, 1e-4, angle), 2, 4000, Real::F64);
        follows_the_rule(&strip(200, 1e-4, angle), 2, 2000, Real::F32);
        follows_the_rule(&strip(1500, 1e-5, angle), 2, 500, Real::F64);
    }
    follows_the_rule(&slab(6, 1e-3), 3, 3000, Real::F64);
    follows_the_rule(&slab(6, 1e-6), 3, 3000, Real::F64);
}

#[test]
fn layers_and_fans_of_every_ratio_and_turn_follow_the_rule() {
    for degrees in TURNS {
        let angle = degrees.to_radians();
        for aspect in ASPECTS {
            for (dim, n, thin) in [(2, 12, 1), (3, 4, 1), (3, 4, 2)] {
                let file = layers(dim, n, (aspect, thin), angle);
                follows_the_rule(&file, dim, 60, Real::F64);
            }
        }
        follows_the_rule(&fan(2, 700, angle), 2, 100, Real::F64);
        follows_the_rule(&fan(3, 700, angle), 3, 100, Real::F64);
    }
}

#[test]
fn the_index_of_layers_and_fans_is_bounded_and_its_lists_are_short() {
    let mut beyond = Vec::new();
    let mut check = |name: String, file: &FemFile, dim: usize, most: f64| {
        let mesh = Mesh::new(file, dim, Real::F64).unwrap();
        let mut random = Random(7);
        let mut candidates = || mesh.candidates(&position(file, &mut random));
        let mean = (0..500).map(|_| candidates()).sum::<usize>() / 500;
        let per_cell = mesh.index_bytes() / mesh.cells();
        let told = format!("{name}: {per_cell} bytes per cell, {mean} cells at a position");
        if per_cell > 160 || mean as f64 > most * mesh.cells() as f64 {
            beyond.push(told);
        }
    };
    for degrees in [0.0, 30.0, 45.0_f64] {
        let angle = degrees.to_radians();
        for aspect in ASPECTS {
            for (dim, n, thin) in [(2, 40, 1), (3, 9, 1), (3, 9, 2)] {
                let file = layers(dim, n, (aspect, thin), angle);
                let name = format!("{dim} {aspect} {thin} {degrees}");
                check(name, &file, dim, 0.1);
            }
        }
    }
    for dim in [2, 3] {
        // All slivers meet, so the lists near that place have all of them.
        check(format!("fan {dim}"), &fan(dim, 2000, 0.5), dim, 1.0);
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

#[test]
fn a_mesh_so_small_that_volumes_vanish_has_no_more_bins_than_cells() {
    let triangle = Element::named("tri-p1").unwrap();
    follows_the_rule(
        &grid(triangle, 5, 0.1, |x| x.map(|x| 1e-150 * x)),
        2,
        1000,
        Real::F64,
    );
}

#[test]
fn memory_grows_with_the_number_of_cells_whatever_their_shape() {
    for (name, file, dim) in [
        ("strip", strip(200, 1e-4, 0.5), 2),
        ("finer strip", strip(2000, 1e-5, 0.5), 2),
        ("slab", slab(12, 1e-5), 3),
        ("nested", nested(20_000), 3),
    ] {
        let mesh = Mesh::new(&file, dim, Real::F64).unwrap();
        let most = 1000 * mesh.cells() + (1 << 20);
        assert!(mesh.bytes() <= most, "{name}: {} bytes", mesh.bytes());
    }
}

/// Triangles one beside the other at 1000, and one triangle of an edge so small that distances at 1000 are far beyond it.
fn beside_a_tiny_one(count: u32, tiny: f64) -> FemFile {
    let element = Element::named("tri-p1").unwrap();
    let mut file = FemFile::default();
    for n in 0..count {
        let (x, size) = match n {
            0 => (0.0, tiny),
            n => (1000.0 + 2.0 * f64::from(n), 1.0),
        };
        file.cells.push(FileCell {
            element,
            first: file.connectivity.len(),
            number: n,
        });
        file.points
            .extend([[x, 0.0, 0.0], [x + size, 0.0, 0.0], [x, size, 0.0]]);
        file.connectivity.extend([3 * n, 3 * n + 1, 3 * n + 2]);
    }
    file
}

#[test]
fn points_far_beyond_the_shortest_edge_are_told_apart_at_once() {
    let time = |tiny: f64| {
        let start = std::time::Instant::now();
        let mesh = Mesh::new(&beside_a_tiny_one(40_000, tiny), 2, Real::F64).expect("a mesh");
        assert_eq!(mesh.cells(), 40_000);
        start.elapsed().as_secs_f64()
    };
    // Comparing each point with all others would be seven thousand million comparisons.
    let usual = time(1.0);
    let far = time(1e-40);
    assert!(far < 10.0 * usual + 0.5, "{far} s, usually {usual} s");
}
