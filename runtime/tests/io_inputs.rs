//! Values of inputs from words, and sequences from files.

use std::path::{Path, PathBuf};

use runtime::input::sequence::{check_range, read_bools, read_ints, read_reals};
use runtime::input::{InputType, InputValue, IntWidth, parse_value};

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_string).collect()
}

fn parse(ty: &InputType, text: &str) -> Result<InputValue, String> {
    parse_value(ty, &words(text), IntWidth::Bits32)
}

fn seq(elem: InputType, len: Option<usize>) -> InputType {
    let elem = Box::new(elem);
    InputType::Seq { elem, len }
}

#[test]
fn integers_are_exact_or_refused() {
    for (text, value) in [
        ("0", 0),
        ("-1", -1),
        ("+7", 7),
        ("2147483647", 2147483647),
        ("-2147483648", -2147483648),
    ] {
        assert_eq!(
            parse(&InputType::Int, text),
            Ok(InputValue::Int(value)),
            "{text}"
        );
    }
    for text in ["2147483648", "-2147483649", "99999999999999999999999"] {
        let message = format!("found `{text}`, expected an integer from -2147483648 to 2147483647");
        assert_eq!(parse(&InputType::Int, text), Err(message));
    }
    for text in ["3.5", "1e3", "0x10", "", "-", "--1", "7 ", "pi", "½"] {
        let words = [text.to_string()];
        let message = format!("found `{text}`, expected an integer");
        assert_eq!(
            parse_value(&InputType::Int, &words, IntWidth::Bits32),
            Err(message)
        );
    }
    let long = |text: &str| parse_value(&InputType::Int, &words(text), IntWidth::Bits64);
    assert_eq!(long("-9223372036854775808"), Ok(InputValue::Int(i64::MIN)));
    assert!(
        long("9223372036854775808")
            .unwrap_err()
            .contains("to 9223372036854775807")
    );
}

#[test]
fn real_numbers_are_read_whole() {
    let rows = [
        ("1", 1.0),
        ("-0.25", -0.25),
        ("1e-3", 1e-3),
        ("inf", f64::INFINITY),
        ("-inf", f64::NEG_INFINITY),
        ("pi", std::f64::consts::PI),
        ("0x1.8p1", 3.0),
    ];
    for (text, value) in rows {
        assert_eq!(
            parse(&InputType::Real, text),
            Ok(InputValue::Real(value)),
            "{text}"
        );
    }
    assert!(matches!(parse(&InputType::Real, "nan"), Ok(InputValue::Real(x)) if x.is_nan()));
    assert_eq!(
        parse(&InputType::Real, "1/3"),
        Err("found `1/3`, expected a real number".to_string())
    );
}

#[test]
fn truth_values_have_twelve_spellings_in_any_case() {
    for (text, value) in [
        ("true false", [true, false]),
        ("T f", [true, false]),
        ("Yes NO", [true, false]),
        ("y n", [true, false]),
        ("on oFF", [true, false]),
        ("1 0", [true, false]),
    ] {
        let ty = seq(InputType::Bool, Some(2));
        let expected = value.map(InputValue::Bool).to_vec();
        assert_eq!(parse(&ty, text), Ok(InputValue::Seq(expected)), "{text}");
    }
    let error = parse(&InputType::Bool, "maybe").unwrap_err();
    assert!(
        error.starts_with("found `maybe`, expected a truth value (true, false"),
        "{error}"
    );
}

#[test]
fn tensors_and_sequences_of_every_shape_take_their_words_in_order() {
    let matrix = InputType::Tensor(vec![3, 3]);
    let nine: Vec<f64> = (1..=9).map(f64::from).collect();
    assert_eq!(
        parse(&matrix, "1 2 3 4 5 6 7 8 9"),
        Ok(InputValue::Tensor(nine))
    );
    assert_eq!(
        parse(&matrix, "1 2 3"),
        Err("found 3 values, expected 9 for type tensor[3,3]".to_string())
    );
    let pairs = seq(InputType::Tensor(vec![2]), Some(2));
    let expected = vec![
        InputValue::Tensor(vec![1.0, 2.0]),
        InputValue::Tensor(vec![3.0, 4.0]),
    ];
    assert_eq!(parse(&pairs, "1 2 3 4"), Ok(InputValue::Seq(expected)));
    let texts = seq(InputType::String, Some(2));
    let expected = vec![
        InputValue::String("a".to_string()),
        InputValue::String(String::new()),
    ];
    assert_eq!(parse(&texts, "a "), Ok(InputValue::Seq(expected)));
    let image = InputType::Image {
        dim: 3,
        timed: false,
        shape: vec![3, 3],
    };
    assert_eq!(
        parse(&image, "a.nrrd"),
        Ok(InputValue::File("a.nrrd".into()))
    );
    assert_eq!(
        parse(&seq(InputType::Int, None), "-"),
        Ok(InputValue::File("-".into()))
    );
}

