//! Files: one mesh in every format, damaged files, and the messages for files that cannot be read.

use crate::meshes::Random;
use crate::reference::data;
use crate::seeds::{given, seed_of_run};
use runtime::fem::{Choice, FemFile, FemValues, Mesh};
use runtime::simd::Real;

#[test]
fn one_mesh_in_every_format_is_the_same() {
    let first = FemFile::read(&data("tri-p2-curved.vtu")).unwrap();
    for name in [
        "tri-p2-curved.vtk",
        "tri-p2-curved-binary.vtk",
        "tri-p2-curved-v2.msh",
        "tri-p2-curved-v4.msh",
    ] {
        let file = FemFile::read(&data(name)).unwrap();
        assert_eq!(file.cells.len(), first.cells.len(), "{name}");
        assert_eq!(file.connectivity, first.connectivity, "{name}");
        assert_eq!(file.arrays.len(), 2, "{name}");
        let digits = if name.ends_with("curved.vtk") {
            1e-11
        } else {
            1e-15
        };
        for (a, b) in file.points.iter().zip(first.points.iter()) {
            assert!((0..3).all(|i| (a[i] - b[i]).abs() <= digits), "{name}");
        }
        for array in &file.arrays {
            let same = first
                .arrays
                .iter()
                .find(|other| other.name == array.name)
                .unwrap();
            assert_eq!(array.place, same.place);
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 4.0 * digits;
            assert!(array.values.iter().zip(&same.values).all(near), "{name}");
        }
    }
}

#[test]
fn damaged_files_are_told_and_never_panic() {
    let mut random = Random(seed_of_run());
    let files = crate::foreign::files();
    let wanted = given("DAMAGED").map(|all| (all as usize).div_ceil(files.len()));
    // Every encoding; large files get fewer attempts.
    for path in files {
        let whole = std::fs::read(&path).unwrap();
        let dim = if path.display().to_string().contains("tri") {
            2
        } else {
            3
        };
        let attempts = wanted.unwrap_or_else(|| (400_000 / whole.len()).clamp(1, 100));
        let attempt = |bytes: &[u8]| {
            if let Ok(file) = FemFile::parse(bytes) {
                let _ = Mesh::new(&file, dim, Real::F64).map(|mesh| {
                    let choice = Choice {
                        array: None,
                        variable: "u",
                        shape: &[],
                    };
                    let _ = FemValues::new(&mesh, &file, &choice);
                    let _ = mesh.locate(&[0.3, 0.4, 0.1], None);
                });
            }
        };
        for cut in (0..whole.len()).step_by(37.max(whole.len() / attempts)) {
            attempt(&whole[..cut]);
        }
        for _ in 0..attempts {
            let mut bytes = whole.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
            attempt(&bytes);
        }
        // Text is damaged where it says most.
        for digit in (0..whole.len())
            .filter(|&n| whole[n].is_ascii_digit())
            .take(40)
        {
            let mut bytes = whole.clone();
            bytes[digit] = b'9';
            bytes.insert(digit, b'9');
            attempt(&bytes);
        }
    }
}

fn error_of(bytes: &[u8]) -> String {
    FemFile::parse(bytes).unwrap_err().to_string()
}

