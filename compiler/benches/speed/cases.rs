//! The programs that are measured: each stands for a class, and has a counterpart in plain Rust.

use super::ours::Given;
use super::{planes, points, rays};
use runtime::image::Image;
use std::path::{Path, PathBuf};

/// A program and its counterpart.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) file: String,
    pub(crate) given: Vec<Given>,
    /// Strands that are made.
    pub(crate) strands: usize,
    /// Whether strands take one step, so that making them is most of the work.
    pub(crate) one_step: bool,
    pub(crate) by_hand: Box<dyn Fn() -> Vec<f32> + Sync>,
    /// The part of the numbers that may differ by more than rounding: where a ray ends, or whether a sample is inside, is
    /// decided by the last bit.
    pub(crate) tolerance: f64,
}

/// The edge of the projection.
pub(crate) const PROJECTION: usize = 1000;

pub(crate) const PHANTOM: &str = "data/phantom.nrrd";

fn own(name: &str) -> String {
    format!("compiler/benches/speed/programs/{name}.diderot")
}

fn file(input: &'static str, name: &str) -> Given {
    Given::File(input, name.to_string())
}

/// Where images are that are made here, and what programs write.
pub(crate) fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("diderot-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

pub(crate) fn volume() -> Image<f32> {
    let read = Image::read(Path::new(PHANTOM), 3, &[]);
    read.expect("the phantom").image
}

/// An image in index space, and the same for an input of a program.
fn made(
    input: &'static str,
    sizes: &[usize],
    shape: &[usize],
    value: impl FnMut(usize) -> f64,
) -> (Image<f32>, Given) {
    let axes: Vec<String> = shape.iter().chain(sizes).map(usize::to_string).collect();
    let kinds = [
        &vec!["vector"; shape.len()][..],
        &vec!["domain"; sizes.len()],
    ]
    .concat();
    let mut text = format!(
        "NRRD0004\ntype: float\ndimension: {}\nsizes: {}\nkinds: {}\nendian: little\nencoding: raw\n\n",
        axes.len(),
        axes.join(" "),
        kinds.join(" ")
    )
    .into_bytes();
    let count = sizes.iter().chain(shape).product();
    text.extend((0..count).map(value).flat_map(|x| (x as f32).to_le_bytes()));
    let path = folder().join(format!("{input}.nrrd"));
    std::fs::write(&path, text).expect("a file");
    let image = Image::read(&path, sizes.len(), shape)
        .expect("an image")
        .image;
    (image, file(input, &path.to_string_lossy()))
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let phantom = || file("vol", PHANTOM);
    let rings = "data/check-rings.nrrd";
    let picture: Image<f32> = Image::read(Path::new(rings), 2, &[]).expect("rings").image;
    let picture_too = picture.clone();
    let picture_again = picture.clone();
    let rgba = "data/phantom-rgba.nrrd";
    let material: Image<f32> = Image::read(Path::new(rgba), 1, &[4]).expect("rgba").image;
    let heat = "data/heat.nrrd";
    let map: Image<f32> = Image::read(Path::new(heat), 1, &[3]).expect("heat").image;
    let vol = volume();
    let [first, second, third, fourth] = [(); 4].map(|()| vol.clone());
    let mut state = 1u64;
    let (noise, given_noise) = made("noise", &[128, 128], &[], |_| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    });
    let (flow, given_flow) = made("flow", &[32, 32], &[2], |n| {
        let (x, y) = ((n / 2 % 32) as f64 - 15.3, (n / 64) as f64 - 14.8);
        [-y + 0.2 * x, x + 3.0 * (0.4 * y).sin()][n % 2]
    });
    let (signal, given_signal) = made("signal", &[32], &[], |n| (0.7 * n as f64).sin() * 0.8);
    let halftone = "programs/particles/halftone.diderot".to_string();
    let grid = |name, file: String, given, strands, by_hand, tolerance| Case {
        name,
        file,
        given,
        strands,
        one_step: false,
        by_hand,
        tolerance,
    };
    let one_step = |case: Case| Case {
        one_step: true,
        ..case
    };
    let size = |n| Given::Int("res", n);
    vec![
        grid(
            "projection",
            own("projection"),
            vec![phantom(), size(PROJECTION)],
            PROJECTION * PROJECTION,
            Box::new(move || rays::projection(&first, PROJECTION)),
            1e-3,
        ),
        grid(
            "rendering",
            "programs/methods/vr.diderot".into(),
            vec![
                phantom(),
                file("rgba", rgba),
                Given::Int("xres", 400),
                Given::Int("yres", 400),
            ],
            400 * 400,
            Box::new(move || rays::rendering(&second, &material, 400)),
            1e-3,
        ),
        grid(
            "surface",
            own("surface"),
            vec![phantom(), size(500)],
            500 * 500,
            Box::new(move || rays::surface(&third, 500)),
            1e-2,
        ),
        grid(
            "edges",
            own("edges"),
            vec![phantom(), size(200)],
            200 * 200,
            Box::new(move || rays::edges(&fourth, 200)),
            3e-2,
        ),
        grid(
            "streaks",
            own("streaks"),
            vec![given_flow, given_noise, size(600)],
            600 * 600,
            Box::new(move || planes::streaks(&flow, &noise, 600)),
            1e-2,
        ),
        grid(
            "contour",
            own("contour"),
            vec![file("picture", rings), Given::Int("across", 1000)],
            1_000_000,
            Box::new(move || points::contour(&picture, 1000)),
            1e-2,
        ),
        grid(
            "dots",
            halftone,
            vec![file("img", rings), Given::Int("n", 250)],
            250 * 250,
            Box::new(move || points::dots(&picture_too, 250)),
            1e-2,
        ),
        one_step(grid(
            "sampling",
            own("sampling"),
            vec![size(200)],
            200 * 200 * 200,
            Box::new(|| planes::sampling(200)),
            1e-3,
        )),
        one_step(grid(
            "plot",
            own("plot"),
            vec![
                given_signal,
                Given::Int("xres", 4000),
                Given::Int("yres", 2000),
            ],
            4000 * 2000,
            Box::new(move || planes::plot(&signal, [4000, 2000])),
            1e-3,
        )),
        one_step(grid(
            "colours",
            own("colours"),
            vec![file("picture", rings), file("cmap", heat), size(1920)],
            1920 * 1920,
            Box::new(move || planes::colours(&picture_again, &map, 1920)),
            1e-3,
        )),
    ]
}
