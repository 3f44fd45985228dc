//! The native part of the Python package `diderot`: a thin layer over the library of the compiler. It has only the parts that
//! cannot be written in Python: compilation, samples in the memory of arrays, runs with the interpreter's lock released, and
//! outputs that become arrays without being copied.

mod command;
mod device;
mod errors;
mod image;
mod inputs;
mod outputs;
mod program;
mod run;
mod view;

use pyo3::prelude::*;

/// The module `diderot._native`.
#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<program::Program>()?;
    module.add_class::<inputs::Inputs>()?;
    module.add_class::<image::Image>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<device::DeviceArray>()?;
    module.add_class::<view::View>()?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(view::page, module)?)?;
    module.add_function(wrap_pyfunction!(program::compile, module)?)?;
    module.add_function(wrap_pyfunction!(program::set_memory_limit, module)?)?;
    module.add_function(wrap_pyfunction!(program::set_cache, module)?)?;
    module.add_function(wrap_pyfunction!(image::describe, module)?)?;
    module.add_function(wrap_pyfunction!(errors::fault, module)?)?;
    module.add_function(wrap_pyfunction!(outputs::mesh, module)?)?;
    module.add_function(wrap_pyfunction!(outputs::save, module)?)?;
    module.add_function(wrap_pyfunction!(outputs::picture, module)?)
}
