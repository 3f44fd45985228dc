//! A run of a compiled program, or several: inputs, checks, super-steps and files.

use super::{
    FAILURE, INTERRUPTED, SUCCESS, USAGE,
    attendance::Attendance,
    complain,
    files_used::other_files,
    interrupts,
    mpi::ranks,
    printed::PrintedText,
    program_line::{
        Program, RunOptions, orbit,
        sweep::{Axis, Subject},
    },
    progress::Part,
    report,
};
use crate::{
    front::{codes, source::Source, tree::Constant},
    pipeline::Compiled,
    run::{Failure, Images, Inputs, KeptFiles, Recording, Run},
};
use runtime::{
    image::{Level, Note},
    input::InputValue,
    memory,
    nrrd::STANDARD_INPUT,
    output::{plan::OtherFiles, sheet::Sheet},
    world::{RunEnd, Workers},
};
use std::{
    collections::BTreeSet,
    fmt::Display,
    io::Write,
    time::{Duration, Instant},
};

/// Why a run did not come to its end: a status, after everything has been said.
pub(super) struct Ended(pub(super) u8);

/// Runs a program as its command line says.
pub(super) fn execute(
    source: &Source,
    compiled: &Compiled,
    program: &Program,
    options: &RunOptions,
    stages: &[(&'static str, Duration)],
) -> u8 {
    interrupts::install();
    if let Some(bytes) = options.memory {
        memory::set_limit(bytes);
    }
    if let Some(bytes) = options.cache {
        memory::set_cache(bytes);
    }
    let workers = match ranks::workers(options.workers) {
        Ok(workers) => workers,
        Err(message) => return failure(message).0,
    };
    if ranks::team().is_some() && reads_standard_input(compiled, options) {
        let what =
            "with `--mpi` inputs come from files, because standard input reaches one process only";
        return usage(what.to_string()).0;
    }
    // While images are loaded and globals computed.
    let _starting = workers.start();
    let mut execution = Execution {
        source,
        compiled,
        others: other_files(source, compiled, options),
        program,
        options,
        kept: KeptFiles::default(),
        images: None,
        unreadable: None,
        told: BTreeSet::new(),
        recording: recording(options),
        is_absence_reported: false,
        has_begun: false,
        last: None,
        workers,
        printer: None,
        stages,
        start: Instant::now(),
        times: Times::default(),
    };
    match execution.all_runs() {
        Ok(()) => SUCCESS,
        Err(Ended(status)) => status,
    }
}

/// Whether an input is read from standard input.
fn reads_standard_input(compiled: &Compiled, options: &RunOptions) -> bool {
    let read = Inputs::from_values(compiled, options.inputs.clone()).files_read();
    read.iter().any(|used| used.file == STANDARD_INPUT)
}

/// The files of the outputs, and those that all runs make together. Only one of several processes writes any.
fn recording(options: &RunOptions) -> Recording {
    if ranks::is_silent() {
        return Recording::elsewhere(options.files.clone());
    }
    let mut recording = Recording::new(options.files.clone());
    if let (Some(sweep), Some(file)) = (&options.sweep, &options.contact_sheet) {
        let captions = (0..sweep.runs()).map(|run| sweep.caption(run));
        let sheet = Sheet::new(file.clone(), sweep.row(), captions.collect());
        recording.add_sheet(sheet);
    }
    recording
}

pub(super) struct Execution<'a> {
    pub(super) source: &'a Source,
    pub(super) compiled: &'a Compiled,
    program: &'a Program,
    pub(super) options: &'a RunOptions,
    /// Images and meshes for further runs.
    kept: KeptFiles,
    /// The images of the last run, and the places of those that vary among their files.
    pub(super) images: Option<(Vec<usize>, Images)>,
    /// The places of the files that could not be loaded last.
    unreadable: Option<Vec<usize>>,
    /// Notes that were told.
    told: BTreeSet<String>,
    pub(super) others: OtherFiles,
    pub(super) recording: Recording,
    /// Whether it was reported that there is no GPU.
    is_absence_reported: bool,
    /// Whether strands have run, or could have.
    pub(super) has_begun: bool,
    /// The last run, if it came to its end.
    pub(super) last: Option<Run>,
    /// The threads of all runs.
    workers: Workers,
    /// Where printed text goes, once something runs.
    printer: Option<PrintedText>,
    /// How long the stages of the compilation took.
    pub(super) stages: &'a [(&'static str, Duration)],
    start: Instant,
    pub(super) times: Times,
}

