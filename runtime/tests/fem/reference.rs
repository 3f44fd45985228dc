//! Eight meshes with exact values, gradients and Hessians at 200 positions each, and polynomials with all derivatives.

use crate::polynomials::{Polynomial, distinct};
use runtime::fem::{Choice, FemFile, FemValues, FemWanted, Mesh, Outside};
use runtime::nrrd;
use runtime::simd::Real;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Case {
    pub name: String,
    pub dim: usize,
    pub polynomials: Vec<Polynomial>,
}

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/fem")
        .join(name)
}

/// The cases, from a file of objects with one property per line.
pub(crate) fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(data("cases.json")).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    let mut in_polynomials = false;
    for line in text.lines().map(str::trim) {
        let value = line
            .split_once(": ")
            .map_or("", |(_, v)| v)
            .trim_end_matches(',');
        if line.starts_with("\"name\"") {
            cases.push(Case {
                name: value.trim_matches('"').to_string(),
                dim: 0,
                polynomials: vec![],
            });
        } else if line.starts_with("\"dim\"") {
            cases.last_mut().unwrap().dim = value.parse().unwrap();
        } else if line.starts_with("\"poly\"") {
            in_polynomials = true;
        } else if line.starts_with(']') {
            in_polynomials = false;
        } else if in_polynomials {
            let polynomial = Polynomial::parse(line.trim_end_matches(',').trim_matches('"'));
            cases.last_mut().unwrap().polynomials.push(polynomial);
        }
    }
    assert_eq!(cases.len(), 8);
    cases
}

/// The positions of a case with the true results: position, cell, values by component (value, gradient, Hessian).
pub(crate) fn truth(case: &Case) -> Vec<([f64; 3], u32, Vec<Vec<f64>>)> {
    let file = nrrd::read(&data(&format!("{}.nrrd", case.name))).unwrap();
    let width = file.header().axes[0].size;
    let numbers = file.to_array::<f64>().unwrap();
    let numbers: Vec<f64> = numbers.as_slice_memory_order().unwrap().to_vec();
    let (d, per) = (case.dim, 1 + case.dim + case.dim * (case.dim + 1) / 2);
    let rows = numbers.chunks_exact(width).map(|row| {
        let mut x = [0.0; 3];
        x[..d].copy_from_slice(&row[..d]);
        let values = row[2 * d + 1..]
            .chunks_exact(per)
            .map(<[f64]>::to_vec)
            .collect();
        (x, row[d] as u32, values)
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 200);
    rows
}

fn wanted(mesh: &Mesh, file: &FemFile, array: &str, shape: &[usize], orders: u32) -> FemWanted {
    let choice = Choice {
        array: Some(array),
        variable: "",
        shape,
    };
    FemWanted {
        values: Arc::new(FemValues::new(mesh, file, &choice).unwrap()),
        orders,
        outside: Outside::Nan,
    }
}

fn shape(case: &Case) -> &'static [usize] {
    if case.polynomials.len() == 3 {
        &[3]
    } else {
        &[]
    }
}

#[test]
fn wave_has_its_exact_values_gradients_and_hessians() {
    for case in cases() {
        let file = FemFile::read(&data(&format!("{}.vtu", case.name))).unwrap();
        let mesh = Mesh::new(&file, case.dim, Real::F64).unwrap();
        let wave = wanted(&mesh, &file, "wave", shape(&case), 0b111);
        let components = case.polynomials.len();
        let counts = [1, case.dim, case.dim * (case.dim + 1) / 2];
        let mut worst = [0.0_f64; 3];
        for (x, cell, values) in truth(&case) {
            let found = mesh.locate(&x, None).unwrap();
            assert_eq!(mesh.number(found.cell), cell, "{} at {x:?}", case.name);
            let got = mesh.probe(&wave, &x, None);
            let mut got = got.iter();
            for (order, &count) in counts.iter().enumerate() {
                for own in values.iter().take(components) {
                    let first: usize = counts[..order].iter().sum();
                    for true_value in &own[first..first + count] {
                        let off = (got.next().unwrap() - true_value).abs();
                        worst[order] = worst[order].max(off);
                    }
                }
            }
        }
        println!(
            "{:16} {:.1e} {:.1e} {:.1e}",
            case.name, worst[0], worst[1], worst[2]
        );
        for (order, limit) in [1e-14, 4e-13, 2e-11].into_iter().enumerate() {
            assert!(
                worst[order] < limit,
                "{} order {order}: {worst:?}",
                case.name
            );
        }
    }
}

