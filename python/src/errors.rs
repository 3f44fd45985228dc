//! Errors of the library as exceptions, which the package defines in Python.

use diderot::{Error, FailedStrand, Shortage};
use pyo3::{
    call::PyCallArgs,
    exceptions::{PyMemoryError, PyOSError, PyValueError},
    prelude::*,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An exception of a class of the package.
fn raised<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("diderot._errors")
        .and_then(|module| module.getattr(class)?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Does some work and turns a panic into an exception of Python: one that asks for a report of the fault, or `MemoryError` if
/// there is no memory. Nothing that Python calls may panic outside of this.
pub(crate) fn fenced<R>(py: Python<'_>, work: impl FnOnce() -> R) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        if let Some(shortage) = panic.downcast_ref::<Shortage>() {
            return PyMemoryError::new_err(shortage.to_string());
        }
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("of an unknown kind");
        let message = format!(
            "a fault of diderot itself: {text}\nplease report it, with the program and the inputs that show it"
        );
        raised(py, "InternalError", (message,))
    })
}

/// Panics, so that tests can see what becomes of a panic.
#[pyfunction]
pub(crate) fn fault(py: Python<'_>, text: &str) -> PyResult<()> {
    fenced(py, || panic!("{text}"))
}

/// The exception for an error in an input.
pub(crate) fn input_error(py: Python<'_>, message: &str) -> PyErr {
    raised(py, "InputError", (message, ""))
}

/// The exception for an error; messages name these inputs as Python does.
pub(crate) fn raise(py: Python<'_>, inputs: &[String], error: &Error) -> PyErr {
    let text = in_python(&error.to_string(), inputs);
    match error {
        Error::Compile(failure) => raised(py, "CompileError", (text, failure.json())),
        Error::Input(failure) => raised(py, "InputError", (text, failure.json())),
        Error::Run(failure) => {
            let strand = failure.strand();
            let (id, iterators) = (
                strand.map(|strand: &FailedStrand| strand.id),
                strand.and_then(|strand| strand.iterators.clone()),
            );
            let json = failure.json();
            raised(
                py,
                "RunError",
                (text, json, failure.code(), id, iterators, failure.step()),
            )
        }
        Error::Files(_) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// A message that names inputs as the options of the command, with their names as in Python.
pub(crate) fn in_python(text: &str, inputs: &[String]) -> String {
    // Constants are given by their names.
    let text = text.replace("on the command line with `--C", "in `constants` with `");
    let mut text = text.replace("`--C", "`");
    for name in inputs {
        let rest = text.strip_prefix(&format!("-{name}"));
        if let Some(rest) = rest.filter(|rest| rest.starts_with([' ', ':'])) {
            text = format!("`{name}`{rest}");
        }
        // After its code, in a message that quotes the program.
        text = text.replace(&format!("Error: -{name} "), &format!("Error: `{name}` "));
        for half in ["upper", "lower"] {
            let option = format!("`--symmetric-{name} {half}`");
            text = text.replace(
                &option,
                &format!("`diderot.Image(…, symmetric=\"{half}\")`"),
            );
        }
    }
    text
}
