//! Smooth images: images at a scale, blurred by a Gaussian.
//!
//! Takes an image, a standard deviation for each of its axes in units of the world, and a border. Gives an image on the same grid.
//! Every component is blurred by itself, one axis after the other, by the samples of a Gaussian with sum 1:
//!
//! - A standard deviation is divided by the length of the axis's step, so an axis that is turned or sheared is blurred along its own
//!   direction. An axis whose standard deviation is 0 is left as it is.
//! - The Gaussian ends where its tails, on both sides together, are less than [`TAIL`] of it. Its radius in samples is the
//!   least one for which that is so, about 4.9 standard deviations.
//! - Samples beyond the edge are those that a probe of the image with the same border would read.
//!
//! Sums are in double precision, or in single precision where that is exact to [`TAIL`] of the greatest sample. The bits of the
//! result do not depend on the number of threads nor on the processor. A NaN spreads as far as the Gaussian.

mod gaussian;
mod pass;

use crate::image::{Image, ImageError, Real};
use crate::memory;
use crate::probe::Border;
use gaussian::Gaussian;
pub use gaussian::TAIL;
use pass::{Axis, Pass, Source};

/// The greatest standard deviation in samples; the time of a blur grows with it.
const WIDEST: f64 = 1e5;

/// The greatest standard deviation, in samples, for which sums of samples in single precision are in single precision.
///
/// With the smallest terms first, the rounding errors of a sum are at most about 0.8 σ + 4 halves of the last bit of its greatest
/// sample, so those of three axes in a row stay near `TAIL` at worst; they are a fifth of it in images of noise. This saves a fifth
/// of the time.
const NARROW: f64 = 2.0;

/// An image blurred by Gaussians of these standard deviations, in units of the world, along its axes. Runs on the current rayon
/// pool.
///
/// # Errors
/// The standard deviations or the constants of the border do not fit the image, or there is no memory for the result.
pub fn blur<T: Real>(
    image: &Image<T>,
    sigma: &[f64],
    border: Border<'_>,
) -> Result<Image<T>, ImageError> {
    let sigma = in_samples(image, sigma)?;
    if let Border::Constant(values) = border
        && values.len() != image.components()
    {
        return Err(ImageError::new(format!(
            "found {} border values for an image with {} components",
            values.len(),
            image.components()
        )));
    }
    let gaussians = sigma.iter().map(|&sigma| Gaussian::new(sigma));
    let blurred: Vec<(usize, Gaussian)> = gaussians
        .enumerate()
        .filter(|(_, gaussian)| gaussian.radius() > 0)
        .collect();
    if blurred.is_empty() {
        return Ok(image.clone());
    }
    let count = image.padded_count();
    let bytes = count * size_of::<T>();
    let claim = memory::claim(bytes as u64)
        .map_err(|shortage| ImageError::new(format!("the blurred image: {shortage}")))?;
    let mut samples = T::zeros(count)
        .ok_or_else(|| ImageError::new("there is no memory for the blurred image"))?;
    memory::large_pages(samples.as_mut_ptr().cast(), bytes);
    // Samples that are not aligned are blurred in the place of the result.
    let others = image.aligned_samples();
    if others.is_none() {
        image.copy_samples(0, &mut samples);
    }
    for (n, (axis, gaussian)) in blurred.iter().enumerate() {
        let source = match others.filter(|_| n == 0) {
            Some(others) => Source::Other(others),
            None => Source::Same,
        };
        let axis = Axis::of(image, *axis);
        let pass = Pass::new(source, &mut samples, axis, gaussian, border)?;
        let is_narrow = gaussian.sigma() <= NARROW && size_of::<T>() == size_of::<f32>();
        if is_narrow {
            pass.run::<f32>();
        } else {
            pass.run::<f64>();
        }
    }
    Ok(image.with_samples(samples, claim))
}

/// Standard deviations in samples.
fn in_samples<T: Real>(image: &Image<T>, sigma: &[f64]) -> Result<Vec<f64>, ImageError> {
    let dim = image.dim();
    if sigma.len() != dim {
        return Err(ImageError::new(format!(
            "found {} standard deviations for an image of {dim} dimensions",
            sigma.len()
        )));
    }
    let steps = image.orientation().index_to_world();
    let mut all = Vec::new();
    for (axis, &sigma) in sigma.iter().enumerate() {
        if !(sigma >= 0.0 && sigma.is_finite()) {
            return Err(ImageError::new(format!(
                "the standard deviation of a blur is {sigma}, expected a number that is 0 or more"
            )));
        }
        let squares = (0..dim).map(|row| steps[row * dim + axis].powi(2));
        let samples = sigma / squares.sum::<f64>().sqrt();
        if samples > WIDEST {
            return Err(ImageError::new(format!(
                "the standard deviation of a blur is {samples} samples of axis {axis}, expected at most {WIDEST}"
            )));
        }
        all.push(samples);
    }
    Ok(all)
}