#[test]
fn polynomials_are_reproduced_with_all_derivatives() {
    for case in cases() {
        let file = FemFile::read(&data(&format!("{}.vtu", case.name))).unwrap();
        let mesh = Mesh::new(&file, case.dim, Real::F64).unwrap();
        let poly = wanted(&mesh, &file, "poly", shape(&case), 0b11111);
        let mut worst = [0.0_f64; 5];
        for (x, _, _) in truth(&case) {
            let got = mesh.probe(&poly, &x, None);
            let mut got = got.iter();
            for (order, worst) in worst.iter_mut().enumerate() {
                for polynomial in &case.polynomials {
                    for counts in distinct(case.dim, order) {
                        let off = got.next().unwrap() - polynomial.derivative(counts, &x);
                        *worst = worst.max(off.abs());
                    }
                }
            }
        }
        println!("{:16} {worst:?}", case.name);
        // Nodes that are not binary fractions are rounded in the files, by up to 2e-13 of the values.
        for (order, limit) in [4e-13, 2e-12, 4e-11, 2e-9, 1e-7].into_iter().enumerate() {
            assert!(
                worst[order] < limit,
                "{} order {order}: {worst:?}",
                case.name
            );
        }
    }
}

#[test]
fn lanes_of_all_widths_give_the_same_bits_in_both_precisions() {
    for case in cases() {
        let file = FemFile::read(&data(&format!("{}.vtu", case.name))).unwrap();
        let positions: Vec<[f64; 3]> = truth(&case).into_iter().map(|(x, ..)| x).collect();
        for real in [Real::F32, Real::F64] {
            let mesh = Mesh::new(&file, case.dim, real).unwrap();
            let fields = [
                wanted(&mesh, &file, "poly", shape(&case), 0b11),
                wanted(&mesh, &file, "wave", shape(&case), 0b111),
            ];
            let run = |width| match real {
                Real::F32 => lanes::<f32>(&mesh, &fields, &positions, width),
                Real::F64 => lanes::<f64>(&mesh, &fields, &positions, width),
            };
            let one = run(1);
            for width in [4, 8, 16] {
                assert_eq!(run(width), one, "{} {real:?} width {width}", case.name);
            }
            if real == Real::F64 {
                for (x, row) in positions.iter().zip(&one) {
                    let direct = mesh.probe(&fields[0], x, None);
                    assert_eq!(direct[0].to_bits(), row[1]);
                }
            }
        }
    }
}

/// Cells and results of all positions as bits, `width` at a time.
fn lanes<T: runtime::simd::Float>(
    mesh: &Mesh,
    fields: &[FemWanted],
    positions: &[[f64; 3]],
    width: usize,
) -> Vec<Vec<u64>> {
    let dim = mesh.dim();
    let outputs: usize = fields
        .iter()
        .map(|f| {
            let n = f.values.components();
            let orders = (0..5).filter(|m| f.orders >> m & 1 == 1);
            orders.map(|m| n * distinct(dim, m).len()).sum::<usize>()
        })
        .sum();
    let mut rows = Vec::new();
    let mut hints = vec![0_u32; width];
    for chunk in positions.chunks(width) {
        let mask = (1_u32 << chunk.len()) - 1;
        let mut planes = vec![T::from_f64(0.0); dim * width];
        for (lane, x) in chunk.iter().enumerate() {
            for a in 0..dim {
                planes[a * width + lane] = T::from_f64(x[a]);
            }
        }
        let mut reference = vec![T::from_f64(0.0); dim * width];
        let mut out = vec![T::from_f64(0.0); outputs * width];
        // SAFETY: all planes have the width and there are as many as the calls want.
        let cells = unsafe {
            let cells = mesh.locate_lanes(
                (mask, width),
                planes.as_ptr(),
                hints.as_mut_ptr(),
                reference.as_mut_ptr(),
            );
            let lanes = (mask, width);
            mesh.probe_lanes(fields, lanes, &cells, reference.as_ptr(), out.as_mut_ptr());
            cells
        };
        for lane in 0..chunk.len() {
            let results = (0..outputs).map(|n| out[n * width + lane].to_f64().to_bits());
            rows.push([cells[lane] as u64].into_iter().chain(results).collect());
        }
    }
    rows
}
