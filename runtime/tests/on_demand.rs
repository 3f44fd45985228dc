//! Samples that are loaded on demand: an image has the same ones as if they had been read, whatever is kept.
#![cfg(target_os = "linux")]

use runtime::image::{Declared, Image, Loaded, MapFiles, Note, Reading, Real};
use runtime::memory::set_cache;
use std::fs;
use std::path::{Path, PathBuf};

fn reading(map: MapFiles) -> Reading {
    Reading {
        map,
        ..Reading::default()
    }
}

fn bits<T: Real>(image: &Image<T>) -> Vec<u64> {
    let all = image.some_samples(1);
    all.map(|x| x.in_double().to_bits()).collect()
}

/// Compares both ways to load a file as an image of a type, if it is one: whether samples were loaded on demand.
fn same<T: Real>(file: &Path, declared: Declared<'_>) -> Option<bool> {
    let read: Loaded<T> = Image::read_with(file, declared, &reading(MapFiles::Never)).ok()?;
    let other: Loaded<T> = Image::read_with(file, declared, &reading(MapFiles::Always))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let name = format!("{} as {declared}", file.display());
    let (read, other) = (read.image, other.image);
    assert_eq!(other.sizes(), read.sizes(), "{name}");
    assert_eq!(other.frames(), read.frames(), "{name}");
    // Two threads from both ends: parts come and go in another order.
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(bits(&other), bits(&read), "{name}"));
        let last: Vec<usize> = read.sizes().iter().map(|n| n - 1).collect();
        let component = read.components() - 1;
        let [a, b] = [&other, &read].map(|image| image.sample(component, &last));
        let bits = |x: Option<T>| x.map(|x| x.in_double().to_bits());
        assert_eq!(bits(a), bits(b), "{name}");
    });
    assert_eq!(other.range(), read.range(), "{name}");
    assert_eq!(other.failure(), None, "{name}");
    Some(other.is_on_demand())
}

fn types() -> Vec<Declared<'static>> {
    let shapes: [&[usize]; 7] = [&[], &[2], &[3], &[4], &[6], &[2, 2], &[3, 3]];
    let mut types = Vec::new();
    for dim in 1..4 {
        for shape in shapes {
            types.push(Declared::new(dim, shape));
            types.push(Declared::over_time(dim, shape));
        }
    }
    types
}

/// All files that other tests read, as all types that they can be.
#[test]
fn files_of_all_formats_have_the_same_samples() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut files: Vec<PathBuf> = fs::read_dir(&directory)
        .expect("the files of the tests")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    let (mut compared, mut on_demand) = (0, Vec::new());
    for kept in [1, 1 << 30] {
        set_cache(kept);
        for file in &files {
            for declared in types() {
                let single = same::<f32>(file, declared);
                let double = same::<f64>(file, declared);
                for demanded in [single, double].into_iter().flatten() {
                    compared += 1;
                    if demanded {
                        on_demand.push(file.file_name().expect("a name").to_owned());
                    }
                }
            }
        }
    }
    println!("{compared} images, {} of them on demand", on_demand.len());
    on_demand.dedup();
    for format in [".npy", ".nrrd", ".mha", ".nii", ".h5", ".nc", ".zarr"] {
        let of_format = |name: &&std::ffi::OsString| name.to_string_lossy().ends_with(format);
        let found = on_demand.iter().find(of_format);
        assert!(found.is_some(), "no {format} among {on_demand:?}");
    }
    assert!(compared > 300, "only {compared} images");
}

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for the test");
    directory
}

fn value(at: usize) -> u16 {
    (at.wrapping_mul(40_503) >> 4) as u16
}

