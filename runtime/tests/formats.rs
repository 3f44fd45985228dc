//! Files that other tools wrote, against what those tools say of them; and files that are not read.
//!
//! `files/make.py` writes the files and `files/expected.txt`; `files/make_arrays.py` those of many arrays and
//! `files/expected-arrays.txt`.

use std::path::{Path, PathBuf};

use runtime::image::{
    Declared, Frames, Image, ImageError, Level, MeasurementFrame, Reading, World, describe,
    files_of,
};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

fn file(name: &str) -> PathBuf {
    directory().join(name)
}

/// One block of `expected.txt`.
struct Expected {
    /// The name as it is given on a command line.
    name: String,
    dim: usize,
    shape: Vec<usize>,
    reading: Reading,
    /// Indices and positions in the world.
    worlds: Vec<(Vec<usize>, Vec<f64>)>,
    /// Indices and components.
    values: Vec<(Vec<usize>, Vec<f64>)>,
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    let number = |word: &str| word.parse().ok().unwrap_or_else(|| panic!("`{word}`"));
    text.split_whitespace().map(number).collect()
}

impl Expected {
    fn parse(block: &str) -> Expected {
        let mut lines = block.lines();
        let words: Vec<&str> = lines
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let &["file", name, dim, shape, ref options @ ..] = &words[..] else {
            panic!("{words:?}");
        };
        let mut expected = Expected {
            name: name.replace('_', " "),
            dim: dim.parse().unwrap(),
            shape: shape
                .split(',')
                .filter(|s| *s != "-")
                .map(|s| s.parse().unwrap())
                .collect(),
            reading: Reading::default(),
            worlds: Vec::new(),
            values: Vec::new(),
        };
        for option in options {
            match option.split_once('=') {
                Some(("world", "lps")) => expected.reading.world = World::Lps,
                Some(("frame", "ignore")) => expected.reading.frame = MeasurementFrame::Ignore,
                Some(("frames", n)) => {
                    expected.reading.frames = Some(Frames::One(n.parse().unwrap()))
                }
                _ => panic!("{option}"),
            }
        }
        for line in lines {
            let (place, found) = line.split_once(" : ").unwrap_or_else(|| panic!("{line}"));
            let (what, index) = place.split_once(' ').unwrap();
            let row = (numbers(index), numbers(found));
            match what {
                "world" => expected.worlds.push(row),
                "value" => expected.values.push(row),
                _ => panic!("{line}"),
            }
        }
        expected
    }

    fn all() -> Vec<Expected> {
        let texts = ["expected.txt", "expected-arrays.txt"].map(|name| {
            let text = std::fs::read_to_string(file(name));
            text.unwrap_or_else(|e| panic!("{name}: {e}"))
        });
        let blocks = texts.iter().flat_map(|text| text.split("\n\n"));
        blocks.map(Expected::parse).collect()
    }
}

/// Whether a number is another, but for what single precision and a few operations lose.
fn close(found: f64, expected: f64) -> bool {
    let both = found.is_nan() && expected.is_nan();
    both || (found - expected).abs() <= 4e-6 * (1.0 + expected.abs())
}

#[test]
fn files_of_other_tools_are_what_those_tools_say() {
    let all = Expected::all();
    assert!(all.len() > 80, "{} blocks", all.len());
    for expected in all {
        let Expected {
            name,
            dim,
            shape,
            reading,
            ..
        } = &expected;
        let path = file(name);
        let loaded = Image::<f64>::read_with(&path, Declared::new(*dim, shape), reading);
        let image = loaded.unwrap_or_else(|e| panic!("{e}")).image;
        for (index, world) in &expected.worlds {
            let at: Vec<f64> = index.iter().map(|&i| i as f64).collect();
            let found = image.orientation().to_world(&at);
            let right =
                found.len() == world.len() && found.iter().zip(world).all(|(a, b)| close(*a, *b));
            assert!(
                right,
                "{name}: {index:?} is at {found:?}, expected {world:?}"
            );
        }
        for (index, values) in &expected.values {
            assert_eq!(values.len(), image.components(), "{name}");
            for (component, value) in values.iter().enumerate() {
                let found = image.sample(component, index).unwrap_or(f64::NAN);
                assert!(
                    close(found, *value),
                    "{name}: component {component} at {index:?} is {found}, expected {value}"
                );
            }
        }
        // Both precisions come from the same samples.
        let single = Image::<f32>::read_with(&path, Declared::new(*dim, shape), reading)
            .unwrap()
            .image;
        let pairs = single.samples().iter().zip(image.samples());
        assert!(
            pairs.into_iter().all(|(a, b)| close(f64::from(*a), *b)),
            "{name}"
        );
    }
}

