//! The cell of a position: nothing is lost, and the answer is a function of the position alone.

use crate::curved::bend;
use crate::meshes::{Random, blend, grid};
use runtime::fem::{Element, FemFile, FileCell, Mesh};
use runtime::simd::Real;

/// A position in a cell, on a face, an edge or a corner of it, or a little beside.
pub(crate) fn position(file: &FemFile, random: &mut Random) -> [f64; 3] {
    let cell = random.below(file.cells.len());
    let kind = file.cells.at(cell).element.cell;
    let corners: Vec<[f64; 3]> = file.nodes(cell).take(kind.corners()).collect();
    let mut xi = random.in_cell(kind);
    match random.below(6) {
        0 => return corners[random.below(corners.len())],
        1 => {
            let (a, b) = (
                corners[random.below(corners.len())],
                corners[random.below(corners.len())],
            );
            let s = random.unit();
            return std::array::from_fn(|i| (1.0 - s) * a[i] + s * b[i]);
        }
        2 | 3 => xi[random.below(kind.dim())] = 0.0,
        4 => xi[random.below(kind.dim())] = 1e-15,
        _ => {}
    }
    blend(kind, &corners, &xi)
}

fn check(file: &FemFile, dim: usize, tries: usize, real: Real) {
    check_moved(file, file, |x| x, (dim, tries, real));
}

/// The same for curved cells: those of the straight mesh, with their positions, are moved.
fn check_bent(name: &str, n: usize, tries: usize) {
    let element = Element::named(name).unwrap();
    let dim = element.cell.dim();
    let (straight, bent) = (
        grid(element, n, 0.15, |x| x),
        grid(element, n, 0.15, bend(dim, 1.0)),
    );
    check_moved(&bent, &straight, bend(dim, 1.0), (dim, tries, Real::F64));
}

fn check_moved(
    file: &FemFile,
    before: &FemFile,
    moved: impl Fn([f64; 3]) -> [f64; 3],
    (dim, tries, real): (usize, usize, Real),
) {
    let mesh = Mesh::new(file, dim, real).unwrap();
    let mut random = Random(99);
    for n in 0..tries {
        let mut x = moved(position(before, &mut random));
        if real == Real::F32 {
            x = x.map(|x| f64::from(x as f32));
        }
        let found = mesh.locate(&x, None);
        assert!(found.is_some(), "lost {x:?}");
        for _ in 0..2 {
            let hint = random.below(mesh.cells()) as u32;
            assert_eq!(mesh.locate(&x, Some(hint)), found, "at {x:?} from {hint}");
        }
        if n % 1000 == 0 {
            assert_eq!(mesh.locate_by_rule(&x), found, "at {x:?}");
        }
    }
}

/// This many positions in all, on and near faces, edges and corners of straight and curved cells of several sizes and places.
fn check_positions(tries: usize) {
    let tet = Element::named("tet-p1").unwrap();
    let part = |tenths: usize| tries * tenths / 10;
    check(&grid(tet, 12, 0.15, |x| x), 3, part(3), Real::F64);
    let far = |x: [f64; 3]| x.map(|x| 1000.0 + 3.0 * x);
    check(&grid(tet, 6, 0.15, far), 3, part(2), Real::F64);
    let triangle = Element::named("tri-p1").unwrap();
    check(&grid(triangle, 30, 0.2, |x| x), 2, part(1), Real::F64);
    check(&grid(triangle, 20, 0.2, |x| x), 2, part(1), Real::F32);
    check(&grid(tet, 6, 0.15, |x| x), 3, part(1), Real::F32);
    check_bent("tet-p2", 4, part(1));
    check_bent("tri-p3", 8, part(1));
}

#[test]
fn positions_on_and_near_faces_edges_and_corners_are_found() {
    check_positions(100_000);
}

/// The whole: `cargo test --release -p diderot-runtime --test fem -- --ignored a_million`.
#[test]
#[ignore = "a million searches, each from three cells"]
fn a_million_positions_on_and_near_faces_edges_and_corners() {
    check_positions(1_000_000);
}

#[test]
fn slivers_lose_nothing() {
    let tet = Element::named("tet-p1").unwrap();
    for flat in [1e-3, 1e-6] {
        let squeezed = |x: [f64; 3]| [x[0] + x[1], x[1] - 0.3 * x[0], flat * x[2] + 0.2 * x[0]];
        check(&grid(tet, 4, 0.15, squeezed), 3, 50_000, Real::F64);
    }
}

#[test]
fn graded_meshes_lose_nothing() {
    let triangle = Element::named("tri-p1").unwrap();
    // Cells from 1 down to 10⁻⁶ of the size.
    let graded = |x: [f64; 3]| {
        [
            10_f64.powf(6.0 * x[0] - 6.0),
            10_f64.powf(6.0 * x[1] - 6.0),
            0.0,
        ]
    };
    check(&grid(triangle, 40, 0.0, graded), 2, 100_000, Real::F64);
}

