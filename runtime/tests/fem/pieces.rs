//! Meshes in several files, and at several times: `files/pieces.py` writes them.

use crate::distorted::{linear, probe};
use crate::meshes::Random;
use crate::seeds::{given, seed_of_run};
use runtime::fem::{FemFile, Mesh, holds_mesh};
use runtime::file_reference::mesh_and_array;
use runtime::simd::Real;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fem/files/pieces")
}

fn read(name: &str) -> Result<FemFile, String> {
    FemFile::read(&directory().join(name)).map_err(|e| e.to_string())
}

/// The sum of an array.
fn sum(file: &FemFile, array: &str) -> f64 {
    let array = file.arrays.iter().find(|a| a.name == array).unwrap();
    array.values.iter().sum()
}

/// Says that a file has sixteen cubes, and the linear function plus a time on them.
fn is_block(name: &str, time: f64) {
    let file = read(name).unwrap();
    assert_eq!((file.cells.len(), file.points.len()), (16, 45), "{name}");
    assert_eq!(sum(&file, "c"), 120.0, "{name}");
    let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
    assert!(mesh.notes().is_empty(), "{name}: {:?}", mesh.notes());
    let mut random = Random(3);
    for _ in 0..200 {
        let x = [4.0, 2.0, 2.0].map(|size| size * random.unit());
        let got = probe(&mesh, &file, &x);
        assert!((got[0] - linear(x) - time).abs() < 1e-13, "{name} {got:?}");
        let found = mesh.locate(&x, None).unwrap();
        for hint in 0..16 {
            assert_eq!(mesh.locate(&x, Some(hint)), Some(found), "{name}");
        }
    }
}

#[test]
fn pieces_become_one_mesh_without_ghosts() {
    is_block("ghosts.pvtu", 0.0);
    is_block("one.pvd", 0.0);
    let parts = ["ghosts_0.vtu", "ghosts_1.vtu"].map(|name| read(name).unwrap());
    assert_eq!(parts.map(|part| part.cells.len()), [12, 12]);
}

#[test]
fn meshes_are_known_by_their_first_bytes() {
    let is_mesh = |name: &str| holds_mesh(&directory().join(name));
    for name in [
        "ghosts.pvtu",
        "t0_0.vtu",
        "times.pvd",
        "times.pvd#1",
        "times.pvd@0.5#c",
        "series.xdmf",
        "mixed-xml.xdmf",
        "curved.vts",
        "along.vtr",
        "t0_0.vtu#c",
    ] {
        assert!(is_mesh(name), "{name}");
    }
    for file in crate::foreign::files().iter().filter(|file| file.is_file()) {
        assert!(holds_mesh(file), "{file:?}");
    }
    for name in ["series.h5", "missing.vtu", "../../../files/vtk-text.vti"] {
        assert!(!is_mesh(name), "{name}");
    }
    for name in ["vtk-scalars-text.vtk", "vtk-points-text.vtp", "itk.dcm"] {
        assert!(!is_mesh(&format!("../../../files/{name}")), "{name}");
    }
}

#[test]
fn a_missing_array_is_named_with_those_that_there_are() {
    let file = read("t0_0.vtu").unwrap();
    assert_eq!(file.array("c").unwrap().name, "c");
    let error = file.array("d").unwrap_err().to_string();
    assert!(error.contains("no array `d`; there are"), "{error}");
}

#[test]
fn one_time_of_a_collection_is_chosen() {
    let error = read("times.pvd").unwrap_err();
    for part in ["has 3 times: 0, 0.5, 1", "FILE#0", "FILE@0.5"] {
        assert!(error.contains(part), "{error}");
    }
    is_block("times.pvd#1", 0.5);
    is_block("times.pvd@1.0", 1.0);
    let error = read("times.pvd@0.7").unwrap_err();
    assert!(error.contains("no time 0.7; it has 3"), "{error}");
    let error = read("times.pvd#3").unwrap_err();
    assert!(error.contains("no time number 3"), "{error}");
    for (name, file, array) in [
        ("a.pvd#1", "a.pvd#1", None),
        ("a.pvd#1#u", "a.pvd#1", Some("u")),
        ("a.pvd@0.5#u", "a.pvd@0.5", Some("u")),
        ("a.pvd#u", "a.pvd", Some("u")),
        ("a.vtu#1", "a.vtu", Some("1")),
    ] {
        assert_eq!(mesh_and_array(Path::new(name)), (Path::new(file), array));
    }
}