#[test]
fn errors_name_what_is_wrong_and_a_remedy() {
    let whole = std::fs::read_to_string(data("tri-p1.vtu")).unwrap();
    let zlib = whole.replacen(
        "<VTKFile ",
        "<VTKFile compressor=\"vtkLZMADataCompressor\" ",
        1,
    );
    assert!(
        error_of(zlib.as_bytes()).contains("compressed with LZMA\nhelp: write the file with zlib")
    );
    assert!(error_of(b"\x89HDF\r\n").contains("name the file `.xdmf`"));
    let hybrid = "# vtk DataFile Version 4.2\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n42\n";
    assert!(error_of(hybrid.as_bytes()).contains("cells of type 42 (polyhedron)"));
    let strip = error_of(hybrid.replace("\n42", "\n6").as_bytes());
    for part in [
        "6 (triangle strip)",
        "tetrahedron (10, 24, 71)",
        "hexahedron (12, 11, 29, 25, 72)",
        "mesh.triangulate()",
    ] {
        assert!(strip.contains(part), "{strip}");
    }
    let pieces = "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid><Piece Source=\"a.vtu\"/>";
    let pieces = error_of(pieces.as_bytes());
    for part in [
        "of type `PUnstructuredGrid`",
        "pyvista.read('FILE').save('FILE.vtu')",
    ] {
        assert!(pieces.contains(part), "{pieces}");
    }
    let surface = error_of(b"<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"3\">");
    assert!(surface.contains("vec3[]"), "{surface}");
    let few = error_of(hybrid.replace("\n42", "\n11").as_bytes());
    assert!(few.contains("cells of type 11 with 4 points"), "{few}");
    // Cut off behind each tag.
    let heads = whole.match_indices('>').map(|(at, _)| &whole[..at + 1]);
    for head in heads.take(4) {
        let error = error_of(head.as_bytes());
        assert!(!error.contains("expected `UnstructuredGrid`"), "{error}");
    }
    let bad = hybrid
        .replace("4 0 1 2 3", "4 0 1 2 9")
        .replace("\n42", "\n10");
    assert!(error_of(bad.as_bytes()).contains("cell 0 names point 9 of 4"));
    let grid = hybrid.replace("UNSTRUCTURED_GRID", "STRUCTURED_POINTS");
    assert!(error_of(grid.as_bytes()).contains("expected `UNSTRUCTURED_GRID`"));
    let file = FemFile::read(&data("tet-p2-vector.vtu")).unwrap();
    let mesh = Mesh::new(&file, 3, Real::F64).unwrap();
    let message = |choice: Choice<'_>| {
        FemValues::new(&mesh, &file, &choice)
            .unwrap_err()
            .to_string()
    };
    let choice = Choice {
        array: Some("T"),
        variable: "g",
        shape: &[],
    };
    assert!(message(choice).contains("no array `T`; there are `poly` [3], `wave` [3]"));
    let choice = Choice {
        array: Some("wave"),
        variable: "g",
        shape: &[],
    };
    assert!(
        message(choice)
            .contains("array `wave` has 3 components, but a value of shape [] has 1 component")
    );
    let choice = Choice {
        array: None,
        variable: "g",
        shape: &[3],
    };
    assert!(message(choice).contains("several arrays fit"));
    let choice = Choice {
        array: None,
        variable: "wave",
        shape: &[3],
    };
    assert!(FemValues::new(&mesh, &file, &choice).is_ok());
    assert!(
        Mesh::new(&file, 2, Real::F64)
            .unwrap_err()
            .to_string()
            .contains("cells in space")
    );
    let mut broken = file.clone();
    broken.arrays[0].values[36] = f64::NAN;
    let choice = Choice {
        array: Some(&file.arrays[0].name),
        variable: "",
        shape: &[3],
    };
    let error = FemValues::new(&mesh, &broken, &choice).unwrap_err();
    assert!(error.to_string().contains("NaN at node 12"), "{error}");
}

#[test]
fn pixels_and_voxels_have_their_nodes_along_the_axes() {
    let head = "# vtk DataFile Version 4.2\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n0 0 0 1 0 0 0 2 0 1 2 0 0 0 3 1 0 3 0 2 3 1 2 3\n";
    let values = "POINT_DATA 8\nSCALARS u double\nLOOKUP_TABLE default\n0 1 2 3 4 5 6 7\n";
    for (cells, dim, x, truth) in [
        (
            "CELLS 1 9\n8 0 1 2 3 4 5 6 7\nCELL_TYPES 1\n11\n",
            3,
            [0.25, 0.5, 1.5],
            2.75,
        ),
        (
            "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n8\n",
            2,
            [0.25, 0.5, 0.0],
            0.75,
        ),
    ] {
        let file = FemFile::parse(format!("{head}{cells}{values}").as_bytes()).unwrap();
        let mesh = Mesh::new(&file, dim, Real::F64).unwrap();
        assert_eq!(mesh.curved_cells(), 0);
        assert_eq!(crate::distorted::probe(&mesh, &file, &x)[0], truth);
    }
}
