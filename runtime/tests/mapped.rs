//! Files that are mapped: an image has the same samples, and every probe the same bits, as if they had been read.
#![cfg(unix)]

mod kernels;
mod probing;

use probing::kept::probed;
use probing::{noise, versions};
use runtime::image::{Declared, Frames, Image, Loaded, MapFiles, Reading, Real};
use runtime::probe::Border;
use runtime::simd::Float;
use std::fs;
use std::path::{Path, PathBuf};

/// An empty directory of its own for each test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for the test");
    directory
}

fn reading(map: MapFiles) -> Reading {
    Reading {
        map,
        ..Reading::default()
    }
}

fn load<T: Real>(file: &Path, declared: Declared<'_>, reading: &Reading) -> Loaded<T> {
    Image::read_with(file, declared, reading).unwrap_or_else(|e| panic!("{e}"))
}

/// The bytes of this many random numbers of single precision.
fn singles(count: usize) -> Vec<u8> {
    let numbers = noise(count as u64).take(count);
    numbers.flat_map(|x| (x as f32).to_le_bytes()).collect()
}

fn doubles(count: usize) -> Vec<u8> {
    let numbers = noise(count as u64).take(count);
    numbers.flat_map(f64::to_le_bytes).collect()
}

/// A file of NRRD whose header has some letters more than it needs.
fn nrrd(fields: &str, letters: usize, data: &[u8]) -> Vec<u8> {
    let comment = "x".repeat(letters);
    let header = format!("NRRD0004\n{fields}\nencoding: raw\nendian: little\n# {comment}\n\n");
    [header.as_bytes(), data].concat()
}

/// All samples as bytes.
fn bytes<T: Real>(image: &Image<T>) -> Vec<u8> {
    let mut room = Vec::new();
    image
        .sample_bytes(0..image.sample_count(), &mut room)
        .to_vec()
}

/// Checks that a file can be mapped and that nothing tells the image from one that is read.
#[track_caller]
fn same<T: Real + Float>(file: &Path, declared: Declared<'_>, said: &Reading) {
    let with = |map| Reading {
        map,
        ..said.clone()
    };
    let mapped: Loaded<T> = load(file, declared, &with(MapFiles::Always));
    let read: Loaded<T> = load(file, declared, &with(MapFiles::Never));
    let name = file.display();
    assert!(mapped.image.is_mapped(), "{name}: {:?}", mapped.notes);
    assert!(!read.image.is_mapped(), "{name}");
    let (mapped, read) = (mapped.image, read.image);
    let bits = |image: &Image<T>| -> Vec<u64> {
        let all = image.some_samples(1);
        all.map(|x| x.in_double().to_bits()).collect()
    };
    assert_eq!(bits(&mapped), bits(&read), "{name}");
    let count = read.sample_count();
    assert_eq!(mapped.samples().len(), read.samples().len(), "{name}");
    assert!(
        mapped.samples()[..count] == read.samples()[..count],
        "{name}"
    );
    assert_eq!(bytes(&mapped), bytes(&read), "{name}");
    assert_eq!(mapped.range(), read.range(), "{name}");
    let last: Vec<usize> = read.sizes().iter().map(|n| n - 1).collect();
    assert_eq!(mapped.sample(0, &last), read.sample(0, &last), "{name}");
    let widths: Vec<f64> = vec![0.7; read.dim()];
    let blurred = |image: &Image<T>| {
        let blurred = runtime::blur::blur(image, &widths, Border::Clamp).expect("a blurred image");
        bits(&blurred)
    };
    assert_eq!(blurred(&mapped), blurred(&read), "{name}");
    let constants: Vec<f64> = (0..read.components()).map(|c| c as f64 - 0.5).collect();
    for version in versions() {
        for border in [
            Border::Clamp,
            Border::Mirror,
            Border::Wrap,
            Border::Constant(&constants),
        ] {
            assert_eq!(
                probed(&mapped, version, border),
                probed(&read, version, border),
                "{name}: {version:?}, {border:?}"
            );
        }
    }
}

#[test]
fn headers_of_any_length_stand_before_samples() {
    let dir = directory("mapped-headers");
    let file = dir.join("a.nrrd");
    for letters in 0..4 {
        let fields = "type: float\ndimension: 3\nsizes: 9 8 7";
        fs::write(&file, nrrd(fields, letters, &singles(9 * 8 * 7))).expect("a file");
        same::<f32>(&file, Declared::new(3, &[]), &Reading::default());
    }
    let fields = "type: double\ndimension: 2\nsizes: 17 9";
    fs::write(&file, nrrd(fields, 3, &doubles(17 * 9))).expect("a file");
    same::<f64>(&file, Declared::new(2, &[]), &Reading::default());
    let fields = "type: float\ndimension: 1\nsizes: 40";
    fs::write(&file, nrrd(fields, 1, &singles(40))).expect("a file");
    same::<f32>(&file, Declared::new(1, &[]), &Reading::default());
}

