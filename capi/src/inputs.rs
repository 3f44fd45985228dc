//! Values for inputs.

use crate::{
    diderot_array, diderot_program,
    diderot_status::*,
    diderot_type::{self, *},
    error::{Answer, diderot_error, fenced},
    pointers::{file_name, free, object, place, slice, utf8},
    types::DIDEROT_MAX_AXES,
};
use diderot::{
    Error, InputValue, Inputs,
    image::{Arrangement, Endian, Orientation, SampleType, SharedImage, Space, Strided, TimeAxis},
};
use std::{
    ffi::c_char,
    ptr,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Values for the inputs of a program.
pub struct diderot_inputs {
    values: Mutex<Inputs>,
}

impl diderot_inputs {
    fn lock(&self) -> MutexGuard<'_, Inputs> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values as they are now, for a run of a program.
    pub(crate) fn values_for(&self, program: &diderot_program) -> Answer<Inputs> {
        let inputs = self.lock();
        match inputs.are_of(&program.program) {
            true => Ok(inputs.clone()),
            false => Err(diderot_error::misuse(
                "the inputs were made for another program",
            )),
        }
    }
}

/// Values for the inputs of a program: none yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_new_inputs(
    program: *const diderot_program,
    inputs: *mut *mut diderot_inputs,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let inputs = unsafe { place(inputs, "inputs")? };
        *inputs = ptr::null_mut();
        // SAFETY: the caller's promise.
        let program = unsafe { object(program, "program")? };
        *inputs = Box::into_raw(Box::new(diderot_inputs {
            values: Mutex::new(program.program.new_inputs()),
        }));
        Ok(())
    })
}

/// Sets an input by what `value` makes.
unsafe fn set(
    inputs: *mut diderot_inputs,
    name: *const c_char,
    value: impl FnOnce() -> Answer<InputValue>,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let (inputs, name) = unsafe { (object(inputs, "inputs")?, utf8(name, "name")?) };
        let value = value()?;
        inputs.lock().set(name, value).map_err(wrong)
    })
}

fn wrong(error: Error) -> Box<diderot_error> {
    Box::<diderot_error>::from(error).with_status(DIDEROT_INPUT_ERROR)
}

/// Sets an input of reals: a real, a tensor, or a sequence of them, components row by row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_reals(
    inputs: *mut diderot_inputs,
    name: *const c_char,
    values: *const f64,
    count: usize,
) -> *mut diderot_error {
    // SAFETY: promised by the caller.
    unsafe {
        set(inputs, name, || {
            Ok(InputValue::Tensor(slice(values, count, "values")?.to_vec()))
        })
    }
}

/// Sets an input that is an integer, or a sequence of integers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_ints(
    inputs: *mut diderot_inputs,
    name: *const c_char,
    values: *const i64,
    count: usize,
) -> *mut diderot_error {
    // SAFETY: promised by the caller. One integer may be the value itself or a sequence of one.
    unsafe {
        set(inputs, name, || {
            let numbers = slice(values, count, "values")?.iter();
            Ok(InputValue::Seq(
                numbers.map(|&n| InputValue::Int(n)).collect(),
            ))
        })
    }
}

/// Sets an input that is a truth value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_bool(
    inputs: *mut diderot_inputs,
    name: *const c_char,
    value: bool,
) -> *mut diderot_error {
    // SAFETY: promised by the caller.
    unsafe { set(inputs, name, || Ok(InputValue::Bool(value))) }
}

/// Sets an input that is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_string(
    inputs: *mut diderot_inputs,
    name: *const c_char,
    value: *const c_char,
) -> *mut diderot_error {
    // SAFETY: promised by the caller.
    unsafe {
        set(inputs, name, || {
            Ok(InputValue::String(utf8(value, "value")?.to_string()))
        })
    }
}

/// Sets an input that is an image, a mesh or a sequence to a file, which is read when a run is started. The name is spelled as for the
/// command: also `std:viridis` for a colour map, `slice%03d.png 1 120` for numbered pictures, `file#frame` or `file#array`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_file(
    inputs: *mut diderot_inputs,
    name: *const c_char,
    file: *const c_char,
) -> *mut diderot_error {
    // SAFETY: promised by the caller.
    unsafe {
        set(inputs, name, || {
            Ok(InputValue::File(file_name(file, "file")?))
        })
    }
}

/// Sets an input to an image in memory, which is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_image(
    inputs: *mut diderot_inputs,
    name: *const c_char,
    array: *const diderot_array,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let (inputs, name, image) = unsafe {
            let (inputs, name) = (object(inputs, "inputs")?, utf8(name, "name")?);
            (inputs, name, image(object(array, "array")?, None)?)
        };
        inputs.lock().set_image(name, image).map_err(wrong)
    })
}

