//! Blurred images, beside sums over all samples in double precision.

use ndarray::{ArrayD, IxDyn};
use runtime::blur::{TAIL, blur};
use runtime::grid::Orientation;
use runtime::image::{Declared, Image, ImageArray, Real};
use runtime::nrrd::Sample;
use runtime::probe::Border;

/// Numbers from -1 to 1 without a pattern.
fn noise(count: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// An image whose axes have these steps.
fn image<T: Real + Sample>(sizes: &[usize], shape: &[usize], steps: &[Vec<f64>]) -> Image<T> {
    let axes: Vec<usize> = sizes.iter().rev().chain(shape).copied().collect();
    let samples: Vec<T> = noise(axes.iter().product())
        .into_iter()
        .map(T::nearest)
        .collect();
    let array = ArrayD::from_shape_vec(IxDyn(&axes), samples).unwrap();
    let orientation = Orientation::new(steps, &vec![0.0; sizes.len()]).unwrap();
    ImageArray::new(array, orientation)
        .image(Declared::new(sizes.len(), shape))
        .unwrap()
}

/// Steps of these lengths along the axes of the world.
fn steps(lengths: &[f64]) -> Vec<Vec<f64>> {
    let step = |n: usize| {
        let mut step = vec![0.0; lengths.len()];
        step[n] = lengths[n];
        step
    };
    (0..lengths.len()).map(step).collect()
}

/// The sample of a line at any index.
fn beyond(line: &[f64], mut index: i64, border: Border<'_>, component: usize) -> f64 {
    let size = line.len() as i64;
    while !(0..size).contains(&index) {
        index = match border {
            Border::Clamp if index < 0 => 0,
            Border::Clamp => size - 1,
            Border::Mirror if index < 0 => -1 - index,
            Border::Mirror => 2 * size - 1 - index,
            Border::Wrap if index < 0 => index + size,
            Border::Wrap => index - size,
            Border::Constant(values) => return values[component],
        };
    }
    line[index as usize]
}

/// The Gaussian of a standard deviation in samples at -r, …, r, where less than `TAIL` is beyond r.
fn gaussian(sigma: f64) -> Vec<f64> {
    if sigma == 0.0 {
        return vec![1.0];
    }
    let at = |k: i64| (-(k as f64).powi(2) / (2.0 * sigma * sigma)).exp();
    let far = 40 + (40.0 * sigma) as i64;
    let mass = |r: i64| (-r..=r).map(at).sum::<f64>();
    let all = mass(far);
    let beyond = |r: i64| (r + 1..=far).map(at).sum::<f64>() * 2.0;
    let radius = (0..).find(|&r| beyond(r) < TAIL * all).unwrap();
    (-radius..=radius).map(|k| at(k) / mass(radius)).collect()
}

/// All samples of the blurred image, line by line, for standard deviations in samples.
fn reference<T: Real>(image: &Image<T>, sigma: &[f64], border: Border<'_>) -> Vec<f64> {
    let sizes = image.sizes();
    let plane: usize = sizes.iter().product();
    let count = plane * image.components();
    let mut all: Vec<f64> = image.samples()[..count]
        .iter()
        .map(|x| x.in_double())
        .collect();
    for (axis, &sigma) in sigma.iter().enumerate() {
        let weights = gaussian(sigma);
        let radius = weights.len() as i64 / 2;
        let stride: usize = sizes[..axis].iter().product();
        for first in (0..count).filter(|at| (at / stride).is_multiple_of(sizes[axis])) {
            let line: Vec<f64> = (0..sizes[axis]).map(|n| all[first + n * stride]).collect();
            for n in 0..sizes[axis] {
                let term = |(k, weight): (usize, &f64)| {
                    let index = n as i64 + k as i64 - radius;
                    weight * beyond(&line, index, border, first / plane)
                };
                all[first + n * stride] = weights.iter().enumerate().map(term).sum();
            }
        }
    }
    all
}

/// The greatest difference from the reference, for steps of these lengths.
fn error<T: Real + Sample>(
    sizes: &[usize],
    shape: &[usize],
    spacing: &[f64],
    sigma: &[f64],
    border: Border<'_>,
) -> f64 {
    let image: Image<T> = image(sizes, shape, &steps(spacing));
    let blurred = blur(&image, sigma, border).unwrap();
    assert_eq!(blurred.samples().len(), image.samples().len());
    assert_eq!((blurred.sizes(), blurred.voxel_shape()), (sizes, shape));
    assert_eq!(blurred.orientation(), image.orientation());
    let in_samples: Vec<f64> = sigma.iter().zip(spacing).map(|(s, d)| s / d).collect();
    let wanted = reference(&image, &in_samples, border);
    let pairs = wanted.iter().zip(blurred.samples());
    pairs
        .map(|(a, b)| (a - b.in_double()).abs())
        .fold(0.0, f64::max)
}

#[test]
fn images_of_all_dimensions_shapes_borders_and_precisions_are_those_of_the_definition() {
    /// Sizes, the shape of samples, steps and standard deviations in the world.
    type Row = (
        &'static [usize],
        &'static [usize],
        &'static [f64],
        &'static [f64],
    );
    let rows: [Row; 13] = [
        (&[100], &[], &[1.0], &[1.5]),
        (&[9000], &[], &[0.5], &[2.0]),
        (&[1], &[], &[1.0], &[2.0]),
        (&[3], &[2], &[1.0], &[40.0]),
        (&[1, 9000], &[], &[1.0, 1.0], &[1.0, 1.0]),
        (&[33, 20], &[], &[1.0, 2.0], &[1.0, 3.0]),
        (&[2, 70], &[3], &[1.0, 1.0], &[2.0, 0.0]),
        (&[70, 2], &[3], &[1.0, 1.0], &[0.0, 7.5]),
        (&[20, 21, 22], &[], &[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]),
        (&[20, 9, 17], &[2, 2], &[0.1, 0.2, 0.3], &[0.2, 0.2, 0.9]),
        (&[40, 5, 12], &[], &[1.0, 1.0, 1.0], &[0.3, 9.0, 0.05]),
        (&[5, 6, 7], &[3], &[1.0, 2.0, 3.0], &[30.0, 30.0, 30.0]),
        (&[64, 300, 3], &[], &[1.0, 1.0, 1.0], &[0.0, 2.0, 1.0]),
    ];
    for (sizes, shape, spacing, sigma) in rows {
        let constants: Vec<f64> = noise(shape.iter().product());
        let borders = [
            Border::Clamp,
            Border::Mirror,
            Border::Wrap,
            Border::Constant(&constants),
        ];
        for border in borders {
            let single = error::<f32>(sizes, shape, spacing, sigma, border);
            let double = error::<f64>(sizes, shape, spacing, sigma, border);
            assert!(single < 1e-6, "{sizes:?} {sigma:?} {border:?}: {single:e}");
            assert!(double < 1e-14, "{sizes:?} {sigma:?} {border:?}: {double:e}");
        }
    }
}

#[test]
fn single_precision_is_kept_where_all_samples_are_alike() {
    let ones = ArrayD::from_elem(IxDyn(&[30, 30, 30]), 1.0_f32);
    let image: Image<f32> = ImageArray::new(ones, Orientation::identity(3))
        .image(Declared::new(3, &[]))
        .unwrap();
    for sigma in [0.5, 1.0, 2.0, 2.1, 3.0, 10.0] {
        let blurred = blur(&image, &[sigma; 3], Border::Clamp).unwrap();
        let off = blurred.samples()[..27_000].iter().map(|x| (x - 1.0).abs());
        let worst = off.fold(0.0, f32::max);
        assert!(worst < 5e-7, "σ = {sigma}: {worst:e}");
    }
}

#[test]
fn sheared_axes_are_blurred_along_themselves() {
    let sheared = [vec![0.0, 2.0], vec![3.0, 4.0]];
    let image: Image<f64> = image(&[30, 30], &[], &sheared);
    let blurred = blur(&image, &[3.0, 10.0], Border::Mirror).unwrap();
    let wanted = reference(&image, &[1.5, 2.0], Border::Mirror);
    let mut pairs = wanted.iter().zip(blurred.samples());
    assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-14));
}

