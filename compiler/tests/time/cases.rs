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

/// Probes of 23 frames at irregular times, many of these exactly at the time of a frame or as near to it as single precision
/// allows, some far outside, and one at no time at all. Times are multiples of 1/8, and so are exact in both precisions.
pub(crate) fn at_and_beside_frames() -> Case {
    let text = "#version 2.0
input image(1,time)[] film;
input real zero = 0;
field#1(1,time#1)[] F = KRNS(ctmr, c1tent) ⊛ film;
strand S (int i) {
    real at = 0.125*real(i/3) - 2;
    real t = at + at*((i % 3) - 1)*1.0e-7;
    output real value = 0;
    output real rate = 0;
    output bool within = false;
    update {
        if (i == 0) { t = zero/zero; }
        if (i == 1) { t = 1/zero; }
        if (i == 2) { t = -1/zero; }
        if (i == 3) { t = -1.0e30; }
        if (i == 4) { t = 1.0e30; }
        value = F(2.3, t);
        rate = (∂[time] F)(2.3, t);
        within = inside(2.3, t, F);
        stabilize;
    }
}
create_array { S(i) | i in 0..359 }
";
    let steps = [1, 3, 2, 1, 5, 8, 1, 1, 2, 7, 4];
    let mut times = vec![-1.0];
    for n in 0..22 {
        times.push(times[n] + 0.125 * f64::from(steps[n % steps.len()]));
    }
    let axis = TimeAxis::of_times(&times).expect("times");
    let samples = ArrayD::from_shape_fn(vec![times.len(), 7], |at| {
        bumps(&[at[1] as f64], axis.time(at[0]), 0)
    });
    let mut case = Case::new(Source::new("beside.diderot", text));
    let array = ImageArray::new(samples, Orientation::identity(1));
    case.images = vec![ImageSource::Array(array.over_time(axis))];
    case
}
