//! A run of a compiled program, or several: inputs, checks, super-steps and files.

use super::{
    FAILURE, INTERRUPTED, SUCCESS, USAGE, complain, interrupts, report, space,
    steps::{End, Ran},
};
use crate::{
    front::{
        source::Source,
        typed::tree::{Constant, InputDefault},
    },
    pipeline::Compiled,
    run::{self, Failure, Images, Inputs, Prepared, Running},
};
use runtime::{
    file_name::FileName,
    grid::{Place, Placement},
    image::Level,
    input::{
        InputValue,
        options::{Program, RunOptions},
        sweep,
    },
    memory,
    output::{
        FileUse, OutputError, TextFile,
        film::Film,
        format::STANDARD_OUTPUT,
        plan::{Plan, Target, plan},
        write::{Contents, Number, Style, Written, write},
    },
    world::{RunEnd, Workers},
};
use std::{
    io::{self, Write},
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
    let read = files_read(source, options, &inputs);
    let mut execution = Execution {
        source,
        compiled,
        read,
        program,
        options,
        images,
        absence_told: false,
        films: Vec::new(),
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

/// The files that a run reads: the program, its imports, and its inputs.
fn files_read(source: &Source, options: &RunOptions, inputs: &Inputs) -> Vec<FileUse> {
    let mut paths = source.paths();
    let program = paths.next().map(|file| FileUse::of(file, "the program"));
    let imports = paths.map(|file| FileUse::of(file, "an import of the program"));
    let inputs = inputs.files_read();
    let models = options
        .outputs
        .iter()
        .filter_map(|output| match &output.place {
            Some(Placement::Like(file)) => Some(FileUse::of(file, "the file of a --place")),
            _ => None,
        });
    let all = program
        .into_iter()
        .chain(imports)
        .chain(inputs)
        .chain(models);
    all.filter(|used| used.file.is_file()).collect()
}

pub(super) struct Execution<'a> {
    pub(super) source: &'a Source,
    pub(super) compiled: &'a Compiled,
    program: &'a Program,
    pub(super) options: &'a RunOptions,
    pub(super) images: Images,
    /// The files that all runs read.
    read: Vec<FileUse>,
    /// Whether it was said that there is no GPU.
    pub(super) absence_told: bool,
    /// Films in the making, in the order of the plan.
    films: Vec<Film>,
    /// What all runs run on.
    pub(super) workers: Workers,
    /// Where printed text goes, once something runs.
    printer: Option<Printer>,
    /// How long the stages of the compilation took.
    pub(super) stages: &'a [(&'static str, Duration)],
    pub(super) times: Times,
}

/// How long the parts of all runs took together.
#[derive(Default)]
pub(super) struct Times {
    pub(super) load: Duration,
    pub(super) create: Duration,
    pub(super) steps: Duration,
    pub(super) gather: Duration,
    pub(super) write: Duration,
}

