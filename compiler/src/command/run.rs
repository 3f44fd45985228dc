//! Compiling and running a program: the command's main business.

use super::{
    FAILURE, SUCCESS, USAGE, args::RunArguments, build::Attached, complain, read_source, report,
    say,
};
use crate::{
    front::{
        diag::Diagnostic,
        source::{Source, Span},
        typed::tree::{Constant, InputDefault},
    },
    pipeline::{self, Compiled, Options, Session, Stopped},
    run::{self, Failure, Inputs, OutputData, Running},
};
use indicatif::{ProgressBar, ProgressStyle};
use runtime::{
    input::{
        IntWidth,
        command_line::{self, CommandLine},
        options::{InputSpec, Program, RunOptions},
    },
    output::file::{self, PictureStyle},
    world::{Control, RunEnd},
};
use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Compiles and runs a program.
pub(super) fn run(arguments: RunArguments) -> u8 {
    let Some(source) = read_source(&arguments.file) else {
        return FAILURE;
    };
    let RunArguments {
        dump_after,
        stop_after,
        options,
        ..
    } = arguments;
    let mut session = Session {
        dump_after,
        stop_after,
        ..Session::default()
    };
    compile_and_run(
        &mut session,
        &source,
        &options,
        &arguments.file,
        &arguments.words,
        arguments.time,
    )
}

/// Runs the program attached to this executable.
pub(super) fn run_attached(attached: Attached, words: &[String]) -> u8 {
    let Attached { source, options } = attached;
    let (name, words) = words
        .split_first()
        .map_or(("program", &[][..]), |(name, rest)| (name, rest));
    compile_and_run(
        &mut Session::default(),
        &source,
        &options,
        name,
        words,
        false,
    )
}

fn compile_and_run(
    session: &mut Session,
    source: &Source,
    options: &Options,
    name: &str,
    words: &[String],
    show_times: bool,
) -> u8 {
    let compiled = pipeline::compile(session, source, options);
    let stopped = session.stop_after.is_some();
    for (stage, text) in &session.dumps {
        if stopped {
            say(text);
        } else {
            complain(&format!("-- after {stage}\n{text}"));
        }
    }
    if show_times {
        for (stage, time) in &session.times {
            complain(&format!("{stage:12} {:9.3} ms\n", time.as_secs_f64() * 1e3));
        }
    }
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(Stopped::Asked) => return SUCCESS,
        Err(Stopped::Errors(diagnostics)) => {
            report(source, diagnostics);
            return FAILURE;
        }
    };
    report(source, compiled.warnings.to_vec());
    let described = describe(&compiled, name, options);
    match command_line::parse(&described, words) {
        Ok(CommandLine::Help(text)) => {
            say(&text);
            SUCCESS
        }
        Ok(CommandLine::Run(options)) => execute(source, &compiled, &options, session),
        Err(error) => {
            complain(&format!("error: {error}\n"));
            USAGE
        }
    }
}

/// The program as its command line sees it.
fn describe(compiled: &Compiled, name: &str, options: &Options) -> Program {
    let inputs = compiled.interface.inputs.iter().map(|input| InputSpec {
        name: input.name.clone(),
        ty: run::input_type(&input.ty),
        description: input.description.clone(),
        default: input.default.as_ref().map(|default| match default {
            InputDefault::Value(constant) => words_of(constant),
            InputDefault::File(file) => file.clone(),
        }),
    });
    Program {
        name: name.to_string(),
        inputs: inputs.collect(),
        outputs: run::output_names(&compiled.interface),
        ints: if options.long_int {
            IntWidth::Bits64
        } else {
            IntWidth::Bits32
        },
    }
}

/// A constant as it would be given on the command line.
fn words_of(constant: &Constant) -> String {
    let list = |items: Vec<String>| items.join(" ");
    match constant {
        Constant::Bool(b) => b.to_string(),
        Constant::Int(n) => n.to_string(),
        Constant::String(s) => s.clone(),
        Constant::Tensor(_, values) => list(values.iter().map(f64::to_string).collect()),
        Constant::Seq(elements) => list(elements.iter().map(words_of).collect()),
    }
}

