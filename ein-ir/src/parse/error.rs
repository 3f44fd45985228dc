//! The error of reading EIN.

use std::fmt;

/// Why a text is not EIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte at which reading stopped.
    pub at: usize,
    /// The error there.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at, self.message)
    }
}

impl std::error::Error for ParseError {}
