//! The descriptions of files: their grids, without reading the samples, and statistics of their values.

use std::path::{Path, PathBuf};

use approx::assert_relative_eq;
use runtime::image::{AsImage, BARS, Image, Reading, Statistics, describe, statistics};
use runtime::nrrd::{self, Encoding, Format, Header, Nrrd, SampleType, Samples};

fn file(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    directory.join(name)
}

fn image(name: &str) -> AsImage {
    let description = describe(&file(name)).unwrap_or_else(|e| panic!("{e}"));
    description.image.unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn a_grid_is_described_without_its_samples() {
    let description = describe(&file("itk-vector-gzip.nrrd")).unwrap();
    assert_eq!(description.header.sample_type, SampleType::F32);
    assert_eq!(description.compression, Some("gzip"));
    let AsImage {
        shape,
        sizes,
        steps,
        space,
        ..
    } = description.image.unwrap();
    assert_eq!((&shape[..], &sizes[..]), (&[3][..], &[4, 3, 2][..]));
    // The steps that the file was written with, in oblique directions.
    for (found, written) in steps.iter().zip([0.5, 1.25, 3.0]) {
        assert_relative_eq!(*found, written, max_relative = 1e-12);
    }
    assert_eq!(space.as_deref(), Some("left-posterior-superior"));
    assert_eq!(image("itk-scalar.nii.gz").unit.as_deref(), Some("mm"));
    assert_eq!(describe(&file("itk-scalar.vtk")).unwrap().compression, None);
}

#[test]
fn a_description_is_that_of_the_chosen_frames() {
    let declared = |name: &str| describe(&file(name)).unwrap().declare("v").unwrap();
    for (name, expected) in [
        ("itk-frames.nrrd", "input image(3,time)[] v;"),
        ("itk-frames.nrrd#1", "input image(3)[] v;"),
        ("itk-frames.nii.gz#2", "input image(3)[] v;"),
        ("itk-frames.mha#0:1", "input image(3,time)[] v;"),
        ("tifffile-imagej.tif#1", "input image(3)[3] v;"),
        ("tifffile-imagej.tif", "input image(3,time)[3] v;"),
        ("netcdf-classic.nc#u#1", "input image(3)[] v;"),
        ("netcdf-classic.nc#u", "input image(3,time)[] v;"),
        ("netcdf-classic.nc#v,u#2", "input image(3)[2] v;"),
        ("ome-3.zarr#1", "input image(3)[2] v;"),
    ] {
        assert_eq!(declared(name), expected, "{name}");
        // A program with this declaration takes the file.
        let own = image(name);
        let loaded = Image::<f32>::read_with(&file(name), own.declared(), &Reading::default());
        let loaded = loaded.unwrap().image;
        assert_eq!(loaded.sizes(), own.sizes, "{name}");
        assert_eq!(loaded.time(), own.time.as_ref(), "{name}");
    }
    let error = describe(&file("itk-frames.nrrd#3"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("has frames 0 to 2"), "{error}");
    let error = describe(&file("itk-scalar.nrrd#0"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("there are no frames"), "{error}");
}

#[test]
fn the_box_holds_all_samples_and_touches_them() {
    for (name, shape) in [("itk-vector.nrrd", &[3][..]), ("nibabel-qform.nii", &[])] {
        let loaded = Image::<f32>::read(&file(name), 3, shape).unwrap().image;
        let mut bounds = vec![(f64::INFINITY, f64::NEG_INFINITY); 3];
        let &[a, b, c] = loaded.sizes() else {
            panic!("{name}")
        };
        for at in 0..a * b * c {
            let index = [at % a, at / a % b, at / a / b].map(|i| i as f64);
            let world = loaded.orientation().to_world(&index);
            for ((low, high), x) in bounds.iter_mut().zip(world) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        let found = image(name).world_box();
        for (found, wanted) in found.iter().zip(&bounds) {
            assert_relative_eq!(found.0, wanted.0, epsilon = 1e-9);
            assert_relative_eq!(found.1, wanted.1, epsilon = 1e-9);
        }
    }
}

#[test]
fn what_can_be_no_image_is_described_all_the_same() {
    let directory = scratch("none");
    let path = directory.join("five.nrrd");
    write(
        &path,
        &[2, 2, 2, 2, 2],
        Samples::U8(vec![0; 32]),
        Encoding::Raw,
    );
    let description = describe(&path).unwrap();
    assert!(description.image.is_none() && description.declare("x").is_none());
    assert_eq!(description.header.sizes(), [2; 5]);
    std::fs::remove_dir_all(&directory).unwrap();
}

fn scratch(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("describe-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn write(path: &Path, sizes: &[usize], samples: Samples, encoding: Encoding) {
    let header = Header::new(samples.sample_type(), sizes);
    let format = Format {
        encoding,
        ..Format::default()
    };
    nrrd::write(&Nrrd::new(header, samples).unwrap(), format, path).unwrap();
}

fn values_of(name: &str, samples: Samples) -> Statistics {
    let directory = scratch(name);
    let path = directory.join("values.nrrd");
    let count = samples.len();
    write(&path, &[count], samples, Encoding::Gzip);
    let found = statistics(&path).unwrap_or_else(|e| panic!("{e}"));
    std::fs::remove_dir_all(&directory).unwrap();
    found
}

#[test]
fn integers_have_exact_percentiles() {
    // 1 to 1000 in some order: ten of them are at most 10.
    let samples = (0..1000_i64).map(|n| (n * 617 % 1000 + 1) as i16).collect();
    let found = values_of("integers", Samples::I16(samples));
    assert_eq!((found.count, found.nan, found.infinite), (1000, 0, 0));
    assert_eq!((found.min, found.max), (1.0, 1000.0));
    assert_relative_eq!(found.mean, 500.5, max_relative = 1e-12);
    assert_eq!(found.percentiles, (10.0, 990.0));
    let counts = found.histogram;
    assert_eq!(counts.iter().sum::<u64>(), 1000);
    assert!(counts.iter().all(|n| (62..=63).contains(n)), "{counts:?}");
}

#[test]
fn reals_of_any_size_and_none_have_statistics() {
    let mut samples: Vec<f64> = (0..10_001).map(|n| f64::from(n) / 1e4 - 0.25).collect();
    samples.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    let found = values_of("reals", Samples::F64(samples));
    assert_eq!((found.count, found.nan, found.infinite), (10_005, 2, 2));
    assert_eq!((found.min, found.max), (-0.25, 0.75));
    assert_relative_eq!(found.mean, 0.25, max_relative = 1e-12);
    assert_relative_eq!(found.percentiles.0, -0.24, epsilon = 2e-4);
    assert_relative_eq!(found.percentiles.1, 0.74, epsilon = 2e-4);
    // A span that is not finite.
    let found = values_of("large", Samples::F64(vec![f64::MAX, -f64::MAX, 0.0]));
    assert_eq!(
        (found.min, found.max, found.mean),
        (-f64::MAX, f64::MAX, 0.0)
    );
    assert_eq!((found.histogram[0], found.histogram[BARS - 1]), (1, 1));
    let found = values_of("equal", Samples::F32(vec![2.5; 7]));
    assert_eq!((found.mean, found.percentiles), (2.5, (2.5, 2.5)));
    let found = values_of("nothing", Samples::F32(vec![f32::NAN; 3]));
    assert!(found.min.is_nan() && found.mean.is_nan() && found.percentiles.0.is_nan());
    assert_eq!((found.nan, found.histogram), (3, [0; BARS]));
}

#[test]
fn values_are_those_of_the_chosen_frames() {
    // Frames are 1000 apart, and their samples go from 1 to 124.
    for (frames, count, min, max) in [
        ("", 72, 1.0, 2124.0),
        ("#1", 24, 1001.0, 1124.0),
        ("#1:2", 48, 1001.0, 2124.0),
    ] {
        let found = statistics(&file(&format!("itk-frames.nrrd{frames}"))).unwrap();
        assert_eq!(
            (found.count, found.min, found.max),
            (count, min, max),
            "{frames}"
        );
    }
}

#[test]
fn values_are_what_the_file_means() {
    // Stored integers that a slope and an intercept scale.
    let name = file("nibabel-scaled.nii");
    let image = Image::<f64>::read(&name, 3, &[]).unwrap().image;
    let found = statistics(&name).unwrap();
    let count = image.plane_stride();
    let values = &image.samples()[..count];
    assert_eq!(found.count, count as u64);
    assert_eq!(found.min, values.iter().copied().fold(f64::NAN, f64::min));
    assert_eq!(found.max, values.iter().copied().fold(f64::NAN, f64::max));
    let mean = values.iter().sum::<f64>() / count as f64;
    assert_relative_eq!(found.mean, mean, max_relative = 1e-12);
    assert!(statistics(&file("none.nii")).is_err());
}

#[test]
fn pictures_have_the_type_that_their_files_have() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for (name, wanted) in [
        ("pillow-grey.png", SampleType::U8),
        ("pillow-colour.png", SampleType::U8),
        ("imageio-deep.png", SampleType::U16),
        ("pillow-grey.bmp", SampleType::U8),
    ] {
        let description = describe(&files.join(name)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(description.header.sample_type, wanted, "{name}");
    }
}
