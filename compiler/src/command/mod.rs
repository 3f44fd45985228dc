//! The command `diderotc`: compile and run, check, build, and look inside.
//!
//! Exit status: 0 success; 1 errors in the program or at run time, with a message; 2 wrong usage.

mod args;
mod build;
mod emit;
mod explain;
mod run;

use crate::front::{
    self,
    diag::{self, Diagnostic},
    source::Source,
};
use args::{Action, Parsed};
use std::{
    io::{IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

/// Success.
const SUCCESS: u8 = 0;
/// Errors in the program or at run time.
const FAILURE: u8 = 1;
/// Wrong usage.
const USAGE: u8 = 2;

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let status = match build::attached() {
        // This executable was made from a program: all its words are the program's.
        Ok(Some(attached)) => run::run_attached(attached, &words),
        Err(damage) => {
            complain(&format!("error: {damage}\n"));
            FAILURE
        }
        Ok(None) => match args::parse(words) {
            Parsed::Do(action) => act(action),
            Parsed::Print(text) => {
                say(&text);
                SUCCESS
            }
            Parsed::Wrong(text) => {
                complain(&text);
                USAGE
            }
        },
    };
    ExitCode::from(status)
}

fn act(action: Action) -> u8 {
    match action {
        Action::Run(arguments) => run::run(arguments),
        Action::Check {
            files,
            json,
            options,
        } => check(&files, json, &options),
        Action::Build {
            file,
            output,
            options,
        } => build::build(&file, output, &options),
        Action::Emit {
            file,
            stage,
            options,
        } => emit::emit(&file, &stage, options),
        Action::Explain {
            file,
            name,
            manner,
            options,
        } => explain::explain(&file, name.as_deref(), &manner, &options),
        Action::ListStages => emit::list_stages(),
    }
}

/// Checks files and reports everything about all of them.
fn check(files: &[String], json: bool, options: &crate::pipeline::Options) -> u8 {
    let mut status = SUCCESS;
    for file in files {
        let Some(source) = read_source(file) else {
            status = FAILURE;
            continue;
        };
        let checked = front::check(&source, &options.check());
        if checked.program.is_none() {
            status = FAILURE;
        }
        if json {
            say(&diag::to_json_lines(&source, checked.diagnostics));
        } else {
            report(&source, checked.diagnostics);
        }
    }
    status
}

/// The text of a program, or a message about why there is none.
fn read_source(file: &str) -> Option<Source> {
    let path = Path::new(file);
    if !matches!(
        path.extension().and_then(|e| e.to_str()),
        Some("diderot" | "ddro")
    ) {
        complain(&format!(
            "error: {file}: a program's file name ends in .diderot or .ddro\n"
        ));
        return None;
    }
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            complain(&format!("error: {file}: {error}\n"));
            return None;
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Some(Source {
            path: path.into(),
            text,
        }),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            complain(&format!("error: {file}: byte {at} is not UTF-8 text\n"));
            None
        }
    }
}

fn report(source: &Source, diagnostics: Vec<Diagnostic>) {
    complain(&diag::render(
        source,
        diagnostics,
        std::io::stderr().is_terminal(),
    ));
}

/// Writes to standard output; a closed pipe is nobody's fault.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Writes to standard error.
fn complain(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
