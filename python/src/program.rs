//! Compiled programs and their descriptions.

use crate::{errors, inputs::Inputs, run::Run};
use compiler::{
    explain::{Unexplained, explain},
    front::typed::tree::{Constant, InputDefault},
    library::{
        self, Compiled, Diagnostic, InputType, Options, OutputLength, Source, Target,
        compile_source, report,
    },
    pipeline::{self, Session, Stopped},
};
use pyo3::{
    IntoPyObjectExt,
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyList},
};
use std::{ffi::OsString, path::PathBuf, sync::Arc};

/// A compiled program. It never changes, and any number of threads may run it.
#[pyclass(frozen, module = "diderot._native")]
pub(crate) struct Program {
    pub(crate) source: Arc<Source>,
    pub(crate) compiled: Compiled,
    options: Options,
}

/// What [`compile`] takes.
type CompileArguments = (
    OsString,
    String,
    bool,
    bool,
    Vec<(String, String)>,
    &'static str,
);

/// Compiles the text of a program; the path names it in messages, and its imports are searched beside that path.
#[pyfunction]
pub(crate) fn compile(
    py: Python<'_>,
    path: PathBuf,
    text: &str,
    double: bool,
    long_int: bool,
    constants: Vec<(String, String)>,
    target: &str,
) -> PyResult<Program> {
    let Some(target) = Target::named(target) else {
        let names = Target::own_names();
        let message = format!("there is no target `{target}`; there are {names}");
        return Err(PyValueError::new_err(message));
    };
    let options = Options {
        double,
        long_int,
        constants,
        target,
        ..Options::default()
    };
    let compiled = errors::fenced(py, || {
        py.detach(|| {
            let source = Source::new(path, text);
            compile_source(&source, &options).map(|compiled| (source, compiled))
        })
    })?;
    match compiled {
        Ok((source, compiled)) => Ok(Program {
            source: Arc::new(source),
            compiled,
            options,
        }),
        Err(errors) => Err(errors::compile_error(
            py,
            &errors.source,
            errors.diagnostics,
        )),
    }
}

#[pymethods]
impl Program {
    /// The warnings, each as a line of JSON and as text.
    fn warnings(&self) -> Vec<(String, String)> {
        let one = |warning: &Diagnostic| {
            let warning = vec![warning.clone()];
            let text = report::render(&self.source, warning.clone(), false);
            (report::to_json_lines(&self.source, warning), text)
        };
        self.compiled.warnings.iter().map(one).collect()
    }

    /// Whether reals have 64 bits.
    fn is_double(&self) -> bool {
        self.options.double
    }

    /// For pickles: the arguments that make it again from its text, with the text of its imports.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, CompileArguments)> {
        let Options {
            double,
            long_int,
            ref constants,
            target,
            ..
        } = self.options;
        let compile = py.import("diderot._native")?.getattr("compile")?;
        let path = self.source.path.clone().into_os_string();
        let text = self.source.text.clone();
        let constants = constants.clone();
        let arguments = (path, text, double, long_int, constants, target.name());
        Ok((compile, arguments))
    }

    /// The properties of each input.
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for input in &self.compiled.interface.inputs {
            let about = PyDict::new(py);
            about.set_item("name", &input.name)?;
            about.set_item("type", input.ty.to_string())?;
            about.set_item("description", &input.description)?;
            about.set_item("required", input.default.is_none())?;
            let default = match &input.default {
                None => py.None().into_bound(py),
                Some(InputDefault::File(file)) => file.into_bound_py_any(py)?,
                Some(InputDefault::Value(constant)) => python(py, constant)?,
            };
            about.set_item("default", default)?;
            let (kind, shape) = flattened(&library::input_type(&input.ty));
            about.set_item("kind", kind)?;
            about.set_item("shape", shape)?;
            all.append(about)?;
        }
        Ok(all)
    }

    /// Name, type, and whether each strand has a sequence of its own length, of each output.
    fn outputs(&self) -> Vec<(String, String, bool)> {
        let outputs = library::outputs(&self.compiled.interface).into_iter();
        let outputs = outputs.map(|output| {
            let ty = library::output_type(&output);
            (output.name, ty, output.length == OutputLength::Dynamic)
        });
        outputs.collect()
    }

    /// The names of the axes of the strands' grid, the slowest first; nothing for a collection.
    fn grid(&self) -> Option<Vec<String>> {
        let interface = &self.compiled.interface;
        interface.grid.then(|| interface.axes.clone())
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
        let explain = || py.detach(|| explain(&self.source, &self.options, name));
        match errors::fenced(py, explain)? {
            Ok(explanation) if latex => Ok(explanation.latex()),
            Ok(explanation) => Ok(explanation.text(details)),
            Err(Unexplained::Errors(errors)) => {
                Err(errors::compile_error(py, &self.source, errors))
            }
            Err(Unexplained::NoSuchName(known)) => Err(PyValueError::new_err(format!(
                "the program has no tensor or field `{}`; it has {}",
                name.unwrap_or_default(),
                known.join(", ")
            ))),
            Err(Unexplained::PlainNumber(others)) => Err(PyValueError::new_err(format!(
                "`{}` is computed from plain numbers, which are compiled as written; there is something to explain of {}",
                name.unwrap_or_default(),
                others.join(", ")
            ))),
        }
    }

    /// The program after a stage of the compiler.
    fn emit(&self, py: Python<'_>, stage: &str) -> PyResult<String> {
        let known = || pipeline::STAGES.iter().filter(|stage| stage.has_text);
        if !known().any(|known| known.name == stage) {
            let names: Vec<&str> = known().map(|stage| stage.name).collect();
            let message = format!(
                "there is no stage `{stage}`; there are {}",
                names.join(", ")
            );
            return Err(PyValueError::new_err(message));
        }
        let mut session = Session {
            stop_after: Some(stage.to_string()),
            ..Session::default()
        };
        let compile = || py.detach(|| pipeline::compile(&mut session, &self.source, &self.options));
        match errors::fenced(py, compile)? {
            Err(Stopped::Errors(errors)) => Err(errors::compile_error(py, &self.source, errors)),
            Err(Stopped::Asked) | Ok(_) => {
                Ok(session.dumps.into_iter().map(|(_, text)| text).collect())
            }
        }
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
        InputType::Image { dim, shape } => {
            let shape: Vec<usize> = std::iter::once(*dim).chain(shape.iter().copied()).collect();
            ("image", sizes(&shape))
        }
        InputType::Mesh(_) => ("mesh", vec![]),
    }
}

/// A constant as a value of Python; tensors are nested lists.
fn python<'py>(py: Python<'py>, constant: &Constant) -> PyResult<Bound<'py, PyAny>> {
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
    match constant {
        Constant::Bool(b) => b.into_bound_py_any(py),
        Constant::Int(n) => n.into_bound_py_any(py),
        Constant::String(s) => s.into_bound_py_any(py),
        Constant::Tensor(shape, values) => nested(py, shape.dims(), values),
        Constant::Seq(elements) => {
            let list = PyList::empty(py);
            for element in elements {
                list.append(python(py, element)?)?;
            }
            list.into_bound_py_any(py)
        }
    }
}