#[test]
fn types_are_shown_as_programs_spell_them() {
    let rows = [
        (InputType::Tensor(vec![]), "real"),
        (InputType::Tensor(vec![3]), "vec3"),
        (InputType::Tensor(vec![5]), "tensor[5]"),
        (InputType::Tensor(vec![2, 3]), "tensor[2,3]"),
        (seq(InputType::Int, Some(4)), "int[4]"),
        (seq(InputType::Tensor(vec![2]), None), "vec2[]"),
        (
            InputType::Image {
                dim: 2,
                timed: false,
                shape: vec![],
            },
            "image(2)[]",
        ),
        (
            InputType::Image {
                dim: 3,
                timed: false,
                shape: vec![3, 3],
            },
            "image(3)[3,3]",
        ),
    ];
    for (ty, text) in rows {
        assert_eq!(ty.to_string(), text);
    }
}

/// A file with the given content that is removed afterwards.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, content: &str) -> TemporaryFile {
        let path = std::env::temp_dir().join(format!("sequence-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        TemporaryFile(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn nrrd(name: &str, ty: &str, sizes: &str, more: &str, data: &str) -> TemporaryFile {
    let dimension = sizes.split(' ').count();
    let text = format!(
        "NRRD0004\ntype: {ty}\ndimension: {dimension}\nsizes: {sizes}\n{more}encoding: ascii\n\n{data}\n"
    );
    TemporaryFile::new(name, &text)
}

#[test]
fn sequences_from_arrays_are_converted_by_meaning() {
    // Integers of four bytes are not taken for single-precision numbers of four bytes.
    let ints = nrrd("ints", "int", "3", "", "1 -2 3");
    assert_eq!(read_reals(&ints.0, 1), Ok(vec![1.0, -2.0, 3.0]));
    assert_eq!(read_ints(&ints.0, 1, IntWidth::Bits32), Ok(vec![1, -2, 3]));
    let floats = nrrd("floats", "float", "2 3", "", "1 2 3 4 5 6");
    assert_eq!(
        read_reals(&floats.0, 2),
        Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    assert_eq!(
        read_ints(&floats.0, 2, IntWidth::Bits32),
        Ok(vec![1, 2, 3, 4, 5, 6])
    );
    let bits = nrrd("bits", "uchar", "4", "", "1 0 0 1");
    assert_eq!(read_bools(&bits.0, 1), Ok(vec![true, false, false, true]));
}

#[test]
fn values_that_do_not_fit_the_wanted_type_are_refused() {
    let halves = nrrd("halves", "double", "2", "", "1 2.5");
    let error = read_ints(&halves.0, 1, IntWidth::Bits32).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("value 1 is 2.5, expected an integer"),
        "{error}"
    );
    let large = nrrd("large", "uint64", "2", "", "1 9223372036854775808");
    assert!(read_ints(&large.0, 1, IntWidth::Bits64).is_err());
    let wide = nrrd("wide", "int64", "1", "", "2147483648");
    assert!(read_ints(&wide.0, 1, IntWidth::Bits32).is_err());
    assert_eq!(
        read_ints(&wide.0, 1, IntWidth::Bits64),
        Ok(vec![2147483648])
    );
    let infinite = nrrd("infinite", "float", "1", "", "inf");
    assert!(read_ints(&infinite.0, 1, IntWidth::Bits64).is_err());
    let two = nrrd("two", "int", "1", "", "2");
    let error = read_bools(&two.0, 1).unwrap_err();
    assert!(
        error.to_string().contains("value 0 is 2, expected 0 or 1"),
        "{error}"
    );
}

#[test]
fn arrays_of_another_structure_fail_at_loading() {
    let rows = [
        (
            "a",
            "3 2",
            "",
            1,
            "array has sizes [3, 2], expected one axis",
        ),
        (
            "b",
            "6",
            "",
            2,
            "array has sizes [6], expected two axes, the first of size 2",
        ),
        ("c", "3 2", "", 2, "expected two axes, the first of size 2"),
        ("d", "1 2 3", "", 2, "expected two axes"),
        (
            "e",
            "6",
            "space dimension: 1\n",
            1,
            "space of dimension 1, expected no space",
        ),
    ];
    for (name, sizes, more, components, part) in rows {
        let file = nrrd(name, "int", sizes, more, "1 2 3 4 5 6");
        let error = read_reals(&file.0, components).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        assert!(
            error.to_string().starts_with(&file.0.display().to_string()),
            "{error}"
        );
    }
    let error = read_reals(&PathBuf::from("no/such/file"), 1).unwrap_err();
    assert!(error.to_string().starts_with("no/such/file: "), "{error}");
}

#[test]
fn numbers_in_text_are_sequences() {
    let column = TemporaryFile::new("column", "# lengths\n1\n2.5\n\n-3e1\n");
    assert_eq!(read_reals(&column.0, 1), Ok(vec![1.0, 2.5, -30.0]));
    let row = TemporaryFile::new("row", "1, 2, 3");
    assert_eq!(read_reals(&row.0, 1), Ok(vec![1.0, 2.0, 3.0]));
    assert_eq!(read_ints(&row.0, 3, IntWidth::Bits32), Ok(vec![1, 2, 3]));
    let table = TemporaryFile::new("table", "1 2\t3\r\n4 5 6\r\n");
    assert_eq!(
        read_reals(&table.0, 3),
        Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    let error = read_reals(&table.0, 2).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with(":1: line has 3 values, expected 2"),
        "{error}"
    );
    let words = TemporaryFile::new("words", "1 2\n3 x\n");
    let error = read_reals(&words.0, 2).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with(":2: found `x`, expected a number"),
        "{error}"
    );
    let empty = TemporaryFile::new("empty", "");
    assert_eq!(read_reals(&empty.0, 2), Ok(vec![]));
}

