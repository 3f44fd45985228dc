//! Files of many arrays under names: which one is read, the place of its grid, and the messages.

use std::path::{Path, PathBuf};

use runtime::image::{Declared, Image, ImageError, Reading, describe, files_of};

fn file(name: &str) -> PathBuf {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    files.join(name)
}

fn refused(name: &str, dim: usize, shape: &[usize]) -> ImageError {
    let read = Image::<f32>::read(&file(name), dim, shape).map(|_| ());
    read.expect_err(name)
}

fn notes(name: &str, dim: usize, shape: &[usize]) -> Vec<String> {
    let loaded = Image::<f32>::read(&file(name), dim, shape).unwrap_or_else(|e| panic!("{e}"));
    loaded.notes.iter().map(|note| note.text.clone()).collect()
}

#[test]
fn a_choice_that_is_left_open_is_listed() {
    let error = refused("h5py-many.h5", 3, &[]).to_string();
    for part in [
        "8 arrays",
        "`gzip` (2 × 3 × 4, float)",
        "`half` (2 × 3 × 4, half)",
        "`complex` (2 × 3 × 4, complex float)",
        "choose one of them: `FILE#",
        "as components: `FILE#",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let error = refused("netcdf-classic.nc", 3, &[]).to_string();
    assert!(
        error.contains("2 arrays: `u` (3 × 2 × 3 × 4, short), `v`"),
        "{error}"
    );
    let error = refused("h5py-many.h5#gzip,nothing", 3, &[2]).to_string();
    assert!(error.contains("no array `nothing`; it has"), "{error}");
    let error = refused("h5py-many.h5#gzip,lzf", 3, &[2]).to_string();
    assert!(error.contains("components have equal sizes"), "{error}");
    let error = refused("netcdf-classic.nc#u,time", 3, &[2]).to_string();
    assert!(error.contains("equal sizes"), "{error}");
}

#[test]
fn virtual_datasets_do_not_hide_others() {
    let error = refused("h5py-virtual.h5", 3, &[]).to_string();
    assert!(error.contains("virtual datasets are not read"), "{error}");
    assert!(error.contains("h5py.File("), "{error}");
    assert!(Image::<f32>::read(&file("h5py-virtual.h5#plain"), 3, &[]).is_ok());
}

#[test]
fn missing_values_are_counted() {
    let all = notes("netcdf-classic.nc#u#1", 3, &[]);
    assert!(
        all.iter()
            .any(|n| n == "3 values are missing in the file and became NaN"),
        "{all:?}"
    );
    assert!(all.iter().any(|n| n.contains("per degree")), "{all:?}");
    assert!(
        all.iter()
            .any(|n| n == "`time` has 3 frames, every 21600 s from 0 s after 2020-01-01 00:00:00"),
        "{all:?}"
    );
    let image = Image::<f32>::read(&file("netcdf-classic.nc#u#0"), 3, &[])
        .unwrap()
        .image;
    assert!(image.sample(0, &[1, 0, 0]).is_some_and(f32::is_nan));
    let all = notes("h5netcdf.nc", 2, &[]);
    assert!(
        all.iter().any(|n| n.starts_with("1 value is missing")),
        "{all:?}"
    );
}

#[test]
fn coordinates_that_are_not_regular_need_a_place() {
    let name = "netcdf-irregular.nc#v#0";
    let error = refused(name, 3, &[]).to_string();
    for part in ["`lat` are not regular", "--world index", "cdo remapbil"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let description = describe(&file("netcdf-irregular.nc#v")).unwrap();
    let told = |n: &runtime::image::Note| n.text.contains("not regular");
    assert!(description.notes.iter().any(told));
    let mut reading = Reading::default();
    reading.set_world("index").unwrap();
    let read = Image::<f32>::read_with(&file(name), Declared::new(3, &[]), &reading);
    let image = read.unwrap_or_else(|e| panic!("{e}")).image;
    assert_eq!(
        image.orientation().to_world(&[1.0, 2.0, 1.0]),
        [1.0, 2.0, 1.0]
    );
}

#[test]
fn a_series_with_a_missing_slice_is_refused() {
    let error = refused("dicom-missing", 3, &[]).to_string();
    assert!(
        error.contains("slice 3 of 4 is missing, at −25 mm"),
        "{error}"
    );
    assert!(error.contains("`--missing nan`"), "{error}");
}

/// An image whose missing parts are NaN, and its notes.
fn filled(name: &str) -> (Image<f32>, Vec<String>) {
    let mut reading = Reading::default();
    reading.set_missing("nan").unwrap();
    let loaded = Image::<f32>::read_with(&file(name), Declared::new(3, &[]), &reading);
    let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
    let notes = loaded.notes.iter().map(|note| note.text.clone());
    (loaded.image, notes.collect())
}

/// Whether an image has the samples of another, but NaN in the slices `lost`; and whether they are at the same place.
fn is_like_but_for(found: &Image<f32>, whole: &Image<f32>, lost: &[usize], slices: usize) {
    let sizes = whole.sizes();
    assert_eq!(found.sizes(), [sizes[0], sizes[1], slices]);
    for z in 0..slices {
        for y in 0..sizes[1] {
            for x in 0..sizes[0] {
                let sample = found.sample(0, &[x, y, z]).unwrap();
                match lost.contains(&z) {
                    true => assert!(sample.is_nan(), "{x} {y} {z}: {sample}"),
                    false => assert_eq!(Some(sample), whole.sample(0, &[x, y, z])),
                }
            }
        }
    }
    for corner in [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]] {
        let [a, b] = [found, whole].map(|image| image.orientation().to_world(&corner));
        let near = a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near, "{a:?} {b:?}");
    }
}

