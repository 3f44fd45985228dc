//! The command `diderotc`, whose code the module has anyway.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `diderotc` with these words, its name first, and ends the process with its status.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) {
    py.detach(|| diderot::command(words))
}
