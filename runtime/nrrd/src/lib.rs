#![doc = include_str!("../README.md")]

#[cfg(feature = "ndarray")]
mod array;
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

pub use error::{ErrorKind, NrrdError};
pub use header::{
    Axis, DataFile, Header, MAX_DIMENSION, MAX_SPACE_DIMENSION, Space, Storage, Violation,
};
pub use number::{Written, parse_real};
pub use read::{RawPlace, Reader, STANDARD_INPUT, read, read_bytes};
pub use samples::{FromSample, Sample, Samples};
pub use streams::Decompressed;
pub use vocabulary::{Centering, Encoding, Endian, Kind, NamedSpace, SampleType};
pub use write::{
    Format, detached_data_name, native_header, write, write_attached, write_detached, write_native,
    write_text,
};

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

    /// What the array is.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The samples, axis 0 fastest.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }
}
