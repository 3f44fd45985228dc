//! Volumes whose samples stay in the type of the file: less memory, and the bits of samples that are converted when they are read.

mod kernels;
mod probing;

use probing::kept::probed;
use probing::versions;
use runtime::image::{Arrangement, Declared, Image, MapFiles, Reading, SharedImage, Strided};
use runtime::nrrd::{Endian, SampleType, Space};
use runtime::probe::Border;
use std::fs;
use std::path::{Path, PathBuf};

/// A type: its name, the bytes of a sample, and some of its numbers, the least and the greatest among them.
type Row = (&'static str, usize, [i64; 6]);

const TYPES: &[Row] = &[
    ("uchar", 1, [0, 255, 1, 128, 77, 254]),
    ("ushort", 2, [0, 65535, 1, 32768, 256, 65534]),
    ("short", 2, [-32768, 32767, -1, 0, 255, -256]),
];

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for the test");
    directory
}

/// Numbers of a type.
fn numbers((_, bytes, some): &Row, count: usize) -> Vec<i64> {
    let spread = 1_i64 << (8 * bytes);
    let low = some.iter().copied().min().unwrap_or(0).min(0);
    let number = |n: usize| match n % 7 {
        6 => low + (n as i64 * 40_503).rem_euclid(spread),
        k => some[k],
    };
    (0..count).map(number).collect()
}

/// The bytes of numbers in a type.
fn bytes_in(numbers: &[i64], bytes: usize) -> Vec<u8> {
    let low = |n: &i64| n.to_le_bytes()[..bytes].to_vec();
    numbers.iter().flat_map(low).collect()
}

/// The bytes of numbers as singles.
fn singles(numbers: &[i64], added: i64) -> Vec<u8> {
    let single = |n: &i64| ((n + added) as f32).to_le_bytes();
    numbers.iter().flat_map(single).collect()
}

/// Writes a raw NRRD file with this number of letters more in its header.
fn nrrd(file: &Path, ty: &str, fields: &str, letters: usize, data: &[u8]) {
    let comment = "x".repeat(letters);
    let header =
        format!("NRRD0004\n# {comment}\ntype: {ty}\n{fields}\nencoding: raw\nendian: little\n\n");
    fs::write(file, [header.as_bytes(), data].concat()).expect("a file");
}

fn read(file: &Path, declared: Declared<'_>, map: MapFiles) -> Image<f32> {
    let reading = Reading {
        map,
        ..Reading::default()
    };
    let loaded = Image::read_with(file, declared, &reading);
    loaded.unwrap_or_else(|e| panic!("{e}")).image
}

/// All samples as bytes, in pieces.
fn bytes(image: &Image<f32>) -> Vec<u8> {
    let (count, mut room, mut all) = (image.sample_count(), Vec::new(), Vec::new());
    for start in (0..count).step_by(29) {
        all.extend(image.sample_bytes(start..count.min(start + 29), &mut room));
    }
    all
}

/// Checks that nothing tells an image from another of `float`.
#[track_caller]
fn same(found: &Image<f32>, wanted: &Image<f32>, what: &str) {
    assert_eq!(wanted.sample_size(), 4, "{what}");
    let count = wanted.sample_count();
    assert!(found.some_samples(1).eq(wanted.some_samples(1)), "{what}");
    assert!(
        found.samples()[..count] == wanted.samples()[..count],
        "{what}"
    );
    assert!(bytes(found) == bytes(wanted), "{what}");
    assert_eq!(found.range(), wanted.range(), "{what}");
    let last: Vec<usize> = wanted.sizes().iter().map(|n| n - 1).collect();
    assert_eq!(found.sample(0, &last), wanted.sample(0, &last), "{what}");
    let blurred = |image: &Image<f32>| -> Vec<f32> {
        let blurred = runtime::blur::blur(image, &[0.8; 3], Border::Mirror);
        blurred.expect("a blurred image").some_samples(1).collect()
    };
    assert!(blurred(found) == blurred(wanted), "{what}");
    let constants: Vec<f64> = (0..wanted.components()).map(|c| 0.5 - c as f64).collect();
    for version in versions() {
        for border in [
            Border::Clamp,
            Border::Mirror,
            Border::Wrap,
            Border::Constant(&constants),
        ] {
            let [found, wanted] = [found, wanted].map(|image| probed(image, version, border));
            assert!(found == wanted, "{what}: {version:?}, {border:?}");
        }
    }
}

