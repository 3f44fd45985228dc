//! Arrays and axes of files: which of several arrays and frames are read, and the notes about the others.

use std::path::{Path, PathBuf};

use runtime::image::{Declared, Frames, Image, ImageError, Reading, describe};

/// A file that another tool wrote.
fn file(name: &str) -> PathBuf {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    files.join(name)
}

/// A directory of its own for the files of a test.
fn own_directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("formats-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// The first sample of an array of a file, by each component, and the notes about it.
fn first_sample(path: &Path, shape: &[usize]) -> Result<(Vec<f64>, Vec<String>), ImageError> {
    let loaded = Image::<f64>::read(path, 3, shape)?;
    let sample = |c| loaded.image.sample(c, &[0, 0, 0]).unwrap();
    let values = (0..loaded.image.components()).map(sample).collect();
    Ok((
        values,
        loaded.notes.iter().map(|n| n.text.clone()).collect(),
    ))
}

/// Checks a file with the arrays `w` of cells, and `p`, `T` and `vel` of points, whose first samples are 9, 1, 2 and (3, 4, 5).
fn arrays_can_be_chosen(path: &Path) {
    let named = |array: &str| PathBuf::from(format!("{}#{array}", path.display()));
    let (values, notes) = first_sample(path, &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(values, [1.0]);
    let told = |notes: &[String], word: &str| notes.iter().any(|note| note.contains(word));
    for word in ["`p` is read", "T", "vel", "w"] {
        assert!(told(&notes, word), "{word}: {notes:?}");
    }
    assert!(!told(&notes, "cells"), "{notes:?}");
    assert_eq!(first_sample(&named("T"), &[]).unwrap().0, [2.0]);
    vectors_can_be_chosen(path);
    assert_eq!(first_sample(&named("vel#1"), &[]).unwrap().0, [4.0]);
    let (values, notes) = first_sample(&named("w"), &[]).unwrap();
    assert_eq!(values, [9.0]);
    assert!(told(&notes, "cells"), "{notes:?}");
    let error = first_sample(path, &[3]).unwrap_err().to_string();
    assert!(error.contains("FILE#vel"), "{error}");
    let error = first_sample(&named("q"), &[]).unwrap_err().to_string();
    assert!(
        error.contains("no array `q`") && error.contains("`T`"),
        "{error}"
    );
}

fn vectors_can_be_chosen(path: &Path) {
    let named = PathBuf::from(format!("{}#vel", path.display()));
    assert_eq!(first_sample(&named, &[3]).unwrap().0, [3.0, 4.0, 5.0]);
}

#[test]
fn arrays_of_vtk_images_are_chosen_by_name() {
    let directory = own_directory("arrays");
    // The larger ones have more bytes before the last array than the beginning of a file that is looked at, on few lines.
    for side in [2, 64] {
        let count: usize = side * side * side;
        let numbers = |first: &[f32], count: usize| -> Vec<f32> {
            let rest = first.iter().cycle().take(first.len() * count);
            rest.copied().collect()
        };
        let cells = (side - 1).pow(3);
        let arrays = [
            ("w", numbers(&[9.0], cells)),
            ("p", numbers(&[1.0], count)),
            ("T", numbers(&[2.0], count)),
            ("vel", numbers(&[3.0, 4.0, 5.0], count)),
        ];
        let text = |values: &[f32]| -> String {
            let words: Vec<String> = values.iter().map(f32::to_string).collect();
            words.join(" ")
        };
        let xml = |(name, values): &(&str, Vec<f32>)| {
            let components = if *name == "vel" { 3 } else { 1 };
            format!(
                "<DataArray type=\"Float32\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"ascii\">{}</DataArray>",
                text(values)
            )
        };
        let last = side - 1;
        let vti = format!(
            "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 {last} 0 {last} 0 {last}\"><Piece>\
             <CellData>{}</CellData><PointData Scalars=\"p\">{}</PointData></Piece></ImageData></VTKFile>",
            xml(&arrays[0]),
            arrays[1..].iter().map(xml).collect::<String>()
        );
        let path = directory.join(format!("a{side}.vti"));
        std::fs::write(&path, vti).unwrap();
        if side == 2 {
            arrays_can_be_chosen(&path);
        } else {
            // Past the beginning of the file, only a requested array is searched for.
            vectors_can_be_chosen(&path);
        }
        for is_text in [true, false] {
            let form = if is_text { "ASCII" } else { "BINARY" };
            let mut file = format!(
                "# vtk DataFile Version 3.0\ntitle\n{form}\nDATASET STRUCTURED_POINTS\nDIMENSIONS {side} {side} {side}\n\
                 SPACING 1 1 1\nORIGIN 0 0 0\nCELL_DATA {cells}\n"
            )
            .into_bytes();
            let mut add = |head: String, values: &[f32]| {
                file.extend(head.into_bytes());
                match is_text {
                    true => file.extend(text(values).into_bytes()),
                    false => file.extend(values.iter().flat_map(|x| x.to_be_bytes())),
                }
                file.extend(b"\n");
            };
            add(
                "SCALARS w float\nLOOKUP_TABLE default\n".to_string(),
                &arrays[0].1,
            );
            add(
                format!(
                    "METADATA\nINFORMATION 0\n\nPOINT_DATA {count}\nSCALARS p float 1\nLOOKUP_TABLE default\n"
                ),
                &arrays[1].1,
            );
            add(
                format!("FIELD FieldData 1\nT 1 {count} float\n"),
                &arrays[2].1,
            );
            add("VECTORS vel float\n".to_string(), &arrays[3].1);
            let path = directory.join(format!("a{side}-{form}.vtk"));
            std::fs::write(&path, file).unwrap();
            arrays_can_be_chosen(&path);
        }
    }
    for (name, format) in [
        ("itk-scalar.nrrd#p", "NRRD"),
        ("itk-scalar.nii.gz#p", "NIfTI"),
    ] {
        let error = Image::<f32>::read(&file(name), 3, &[]).map(|_| ());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&format!("{format} has only one")), "{error}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
#[cfg(unix)]
fn frames_and_arrays_are_chosen_of_files_whose_names_are_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let directory = own_directory("bytes");
    let path = |name: &[u8]| directory.join(std::ffi::OsStr::from_bytes(name));
    std::fs::copy(file("itk-frames.mha"), path(b"a\xff.mha")).unwrap();
    assert!(Image::<f32>::read(&path(b"a\xff.mha#2"), 3, &[]).is_ok());
    let text = "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 0 0 0\"><Piece><PointData>\
                <DataArray type=\"Float32\" Name=\"a\" format=\"ascii\">0 1</DataArray>\
                </PointData></Piece></ImageData></VTKFile>";
    std::fs::write(path(b"a\xff.vti"), text).unwrap();
    assert!(Image::<f32>::read(&path(b"a\xff.vti#a"), 3, &[]).is_ok());
    let error = Image::<f32>::read(&path(b"a\xff.vti#b"), 3, &[]).map(|_| ());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("a\\xff.vti") && error.contains("no array `b`"),
        "{error}"
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn data_of_vtk_that_are_not_an_image_come_with_advice_of_their_own() {
    for (kind, advice) in [
        ("UnstructuredGrid", "fem#k"),
        ("PUnstructuredGrid", "save('FILE.vtu')"),
        ("PolyData", "vec3[]"),
        ("Collection", "one of those that it names"),
        ("vtkMultiBlockDataSet", "combine()"),
        ("StructuredGrid", "fem#k"),
        ("RectilinearGrid", "fem#k"),
        ("Table", "ParaView"),
    ] {
        let text = format!("<VTKFile type=\"{kind}\"><{kind}><Piece/></{kind}></VTKFile>");
        let error =
            Image::<f32>::from_bytes(text.as_bytes(), Declared::new(3, &[]), &Reading::default());
        let error = error.map(|_| ()).unwrap_err().to_string();
        let advice = advice.replace("FILE", "");
        assert!(error.contains(kind) && error.contains(&advice), "{error}");
    }
    let error = Image::<f32>::from_bytes(b"hello", Declared::new(3, &[]), &Reading::default());
    let error = error.map(|_| ()).unwrap_err().to_string();
    for format in ["NRRD", ".vtu", ".msh"] {
        assert!(error.contains(format), "{error}");
    }
}

/// A file of NumPy with zeros.
fn npy(shape: &str, count: usize) -> Vec<u8> {
    let head = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let length = (head.len() as u16).to_le_bytes();
    [
        b"\x93NUMPY\x01\0",
        &length[..],
        head.as_bytes(),
        &vec![0; count],
    ]
    .concat()
}

#[test]
fn arrays_of_numpy_are_told_of_in_the_words_of_numpy() {
    let directory = own_directory("numpy");
    let write = |name: &str, shape: &str, count: usize| {
        let path = directory.join(name);
        std::fs::write(&path, npy(shape, count)).unwrap();
        path
    };
    let notes = |path: &Path, shape: &[usize]| -> Vec<String> {
        let loaded = Image::<f32>::read(path, 3, shape).unwrap_or_else(|e| panic!("{e}"));
        loaded.notes.iter().map(|n| n.text.clone()).collect()
    };
    // Components behind the grid are usual, and the file cannot say more.
    let vectors = write("v.npy", "4, 5, 6, 3", 360);
    assert_eq!(notes(&vectors, &[3]), [""; 0]);
    let before = write("b.npy", "3, 4, 5, 6", 360);
    assert_eq!(
        notes(&before, &[3]),
        ["axis 0 of size 3 is taken as components"]
    );
    let either = write("e.npy", "3, 4, 5, 3", 180);
    assert_eq!(
        notes(&either, &[3]),
        ["axis 3 of size 3 is taken as components (the first would fit as well)"]
    );
    let matrices = write("m.npy", "4, 5, 6, 3, 3", 1080);
    let description = describe(&matrices).unwrap();
    assert_eq!(
        description.declare("m").as_deref(),
        Some("input image(3)[3,3] m;")
    );
    let error = Image::<f32>::read(&vectors, 3, &[])
        .map(|_| ())
        .unwrap_err();
    assert!(
        error.to_string().contains("if axis 3 holds components"),
        "{error}"
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn halves_of_symmetric_matrices_are_described() {
    let directory = own_directory("halves");
    let path = directory.join("six.nrrd");
    let text = "NRRD0004\ntype: uchar\ndimension: 4\nsizes: 6 1 1 2\nkinds: list space space space\nencoding: ascii\n\n\
                1 2 3 4 5 6 7 8 9 10 11 12";
    std::fs::write(&path, text).unwrap();
    let described = describe(&path).unwrap();
    assert_eq!(
        described.declare("six").as_deref(),
        Some("input image(3)[6] six;")
    );
    assert!(
        described
            .notes
            .iter()
            .any(|n| n.text.contains("image(3)[3,3]")),
        "{:?}",
        described.notes
    );
    let nifti = describe(&file("nibabel-symmetric.nii")).unwrap();
    assert_eq!(
        nifti.declare("t").as_deref(),
        Some("input image(3)[3,3] t;")
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn several_axes_beside_the_grid_are_told_of() {
    let header = "NRRD0005\ntype: uchar\ndimension: 5\nsizes: 2 2 2 3 4\nkinds: domain domain domain list time\nencoding: raw\n\n";
    let file = [header.as_bytes(), &[0; 96]].concat();
    for (frames, declare) in [
        (None, "declare image(3,time)[3]"),
        (Some(Frames::One(0)), "declare image(3)[12]"),
    ] {
        let reading = Reading {
            frames,
            ..Reading::default()
        };
        let error = Image::<f32>::from_bytes(&file, Declared::new(3, &[]), &reading).map(|_| ());
        let error = error.unwrap_err().to_string();
        for part in [declare, "the 3 of axis 3", "the 4 of axis 4"] {
            assert!(error.contains(part), "{frames:?}: {error}");
        }
    }
}
