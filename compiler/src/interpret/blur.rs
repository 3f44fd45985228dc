//! Smoothing of images, by the defining sum over the Gaussian's samples.

use super::primitives::{EvalImage, sample_index};
use crate::ir::leaf::BorderControl;
use ein_ir::ops::Border;

/// The share of the Gaussian that may be left out.
const TAIL: f64 = 1e-6;

/// An image smoothed at a scale in world units: one, or one per axis.
pub(super) fn blurred(image: &EvalImage, border: &BorderControl, scale: &[f64]) -> EvalImage {
    let dim = image.sizes.len();
    let mut planes = image.planes.clone();
    for axis in 0..dim {
        let column = (0..dim).map(|row| image.to_world[row * dim + axis].powi(2));
        let sigma = scale[axis.min(scale.len() - 1)] / column.sum::<f64>().sqrt();
        let weights = gaussian(sigma);
        for (component, plane) in planes.iter_mut().enumerate() {
            *plane = along(image, plane, axis, &weights, border, component);
        }
    }
    EvalImage {
        planes,
        ..image.clone()
    }
}

/// The weights of the samples from the middle on; twice those beyond the middle, and the middle, add up to one.
fn gaussian(sigma: f64) -> Vec<f64> {
    if sigma == 0.0 {
        return vec![1.0];
    }
    let at = |k: usize| (-0.5 * (k as f64 / sigma).powi(2)).exp();
    let far = (40.0 * sigma).ceil() as usize + 1;
    let all = at(0) + 2.0 * (1..=far).map(at).sum::<f64>();
    let mut inner = at(0);
    let mut weights = vec![at(0)];
    while (all - inner) / all >= TAIL {
        let next = at(weights.len());
        inner += 2.0 * next;
        weights.push(next);
    }
    weights.iter().map(|weight| weight / inner).collect()
}

fn along(
    image: &EvalImage,
    plane: &[f64],
    axis: usize,
    weights: &[f64],
    border: &BorderControl,
    component: usize,
) -> Vec<f64> {
    let size = image.sizes[axis];
    let stride: usize = image.sizes[..axis].iter().product();
    let sample = |at: usize, offset: i64| {
        let here = at / stride % size;
        match sample_index(here as i64 + offset, size, border) {
            Some(there) => plane[at - here * stride + there * stride],
            None => match border {
                Border::Constant(values) => values[component].get(),
                _ => f64::NAN,
            },
        }
    };
    let smooth = |at: usize| {
        let sides = weights.iter().enumerate().skip(1).map(|(k, weight)| {
            let k = k as i64;
            weight * (sample(at, -k) + sample(at, k))
        });
        weights[0] * sample(at, 0) + sides.sum::<f64>()
    };
    (0..plane.len()).map(smooth).collect()
}