/// How the super-steps of a run ended, if its outputs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As the scheduler says.
    Run(RunEnd),
    /// There was no memory to go on.
    OutOfMemory,
}

/// How long the parts of all runs took together.
#[derive(Default)]
pub(super) struct Times {
    pub(super) load: Duration,
    pub(super) create: Duration,
    pub(super) steps: Duration,
}

impl Execution<'_> {
    /// Executes one run and writes its results.
    pub(super) fn one_run(&mut self, number: usize) -> Result<(), Ended> {
        // The images of the last run make room.
        self.last = None;
        let mut values = self.options.inputs.clone();
        let sweep = self.options.sweep.as_ref();
        let places = sweep.map_or(Vec::new(), |sweep| sweep.places(number));
        for &(axis, place) in &places {
            if let Subject::Input(input) | Subject::Data(input) = axis.subject {
                values[input] = Some(axis.values[place].clone());
            }
        }
        let images = self.load(number, &values)?;
        let start = Instant::now();
        for &(axis, place) in &places {
            if axis.subject == Subject::Orbit {
                self.turn(axis, place, &images, &mut values)?;
            }
        }
        let inputs = Inputs::from_values(self.compiled, values);
        let run = Run::with_images(self.compiled, &inputs, &images, &self.workers);
        let mut run = run.map_err(|failure| self.failed(&failure))?;
        // The names of all runs were compared with these before the first, so that a sweep of many files stays fast.
        let others = match self.has_begun {
            true => &OtherFiles::default(),
            false => &self.others,
        };
        let begun = self.recording.begin(&run, number, others);
        let warnings = begun.map_err(|problems| {
            let problems = problems.iter();
            problems.for_each(|problem| complain(&format!("error: {problem}\n")));
            Ended(USAGE)
        })?;
        if !std::mem::replace(&mut self.has_begun, true) {
            self.tell_of_cpu(&run);
        }
        for warning in warnings {
            complain(&format!("warning: {warning}\n"));
        }
        let mut printer = match self.printer.take() {
            Some(printer) => printer,
            None if ranks::is_silent() => PrintedText::Elsewhere,
            None => PrintedText::open(&self.options.print).map_err(failure)?,
        };
        self.times.create += start.elapsed();
        let end = self.strands(&mut run, number, &mut printer);
        for trouble in run.troubles() {
            complain(&format!("warning: {trouble}\n"));
        }
        self.printer = Some(printer);
        let end = end?;
        let is_kept = end == End::Run(RunEnd::Stopped);
        if interrupts::happened() && !is_kept {
            return Err(interrupted());
        }
        self.tell_of_unfinished(&run, end);
        let written = self.recording.write_results(&run);
        let written = written.map_err(failure)?;
        self.tell(&written);
        if is_kept || end == End::OutOfMemory {
            if is_kept || self.options.sweep.is_none() {
                self.finish_printing()?;
            }
            return Err(Ended(if is_kept { INTERRUPTED } else { FAILURE }));
        }
        self.last = Some(run);
        Ok(())
    }

    /// The images and meshes of a run. Those that are the same as in the last one are not loaded again.
    fn load(&mut self, number: usize, values: &[Option<InputValue>]) -> Result<Images, Ended> {
        let options = self.options;
        let data = options.sweep.as_ref().map(|sweep| sweep.data(number));
        let data = data.unwrap_or_default();
        if let Some((loaded, images)) = &self.images
            && *loaded == data
        {
            return Ok(images.clone());
        }
        // The reason was told; another attempt would not be better.
        if self.unreadable.as_ref() == Some(&data) {
            return Err(Ended(FAILURE));
        }
        let start = Instant::now();
        self.images = None;
        self.unreadable = Some(data.clone());
        let mut inputs = Inputs::from_values(self.compiled, values.to_vec());
        inputs.set_readings(&options.readings, &options.reading);
        let images = Images::load_changed(self.compiled, &inputs, &mut self.kept);
        let images = images.map_err(|failure| self.failed(&failure))?;
        self.tell_notes(images.notes());
        for note in images.mesh_notes() {
            self.tell_once(format!("warning: {note}\n"));
        }
        if options.verbose {
            for file in inputs.files() {
                self.tell_once(super::info::of_file(file));
            }
        }
        self.unreadable = None;
        self.images = Some((data, images.clone()));
        self.times.load += start.elapsed();
        Ok(images)
    }

    /// Says notes about images, when they are found first.
    pub(super) fn tell_notes(&mut self, notes: &[Note]) {
        for note in notes {
            match note.level {
                Level::Warning => self.tell_once(format!("warning: {note}\n")),
                Level::Note if !self.options.quiet => self.tell_once(format!("note: {note}\n")),
                Level::Note => {}
            }
        }
    }

    /// Says something that holds for several runs, when it is found first.
    fn tell_once(&mut self, text: String) {
        if !self.told.contains(&text) {
            complain(&text);
            self.told.insert(text);
        }
    }

    /// Creates the strands and runs them to their ends or the limit. The user sees the progress and may interrupt it.
    fn strands(
        &mut self,
        run: &mut Run,
        number: usize,
        printer: &mut PrintedText,
    ) -> Result<End, Ended> {
        let start = Instant::now();
        let options = self.options;
        let limit = options.files.limit;
        let mut attendance = Attendance {
            options,
            part: options.files.runs.map(|count| Part {
                number,
                count,
                since: self.start,
            }),
            is_absence_reported: &mut self.is_absence_reported,
            under_way: None,
        };
        let ran = run.run(limit, printer, &mut [&mut self.recording, &mut attendance]);
        let watch = attendance.under_way.take().map(|(watch, progress)| {
            progress.finish();
            watch
        });
        let flushed = printer.flush();
        drop(watch);
        let created = self.recording.created.unwrap_or(start);
        self.times.create += created - start;
        self.times.steps += created.elapsed();
        let end = match ran {
            Ok(end) => End::Run(end),
            Err(failure) => {
                let ended = self.failed(&failure);
                match failure.code == codes::OUT_OF_MEMORY && options.keep && run.keeps() {
                    true => End::OutOfMemory,
                    false => return Err(ended),
                }
            }
        };
        flushed.map_err(|error| failure(format!("{}: {error}", options.print)))?;
        Ok(end)
    }

    /// Moves the camera to a station of its orbit.
    fn turn(
        &self,
        axis: &Axis,
        place: usize,
        images: &Images,
        values: &mut [Option<InputValue>],
    ) -> Result<(), Ended> {
        let camera = orbit::camera_of(self.program).map_err(usage)?;
        let [from, centre, up] = self.camera(images, values, camera)?;
        let part = place as f64 / axis.values.len() as f64;
        let there = orbit::orbit(from, centre, up, part);
        values[camera[0]] = Some(InputValue::Tensor(there.to_vec()));
        Ok(())
    }

    /// The vectors of a camera, given or by default.
    fn camera(
        &self,
        images: &Images,
        values: &[Option<InputValue>],
        camera: [usize; 3],
    ) -> Result<[[f64; 3]; 3], Ended> {
        let inputs = Inputs::from_values(self.compiled, values.to_vec());
        let run = Run::with_images(self.compiled, &inputs, images, &self.workers);
        let run = run.map_err(|failure| self.failed(&failure))?;
        let vector = |input: usize| {
            let value = run.input(&self.program.inputs[input].name);
            match value {
                Some(Constant::Tensor(_, numbers)) => numbers.try_into().unwrap_or_default(),
                _ => [0.0; 3],
            }
        };
        Ok(camera.map(vector))
    }

    /// Ends the file of printed text.
    pub(super) fn finish_printing(&mut self) -> Result<(), Ended> {
        match self.printer.take() {
            Some(printer) => printer.finish().map_err(failure),
            None => Ok(()),
        }
    }

    /// Reports a failure.
    fn failed(&self, failure: &Failure) -> Ended {
        Ended(fail(self.source, failure))
    }
}

/// Reports an error that is not one of the program.
pub(super) fn failure(message: impl Display) -> Ended {
    complain(&format!("error: {message}\n"));
    Ended(FAILURE)
}

fn usage(message: String) -> Ended {
    complain(&format!("error: {message}\n"));
    Ended(USAGE)
}

fn interrupted() -> Ended {
    let keep = "--keep would have written the values so far";
    complain(&format!(
        "error: interrupted; no output was written ({keep}, -l N stops after N super-steps)\n"
    ));
    Ended(INTERRUPTED)
}

/// Reports a failure at its place in the source, if it has one.
fn fail(source: &Source, failure: &Failure) -> u8 {
    match failure.diagnostic(source) {
        Some(diagnostic) => report(source, vec![diagnostic]),
        None => complain(&failure.plain()),
    }
    FAILURE
}
