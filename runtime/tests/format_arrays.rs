//! Arrays and axes of files: which of several arrays is read, which frames, and what is said of those that were not asked for.

use std::path::{Path, PathBuf};

use runtime::image::{Frames, Image, ImageError, Reading, describe};

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
    assert_eq!(
        first_sample(&named("vel"), &[3]).unwrap().0,
        [3.0, 4.0, 5.0]
    );
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

#[test]
fn arrays_of_vtk_images_are_chosen_by_name() {
    let directory = own_directory("arrays");
    // More than the beginning of a file that is looked at.
    for side in [2, 50] {
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
            // Only what is asked for is looked for behind the beginning.
            let named = PathBuf::from(format!("{}#vel", path.display()));
            assert_eq!(first_sample(&named, &[3]).unwrap().0, [3.0, 4.0, 5.0]);
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
        ("StructuredGrid", "cast_to_unstructured_grid()"),
        ("RectilinearGrid", "cast_to_structured_grid()"),
        ("Table", "ParaView"),
    ] {
        let text = format!("<VTKFile type=\"{kind}\"><{kind}><Piece/></{kind}></VTKFile>");
        let error = Image::<f32>::from_bytes(text.as_bytes(), 3, &[], &Reading::default());
        let error = error.map(|_| ()).unwrap_err().to_string();
        let advice = advice.replace("FILE", "");
        assert!(error.contains(kind) && error.contains(&advice), "{error}");
    }
    let error = Image::<f32>::from_bytes(b"hello", 3, &[], &Reading::default());
    let error = error.map(|_| ()).unwrap_err().to_string();
    for format in ["NRRD", ".vtu", ".msh"] {
        assert!(error.contains(format), "{error}");
    }
}
