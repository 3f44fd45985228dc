//! The command `diderotc`: compile and run, check, build, and look inside.
//!
//! Exit status: 0 success; 1 errors in the program or at run time, with a message; 2 wrong usage, or outputs that could not be
//! written, reported before the run; 101 a fault of the command itself; 130 interrupted.

mod args;
mod attendance;
mod build;
mod build_library;
mod check;
mod colour;
mod compare;
mod emit;
mod execute;
mod explain;
mod files_used;
mod fmt;
mod info;
mod interrupts;
mod manual;
mod mpi;
mod printed;
mod program_line;
mod progress;
mod run;
mod several;
mod tell;
mod view;
mod words;

use crate::{
    codegen::gpu::Cuda,
    front::{codes::Code, diag::Diagnostic, files::read_text, report::render, source::Source},
};
use args::{Action, Command, MpiCommand, Parsed};
use mpi::ranks;
use runtime::{file_name::FileName, memory::Shortage};
use std::{
    any::Any,
    ffi::OsString,
    io::Write,
    panic::catch_unwind,
    path::Path,
    process::ExitCode,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Success.
const SUCCESS: u8 = 0;
/// Errors in the program or at run time.
const FAILURE: u8 = 1;
/// Wrong usage.
const USAGE: u8 = 2;
/// Interrupted by the user.
const INTERRUPTED: u8 = 130;

/// A fault of the command itself.
const FAULT: u8 = 101;

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    leave(fenced(std::env::args_os().collect()))
}

/// Runs the command with these words, its name first, in the process of an interpreter, and ends the process as the
/// command would.
pub fn main_in_interpreter(words: Vec<OsString>) -> ! {
    interrupts::take_back();
    let status = fenced(words);
    leave(status);
    std::process::exit(i32::from(status))
}

/// Runs the command; a fault of it becomes a message and a status.
fn fenced(words: Vec<OsString>) -> u8 {
    Cuda::prefer_one_queue();
    #[cfg(unix)]
    runtime::memory::before_lost(runtime::output::remove_unfinished);
    let status = catch_unwind(|| run_words(words)).unwrap_or_else(|panic| tell_of_fault(&*panic));
    ranks::leave(status)
}

/// Reports that the work ended by unwinding: there was no memory for its stack, or it panicked.
fn tell_of_fault(panic: &(dyn Any + Send)) -> u8 {
    runtime::output::remove_unfinished();
    if let Some(shortage) = panic.downcast_ref::<Shortage>() {
        complain(&format!("error: out of memory: {shortage}\n"));
        return FAILURE;
    }
    complain(
        "note: this is a fault of diderotc; please report it, with the program that shows it\n",
    );
    FAULT
}

fn run_words(words: Vec<OsString>) -> u8 {
    colour::choose(&words);
    match build::attached() {
        // This executable was made from a program: all its words are the program's.
        Ok(Some(attached)) => match join_ranks(&words) {
            Ok(()) => run::run_attached(attached, &words),
            Err(status) => status,
        },
        Err(damage) => {
            complain(&format!("error: {damage}\n"));
            FAILURE
        }
        Ok(None) => match args::parse(words.clone()) {
            Parsed::Do(action) => {
                let joined = match *action {
                    Action::Run(_) => join_ranks(&words),
                    Action::View(_) if ranks::are_wanted(&words) => {
                        complain("error: the viewer runs in one process, without `--mpi`\n");
                        Err(USAGE)
                    }
                    _ => Ok(()),
                };
                let status = joined.map_or_else(|status| status, |()| act(*action));
                if let Some(code) = FIRST_ERROR.get() {
                    complain(&format!(
                        "note: `diderotc explain {code}` shows a wrong and a right program\n"
                    ));
                }
                status
            }
            Parsed::Print(text) => {
                say(&text);
                SUCCESS
            }
            Parsed::Wrong(text) => {
                complain(&text);
                USAGE
            }
        },
    }
}

/// Joins the processes that run a program together, if the words of a run ask for it.
fn join_ranks(words: &[OsString]) -> Result<(), u8> {
    if !ranks::are_wanted(words) {
        if let Some(warning) = ranks::warning() {
            complain(&format!("warning: {warning}\n"));
        }
        return Ok(());
    }
    ranks::join().map_err(|message| {
        complain(&format!("error: {message}\n"));
        FAILURE
    })
}

