//! A run of a compiled program, or several: inputs, checks, super-steps and files.

use super::{
    FAILURE, INTERRUPTED, SUCCESS, USAGE, complain,
    interrupts::{self, Watch},
    program_line::{Program, RunOptions, sweep},
    progress::Progress,
    report,
};
use crate::{
    front::{codes, source::Source, typed::tree::Constant},
    pipeline::Compiled,
    run::{Failure, Images, Inputs, Observer, Recording, Run},
};
use runtime::{
    file_name::FileName,
    grid::Placement,
    image::Level,
    input::InputValue,
    memory,
    output::{FileUse, OutputError, TextFile, format::STANDARD_OUTPUT, plan::OtherFiles},
    world::{RunEnd, Workers},
};
use std::{
    fmt::Display,
    io::{self, Write},
    sync::Arc,
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
    let start = Instant::now();
    interrupts::install();
    if let Some(bytes) = options.memory {
        memory::set_limit(bytes);
    }
    let workers = Workers::from(options.workers);
    // While images are loaded and globals computed.
    let _starting = workers.start();
    let mut inputs = Inputs::from_values(compiled, options.inputs.clone());
    inputs.set_readings(&options.readings, &options.reading);
    let images = match Images::load(compiled, &inputs) {
        Ok(images) => images,
        Err(failure) => return fail(source, &failure),
    };
    for note in images.notes() {
        match note.level {
            Level::Warning => complain(&format!("warning: {note}\n")),
            Level::Note if !options.quiet => complain(&format!("note: {note}\n")),
            Level::Note => {}
        }
    }
    for note in images.mesh_notes() {
        complain(&format!("warning: {note}\n"));
    }
    if options.verbose {
        for file in inputs.files() {
            complain(&super::info::of_file(file));
        }
    }
    let mut execution = Execution {
        source,
        compiled,
        others: other_files(source, options, &inputs),
        program,
        options,
        images,
        recording: Recording::new(options.files.clone()),
        is_absence_reported: false,
        workers,
        printer: None,
        stages,
        times: Times {
            load: start.elapsed(),
            ..Times::default()
        },
    };
    match execution.all_runs() {
        Ok(()) => SUCCESS,
        Err(Ended(status)) => status,
    }
}

/// The files of a run beside its outputs: the program, its imports, its inputs, and printed text.
fn other_files(source: &Source, options: &RunOptions, inputs: &Inputs) -> OtherFiles {
    let mut paths = source.paths();
    let program = paths.next().map(|file| FileUse::of(file, "the program"));
    let imports = paths.map(|file| FileUse::of(file, "an import of the program"));
    let outputs = options.files.outputs.iter();
    let models = outputs.filter_map(|output| match &output.place {
        Some(Placement::Like(file)) => Some(FileUse::of(file, "the file of a --place")),
        _ => None,
    });
    let read = program.into_iter().chain(imports);
    let read = read.chain(inputs.files_read()).chain(models);
    let printed = (options.print != *STANDARD_OUTPUT)
        .then(|| FileUse::of(options.print.clone(), "printed text (-print)"));
    OtherFiles {
        read: read.filter(|used| used.file.is_file()).collect(),
        written: printed.into_iter().collect(),
    }
}