/// Larger images than those of other tools: parts of several pages, with ends within pages.
#[test]
fn larger_images_have_the_same_samples() {
    let directory = directory("on-demand");
    let count = 3 * 301 * 67 * 29;
    let bytes: Vec<u8> = (0..count).flat_map(|at| value(at).to_be_bytes()).collect();
    let file = directory.join("a.nrrd");
    let rows: [(&str, Declared<'_>); 4] = [
        (
            "3 301 67 29\nkinds: vector space space space",
            Declared::new(3, &[3]),
        ),
        (
            "301 67 29 3\nkinds: space space space time",
            Declared::over_time(3, &[]),
        ),
        (
            "301 67 3 29\nkinds: space space vector time",
            Declared::over_time(2, &[3]),
        ),
        (
            "301 3 67 29\nkinds: space vector space space",
            Declared::new(3, &[3]),
        ),
    ];
    for (sizes, declared) in rows {
        let header = format!(
            "NRRD0004\ntype: ushort\ndimension: 4\nsizes: {sizes}\nencoding: raw\nendian: big\n\n"
        );
        fs::write(&file, [header.as_bytes(), &bytes].concat()).expect("a file");
        for kept in [1, 3 << 20, 1 << 30] {
            set_cache(kept);
            assert_eq!(same::<f32>(&file, declared), Some(true), "{sizes}");
        }
    }
    // The same numbers in chunks; some chunks are missing.
    let array = directory.join("a.zarr");
    fs::create_dir_all(&array).expect("a directory");
    let metadata = r#"{"zarr_format": 2, "shape": [3, 29, 67, 301], "chunks": [1, 8, 16, 100], "dtype": ">u2",
        "compressor": null, "fill_value": 7, "order": "C", "filters": null}"#;
    fs::write(array.join(".zarray"), metadata).expect("a file");
    for chunk in (0..3 * 4 * 5 * 4).filter(|chunk| chunk % 7 != 3) {
        let (t, k, j, i) = (chunk / 80, chunk / 20 % 4, chunk / 4 % 5, chunk % 4);
        let bytes = (0..8 * 16 * 100).flat_map(|at| value(at + chunk).to_be_bytes());
        let name = format!("{t}.{k}.{j}.{i}");
        fs::write(array.join(name), bytes.collect::<Vec<u8>>()).expect("a file");
    }
    for kept in [1, 1 << 20, 1 << 30] {
        set_cache(kept);
        let over_time = Declared::over_time(3, &[]);
        assert_eq!(same::<f32>(&array, over_time), Some(true));
        assert_eq!(same::<f64>(&array, over_time), Some(true));
    }
}

/// A damaged chunk, and a file that becomes shorter, are failures; the other samples are as they were.
#[test]
fn samples_that_cannot_be_loaded_are_told() {
    let directory = directory("on-demand-damage");
    let array = directory.join("a.zarr");
    fs::create_dir_all(&array).expect("a directory");
    let metadata = r#"{"zarr_format": 2, "shape": [64, 64], "chunks": [16, 64], "dtype": "<f4",
        "compressor": null, "fill_value": 0, "order": "C", "filters": null}"#;
    fs::write(array.join(".zarray"), metadata).expect("a file");
    let bytes: Vec<u8> = (0..16 * 64)
        .flat_map(|at| (at as f32).to_le_bytes())
        .collect();
    for row in 0..4 {
        fs::write(array.join(format!("{row}.0")), &bytes).expect("a file");
    }
    fs::write(array.join("2.0"), &bytes[1..]).expect("a file");
    let load = |file: &Path| -> Image<f32> {
        Image::read_with(file, Declared::new(2, &[]), &reading(MapFiles::Always))
            .unwrap_or_else(|error| panic!("{error}"))
            .image
    };
    let image = load(&array);
    assert_eq!(image.sample(0, &[63, 0]), Some(63.0));
    assert_eq!(image.failure(), None);
    image.sample(0, &[5, 40]);
    let failure = image.failure().expect("a failure");
    assert!(failure.contains("a.zarr"), "{failure}");
    assert!(failure.contains("4095 bytes, expected 4096"), "{failure}");

    let file = directory.join("a.nrrd");
    let header =
        "NRRD0004\ntype: double\ndimension: 2\nsizes: 1000 1000\nencoding: raw\nendian: little\n\n";
    fs::write(&file, [header.as_bytes(), &[0; 8_000_000]].concat()).expect("a file");
    let image = load(&file);
    assert!(image.is_on_demand());
    // Another file under its name does not matter.
    let other = directory.join("b.nrrd");
    fs::write(&other, "nothing").expect("a file");
    fs::rename(&other, &file).expect("another file");
    assert_eq!(image.sample(0, &[999, 999]), Some(0.0));
    assert_eq!(image.failure(), None);
    fs::write(&file, [header.as_bytes(), &[0; 8_000_000]].concat()).expect("a file");
    let image = load(&file);
    fs::OpenOptions::new()
        .write(true)
        .open(&file)
        .and_then(|file| file.set_len(1000))
        .expect("a shorter file");
    image.sample(0, &[999, 999]);
    let failure = image.failure().expect("a failure");
    assert!(
        failure.ends_with("a.nrrd: the file became shorter while it was read"),
        "{failure}"
    );
}

