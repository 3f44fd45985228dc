//! The images of the last run of a program, for the next one: their samples on GPUs need not be copied again.

use super::{Images, Inputs};
use crate::codegen::Compiled;
use std::sync::{Mutex, PoisonError};

/// Samples of a file that are few enough to be kept for a comparison.
const FEW: usize = 1 << 22;

/// The images that the last run had, if a GPU may have them.
#[derive(Default)]
pub struct LastImages(Mutex<Option<Images>>);

impl LastImages {
    /// Hands GPUs on from the last run to one with these images, if they have the same samples, and keeps these for the next run.
    pub(super) fn hand_on(&self, program: &Compiled, inputs: &Inputs, images: &Images) {
        let samples = images.samples();
        let mut numbered = samples.iter().enumerate();
        let are_kept = matches!(program.kernel, Some(Ok(_)))
            && numbered
                .all(|(number, image)| image.contents.count() <= FEW || inputs.is_shared(number));
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = &*last
            && are_kept
        {
            images.take_over(before);
        }
        *last = are_kept.then(|| images.clone());
    }

    /// Forgets them; whether there were any.
    pub(super) fn forget(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.take().is_some()
    }
}