/// Ends the process. The driver of a GPU would first take a tenth of a second to give back what the system takes back anyhow.
fn leave(status: u8) -> ExitCode {
    #[cfg(unix)]
    if Cuda::is_awake() && std::io::stdout().flush().is_ok() {
        // SAFETY: every file is written and closed, and nothing else is left to be done.
        unsafe { nix::libc::_exit(i32::from(status)) };
    }
    ExitCode::from(status)
}

fn act(action: Action) -> u8 {
    match action {
        Action::Run(arguments) => run::run(arguments),
        Action::View(arguments) => view::view(arguments),
        Action::ListStages => emit::list_stages(),
        Action::Command(command, constants) => match command {
            Command::View(_) => unreachable!("an action of its own"),
            Command::Check(w) => check::check(&w.files, w.json, &w.common.options(constants)),
            Command::Build(w) if w.library => {
                let options = w.common.options(constants);
                build_library::build_library(&w.file, w.namespace, w.output, &options)
            }
            Command::Build(w) => build::build(&w.file, w.output, &w.common.options(constants)),
            Command::Emit(w) => emit::emit(&w.file, &w.stage, w.common.options(constants)),
            Command::Explain(w) => explain::explain(&w, &w.common.options(constants)),
            Command::Info(w) => info::info(&w, &w.common.options(constants)),
            Command::Compare(w) => compare::compare(&w),
            Command::Flatten(w) => flatten(&w.file, &w.common.options(constants)),
            Command::Fmt(w) => fmt::fmt(&w),
            Command::Lsp => match crate::lsp::serve() {
                Ok(()) => SUCCESS,
                Err(message) => {
                    complain(&format!("error: {message}\n"));
                    FAILURE
                }
            },
            Command::Mpi(w) => match w.command {
                MpiCommand::Build(w) => mpi::build(&w.mpicc, w.output),
                MpiCommand::Check => mpi::check(),
            },
            Command::Man(w) => manual::man(w.command.as_deref()),
            Command::Completions(w) => manual::completions(w.shell),
            Command::Version => {
                say(concat!("diderotc ", env!("CARGO_PKG_VERSION"), "\n"));
                SUCCESS
            }
        },
    }
}

/// Prints a program and its imports as one text, if it has no errors.
fn flatten(file: &Path, options: &crate::pipeline::Options) -> u8 {
    let Some(source) = read_source(file) else {
        return FAILURE;
    };
    let checked = crate::pipeline::check(&source, options);
    report(&source, checked.diagnostics);
    if checked.program.is_none() {
        return FAILURE;
    }
    say(&source.text);
    SUCCESS
}

/// The text of a program, or a message about why there is none.
fn read_source(path: &Path) -> Option<Source> {
    let file = FileName::from(path);
    if !words::is_program(path.as_os_str()) {
        complain(&format!(
            "error: {file}: a program's file name ends in .diderot or .ddro\n"
        ));
        return None;
    }
    match read_text(path) {
        Ok(text) => Some(Source::new(path, text)),
        Err(error) => {
            complain(&format!("error: {file}: {error}\n"));
            None
        }
    }
}

/// Ends the process because an allocation of this many bytes failed. It is called by the allocator, so it allocates as little as
/// possible.
pub fn out_of_memory(bytes: usize) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    if !ENDING.swap(true, Ordering::Relaxed) {
        let _ = writeln!(
            std::io::stderr(),
            "error: out of memory: {bytes} more bytes could not be allocated; `--memory SIZE` sets a limit that is reported earlier"
        );
        runtime::output::remove_unfinished();
    }
    std::process::exit(i32::from(FAILURE))
}

/// The code of the first error that was reported.
static FIRST_ERROR: OnceLock<Code> = OnceLock::new();

fn report(source: &Source, diagnostics: Vec<Diagnostic>) {
    if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
        FIRST_ERROR.get_or_init(|| error.code);
    }
    // The text may have colours, and has made visible what came from the program.
    write_to_stderr(&render(source, diagnostics, colour::is_wanted()));
}

/// Writes to standard output; a closed pipe is nobody's fault.
fn say(text: &str) {
    if ranks::is_silent() {
        return;
    }
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Writes a message to standard error; names of files and the like may have control characters in it.
fn complain(text: &str) {
    write_to_stderr(&runtime::text::visible(text));
}

fn write_to_stderr(text: &str) {
    if ranks::is_silent() {
        ranks::remember(text);
        return;
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
}
