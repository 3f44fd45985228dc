//! Images in the memory of arrays.

use crate::errors;
use diderot::image::{
    self, Arrangement, Axis, Endian, Header, Kind, NamedSpace, Orientation, SampleType,
    SharedImage, Space, Strided, TimeAxis,
};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};
use std::path::PathBuf;

/// Samples of an array with their place in the world, converted once for all programs that want them alike.
#[pyclass(frozen, module = "diderot._native")]
pub(crate) struct Image {
    pub(crate) shared: SharedImage,
}

#[pymethods]
impl Image {
    /// An image of an array whose axes are those of the grid and then those of a sample. Directions are those of the axes of the
    /// grid, the fastest first; `fastest_first` says that the array has them in this order too. Times are those of the frames of
    /// an image over time, in seconds.
    #[new]
    #[pyo3(signature = (array, fastest_first, directions=None, origin=None, space=None, times=None))]
    fn new(
        array: &Bound<'_, PyUntypedArray>,
        fastest_first: bool,
        directions: Option<Vec<Vec<f64>>>,
        origin: Option<Vec<f64>>,
        space: Option<&str>,
        times: Option<Vec<f64>>,
    ) -> PyResult<Image> {
        let arrangement = match fastest_first {
            true => Arrangement::FastestFirst,
            false => Arrangement::SlowestFirst,
        };
        let orientation = match directions {
            None => None,
            Some(directions) => {
                let origin = origin.unwrap_or_else(|| vec![0.0; directions.len()]);
                let made = Orientation::new(&directions, &origin);
                Some(made.map_err(|error| PyValueError::new_err(error.to_string()))?)
            }
        };
        let space = named_space(space)?;
        let times = times.map(|times| TimeAxis::of_times(&times));
        let times = times.transpose().map_err(PyValueError::new_err)?;
        let samples = strided(array)?;
        Ok(Image {
            shared: SharedImage::over_time(samples, arrangement, orientation, space, times),
        })
    }

    /// An image of an array whose axes, the fastest first, are described as in the header of a NRRD file.
    #[staticmethod]
    #[pyo3(signature = (array, kinds, directions, spacings, origin=None, space=None, frame=None))]
    fn described(
        array: &Bound<'_, PyUntypedArray>,
        kinds: Vec<Option<String>>,
        directions: Vec<Option<Vec<f64>>>,
        spacings: Vec<Option<f64>>,
        origin: Option<Vec<f64>>,
        space: Option<&str>,
        frame: Option<Vec<Vec<f64>>>,
    ) -> PyResult<Image> {
        let samples = strided(array)?;
        let mut header = Header::new(sample_type(array)?, &[]);
        for (n, size) in samples.sizes().into_iter().enumerate() {
            let kind = match kinds.get(n).and_then(Option::as_deref) {
                None => None,
                Some(name) => Some(Kind::from_name(name).ok_or_else(|| {
                    PyValueError::new_err(format!("there is no kind `{name}` of axes"))
                })?),
            };
            header.axes.push(Axis {
                size,
                kind,
                direction: directions.get(n).cloned().flatten(),
                spacing: spacings.get(n).copied().flatten(),
                ..Axis::default()
            });
        }
        header.space = match named_space(space)? {
            Space::Unknown => {
                let coordinates = directions.iter().flatten().map(Vec::len).next();
                coordinates.map_or(Space::Unknown, Space::Dimension)
            }
            named => named,
        };
        header.space_origin = origin;
        header.measurement_frame = frame.map(|frame| frame.into_iter().map(Some).collect());
        let arrangement = Arrangement::Header(Box::new(header));
        Ok(Image {
            shared: SharedImage::new(samples, arrangement, None, Space::Unknown),
        })
    }
}

/// What a file of samples is: the sizes of its grid, the fastest axis first, the shape of a sample, the dtype of its numbers, and
/// directions, origin and space if it can be an image.
#[pyfunction]
pub(crate) fn describe(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let described = errors::fenced(py, || py.detach(|| image::describe(&path)))?;
    let described = described.map_err(|error| errors::input_error(py, &error.to_string()))?;
    let about = PyDict::new(py);
    about.set_item("dtype", dtype(described.header.sample_type))?;
    match &described.image {
        None => {
            about.set_item("sizes", described.header.sizes())?;
            about.set_item("shape", Vec::<usize>::new())?;
            about.set_item("directions", py.None())?;
        }
        Some(image) => {
            let dim = image.sizes.len();
            let matrix = image.orientation.index_to_world();
            let axis = |axis: usize| (0..dim).map(|row| matrix[row * dim + axis]).collect();
            about.set_item("sizes", &image.sizes)?;
            about.set_item("shape", &image.shape)?;
            about.set_item("directions", (0..dim).map(axis).collect::<Vec<Vec<f64>>>())?;
            about.set_item("origin", image.orientation.origin())?;
            about.set_item("space", &image.space)?;
        }
    }
    Ok(about)
}

/// What NumPy calls numbers of a type.
fn dtype(sample_type: SampleType) -> &'static str {
    match sample_type {
        SampleType::I8 => "i1",
        SampleType::U8 => "u1",
        SampleType::I16 => "i2",
        SampleType::U16 => "u2",
        SampleType::I32 => "i4",
        SampleType::U32 => "u4",
        SampleType::I64 => "i8",
        SampleType::U64 => "u8",
        SampleType::F32 => "f4",
        SampleType::F64 => "f8",
        SampleType::Block => "V",
    }
}

/// The samples of an array, which is kept.
fn strided(array: &Bound<'_, PyUntypedArray>) -> PyResult<Strided> {
    let endian = match array.dtype().byteorder() {
        b'>' => Endian::Big,
        b'<' => Endian::Little,
        _ if cfg!(target_endian = "big") => Endian::Big,
        _ => Endian::Little,
    };
    let axes = array.shape().iter().copied();
    let axes = axes.zip(array.strides().iter().copied()).collect();
    // SAFETY: the object is an array, and alive.
    let first = unsafe {
        (*array.as_array_ptr())
            .fields
            .data
            .cast::<u8>()
            .cast_const()
    };
    let owner = Box::new(array.clone().unbind());
    // SAFETY: shape and strides of an array lead to its own memory, which it keeps. That it is not written while it is read is
    // what the package asks of its users, as NumPy does.
    Ok(unsafe { Strided::new(first, sample_type(array)?, endian, axes, owner) })
}

fn sample_type(array: &Bound<'_, PyUntypedArray>) -> PyResult<SampleType> {
    let dtype = array.dtype();
    Ok(match (dtype.kind(), dtype.itemsize()) {
        (b'i', 1) => SampleType::I8,
        (b'i', 2) => SampleType::I16,
        (b'i', 4) => SampleType::I32,
        (b'i', 8) => SampleType::I64,
        (b'u' | b'b', 1) => SampleType::U8,
        (b'u', 2) => SampleType::U16,
        (b'u', 4) => SampleType::U32,
        (b'u', 8) => SampleType::U64,
        (b'f', 4) => SampleType::F32,
        (b'f', 8) => SampleType::F64,
        _ => {
            let message = format!(
                "samples of dtype {dtype} are not numbers that images can have; array.astype('float32') makes such numbers"
            );
            return Err(PyTypeError::new_err(message));
        }
    })
}

fn named_space(name: Option<&str>) -> PyResult<Space> {
    let Some(name) = name else {
        return Ok(Space::Unknown);
    };
    let found = NamedSpace::from_name(name).map(Space::Named);
    found.ok_or_else(|| PyValueError::new_err(format!("there is no space `{name}`")))
}
