//! Images of many formats through the command: the same place has the same value in every format, and the descriptions and messages
//! about files.

use crate::commands::{diderotc, directory, stderr, stdout, write};
use runtime::image::Image;
use std::path::{Path, PathBuf};

/// A file that another tool wrote.
fn file(name: &str) -> String {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/tests/files");
    files.join(name).display().to_string()
}

/// Rows of what the tools say of a file: `world` or `value`, and the numbers for each index.
fn expected(block: &str, what: &str) -> Vec<(Vec<f64>, Vec<f64>)> {
    let text = std::fs::read_to_string(file("expected.txt")).expect("what the tools say");
    let found = text.split("\n\n").find(|b| b.lines().next() == Some(block));
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace()
            .map(|word| word.parse().expect("a number"))
            .collect()
    };
    let rows = found.unwrap_or_else(|| panic!("{block}")).lines();
    rows.filter_map(|line| line.strip_prefix(what)?.split_once(" : "))
        .map(|(index, row)| (numbers(index), numbers(row)))
        .collect()
}

/// The numbers that a run writes, and its messages.
#[track_caller]
fn run(dir: &Path, program: &str, words: &[&str]) -> (Vec<f64>, String) {
    let words = [&[program, "--double", "-o", "out.txt"], words].concat();
    let output = diderotc(dir, &words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    let text = std::fs::read_to_string(dir.join("out.txt")).expect("an output");
    let numbers = text
        .split_whitespace()
        .map(|w| w.parse().expect("a number"));
    (numbers.collect(), stderr(&output))
}

#[track_caller]
fn refused(dir: &Path, words: &[&str]) -> String {
    let output = diderotc(dir, words);
    assert!(!output.status.success(), "{words:?}");
    stderr(&output)
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + b.abs());
    found.len() == wanted.len() && found.iter().zip(wanted).all(near)
}

fn text(numbers: &[f64]) -> String {
    let words: Vec<String> = numbers.iter().map(f64::to_string).collect();
    words.join(",")
}

const VECTORS: &str = "#version 2.0
input image(3)[3] vol;
input vec3 at;
field#0(3)[3] F = tent ⊛ vol;
strand s (int i) { output vec3 v = i*F(at); update { stabilize; } }
create_array { s(i) | i in 1..1 }
";

/// The vector that the files of ITK have at an index, see `make.py`, interpolated linearly along each axis.
fn itk_vector(index: [f64; 3]) -> Vec<f64> {
    let mut sum = vec![0.0; 3];
    for corner in 0..8 {
        let (mut weight, mut a) = (1.0, 1.0);
        for (axis, step) in [1.0, 10.0, 100.0].into_iter().enumerate() {
            let (low, part) = (index[axis].floor(), index[axis].fract());
            let upper = corner >> axis & 1 == 1;
            weight *= if upper { part } else { 1.0 - part };
            a += step * if upper { low + 1.0 } else { low };
        }
        for (s, v) in sum.iter_mut().zip([a, -2.0 * a + 0.5, a * a]) {
            *s += weight * v;
        }
    }
    sum
}

/// The position of an index in the world of a file, from those of corners.
fn position(block: &str, index: [f64; 3]) -> Vec<f64> {
    let rows = expected(block, "world");
    let first = &rows[0].1;
    let mut at = first.clone();
    for (axis, &i) in index.iter().enumerate() {
        let along = |row: &&(Vec<f64>, Vec<f64>)| (0..3).all(|a| (row.0[a] != 0.0) == (a == axis));
        let (there, world) = rows.iter().find(along).expect("an index along the axis");
        for (x, (w, o)) in at.iter_mut().zip(world.iter().zip(first)) {
            *x += i / there[axis] * (w - o);
        }
    }
    at
}

