//! The reason why an output was not written.

use std::fmt;

use super::Output;
use crate::nrrd::NrrdError;

/// The file that was not written, if there was one yet, and the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputError(String);

impl OutputError {
    pub(super) fn new(message: impl fmt::Display) -> Self {
        OutputError(message.to_string())
    }

    pub(super) fn of(output: &Output, message: impl fmt::Display) -> Self {
        OutputError(format!("output `{}`: {message}", output.name))
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OutputError {}

impl From<NrrdError> for OutputError {
    fn from(error: NrrdError) -> Self {
        OutputError(error.message().to_string())
    }
}
