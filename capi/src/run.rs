//! Runs.

use crate::{
    diderot_inputs, diderot_printer, diderot_program,
    diderot_status::*,
    diderot_watcher,
    error::{Answer, diderot_error, fenced},
    pointers::{Texts, free, object, place},
};
use diderot::{Control, End, Error, Event, FileOptions, Inputs, OutputData, Run, attended};
use std::{
    ffi::{c_char, c_void},
    ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
    time::Duration,
};

/// The time between two calls of the progress callback.
const LOOK: Duration = Duration::from_millis(50);

/// A run of a program.
pub struct diderot_run {
    control: Arc<Control>,
    run: Mutex<Run>,
    /// Outputs that were asked for since the last step.
    pub(crate) outputs: Mutex<Option<Vec<OutputData>>>,
    callbacks: Mutex<Callbacks>,
    /// Options about files: the defaults.
    pub(crate) options: FileOptions,
    remarks: Mutex<Remarks>,
}

/// Notes and warnings, as C last read them.
#[derive(Default)]
struct Remarks {
    list: Vec<*const c_char>,
    texts: Texts,
}

// SAFETY: the pointers lead to texts of the same object.
unsafe impl Send for Remarks {}

#[derive(Clone, Copy)]
struct Callbacks {
    printer: diderot_printer,
    printer_user: *mut c_void,
    watcher: diderot_watcher,
    watcher_user: *mut c_void,
}

// SAFETY: they are called on the thread that steps the run, and nowhere else.
unsafe impl Send for Callbacks {}

impl diderot_run {
    /// The run, unless another call uses it.
    pub(crate) fn lock(&self) -> Answer<MutexGuard<'_, Run>> {
        self.run.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                diderot_error::misuse("the run is used by another call, in this thread or another")
            }
            TryLockError::Poisoned(_) => has_failed(),
        })
    }
}

/// The error of a call after the failure of a run.
pub(crate) fn has_failed() -> Box<diderot_error> {
    diderot_error::misuse("the run has failed")
}

/// The reason why a run cannot start, which may be a file that cannot be opened.
fn unstarted(inputs: &Inputs, error: Error) -> Box<diderot_error> {
    let message = error.to_string();
    let mut unreadable = inputs.unreadable_files();
    let is_of_file = matches!(error, Error::Input(_))
        && unreadable.any(|file| message.contains(&file.to_string()));
    match is_of_file {
        true => Box::<diderot_error>::from(error).with_status(DIDEROT_FILE_ERROR),
        false => error.into(),
    }
}

/// Loads images, takes inputs and computes the globals; the strands are created by the first step. With 0 workers there is one for
/// each core. A program without required inputs may be started with NULL for the inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_start(
    program: *const diderot_program,
    inputs: *const diderot_inputs,
    workers: u32,
    run: *mut *mut diderot_run,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let place = unsafe { place(run, "run")? };
        *place = ptr::null_mut();
        // SAFETY: the caller's promise.
        let (program, inputs) = unsafe { (object(program, "program")?, inputs.as_ref()) };
        let inputs = match inputs {
            Some(inputs) => inputs.values_for(program)?,
            None => program.program.new_inputs(),
        };
        let started = match workers {
            0 => program.program.start(&inputs),
            _ => program.program.start_on(&inputs, workers as usize),
        };
        let run = started.map_err(|error| unstarted(&inputs, error))?;
        *place = Box::into_raw(Box::new(diderot_run {
            options: FileOptions::new(&program.program),
            control: Arc::clone(run.control()),
            run: Mutex::new(run),
            outputs: Mutex::default(),
            remarks: Mutex::default(),
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

/// Runs up to `most` super-steps, or to the end if that is 0. `done`, if not NULL, gets the super-steps completed since the beginning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_step(
    run: *mut diderot_run,
    most: u64,
    done: *mut u64,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let run = unsafe { object(run, "run")? };
        let mut running = run.lock()?;
        let callbacks = *run.callbacks.lock().unwrap_or_else(PoisonError::into_inner);
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
        match end? {
            End::Finished | End::StepLimit => Ok(()),
            End::Stopped => Err(diderot_error::new(DIDEROT_STOPPED, "the run was stopped")),
            // Clients cannot cancel a run, so this is one that failed before.
            End::Cancelled => Err(has_failed()),
        }
    })
}

/// Asks a run to stop after the super-step it is in; may be called from any thread and from signal handlers. Then diderot_step returns
/// an error of the status DIDEROT_STOPPED, and the outputs so far can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_stop(run: *mut diderot_run) {
    // SAFETY: the caller's promise. Nothing is done but to set a flag.
    if let Some(run) = unsafe { run.as_ref() } {
        run.control.stop();
    }
}

/// The numbers of active, stable and dead strands, also inside of callbacks; each place may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_counts(
    run: *const diderot_run,
    active: *mut u64,
    stable: *mut u64,
    dead: *mut u64,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let run = unsafe { object(run, "run")? };
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
        Ok(())
    })
}

/// Notes about the images of a run and warnings about the run, after it; returns their number. They are valid until the next such call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_remarks(
    run: *const diderot_run,
    list: *mut *const *const c_char,
) -> usize {
    // SAFETY: promised by the caller.
    let (run, list) = unsafe { (run.as_ref(), list.as_mut()) };
    let Some((run, list)) = run.zip(list) else {
        return 0;
    };
    let texts = match run.lock() {
        Ok(run) => [run.notes(), run.warnings()].concat(),
        Err(_) => Vec::new(),
    };
    let mut remarks = run.remarks.lock().unwrap_or_else(PoisonError::into_inner);
    *remarks = Remarks::default();
    for text in &texts {
        let text = remarks.texts.keep(text);
        remarks.list.push(text);
    }
    *list = remarks.list.as_ptr();
    remarks.list.len()
}

/// Frees a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_free_run(run: *mut diderot_run) {
    // SAFETY: promised by the caller.
    unsafe { free(run) }
}
