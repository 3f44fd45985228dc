//! Cases with fields over time: programs with images over time.

#[path = "programs.rs"]
mod programs;

use super::stages::Case;
use compiler::{front::source::Source, run::ImageSource};
use ndarray::ArrayD;
use programs::PROGRAMS;
use runtime::{
    grid::TimeAxis,
    image::{ImageArray, Orientation},
};

/// The times of six frames.
pub(crate) fn axes() -> [TimeAxis; 2] {
    let irregular = [0.5, 0.75, 1.5, 1.75, 3.0, 3.25];
    [
        TimeAxis::regular(0.5, 0.5).expect("times"),
        TimeAxis::of_times(&irregular).expect("times"),
    ]
}

/// An image over time with the values of a function of position and time, component by component.
pub(crate) fn image(
    sizes: &[usize],
    shape: &[usize],
    axis: &TimeAxis,
    value: impl Fn(&[f64], f64, usize) -> f64,
) -> ImageSource {
    let dim = sizes.len();
    let slowest_first = sizes.iter().rev().copied();
    let all: Vec<usize> = [6]
        .into_iter()
        .chain(slowest_first)
        .chain(shape.iter().copied())
        .collect();
    let samples = ArrayD::from_shape_fn(all, |at| {
        let position: Vec<f64> = (0..dim).map(|axis| at[dim - axis] as f64).collect();
        let component = (0..shape.len()).fold(0, |n, k| n * shape[k] + at[1 + dim + k]);
        value(&position, axis.time(at[0]), component)
    });
    let array = ImageArray::new(samples, Orientation::identity(dim));
    ImageSource::Array(array.over_time(axis.clone()))
}

/// Something without symmetries.
fn bumps(x: &[f64], t: f64, component: usize) -> f64 {
    let phase = x
        .iter()
        .enumerate()
        .map(|(k, x)| x * (0.3 + 0.2 * k as f64));
    (phase.sum::<f64>() + 0.7 * t + component as f64).sin() + 0.1 * t * x[0]
}

/// A program on images of some dimension: `scalar`, `vector` and `fixed`, which is not over time.
pub(crate) fn case(name: &str, dim: usize, axis: &TimeAxis) -> Case {
    let (_, text) = PROGRAMS
        .iter()
        .find(|(known, _)| *known == name)
        .expect(name);
    let mut case = Case::new(Source::new(
        format!("{name}-{dim}.diderot"),
        programs::in_dimension(text, dim),
    ));
    let sizes = &[9, 8, 7][..dim];
    let shape = &[dim][..usize::from(dim > 1)];
    let fixed = ArrayD::from_shape_fn(sizes.iter().rev().copied().collect::<Vec<_>>(), |at| {
        let position: Vec<f64> = (0..dim).map(|axis| at[dim - 1 - axis] as f64).collect();
        bumps(&position, 0.0, 3)
    });
    case.images = vec![
        image(sizes, &[], axis, bumps),
        image(sizes, shape, axis, bumps),
        ImageSource::Array(ImageArray::new(fixed, Orientation::identity(dim))),
    ];
    case
}

/// Every program, in every dimension that it is for, with regular times and, where its kernels allow it, irregular ones.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    PROGRAMS.iter().flat_map(|(name, text)| {
        let [regular, irregular] = axes();
        let dims = (1..=3).filter(|dim| programs::is_for(text, *dim));
        let linear = !text.contains("KRNS");
        dims.flat_map(move |dim| {
            let axes = [Some(regular.clone()), linear.then(|| irregular.clone())];
            axes.into_iter()
                .flatten()
                .map(move |axis| case(name, dim, &axis))
        })
    })
}
