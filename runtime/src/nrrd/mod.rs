//! Nearly raw raster data: reading and writing NRRD files.
//!
//! Takes files, streams or bytes; gives an [`Nrrd`]: a [`Header`] that says what the array is, and its [`Samples`].
//! All of the format is covered: every field, type and kind, the encodings raw, ascii, hex, gzip and bzip2 in both
//! byte orders, data after the header or in one, numbered or listed files, line and byte skips also from the end,
//! comments, and key/value pairs. Nothing is interpreted: orientation is the business of [`crate::image`].
//!
//! Bad input is an [`NrrdError`] with file, line, what was found and what was wanted; it never panics and never makes
//! memory grow beyond a small multiple of the data that are really there, whatever sizes a header claims.
//!
//! ```
//! use runtime::nrrd::{self, Encoding, Format, Header, Nrrd, Samples, SampleType};
//!
//! let header = Header::new(SampleType::F32, &[2, 3]);
//! let array = Nrrd::new(header, Samples::F32(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))?;
//! let mut bytes = Vec::new();
//! let format = Format { encoding: Encoding::Gzip, ..Format::default() };
//! nrrd::write_attached(&array, format, &mut bytes)?;
//! assert_eq!(nrrd::read_bytes(&bytes, None)?, array);
//! # Ok::<(), nrrd::NrrdError>(())
//! ```

mod data_file;
mod decode;
mod encode;
mod error;
mod fields;
mod header;
mod header_text;
mod number;
mod read;
mod samples;
mod streams;
mod value;
mod vocabulary;
mod write;

use ndarray::{ArrayD, ArrayViewD};

pub use error::{ErrorKind, NrrdError};
pub use header::{
    Axis, DataFile, Header, MAX_DIMENSION, MAX_SPACE_DIMENSION, Space, Storage, Violation,
};
pub use number::{Written, parse_real};
pub use read::{Reader, STANDARD_INPUT, read, read_bytes};
pub(crate) use samples::grow;
pub use samples::{Sample, Samples};
pub use vocabulary::{Centering, Encoding, Endian, Kind, NamedSpace, SampleType};
pub use write::{Format, detached_data_name, write, write_attached, write_detached, write_text};

/// An array with its description. Type and number of the samples agree with the header.
#[derive(Clone, Debug, PartialEq)]
pub struct Nrrd {
    header: Header,
    samples: Samples,
}

impl Nrrd {
    /// Joins a description and samples that fit it.
    pub fn new(header: Header, samples: Samples) -> Result<Nrrd, NrrdError> {
        let refuse = |message: String| Err(NrrdError::new(ErrorKind::Unwritable, message));
        if let Err(violation) = header.check() {
            return refuse(format!(
                "field `{}`: {}",
                violation.field, violation.message
            ));
        }
        let (found, wanted) = (samples.sample_type(), header.sample_type);
        if found != wanted {
            return refuse(format!(
                "samples are of type `{found}`, the header says `{wanted}`"
            ));
        }
        if let Samples::Block { size, bytes } = &samples
            && (Some(*size) != header.block_size || bytes.len() % size != 0)
        {
            return refuse("blocks are not of the size that the header says".to_string());
        }
        let (found, wanted) = (samples.len(), header.sample_count().unwrap_or(0));
        if found != wanted {
            return refuse(format!("found {found} samples, the header says {wanted}"));
        }
        Ok(Nrrd { header, samples })
    }

    /// An array from memory. The last axis of `array` is the fastest, axis 0 of the result.
    pub fn from_array<T: Sample>(array: ArrayViewD<'_, T>) -> Result<Nrrd, NrrdError> {
        let (samples, sizes) = samples::from_array(array);
        Nrrd::new(Header::new(T::TYPE, &sizes), T::into_samples(samples))
    }

    /// The samples as an array whose last axis is axis 0 of this one, if they are of type `T`.
    pub fn to_array<T: Sample>(&self) -> Option<ArrayD<T>> {
        samples::to_array(T::view(&self.samples)?.to_vec(), &self.header.sizes())
    }

    /// What the array is.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The samples, axis 0 fastest.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }
}
