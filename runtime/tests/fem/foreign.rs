//! Files that other programs wrote, in all their encodings and orders of nodes: `files/make.py` writes them.
//!
//! The truth is a polynomial that the elements hold exactly, so a node in the wrong place is a wrong value.

use crate::meshes::{Random, blend};
use runtime::fem::{ArrayPlace, Choice, FemFile, FemValues, FemWanted, Mesh, Outside};
use runtime::simd::Real;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fem/files")
}

/// All mesh files, by name.
pub(crate) fn files() -> Vec<PathBuf> {
    let all = std::fs::read_dir(directory()).unwrap();
    let mut all: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e != "py"));
    all.sort();
    all
}

/// The degree of the polynomial in a file, and the dimension of its cells.
fn named(name: &str) -> (usize, usize) {
    let stem = name.split('.').next().unwrap();
    let degree = match name.contains("disc") {
        true => 1,
        false => stem.chars().last().unwrap().to_digit(10).unwrap() as usize,
    };
    let plane = ["tri", "quad", "mixed"]
        .iter()
        .any(|kind| name.contains(kind));
    (degree, if plane { 2 } else { 3 })
}

/// Value and gradient of the polynomial of `make.py`.
fn polynomial([x, y, z]: [f64; 3], degree: usize) -> [f64; 4] {
    let mut u = [1.0 + x - 2.0 * y + z / 2.0, 1.0, -2.0, 0.5];
    let mut add = |more: [f64; 4]| u.iter_mut().zip(more).for_each(|(u, m)| *u += m);
    if degree >= 2 {
        add([
            x * x - x * y + y * z / 2.0,
            2.0 * x - y,
            z / 2.0 - x,
            y / 2.0,
        ]);
    }
    if degree >= 3 {
        let value = x.powi(3) - 2.0 * x * y * y + x * y * z;
        let dx = 3.0 * x * x - 2.0 * y * y + y * z;
        add([value, dx, x * z - 4.0 * x * y, x * y]);
    }
    if degree >= 4 {
        let value = x * x * y * y - z.powi(4) / 2.0 + x * y * z * z;
        let dx = 2.0 * x * y * y + y * z * z;
        let dy = 2.0 * x * x * y + x * z * z;
        add([value, dx, dy, 2.0 * x * y * z - 2.0 * z.powi(3)]);
    }
    u
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

#[test]
fn polynomials_in_files_of_other_programs_are_exact() {
    let mut random = Random(5);
    let mut read = 0;
    for path in files() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = FemFile::read(&path);
        if name.contains("lzma") {
            let error = file.unwrap_err().to_string();
            assert!(
                error.contains("compressed with LZMA\nhelp: write"),
                "{error}"
            );
            continue;
        }
        let file = file.unwrap_or_else(|error| panic!("{error}"));
        let (degree, dim) = named(name);
        let mesh = Mesh::new(&file, dim, Real::F64).unwrap_or_else(|e| panic!("{name}: {e}"));
        // Most of those by meshio have one of their two cells twice, and a file in pieces has both.
        let doubled =
            name.starts_with("meshio") && !name.contains("mixed") || name.contains("pieces");
        assert_eq!(
            mesh.notes().is_empty(),
            !doubled,
            "{name}: {:?}",
            mesh.notes()
        );
        let has = |array: &str| file.arrays.iter().any(|a| a.name == array);
        // meshio's text of legacy files has twelve digits, VTK's ten.
        let digits = match name.ends_with(".vtk") && !name.contains("binary") {
            true => 1e-8,
            false => 1e-12,
        };
        // The same values, as data of nodes and as data of the nodes of elements.
        for array in ["u", "w"].into_iter().filter(|array| has(array)) {
            let u = wanted(&mesh, &file, array, &[], 0b11);
            for _ in 0..200 {
                let inside: Vec<usize> = (0..file.cells.len())
                    .filter(|&n| file.cells.at(n).element.cell.dim() == dim)
                    .collect();
                let cell = inside[random.below(inside.len())];
                let kind = file.cells.at(cell).element.cell;
                let corners: Vec<[f64; 3]> = file.nodes(cell).take(kind.corners()).collect();
                let x = blend(kind, &corners, &random.in_cell(kind));
                let truth = polynomial(x, degree);
                let got = mesh.probe(&u, &x, None);
                for (n, got) in got.iter().enumerate() {
                    let off = (got - truth[n]).abs();
                    assert!(
                        off < digits * 30.0,
                        "{name} `{array}` {x:?} {n}: {got} {truth:?}"
                    );
                }
            }
        }
        if has("v") {
            let v = wanted(&mesh, &file, "v", &[3], 1);
            let kind = file.cells.at(1).element.cell;
            let corners: Vec<[f64; 3]> = file.nodes(1).take(kind.corners()).collect();
            let x = blend(kind, &corners, &random.in_cell(kind));
            let u = polynomial(x, degree)[0];
            let got = mesh.probe(&v, &x, None);
            for (got, truth) in got.iter().zip([u, 2.0 * u - x[0], x[1] - u]) {
                assert!(
                    (got - truth).abs() < digits * 30.0,
                    "{name}: {got:?} {truth}"
                );
            }
        }
        if has("c") {
            let array = file.arrays.iter().find(|a| a.name == "c").unwrap();
            assert_eq!(array.place, ArrayPlace::Cells, "{name}");
            let cells = file.cells.iter().zip(&array.values);
            let own: Vec<f64> = cells
                .filter(|(cell, _)| cell.element.cell.dim() == dim)
                .map(|(_, value)| *value)
                .collect();
            // VTK's writer repeats the grid in every piece.
            let apart = if name.contains("pieces") {
                2
            } else {
                own.len()
            };
            let truth: Vec<f64> = (0..own.len()).map(|n| 10.0 * (n % apart) as f64).collect();
            assert_eq!(own, truth, "{name}");
        }
        read += 1;
    }
    assert!(read > 60, "{read} files");
}
