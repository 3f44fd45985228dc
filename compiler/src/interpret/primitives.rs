//! Reference meaning of what the runtime's primitives compute, for the evaluators of all IRs.
//!
//! Reconstruction is the defining sum over taps with kernels from the exact table; eigensystems are those of `ein_ir`.
//! Nothing here is fast, and nothing is shared with what generated code calls.

use crate::ir::{
    Orders,
    leaf::{BorderControl, Convolution, distinct_derivatives},
};
use ein_ir::{ops::Border, rational};
use runtime::image::Image;

/// An image as the evaluator sees it.
#[derive(Clone, Debug)]
pub struct EvalImage {
    /// Samples per axis, fastest first.
    pub sizes: Vec<usize>,
    /// All samples of component 0, then of component 1, …, of the first frame; then those of the other frames.
    pub planes: Vec<Vec<f64>>,
    /// The times of the frames, if the image is over time.
    pub times: Vec<f64>,
    /// World to index coordinates: matrix, row-major.
    pub to_index: Vec<f64>,
    /// World to index coordinates: translation.
    pub offset: Vec<f64>,
    /// Index to world coordinates: matrix, row-major.
    pub to_world: Vec<f64>,
    /// The position of the first sample.
    pub origin: Vec<f64>,
}

/// The derivatives of a field at a position in index space, by the defining sum. If the field is over time, a frame and the weights
/// of the frames that count stand after the position.
pub fn reconstruct(image: &EvalImage, field: &Convolution, orders: Orders, at: &[f64]) -> Vec<f64> {
    let of_frame = |frame: usize| {
        let components = field.shape.size();
        let first = frame * components;
        let planes = image.planes[first..first + components].iter();
        let planes: Vec<_> = planes.enumerate().collect();
        reconstruct_planes(image, field, orders, at, &planes)
    };
    let Some(time) = field.time else {
        return of_frame(0);
    };
    let support = time.kernel.0.support as i64;
    let last = image.times.len() as i64 - 1;
    let (below, weights) = (at[field.dim()] as i64, &at[field.dim() + 1..]);
    let mut sums = Vec::new();
    for (tap, weight) in (1 - support..=support).zip(weights) {
        let values = of_frame((below + tap).clamp(0, last) as usize);
        sums.resize(values.len(), 0.0);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += weight * value;
        }
    }
    sums
}

/// The derivatives at a position in index space and at a time, by the defining sum.
pub fn reconstruct_at_time(
    image: &EvalImage,
    field: &Convolution,
    orders: Orders,
    at: &[f64],
    time: f64,
) -> Vec<f64> {
    let kernel = field.time.expect("a field over time");
    let (position, rate) = image.place_of(time);
    let frame = position.floor();
    let support = kernel.kernel.0.support as i32;
    let weights = (1 - support..=support).map(|j| {
        let polynomial_of_tap = kernel.kernel.0.tap(j, kernel.order.into());
        polynomial(&polynomial_of_tap, position - frame) * rate.powi(kernel.order.into())
    });
    let place: Vec<f64> = at.iter().copied().chain([frame]).chain(weights).collect();
    reconstruct(image, field, orders, &place)
}

/// The derivatives of some planes, each with the number of its component.
fn reconstruct_planes(
    image: &EvalImage,
    field: &Convolution,
    orders: Orders,
    at: &[f64],
    planes: &[(usize, &Vec<f64>)],
) -> Vec<f64> {
    let dim = field.dim();
    let (mut cell, mut fraction) = (vec![0i64; dim], vec![0.0; dim]);
    for axis in 0..dim {
        let (n, f) = locate(at[axis], image.sizes[axis], &field.border);
        cell[axis] = n;
        fraction[axis] = f;
    }
    let mut results = Vec::new();
    for order in orders.iter() {
        for &(component, plane) in planes {
            for axes in distinct_derivatives(dim, order) {
                let weights: Vec<Vec<f64>> = (0..dim)
                    .map(|axis| {
                        let count = axes.iter().filter(|&&a| a == axis).count() as u32;
                        let kernel = field.kernels[axis].0;
                        let s = kernel.support as i32;
                        (1 - s..=s)
                            .map(|j| polynomial(&kernel.tap(j, count), fraction[axis]))
                            .collect()
                    })
                    .collect();
                results.push(tap_sum(image, field, component, plane, &cell, &weights));
            }
        }
    }
    results
}