impl Execution<'_> {
    fn all_runs(&mut self) -> Result<(), Ended> {
        let mut number = 0;
        loop {
            let (plan, running) = self.one_run(number)?;
            number += 1;
            let is_last = plan.runs.is_none_or(|runs| number >= runs);
            if !is_last {
                continue;
            }
            self.finish_printing()?;
            for film in std::mem::take(&mut self.films) {
                let written = film.finish().map_err(|error| self.failed(&error))?;
                self.tell(&[written]);
            }
            self.tell_of_numbered(&plan);
            self.tell_of_missed(&running);
            self.tell_times(&running);
            return Ok(());
        }
    }

    /// Executes one run; gives its plan and its end.
    fn one_run(&mut self, number: usize) -> Result<(Plan, Running), Ended> {
        let start = Instant::now();
        let values = self.values(number).map_err(|message| {
            complain(&format!("error: {message}\n"));
            Ended(USAGE)
        })?;
        let inputs = Inputs::from_values(self.compiled, values);
        let failed = |failure: Failure| Ended(fail(self.source, &failure));
        let prepared = Prepared::new(self.compiled, &inputs, &self.images).map_err(failed)?;
        let plan = self.plan(&prepared)?;
        if number == 0 {
            self.tell_of_cpu(&prepared);
            space::warn(&plan, &prepared.domain(), self.compiled);
        }
        if self.films.is_empty() {
            let films = plan.films.iter();
            self.films = films
                .map(|target| Film::new(&target.destination, self.options.per_second))
                .collect();
        }
        let mut printer = match self.printer.take() {
            Some(printer) => printer,
            None => Printer::open(&self.options.print).map_err(|error| self.failed(&error))?,
        };
        let runs = plan.runs.map(|_| Number {
            value: number as u64,
            digits: plan.digits,
        });
        self.times.create += start.elapsed();
        let Ran {
            running,
            places,
            early,
            end,
        } = if self.only_the_end_counts(&plan) && prepared.can_be_forgotten() {
            self.complete(prepared, &plan, runs, &mut printer)?
        } else {
            self.step_by_step(prepared, &plan, &mut printer)?
        };
        self.tell_of_troubles(&running);
        self.printer = Some(printer);
        let is_kept = end == End::Run(RunEnd::Stopped);
        if interrupts::happened() && !is_kept {
            return Err(interrupted());
        }
        self.tell_of_unfinished(&running, end);
        let is_early = end != End::Run(RunEnd::Finished);
        let mut early = early.into_iter();
        for target in &plan.results {
            let written = match early.next().flatten() {
                Some(file) => {
                    let start = Instant::now();
                    let finished = file.finish();
                    self.times.write += start.elapsed();
                    finished.map_err(|error| self.failed(&error))?
                }
                None => self.write(&running, target, runs, is_early, &places)?,
            };
            self.tell(&written);
        }
        if plan.runs.is_some() {
            self.add_to_films(&running, &plan, &places)?;
        }
        if is_kept || end == End::OutOfMemory {
            self.finish_printing()?;
            return Err(Ended(if is_kept { INTERRUPTED } else { FAILURE }));
        }
        Ok((plan, running))
    }

    /// The values of the inputs in one of several runs.
    fn values(&self, number: usize) -> Result<Vec<Option<InputValue>>, String> {
        let mut values = self.options.inputs.clone();
        for vary in &self.options.vary {
            let (input, value) = vary.value(self.program, number)?;
            values[input] = Some(value);
        }
        if let Some(count) = self.options.orbit {
            let [eye, at, up] = sweep::camera(self.program)?;
            let [from, centre, axis] = [eye, at, up].map(|input| self.vector(&values, input));
            let (from, centre, axis) = (from?, centre?, axis?);
            let part = number as f64 / count as f64;
            let there = sweep::orbit(from, centre, axis, part);
            values[eye] = Some(InputValue::Tensor(there.to_vec()));
        }
        Ok(values)
    }

    /// The three numbers of an input, given or by default.
    fn vector(&self, values: &[Option<InputValue>], input: usize) -> Result<[f64; 3], String> {
        let default = &self.compiled.interface.inputs[input].default;
        let numbers = match (&values[input], default) {
            (Some(InputValue::Tensor(numbers)), _)
            | (None, Some(InputDefault::Value(Constant::Tensor(_, numbers)))) => Some(numbers),
            _ => None,
        };
        let three = numbers.and_then(|numbers| numbers[..].try_into().ok());
        three.ok_or_else(|| {
            format!(
                "the input `{}` has no value",
                self.program.inputs[input].name
            )
        })
    }

    /// The files of the run, after everything about them that can be wrong has been looked at.
    fn plan(&self, prepared: &Prepared) -> Result<Plan, Ended> {
        let outputs = run::outputs(&self.compiled.interface);
        let planned = plan(&outputs, &prepared.domain(), self.options, &self.read);
        let mut problems = planned.as_ref().err().cloned().unwrap_or_default();
        for (output, options) in outputs.iter().zip(&self.options.outputs) {
            if let Some(Err(problem)) = options
                .place
                .as_ref()
                .map(|place| prepared.check_place(place))
            {
                problems.push(format!("the place of output `{}`: {problem}", output.name));
            }
        }
        match planned {
            Ok(plan) if problems.is_empty() => Ok(plan),
            _ => {
                problems
                    .iter()
                    .for_each(|problem| complain(&format!("error: {problem}\n")));
                Err(Ended(USAGE))
            }
        }
    }

    /// The place of each output's grid.
    pub(super) fn places(&self, running: &Running) -> Result<Vec<Option<Place>>, Ended> {
        let automatic = match self
            .options
            .outputs
            .iter()
            .all(|output| output.place.is_some())
        {
            true => None,
            false => running.automatic_place(),
        };
        if let (Some(Err(reason)), true) = (&automatic, self.options.verbose) {
            complain(&format!(
                "note: the positions of the strands do not place the grid: {reason}\n"
            ));
        }
        let automatic = automatic.and_then(Result::ok);
        let asked = self
            .options
            .outputs
            .iter()
            .map(|output| match &output.place {
                None => Ok(automatic.clone()),
                Some(place) => running.place(place),
            });
        asked.collect::<Result<_, String>>().map_err(|message| {
            complain(&format!("error: {message}\n"));
            Ended(FAILURE)
        })
    }

    /// Ends the file of printed text.
    fn finish_printing(&mut self) -> Result<(), Ended> {
        match self.printer.take() {
            Some(Printer::File(file)) => file.finish().map_err(|error| self.failed(&error)),
            Some(Printer::Standard(_)) | None => Ok(()),
        }
    }

    pub(super) fn add_to_films(
        &mut self,
        running: &Running,
        plan: &Plan,
        places: &[Option<Place>],
    ) -> Result<(), Ended> {
        let style = self.style();
        for (n, target) in plan.films.iter().enumerate() {
            let data = running.output(target.outputs[0], true);
            let columns = [data.column(self.options.outputs[target.outputs[0]].range)];
            let contents = Contents {
                columns: &columns,
                domain: &data.domain,
                place: places[target.outputs[0]].as_ref(),
            };
            let added = self.films[n].add(contents, &style);
            added.map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    pub(super) fn write(
        &mut self,
        running: &Running,
        target: &Target,
        number: Option<Number>,
        all_living: bool,
        places: &[Option<Place>],
    ) -> Result<Vec<Written>, Ended> {
        let start = Instant::now();
        let data: Vec<_> = target
            .outputs
            .iter()
            .map(|&n| running.output(n, all_living))
            .collect();
        self.times.gather += start.elapsed();
        let start = Instant::now();
        let ranges = target
            .outputs
            .iter()
            .map(|&n| self.options.outputs[n].range);
        let columns: Vec<_> = data
            .iter()
            .zip(ranges)
            .map(|(data, range)| data.column(range))
            .collect();
        let contents = Contents {
            columns: &columns,
            domain: &data[0].domain,
            place: places[target.outputs[0]].as_ref(),
        };
        let style = self.style();
        let written = running.on_workers(|| write(&target.destination, number, contents, &style));
        self.times.write += start.elapsed();
        written.map_err(|error| self.failed(&error))
    }

    fn style(&self) -> Style {
        Style {
            depth: self.options.depth,
            nan: self.options.nan,
            points: self.options.points.clone(),
        }
    }

    fn failed(&self, error: &OutputError) -> Ended {
        complain(&format!("error: {error}\n"));
        Ended(FAILURE)
    }
}

pub(super) fn interrupted() -> Ended {
    let keep = "--keep would have written the values so far";
    complain(&format!(
        "error: interrupted; no output was written ({keep}, -l N stops after N super-steps)\n"
    ));
    Ended(INTERRUPTED)
}

/// Reports a failure at its place in the source, if it has one.
pub(super) fn fail(source: &Source, failure: &Failure) -> u8 {
    match failure.diagnostic(source) {
        Some(diagnostic) => report(source, vec![diagnostic]),
        None => complain(&failure.plain()),
    }
    FAILURE
}

pub(super) fn print_failed(options: &RunOptions, error: &io::Error) -> Ended {
    complain(&format!("error: {}: {error}\n", options.print));
    Ended(FAILURE)
}

/// Where printed text goes.
enum Printer {
    Standard(io::Stdout),
    File(TextFile),
}

impl Printer {
    fn open(file: &FileName) -> Result<Printer, OutputError> {
        Ok(match *file == *STANDARD_OUTPUT {
            true => Printer::Standard(io::stdout()),
            false => Printer::File(TextFile::create(file)?),
        })
    }
}

impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Printer::Standard(out) => out.write(bytes),
            Printer::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Printer::Standard(out) => out.flush(),
            Printer::File(out) => out.flush(),
        }
    }
}