#[test]
fn a_physical_point_has_one_value_in_all_formats() {
    let dir = directory("images-formats");
    write(&dir, "v.diderot", VECTORS);
    let rotated = [
        "itk-vector.nrrd",
        "itk-vector-gzip.nrrd",
        "itk-vector.nhdr",
        "itk-vector.mha",
        "itk-vector-zlib.mha",
        "itk-vector.mhd",
        "itk-vector-zlib.mhd",
        "itk-vector.nii",
        "itk-vector.nii.gz",
    ];
    for index in [[1.5, 1.25, 0.5], [0.25, 0.75, 0.125], [2.75, 1.875, 0.9375]] {
        let wanted = itk_vector(index);
        let check = |name: &str, at: &[f64]| {
            let words = ["-vol", &file(name), "-at", &text(at), "--world", "lps"];
            let (found, _) = run(&dir, "v.diderot", &words);
            assert!(close(&found, &wanted, 1e-4), "{name}: {found:?} {wanted:?}");
        };
        let at = position("file itk-vector.nrrd 3 3", index);
        rotated.iter().for_each(|name| check(name, &at));
        // This format cannot hold a rotation.
        check(
            "itk-vector.vtk",
            &position("file itk-vector.vtk 3 3", index),
        );
    }
}

#[test]
fn tensors_in_a_measurement_frame_have_the_eigenvectors_of_the_world() {
    let dir = directory("images-dti");
    let program = "#version 2.0
input image(3)[3,3] dti;
input vec3 at;
field#0(3)[3,3] F = tent ⊛ clamp(dti);
strand s (int i) {
    output vec4 v = [0, 0, 0, 0];
    update { vec3 e = evecs(F(at))[0]; v = i*[evals(F(at))[0], e[0], e[1], e[2]]; stabilize; }
}
create_array { s(i) | i in 1..1 }
";
    write(&dir, "e.diderot", program);
    let block = "file pynrrd-dti.nrrd 3 3,3";
    let (worlds, matrices) = (expected(block, "world"), expected(block, "value"));
    for ((_, at), (_, matrix)) in worlds.iter().zip(&matrices) {
        // The principal eigenvector by repeated multiplication of a matrix that has no negative eigenvalue.
        let shift: f64 = matrix.iter().map(|x| x.abs()).sum();
        let times = |v: &[f64]| -> Vec<f64> {
            let row = |r: usize| (0..3).map(|c| matrix[3 * r + c] * v[c]).sum::<f64>();
            (0..3).map(row).collect()
        };
        let mut v = vec![0.6, 0.64, 0.48];
        for _ in 0..20_000 {
            let next: Vec<f64> = times(&v)
                .iter()
                .zip(&v)
                .map(|(a, b)| a + shift * b)
                .collect();
            let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            v = next.iter().map(|x| x / length).collect();
        }
        let value: f64 = times(&v).iter().zip(&v).map(|(a, b)| a * b).sum();
        let words = ["-dti", &file("pynrrd-dti.nrrd"), "-at", &text(at)];
        let (found, said) = run(&dir, "e.diderot", &words);
        assert!(
            said.contains("the measurement frame is applied to `dti`"),
            "{said}"
        );
        let along: f64 = found[1..].iter().zip(&v).map(|(a, b)| a * b).sum();
        assert!(
            (found[0] - value).abs() < 1e-5 * value.abs(),
            "{found:?} {value}"
        );
        assert!((along.abs() - 1.0).abs() < 1e-9, "{found:?} {v:?}");
    }
    // Without the frame they are others.
    let words = [
        "-dti",
        &file("pynrrd-dti.nrrd"),
        "-at",
        &text(&worlds[0].1),
        "--measurement-frame",
        "ignore",
    ];
    let (found, said) = run(&dir, "e.diderot", &words);
    assert!(!said.contains("frame"), "{said}");
    assert!(found[3].abs() > 0.99, "{found:?}");
}