#[test]
fn components_and_frames_behind_each_other_are_used_where_they_are() {
    let dir = directory("mapped-planes");
    let file = dir.join("a.nrrd");
    let fields = "type: float\ndimension: 4\nsizes: 7 8 6 3\nkinds: space space space vector";
    fs::write(&file, nrrd(fields, 2, &singles(7 * 8 * 6 * 3))).expect("a file");
    same::<f32>(&file, Declared::new(3, &[3]), &Reading::default());
    let fields = "type: float\ndimension: 4\nsizes: 7 8 6 5\nkinds: space space space time";
    fs::write(&file, nrrd(fields, 1, &singles(7 * 8 * 6 * 5))).expect("a file");
    same::<f32>(&file, Declared::over_time(3, &[]), &Reading::default());
    for frames in [Frames::Range(1, 3), Frames::Range(4, 4)] {
        let said = Reading {
            frames: Some(frames),
            ..Reading::default()
        };
        same::<f32>(&file, Declared::over_time(3, &[]), &said);
    }
    // A single frame without time.
    let said = Reading {
        frames: Some(Frames::One(3)),
        ..Reading::default()
    };
    same::<f32>(&file, Declared::new(3, &[]), &said);
    // Vectors over time, as planes within frames.
    let fields = "type: float\ndimension: 4\nsizes: 9 8 2 4\nkinds: space space vector time";
    fs::write(&file, nrrd(fields, 0, &singles(9 * 8 * 2 * 4))).expect("a file");
    same::<f32>(&file, Declared::over_time(2, &[2]), &Reading::default());
}

#[test]
fn files_that_end_with_a_page_are_followed_by_memory() {
    let dir = directory("mapped-pages");
    let (header, data) = (dir.join("a.nhdr"), dir.join("a.raw"));
    // 64 · 8 · 8 samples of four bytes are four pages of 4 KiB, and one of 16 KiB.
    fs::write(&data, singles(64 * 8 * 8)).expect("a file");
    let fields =
        "NRRD0004\ntype: float\ndimension: 3\nsizes: 64 8 8\nencoding: raw\nendian: little\n";
    fs::write(&header, format!("{fields}data file: a.raw\n")).expect("a file");
    same::<f32>(&header, Declared::new(3, &[]), &Reading::default());
    // Skips from both ends.
    let bytes = [b"skipped".to_vec(), singles(64 * 8 * 8), b"tail".to_vec()].concat();
    fs::write(&data, &bytes).expect("a file");
    for skip in [7, -5] {
        let text = format!("{fields}byte skip: {skip}\ndata file: a.raw\n");
        fs::write(&header, text).expect("a file");
        same::<f32>(&header, Declared::new(3, &[]), &Reading::default());
    }
}

#[test]
fn other_formats_are_mapped_as_well() {
    let dir = directory("mapped-formats");
    let data = singles(6 * 7 * 8);
    let declared = Declared::new(3, &[]);
    let meta = "NDims = 3\nDimSize = 6 7 8\nElementType = MET_FLOAT\nElementByteOrderMSB = False\n";
    fs::write(dir.join("a.raw"), &data).expect("a file");
    fs::write(
        dir.join("a.mhd"),
        format!("{meta}ElementDataFile = a.raw\n"),
    )
    .expect("a file");
    let attached = format!("{meta}ElementDataFile = LOCAL\n");
    fs::write(dir.join("a.mha"), [attached.as_bytes(), &data].concat()).expect("a file");
    let mut nifti = vec![0_u8; 352];
    let mut put = |at: usize, value: &[u8]| nifti[at..at + value.len()].copy_from_slice(value);
    put(0, &348_i32.to_le_bytes());
    for (i, size) in [3_i16, 6, 7, 8].into_iter().enumerate() {
        put(40 + 2 * i, &size.to_le_bytes());
    }
    put(70, &16_i16.to_le_bytes());
    put(72, &32_i16.to_le_bytes());
    (0..4).for_each(|i| put(76 + 4 * i, &1_f32.to_le_bytes()));
    put(108, &352_f32.to_le_bytes());
    put(112, &1_f32.to_le_bytes());
    put(344, b"n+1\0");
    fs::write(dir.join("a.nii"), [&nifti[..], &data].concat()).expect("a file");
    let dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 7, 6), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((dictionary.len() as u16).to_le_bytes());
    npy.extend(dictionary.as_bytes());
    npy.extend(&data);
    fs::write(dir.join("a.npy"), npy).expect("a file");
    for name in ["a.mhd", "a.mha", "a.nii", "a.npy"] {
        same::<f32>(&dir.join(name), declared, &Reading::default());
    }
    // A slope must be applied.
    nifti[112..116].copy_from_slice(&2_f32.to_le_bytes());
    fs::write(dir.join("a.nii"), [&nifti[..], &data].concat()).expect("a file");
    let loaded: Loaded<f32> = load(&dir.join("a.nii"), declared, &reading(MapFiles::Always));
    assert!(!loaded.image.is_mapped());
}

