//! Outputs in the memory of a GPU, which other libraries take by DLPack.

use diderot::DeviceOutput;
use numpy::PyArray1;
use pyo3::{
    exceptions::{PyBufferError, PyRuntimeError},
    ffi,
    prelude::*,
};
use std::ffi::{CStr, c_int, c_void};

/// An output in the memory of a GPU. Libraries for arrays on GPUs take it by DLPack, without a copy; `numpy()` brings it back.
#[pyclass(frozen, module = "diderot._native")]
pub(crate) struct DeviceArray {
    output: DeviceOutput,
}

impl DeviceArray {
    pub(crate) fn new(output: DeviceOutput) -> DeviceArray {
        DeviceArray { output }
    }
}

/// The number of NVIDIA GPUs among the devices of DLPack.
const CUDA: c_int = 2;

/// The names of a capsule before and after its tensor was taken are those of the protocol.
const NAME: &CStr = c"dltensor";

#[pymethods]
impl DeviceArray {
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.output.sizes()
    }

    /// The type of the numbers, as NumPy names it.
    #[getter]
    fn dtype(&self) -> String {
        let kind = if self.output.is_real() {
            "float"
        } else {
            "int"
        };
        format!("{kind}{}", 8 * self.output.number_bytes())
    }

    /// A copy in the memory of the processor; truth values are those of NumPy there.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let read = py.detach(|| self.output.read());
        let bytes = read.map_err(PyRuntimeError::new_err)?;
        let flat = PyArray1::from_vec(py, bytes).into_any();
        let mut typed = flat.call_method1("view", (self.dtype(),))?;
        if self.output.is_truth() {
            typed = typed.call_method1("astype", ("bool",))?;
        }
        typed.call_method1("reshape", (self.shape(),))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            let message = "an array on a GPU must be copied to the memory of the processor";
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        }
        let array = self.numpy(py)?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    fn __dlpack_device__(&self) -> (c_int, usize) {
        (CUDA, self.output.device())
    }

    /// The array for another library. All work on it is done, so no stream has to wait.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<(c_int, usize)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (stream, max_version);
        if copy == Some(true) || dl_device.is_some_and(|wanted| wanted != self.__dlpack_device__())
        {
            let message = "the array is on the GPU, and is given without a copy only";
            return Err(PyBufferError::new_err(message));
        }
        let tensor = Box::into_raw(Managed::new(self.output.clone()));
        // SAFETY: the tensor lives until its deleter is called, by the new owner or by the capsule.
        unsafe {
            let capsule = ffi::PyCapsule_New(tensor.cast(), NAME.as_ptr(), Some(forget));
            if capsule.is_null() {
                delete(tensor.cast());
            }
            Bound::from_owned_ptr_or_err(py, capsule)
        }
    }

    fn __repr__(&self) -> String {
        let sizes: Vec<String> = self.shape().iter().map(usize::to_string).collect();
        let number = self.output.device();
        format!(
            "DeviceArray({}, {}, GPU {number})",
            sizes.join(" × "),
            self.dtype()
        )
    }
}

/// A tensor as DLPack describes it, with its owner.
#[repr(C)]
struct Managed {
    data: *mut c_void,
    device_type: c_int,
    device_id: c_int,
    ndim: c_int,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut c_void)>,
    /// Behind the end of the structure that others know.
    sizes: Vec<i64>,
    _output: DeviceOutput,
}

impl Managed {
    fn new(output: DeviceOutput) -> Box<Managed> {
        let sizes: Vec<i64> = output.sizes().into_iter().map(|n| n as i64).collect();
        let mut managed = Box::new(Managed {
            data: output.address() as *mut c_void,
            device_type: CUDA,
            device_id: output.device() as c_int,
            ndim: sizes.len() as c_int,
            // Integers with a sign are 0, and reals 2.
            code: if output.is_real() { 2 } else { 0 },
            bits: 8 * output.number_bytes() as u8,
            lanes: 1,
            shape: std::ptr::null_mut(),
            // None: the array is row-major without gaps.
            strides: std::ptr::null_mut(),
            byte_offset: 0,
            manager: std::ptr::null_mut(),
            deleter: Some(delete),
            sizes,
            _output: output,
        });
        managed.shape = managed.sizes.as_mut_ptr();
        managed
    }
}

/// Frees a tensor.
unsafe extern "C" fn delete(tensor: *mut c_void) {
    // SAFETY: it was made by `Managed::new`, and nothing uses it any more.
    drop(unsafe { Box::from_raw(tensor.cast::<Managed>()) });
}

/// Frees the tensor of a capsule, unless it was taken: then the capsule has another name.
unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter gives a capsule that is about to end.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()));
        }
    }
}
