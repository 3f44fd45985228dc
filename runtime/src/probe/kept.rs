//! Descriptions of images that keep the samples they describe.

use super::{Border, ProbeImage, Stored};
use crate::{
    image::{Image, Real},
    simd::Float,
};
use std::sync::Arc;

/// A probe image with its samples and the values beyond its border; it can be kept and handed to code by address.
#[derive(Debug)]
pub struct KeptImage<T: 'static> {
    description: Box<ProbeImage<'static>>,
    /// What the description borrows. Neither moves nor changes while it is kept.
    _samples: Arc<Image<T>>,
    _beyond: Box<[f64]>,
}

impl<T: Real + Float> KeptImage<T> {
    /// Describes an image. The values of a constant border are copied.
    ///
    /// # Errors
    /// The image cannot be probed.
    pub fn new(image: Arc<Image<T>>, border: Border<'_>) -> Result<KeptImage<T>, String> {
        let beyond: Box<[f64]> = match border {
            Border::Constant(values) => values.into(),
            _ => Box::default(),
        };
        // SAFETY: they live on the heap behind an owner that is kept beside the description, are never changed, and are
        // dropped after it; the description is only lent out for as long.
        let constants = unsafe { std::slice::from_raw_parts(beyond.as_ptr(), beyond.len()) };
        let border = match border {
            Border::Clamp => Border::Clamp,
            Border::Mirror => Border::Mirror,
            Border::Wrap => Border::Wrap,
            Border::Constant(_) => Border::Constant(constants),
        };
        let (sizes, components) = (image.sizes(), image.components());
        // The samples are kept and lent as the constants are. Those that pad them at the end are for wide loads.
        let samples = Stored {
            first: image.first_sample(),
            small: image.small(),
            count: image.sample_count(),
        };
        let time = image.time().map(|axis| (image.frames(), axis));
        let description = ProbeImage::described::<T>(samples, sizes, components, time, border)?;
        Ok(KeptImage {
            description: Box::new(description),
            _samples: image,
            _beyond: beyond,
        })
    }

    /// The description; its address stays the same.
    pub fn description(&self) -> &ProbeImage<'_> {
        &self.description
    }
}