/// Sets an input to an image over time in memory, which is copied. Its first axis is that of the frames, whose times are given in
/// seconds, each later than the one before; without them, the numbers of the frames are their times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_image_over_time(
    inputs: *mut diderot_inputs,
    name: *const c_char,
    array: *const diderot_array,
    times: *const f64,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let (inputs, name, image) = unsafe {
            let (inputs, name) = (object(inputs, "inputs")?, utf8(name, "name")?);
            let array = object(array, "array")?;
            let times = match (times.is_null(), array.axes) {
                (false, 1..) => Some(std::slice::from_raw_parts(times, array.sizes[0])),
                _ => None,
            };
            (inputs, name, image(array, times)?)
        };
        inputs.lock().set_image(name, image).map_err(wrong)
    })
}

/// A copy of an array as an image, perhaps with frames at some times.
unsafe fn image(array: &diderot_array, times: Option<&[f64]>) -> Answer<SharedImage> {
    if array.data.is_null() || array.axes > DIDEROT_MAX_AXES || array.world > 3 {
        let message = "the array has no data, or more axes or dimensions than arrays can have";
        return Err(diderot_error::misuse(message));
    }
    let (sample_type, bytes) = sample_type(array.r#type)?;
    let sizes = &array.sizes[..array.axes];
    let all = sizes.iter().try_fold(bytes, |n, &size| n.checked_mul(size));
    let mut copy: Vec<u8> = Vec::new();
    let room = all.filter(|&all| copy.try_reserve_exact(all).is_ok());
    let all =
        room.ok_or_else(|| diderot_error::misuse("there is no memory for a copy of the array"))?;
    let mut close = vec![0_isize; array.axes];
    let mut step = bytes as isize;
    for (stride, &size) in close.iter_mut().zip(sizes).rev() {
        *stride = step;
        step *= size as isize;
    }
    let given = &array.strides[..array.axes];
    let strides = match given.iter().all(|&stride| stride == 0) {
        true => &close[..],
        false => given,
    };
    // Contiguous parts are copied at once: elements, rows, or all.
    let touching = |axis: &usize| strides[*axis] == close[*axis];
    let inner = (0..array.axes).rev().take_while(touching).count();
    let (outer, block) = sizes.split_at(array.axes - inner);
    let block = bytes * block.iter().product::<usize>();
    let mut at = vec![0_usize; outer.len()];
    for _ in 0..all.checked_div(block).unwrap_or(0) {
        let offset: isize = at.iter().zip(strides).map(|(&n, s)| n as isize * s).sum();
        // SAFETY: these elements are of the array.
        let elements =
            unsafe { std::slice::from_raw_parts(array.data.cast::<u8>().offset(offset), block) };
        copy.extend_from_slice(elements);
        for (at, &size) in at.iter_mut().zip(outer).rev() {
            *at += 1;
            if *at < size {
                break;
            }
            *at = 0;
        }
    }
    let endian = match cfg!(target_endian = "big") {
        true => Endian::Big,
        false => Endian::Little,
    };
    let axes = sizes.iter().copied().zip(close).collect();
    let copy = copy.into_boxed_slice();
    // SAFETY: the copy has all elements, close together, and moves along; no other code has it.
    let samples = unsafe { Strided::new(copy.as_ptr(), sample_type, endian, axes, Box::new(copy)) };
    let dim = array.world;
    let orientation = match dim {
        0 => None,
        _ => {
            let directions = array.directions[..dim].iter().map(|d| d[..dim].to_vec());
            let made = Orientation::new(&directions.collect::<Vec<_>>(), &array.origin[..dim]);
            Some(made.map_err(|error| diderot_error::new(DIDEROT_INPUT_ERROR, error.to_string()))?)
        }
    };
    let times = times.map(TimeAxis::of_times).transpose();
    let times = times.map_err(|error| diderot_error::new(DIDEROT_INPUT_ERROR, error))?;
    Ok(SharedImage::over_time(
        samples,
        Arrangement::SlowestFirst,
        orientation,
        Space::Unknown,
        times,
    ))
}

fn sample_type(ty: diderot_type) -> Answer<(SampleType, usize)> {
    Ok(match ty {
        DIDEROT_INT8 => (SampleType::I8, 1),
        DIDEROT_UINT8 | DIDEROT_BOOL => (SampleType::U8, 1),
        DIDEROT_INT16 => (SampleType::I16, 2),
        DIDEROT_UINT16 => (SampleType::U16, 2),
        DIDEROT_INT32 => (SampleType::I32, 4),
        DIDEROT_UINT32 => (SampleType::U32, 4),
        DIDEROT_INT64 => (SampleType::I64, 8),
        DIDEROT_UINT64 => (SampleType::U64, 8),
        DIDEROT_FLOAT => (SampleType::F32, 4),
        DIDEROT_DOUBLE => (SampleType::F64, 8),
    })
}

/// Frees inputs; runs that were started with them continue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_free_inputs(inputs: *mut diderot_inputs) {
    // SAFETY: promised by the caller.
    unsafe { free(inputs) }
}
