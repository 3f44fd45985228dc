//! Several lanes at once give what each gives alone, bit for bit: at every width, from any cell, on every instruction set.

use crate::curved::bend;
use crate::location::position;
use crate::meshes::{Random, grid, with_array};
use runtime::fem::{Choice, Element, FemFile, FemValues, FemWanted, Mesh, Outside};
use runtime::simd::{Float, Isa, MAX_WIDTH};
use std::sync::Arc;

/// Elements, how many cubes along an axis, and how much they are bent: straight, mildly and strongly curved ones.
const MESHES: [(&str, usize, f64); 10] = [
    ("tri-p1", 6, 0.0),
    ("tri-p2", 6, 0.0),
    ("tri-p2", 6, 1.0),
    ("tri-p3", 4, 1.0),
    ("tet-p1", 4, 0.0),
    ("tet-p2", 4, 1.0),
    ("tet-p2", 1, 3.0),
    ("quad-q1", 5, 1.0),
    ("hex-q1", 3, 0.0),
    ("hex-q2", 2, 1.0),
];

#[test]
fn lanes_together_give_what_they_give_alone() {
    for (name, n, strength) in MESHES {
        let element = Element::named(name).unwrap();
        let dim = element.cell.dim();
        let straight = grid(element, n, 0.15, |x| x);
        let bent = bend(dim, strength);
        let file = grid(element, n, 0.15, &bent);
        let mut random = Random(5);
        let mut positions = Vec::new();
        for _ in 0..600 {
            let inside = bent(position(&straight, &mut random));
            let anywhere = [0, 1, 2].map(|_| 1.4 * random.unit() - 0.2);
            let odd = [f64::NAN, 0.5, f64::INFINITY];
            positions.push(match random.below(8) {
                0 => odd,
                1 => anywhere,
                _ => inside,
            });
        }
        compare::<f64>(&file, &positions, (name, dim));
        compare::<f32>(&file, &positions, (name, dim));
    }
}

/// Cells of several shapes, and straight ones beside curved ones, in one mesh.
#[test]
fn lanes_in_cells_of_several_kinds_do_too() {
    let mut file = grid(Element::named("tri-p2").unwrap(), 3, 0.1, |x| x);
    let curved = bend(2, 1.0);
    for p in file.points.iter_mut().filter(|p| p[0] > 0.5) {
        *p = curved([p[0] - 0.5, p[1], 0.0]).map(|x| x + 0.0);
        p[0] += 0.5;
    }
    let mut random = Random(11);
    let positions: Vec<[f64; 3]> = (0..800)
        .map(|_| [random.unit(), 1.1 * random.unit(), 0.0])
        .collect();
    compare::<f64>(&file, &positions, ("straight and curved", 2));
    let other = grid(Element::named("quad-q1").unwrap(), 3, 0.1, |x| {
        [x[0] + 1.0, x[1], 0.0]
    });
    let (points, nodes) = (file.points.len() as u32, file.connectivity.len());
    file.points.extend_from_slice(&other.points);
    file.connectivity
        .extend(other.connectivity.iter().map(|p| p + points));
    for mut cell in other.cells.iter() {
        cell.first += nodes;
        cell.number = file.cells.len() as u32;
        file.cells.push(cell);
    }
    let wide: Vec<[f64; 3]> = positions.iter().map(|p| [2.0 * p[0], p[1], 0.0]).collect();
    compare::<f64>(&file, &wide, ("triangles and squares", 2));
}

/// What a call gives for a lane: cell, reference position, and results of all fields.
type Result = (i32, Vec<u64>);