/// Checks files of all small types, read and perhaps mapped, with headers of two lengths.
fn check(dir: &Path, fields: &str, declared: Declared<'_>, count: usize, may_be_mapped: bool) {
    for row @ (name, size, _) in TYPES {
        let numbers = numbers(row, count);
        let [small, real] = ["small.nrrd", "real.nrrd"].map(|name| dir.join(name));
        nrrd(&real, "float", fields, 0, &singles(&numbers, 0));
        let wanted = read(&real, declared, MapFiles::Never);
        // Two lengths of the header: one of them makes samples of two bytes odd in a mapped file.
        let ways = [
            (MapFiles::Never, 0),
            (MapFiles::Always, 0),
            (MapFiles::Always, 1),
        ];
        for (map, letters) in ways {
            if map == MapFiles::Always && !may_be_mapped {
                continue;
            }
            nrrd(&small, name, fields, letters, &bytes_in(&numbers, *size));
            let found = read(&small, declared, map);
            let what = format!("{name}: {fields}: {map:?}, {letters}");
            assert_eq!(found.is_mapped(), map == MapFiles::Always, "{what}");
            assert_eq!(found.sample_size(), *size, "{what}");
            same(&found, &wanted, &what);
        }
    }
}

#[test]
fn volumes_keep_the_type_of_the_file() {
    let dir = directory("stored-volumes");
    // The second has fewer samples than a wide load, so that loads reach into the padding.
    for sizes in [[19, 9, 8], [3, 2, 2]] {
        let [i, j, k] = sizes;
        let fields = format!("dimension: 3\nsizes: {i} {j} {k}");
        check(&dir, &fields, Declared::new(3, &[]), i * j * k, true);
    }
}

#[test]
fn vectors_keep_the_type_of_the_file() {
    let dir = directory("stored-vectors");
    let fields = "dimension: 4\nsizes: 3 9 8 7\nkinds: RGB-color space space space";
    check(&dir, fields, Declared::new(3, &[3]), 3 * 9 * 8 * 7, false);
    let fields = "dimension: 4\nsizes: 9 8 7 2\nkinds: space space space list";
    check(&dir, fields, Declared::new(3, &[2]), 9 * 8 * 7 * 2, true);
}

#[test]
fn frames_keep_the_type_of_the_file() {
    let dir = directory("stored-frames");
    let fields = "dimension: 4\nsizes: 9 8 7 4\nkinds: space space space time";
    let declared = Declared::over_time(3, &[]);
    check(&dir, fields, declared, 9 * 8 * 7 * 4, true);
}

/// A header of NIfTI for a volume of shorts, with a slope and an intercept.
fn nifti(sizes: [i16; 3], slope: f32, intercept: f32, data: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 352];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &348_i32.to_le_bytes());
    for (n, size) in [3].into_iter().chain(sizes).chain([1; 4]).enumerate() {
        put(40 + 2 * n, &size.to_le_bytes());
        put(76 + 4 * n, &1_f32.to_le_bytes());
    }
    put(70, &4_i16.to_le_bytes());
    put(72, &16_i16.to_le_bytes());
    put(108, &352_f32.to_le_bytes());
    put(112, &slope.to_le_bytes());
    put(116, &intercept.to_le_bytes());
    put(344, b"n+1\0");
    header.extend(data);
    header
}