/// The notes of both ways to read a file about the samples that are missing or too great.
fn remarks(file: &Path, declared: Declared<'_>) -> [Vec<String>; 2] {
    let found = |notes: &[Note]| -> Vec<String> {
        let texts = notes.iter().map(ToString::to_string);
        texts.filter(|text| text.contains(" became ")).collect()
    };
    let read: Loaded<f32> =
        Image::read_with(file, declared, &reading(MapFiles::Never)).expect("an image");
    let other: Loaded<f32> =
        Image::read_with(file, declared, &reading(MapFiles::Always)).expect("an image");
    assert!(other.image.is_on_demand());
    assert_eq!(found(&other.notes), Vec::<String>::new());
    assert_eq!(other.image.findings(), [], "before any sample is loaded");
    // Parts that are loaded again do not count again.
    bits(&other.image);
    bits(&other.image);
    [found(&read.notes), found(&other.image.findings())]
}

/// Of samples that are missing or too great in a file as many are reported as when the file is read.
#[test]
fn missing_and_huge_samples_are_counted_once() {
    let directory = directory("on-demand-findings");
    set_cache(1);
    let file = directory.join("huge.nrrd");
    let (size, every) = (70, 1000);
    let count: usize = size * size * size;
    let sample = |n: usize| if n % every == 7 { 1e300 } else { n as f64 };
    let bytes: Vec<u8> = (0..count).flat_map(|n| sample(n).to_be_bytes()).collect();
    let header = format!(
        "NRRD0004\ntype: double\ndimension: 3\nsizes: {size} {size} {size}\nencoding: raw\nendian: big\n\n"
    );
    fs::write(&file, [header.as_bytes(), &bytes].concat()).expect("a file");
    let [read, found] = remarks(&file, Declared::new(3, &[]));
    let huge = (0..count).filter(|n| n % every == 7).count();
    assert!(
        read[0].starts_with(&format!("{huge} samples are beyond")),
        "{read:?}"
    );
    let loaded = format!("{}: in the parts that were loaded: ", file.display());
    assert_eq!(found, [loaded + &read[0]]);
    // Of a part alone only its own samples count.
    let one = Image::<f32>::read_with(&file, Declared::new(3, &[]), &reading(MapFiles::Always));
    let one = one.expect("an image").image;
    one.sample(0, &[0, 0, 0]);
    let text = one.findings()[0].to_string();
    let words = text.split(": ").last().expect("a count");
    let number: usize = words
        .split(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a count");
    assert!(0 < number && number < huge, "{text}");

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/netcdf-classic.nc#u");
    let [read, found] = remarks(&file, Declared::over_time(3, &[]));
    assert_eq!(read, ["3 values are missing in the file and became NaN"]);
    assert_eq!(found.len(), 1);
    let text = format!(
        "netcdf-classic.nc: in the parts that were loaded: {}",
        read[0]
    );
    assert!(found[0].ends_with(&text), "{found:?}");
}
