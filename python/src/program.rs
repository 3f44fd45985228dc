//! Compiled programs and their descriptions.

use crate::{errors, inputs::Inputs, run::Run};
use diderot::{Config, DefaultValue, Engine, InputType, OutputLength, Target, output_type};
use pyo3::{
    IntoPyObjectExt,
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyList},
};
use std::{ffi::OsString, path::PathBuf};

/// A compiled program. It never changes, and any number of threads may run it.
#[pyclass(frozen, module = "diderot._native")]
pub(crate) struct Program {
    pub(crate) program: diderot::Program,
    /// The arguments that it was made with, for pickles.
    long_int: bool,
    constants: Vec<(String, String)>,
    target: Target,
    width: Option<usize>,
    warn: Vec<String>,
}

/// What [`compile`] takes.
type CompileArguments = (
    OsString,
    String,
    bool,
    bool,
    Vec<(String, String)>,
    &'static str,
    Option<usize>,
    Vec<String>,
);

/// Compiles the text of a program; the path names it in messages, and its imports are searched beside that path.
#[pyfunction]
#[allow(
    clippy::too_many_arguments,
    reason = "the parameters of the function in Python, which have names there"
)]
pub(crate) fn compile(
    py: Python<'_>,
    path: PathBuf,
    text: &str,
    double: bool,
    long_int: bool,
    constants: Vec<(String, String)>,
    target: &str,
    width: Option<usize>,
    warn: Vec<String>,
) -> PyResult<Program> {
    let Some(target) = Target::named(target) else {
        let names = Target::own_names();
        let message = format!("there is no target `{target}`; there are {names}");
        return Err(PyValueError::new_err(message));
    };
    let mut config = Config::new();
    config.double(double).long_int(long_int).target(target);
    for (name, value) in &constants {
        config.constant(name, value);
    }
    let choose = |config: &mut Config| {
        if let Some(width) = width {
            config.width(width)?;
        }
        warn.iter().try_for_each(|kind| config.warn(kind).map(drop))
    };
    choose(&mut config).map_err(|error| errors::raise(py, &[], &error))?;
    let compile = || py.detach(|| Engine::new(&config).compile(path, text));
    let program = errors::fenced(py, compile)?;
    Ok(Program {
        program: program.map_err(|error| errors::raise(py, &[], &error))?,
        long_int,
        constants,
        target,
        width,
        warn,
    })
}

/// Lets data take at most this many bytes of memory, in all runs together.
#[pyfunction]
pub(crate) fn set_memory_limit(bytes: u64) {
    diderot::set_memory_limit(bytes);
}

/// Limits the samples that are loaded on demand and kept, in all runs together.
#[pyfunction]
pub(crate) fn set_cache(bytes: u64) {
    diderot::set_cache(bytes);
}

#[pymethods]
impl Program {
    /// The warnings, each as a line of JSON and as text.
    fn warnings(&self) -> Vec<(String, String)> {
        self.program.rendered_warnings()
    }

    /// Whether reals have 64 bits.
    fn is_double(&self) -> bool {
        self.program.is_double()
    }

