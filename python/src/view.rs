//! Viewers for notebooks.

use crate::{errors, inputs::Inputs, program::Program};
use diderot::view::{Page, PageMessage};
use pyo3::{
    exceptions::{PyOSError, PyValueError},
    prelude::*,
    types::{PyBytes, PyString},
};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// A program in a viewer. Its one page here is a notebook's; browsers have others.
#[pyclass(frozen, module = "diderot._native")]
pub(crate) struct View {
    view: diderot::view::View,
    page: Mutex<Option<std::sync::Arc<Page>>>,
}

#[pymethods]
impl View {
    #[new]
    #[pyo3(signature = (program, inputs, workers=None))]
    fn new(
        py: Python<'_>,
        program: &Program,
        inputs: &Inputs,
        workers: Option<usize>,
    ) -> PyResult<View> {
        let start = || py.detach(|| program.program.view(&inputs.lock(), workers));
        Ok(View {
            view: errors::fenced(py, start)?,
            page: Mutex::default(),
        })
    }

    /// The address of its page on this machine.
    fn address(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.view.address())
            .map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Opens the page of the notebook again, so that it gets all messages.
    fn open(&self, py: Python<'_>) {
        let page = py.detach(|| std::sync::Arc::new(self.view.open()));
        *self.lock() = Some(page);
    }

    /// Takes a message of the notebook's page.
    fn receive(&self, py: Python<'_>, text: &str) {
        let page = self.lock().clone();
        if let Some(page) = page {
            py.detach(|| page.receive(text));
        }
    }

    /// The next message to the notebook's page: a text, bytes, or nothing within the seconds.
    fn next<'py>(&self, py: Python<'py>, seconds: f64) -> Option<Bound<'py, PyAny>> {
        let page = self.lock().clone()?;
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        Some(match py.detach(|| page.next(wait))? {
            PageMessage::Text(text) => PyString::new(py, &text).into_any(),
            PageMessage::Binary(bytes) => PyBytes::new(py, &bytes).into_any(),
        })
    }

    /// The values of all inputs, as JSON.
    fn inputs(&self, py: Python<'_>) -> String {
        py.detach(|| self.view.inputs())
    }

    /// Sets the inputs of a JSON object.
    fn set(&self, py: Python<'_>, inputs: &str) -> PyResult<()> {
        match py.detach(|| self.view.set(inputs)) {
            true => Ok(()),
            false => Err(PyValueError::new_err("inputs are given by name")),
        }
    }

    /// Waits until the picture is final; false if the seconds are over before.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        py.detach(|| self.view.wait(wait))
    }

    /// An output as a file in memory.
    fn export<'py>(
        &self,
        py: Python<'py>,
        output: &str,
        format: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.view.export(output, format));
        let bytes = bytes.map_err(PyValueError::new_err)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Ends the program and its pages.
    fn close(&self, py: Python<'_>) {
        *self.lock() = None;
        py.detach(|| self.view.end());
    }
}

impl View {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<std::sync::Arc<Page>>> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The script and the style sheet of the page.
#[pyfunction]
pub(crate) fn page() -> (String, String) {
    (diderot::view::script(), diderot::view::style())
}