fn compare<T: Float + Default>(file: &FemFile, positions: &[[f64; 3]], (name, dim): (&str, usize)) {
    let file = with_array(file.clone(), "u", |x| {
        x[0] * x[0] - x[1] * x[2] + 0.3 * x[1]
    });
    let choice = Choice {
        array: Some("u"),
        variable: "",
        shape: &[],
    };
    let mut random = Random(77);
    let mut truth: Option<Vec<Result>> = None;
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let mesh = Mesh::new(&file, dim, T::REAL).unwrap().on(isa);
        let values = Arc::new(FemValues::new(&mesh, &file, &choice).unwrap());
        for orders in [0b11, 0b01, 0b10] {
            let wanted = FemWanted {
                values: values.clone(),
                orders,
                outside: Outside::Constant(vec![7.0]),
            };
            if orders == 0b11 {
                let alone: Vec<Result> = positions
                    .iter()
                    .map(|x| call::<T>(&mesh, &wanted, (1, 1), &[*x], &mut [0])[0].clone())
                    .collect();
                assert_eq!(*truth.get_or_insert(alone.clone()), alone, "{name} {isa:?}");
            }
            for width in [4, 8, 16] {
                for (n, some) in positions.chunks_exact(width).enumerate() {
                    let mask = match n % 3 {
                        0 => (1 << width) - 1,
                        _ => random.next() as u32 & ((1 << width) - 1),
                    };
                    let mut hints: Vec<u32> = (0..width)
                        .map(|_| random.below(mesh.cells() + 1) as u32)
                        .collect();
                    let got = call::<T>(&mesh, &wanted, (mask, width), some, &mut hints);
                    for lane in (0..width).filter(|lane| mask >> lane & 1 == 1) {
                        let (cell, all) = &truth.as_ref().unwrap()[n * width + lane];
                        let results = match orders {
                            0b01 => 0..dim + 1,
                            0b10 => 0..0,
                            _ => 0..all.len(),
                        };
                        let alike = got[lane].1[results.clone()] == all[results];
                        let gradients = orders != 0b10 || got[lane].1[dim..] == all[dim + 1..];
                        assert!(
                            got[lane].0 == *cell && alike && gradients,
                            "{name} {isa:?} {width} {orders} at {:?}: {:?}, alone {:?}",
                            some[lane],
                            got[lane],
                            (cell, all)
                        );
                    }
                }
            }
        }
    }
}

fn call<T: Float + Default>(
    mesh: &Mesh,
    wanted: &FemWanted,
    lanes: (u32, usize),
    positions: &[[f64; 3]],
    hints: &mut [u32],
) -> Vec<Result> {
    let ((mask, width), dim) = (lanes, mesh.dim());
    let outputs = [0, 1, dim, dim + 1][wanted.orders as usize];
    let mut planes = vec![T::default(); dim * width];
    for (lane, x) in positions.iter().enumerate() {
        (0..dim).for_each(|axis| planes[axis * width + lane] = T::from_f64(x[axis]));
    }
    // Lanes that do not run keep their values.
    let kept = T::from_f64(-5.0);
    let (mut reference, mut out) = (vec![kept; dim * width], vec![kept; outputs * width]);
    let mut cells = [0; MAX_WIDTH];
    // SAFETY: all planes have the width, and there are as many as the calls want.
    unsafe {
        let found = mesh.locate_lanes(
            lanes,
            planes.as_ptr(),
            hints.as_mut_ptr(),
            reference.as_mut_ptr(),
        );
        cells.copy_from_slice(&found);
        let fields = std::slice::from_ref(wanted);
        mesh.probe_lanes(fields, lanes, &cells, reference.as_ptr(), out.as_mut_ptr());
    }
    let bits = |x: &T| x.to_f64().to_bits();
    (0..width)
        .map(|lane| {
            let own = |planes: &[T]| -> Vec<u64> {
                planes.iter().skip(lane).step_by(width).map(bits).collect()
            };
            let all = [own(&reference), own(&out)].concat();
            if mask >> lane & 1 == 0 {
                assert!(
                    all.iter().all(|&x| x == bits(&kept)),
                    "a lane that does not run"
                );
            }
            (cells[lane], all)
        })
        .collect()
}
