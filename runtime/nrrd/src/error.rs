//! The error type for reading and writing NRRD files.
//!
//! An error names the file, the header line if there is one, and both the actual and the expected value. It owns no file
//! handle and can be cloned, compared and printed.

use std::fmt;

/// Which step failed: callers that want to try another format look here, messages carry the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The first line is not a NRRD magic: the file is of another format.
    NotNrrd,
    /// A file could not be opened, read or written.
    Io,
    /// A header line is malformed, or the lines together do not describe an array.
    Header,
    /// The data do not fit the header: too short, damaged or not numbers.
    Data,
    /// The array needs more memory than is allowed, or than there is.
    TooLarge,
    /// The array cannot be written as asked.
    Unwritable,
}

/// A failure to read or write a NRRD file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NrrdError {
    kind: ErrorKind,
    file: String,
    line: Option<usize>,
    message: String,
}

impl NrrdError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        NrrdError {
            kind,
            file: String::new(),
            line: None,
            message: message.into(),
        }
    }

    pub(super) fn header(line: usize, message: impl Into<String>) -> Self {
        NrrdError {
            line: Some(line),
            ..NrrdError::new(ErrorKind::Header, message)
        }
    }

    pub(super) fn too_large(bytes: usize, limit: usize) -> Self {
        let message = format!("the array needs {bytes} bytes, more than the {limit} allowed");
        NrrdError::new(ErrorKind::TooLarge, message)
    }

    pub(super) fn no_memory(bytes: usize) -> Self {
        let message = format!("there is no memory for the {bytes} bytes of the array");
        NrrdError::new(ErrorKind::TooLarge, message)
    }

    /// The same error, said of `file`, unless it already names one (a data file beside its header).
    pub(super) fn in_file(mut self, file: &str) -> Self {
        if self.file.is_empty() {
            self.file = file.to_string();
        }
        self
    }

    /// Which step failed.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The file at fault as it was named by the caller or by the header; empty for data in memory.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The header line at fault, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The actual and the expected value, without the file and the line.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for NrrdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = if self.file.is_empty() {
            "nrrd"
        } else {
            &self.file
        };
        match self.line {
            Some(line) => write!(f, "{file}:{line}: {}", self.message),
            None => write!(f, "{file}: {}", self.message),
        }
    }
}

impl std::error::Error for NrrdError {}
