//! Files with changed bytes: they are read or refused, nothing panics, and memory stays in proportion to the file.
//!
//! `DAMAGED=20000 cargo test -p diderot-runtime --test format_mutations damaged` tries this many files of each format.

#[path = "../nrrd/tests/counting/mod.rs"]
mod counting;
mod seeds;

use counting::{alone, peak_of};
use seeds::{given, seed_of_run};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use runtime::image::{Declared, Frames, Image, Reading, describe, statistics};
use runtime::nrrd::{self, Encoding, Format, Header, Nrrd, SampleType, Samples};

/// What decoders and buffers take whatever they read: bzip2 needs four megabytes, the beginning of a file one, twice.
const CONSTANT: usize = 16 << 20;

/// Numbers that look like chance, other ones in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// One of several ways to damage a file. Headers get more than their share, because they are short.
fn damaged(file: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=chance.next(3) {
        let length = if chance.next(2) == 0 {
            bytes.len()
        } else {
            bytes.len().min(400)
        };
        let at = chance.next(length);
        match chance.next(8) {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << chance.next(8),
            2 => bytes[at] = [0, 0xff, 0x7f, 0x80, b'9', b'-', b' ', b'\n'][chance.next(8)],
            3 => {
                bytes.insert(at, b'0' + chance.next(10) as u8);
            }
            4 => {
                bytes.remove(at);
            }
            5 => {
                let end = (at + chance.next(16)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = chance.next(length);
                bytes.splice(to..to, piece);
            }
            6 => {
                let end = (at + 8).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
            _ => bytes.swap(at, chance.next(length)),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// Reads bytes as images of several types, and a frame of them.
fn read_as_everything(bytes: &[u8]) {
    let types = [
        Declared::new(3, &[]),
        Declared::new(3, &[3]),
        Declared::new(2, &[3]),
        Declared::new(2, &[]),
        Declared::new(3, &[3, 3]),
        Declared::new(1, &[2]),
        Declared::over_time(3, &[]),
        Declared::over_time(2, &[3]),
    ];
    for declared in types {
        // A value or an error: nothing else is asked.
        drop(Image::<f32>::from_bytes(
            bytes,
            declared,
            &Reading::default(),
        ));
    }
    let frame = Reading {
        frames: Some(Frames::One(1)),
        ..Reading::default()
    };
    drop(Image::<f64>::from_bytes(
        bytes,
        Declared::new(3, &[]),
        &frame,
    ));
}

#[test]
fn damaged_files_of_every_format_are_read_or_refused() {
    let _alone = alone();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    names.sort();
    let wanted = given("DAMAGED").map(|n| n as usize);
    let mut formats: BTreeMap<&str, Vec<(PathBuf, Vec<u8>)>> = BTreeMap::new();
    for path in names {
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        // Data files that belong to a header, and files that are not of any image format.
        if path.is_dir()
            || matches!(
                suffix,
                None | Some("py" | "txt" | "csv" | "raw" | "zraw" | "img")
            )
        {
            continue;
        }
        let format = describe(&path).map_or("not read", |description| description.format);
        let file = std::fs::read(&path).unwrap();
        formats.entry(format).or_default().push((path, file));
    }
    let mut chance = Chance(seed_of_run() | 1);
    for (format, files) in &formats {
        for round in 0..wanted.unwrap_or(800) {
            let (path, file) = &files[round % files.len()];
            let bytes = damaged(file, &mut chance);
            let peak = peak_of(|| read_as_everything(&bytes));
            // One byte of LZW may expand to four thousand bytes, and each becomes a real number.
            let justified = CONSTANT + 4096 * 3 * 8 * bytes.len();
            assert!(
                peak < justified,
                "{format}, {}, round {round}: {peak} bytes",
                path.display()
            );
        }
    }
    assert!(formats.len() > 10, "{:?}", formats.keys());
}

#[test]
fn damaged_containers_take_no_memory_that_is_not_claimed() {
    let _alone = alone();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut chance = Chance(seed_of_run() | 1);
    let rounds = given("DAMAGED").map_or(500, |n| n as usize);
    let limited = Reading {
        memory: Some(4 << 20),
        ..Reading::default()
    };
    for (name, dim, arrays) in [
        ("h5py-one.h5", 3, &["g/vol"][..]),
        (
            "h5py-many.h5",
            3,
            &["gzip", "lzf", "big", "half", "complex", "gzip,half"],
        ),
        ("netcdf-classic.nc", 3, &["u", "v", "u,v"]),
        ("netcdf-64.nc", 3, &["u", "v"]),
        ("h5netcdf.nc", 2, &["p"]),
        ("pydicom-frames.dcm", 3, &[""]),
        ("pydicom-rle.dcm", 3, &[""]),
        ("pydicom-colours.dcm", 2, &[""]),
        ("itk-lossless.dcm", 2, &[""]),
        ("dicom-series/11.dcm", 3, &[""]),
    ] {
        let file = std::fs::read(directory.join(name)).unwrap();
        for round in 0..rounds {
            let bytes = damaged(&file, &mut chance);
            let array = arrays[round % arrays.len()];
            let reading = Reading {
                array: Some(array.to_string()).filter(|array| !array.is_empty()),
                ..limited.clone()
            };
            let peak = peak_of(|| {
                for (timed, shape) in [(false, &[][..]), (false, &[2]), (true, &[])] {
                    let declared = Declared { dim, timed, shape };
                    drop(Image::<f32>::from_bytes(&bytes, declared, &reading));
                    drop(Image::<f32>::from_bytes(&bytes, declared, &limited));
                }
            });
            assert!(
                peak < CONSTANT,
                "{name}#{array}, round {round}: {peak} bytes"
            );
        }
    }
}

/// All files below a directory.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

#[test]
fn damaged_directories_take_no_memory_that_is_not_claimed() {
    let _alone = alone();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let copy = std::env::temp_dir().join(format!("damaged-{}", std::process::id()));
    let mut chance = Chance(seed_of_run() | 1);
    let rounds = given("DAMAGED").map_or(500, |n| n as usize);
    for (name, arrays) in [
        (
            "second.zarr",
            &[
                "zlib",
                "gzip",
                "none",
                "lz4",
                "blosc/lz4",
                "blosc/blosclz",
                "blosc/zstd",
            ][..],
        ),
        (
            "third.zarr",
            &[
                "zstd",
                "gzip",
                "blosc",
                "shards",
                "sparse",
                "transposed",
                "zstd,gzip",
            ],
        ),
        ("ome-3.zarr", &["s0", "s1"]),
        ("dicom-series", &[""]),
    ] {
        let original = files.join(name);
        let parts = files_below(&original);
        for part in &parts {
            let place = copy.join(name).join(part.strip_prefix(&original).unwrap());
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::copy(part, place).unwrap();
        }
        for round in 0..rounds {
            let array = arrays[round % arrays.len()];
            let first = array.split(',').next().unwrap();
            // Files of the array itself, where there are any.
            let own: Vec<&PathBuf> = parts
                .iter()
                .filter(|part| part.starts_with(original.join(first)))
                .collect();
            let part = match own.len() {
                0 => &parts[chance.next(parts.len())],
                count => own[chance.next(count)],
            };
            let whole = std::fs::read(part).unwrap();
            let place = copy.join(name).join(part.strip_prefix(&original).unwrap());
            std::fs::write(&place, damaged(&whole, &mut chance)).unwrap();
            let reading = Reading {
                array: Some(array.to_string()).filter(|array| !array.is_empty()),
                memory: Some(4 << 20),
                ..Reading::default()
            };
            let peak = peak_of(|| {
                for shape in [&[][..], &[2]] {
                    let read = Image::<f32>::read_with(
                        &copy.join(name),
                        Declared::new(3, shape),
                        &reading,
                    );
                    drop(read);
                }
            });
            assert!(
                peak < CONSTANT,
                "{name}#{array}, {}, round {round}: {peak} bytes",
                part.display()
            );
            std::fs::write(&place, whole).unwrap();
        }
    }
    std::fs::remove_dir_all(&copy).unwrap();
}

fn file_of(encoding: Encoding, sizes: &[usize]) -> Vec<u8> {
    let count = sizes.iter().product();
    let nrrd = Nrrd::new(
        Header::new(SampleType::U16, sizes),
        Samples::U16(vec![7; count]),
    )
    .unwrap();
    let mut file = Vec::new();
    let format = Format {
        encoding,
        ..Format::default()
    };
    nrrd::write_attached(&nrrd, format, &mut file).unwrap();
    file
}

#[test]
fn memory_follows_the_data_and_not_the_header() {
    let _alone = alone();
    for encoding in Encoding::all() {
        // The file has a hundred thousand samples, but its header claims a thousand million.
        let mut file = file_of(encoding, &[100_000]);
        let sizes = file.windows(6).position(|w| w == b"100000").unwrap();
        file.splice(sizes..sizes + 6, *b"1000000000");
        let peak = peak_of(|| {
            let error = Image::<f64>::from_bytes(&file, Declared::new(1, &[]), &Reading::default())
                .unwrap_err();
            assert!(
                error.to_string().contains("end after 200000 bytes")
                    || error.to_string().contains("end after 100000"),
                "{error}"
            );
        });
        assert!(peak < CONSTANT, "{encoding}: {peak} bytes");
    }
}

#[test]
fn samples_are_kept_once() {
    let _alone = alone();
    // Powers of two are where growth by doubling would show; three components are where a second order of them would.
    for (sizes, dim, shape) in [
        (&[1 << 20, 4][..], 2, &[][..]),
        (&[3, 1 << 20], 1, &[3]),
        (&[1 << 20, 3], 1, &[3]),
    ] {
        let file = file_of(Encoding::Raw, sizes);
        let needed = sizes.iter().product::<usize>() * size_of::<f32>();
        let mut loaded = None;
        let peak = peak_of(|| {
            loaded = Some(Image::<f32>::from_bytes(
                &file,
                Declared::new(dim, shape),
                &Reading::default(),
            ))
        });
        assert!(loaded.is_some_and(|l| l.is_ok()));
        // The beginning of the file is looked at beside it.
        assert!(
            peak < needed + (4 << 20),
            "{sizes:?}: {peak} bytes for {needed}"
        );
    }
}

#[test]
fn an_image_above_the_limit_is_refused_before_anything_is_read() {
    let _alone = alone();
    let file = file_of(Encoding::Gzip, &[1000, 1000]);
    let limited = Reading {
        memory: Some(1_000_000),
        ..Reading::default()
    };
    let error = Image::<f32>::from_bytes(&file, Declared::new(2, &[]), &limited).unwrap_err();
    assert_eq!(
        error.message(),
        "the image needs 4.0 MB of memory, more than the 1.0 MB there are"
    );
    assert!(error.hints()[0].contains("unu save -f nrrd -e raw"));
    let enough = Reading {
        memory: Some(4_000_000),
        ..Reading::default()
    };
    assert!(Image::<f32>::from_bytes(&file, Declared::new(2, &[]), &enough).is_ok());
}

/// Zeros as PNG has them, compressed.
fn deflated_zeros(count: usize) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    for _ in 0..count / (1 << 16) {
        encoder.write_all(&[0; 1 << 16]).unwrap();
    }
    encoder.write_all(&vec![0; count % (1 << 16)]).unwrap();
    encoder.finish().unwrap()
}

/// A PNG file of black grey pixels, with chunks before them.
fn black_png(width: u32, height: u32, chunks: &[(&[u8], Vec<u8>)]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut add = |name: &[u8], data: &[u8]| {
        let named = [name, data].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&named);
        file.extend((data.len() as u32).to_be_bytes());
        file.extend(named);
        file.extend(sum.sum().to_be_bytes());
    };
    let sizes = [width.to_be_bytes(), height.to_be_bytes()].concat();
    add(b"IHDR", &[&sizes[..], &[8, 0, 0, 0, 0]].concat());
    for (name, data) in chunks {
        add(name, data);
    }
    // Every row has a filter in front.
    add(
        b"IDAT",
        &deflated_zeros((width as usize + 1) * height as usize),
    );
    add(b"IEND", &[]);
    file
}

#[test]
fn what_a_picture_has_beside_its_pixels_takes_no_memory() {
    let _alone = alone();
    let zeros = deflated_zeros(64 << 20);
    let chunks: [(&[u8], Vec<u8>); 3] = [
        (b"iCCP", [b"icc\0\0", &zeros[..]].concat()),
        (b"zTXt", [b"text\0\0", &zeros[..]].concat()),
        (b"iTXt", [b"text\0\x01\0\0\0", &zeros[..]].concat()),
    ];
    let file = black_png(2, 2, &chunks);
    let peak = peak_of(|| {
        let image = Image::<f32>::from_bytes(&file, Declared::new(2, &[]), &Reading::default());
        assert_eq!(image.expect("an image").image.sample(0, &[1, 1]), Some(0.0));
    });
    assert!(peak < CONSTANT, "{peak} bytes");
}

#[test]
fn the_values_of_a_picture_are_looked_at_row_by_row() {
    let _alone = alone();
    let side = 8192;
    let path = std::env::temp_dir().join(format!("rows-{}.png", std::process::id()));
    std::fs::write(&path, black_png(side, side, &[])).unwrap();
    let peak = peak_of(|| {
        let values = statistics(&path).unwrap();
        assert_eq!((values.count, values.max), (u64::from(side * side), 0.0));
    });
    std::fs::remove_file(&path).unwrap();
    assert!(peak < CONSTANT, "{peak} bytes");
}
