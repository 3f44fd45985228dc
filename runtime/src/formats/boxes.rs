//! Samples that can be read in any order, box by box, so that an image need not be read as a whole.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::hdf5::typed;
use super::raw::RawSamples;
use super::{Data, ImageError, Sink, Source};
use crate::nrrd::{Endian, SampleType};

/// An array whose samples are read in boxes, by several threads at a time.
pub(crate) trait Boxes: Send + Sync {
    /// Samples along each axis of a box, the axis that is stored fastest first. The last box along an axis may be cut off.
    fn extents(&self) -> &[usize];

    /// Gives the samples of a box to `sink`, in order and in pieces, as they are stored, and the number of those that are missing in
    /// the file and became NaN to the caller.
    ///
    /// # Errors
    /// They cannot be read, or are damaged.
    fn read(&self, place: &[Range<usize>], sink: &mut Sink<'_>) -> Result<u64, ImageError>;
}

/// Bytes of a box where the storage does not ask for others.
const BOX: usize = 1 << 20;

/// The extents of boxes of about a megabyte whose samples follow one another in storage.
pub(super) fn contiguous(sizes: &[usize], sample: usize) -> Vec<usize> {
    let mut extents = vec![1; sizes.len()];
    let mut bytes = sample.max(1);
    for (extent, &size) in extents.iter_mut().zip(sizes) {
        *extent = (BOX / bytes).clamp(1, size.max(1));
        if *extent < size {
            break;
        }
        bytes = bytes.saturating_mul(size);
    }
    extents
}

/// Raw samples of a file, in either byte order. The file is kept open: another one under its name changes nothing.
struct RawBoxes {
    file: Mutex<File>,
    start: u64,
    of: SampleType,
    endian: Endian,
    sizes: Vec<usize>,
    extents: Vec<usize>,
}

impl Boxes for RawBoxes {
    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn read(&self, place: &[Range<usize>], sink: &mut Sink<'_>) -> Result<u64, ImageError> {
        let size = self.of.size().unwrap_or(1);
        let (mut first, mut stride) = (0, 1);
        for (range, &along) in place.iter().zip(&self.sizes) {
            first += range.start * stride;
            stride *= along;
        }
        let count: usize = place.iter().map(|range| range.len()).product();
        let mut bytes = vec![0; count * size];
        let at = self.start + (first * size) as u64;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file
            .seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(&mut bytes));
        drop(file);
        read.map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                ImageError::new("the file became shorter while it was read")
            }
            _ => ImageError::new(error.to_string()),
        })?;
        sink(typed(self.of, &bytes, self.endian));
        Ok(0)
    }
}

impl Source<'_> {
    /// The samples box by box, if the file has them so.
    ///
    /// # Errors
    /// The file that the header names cannot be looked at.
    pub(crate) fn boxes(&self) -> Result<Option<Arc<dyn Boxes>>, ImageError> {
        if let Data::Decoded(_) = &self.data {
            return Ok(self.boxes.clone());
        }
        let Ok(RawSamples {
            file,
            start,
            endian,
            ..
        }) = self.raw_samples()?
        else {
            return Ok(None);
        };
        let opened = File::open(&file);
        let opened = opened.map_err(|e| ImageError::new(e.to_string()).in_file(&file))?;
        let header = &self.header;
        let sizes = self.stored_sizes();
        let of = header.sample_type;
        Ok(of.size().map(|sample| -> Arc<dyn Boxes> {
            Arc::new(RawBoxes {
                file: Mutex::new(opened),
                start,
                of,
                endian,
                extents: contiguous(&sizes, sample),
                sizes,
            })
        }))
    }

    /// Samples along each axis, in the order of storage.
    fn stored_sizes(&self) -> Vec<usize> {
        let mut sizes = self.header.sizes();
        if let Some(first) = self.facts.reversed_from {
            sizes[first..].reverse();
        }
        sizes
    }
}
