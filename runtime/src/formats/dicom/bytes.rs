//! The bytes of a DICOM file: those of a file on a disk are read where they are wanted, so that thousands of files can be looked at.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use crate::formats::ImageError;
use crate::memory::Contents;

/// Where the bytes are.
#[derive(Clone)]
pub(super) enum Bytes {
    File { path: PathBuf, length: u64 },
    Memory(Arc<Contents>),
}

pub(super) fn cut_off() -> ImageError {
    ImageError::new("the file is cut off")
}

impl Bytes {
    pub(super) fn length(&self) -> u64 {
        match self {
            Bytes::File { length, .. } => *length,
            Bytes::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Some of the bytes. No memory is taken for more than there are.
    pub(super) fn read(&self, at: u64, count: u64) -> Result<Vec<u8>, ImageError> {
        let end = at.checked_add(count).filter(|end| *end <= self.length());
        let end = end.ok_or_else(cut_off)?;
        match self {
            Bytes::Memory(bytes) => {
                let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
                let found = range.and_then(|(at, end)| bytes.get(at..end));
                found.map(<[u8]>::to_vec).ok_or_else(cut_off)
            }
            Bytes::File { path, .. } => {
                let fail = |e: std::io::Error| ImageError::new(e.to_string()).in_file(path);
                let mut file = File::open(path).map_err(fail)?;
                file.seek(SeekFrom::Start(at)).map_err(fail)?;
                let mut found = Vec::new();
                file.take(count).read_to_end(&mut found).map_err(fail)?;
                match found.len() as u64 == count {
                    true => Ok(found),
                    false => Err(cut_off()),
                }
            }
        }
    }
}

/// A window on bytes that is moved as elements are read.
pub(super) struct Window {
    bytes: Bytes,
    start: u64,
    held: Vec<u8>,
}

impl Window {
    const SIZE: u64 = 1 << 15;

    pub(super) fn new(bytes: Bytes) -> Window {
        Window {
            bytes,
            start: 0,
            held: Vec::new(),
        }
    }

    pub(super) fn length(&self) -> u64 {
        self.bytes.length()
    }

    pub(super) fn get(&mut self, at: u64, count: u64) -> Result<&[u8], ImageError> {
        let inside =
            |start: u64, held: u64| at >= start && at.saturating_add(count) <= start + held;
        if !inside(self.start, self.held.len() as u64) {
            let left = self.length().checked_sub(at).ok_or_else(cut_off)?;
            self.held = self.bytes.read(at, left.min(count.max(Window::SIZE)))?;
            self.start = at;
        }
        let from = usize::try_from(at - self.start).map_err(|_| cut_off())?;
        let end = from.checked_add(usize::try_from(count).map_err(|_| cut_off())?);
        end.and_then(|end| self.held.get(from..end))
            .ok_or_else(cut_off)
    }
}