#[test]
fn small_files_only() {
    for entry in std::fs::read_dir(directory()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let limit = match name.rsplit('.').next() {
            Some("py" | "txt") => 1 << 16,
            // One heap of HDF5 takes 4 KB.
            Some("h5" | "nc") => 12 << 10,
            _ => 4 << 10,
        };
        assert!(entry.metadata().unwrap().len() <= limit, "{name}");
    }
}

#[test]
fn formats_are_known_by_their_contents() {
    #[rustfmt::skip]
    let rows = [
        ("itk-vector.nrrd",       "NRRD",           "image(3)[3]"),
        ("itk-vector.mha",        "MetaImage",      "image(3)[3]"),
        ("itk-vector.mhd",        "MetaImage",      "image(3)[3]"),
        ("itk-vector.nii.gz",     "NIfTI",          "image(3)[3]"),
        ("nibabel-two-big.nii",   "NIfTI",          "image(3)[]"),
        ("nibabel-pair.img",      "NIfTI",          "image(3)[]"),
        ("numpy-c.npy",           "NumPy array",    "image(3)[]"),
        ("pynrrd-dti.nrrd",       "NRRD",           "image(3)[3,3]"),
        ("vtk-vectors.vtk",       "VTK",            "image(3)[3]"),
        ("vtk-inline-zlib.vti",   "VTK image data", "image(3)[3]"),
        ("pillow-colour.ppm",     "PNM",            "image(2)[3]"),
        ("pillow-grey.bmp",       "BMP",            "image(2)[]"),
        ("pillow-turned.jpg",     "JPEG",           "image(2)[3]"),
        ("tifffile-stack.tif",    "TIFF",           "image(3)[]"),
        ("slice-%02d.png 1 3",    "PNG",            "image(3)[]"),
    ];
    for (name, format, ty) in rows {
        let description = describe(&file(name)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(description.format, format, "{name}");
        let declared = description.declare("vol");
        assert_eq!(declared, Some(format!("input {ty} vol;")), "{name}");
    }
}

fn refused(name: &str) -> ImageError {
    Image::<f32>::read(&file(name), 3, &[])
        .map(|_| ())
        .expect_err(name)
}

#[test]
fn formats_that_are_not_read_are_named_with_a_way_out() {
    let files = [
        ("pillow.gif", "GIF", "PIL"),
        ("pillow.webp", "WebP", "PIL"),
        ("nibabel.mgh", "MGH", "nibabel"),
        ("nibabel.mgz", "MGH", "nibabel"),
        ("nibabel-analyze.hdr", "Analyze", "nibabel"),
        ("numpy-archive.npz", "NumPy archive", "numpy.load"),
    ];
    for (name, format, command) in files {
        let error = refused(name);
        assert!(
            error.message().contains(&format!("of the format {format}")),
            "{error}"
        );
        assert!(
            error
                .hints()
                .iter()
                .any(|h| h.contains(command) && h.contains(name)),
            "{error}"
        );
    }
    let beginnings: &[(&[u8], &str)] = &[
        (b"mrtrix image\n", "MRtrix"),
        (b"\x20BDV\0\0\0\0", "OpenVDB"),
        (b"SIMPLE  =                    T", "FITS"),
        (b"\x76\x2f\x31\x01\x02", "OpenEXR"),
        (b"#?RADIANCE\n", "Radiance"),
        (b"PF\n3 2\n-1\n", "portable float map"),
        (b"\0\0\0\x0cjP  \r\n", "JPEG 2000"),
        (b"\0\0\0\x1cftypavif", "AVIF"),
        (b"8BPS\0\x01", "Photoshop"),
        (b"MATLAB 5.0 MAT-file, Platform", "MATLAB"),
        (b"# AmiraMesh BINARY-LITTLE-ENDIAN 2.1", "AmiraMesh"),
        (b"ZISRAWFILE\0", "Zeiss CZI"),
        (
            b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\">",
            "VTK XML",
        ),
        (b"BZh91AY&SY", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"%PDF-1.7", "PDF"),
    ];
    for (bytes, format) in beginnings {
        let error = Image::<f32>::from_bytes(bytes, Declared::new(3, &[]), &Reading::default())
            .unwrap_err();
        assert!(
            error.message().contains(&format!("of the format {format}")),
            "{error}"
        );
        assert!(!error.hints().is_empty(), "{error}");
    }
}

#[test]
fn dicom_is_known_behind_another_header_and_without_its_mark() {
    let mut tiff = std::fs::read(file("itk.dcm")).expect("a file");
    tiff[..8].copy_from_slice(b"II*\0\x08\0\0\0");
    let unmarked = tiff[132..].to_vec();
    for bytes in [tiff, unmarked] {
        let read = Image::<f32>::from_bytes(&bytes, Declared::new(2, &[]), &Reading::default());
        let image = read.unwrap_or_else(|e| panic!("{e}")).image;
        assert_eq!(
            (image.sizes(), image.sample(0, &[4, 3])),
            (&[5, 4][..], Some(19.0))
        );
    }
    let alone = b"\x08\0\x05\0CS\x0a\0ISO_IR 100";
    let error =
        Image::<f32>::from_bytes(alone, Declared::new(2, &[]), &Reading::default()).map(|_| ());
    assert!(error.unwrap_err().to_string().contains("no pixels"));
}

#[test]
fn commands_name_the_file_and_its_stem() {
    let hints = refused("nibabel-analyze.hdr").hints().join("\n");
    let (path, stem) = (file("nibabel-analyze.hdr"), file("nibabel-analyze.nrrd"));
    assert!(
        hints.contains(&format!("s.ReadImage('{}')", path.display())),
        "{hints}"
    );
    assert!(hints.contains(&format!("'{}'", stem.display())), "{hints}");
}

#[test]
fn what_cannot_be_read_of_a_known_format_says_why() {
    let rows = [
        ("numpy-object.npy", "objects cannot be read"),
        ("numpy-structured.npy", "structured type"),
        ("numpy-half.npy", "astype('float32')"),
        ("make.py", "not a known format"),
        ("none.nii", "No such file"),
        ("itk-vector.mha#1", "none of them has frames"),
        (
            "itk-frames.mha#3",
            "frame 3 is asked for, but axis 3 of kind `time` has frames 0 to 2",
        ),
        ("slice-%02d.png 1 4", "No such file"),
    ];
    for (name, part) in rows {
        let shape: &[usize] = if name.contains("vector") { &[3] } else { &[] };
        let error = Image::<f32>::read(&file(name), 3, shape)
            .map(|_| ())
            .expect_err(name);
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = Image::<f32>::read(&directory(), 3, &[]).unwrap_err();
    assert!(error.to_string().contains("directory"), "{error}");
    let empty =
        Image::<f32>::from_bytes(b"", Declared::new(3, &[]), &Reading::default()).unwrap_err();
    assert_eq!(empty.to_string(), "the file is empty");
    let text = Image::<f32>::from_bytes(b"1.5 2 3\n", Declared::new(3, &[]), &Reading::default())
        .unwrap_err();
    assert!(text.hints()[0].contains("encoding: ascii"), "{text}");
}

#[test]
fn what_is_packed_in_a_way_that_is_not_read_can_be_written_anew() {
    let bytes = |name: &str| std::fs::read(file(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let read =
        |bytes: &[u8]| Image::<f32>::from_bytes(bytes, Declared::new(3, &[]), &Reading::default());
    let text = String::from_utf8(bytes("vtk-text.vti")).expect("text");
    let said = text.replacen(
        "<VTKFile ",
        "<VTKFile compressor=\"vtkLZ4DataCompressor\" ",
        1,
    );
    assert_ne!(text, said);
    // Numbers in text are not compressed, so what the file says of others does not matter.
    let [plain, said] = [text, said].map(|text| read(text.as_bytes()).expect("an image").image);
    assert_eq!(plain.samples(), said.samples());
    let mut packed = bytes("vtk-appended-zlib.vti");
    let name = b"vtkZLibDataCompressor";
    let at = packed.windows(name.len()).position(|w| w == name);
    let at = at.expect("a compressor");
    packed.splice(at..at + name.len(), *b"vtkLZMADataCompressor");
    let error = read(&packed).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("LZMA"), "{error}");
    assert!(error.hints()[0].contains("if VTK reads it"), "{error}");
}

#[test]
fn pictures_that_are_cut_off_are_told_so() {
    for name in [
        "tifffile-colour.tif",
        "pillow-colour.bmp",
        "pillow-colour.ppm",
    ] {
        let bytes = std::fs::read(file(name)).expect("a file");
        for length in [9, bytes.len() / 2, bytes.len() - 1] {
            let read = Image::<f32>::from_bytes(
                &bytes[..length],
                Declared::new(2, &[3]),
                &Reading::default(),
            );
            let Err(error) = read else {
                // The missing bytes may be behind the samples.
                assert!(length > bytes.len() / 2, "{name}: {length}");
                continue;
            };
            assert!(
                !error.to_string().contains("whole buffer"),
                "{name}: {length}: {error}"
            );
        }
    }
}

#[test]
fn notes_say_what_was_decided() {
    let notes = |name: &str, dim: usize, shape: &[usize]| {
        let loaded = Image::<f32>::read(&file(name), dim, shape).unwrap_or_else(|e| panic!("{e}"));
        loaded.notes
    };
    let turned = notes("pillow-turned.jpg", 2, &[3]);
    assert!(
        turned.len() == 1 && turned[0].text.contains("camera"),
        "{turned:?}"
    );
    let cells = notes("vtk-cells.vti", 3, &[]);
    assert!(cells[0].text.contains("cells"), "{cells:?}");
    let last = notes("pynrrd-last.nrrd", 3, &[3]);
    assert!(last[0].text.contains("axis 3 of size 3"), "{last:?}");
    let dti = notes("pynrrd-dti.nrrd", 3, &[3, 3]);
    assert!(
        dti.iter()
            .any(|n| n.text.contains("measurement frame is applied")),
        "{dti:?}"
    );
    assert!(dti.iter().any(|n| n.text.contains("mask")), "{dti:?}");
    assert!(dti.iter().all(|n| n.level == Level::Note));
    assert!(notes("itk-vector.nrrd", 3, &[3]).is_empty());
    let nifti = Reading {
        world: World::Lps,
        ..Reading::default()
    };
    let loaded =
        Image::<f32>::read_with(&file("itk-vector.nii"), Declared::new(3, &[3]), &nifti).unwrap();
    assert!(
        loaded
            .notes
            .iter()
            .any(|n| n.text.contains("components are not")),
        "{:?}",
        loaded.notes
    );
    let flipped = Reading {
        flip_components: true,
        ..nifti
    };
    let turned =
        Image::<f32>::read_with(&file("itk-vector.nii"), Declared::new(3, &[3]), &flipped).unwrap();
    let both = |c| {
        (
            loaded.image.sample(c, &[1, 1, 1]).unwrap(),
            turned.image.sample(c, &[1, 1, 1]).unwrap(),
        )
    };
    for (component, sign) in [(0, -1.0), (1, -1.0), (2, 1.0)] {
        let (stored, turned) = both(component);
        assert_eq!(turned, sign * stored);
    }
}

#[test]
fn a_file_whose_name_looks_like_a_choice_comes_first() {
    let directory = std::env::temp_dir().join(format!("formats-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.mha#0");
    std::fs::copy(file("itk-scalar.mha"), &path).unwrap();
    assert!(Image::<f32>::read(&path, 3, &[]).is_ok());
    std::fs::copy(file("itk-frames.mha"), directory.join("b.mha")).unwrap();
    assert!(Image::<f32>::read(&directory.join("b.mha#2"), 3, &[]).is_ok());
    std::fs::remove_dir_all(&directory).unwrap();
}

/// An image of 2 × 2 × 2 samples in text, whose numbers and tags stand so.
fn text_image(numbers: &str) -> String {
    format!(
        "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 1\"><Piece><PointData>\
         <DataArray type=\"Float32\" Name=\"a\" format=\"ascii\">{numbers}</DataArray>\
         </PointData></Piece></ImageData></VTKFile>"
    )
}

#[test]
fn numbers_may_touch_the_tags_around_them() {
    for (numbers, right) in [
        ("0 1 2 3 4 5 6 7", true),
        ("\n0 1 2 3 4 5 6 7\n", true),
        ("0 1 2 3 4 5 6", false),
        ("0 1 2 3 4 5 6 <a/> 7", false),
        ("0 1 2 3 4 5 6 x", false),
    ] {
        let text = text_image(numbers);
        let read =
            Image::<f64>::from_bytes(text.as_bytes(), Declared::new(3, &[]), &Reading::default());
        assert_eq!(read.is_ok(), right, "{numbers}");
        if let Ok(loaded) = read {
            let samples = &loaded.image.samples()[..8];
            assert_eq!(samples, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        }
    }
}

#[test]
fn long_texts_between_tags_are_read_as_fast_as_others() {
    let side = 60;
    let numbers = "7 ".repeat(side * side * side);
    let last = (side - 1).to_string();
    let xml = text_image(numbers.trim()).replace('1', &last);
    let nrrd = format!(
        "NRRD0004\ntype: float\ndimension: 3\nsizes: {side} {side} {side}\nencoding: ascii\n\n{numbers}"
    );
    let time = |file: &str| {
        let start = std::time::Instant::now();
        let read =
            Image::<f32>::from_bytes(file.as_bytes(), Declared::new(3, &[]), &Reading::default());
        let image = read.unwrap_or_else(|e| panic!("{e}")).image;
        assert_eq!(image.sample(0, &[side - 1; 3]), Some(7.0));
        start.elapsed().as_secs_f64()
    };
    // Looking for the tag at every number would take a thousand times as long.
    let (tags, plain) = (time(&xml), time(&nrrd));
    assert!(tags < 10.0 * plain + 0.1, "{tags} s, otherwise {plain} s");
}

#[test]
fn samples_that_become_infinite_are_warned_of() {
    let header = "NRRD0004\ntype: double\ndimension: 2\nsizes: 2 2\nencoding: ascii\n\n";
    let file = format!("{header}1e39 -1e300 inf 3e38");
    let notes = |loaded: Vec<runtime::image::Note>| -> Vec<String> {
        let warnings = loaded.into_iter().filter(|n| n.level == Level::Warning);
        warnings.map(|n| n.text).collect()
    };
    let read =
        Image::<f32>::from_bytes(file.as_bytes(), Declared::new(2, &[]), &Reading::default());
    let single = notes(read.expect("an image").notes);
    assert!(
        single.len() == 1 && single[0].starts_with("2 samples are beyond"),
        "{single:?}"
    );
    let read =
        Image::<f64>::from_bytes(file.as_bytes(), Declared::new(2, &[]), &Reading::default());
    assert_eq!(notes(read.expect("an image").notes), [""; 0]);
}

#[test]
fn the_files_of_numbered_pictures_are_all_of_them() {
    let names = ["slice-01.png", "slice-02.png", "slice-03.png"];
    assert_eq!(files_of(&file("slice-%02d.png 1 3")), names.map(file));
    assert_eq!(files_of(&file(names[0])), [file(names[0])]);
}