#[test]
fn a_missing_slice_is_nan_where_that_is_asked_for() {
    let whole = Image::<f32>::read(&file("dicom-series"), 3, &[])
        .unwrap()
        .image;
    let (found, notes) = filled("dicom-missing");
    assert_eq!(notes, ["slice 3 of 4 is missing and became NaN"]);
    is_like_but_for(&found, &whole, &[2], 4);
    // A series that has all of its slices is as it was.
    let (found, notes) = filled("dicom-series");
    assert!(notes.is_empty(), "{notes:?}");
    is_like_but_for(&found, &whole, &[], 4);
    let error = Reading::default().set_missing("zero").unwrap_err();
    assert_eq!(error, "found `zero`, expected nan or refuse");
}

#[test]
fn numbered_files_that_there_are_not_are_nan_where_that_is_asked_for() {
    let error = refused("slice-%02d.png 1 4", 3, &[]).to_string();
    assert!(error.contains("`--missing nan`"), "{error}");
    let whole = Image::<f32>::read(&file("slice-%02d.png 1 3"), 3, &[])
        .unwrap()
        .image;
    let (found, notes) = filled("slice-%02d.png 1 5");
    let told = "2 of 5 files are missing and became NaN: 4 to 5";
    assert!(notes.iter().any(|note| note == told), "{notes:?}");
    is_like_but_for(&found, &whole, &[3, 4], 5);
    // None at all.
    let mut reading = Reading::default();
    reading.set_missing("nan").unwrap();
    let declared = Declared::new(3, &[]);
    let read = Image::<f32>::read_with(&file("slice-%02d.png 7 9"), declared, &reading);
    let error = read.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("slice-07.png"), "{error}");
}

#[test]
fn a_tilt_stays_a_shear() {
    let all = notes("dicom-tilt", 3, &[]);
    assert_eq!(all, ["slices are sheared by 14.0°"]);
}