/// The cell and the fraction of a coordinate. An infinite one has no fraction if the image is repeated; the cell of NaN is 0.
fn locate(x: f64, size: usize, border: &BorderControl) -> (i64, f64) {
    match border {
        Border::Clamp | Border::Constant(_) => {
            // So far away all samples are the same.
            let x = x.clamp(-1e9, 1e9);
            (x.floor() as i64, x - x.floor())
        }
        Border::Mirror | Border::Wrap => {
            let period = 2.0 * size as f64;
            ((x.floor() % period) as i64, x - x.floor())
        }
    }
}

fn tap_sum(
    image: &EvalImage,
    field: &Convolution,
    component: usize,
    plane: &[f64],
    cell: &[i64],
    weights: &[Vec<f64>],
) -> f64 {
    let dim = cell.len();
    let counts: Vec<usize> = weights.iter().map(Vec::len).collect();
    let mut sum = 0.0;
    for tap in ein_ir::Shape::new(counts).indices() {
        let mut weight = 1.0;
        let mut offset = 0;
        let mut outside = false;
        for axis in (0..dim).rev() {
            weight *= weights[axis][tap[axis]];
            let support = field.kernels[axis].0.support as i64;
            let index = cell[axis] + tap[axis] as i64 + 1 - support;
            let mapped = sample_index(index, image.sizes[axis], &field.border);
            outside |= mapped.is_none();
            offset = offset * image.sizes[axis] + mapped.unwrap_or(0);
        }
        let sample = match &field.border {
            Border::Constant(values) if outside => values[component].get(),
            _ => plane[offset],
        };
        sum += weight * sample;
    }
    sum
}

/// The least and the greatest sample of all components in a box: the numbers of its first samples, then those of its last ones.
pub(super) fn extremes(image: &EvalImage, field: &Convolution, places: &[f64]) -> [f64; 2] {
    let everything = [f64::NEG_INFINITY, f64::INFINITY];
    let (first, last) = places.split_at(field.dim());
    // The samples, axis by axis from the slowest on; none where there is a constant.
    let mut samples = vec![Some(0)];
    for ((&first, &last), &size) in first.iter().zip(last).zip(&image.sizes).rev() {
        if first.is_nan() || last.is_nan() || first > last {
            return everything;
        }
        // As far away as this, all samples are the same.
        let far = size as f64 + 1.0;
        let (first, last) = (first.clamp(-far, far) as i64, last.clamp(-far, far) as i64);
        let repeats = matches!(field.border, Border::Mirror | Border::Wrap);
        let along: Vec<Option<usize>> = match repeats && (first < 0 || last >= size as i64) {
            true => (0..size).map(Some).collect(),
            false => (first..=last)
                .map(|n| sample_index(n, size, &field.border))
                .collect(),
        };
        let of_row = |row: Option<usize>| {
            let along = along.iter();
            along.map(move |&n| Some(row? * size + n?))
        };
        samples = samples.into_iter().flat_map(of_row).collect();
    }
    let mut found = [f64::INFINITY, f64::NEG_INFINITY];
    for place in samples {
        for (component, plane) in image.planes.iter().enumerate() {
            let sample = match (place, &field.border) {
                (Some(place), _) => plane[place],
                (None, Border::Constant(values)) => values[component].get(),
                (None, _) => unreachable!("only constants stand for no sample"),
            };
            if !sample.is_finite() {
                return everything;
            }
            found = [found[0].min(sample), found[1].max(sample)];
        }
    }
    // Zeros have one sign.
    found.map(|end| if end == 0.0 { 0.0 } else { end })
}

