//! Runs.

use crate::{
    diderot_array, diderot_inputs_t, diderot_printer, diderot_program,
    diderot_status::{self, *},
    diderot_type::*,
    diderot_watcher,
    object::{Message, Problem, fenced, text},
    types::DIDEROT_MAX_AXES,
};
use compiler::{
    front::codes,
    library::{
        Control, Domain, Event, Failure, OutputData, OutputLength, Run, RunEnd, Source, attended,
    },
};
use runtime::reduce::Values;
use std::{
    ffi::{c_char, c_void},
    ptr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The time between two calls of the progress callback.
const LOOK: Duration = Duration::from_millis(50);

/// A run of a program.
#[repr(C)]
pub struct diderot_run {
    message: Message,
    source: Arc<Source>,
    control: Arc<Control>,
    run: Mutex<Run>,
    /// Outputs that were asked for since the last step.
    outputs: Mutex<Option<Vec<OutputData>>>,
    callbacks: Mutex<Callbacks>,
}

#[derive(Clone, Copy)]
struct Callbacks {
    printer: diderot_printer,
    printer_user: *mut c_void,
    watcher: diderot_watcher,
    watcher_user: *mut c_void,
}

// SAFETY: they are called on the thread that steps the run, and nowhere else.
unsafe impl Send for Callbacks {}

fn failed(source: &Source, failure: &Failure) -> Problem {
    let status = match failure.code {
        code if code == codes::INPUT => DIDEROT_INPUT_ERROR,
        _ => DIDEROT_RUN_ERROR,
    };
    let text = failure.render(source);
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    Problem(status, text.trim_end().to_string())
}

/// Loads images, takes inputs and computes the globals; the strands are created by the first step. With 0 workers there is one for
/// each core. On failure, the program has the message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_start(
    program: *const diderot_program,
    inputs: *const diderot_inputs_t,
    workers: u32,
    run: *mut *mut diderot_run,
) -> diderot_status {
    // SAFETY: the caller's promise.
    let (Some(program), Some(place)) = (unsafe { program.as_ref() }, unsafe { run.as_mut() })
    else {
        return DIDEROT_MISUSE;
    };
    *place = ptr::null_mut();
    program.message.keep(|| {
        let Some(compiled) = &program.compiled else {
            return Err(Problem::misuse("the program has errors"));
        };
        // SAFETY: the caller's promise.
        let inputs = match unsafe { inputs.as_ref() } {
            Some(inputs) => {
                let inputs = inputs.inputs.lock().unwrap_or_else(PoisonError::into_inner);
                inputs.clone()
            }
            None => compiler::library::Inputs::of(compiled),
        };
        let workers = Some(workers as usize).filter(|&workers| workers > 0);
        let run = Run::new(compiled, &inputs, workers)
            .map_err(|failure| failed(&program.source, &failure))?;
        *place = Box::into_raw(Box::new(diderot_run {
            message: Message::default(),
            source: Arc::clone(&program.source),
            control: Arc::clone(run.control()),
            run: Mutex::new(run),
            outputs: Mutex::default(),
            callbacks: Mutex::new(Callbacks {
                printer: None,
                printer_user: ptr::null_mut(),
                watcher: None,
                watcher_user: ptr::null_mut(),
            }),
        }));
        Ok(())
    })
}

/// Sets the callback for printed text, called on the thread that steps the run. Without one, text is dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_on_print(
    run: *mut diderot_run,
    printer: diderot_printer,
    user: *mut c_void,
) {
    // SAFETY: the caller's promise.
    if let Some(run) = unsafe { run.as_ref() } {
        let mut callbacks = run.callbacks.lock().unwrap_or_else(PoisonError::into_inner);
        (callbacks.printer, callbacks.printer_user) = (printer, user);
    }
}

/// Sets the callback for progress, called some times a second on the thread that steps the run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_on_progress(
    run: *mut diderot_run,
    watcher: diderot_watcher,
    user: *mut c_void,
) {
    // SAFETY: the caller's promise.
    if let Some(run) = unsafe { run.as_ref() } {
        let mut callbacks = run.callbacks.lock().unwrap_or_else(PoisonError::into_inner);
        (callbacks.watcher, callbacks.watcher_user) = (watcher, user);
    }
}

