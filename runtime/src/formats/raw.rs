//! Samples that a file has raw, so that they can be used where they are, or read in any order.

use std::fmt;
use std::path::PathBuf;

use super::{Data, ImageError, Source};
use crate::nrrd::{DataFile, Encoding, Endian};

/// Raw samples of a file, one after the other.
pub(crate) struct RawSamples {
    pub(crate) file: PathBuf,
    /// The first byte, and the number of bytes.
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    /// Their order within a sample.
    pub(crate) endian: Endian,
}

/// Why a file does not have its samples just as they are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRaw {
    /// They are compressed, or text.
    Encoded,
    /// They have another byte order.
    ByteOrder,
    /// They are in several files.
    SeveralFiles,
    /// They come from a stream, or after lines that must be read.
    NoFile,
    /// The format has no samples of this sort.
    Format,
}

impl fmt::Display for NotRaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotRaw::Encoded => "the samples are not stored raw",
            NotRaw::ByteOrder => "the samples are not in the byte order of this machine",
            NotRaw::SeveralFiles => "the samples are in several files",
            NotRaw::NoFile => "the samples are not at a known place in a file",
            NotRaw::Format => "the samples of its format must be decoded",
        })
    }
}

impl Source<'_> {
    /// The place in a file of samples that are just as in memory, or why there is none.
    ///
    /// # Errors
    /// The file that the header names cannot be looked at.
    pub(crate) fn raw_place(&self) -> Result<Result<RawSamples, NotRaw>, ImageError> {
        Ok(self.raw_samples()?.and_then(|place| match place.endian {
            Endian::NATIVE => Ok(place),
            _ => Err(NotRaw::ByteOrder),
        }))
    }

    /// The place in a file of raw samples in either byte order, or why there is none.
    ///
    /// # Errors
    /// The file that the header names cannot be looked at.
    pub(super) fn raw_samples(&self) -> Result<Result<RawSamples, NotRaw>, ImageError> {
        let Data::Stored(reader) = &self.data else {
            return Ok(Err(NotRaw::Format));
        };
        let storage = reader.storage();
        let Some(place) = reader.raw_place()? else {
            return Ok(Err(match &storage.data_file {
                _ if storage.encoding != Encoding::Raw => NotRaw::Encoded,
                DataFile::List { .. } | DataFile::Pattern { .. } => NotRaw::SeveralFiles,
                _ => NotRaw::NoFile,
            }));
        };
        let Some(file) = place.file.or_else(|| self.file.clone()) else {
            return Ok(Err(NotRaw::NoFile));
        };
        Ok(Ok(RawSamples {
            file,
            start: place.start,
            bytes: place.bytes,
            endian: place.endian,
        }))
    }
}
