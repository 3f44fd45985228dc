//! The programs that are measured: each stands for a class, and has a counterpart in plain Rust.

use super::ours::Given;
use super::{planes, points, rays};
use compiler::run::ImageSource;
use ndarray::{ArrayD, IxDyn};
use runtime::image::{Image, ImageArray, Orientation};
use std::path::Path;

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

fn file(image: usize, name: &str) -> Given {
    Given::Image(image, ImageSource::File(name.into()))
}

pub(crate) fn volume() -> Image<f32> {
    let read = Image::read(Path::new(PHANTOM), 3, &[]);
    read.expect("the phantom").image
}

/// An image in index space, and the same for a program.
fn made(
    number: usize,
    sizes: &[usize],
    shape: &[usize],
    value: impl FnMut(usize) -> f64,
) -> (Image<f32>, Given) {
    let count = sizes.iter().chain(shape).product();
    let dims: Vec<usize> = sizes.iter().rev().chain(shape).copied().collect();
    let values: Vec<f64> = (0..count).map(value).collect();
    let samples = ArrayD::from_shape_vec(IxDyn(&dims), values).expect("as many as there are");
    let orientation = Orientation::identity(sizes.len());
    let array = ImageArray::new(samples, orientation);
    let image = array.image(shape).expect("an image");
    let source = ImageSource::Array(array);
    (image, Given::Image(number, source))
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let phantom = || file(0, PHANTOM);
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
    let (noise, given_noise) = made(1, &[128, 128], &[], |_| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    });
    let (flow, given_flow) = made(0, &[32, 32], &[2], |n| {
        let (x, y) = ((n / 2 % 32) as f64 - 15.3, (n / 64) as f64 - 14.8);
        [-y + 0.2 * x, x + 3.0 * (0.4 * y).sin()][n % 2]
    });
    let (signal, given_signal) = made(0, &[32], &[], |n| (0.7 * n as f64).sin() * 0.8);
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
                file(1, rgba),
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
            vec![file(0, rings), Given::Int("across", 1000)],
            1_000_000,
            Box::new(move || points::contour(&picture, 1000)),
            1e-2,
        ),
        grid(
            "dots",
            halftone,
            vec![file(0, rings), Given::Int("n", 250)],
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
            vec![file(0, rings), file(1, heat), size(1920)],
            1920 * 1920,
            Box::new(move || planes::colours(&picture_again, &map, 1920)),
            1e-3,
        )),
    ]
}
