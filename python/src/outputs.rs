//! Outputs: from the values of strands to arrays, and from arrays to files.

use crate::{errors, program::Program};
use diderot::{
    Attribute, Column, Domain, FileOptions, Output, OutputData, OutputLength, OutputValues, Place,
    Range, Values, Written,
    image::{NamedSpace, Space},
    picture_bytes, triangle_mesh, write_files,
};
use numpy::{Element, PyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, ndarray};
use pyo3::{
    IntoPyObjectExt,
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::{ffi::OsString, sync::Arc};

/// The name of an output, its values, and for sequences of varying length how many elements each strand has.
type Arrays<'py> = (String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// An output as arrays. Values without another owner are not copied.
pub(crate) fn arrays(py: Python<'_>, data: OutputData) -> PyResult<Arrays<'_>> {
    let OutputData {
        output,
        domain,
        values,
        lengths,
    } = data;
    let strands = match &domain {
        Domain::Grid(sizes) => sizes.clone(),
        Domain::List(count) => vec![*count],
    };
    let mut shape = match output.length {
        OutputLength::One => strands,
        OutputLength::Fixed(n) => [strands, vec![n]].concat(),
        OutputLength::Dynamic => vec![lengths.iter().flatten().sum()],
    };
    shape.extend(&output.shape);
    let values = Arc::try_unwrap(values).unwrap_or_else(|shared| OutputValues::clone(&shared));
    let array = match values {
        OutputValues::F32(values) => owned(py, shape, values)?,
        OutputValues::F64(values) => owned(py, shape, values)?,
        OutputValues::I32(values) => owned(py, shape, values)?,
        OutputValues::I64(values) => owned(py, shape, values)?,
        OutputValues::Bool(values) => {
            let truths: Vec<bool> = values.into_iter().map(|b| b != 0).collect();
            owned(py, shape, truths)?
        }
    };
    let lengths = lengths.map(|lengths| {
        let lengths = lengths.into_iter().map(|n| n as i64).collect();
        PyArray1::from_vec(py, lengths).into_any()
    });
    Ok((output.name, array, lengths))
}

fn owned<T: Element>(
    py: Python<'_>,
    shape: Vec<usize>,
    values: Vec<T>,
) -> PyResult<Bound<'_, PyAny>> {
    let array = ndarray::ArrayD::from_shape_vec(shape, values);
    let array = array.map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyArray::from_owned_array(py, array).into_bound_py_any(py)
}

/// An array of outputs, of one of the types that they have.
enum Held<'py> {
    F32(PyReadonlyArrayDyn<'py, f32>),
    F64(PyReadonlyArrayDyn<'py, f64>),
    I32(PyReadonlyArrayDyn<'py, i32>),
    I64(PyReadonlyArrayDyn<'py, i64>),
    Bool(Vec<u8>),
}

impl<'py> Held<'py> {
    fn new(array: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
        if let Ok(array) = array.cast::<PyArrayDyn<f32>>() {
            return Ok(Held::F32(array.readonly()));
        }
        if let Ok(array) = array.cast::<PyArrayDyn<f64>>() {
            return Ok(Held::F64(array.readonly()));
        }
        if let Ok(array) = array.cast::<PyArrayDyn<i32>>() {
            return Ok(Held::I32(array.readonly()));
        }
        if let Ok(array) = array.cast::<PyArrayDyn<i64>>() {
            return Ok(Held::I64(array.readonly()));
        }
        let array = array.cast::<PyArrayDyn<bool>>()?.readonly();
        Ok(Held::Bool(
            array.as_array().iter().map(|&b| b.into()).collect(),
        ))
    }

    fn values(&self) -> PyResult<Values<'_>> {
        Ok(match self {
            Held::F32(array) => Values::F32(array.as_slice()?),
            Held::F64(array) => Values::F64(array.as_slice()?),
            Held::I32(array) => Values::I32(array.as_slice()?),
            Held::I64(array) => Values::I64(array.as_slice()?),
            Held::Bool(values) => Values::Bool(values),
        })
    }
}

/// An output of a program by its name.
fn described(program: &Program, name: &str) -> PyResult<Output> {
    let mut outputs = program.program.outputs().into_iter();
    let found = outputs.find(|output| output.name == name);
    found.ok_or_else(|| PyValueError::new_err(format!("there is no output `{name}`")))
}

/// The name of an output, its values, and the lengths of its sequences.
type GivenOutput<'py> = (String, Bound<'py, PyAny>, Option<Vec<usize>>);

/// Outputs that Python gives back.
struct GivenOutputs<'py> {
    described: Vec<Output>,
    held: Vec<Held<'py>>,
    lengths: Vec<Option<Vec<usize>>>,
}

impl<'py> GivenOutputs<'py> {
    fn new(program: &Program, outputs: Vec<GivenOutput<'py>>) -> PyResult<GivenOutputs<'py>> {
        let mut given = GivenOutputs {
            described: Vec::new(),
            held: Vec::new(),
            lengths: Vec::new(),
        };
        for (name, array, lengths) in outputs {
            given.described.push(described(program, &name)?);
            given.held.push(Held::new(&array)?);
            given.lengths.push(lengths);
        }
        Ok(given)
    }

    fn columns(&self) -> PyResult<Vec<Column<'_>>> {
        let parts = self.described.iter().zip(&self.held).zip(&self.lengths);
        let mut columns = Vec::new();
        for ((output, held), lengths) in parts {
            columns.push(Column {
                output,
                values: held.values()?,
                lengths: lengths.as_deref(),
                range: Range::Usual,
                colours: None,
            });
        }
        Ok(columns)
    }
}

fn domain(sizes: Vec<usize>, is_grid: bool) -> Domain {
    match is_grid {
        true => Domain::Grid(sizes),
        false => Domain::List(sizes.iter().product()),
    }
}

/// Directions, origin, the name of the space and the units of a place.
type PlaceParts = (Vec<Vec<f64>>, Vec<f64>, Option<String>, Vec<String>);

/// An option of the command about files: the output that it is about, if it is about one, its name and its value.
pub(crate) type FileOption = (Option<String>, String, OsString);

/// Options with those of a call.
pub(crate) fn options(
    py: Python<'_>,
    mut options: FileOptions,
    given: &[FileOption],
) -> PyResult<FileOptions> {
    for (output, name, value) in given {
        let set = options.set(output.as_deref(), name, value);
        set.map_err(|error| errors::raise(py, &[], &error))?;
    }
    Ok(options)
}

/// The names of files, their descriptions and notes about them.
pub(crate) fn files(written: &[Written]) -> Vec<(OsString, String, Vec<String>)> {
    let files = written.iter().map(|written| {
        let tally = written.tally.iter();
        let of_tally = tally.flat_map(|tally| tally.notes(&written.file.to_string(), false));
        let notes = written.notes.iter().cloned().chain(of_tally).collect();
        let file = written.file.as_os_str().into();
        (file, written.description.clone(), notes)
    });
    files.collect()
}

/// Writes outputs as the command does, with its options; gives the names of the files, their descriptions and notes about them.
#[pyfunction]
pub(crate) fn save(
    py: Python<'_>,
    program: &Program,
    outputs: Vec<GivenOutput<'_>>,
    sizes: Vec<usize>,
    place: Option<PlaceParts>,
    given: Vec<FileOption>,
) -> PyResult<Vec<(OsString, String, Vec<String>)>> {
    let domain = domain(sizes, program.program.axes().is_some());
    let given_outputs = GivenOutputs::new(program, outputs)?;
    let columns = given_outputs.columns()?;
    let place = place.map(|(directions, origin, space, units)| {
        let named = space.as_deref().and_then(NamedSpace::from_name);
        Place {
            space: named.map_or(Space::Dimension(origin.len()), Space::Named),
            directions,
            origin,
            units,
        }
    });
    let options = options(py, FileOptions::of(given_outputs.described.clone()), &given)?;
    let write = || write_files(&columns, &domain, place.as_ref(), &options);
    let written = errors::fenced(py, write)?;
    Ok(files(
        &written.map_err(|error| errors::raise(py, &[], &error))?,
    ))
}

/// The triangles of outputs as a mesh: points, triangles, and the data of points and of triangles by name.
#[pyfunction]
pub(crate) fn mesh<'py>(
    py: Python<'py>,
    program: &Program,
    outputs: Vec<GivenOutput<'py>>,
    name: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let outputs = GivenOutputs::new(program, outputs)?;
    let columns = outputs.columns()?;
    let made = errors::fenced(py, || triangle_mesh(&columns, name))?;
    let made = made.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let about = PyDict::new(py);
    let triangles = made.triangles.as_flattened().to_vec();
    about.set_item(
        "triangles",
        owned(py, vec![triangles.len() / 3, 3], triangles)?,
    )?;
    about.set_item("points", rows(py, &[3], made.points)?)?;
    let data = |attributes: Vec<Attribute>| {
        let all = PyDict::new(py);
        for attribute in attributes {
            let array = rows(py, &attribute.shape, attribute.values)?;
            all.set_item(attribute.name, array)?;
        }
        PyResult::Ok(all)
    };
    about.set_item("point_data", data(made.of_points)?)?;
    about.set_item("cell_data", data(made.of_triangles)?)?;
    Ok(about)
}