#[test]
fn outputs_of_a_program_are_read_back() {
    let dir = directory("images-back");
    let program = "#version 2.0
strand s (int i, int j, int k) {
    real x = real(100*i + 10*j + k);
    output real[2] two = {x, -x};
    output tensor[2,3] t = [[x, x + 0.125, x + 0.25], [x + 0.5, x + 1.0, x + 2.0]];
    update { stabilize; }
}
create_array { s(i, j, k) | i in 0..2, j in 0..3, k in 0..4 }
";
    write(&dir, "p.diderot", program);
    let output = diderotc(&dir, &["p.diderot"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let read = |name: &str, shape: &[usize]| {
        let loaded = Image::<f64>::read(&dir.join(name), 3, shape);
        let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
        assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
        loaded.image
    };
    let (two, t) = (read("two.nrrd", &[2]), read("t.nrrd", &[2, 3]));
    assert_eq!(two.sizes(), [5, 4, 3]);
    for [i, j, k] in [[0, 0, 0], [2, 3, 4], [1, 2, 3]] {
        let x = (100 * i + 10 * j + k) as f64;
        for (component, value) in [x, -x].into_iter().enumerate() {
            assert_eq!(two.sample(component, &[k, j, i]), Some(value));
        }
        let matrix = [0.0, 0.125, 0.25, 0.5, 1.0, 2.0];
        for (component, more) in matrix.into_iter().enumerate() {
            assert_eq!(t.sample(component, &[k, j, i]), Some(x + more));
        }
    }
}

#[test]
fn files_that_do_not_fit_say_what_would() {
    let dir = directory("images-errors");
    write(&dir, "v.diderot", VECTORS);
    let error = refused(
        &dir,
        &["v.diderot", "-vol", &file("itk-scalar.mha"), "-at", "0,0,0"],
    );
    assert!(
        error.contains(&format!(
            "error: -vol {}: 3 axes (4 × 3 × 2)",
            file("itk-scalar.mha")
        )),
        "{error}"
    );
    assert!(
        error.contains("\nhelp: declare `input image(3)[] vol;`"),
        "{error}"
    );
    let error = refused(
        &dir,
        &["v.diderot", "-vol", &file("itk.dcm"), "-at", "0,0,0"],
    );
    assert!(
        error.contains("itk.dcm: 2 axes (5 × 4), but image(3)[3] wants 3 axes"),
        "{error}"
    );
    let error = refused(
        &dir,
        &[
            "v.diderot",
            "-vol",
            &file("itk-frames.nii.gz#7"),
            "-at",
            "0,0,0",
        ],
    );
    assert!(error.contains("frame"), "{error}");
    // A file that the program names is shown where it is named.
    let loads = VECTORS.replace(
        "input image(3)[3] vol;",
        "image(3)[3] vol = load_image(\"none.nii\");",
    );
    write(&dir, "l.diderot", &loads);
    let error = refused(&dir, &["l.diderot", "-at", "0,0,0"]);
    assert!(
        error.contains("none.nii: No such file") && error.contains("l.diderot:2:"),
        "{error}"
    );
}

#[test]
fn what_was_decided_is_noted_unless_nobody_wants_to_know() {
    let dir = directory("images-notes");
    write(&dir, "v.diderot", VECTORS);
    let name = file("pynrrd-last.nrrd");
    let words = ["-vol", &name, "-at", "1,1,0.5"];
    let (_, said) = run(&dir, "v.diderot", &words);
    let note = format!("note: -vol {name}: axis 3 of size 3 is taken as components");
    assert!(said.contains(&note), "{said}");
    let (_, said) = run(&dir, "v.diderot", &[&words[..], &["-q"]].concat());
    assert_eq!(said, "");
}

#[test]
fn images_of_different_worlds_are_a_warning_until_they_are_one() {
    let dir = directory("images-worlds");
    let program = "#version 2.0
input image(3)[] a;
input image(3)[] b;
input vec3 at;
field#0(3)[] A = tent ⊛ clamp(a);
field#0(3)[] B = tent ⊛ clamp(b);
strand s (int i) { output vec2 v = i*[A(at), B(at)]; update { stabilize; } }
create_array { s(i) | i in 1..1 }
";
    write(&dir, "w.diderot", program);
    let at = text(&position("file itk-scalar.nrrd 3 -", [1.25, 0.5, 0.25]));
    let (lps, ras) = (file("itk-scalar.nrrd"), file("itk-scalar.nii.gz"));
    let words = ["-a", &lps, "-b", &ras, "-at", &at];
    let (_, said) = run(&dir, "w.diderot", &words);
    assert!(
        said.contains(
            "warning: `a` is in the space left-posterior-superior, `b` in right-anterior-superior"
        ),
        "{said}"
    );
    // One of them is turned, or both.
    for world in [&["--world", "lps"][..], &["--world-b", "lps"]] {
        let (found, said) = run(&dir, "w.diderot", &[&words, world].concat());
        assert!(!said.contains("warning"), "{said}");
        assert!(
            close(&found, &[1.0 + 1.25 + 5.0 + 25.0; 2], 1e-4),
            "{found:?}"
        );
    }
}

#[test]
fn a_grid_lies_where_the_user_says() {
    let dir = directory("images-place");
    write(&dir, "v.diderot", VECTORS);
    let name = file("numpy-vectors.npy");
    let wanted = itk_vector([1.5, 1.25, 0.5]);
    let (found, _) = run(&dir, "v.diderot", &["-vol", &name, "-at", "1.5,1.25,0.5"]);
    assert!(close(&found, &wanted, 1e-6), "{found:?} {wanted:?}");
    for (place, at) in [
        ("spacing:2,0.5,10".to_string(), "3,0.625,5".to_string()),
        ("box:-2,-1.5,-1,2,1.5,1".to_string(), "0,0.25,0".to_string()),
        (
            "matrix:(0,1,0) (1,0,0) (0,0,-1) @ (10,20,30)".to_string(),
            "11.25,21.5,29.5".to_string(),
        ),
        (
            format!("like:{}", file("itk-scalar.mha")),
            text(&position("file itk-scalar.mha 3 -", [1.5, 1.25, 0.5])),
        ),
    ] {
        let words = ["-vol", &name, "--world-vol", &place, "-at", &at];
        let (found, _) = run(&dir, "v.diderot", &words);
        assert!(
            close(&found, &wanted, 1e-5),
            "{place}: {found:?} {wanted:?}"
        );
    }
}

#[test]
fn halves_of_matrices_are_what_the_user_says() {
    let dir = directory("images-halves");
    let program = "#version 2.0
input image(1)[3,3] m;
field#0(1)[3,3] M = tent ⊛ clamp(m);
strand s (int i) { output tensor[3,3] v = i*M(0.0); update { stabilize; } }
create_array { s(i) | i in 1..1 }
";
    write(&dir, "m.diderot", program);
    let array = "NRRD0001\ntype: short\ndimension: 2\nsizes: 6 2\nencoding: ascii\n\n1 2 3 4 5 6\n1 2 3 4 5 6\n";
    write(&dir, "m.nrrd", array);
    let error = refused(&dir, &["m.diderot", "-m", "m.nrrd"]);
    assert!(error.contains("`--symmetric-m upper`"), "{error}");
    let read = |words: &[&str]| run(&dir, "m.diderot", &[&["-m", "m.nrrd"], words].concat()).0;
    let upper = [1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0];
    let lower = [1.0, 2.0, 4.0, 2.0, 3.0, 5.0, 4.0, 5.0, 6.0];
    assert_eq!(read(&["--symmetric-m", "upper"]), upper);
    assert_eq!(read(&["--symmetric", "lower"]), lower);
}

#[test]
fn frames_are_chosen_by_name() {
    let dir = directory("images-frames");
    let program = VECTORS
        .replace("(3)[3]", "(3)[]")
        .replace("output vec3 v", "output real v");
    write(&dir, "f.diderot", &program);
    let at = text(&position("file itk-scalar.nrrd 3 -", [1.5, 1.25, 0.5]));
    for frame in 0..3 {
        let name: PathBuf = format!("{}#{frame}", file("itk-frames.nrrd")).into();
        let name = name.display().to_string();
        let (found, _) = run(&dir, "f.diderot", &["-vol", &name, "-at", &at]);
        let wanted = 1.0 + 1.5 + 12.5 + 50.0 + 1000.0 * f64::from(frame);
        assert!(close(&found, &[wanted], 1e-6), "{found:?} {wanted}");
    }
}

/// What a terminal would act on, in the words of files.
#[test]
fn words_of_files_are_shown_without_control_characters() {
    let dir = directory("images-controls");
    write(&dir, "vectors.diderot", VECTORS);
    let nrrd = |lines: &str| format!("NRRD0005\n{lines}\n");
    let array = "<DataArray type=\"Float32\" Name=\"\x1b[31mred\nwrote\" format=\"ascii\">0 0 0 0 0 0 0 0</DataArray>";
    let data = format!(
        "<PointData>{array}{}</PointData>",
        array.replace("red", "blue")
    );
    let grid = "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0</DataArray>";
    let cells = "<DataArray type=\"Int32\" Name=\"types\" format=\"ascii\">5</DataArray>\
                 <DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">3</DataArray>\
                 <DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2</DataArray>";
    let mesh = data.replace("0 0 0 0 0 0 0 0", "0 0 0");
    let files = [
        (
            "type.nrrd",
            nrrd("type: \x1b[31mfloat\ndimension: 1\nsizes: 1\nencoding: raw\n"),
        ),
        (
            "encoding.nrrd",
            nrrd("type: float\ndimension: 1\nsizes: 1\nencoding: \x1b]0;a\x07\n"),
        ),
        (
            "data.nhdr",
            nrrd("type: float\ndimension: 1\nsizes: 1\nencoding: raw\ndata file: \x1b[31m.raw\n"),
        ),
        (
            "units.nrrd",
            nrrd(
                "type: uchar\ndimension: 1\nsizes: 1\nspace dimension: 1\nspace units: \"\x1b[31mmm\"\n\
                             space directions: (1)\nspace origin: (0)\nencoding: ascii\n\n1",
            ),
        ),
        (
            "meta.mha",
            "NDims = 1\nDimSize = 1\nElementType = \x1b[31mMET_FLOAT\nElementDataFile = LOCAL\n"
                .to_string(),
        ),
        (
            "set.vtk",
            "# vtk DataFile Version 3.0\n\x1b[31mtitle\nASCII\nDATASET \x1b[31mPOINTS\n"
                .to_string(),
        ),
        (
            "arrays.vti",
            format!(
                "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 1\"><Piece>{data}</Piece></ImageData></VTKFile>"
            ),
        ),
        (
            "arrays.vtu",
            format!(
                "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"3\" NumberOfCells=\"1\">\
                                <Points>{grid}</Points><Cells>{cells}</Cells>{mesh}</Piece></UnstructuredGrid></VTKFile>"
            ),
        ),
        ("unknown.txt", "\x1b[31mred".to_string()),
    ];
    for (name, text) in &files {
        assert!(text.contains('\x1b'));
        write(&dir, name, text);
        for words in [
            vec!["info", name],
            vec!["vectors.diderot", "-at", "0", "0", "0", "-vol", name],
        ] {
            let output = diderotc(&dir, &words);
            let told = stdout(&output) + &stderr(&output);
            assert!(
                told.contains(*name) || told.contains(".raw"),
                "{words:?}: {told}"
            );
            let is_told = |c: char| !c.is_control() || c == '\n';
            assert!(told.chars().all(is_told), "{words:?}: {told:?}");
            assert!(
                !told.lines().any(|line| line.starts_with("wrote")),
                "{words:?}: {told}"
            );
        }
    }
}

#[test]
fn info_shows_the_first_parts_of_a_file_with_very_many() {
    let dir = directory("images-many");
    for (name, count) in [("many.zarr", 45), ("more.zarr", 700)] {
        let group = dir.join(name);
        for n in 0..count {
            let array = group.join(format!("a{n:03}"));
            std::fs::create_dir_all(&array).unwrap();
            let header = r#"{"zarr_format":2,"shape":[2,3],"chunks":[2,3],"dtype":"|u1","compressor":null,"fill_value":7,"filters":null,"order":"C"}"#;
            std::fs::write(array.join(".zarray"), header).unwrap();
        }
        std::fs::write(group.join(".zgroup"), r#"{"zarr_format":2}"#).unwrap();
    }
    let told = stdout(&diderotc(&dir, &["info", "more.zarr"]));
    assert_eq!(told.matches("  declare").count(), 8, "{told}");
    assert!(told.contains("more.zarr: 692 more parts"), "{told}");
    let told = stdout(&diderotc(&dir, &["info", "many.zarr"]));
    assert_eq!(told.matches("  declare").count(), 40, "{told}");
    assert!(told.contains("many.zarr: 5 more parts"), "{told}");
    let told = stdout(&diderotc(&dir, &["info", "--json", "many.zarr"]));
    assert_eq!(told.lines().count(), 45);
}
