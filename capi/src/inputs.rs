//! Values for inputs.

use crate::{
    diderot_array, diderot_program,
    diderot_status::{self, *},
    diderot_type::{self, *},
    object::{Answer, Message, Problem, fenced, file_name, text},
    types::DIDEROT_MAX_AXES,
};
use compiler::library::{
    Arrangement, FileName, InputValue, Inputs, Orientation, SharedImage, Strided,
};
use runtime::{
    file_name::split_last,
    nrrd::{Endian, SampleType, Space},
};
use std::{
    ffi::c_char,
    fs::File,
    ptr,
    sync::{Mutex, PoisonError},
};

/// Values for the inputs of a program.
#[repr(C)]
pub struct diderot_inputs_t {
    pub(crate) message: Message,
    pub(crate) inputs: Mutex<Inputs>,
}

/// Values for the inputs of a program: none yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_new_inputs(
    program: *const diderot_program,
    inputs: *mut *mut diderot_inputs_t,
) -> diderot_status {
    // SAFETY: the caller's promise.
    let (Some(program), Some(place)) = (unsafe { program.as_ref() }, unsafe { inputs.as_mut() })
    else {
        return DIDEROT_MISUSE;
    };
    *place = ptr::null_mut();
    program.message.keep(|| {
        let Some(compiled) = &program.compiled else {
            return Err(Problem::misuse("the program has errors"));
        };
        *place = Box::into_raw(Box::new(diderot_inputs_t {
            message: Message::default(),
            inputs: Mutex::new(Inputs::of(compiled)),
        }));
        Ok(())
    })
}

/// Sets an input by what `value` makes.
unsafe fn set(
    inputs: *mut diderot_inputs_t,
    name: *const c_char,
    value: impl FnOnce() -> Result<InputValue, Problem>,
) -> diderot_status {
    // SAFETY: the caller's promise.
    let Some(inputs) = (unsafe { inputs.as_ref() }) else {
        return DIDEROT_MISUSE;
    };
    inputs.message.keep(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "name of an input")? };
        let mut values = inputs.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        values.set(name, value()?).map_err(wrong)
    })
}

fn wrong(failure: compiler::library::Failure) -> Problem {
    Problem(DIDEROT_INPUT_ERROR, failure.to_string())
}

/// The numbers of a pointer.
unsafe fn numbers<'a, T>(values: *const T, count: usize) -> Result<&'a [T], Problem> {
    match (values.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Problem::misuse("the values are a null pointer")),
        // A negative length becomes a count that exceeds any memory.
        (false, _) if count > isize::MAX as usize / size_of::<T>() => Err(Problem::misuse(
            format!("{count} values are more than memory can hold"),
        )),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(values, count) }),
    }
}

/// Sets an input of reals: a real, a tensor, or a sequence of them, components row by row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_reals(
    inputs: *mut diderot_inputs_t,
    name: *const c_char,
    values: *const f64,
    count: usize,
) -> diderot_status {
    // SAFETY: promised by the caller.
    unsafe {
        set(inputs, name, || {
            Ok(InputValue::Tensor(numbers(values, count)?.to_vec()))
        })
    }
}

/// Sets an input that is an integer, or a sequence of integers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_ints(
    inputs: *mut diderot_inputs_t,
    name: *const c_char,
    values: *const i64,
    count: usize,
) -> diderot_status {
    // SAFETY: promised by the caller. One integer may be the value itself or a sequence of one.
    unsafe {
        set(inputs, name, || {
            let numbers = numbers(values, count)?.iter();
            Ok(InputValue::Seq(
                numbers.map(|&n| InputValue::Int(n)).collect(),
            ))
        })
    }
}

/// Sets an input that is a truth value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_bool(
    inputs: *mut diderot_inputs_t,
    name: *const c_char,
    value: bool,
) -> diderot_status {
    // SAFETY: promised by the caller.
    unsafe { set(inputs, name, || Ok(InputValue::Bool(value))) }
}

/// Sets an input that is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_string(
    inputs: *mut diderot_inputs_t,
    name: *const c_char,
    value: *const c_char,
) -> diderot_status {
    // SAFETY: promised by the caller.
    unsafe {
        set(inputs, name, || {
            Ok(InputValue::String(text(value, "text")?.to_string()))
        })
    }
}

/// Sets an input that is an image, a mesh or a sequence to a file, which is read when a run is started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_file(
    inputs: *mut diderot_inputs_t,
    name: *const c_char,
    file: *const c_char,
) -> diderot_status {
    // SAFETY: promised by the caller.
    unsafe {
        set(inputs, name, || {
            let file = file_name(file)?;
            readable(&file)?;
            Ok(InputValue::File(file))
        })
    }
}

/// Reports a missing file immediately.
fn readable(file: &FileName) -> Answer {
    let whole = File::open(file);
    // The name may choose a frame of the file: `scan.nrrd#3`.
    let opened = whole.or_else(|error| match split_last(file.as_os_str(), b'#') {
        Some((file, _)) => File::open(file),
        None => Err(error),
    });
    let wrong = |error| Problem(DIDEROT_FILE_ERROR, format!("cannot read `{file}`: {error}"));
    opened.map(drop).map_err(wrong)
}

/// Sets an input to an image in memory, which is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_set_image(
    inputs: *mut diderot_inputs_t,
    name: *const c_char,
    array: *const diderot_array,
) -> diderot_status {
    // SAFETY: the caller's promise.
    let Some(inputs) = (unsafe { inputs.as_ref() }) else {
        return DIDEROT_MISUSE;
    };
    inputs.message.keep(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "name of an input")? };
        // SAFETY: the caller's promise.
        let Some(array) = (unsafe { array.as_ref() }) else {
            return Err(Problem::misuse("the array is a null pointer"));
        };
        // SAFETY: the caller's promise.
        let image = unsafe { image(array)? };
        let mut values = inputs.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        values.set_image(name, image).map_err(wrong)
    })
}

/// A copy of an array as an image.
unsafe fn image(array: &diderot_array) -> Result<SharedImage, Problem> {
    if array.data.is_null() || array.axes > DIDEROT_MAX_AXES || array.world > 3 {
        let message = "the array has no data, or more axes or dimensions than arrays can have";
        return Err(Problem::misuse(message));
    }
    let (sample_type, bytes) = sample_type(array.r#type)?;
    let sizes = &array.sizes[..array.axes];
    let all = sizes.iter().try_fold(bytes, |n, &size| n.checked_mul(size));
    let mut copy: Vec<u8> = Vec::new();
    let room = all.filter(|&all| copy.try_reserve_exact(all).is_ok());
    let all = room.ok_or_else(|| Problem::misuse("there is no memory for a copy of the array"))?;
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
            Some(made.map_err(|error| Problem(DIDEROT_INPUT_ERROR, error.to_string()))?)
        }
    };
    Ok(SharedImage::new(
        samples,
        Arrangement::SlowestFirst,
        orientation,
        Space::Unknown,
    ))
}

fn sample_type(ty: diderot_type) -> Result<(SampleType, usize), Problem> {
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
pub unsafe extern "C" fn diderot_free_inputs(inputs: *mut diderot_inputs_t) {
    if !inputs.is_null() {
        fenced(|| -> Answer {
            // SAFETY: it was made by a box, and the caller's promise.
            drop(unsafe { Box::from_raw(inputs) });
            Ok(())
        });
    }
}
