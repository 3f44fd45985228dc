//! Conversions between arrays of `ndarray` and NRRDs.

use ndarray::{ArrayD, ArrayViewD, IxDyn};

use super::{Header, Nrrd, NrrdError, Sample};

impl Nrrd {
    /// An array from memory. The last axis of `array` is the fastest, axis 0 of the result.
    ///
    /// ```
    /// use ndarray::arr2;
    /// use nrrd_rs::Nrrd;
    ///
    /// let rows = arr2(&[[1_i16, 2, 3], [4, 5, 6]]);
    /// let nrrd = Nrrd::from_array(rows.view().into_dyn())?;
    /// assert_eq!(nrrd.header().sizes(), [3, 2]);
    /// assert_eq!(nrrd.to_array(), Some(rows.into_dyn()));
    /// # Ok::<(), nrrd_rs::NrrdError>(())
    /// ```
    pub fn from_array<T: Sample>(array: ArrayViewD<'_, T>) -> Result<Nrrd, NrrdError> {
        let sizes: Vec<usize> = array.shape().iter().rev().copied().collect();
        let samples = array.iter().copied().collect();
        Nrrd::new(Header::new(T::TYPE, &sizes), T::into_samples(samples))
    }

    /// The samples as an array whose last axis is axis 0 of this one, if they are of type `T`.
    pub fn to_array<T: Sample>(&self) -> Option<ArrayD<T>> {
        let shape: Vec<usize> = self.header().sizes().into_iter().rev().collect();
        let samples = T::view(self.samples())?.to_vec();
        ArrayD::from_shape_vec(IxDyn(&shape), samples).ok()
    }
}
