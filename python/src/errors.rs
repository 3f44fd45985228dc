//! Errors of the library as exceptions, which the package defines in Python.

use compiler::{
    front::codes,
    library::{Diagnostic, Failure, Source, diag},
};
use pyo3::{call::PyCallArgs, prelude::*};

/// An exception of a class of the package.
fn raised<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("diderot._errors")
        .and_then(|module| module.getattr(class)?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// What is wrong with a program.
pub(crate) fn compile_error(py: Python<'_>, source: &Source, errors: Vec<Diagnostic>) -> PyErr {
    let text = diag::render(source, errors.clone(), false);
    let lines = diag::to_json_lines(source, errors);
    raised(py, "CompileError", (text, lines))
}

/// What is wrong with an input.
pub(crate) fn input_error(py: Python<'_>, message: &str) -> PyErr {
    raised(py, "InputError", (message, ""))
}

/// Why a run could not begin or go on.
pub(crate) fn failure(py: Python<'_>, source: &Source, failure: &Failure) -> PyErr {
    let text = failure.render(source);
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let diagnostic = failure.diagnostic(source);
    let lines = diag::to_json_lines(source, diagnostic.into_iter().collect());
    if failure.code == codes::INPUT {
        return raised(py, "InputError", (text, lines));
    }
    let strand = failure.strand.as_ref().map(|strand| strand.id);
    let iterators = failure.strand.as_ref().and_then(|s| s.iterators.clone());
    raised(
        py,
        "RunError",
        (
            text,
            lines,
            failure.code.name,
            strand,
            iterators,
            failure.step,
        ),
    )
}