/// The sample that an index stands for, which may be beyond the samples; `None` for the constant of the border.
pub(super) fn sample_index(index: i64, size: usize, border: &BorderControl) -> Option<usize> {
    let size = size as i64;
    let sample = match border {
        Border::Clamp => index.clamp(0, size - 1),
        Border::Wrap => index.rem_euclid(size),
        Border::Mirror => {
            let m = index.rem_euclid(2 * size);
            if m < size { m } else { 2 * size - 1 - m }
        }
        Border::Constant(_) => index,
    };
    (0..size).contains(&sample).then_some(sample as usize)
}

/// The position of a time among the times of frames, linear between them and beyond them, and its derivative.
pub(super) fn place_among(times: &[f64], time: f64) -> (f64, f64) {
    let last = times.len().saturating_sub(2);
    let before = times
        .iter()
        .rposition(|&t| t <= time)
        .unwrap_or(0)
        .min(last);
    let Some(after) = times.get(before + 1) else {
        return (time - times[0], 1.0);
    };
    let rate = 1.0 / (after - times[before]);
    (before as f64 + (time - times[before]) * rate, rate)
}

fn polynomial(coefficients: &[ein_ir::Rational], x: f64) -> f64 {
    coefficients
        .iter()
        .rev()
        .fold(0.0, |value, &c| value * x + rational::to_f64(c))
}

impl EvalImage {
    /// A loaded image.
    pub fn of(image: &Image<f64>) -> EvalImage {
        let plane = image.plane_stride();
        let count = image.frames() * image.components();
        let planes = image.samples().chunks(plane).take(count);
        let times = image
            .time()
            .map(|axis| (0..image.frames()).map(|n| axis.time(n)).collect());
        let orientation = image.orientation();
        EvalImage {
            sizes: image.sizes().to_vec(),
            planes: planes.map(<[f64]>::to_vec).collect(),
            times: times.unwrap_or_default(),
            to_index: orientation.world_to_index().to_vec(),
            offset: orientation.offset().to_vec(),
            to_world: orientation.index_to_world().to_vec(),
            origin: orientation.origin().to_vec(),
        }
    }

    /// The position of a sample.
    pub fn world_of(&self, index: &[usize]) -> Vec<f64> {
        let dim = self.sizes.len();
        let coordinate = |row: usize| {
            let terms = (0..dim).map(|axis| self.to_world[row * dim + axis] * index[axis] as f64);
            terms.fold(self.origin[row], |sum, term| sum + term)
        };
        (0..dim).map(coordinate).collect()
    }

    /// The position of a time among the frames, linear between them and beyond them, and its derivative.
    pub fn place_of(&self, time: f64) -> (f64, f64) {
        place_among(&self.times, time)
    }

    /// The time of the first frame.
    pub fn start(&self) -> f64 {
        self.times.first().copied().unwrap_or(0.0)
    }

    /// The time of the last frame.
    pub fn end(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// The intervals in which frames follow each other evenly: when each begins, and its frames in a unit of time.
    pub fn intervals(&self) -> Vec<(f64, f64)> {
        let places = self
            .times
            .iter()
            .map(|&begin| (begin, self.place_of(begin).1));
        match self.is_regular() {
            true => vec![(self.start(), self.rate())],
            false => places.take(self.times.len() - 1).collect(),
        }
    }

    /// Whether the frames follow each other evenly.
    fn is_regular(&self) -> bool {
        let mut rates = self.times.iter().map(|&time| self.place_of(time).1);
        let first = rates.next().unwrap_or(1.0);
        rates.all(|rate| (rate - first).abs() <= 1e-6 * first)
    }

    /// Frames in a unit of time, after the first one.
    pub fn rate(&self) -> f64 {
        self.place_of(self.start()).1
    }

    /// World coordinates to index coordinates.
    pub fn index_of(&self, at: &[f64]) -> Vec<f64> {
        let dim = self.sizes.len();
        (0..dim)
            .map(|row| {
                (0..dim)
                    .map(|c| self.to_index[row * dim + c] * at[c])
                    .sum::<f64>()
                    + self.offset[row]
            })
            .collect()
    }
}
