//! Why there is no mesh, or no field on it.

use crate::memory::Shortage;
use crate::text::visible_line;
use std::fmt;

/// An error in a file of a mesh: a message, the file, and hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FemError {
    file: Option<String>,
    message: String,
    hints: Vec<String>,
}

impl FemError {
    pub(super) fn new(message: impl AsRef<str>) -> FemError {
        FemError {
            file: None,
            message: visible_line(message.as_ref()).into_owned(),
            hints: Vec::new(),
        }
    }

    pub(super) fn hint(mut self, hint: impl AsRef<str>) -> FemError {
        self.hints.push(visible_line(hint.as_ref()).into_owned());
        self
    }

    /// The same error, said of one of several times.
    pub fn at_time(mut self, time: f64) -> FemError {
        self.message = format!("at time {time}: {}", self.message);
        self
    }

    /// The same error, said of a file; who passes it on may know a better name.
    pub fn in_file(mut self, file: &str) -> FemError {
        self.file = Some(file.to_string());
        self
    }

    /// The file and the message, without the hints.
    pub fn headline(&self) -> String {
        match &self.file {
            Some(file) => format!("{file}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// The ways out.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl From<String> for FemError {
    fn from(message: String) -> FemError {
        FemError::new(message)
    }
}

impl From<Shortage> for FemError {
    fn from(shortage: Shortage) -> FemError {
        FemError::new(shortage.to_string())
    }
}

impl From<&str> for FemError {
    fn from(message: &str) -> FemError {
        FemError::new(message)
    }
}

impl fmt::Display for FemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        self.hints.iter().try_for_each(|h| write!(f, "\nhelp: {h}"))
    }
}

impl std::error::Error for FemError {}
