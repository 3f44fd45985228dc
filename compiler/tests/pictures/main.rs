//! Pictures, small: each is made by the commands a user would type, and compared with the one kept in the folders
//! `methods` and `gallery` beside this file, which was looked at. `UPDATE_DOCS=1` makes them again; then look at them.

mod gallery;

use runtime::image::Image;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Data: generator, name, and options.
const DATA: &[(&str, &str, &[&str])] = &[
    ("volume", "knot", &["-shape", "knot", "-size", "40"]),
    ("volume", "tangle", &["-shape", "tangle", "-size", "32"]),
    ("volume", "cubes", &["-shape", "cubes", "-size", "32"]),
    ("flow3", "vortices", &["-flow", "vortices", "-size", "32"]),
    ("flow2", "flow2", &["-size", "32"]),
    ("tensors", "tensors", &["-size", "32"]),
    ("scene", "scene", &["-size", "100"]),
    ("signal", "signal", &[]),
    ("noise", "noise", &["-size", "96"]),
];

/// Pictures: name, program, and options; `DATA/` stands for the folder with the data above.
#[rustfmt::skip]
const PICTURES: &[(&str, &str, &[&str])] = &[
    ("mip", "mip", &["-vol", "DATA/knot.nhdr"]),
    ("mip-ortho", "mip", &["-vol", "DATA/knot.nhdr", "-ortho", "true"]),
    ("vr", "vr", &["-vol", "data/phantom.nrrd", "-rgba", "data/phantom-rgba.nrrd"]),
    ("iso", "iso", &["-vol", "DATA/tangle.nhdr"]),
    ("curvature", "curvature", &["-vol", "DATA/tangle.nhdr", "-cmap", "data/curvature.nrrd"]),
    ("canny", "canny", &["-vol", "data/phantom.nrrd"]),
    ("crest", "crest", &["-vol", "DATA/cubes.nhdr"]),
    ("sample", "sample", &["-vol", "data/phantom.nrrd"]),
    ("lic", "lic", &["-flow", "DATA/flow2.nhdr", "-noise", "DATA/noise.nrrd", "-cmap", "data/diverging.nrrd"]),
    ("helicity", "helicity", &["-flow", "DATA/vortices.nhdr", "-cmap", "data/diverging.nrrd"]),
    ("tensor", "tensor", &["-tensors", "DATA/tensors.nhdr", "-cmap", "data/diverging.nrrd"]),
    ("corner", "corner", &["-photo", "DATA/scene.nhdr"]),
    ("contours", "contours", &["-photo", "DATA/scene.nhdr", "-cmap", "data/heat.nrrd"]),
    ("plot1d", "plot1d", &["-signal", "DATA/signal.nhdr", "-cmap", "data/diverging.nrrd"]),
    ("mandelbrot", "mandelbrot", &["-cmap", "data/heat.nrrd"]),
];

/// Programs with several outputs: the one that is the picture, and the other.
const SEVERAL: &[(&str, &str, &str)] = &[
    ("curvature", "rgb", "kappa"),
    ("sample", "value", "slope"),
    ("helicity", "rgb", "screw"),
    ("tensor", "rgb", "shape"),
    ("mandelbrot", "rgb", "count"),
];

/// Programs whose picture is a square.
const SQUARE: &[&str] = &["lic", "corner", "contours"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether to write generated text instead of comparing it.
fn updates() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

fn diderotc(words: &[String]) {
    let output = Command::new(env!("CARGO_BIN_EXE_diderotc"))
        .args(words)
        .current_dir(root())
        .output()
        .expect("the command runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {told}");
    assert!(!told.contains("warning:"), "{words:?}: {told}");
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|w| (*w).to_string()).collect()
}

#[test]
fn every_method_gives_the_picture_that_was_looked_at() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    fs::create_dir_all(&dir).expect("a directory for the test");
    let made = |name: &str| dir.join(name).to_string_lossy().into_owned();
    for (program, name, options) in DATA {
        let program = format!("programs/synth/{program}.diderot");
        let mut line = [words(&[&program]), words(options)].concat();
        line.extend(words(&["-o", &made(&format!("{name}.nrrd"))]));
        // Noise needs no place in the world.
        if *name != "noise" {
            line.extend(words(&["-file", &format!("{name}.nrrd")]));
            line.extend(words(&["-print", &made(&format!("{name}.nhdr"))]));
        }
        diderotc(&line);
    }
    let update = updates();
    let kept = root().join("compiler/tests/pictures/methods");
    for (name, program, options) in PICTURES {
        let file = format!("programs/methods/{program}.diderot");
        let mut line = words(&[&file]);
        line.extend(
            options
                .iter()
                .map(|w| w.replace("DATA", &dir.to_string_lossy())),
        );
        line.extend(if SQUARE.contains(program) {
            words(&["-res", "56"])
        } else {
            words(&["-xres", "64", "-yres", "48"])
        });
        let picture = if update {
            kept.join(format!("{name}.png"))
        } else {
            dir.join(format!("{name}.png"))
        };
        let picture = picture.to_string_lossy().into_owned();
        match SEVERAL.iter().find(|(p, ..)| p == program) {
            Some((_, shown, other)) => line.extend(words(&[
                &format!("-o-{shown}"),
                &picture,
                &format!("-o-{other}"),
                &made("other.nrrd"),
            ])),
            None => line.extend(words(&["-o", &picture])),
        }
        diderotc(&line);
        compare(name, Path::new(&picture), &kept.join(format!("{name}.png")));
    }
}

fn picture(file: &Path) -> Image<f32> {
    let bytes = fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let voxel: &[usize] = match bytes.get(25) {
        Some(0) => &[],
        _ => &[3],
    };
    Image::<f32>::read(file, 2, voxel)
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()))
        .image
}

/// Pictures agree if they differ by less than a grey level on average, and few pixels by much: rounding decides whether a
/// ray that touches a surface hits it.
fn compare(name: &str, found: &Path, kept: &Path) {
    let [found, kept] = [found, kept].map(picture);
    assert_eq!(found.sizes(), kept.sizes(), "{name}");
    let levels = kept.samples().iter().fold(1.0f32, |a, &b| a.max(b));
    let differences: Vec<f32> = (found.samples().iter().zip(kept.samples()))
        .map(|(a, b)| (a - b).abs() / levels)
        .collect();
    let count = differences.len() as f32;
    let mean = differences.iter().sum::<f32>() / count;
    let far = differences.iter().filter(|d| **d > 0.08).count() as f32 / count;
    assert!(
        mean < 0.004 && far < 0.02,
        "{name}: differs by {mean} on average, and much in {far} of the pixels"
    );
}
