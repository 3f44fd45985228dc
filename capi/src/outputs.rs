//! Outputs: arrays and files.

use crate::{
    diderot_array, diderot_option, diderot_run,
    diderot_type::*,
    error::{Answer, diderot_error, fenced},
    pointers::{file_name, object, place, slice, utf8},
    types::DIDEROT_MAX_AXES,
};
use diderot::{Domain, Error, FileOptions, OutputData, OutputLength, OutputValues as Values, Run};
use std::{
    ffi::{c_char, c_void},
    ptr,
    sync::PoisonError,
};

/// Does something with the outputs of a run, which are made once between two steps.
fn with_outputs(run: &diderot_run, work: impl FnOnce(&[OutputData], &Run) -> Answer) -> Answer {
    let mut running = run.lock()?;
    let mut outputs = run.outputs.lock().unwrap_or_else(PoisonError::into_inner);
    if outputs.is_none() {
        *outputs = Some(running.outputs()?);
    }
    work(outputs.as_deref().unwrap_or_default(), &running)
}

/// An output as it is now; its numbers are valid until the next step, or until the run is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_output(
    run: *mut diderot_run,
    name: *const c_char,
    array: *mut diderot_array,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let (run, name, array) = unsafe {
            let run = object(run, "run")?;
            (run, utf8(name, "name")?, place(array, "array")?)
        };
        with_outputs(run, |outputs, running| {
            let Some(data) = outputs.iter().find(|data| data.output.name == name) else {
                let names: Vec<&str> = outputs.iter().map(|data| &*data.output.name).collect();
                let names = names.join(", ");
                let message = format!("there is no output `{name}`; there are {names}");
                return Err(diderot_error::misuse(message));
            };
            *array = described(data)?;
            if let Some(place) = running.place().filter(|place| place.directions.len() <= 3) {
                array.world = place.origin.len().min(3);
                for (to, from) in array.directions.iter_mut().zip(&place.directions) {
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                }
                let origin = array.origin.iter_mut().zip(&place.origin);
                origin.for_each(|(to, from)| *to = *from);
            }
            Ok(())
        })
    })
}

/// Does something about files with the options of a call.
unsafe fn with_options(
    run: *mut diderot_run,
    options: *const diderot_option,
    count: usize,
    work: impl FnOnce(&mut Run, &FileOptions) -> Result<(), Error>,
) -> Answer {
    // SAFETY: the caller's promise.
    let (run, options) = unsafe { (object(run, "run")?, slice(options, count, "options")?) };
    let mut made = run.options.clone();
    for option in options {
        // SAFETY: the caller's promise. A value may be the name of a file, which need not be text.
        let (output, name, value) = unsafe {
            let output = match option.output.is_null() {
                true => None,
                false => Some(utf8(option.output, "output")?),
            };
            let (name, value) = (
                utf8(option.name, "name")?,
                file_name(option.value, "value")?,
            );
            (output, name, value)
        };
        made.set(output, name, value.as_os_str())?;
    }
    Ok(work(&mut *run.lock()?, &made)?)
}

/// Writes the outputs as they are now to files, as the command does at the end of a run. Without options every output is written under
/// its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_write(
    run: *mut diderot_run,
    list: *const diderot_option,
    count: usize,
) -> *mut diderot_error {
    let save = |run: &mut Run, options: &FileOptions| run.save(options).map(drop);
    // SAFETY: the caller's promise.
    fenced(|| unsafe { with_options(run, list, count, save) })
}

/// Writes files while the run goes on, as the command does: snapshots and films after super-steps, results when no strand is active any
/// more. To be called before the first step, and before outputs are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_record(
    run: *mut diderot_run,
    list: *const diderot_option,
    count: usize,
) -> *mut diderot_error {
    let record = |run: &mut Run, options: &FileOptions| run.record(options).map(drop);
    // SAFETY: the caller's promise.
    fenced(|| unsafe { with_options(run, list, count, record) })
}

/// Writes the results of a recording as they are now and completes its films; not needed if the run goes to its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_finish_recording(run: *mut diderot_run) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        unsafe { object(run, "run")? }.lock()?.finish_recording()?;
        Ok(())
    })
}

fn described(data: &OutputData) -> Answer<diderot_array> {
    let strands = match &data.domain {
        Domain::Grid(sizes) => sizes.clone(),
        Domain::List(count) => vec![*count],
    };
    let mut shape = match data.output.length {
        OutputLength::One => strands,
        OutputLength::Fixed(n) => [strands, vec![n]].concat(),
        OutputLength::Dynamic => vec![data.lengths.iter().flatten().sum()],
    };
    shape.extend(&data.output.shape);
    if shape.len() > DIDEROT_MAX_AXES {
        return Err(diderot_error::misuse(
            "the output has more axes than arrays can have",
        ));
    }
    let (first, ty): (*const c_void, _) = match &*data.values {
        Values::F32(values) => (values.as_ptr().cast(), DIDEROT_FLOAT),
        Values::F64(values) => (values.as_ptr().cast(), DIDEROT_DOUBLE),
        Values::I32(values) => (values.as_ptr().cast(), DIDEROT_INT32),
        Values::I64(values) => (values.as_ptr().cast(), DIDEROT_INT64),
        Values::Bool(values) => (values.as_ptr().cast(), DIDEROT_BOOL),
    };
    let mut sizes = [0; DIDEROT_MAX_AXES];
    sizes[..shape.len()].copy_from_slice(&shape);
    let lengths = data.lengths.as_deref();
    Ok(diderot_array {
        data: first,
        r#type: ty,
        axes: shape.len(),
        sizes,
        strides: [0; DIDEROT_MAX_AXES],
        world: 0,
        directions: [[0.0; 3]; 3],
        origin: [0.0; 3],
        lengths: lengths.map_or(ptr::null(), <[usize]>::as_ptr),
        strands: lengths.map_or(0, <[usize]>::len),
    })
}