/// Runs up to `most` super-steps, or to the end if that is 0. `done`, if not null, gets the super-steps completed since the beginning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_step(
    run: *mut diderot_run,
    most: u64,
    done: *mut u64,
) -> diderot_status {
    // SAFETY: the caller's promise.
    let Some(run) = (unsafe { run.as_ref() }) else {
        return DIDEROT_MISUSE;
    };
    let Ok(mut running) = run.run.try_lock() else {
        return DIDEROT_MISUSE;
    };
    let callbacks = *run.callbacks.lock().unwrap_or_else(PoisonError::into_inner);
    run.message.keep(|| {
        *run.outputs.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let limit = Some(most).filter(|&most| most > 0);
        let attend = |event: Event<'_>| match (event, callbacks.printer, callbacks.watcher) {
            (Event::Text(text), Some(printer), _) => {
                // SAFETY: the caller promised that it can be called.
                unsafe { printer(callbacks.printer_user, text.as_ptr().cast(), text.len()) };
            }
            (Event::Tick, _, Some(watcher)) => {
                let (steps, counts) = run.control.progress();
                let (active, stable, dead) = (counts.active, counts.stable, counts.dead);
                // SAFETY: as above.
                unsafe { watcher(callbacks.watcher_user, steps, active, stable, dead) };
            }
            _ => {}
        };
        let own = &mut *running;
        let end = attended(LOOK, |printer| own.advance(limit, printer), attend);
        // SAFETY: the caller's promise.
        if let Some(done) = unsafe { done.as_mut() } {
            *done = running.steps();
        }
        match end.map_err(|failure| failed(&run.source, &failure))? {
            RunEnd::Finished | RunEnd::StepLimit => Ok(()),
            RunEnd::Stopped | RunEnd::Cancelled => Err(Problem(
                DIDEROT_CANCELLED,
                "the run was cancelled".to_string(),
            )),
        }
    })
}

/// Asks a run to stop; may be called from any thread and from signal handlers. The outputs so far can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_cancel(run: *mut diderot_run) {
    // SAFETY: the caller's promise. Nothing is done but to set a flag.
    if let Some(run) = unsafe { run.as_ref() } {
        run.control.stop();
    }
}

/// The numbers of active, stable and dead strands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_counts(
    run: *const diderot_run,
    active: *mut u64,
    stable: *mut u64,
    dead: *mut u64,
) -> diderot_status {
    // SAFETY: the caller's promise.
    let Some(run) = (unsafe { run.as_ref() }) else {
        return DIDEROT_MISUSE;
    };
    let counts = match run.run.try_lock() {
        Ok(run) => run.counts(),
        Err(_) => run.control.progress().1,
    };
    let places = [
        (active, counts.active),
        (stable, counts.stable),
        (dead, counts.dead),
    ];
    for (place, count) in places {
        // SAFETY: the caller's promise.
        if let Some(place) = unsafe { place.as_mut() } {
            *place = count;
        }
    }
    DIDEROT_OK
}

/// An output as it is now; its numbers are valid until the next step, or until the run is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_output(
    run: *mut diderot_run,
    name: *const c_char,
    array: *mut diderot_array,
) -> diderot_status {
    // SAFETY: the caller's promise.
    let (Some(run), Some(array)) = (unsafe { run.as_ref() }, unsafe { array.as_mut() }) else {
        return DIDEROT_MISUSE;
    };
    let Ok(mut running) = run.run.try_lock() else {
        return DIDEROT_MISUSE;
    };
    run.message.keep(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "name of an output")? };
        let mut outputs = run.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        if outputs.is_none() {
            let made = running
                .outputs()
                .map_err(|failure| failed(&run.source, &failure))?;
            *outputs = Some(made.ok_or_else(|| Problem::misuse("the run has failed"))?);
        }
        let found = outputs
            .iter()
            .flatten()
            .find(|data| data.output.name == name);
        let Some(data) = found else {
            return Err(Problem::misuse(format!("there is no output `{name}`")));
        };
        *array = described(data)?;
        if let Some(place) = running.place().filter(|place| place.directions.len() <= 3) {
            array.world = place.origin.len().min(3);
            for (to, from) in array.directions.iter_mut().zip(&place.directions) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
            array
                .origin
                .iter_mut()
                .zip(&place.origin)
                .for_each(|(to, from)| *to = *from);
        }
        Ok(())
    })
}

fn described(data: &OutputData) -> Result<diderot_array, Problem> {
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
        return Err(Problem::misuse(
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

/// Frees a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_free_run(run: *mut diderot_run) {
    if !run.is_null() {
        // SAFETY: it was made by a box, and the caller's promise.
        fenced(|| unsafe {
            drop(Box::from_raw(run));
            Ok(())
        });
    }
}
