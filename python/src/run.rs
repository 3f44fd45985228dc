//! Runs: on other threads, while the calling thread waits for the end without the interpreter's lock, and looks at signals.

use crate::{
    device::DeviceArray,
    errors,
    inputs::Inputs,
    outputs::{self, FileOption},
    program::{Program, python},
};
use diderot::{
    Control, DeviceOutput, Domain, End, Error, Event, FileOptions, Place, attended, image::Space,
};
use pyo3::{exceptions::PyRuntimeError, prelude::*, types::PyDict};
use std::{
    sync::{Arc, Mutex, MutexGuard, TryLockError},
    time::Duration,
};

/// How long a signal may have to wait.
const LOOK: Duration = Duration::from_millis(50);

/// A run of a program.
#[pyclass(frozen, module = "diderot._native")]
pub(crate) struct Run {
    program: diderot::Program,
    /// The names of the inputs.
    inputs: Vec<String>,
    control: Arc<Control>,
    /// Nothing once its outputs were moved away.
    run: Mutex<Option<diderot::Run>>,
}

impl Run {
    pub(crate) fn new(
        py: Python<'_>,
        program: &Program,
        inputs: &Inputs,
        workers: Option<usize>,
    ) -> PyResult<Run> {
        let inputs = inputs.lock().clone();
        let program = &program.program;
        let begin = || match workers {
            Some(workers) => program.start_on(&inputs, workers),
            None => program.start(&inputs),
        };
        let run = errors::fenced(py, || py.detach(begin))?;
        let names = program.inputs().into_iter();
        let names: Vec<String> = names.map(|input| input.name).collect();
        let run = run.map_err(|error| errors::raise(py, &names, &error))?;
        Ok(Run {
            program: program.clone(),
            inputs: names,
            control: Arc::clone(run.control()),
            run: Mutex::new(Some(run)),
        })
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Option<diderot::Run>>> {
        self.run.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                PyRuntimeError::new_err("this run is already running, in another thread")
            }
            TryLockError::Poisoned(_) => PyRuntimeError::new_err("this run has failed"),
        })
    }

    fn failed(&self, py: Python<'_>, error: &Error) -> PyErr {
        errors::raise(py, &self.inputs, error)
    }
}

/// Says that a run has given its outputs away.
fn taken() -> PyErr {
    PyRuntimeError::new_err("this run is over")
}

#[pymethods]
impl Run {
    /// Creates the strands.
    fn create(&self, py: Python<'_>) -> PyResult<()> {
        let mut run = self.lock()?;
        let run = run.as_mut().ok_or_else(taken)?;
        let created = errors::fenced(py, || py.detach(|| run.create()))?;
        created.map_err(|error| self.failed(py, &error))
    }