#[test]
fn samples_that_are_not_those_of_the_image_are_converted() {
    let dir = directory("mapped-not");
    let file = dir.join("a.nrrd");
    let data = singles(2 * 6 * 7);
    let rows = [
        (
            "type: float\ndimension: 3\nsizes: 2 6 7\nkinds: vector space space",
            &[2][..],
        ),
        ("type: double\ndimension: 2\nsizes: 6 7", &[]),
        ("type: int\ndimension: 2\nsizes: 6 7", &[]),
    ];
    for (fields, shape) in rows {
        fs::write(&file, nrrd(fields, 0, &data)).expect("a file");
        let loaded: Loaded<f32> = load(&file, Declared::new(2, shape), &reading(MapFiles::Always));
        assert!(!loaded.image.is_mapped(), "{fields}");
    }
    let big = "NRRD0004\ntype: float\ndimension: 2\nsizes: 6 7\nencoding: raw\nendian: big\n\n";
    fs::write(&file, [big.as_bytes(), &data].concat()).expect("a file");
    let loaded: Loaded<f32> = load(&file, Declared::new(2, &[]), &reading(MapFiles::Always));
    assert!(!loaded.image.is_mapped());
    // Small files are read unless they must be mapped.
    let loaded: Loaded<f32> = load(&file, Declared::new(2, &[]), &Reading::default());
    assert!(!loaded.image.is_mapped() && loaded.notes.is_empty());
}

#[test]
fn a_file_that_does_not_fit_is_mapped_or_says_how_it_could_be() {
    let dir = directory("mapped-limit");
    let file = dir.join("a.nrrd");
    let declared = Declared::new(3, &[]);
    let limited = Reading {
        memory: Some(1000),
        ..Reading::default()
    };
    let fields = "type: float\ndimension: 3\nsizes: 16 16 16";
    fs::write(&file, nrrd(fields, 0, &singles(4096))).expect("a file");
    assert!(load::<f32>(&file, declared, &limited).image.is_mapped());
    let never = Reading {
        map: MapFiles::Never,
        ..limited.clone()
    };
    let refused = Image::<f32>::read_with(&file, declared, &never).expect_err("no memory");
    assert!(refused.message().contains("needs 16.4 KB"), "{refused}");
    let text = "NRRD0004\ntype: float\ndimension: 3\nsizes: 16 16 16\nencoding: ascii\n\n";
    fs::write(
        &file,
        [text.as_bytes(), "1 ".repeat(4096).as_bytes()].concat(),
    )
    .expect("a file");
    let refused = Image::<f32>::read_with(&file, declared, &limited).expect_err("no memory");
    let refused = refused.to_string();
    assert!(refused.contains("unu save -f nrrd -e raw"), "{refused}");
    fs::write(&file, nrrd(fields, 0, &singles(4096))).expect("a file");
    let image = load::<f64>(&file, declared, &limited).image;
    assert!(image.is_on_demand() || cfg!(not(target_os = "linux")));
}

#[test]
fn a_short_file_is_refused_and_a_replaced_one_stays_as_it_was() {
    let dir = directory("mapped-changes");
    let (header, data) = (dir.join("a.nhdr"), dir.join("a.raw"));
    let fields =
        "NRRD0004\ntype: float\ndimension: 3\nsizes: 20 20 20\nencoding: raw\nendian: little\n";
    fs::write(&header, format!("{fields}data file: a.raw\n")).expect("a file");
    let bytes = singles(8000);
    fs::write(&data, &bytes[..bytes.len() - 1]).expect("a file");
    let declared = Declared::new(3, &[]);
    let refused = Image::<f32>::read_with(&header, declared, &reading(MapFiles::Always));
    let refused = refused.expect_err("too short").to_string();
    assert!(refused.contains("end after 31999 bytes"), "{refused}");
    fs::write(&data, &bytes).expect("a file");
    let image: Image<f32> = load(&header, declared, &reading(MapFiles::Always)).image;
    assert!(image.is_mapped());
    let before = image.clone();
    let other = dir.join("other.raw");
    fs::write(&other, vec![0; bytes.len()]).expect("a file");
    fs::rename(&other, &data).expect("a file in place of another");
    assert_eq!(self::bytes(&before), bytes);
    let again: Image<f32> = load(&header, declared, &reading(MapFiles::Always)).image;
    assert_eq!(again.range(), (0.0, 0.0));
}