#[test]
fn integers_are_added_when_samples_are_loaded() {
    let dir = directory("stored-added");
    let [scan, real] = ["scan.nii", "real.nrrd"].map(|name| dir.join(name));
    let declared = Declared::new(3, &[]);
    let numbers = numbers(&TYPES[2], 19 * 9 * 8);
    let data = bytes_in(&numbers, 2);
    for (slope, intercept, size) in [
        (1.0, -1024.0, 2),
        (1.0, 4_194_304.0, 2),
        (1.0, 4_194_305.0, 4),
        (1.0, 0.5, 4),
        (2.0, 0.0, 4),
        (-1.0, 0.0, 4),
    ] {
        let what = format!("{slope} · x + {intercept}");
        fs::write(&scan, nifti([19, 9, 8], slope, intercept, &data)).expect("a file");
        for map in [MapFiles::Never, MapFiles::Always] {
            let found = read(&scan, declared, map);
            assert_eq!(found.sample_size(), size, "{what}");
            assert_eq!(found.is_mapped(), size == 2 && map == MapFiles::Always);
            if size == 2 {
                let fields = "dimension: 3\nsizes: 19 9 8";
                nrrd(
                    &real,
                    "float",
                    fields,
                    0,
                    &singles(&numbers, intercept as i64),
                );
                same(&found, &read(&real, declared, MapFiles::Never), &what);
            }
        }
    }
}

#[test]
fn arrays_in_memory_keep_their_type() {
    let dir = directory("stored-arrays");
    let real = dir.join("real.nrrd");
    let declared = Declared::new(3, &[]);
    for ((row, ty), endian) in TYPES
        .iter()
        .zip([SampleType::U8, SampleType::U16, SampleType::I16])
        .zip([Endian::Little, Endian::Little, Endian::Big])
    {
        let numbers = numbers(row, 9 * 8 * 7);
        nrrd(
            &real,
            "float",
            "dimension: 3\nsizes: 9 8 7",
            0,
            &singles(&numbers, 0),
        );
        let mut data = bytes_in(&numbers, row.1);
        if endian == Endian::Big {
            data.chunks_mut(row.1).for_each(<[u8]>::reverse);
        }
        let size = row.1 as isize;
        let axes = vec![(7, 72 * size), (8, 9 * size), (9, size)];
        // SAFETY: the array is kept with the samples, and has these axes.
        let samples = unsafe { Strided::new(data.as_ptr(), ty, endian, axes, Box::new(data)) };
        let shared = SharedImage::new(samples, Arrangement::SlowestFirst, None, Space::Unknown);
        let found = shared.image::<f32>(declared, &Reading::default());
        let found = found.expect("an image").image;
        assert_eq!(found.sample_size(), row.1);
        same(&found, &read(&real, declared, MapFiles::Never), row.0);
    }
}

#[test]
fn other_images_are_converted() {
    let dir = directory("stored-others");
    let file = dir.join("a.nrrd");
    let (volume, plane) = ("dimension: 3\nsizes: 9 8 7", "dimension: 2\nsizes: 9 8");
    nrrd(&file, "uchar", plane, 0, &[7; 72]);
    let image = read(&file, Declared::new(2, &[]), MapFiles::Never);
    assert_eq!(image.sample_size(), 4);
    nrrd(&file, "uchar", volume, 0, &[7; 504]);
    let image = Image::<f64>::read(&file, 3, &[]).expect("an image").image;
    assert_eq!(image.sample_size(), 8);
    nrrd(&file, "int", volume, 0, &[7; 4 * 504]);
    let image = read(&file, Declared::new(3, &[]), MapFiles::Never);
    assert_eq!(image.sample_size(), 4);
    // Vectors that are turned to the world are no longer integers.
    let fields = "dimension: 4\nspace dimension: 3\nsizes: 3 9 8 7\nkinds: 3-vector space space space\n\
         space directions: none (1,0,0) (0,1,0) (0,0,1)\nmeasurement frame: (0,1,0) (1,0,0) (0,0,1)";
    nrrd(&file, "uchar", fields, 0, &[7; 3 * 504]);
    let image = read(&file, Declared::new(3, &[3]), MapFiles::Never);
    assert_eq!(image.sample_size(), 4);
}