fn execute(source: &Source, compiled: &Compiled, options: &RunOptions, session: &Session) -> u8 {
    let workers = options
        .workers
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let start = Instant::now();
    let inputs = Inputs::from_values(compiled, options.inputs.clone());
    let mut running = match Running::new(compiled, &inputs, workers) {
        Ok(running) => running,
        Err(failure) => return fail(source, &failure),
    };
    for warning in &running.warnings {
        complain(&format!("warning: {warning}\n"));
    }
    let created = start.elapsed();
    let start = Instant::now();
    let interrupted = watch_interrupts(running.control());
    let progress = Progress::start(running.control());
    let end = open_printer(&options.print).and_then(|mut printer| {
        let end = supersteps(&mut running, options, &mut *printer);
        printer.flush().map(|()| end)
    });
    progress.finish();
    let end = match end {
        Ok(Ok(end)) => end,
        Ok(Err(RunFailed::Program(failure))) => return fail(source, &failure),
        Ok(Err(RunFailed::Output(message))) => {
            complain(&format!("error: {message}\n"));
            return FAILURE;
        }
        Err(error) => {
            complain(&format!("error: {}: {error}\n", options.print));
            return FAILURE;
        }
    };
    let ran = start.elapsed();
    if interrupted.load(Ordering::Relaxed) || end == RunEnd::Cancelled {
        complain("error: interrupted; no output was written\n");
        return FAILURE;
    }
    if end == RunEnd::StepLimit {
        complain(&format!(
            "note: stopped at the limit of {} super-steps\n",
            running.steps()
        ));
    }
    let start = Instant::now();
    if let Err(message) = write_outputs(&running, options) {
        complain(&format!("error: {message}\n"));
        return FAILURE;
    }
    if options.timing || options.verbose {
        let compiled: Duration = session.times.iter().map(|(_, time)| *time).sum();
        let counts = running.counts();
        complain(&format!(
            "compile {:.1} ms, load and create {:.1} ms, run {:.1} ms, write {:.1} ms; {} super-steps, {} stable, {} active\n",
            compiled.as_secs_f64() * 1e3,
            created.as_secs_f64() * 1e3,
            ran.as_secs_f64() * 1e3,
            start.elapsed().as_secs_f64() * 1e3,
            running.steps(),
            counts.stable,
            counts.active,
        ));
    }
    SUCCESS
}

/// Why a run did not come to its end.
enum RunFailed {
    Program(Failure),
    Output(String),
}

/// Runs to the end or the limit, with snapshots on the way.
fn supersteps(
    running: &mut Running,
    options: &RunOptions,
    printer: &mut dyn Write,
) -> Result<RunEnd, RunFailed> {
    let Some(period) = options.snapshot_period else {
        return running
            .run(options.limit, printer)
            .map_err(RunFailed::Program);
    };
    let limit = options.limit.unwrap_or(u64::MAX);
    write_snapshot(running, options)?;
    loop {
        let steps = period.min(limit - running.steps());
        let end = running
            .run(Some(steps), printer)
            .map_err(RunFailed::Program)?;
        write_snapshot(running, options)?;
        if end != RunEnd::StepLimit || running.steps() >= limit {
            return Ok(end);
        }
    }
}

fn write_snapshot(running: &Running, options: &RunOptions) -> Result<(), RunFailed> {
    for (data, files) in running.outputs(true).iter().zip(&options.outputs) {
        let (prefix, step) = (&files.snapshot_prefix, running.steps());
        let sequences = file::sequence_snapshot_files(prefix, step);
        let one = file::snapshot_file(prefix, step);
        write_output(data, &one, &sequences, options).map_err(RunFailed::Output)?;
    }
    Ok(())
}

fn write_outputs(running: &Running, options: &RunOptions) -> Result<(), String> {
    for (data, files) in running.outputs(false).iter().zip(&options.outputs) {
        let sequences = file::sequence_files(&files.file);
        write_output(data, &files.file, &sequences, options)?;
    }
    Ok(())
}

/// Writes an output to its file, or to two files if its sequences vary in length.
fn write_output(
    data: &OutputData,
    one: &str,
    sequences: &[String; 2],
    options: &RunOptions,
) -> Result<(), String> {
    let OutputData { output, domain, .. } = data;
    let note = match &data.lengths {
        None => file::write(output, domain, data.values(), one, picture(options)).map(|()| None),
        Some(lengths) => file::write_sequences(output, domain, lengths, data.values(), sequences),
    };
    if let Some(note) = note.map_err(|error| error.to_string())? {
        complain(&format!("note: {note}\n"));
    }
    Ok(())
}

fn picture(options: &RunOptions) -> PictureStyle {
    PictureStyle {
        range: options.range,
        depth: options.depth,
    }
}

/// Reports a failure at its place in the source, if it has one.
fn fail(source: &Source, failure: &Failure) -> u8 {
    match failure.place {
        Some(place) => {
            let span = Span {
                start: place,
                end: place + 1,
            };
            report(
                source,
                vec![Diagnostic::error(failure.code, span, failure.to_string())],
            );
        }
        None => complain(&format!("error: {failure}\n")),
    }
    FAILURE
}

fn open_printer(file: &str) -> io::Result<Box<dyn Write>> {
    Ok(if file == "-" {
        Box::new(io::stdout())
    } else {
        Box::new(BufWriter::new(File::create(file)?))
    })
}

/// Makes Ctrl-C stop the run instead of the process, so that nothing half-written is left.
fn watch_interrupts(control: Arc<Control>) -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // A second handler is refused; then the process ends at once, which is as good.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(FAILURE));
        }
        control.cancel();
    });
    interrupted
}

/// A line on the terminal that tells how far a run is; nothing on a pipe.
struct Progress {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    fn start(control: Arc<Control>) -> Progress {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = io::stderr()
            .is_terminal()
            .then(|| std::thread::spawn(move || show(&control, &flag)));
        Progress { stop, thread }
    }

    fn finish(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn show(control: &Control, stop: &AtomicBool) {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    let start = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        std::thread::park_timeout(Duration::from_millis(100));
        let (step, counts) = control.progress();
        let rate = step as f64 / start.elapsed().as_secs_f64();
        bar.set_message(format!(
            "super-step {step}: {} active, {} stable, {} dead, {rate:.1} steps/s",
            counts.active, counts.stable, counts.dead
        ));
        bar.tick();
    }
    bar.finish_and_clear();
}
