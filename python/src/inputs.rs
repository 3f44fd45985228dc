//! Values for the inputs of a program.

use crate::{errors, image::Image, program::Program};
use diderot::{
    Error, InputType, InputValue,
    image::{ImageSource, Reading},
};
use numpy::PyReadonlyArray1;
use pyo3::{exceptions::PyValueError, prelude::*};
use std::{
    ffi::OsString,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Values for the inputs of a program, by name. Callers have already converted them to the shape of their type.
#[pyclass(frozen, module = "diderot._native")]
pub(crate) struct Inputs {
    types: Vec<(String, InputType)>,
    inputs: Mutex<diderot::Inputs>,
}

impl Inputs {
    pub(crate) fn new(program: &Program) -> Inputs {
        let inputs = program.program.inputs().into_iter();
        Inputs {
            types: inputs.map(|input| (input.name, input.ty)).collect(),
            inputs: Mutex::new(program.program.new_inputs()),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, diderot::Inputs> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, py: Python<'_>, name: &str, value: InputValue) -> PyResult<()> {
        let set = errors::fenced(py, || self.lock().set(name, value))?;
        self.checked(py, set)
    }

    /// Sets an input whose components are given one after the other.
    fn set_components(
        &self,
        py: Python<'_>,
        name: &str,
        components: impl Iterator<Item = InputValue>,
    ) -> PyResult<()> {
        let found = self.types.iter().find(|(known, _)| known == name);
        let mut components = components;
        let value = found.and_then(|(_, ty)| nested(ty, &mut components));
        match value {
            Some(value) => self.set(py, name, value),
            None => {
                let message = format!("the input `{name}` has too few values");
                Err(errors::input_error(py, &message))
            }
        }
    }

    fn checked<R>(&self, py: Python<'_>, result: Result<R, Error>) -> PyResult<R> {
        let names: Vec<String> = self.types.iter().map(|(name, _)| name.clone()).collect();
        result.map_err(|error| errors::raise(py, &names, &error))
    }

    /// Chooses how the image of an input is read, by options of the command without dashes and their words.
    fn read_so(&self, py: Python<'_>, name: &str, options: &[(String, String)]) -> PyResult<()> {
        let mut reading = Reading::default();
        for (option, word) in options {
            let set = match option.as_str() {
                "world" => reading.set_world(word),
                "symmetric" => reading.set_triangle(word),
                "measurement-frame" => reading.set_frame(word),
                "map" => reading.set_map(word),
                "missing" => reading.set_missing(word),
                "times" => reading.set_times(word),
                "flip-components" => {
                    reading.flip_components = true;
                    Ok(())
                }
                _ => Err(format!("there is no option `{option}`")),
            };
            set.map_err(PyValueError::new_err)?;
        }
        let set = self.lock().set_reading(name, reading);
        self.checked(py, set)
    }
}

#[pymethods]
impl Inputs {
    fn set_bools(
        &self,
        py: Python<'_>,
        name: &str,
        values: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<()> {
        let values = values.as_array();
        self.set_components(py, name, values.iter().map(|&b| InputValue::Bool(b)))
    }

    fn set_ints(
        &self,
        py: Python<'_>,
        name: &str,
        values: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<()> {
        let values = values.as_array();
        self.set_components(py, name, values.iter().map(|&n| InputValue::Int(n)))
    }

    fn set_reals(
        &self,
        py: Python<'_>,
        name: &str,
        values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        self.set(py, name, InputValue::Tensor(values.as_array().to_vec()))
    }

    fn set_strings(&self, py: Python<'_>, name: &str, values: Vec<String>) -> PyResult<()> {
        let values = values.into_iter().map(InputValue::String);
        self.set_components(py, name, values)
    }

    #[pyo3(signature = (name, file, reading=vec![]))]
    fn set_file(
        &self,
        py: Python<'_>,
        name: &str,
        file: OsString,
        reading: Vec<(String, String)>,
    ) -> PyResult<()> {
        self.set(py, name, InputValue::File(file.into()))?;
        match reading.is_empty() {
            true => Ok(()),
            false => self.read_so(py, name, &reading),
        }
    }

    #[pyo3(signature = (name, image, reading=vec![]))]
    fn set_image(
        &self,
        py: Python<'_>,
        name: &str,
        image: &Image,
        reading: Vec<(String, String)>,
    ) -> PyResult<()> {
        let source = ImageSource::Shared(image.shared.clone());
        let set = self.lock().set_image(name, source);
        self.checked(py, set)?;
        self.read_so(py, name, &reading)
    }
}

/// A value of a type from its components; `None` if there are too few.
fn nested(ty: &InputType, components: &mut dyn Iterator<Item = InputValue>) -> Option<InputValue> {
    match ty {
        InputType::Seq { elem, len } => {
            let mut elements = Vec::new();
            match len {
                Some(len) => {
                    for _ in 0..*len {
                        elements.push(nested(elem, components)?);
                    }
                }
                // As many as there are.
                None => elements.extend(std::iter::from_fn(|| nested(elem, components))),
            }
            Some(InputValue::Seq(elements))
        }
        _ => components.next(),
    }
}