#[test]
fn one_of_several_series_is_chosen() {
    let error = refused("dicom-two", 3, &[]).to_string();
    for part in [
        "2 series: #/1 CT 4×3×4 \"thorax\", #/2 CT 4×3×4 \"head\"",
        "dicom-two#/1`",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    for (name, wanted) in [
        ("dicom-two#/1", "thorax"),
        ("dicom-two#/2", "head"),
        ("dicom-two#1125.1.2", "head"),
    ] {
        let description = describe(&file(name)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            (description.format, description.header.content.as_str()),
            ("DICOM", wanted)
        );
        let files = files_of(&file(name));
        assert_eq!(files.len(), 5, "{files:?}");
    }
    let error = refused("dicom-two#/3", 3, &[]).to_string();
    assert!(
        error.contains("no series `3`; the directory has #/1"),
        "{error}"
    );
}

#[test]
fn pictures_of_other_compressions_come_with_a_command() {
    let mut bytes = std::fs::read(file("pydicom-rle.dcm")).unwrap();
    let name = b"1.2.840.10008.1.2.5\0";
    let at = bytes.windows(name.len()).position(|w| w == name).unwrap();
    bytes.splice(at..at + name.len(), *b"1.2.840.10008.1.2.4.90");
    bytes[at - 2] += 2;
    // The length of group 2 is not looked at.
    let error =
        Image::<f32>::from_bytes(&bytes, Declared::new(3, &[]), &Reading::default()).map(|_| ());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("JPEG 2000") && error.contains("gdcmconv --raw"),
        "{error}"
    );
}

#[test]
fn slices_of_damaged_files_are_refused_and_not_taken_for_others() {
    let directory = std::env::temp_dir().join(format!("series-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for entry in std::fs::read_dir(file("dicom-series")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, directory.join(path.file_name().unwrap())).unwrap();
    }
    std::fs::write(directory.join("README"), "not a picture").unwrap();
    assert!(Image::<f32>::read(&directory, 3, &[]).is_ok());
    let half = std::fs::read(directory.join("12.dcm")).unwrap();
    std::fs::write(directory.join("12.dcm"), &half[..half.len() / 2]).unwrap();
    let error = Image::<f32>::read(&directory, 3, &[])
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(error.contains("12.dcm"), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn arrays_of_zarr_are_listed_and_described() {
    let error = refused("third.zarr", 3, &[]).to_string();
    for part in ["6 arrays", "`shards` (2 × 3 × 4, float)", "FILE#blosc,"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let error = refused("one.zarr#x", 3, &[]).to_string();
    assert!(error.contains("has only one"), "{error}");
    let description = describe(&file("ome-3.zarr")).unwrap();
    assert_eq!(description.format, "OME-Zarr");
    let notes: Vec<&str> = description.notes.iter().map(|n| n.text.as_str()).collect();
    assert!(
        notes.iter().any(|n| n.contains("finest of 2 resolutions")),
        "{notes:?}"
    );
    let image = description.image.unwrap();
    assert_eq!(
        (image.unit.as_deref(), &image.steps[..]),
        (Some("um"), &[0.25, 0.5, 2.0][..])
    );
    let error = refused("ome-2.zarr#s7", 3, &[]).to_string();
    assert!(
        error.contains("no resolution `s7`") && error.contains("`s0` to `s1`"),
        "{error}"
    );
    let error = refused("ome-2.zarr#../one.zarr", 3, &[]).to_string();
    assert!(error.contains("no resolution"), "{error}");
}

#[test]
fn compressions_of_the_plugins_of_hdf5_are_read() {
    for name in ["blosc", "lz4", "zstd"] {
        let path = file(&format!("h5py-plugins.h5#{name}"));
        let image = Image::<f32>::read(&path, 3, &[])
            .unwrap_or_else(|e| panic!("{e}"))
            .image;
        assert_eq!(
            image.sample(0, &[3, 2, 1]),
            Some((1.0 * 256.0 + 2.0 * 16.0 + 3.0) / 2.0 + 0.5),
            "{name}"
        );
    }
}
