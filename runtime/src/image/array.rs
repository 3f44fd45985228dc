//! Images in memory before a program has chosen its precision.

use std::sync::Arc;

use ndarray::ArrayD;

use super::load::PIECE;
use super::stored::Stored;
use super::{Declared, Image, ROW_LOAD, Real};
use crate::formats::ImageError;
use crate::grid::{Orientation, TimeAxis};
use crate::memory;
use crate::nrrd::{Sample, SampleType, Samples};

/// An image in memory: samples of any numeric type, as they were given, and their orientation. Clones share the samples.
#[derive(Clone, Debug)]
pub struct ImageArray {
    samples: Arc<Samples>,
    /// The frames of an image over time, then the axes of the grid from the slowest to the fastest, then those of the voxel's
    /// tensor.
    shape: Vec<usize>,
    orientation: Orientation,
    time: Option<TimeAxis>,
}

impl ImageArray {
    /// An image from an array whose axes are, in this order, the axes of the grid from the slowest to the fastest and
    /// the axes of the voxel's tensor: `array[[k, j, i, r, q]]` is component (r, q) of voxel (i, j, k). An array in
    /// standard layout is taken as it is.
    pub fn new<S: Sample>(array: ArrayD<S>, orientation: Orientation) -> ImageArray {
        let shape = array.shape().to_vec();
        let samples = match array.is_standard_layout() {
            // What a slice of an array leaves unused stands before or after it.
            true => {
                let count = array.len();
                let (mut all, offset) = array.into_raw_vec_and_offset();
                all.truncate(offset.unwrap_or(0) + count);
                all.split_off(offset.unwrap_or(0))
            }
            false => array.iter().copied().collect(),
        };
        ImageArray {
            samples: Arc::new(S::into_samples(samples)),
            shape,
            orientation,
            time: None,
        }
    }

    /// The image over time whose array has the frames before all other axes: `array[[t, k, j, i, r, q]]`.
    #[must_use]
    pub fn over_time(self, time: TimeAxis) -> ImageArray {
        ImageArray {
            time: Some(time),
            ..self
        }
    }

    /// The type of the samples.
    pub fn sample_type(&self) -> SampleType {
        self.samples.sample_type()
    }

    /// The orientation of the grid.
    pub fn orientation(&self) -> &Orientation {
        &self.orientation
    }

    /// The times of the frames, of an image over time.
    pub fn time(&self) -> Option<&TimeAxis> {
        self.time.as_ref()
    }

    /// The image of the declared type in the precision of a program: every sample is converted once.
    ///
    /// # Errors
    /// The array is not of this type, or there is no memory.
    pub fn image<T: Real>(&self, declared: Declared<'_>) -> Result<Image<T>, ImageError> {
        let (dim, shape) = (self.orientation.dim(), &self.shape);
        let timed = self.time.is_some();
        if (dim, timed) != (declared.dim, declared.timed) {
            let own = Declared {
                dim,
                timed,
                ..declared
            };
            return Err(ImageError::new(format!(
                "array is an {own}, but the program wants an {declared}"
            )));
        }
        let voxel_shape = declared.shape;
        let before = usize::from(timed);
        let grid = before + dim;
        if shape.len() < grid || shape[grid..] != *voxel_shape || shape.contains(&0) {
            let frames = if before == 1 {
                "an axis of frames, "
            } else {
                ""
            };
            return Err(ImageError::new(format!(
                "array has shape {shape:?}, expected {frames}{dim} non-empty axes of the grid and then {voxel_shape:?}"
            )));
        }
        let frames = if before == 1 { shape[0] } else { 1 };
        if let Some(TimeAxis::Table(times)) = &self.time
            && times.len() != frames
        {
            return Err(ImageError::new(format!(
                "array has {frames} frames, but {} times",
                times.len()
            )));
        }
        let sizes: Vec<usize> = shape[before..grid].iter().rev().copied().collect();
        let components: usize = voxel_shape.iter().product();
        let plane: usize = sizes.iter().product();
        let (frame, count) = (plane * components, self.samples.len());
        let claim = memory::claim((count * size_of::<T>()) as u64)
            .map_err(|shortage| ImageError::new(shortage.to_string()))?;
        let mut samples = T::zeros(count + ROW_LOAD - 1)
            .ok_or_else(|| ImageError::new("there is no memory for the samples"))?;
        for start in (0..count).step_by(PIECE) {
            // There are no arrays of blocks.
            let piece = T::from_samples(&self.samples, start..start + PIECE).unwrap_or_default();
            for (at, sample) in (start..).zip(piece) {
                let (frame, at) = (at / frame, at % frame);
                samples[(frame * components + at % components) * plane + at / components] = sample;
            }
        }
        Ok(Image {
            sizes,
            voxel_shape: voxel_shape.to_vec(),
            frames,
            time: self.time.clone(),
            samples: Arc::new(Stored::owned(samples, claim)),
            orientation: self.orientation.clone(),
        })
    }
}