#[test]
fn commas_that_may_be_those_of_decimals_are_refused() {
    for (text, components, found) in [
        ("1,2,3", 1, Some(3)),
        ("1, 2, 3", 1, Some(3)),
        ("1 , 2", 1, Some(2)),
        ("1,2", 1, Some(2)),
        ("1.5,2.5\n3.5,4.5\n", 1, Some(4)),
        ("x,y\n1,5\n2,5\n", 2, Some(4)),
        ("1,2\n3,4\n", 2, Some(4)),
        ("1,5 2,5", 1, None),
        ("# decimals\n\n1.5 -2,5\n", 1, None),
        ("1,5\n2,5\n-3,25\n", 1, None),
        ("1,5 2,5\n", 4, None),
        ("1,5 2,5\n", 2, None),
    ] {
        let file = TemporaryFile::new("commas", text);
        let read = read_reals(&file.0, components);
        assert_eq!(
            read.as_ref().ok().map(Vec::len),
            found,
            "{text:?}: {read:?}"
        );
        if let Err(error) = read {
            assert!(error.to_string().contains("one number or two"), "{error}");
        }
    }
}

#[test]
fn numbers_that_would_become_infinite_are_refused() {
    let file = TemporaryFile::new("large", "1\n1e39\ninf\n");
    let values = read_reals(&file.0, 1).expect("numbers");
    assert_eq!(values, [1.0, 1e39, f64::INFINITY]);
    assert_eq!(check_range(&file.0, &values, true), Ok(()));
    let error = check_range(&file.0, &values, false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("value 1 is 1e39"), "{error}");
    let file = TemporaryFile::new("larger", "1e400");
    let error = read_reals(&file.0, 1).unwrap_err().to_string();
    assert!(error.contains("1e400"), "{error}");
}