#[test]
fn xdmf_has_numbers_in_text_or_hdf5() {
    for (name, time) in [
        ("mixed-xml.xdmf", 0.0),
        ("mixed-hdf.xdmf", 0.0),
        ("series.xdmf#0", 0.0),
        ("series.xdmf@0.5", 0.5),
    ] {
        let file = read(name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((file.cells.len(), file.points.len()), (3, 14), "{name}");
        let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
        assert!(mesh.notes().is_empty(), "{name}: {:?}", mesh.notes());
        for x in [
            [0.5, 0.5, 0.5],
            [1.7, 0.2, 0.9],
            [0.5, 0.5, 1.5],
            [1.0, 0.5, 2.0],
        ] {
            let got = probe(&mesh, &file, &x);
            assert!((got[0] - linear(x) - time).abs() < 1e-13, "{name} {got:?}");
        }
        if time == 0.0 && !name.contains("series") {
            assert_eq!(sum(&file, "c"), 3.0, "{name}");
            let v = file.arrays.iter().find(|a| a.name == "v").unwrap();
            assert_eq!(v.components, 3, "{name}");
            // The sum that meshio gives.
            assert!((sum(&file, "v") - SUM_OF_V).abs() < 1e-12, "{name}");
        }
    }
    let error = read("series.xdmf").unwrap_err();
    assert!(error.contains("has 2 times: 0, 0.5"), "{error}");
}

const SUM_OF_V: f64 = 86.8;

#[test]
fn damaged_files_never_panic() {
    let mut random = Random(seed_of_run());
    let attempts = given("DAMAGED").unwrap_or(500);
    let place = std::env::temp_dir().join(format!("diderot-pieces-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    for entry in std::fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, place.join(path.file_name().unwrap())).unwrap();
    }
    for (main, victims) in [
        (
            "ghosts.pvtu",
            &["ghosts.pvtu", "ghosts_0.vtu", "ghosts_1.vtu"][..],
        ),
        ("times.pvd#1", &["times.pvd", "t1_0.vtu"]),
        ("curved.vts", &["curved.vts"]),
        ("along.vtr", &["along.vtr"]),
        ("mixed-xml.xdmf", &["mixed-xml.xdmf"]),
        ("mixed-hdf.xdmf", &["mixed-hdf.xdmf", "mixed-hdf.h5"]),
        ("series.xdmf#1", &["series.xdmf", "series.h5"]),
    ] {
        for attempt in 0..attempts {
            let victim = place.join(victims[random.below(victims.len())]);
            let whole = std::fs::read(&victim).unwrap();
            let mut bytes = whole.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = match attempt % 3 {
                    0 => b'0' + random.below(10) as u8,
                    _ => random.next() as u8,
                };
            }
            if attempt % 5 == 0 {
                bytes.truncate(random.below(whole.len()));
            }
            std::fs::write(&victim, &bytes).unwrap();
            if let Ok(file) = FemFile::read(&place.join(main)) {
                let _ = Mesh::new(&file, 3, Real::F64);
            }
            std::fs::write(&victim, &whole).unwrap();
        }
    }
    std::fs::remove_dir_all(&place).unwrap();
}

#[test]
fn structured_grids_are_meshes_of_hexahedra_and_quadrilaterals() {
    // The last numbers are the sums that VTK gives.
    for (name, dim, count, points, x, total) in [
        ("curved.vts", 3, 12, 36, [1.7, 0.9, 1.1], 265.5),
        ("flat.vts", 2, 6, 12, [1.7, 0.9, 0.0], 51.6),
        ("along.vtr", 3, 12, 36, [1.7, 0.9, 1.1], 170.7),
    ] {
        let file = read(name).unwrap_or_else(|e| panic!("{e}"));
        let found = (file.cells.len(), file.points.len());
        assert_eq!(found, (count, points), "{name}");
        let mesh = Mesh::new(&file, dim, Real::F64).unwrap();
        assert!(mesh.notes().is_empty(), "{name}: {:?}", mesh.notes());
        let got = probe(&mesh, &file, &x)[0];
        assert!((got - linear(x)).abs() < 1e-13, "{name}: {got}");
        assert_eq!(sum(&file, "c"), (count * (count - 1) / 2) as f64, "{name}");
        assert!((sum(&file, "u") - total).abs() < 1e-9, "{name}");
    }
}