/// Values as an array with a row of this shape for each thing.
fn rows<'py>(
    py: Python<'py>,
    shape: &[usize],
    values: OutputValues,
) -> PyResult<Bound<'py, PyAny>> {
    let size: usize = shape.iter().product::<usize>().max(1);
    let shape = |count: usize| [&[count / size], shape].concat();
    match values {
        OutputValues::F32(values) => owned(py, shape(values.len()), values),
        OutputValues::F64(values) => owned(py, shape(values.len()), values),
        OutputValues::I32(values) => owned(py, shape(values.len()), values),
        OutputValues::I64(values) => owned(py, shape(values.len()), values),
        OutputValues::Bool(values) => {
            let truths: Vec<bool> = values.into_iter().map(|b| b != 0).collect();
            owned(py, shape(truths.len()), truths)
        }
    }
}

/// The bytes of the picture of an output, as the command would write it with these options.
#[pyfunction]
pub(crate) fn picture<'py>(
    py: Python<'py>,
    program: &Program,
    name: &str,
    array: Bound<'py, PyAny>,
    sizes: Vec<usize>,
    given: Vec<FileOption>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (output, held) = (described(program, name)?, Held::new(&array)?);
    let column = Column {
        output: &output,
        values: held.values()?,
        lengths: None,
        range: Range::Usual,
        colours: None,
    };
    let domain = domain(sizes, program.program.axes().is_some());
    let options = options(py, FileOptions::of(vec![output.clone()]), &given)?;
    let bytes = errors::fenced(py, || picture_bytes(&column, &domain, &options))?;
    let bytes = bytes.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}