#[test]
fn elements_may_stand_in_the_word_where_no_file_has_its_name() {
    let reals = seq(InputType::Real, None);
    let vectors = seq(InputType::Tensor(vec![2]), None);
    let real = |x| InputValue::Real(x);
    let pair = |x, y| InputValue::Tensor(vec![x, y]);
    let one = |text: &str, ty: &InputType| parse_value(ty, &[text.to_string()], IntWidth::Bits32);
    assert_eq!(
        one("1,2.5,-3", &reals),
        Ok(InputValue::Seq(vec![real(1.0), real(2.5), real(-3.0)]))
    );
    assert_eq!(one("5", &reals), Ok(InputValue::Seq(vec![real(5.0)])));
    for text in ["0,0;1,0", "0,0,1,0", "[[0,0],[1,0]]"] {
        assert_eq!(
            one(text, &vectors),
            Ok(InputValue::Seq(vec![pair(0.0, 0.0), pair(1.0, 0.0)])),
            "{text}"
        );
    }
    assert!(
        one("0,0;1", &vectors)
            .unwrap_err()
            .contains("found 1 values, expected 2")
    );
    assert!(
        one("0,0,1", &vectors)
            .unwrap_err()
            .contains("found 1 values, expected 2")
    );
    assert_eq!(
        one("seeds.txt", &vectors),
        Ok(InputValue::File("seeds.txt".into()))
    );
    assert!(
        one("1.5", &seq(InputType::Int, None))
            .unwrap_err()
            .contains("expected an integer")
    );
}

#[test]
fn arrays_and_tables_of_numpy_are_sequences() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let points: Vec<f64> = (0..5)
        .flat_map(|n| [f64::from(n), f64::from(n) / 2.0, -f64::from(n)])
        .collect();
    for name in ["numpy-points.npy", "numpy-points.csv"] {
        assert_eq!(
            read_reals(&files.join(name), 3),
            Ok(points.clone()),
            "{name}"
        );
    }
    let counts = read_ints(&files.join("numpy-counts.npy"), 1, IntWidth::Bits32);
    assert_eq!(counts, Ok(vec![0, 1, 2, 3, 4]));
    for (name, components, part) in [
        (
            "numpy-points.npy",
            2,
            "expected two axes, the first of size 2",
        ),
        ("numpy-points.csv", 2, ":1: found `x`, expected a number"),
        ("numpy-points-fortran.npy", 3, "Fortran order"),
        ("pillow-grey.png", 1, "PNG is not an array of numbers"),
        ("itk.dcm", 1, "of the format DICOM"),
    ] {
        let error = read_reals(&files.join(name), components).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(part) && error.contains(name), "{error}");
    }
}

#[test]
fn points_in_text_may_touch_the_tags_around_them() {
    let text = "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"2\"><Points>\
                <DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 1 2 3 4 5</DataArray>\
                </Points></Piece></PolyData></VTKFile>";
    let file = TemporaryFile::new("touching.vtp", text);
    let points = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(read_reals(&file.0, 3), Ok(points));
}

#[test]
fn points_of_geometry_are_sequences_of_vectors() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let lifted = [
        [0.0, 0.0, 7.0],
        [1.5, -2.0, 7.0],
        [3.0, 4.25, 7.0],
        [-0.5, 8.0, 7.0],
    ];
    for name in [
        "meshio-points.ply",
        "meshio-points-text.ply",
        "vtk-points-appended.vtp",
        "vtk-points-binary.vtp",
        "vtk-points-text.vtp",
    ] {
        assert_eq!(
            read_reals(&files.join(name), 3),
            Ok(lifted.concat()),
            "{name}"
        );
        let error = read_reals(&files.join(name), 2).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("z = 0"), "{error}");
        let error = read_reals(&files.join(name), 1).unwrap_err().to_string();
        assert!(error.contains("3 coordinates"), "{error}");
    }
    let flat: Vec<f64> = lifted.iter().flat_map(|p| [p[0], p[1]]).collect();
    assert_eq!(read_reals(&files.join("vtk-points-flat.vtp"), 2), Ok(flat));
    // Any damage is an error of the file or other numbers, never a panic.
    for name in [
        "meshio-points.ply",
        "meshio-points-text.ply",
        "vtk-points-appended.vtp",
    ] {
        let whole = std::fs::read(files.join(name)).expect("a file");
        for at in 0..whole.len() {
            for damaged in [
                whole[..at].to_vec(),
                [&whole[..at], b"9", &whole[at + 1..]].concat(),
            ] {
                let file = std::env::temp_dir().join(format!("{}-{name}", std::process::id()));
                std::fs::write(&file, damaged).expect("a writable directory");
                if let Err(error) = read_reals(&file, 3) {
                    assert!(error.to_string().contains(name), "{error}");
                }
                std::fs::remove_file(&file).expect("it was there");
            }
        }
    }
}