#[test]
fn quadrilaterals_and_hexahedra_lose_nothing() {
    check(
        &grid(Element::named("quad-q1").unwrap(), 12, 0.2, |x| x),
        2,
        100_000,
        Real::F64,
    );
    check(
        &grid(Element::named("hex-q1").unwrap(), 5, 0.0, |x| x),
        3,
        50_000,
        Real::F64,
    );
    check(
        &grid(Element::named("hex-q1").unwrap(), 4, 0.15, |x| x),
        3,
        20_000,
        Real::F64,
    );
}

#[test]
fn positions_beyond_the_tolerance_are_outside() {
    let tet = Element::named("tet-p1").unwrap();
    let mesh = Mesh::new(&grid(tet, 4, 0.15, |x| x), 3, Real::F64).unwrap();
    let mut random = Random(1);
    for _ in 0..10_000 {
        let mut x = [random.unit(), random.unit(), random.unit()];
        let axis = random.below(3);
        let low = random.below(2) == 0;
        x[axis] = if low {
            -10.0 * mesh.tolerance()
        } else {
            1.0 + 10.0 * mesh.tolerance()
        };
        let hint = random.below(mesh.cells()) as u32;
        assert_eq!(mesh.locate(&x, Some(hint)), None, "{x:?}");
    }
}

#[test]
fn holes_and_corners_inside_are_outside() {
    // A square without its middle third, as nine squares of two triangles each without the middle one.
    let triangle = Element::named("tri-p1").unwrap();
    let mut file = grid(triangle, 3, 0.0, |x| x);
    let is_kept = |cell: &FileCell| !(8..10).contains(&cell.number);
    file.cells = file.cells.iter().filter(is_kept).collect();
    let mesh = Mesh::new(&file, 2, Real::F64).unwrap();
    let mut random = Random(8);
    for _ in 0..100_000 {
        let x = [random.unit(), random.unit(), 0.0];
        let third = |x: f64| (1.0 / 3.0 + 1e-9..2.0 / 3.0 - 1e-9).contains(&x);
        let hint = random.below(mesh.cells()) as u32;
        let found = mesh.locate(&x, Some(hint));
        assert_eq!(found.is_none(), third(x[0]) && third(x[1]), "{x:?}");
        assert_eq!(found, mesh.locate(&x, None));
    }
}

#[test]
fn hanging_nodes_lose_nothing() {
    // A coarse square beside four fine ones, without a common edge.
    let quad = Element::named("quad-q1").unwrap();
    let mut file = grid(quad, 1, 0.0, |x| x);
    let fine = grid(quad, 2, 0.0, |x| [1.0 + x[0], x[1], 0.0]);
    let (points, first) = (file.points.len() as u32, file.connectivity.len());
    file.points.extend_from_slice(&fine.points);
    file.connectivity
        .extend(fine.connectivity.iter().map(|p| p + points));
    for mut cell in fine.cells.iter() {
        cell.first += first;
        cell.number += 1;
        file.cells.push(cell);
    }
    check(&file, 2, 100_000, Real::F64);
    let mesh = Mesh::new(&file, 2, Real::F64).unwrap();
    let found = mesh.locate(&[1.0, 0.5, 0.0], Some(3)).unwrap();
    assert_eq!(mesh.number(found.cell), 0, "the lowest number wins");
}

#[test]
fn cells_that_overlap_are_told_and_turned_ones_are_not() {
    for name in ["tri-p1", "tet-p1", "quad-q1", "hex-q1", "tet-p2"] {
        let element = Element::named(name).unwrap();
        let (dim, nodes) = (element.cell.dim(), element.nodes().len());
        let mut file = grid(element, 2, 0.1, |x| x);
        let notes = |file: &FemFile| Mesh::new(file, dim, Real::F64).unwrap().notes().to_vec();
        assert!(notes(&file).is_empty(), "{name}: {:?}", notes(&file));
        // The same cells, some with their corners the other way round: a solver may number them as it likes.
        if element.degree == 1 && element.cell.is_simplex() {
            for cell in (0..file.cells.len()).step_by(3) {
                file.connectivity.swap(cell * nodes, cell * nodes + 1);
            }
            assert!(notes(&file).is_empty(), "{name}: {:?}", notes(&file));
        }
        // The point that all cells meet in, in the middle, moved beyond the border.
        let is_middle = |p: &[f64; 3]| (0..dim).all(|a| (0.2..0.8).contains(&p[a]));
        if element.degree == 1 {
            let middle = file.points.iter_mut().filter(|p| is_middle(p));
            middle.for_each(|p| p[0] += 1.2);
            match Mesh::new(&file, dim, Real::F64) {
                // Squares and cubes are folded then.
                Err(error) => assert!(error.headline().contains("folded"), "{error}"),
                Ok(mesh) => assert!(mesh.notes()[0].contains("overlaps itself"), "{name}"),
            }
        }
    }
}