    /// For pickles: the arguments that make it again from its text, with the text of its imports.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, CompileArguments)> {
        let compile = py.import("diderot._native")?.getattr("compile")?;
        let arguments = (
            self.program.path().as_os_str().to_owned(),
            self.program.text().to_string(),
            self.program.is_double(),
            self.long_int,
            self.constants.clone(),
            self.target.name(),
            self.width,
            self.warn.clone(),
        );
        Ok((compile, arguments))
    }

    /// The properties of each input.
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for input in self.program.inputs() {
            let about = PyDict::new(py);
            about.set_item("name", &input.name)?;
            about.set_item("type", &input.type_name)?;
            about.set_item("description", &input.description)?;
            about.set_item("required", input.default.is_none())?;
            let default = match &input.default {
                None => py.None().into_bound(py),
                Some(default) => python(py, default)?,
            };
            about.set_item("default", default)?;
            let sources = match &input.default {
                Some(DefaultValue::Computed(sources)) => Some(sources.clone()),
                _ => None,
            };
            about.set_item("computed", sources)?;
            let (kind, shape) = flattened(&input.ty);
            let timed = matches!(input.ty, InputType::Image { timed: true, .. });
            about.set_item("timed", timed)?;
            about.set_item("kind", kind)?;
            about.set_item("shape", shape)?;
            all.append(about)?;
        }
        Ok(all)
    }

    /// Name, type, and whether each strand has a sequence of its own length, of each output.
    fn outputs(&self) -> Vec<(String, String, bool)> {
        let outputs = self.program.outputs().into_iter();
        let outputs = outputs.map(|output| {
            let ty = output_type(&output);
            (output.name, ty, output.length == OutputLength::Dynamic)
        });
        outputs.collect()
    }

    /// The names of the axes of the strands' grid, the slowest first; nothing for a collection.
    fn grid(&self) -> Option<Vec<String>> {
        self.program.axes().map(<[String]>::to_vec)
    }

    /// Values for the inputs: none yet.
    fn new_inputs(&self) -> Inputs {
        Inputs::new(self)
    }

    /// Loads images and computes the globals.
    #[pyo3(signature = (inputs, workers=None))]
    fn begin(&self, py: Python<'_>, inputs: &Inputs, workers: Option<usize>) -> PyResult<Run> {
        Run::new(py, self, inputs, workers)
    }

    /// What became of the program's mathematics.
    #[pyo3(signature = (name=None, latex=false, details=false))]
    fn explain(
        &self,
        py: Python<'_>,
        name: Option<&str>,
        latex: bool,
        details: bool,
    ) -> PyResult<String> {
        let explain = || py.detach(|| self.program.explain(name, latex, details));
        errors::fenced(py, explain)?.map_err(|error| errors::raise(py, &[], &error))
    }

    /// The program after a stage of the compiler.
    fn emit(&self, py: Python<'_>, stage: &str) -> PyResult<String> {
        let emit = || py.detach(|| self.program.emit(stage));
        errors::fenced(py, emit)?.map_err(|error| errors::raise(py, &[], &error))
    }
}

/// The kind of the components of an input, and its sizes: those of sequences, then those of tensors. A sequence of any length
/// has none there. For an image the first number is its dimension, then come the sizes of a sample.
fn flattened(ty: &InputType) -> (&'static str, Vec<Option<usize>>) {
    let sizes = |shape: &[usize]| shape.iter().copied().map(Some).collect();
    match ty {
        InputType::Bool => ("bool", vec![]),
        InputType::Int => ("int", vec![]),
        InputType::Real => ("real", vec![]),
        InputType::String => ("string", vec![]),
        InputType::Tensor(shape) => ("real", sizes(shape)),
        InputType::Seq { elem, len } => {
            let (kind, mut inner) = flattened(elem);
            inner.insert(0, *len);
            (kind, inner)
        }
        InputType::Image { dim, shape, .. } => {
            let shape: Vec<usize> = std::iter::once(*dim).chain(shape.iter().copied()).collect();
            ("image", sizes(&shape))
        }
        InputType::Mesh(_) => ("mesh", vec![]),
    }
}

/// A default as a value of Python; tensors are nested lists.
pub(crate) fn python<'py>(py: Python<'py>, value: &DefaultValue) -> PyResult<Bound<'py, PyAny>> {
    fn nested<'py>(py: Python<'py>, dims: &[usize], values: &[f64]) -> PyResult<Bound<'py, PyAny>> {
        let Some((first, rest)) = dims.split_first() else {
            return values.first().copied().into_bound_py_any(py);
        };
        let list = PyList::empty(py);
        let step = values.len() / (*first).max(1);
        for part in values.chunks(step.max(1)) {
            list.append(nested(py, rest, part)?)?;
        }
        list.into_bound_py_any(py)
    }
    match value {
        DefaultValue::Bool(b) => b.into_bound_py_any(py),
        DefaultValue::Int(n) => n.into_bound_py_any(py),
        DefaultValue::String(text) | DefaultValue::File(text) => text.into_bound_py_any(py),
        DefaultValue::Tensor(shape, values) => nested(py, shape, values),
        DefaultValue::Sequence(elements) => {
            let list = PyList::empty(py);
            for element in elements {
                list.append(python(py, element)?)?;
            }
            list.into_bound_py_any(py)
        }
        _ => Ok(py.None().into_bound(py)),
    }
}