    /// The values of the inputs that are not files, given or by default, by name.
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut run = self.lock()?;
        let run = run.as_mut().ok_or_else(taken)?;
        let values = PyDict::new(py);
        for name in &self.inputs {
            if let Some(value) = run.input(name) {
                values.set_item(name, python(py, &value)?)?;
            }
        }
        Ok(values)
    }

    /// Writes files while it runs, with options of the command; gives warnings about lack of space.
    fn record(&self, py: Python<'_>, options: Vec<FileOption>) -> PyResult<Vec<String>> {
        let mut run = self.lock()?;
        let run = run.as_mut().ok_or_else(taken)?;
        let options = outputs::options(py, FileOptions::new(&self.program), &options)?;
        let begun = errors::fenced(py, || run.record(&options))?;
        begun.map_err(|error| self.failed(py, &error))
    }

    /// Writes the results of the recording as they are now, if it is not complete.
    fn finish_recording(&self, py: Python<'_>) -> PyResult<()> {
        let mut run = self.lock()?;
        let run = run.as_mut().ok_or_else(taken)?;
        let finished = errors::fenced(py, || py.detach(|| run.finish_recording().map(drop)))?;
        finished.map_err(|error| self.failed(py, &error))
    }

    /// Runs up to this many super-steps, or to the end. `progress` gets the numbers of super-steps and of active, stable and dead
    /// strands, and the fraction that is done, if it is known; `printer` gets the printed text. Both are called in this thread.
    #[pyo3(signature = (limit, progress, printer))]
    fn advance(
        &self,
        py: Python<'_>,
        limit: Option<u64>,
        progress: Option<Py<PyAny>>,
        printer: Option<Py<PyAny>>,
    ) -> PyResult<&'static str> {
        let mut run = self.lock()?;
        let run = run.as_mut().ok_or_else(taken)?;
        let length = run.length(limit);
        let control = &self.control;
        let mut raised: Option<PyErr> = None;
        let look = |event: Event<'_>| {
            Python::attach(|py| match event {
                Event::Text(text) => match &printer {
                    Some(printer) => printer
                        .call1(py, (String::from_utf8_lossy(text),))
                        .map(drop),
                    None => Ok(()),
                },
                Event::Tick => {
                    py.check_signals()?;
                    let Some(progress) = &progress else {
                        return Ok(());
                    };
                    let (steps, counts) = control.progress();
                    let fraction = length.fraction(steps, counts);
                    let arguments = (steps, counts.active, counts.stable, counts.dead, fraction);
                    progress.call1(py, arguments).map(drop)
                }
            })
        };
        let attend = |event: Event<'_>| {
            // After an error only signals matter: the functions of the caller are not called again.
            let looked = match raised {
                None => look(event),
                Some(_) => Python::attach(|py| py.check_signals()),
            };
            if let Err(error) = looked {
                // A second interrupt cancels at once and keeps nothing.
                match raised {
                    None => control.stop(),
                    Some(_) => control.cancel(),
                }
                raised = Some(error);
            }
        };
        let advance =
            || py.detach(|| attended(LOOK, |printer| run.advance(limit, printer), attend));
        let end = errors::fenced(py, advance)?;
        if let Some(error) = raised {
            return Err(error);
        }
        // A signal that came after the last look is not lost.
        py.check_signals()?;
        match end {
            Ok(End::Finished) => Ok("stable"),
            Ok(End::StepLimit) => Ok("limit"),
            Ok(End::Cancelled | End::Stopped) => Ok("stopped"),
            Err(error) => Err(self.failed(py, &error)),
        }
    }

    /// Lets the outputs stay on the GPU, if they can.
    fn keep_on_device(&self) -> PyResult<()> {
        let mut run = self.lock()?;
        run.as_mut().ok_or_else(taken)?.keep_on_device();
        Ok(())
    }

    /// The outputs that have stayed on the GPU, by name. `None` if they have come back.
    fn device_outputs(&self) -> PyResult<Option<Vec<(String, DeviceArray)>>> {
        let run = self.lock()?;
        let outputs = run.as_ref().ok_or_else(taken)?.device_outputs();
        let named = |output: DeviceOutput| (output.output.name.clone(), DeviceArray::new(output));
        Ok(outputs.map(|outputs| outputs.into_iter().map(named).collect()))
    }

    /// Warnings to report after it.
    fn warnings(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.as_ref().ok_or_else(taken)?.warnings())
    }

    /// Asks it to stop, from any thread.
    fn stop(&self) {
        self.control.stop();
    }

    /// Super-steps, and active, stable and dead strands.
    fn progress(&self) -> (u64, u64, u64, u64) {
        let run = self.run.try_lock().ok();
        let now = run.and_then(|run| run.as_ref().map(|run| (run.steps(), run.counts())));
        let (steps, counts) = now.unwrap_or_else(|| self.control.progress());
        (steps, counts.active, counts.stable, counts.dead)
    }

    /// Whether nothing is left to run.
    fn is_over(&self) -> PyResult<bool> {
        Ok(self.lock()?.as_ref().is_none_or(diderot::Run::is_over))
    }

    /// The outputs as they are now, and the properties of the run. If `last`, they are moved instead of copied. `None` if there
    /// is nothing to read.
    fn outputs<'py>(&self, py: Python<'py>, last: bool) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut guard = self.lock()?;
        let run = guard.as_mut().ok_or_else(taken)?;
        let outputs = errors::fenced(py, || py.detach(|| run.outputs()))?;
        let outputs = match outputs {
            Ok(outputs) => outputs,
            Err(Error::Misuse(_)) => return Ok(None),
            Err(error) => return Err(self.failed(py, &error)),
        };
        let about = PyDict::new(py);
        let counts = run.counts();
        about.set_item("steps", run.steps())?;
        about.set_item("counts", (counts.active, counts.stable, counts.dead))?;
        about.set_item("warnings", run.warnings())?;
        let notes = run.notes().into_iter();
        let notes: Vec<String> = notes
            .map(|note| errors::in_python(&note, &self.inputs))
            .collect();
        about.set_item("files", outputs::files(run.written()))?;
        about.set_item("notes", notes)?;
        about.set_item("place", run.place().map(placed))?;
        let sizes = outputs.first().map(|output| match &output.domain {
            Domain::Grid(sizes) => sizes.clone(),
            Domain::List(count) => vec![*count],
        });
        about.set_item("sizes", sizes.unwrap_or_default())?;
        if last {
            let run = guard.take();
            py.detach(|| drop(run));
        }
        let values = outputs
            .into_iter()
            .map(|output| outputs::arrays(py, output));
        about.set_item("outputs", values.collect::<PyResult<Vec<_>>>()?)?;
        Ok(Some(about))
    }
}

/// Directions, origin, the name of the space and the units of a place.
type Placed = (Vec<Vec<f64>>, Vec<f64>, Option<&'static str>, Vec<String>);

fn placed(place: &Place) -> Placed {
    let space = match &place.space {
        Space::Named(named) => Some(named.name()),
        _ => None,
    };
    let Place {
        directions,
        origin,
        units,
        ..
    } = place.clone();
    (directions, origin, space, units)
}