#[test]
fn no_blur_shares_the_samples_and_the_padding_stays() {
    let image: Image<f32> = image(&[10, 10], &[], &steps(&[1.0, 1.0]));
    let same = blur(&image, &[0.0, 0.1], Border::Clamp).unwrap();
    assert_eq!(same.samples().as_ptr(), image.samples().as_ptr());
    let blurred = blur(&image, &[1.0, 1.0], Border::Clamp).unwrap();
    assert!(blurred.samples()[100..].iter().all(|x| *x == 0.0));
    assert!(image.samples()[..100] != blurred.samples()[..100]);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let image: Image<f32> = image(&[70, 33, 29], &[2], &steps(&[1.0; 3]));
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let blurred = pool.build().unwrap().install(|| {
            let sigma = [1.7, 2.5, 0.8];
            blur(&image, &sigma, Border::Wrap).unwrap()
        });
        let samples = blurred.samples().iter();
        samples.map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    let one = bits(1);
    assert!([2, 3, 5].into_iter().all(|threads| bits(threads) == one));
}

#[test]
fn what_is_not_a_number_spreads_as_far_as_the_gaussian() {
    let mut line = vec![0.5_f32; 100];
    line[50] = f32::NAN;
    let array = ArrayD::from_shape_vec(IxDyn(&[100]), line).unwrap();
    let image: Image<f32> = ImageArray::new(array, Orientation::identity(1))
        .image(Declared::new(1, &[]))
        .unwrap();
    let blurred = blur(&image, &[1.0], Border::Clamp).unwrap();
    let lost = (0..100).filter(|&n| blurred.samples()[n].is_nan());
    assert_eq!(lost.collect::<Vec<_>>(), (45..=55).collect::<Vec<_>>());
}

#[test]
fn scales_that_do_not_fit_are_refused() {
    let image: Image<f32> = image(&[4, 4], &[2], &steps(&[1.0, 0.5]));
    let message = |sigma: &[f64], border| blur(&image, sigma, border).unwrap_err().to_string();
    for (sigma, border, wanted) in [
        (
            &[1.0][..],
            Border::Clamp,
            "found 1 standard deviations for an image of 2",
        ),
        (&[1.0, -1.0], Border::Clamp, "is -1, expected a number"),
        (&[f64::NAN, 1.0], Border::Clamp, "is NaN, expected a number"),
        (&[1.0, 1e6], Border::Clamp, "is 2000000 samples of axis 1"),
        (
            &[1.0, 1.0],
            Border::Constant(&[0.0]),
            "found 1 border values",
        ),
    ] {
        let found = message(sigma, border);
        assert!(found.contains(wanted), "{found}");
    }
}