pub(super) struct Execution<'a> {
    pub(super) source: &'a Source,
    compiled: &'a Compiled,
    program: &'a Program,
    pub(super) options: &'a RunOptions,
    images: Images,
    others: OtherFiles,
    pub(super) recording: Recording,
    /// Whether it was reported that there is no GPU.
    is_absence_reported: bool,
    /// The threads of all runs.
    workers: Workers,
    /// Where printed text goes, once something runs.
    printer: Option<PrintedText>,
    /// How long the stages of the compilation took.
    pub(super) stages: &'a [(&'static str, Duration)],
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
    fn all_runs(&mut self) -> Result<(), Ended> {
        let mut number = 0;
        loop {
            let run = self.one_run(number)?;
            number += 1;
            let runs = self.recording.plan().runs;
            if runs.is_some_and(|runs| number < runs) {
                continue;
            }
            self.finish_printing()?;
            let films = self.recording.finish();
            let films = films.map_err(failure)?;
            self.tell(&films);
            self.tell_of_numbered();
            for warning in run.missed() {
                complain(&format!("warning: {warning}\n"));
            }
            self.tell_times(&run);
            return Ok(());
        }
    }

    /// Executes one run and writes its results.
    fn one_run(&mut self, number: usize) -> Result<Run, Ended> {
        let start = Instant::now();
        let values = self.values(number)?;
        let inputs = Inputs::from_values(self.compiled, values);
        let run = Run::with_images(self.compiled, &inputs, &self.images, &self.workers);
        let mut run = run.map_err(|failure| self.failed(&failure))?;
        let begun = self.recording.begin(&run, number, &self.others);
        let warnings = begun.map_err(|problems| {
            let problems = problems.iter();
            problems.for_each(|problem| complain(&format!("error: {problem}\n")));
            Ended(USAGE)
        })?;
        if number == 0 {
            self.tell_of_cpu(&run);
        }
        for warning in warnings {
            complain(&format!("warning: {warning}\n"));
        }
        let mut printer = match self.printer.take() {
            Some(printer) => printer,
            None => PrintedText::open(&self.options.print).map_err(failure)?,
        };
        self.times.create += start.elapsed();
        let end = self.strands(&mut run, &mut printer)?;
        for trouble in run.troubles() {
            complain(&format!("warning: {trouble}\n"));
        }
        self.printer = Some(printer);
        let is_kept = end == End::Run(RunEnd::Stopped);
        if interrupts::happened() && !is_kept {
            return Err(interrupted());
        }
        self.tell_of_unfinished(&run, end);
        let written = self.recording.write_results(&run);
        let written = written.map_err(failure)?;
        self.tell(&written);
        if is_kept || end == End::OutOfMemory {
            self.finish_printing()?;
            return Err(Ended(if is_kept { INTERRUPTED } else { FAILURE }));
        }
        Ok(run)
    }

    /// Creates the strands and runs them to their ends or the limit. The user sees the progress and may interrupt it.
    fn strands(&mut self, run: &mut Run, printer: &mut PrintedText) -> Result<End, Ended> {
        let start = Instant::now();
        let options = self.options;
        let limit = options.files.limit;
        let mut attendance = Attendance {
            options,
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

    /// The values of the inputs in one of several runs.
    fn values(&self, number: usize) -> Result<Vec<Option<InputValue>>, Ended> {
        let mut values = self.options.inputs.clone();
        for vary in &self.options.vary {
            let (input, value) = vary.value(self.program, number).map_err(usage)?;
            values[input] = Some(value);
        }
        if let Some(count) = self.options.orbit {
            let camera = sweep::camera(self.program).map_err(usage)?;
            let [from, centre, axis] = self.camera(&values, camera)?;
            let part = number as f64 / count as f64;
            let there = sweep::orbit(from, centre, axis, part);
            values[camera[0]] = Some(InputValue::Tensor(there.to_vec()));
        }
        Ok(values)
    }

    /// The vectors of a camera, given or by default.
    fn camera(
        &self,
        values: &[Option<InputValue>],
        camera: [usize; 3],
    ) -> Result<[[f64; 3]; 3], Ended> {
        let inputs = Inputs::from_values(self.compiled, values.to_vec());
        let run = Run::with_images(self.compiled, &inputs, &self.images, &self.workers);
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
    fn finish_printing(&mut self) -> Result<(), Ended> {
        match self.printer.take() {
            Some(PrintedText::File(file)) => file.finish().map_err(failure),
            Some(PrintedText::Standard(_)) | None => Ok(()),
        }
    }

    /// Reports a failure.
    fn failed(&self, failure: &Failure) -> Ended {
        Ended(fail(self.source, failure))
    }
}

/// Attends a run: shows its progress, lets the user interrupt it, and reports where strands run once they have been created.
struct Attendance<'a> {
    options: &'a RunOptions,
    is_absence_reported: &'a mut bool,
    under_way: Option<(Watch, Progress)>,
}

impl Attendance<'_> {
    fn begin(&mut self, run: &Run) {
        let RunOptions {
            keep,
            verbose,
            quiet,
            ..
        } = *self.options;
        let control = run.control();
        let length = run.length(self.options.files.limit);
        let watch = Watch::over(Arc::clone(control), keep);
        let progress = Progress::start(Arc::clone(control), length, verbose, quiet);
        self.under_way = Some((watch, progress));
    }
}

impl Observer for Attendance<'_> {
    fn needs_strands(&self) -> bool {
        self.options.keep
    }

    fn reads_outputs(&self) -> bool {
        false
    }

    fn streams(&mut self, run: &Run) {
        self.begin(run);
    }

    fn created(&mut self, run: &Run) -> Result<(), String> {
        if let Some(absence) = run.absence()
            && !std::mem::replace(self.is_absence_reported, true)
        {
            complain(&format!("warning: {absence}\n"));
        }
        if let (Some(reason), true) = (run.why_not_placed(), self.options.verbose) {
            complain(&format!(
                "note: the positions of the strands do not place the grid: {reason}\n"
            ));
        }
        if self.under_way.is_none() {
            self.begin(run);
        }
        Ok(())
    }
}

/// Reports an error that is not one of the program.
fn failure(message: impl Display) -> Ended {
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

/// Where printed text goes.
enum PrintedText {
    Standard(io::Stdout),
    File(TextFile),
}

impl PrintedText {
    fn open(file: &FileName) -> Result<PrintedText, OutputError> {
        Ok(match *file == *STANDARD_OUTPUT {
            true => PrintedText::Standard(io::stdout()),
            false => PrintedText::File(TextFile::create(file)?),
        })
    }
}

impl Write for PrintedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            PrintedText::Standard(out) => out.write(bytes),
            PrintedText::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            PrintedText::Standard(out) => out.flush(),
            PrintedText::File(out) => out.flush(),
        }
    }
}
