//! What the command does for each of its modes.

mod campaigns;
mod nests;
mod render;
mod single;

use crate::arguments::{Arguments, Mode};
use datm::{OPERATORS, PROGRAM_FORMS, Record, read_records, summarize};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Whether the compiler passed.
pub(crate) enum Outcome {
    /// No case failed.
    AllPassed,
    /// At least one did.
    SomeFailed,
}

fn outcome(failures: usize) -> Outcome {
    if failures == 0 {
        Outcome::AllPassed
    } else {
        Outcome::SomeFailed
    }
}

/// Does what the arguments ask.
pub(crate) fn execute(arguments: Arguments) -> Result<Outcome, String> {
    match arguments.mode {
        Mode::Exhaustive {
            control: Some(depth),
            execution,
            ..
        } => nests::exhaustive(depth, &execution),
        Mode::Exhaustive {
            control: None,
            space,
            frame,
            execution,
        } => campaigns::exhaustive(&space, &frame, &execution),
        Mode::Random {
            draw,
            space,
            frame,
            execution,
        } => campaigns::random(&draw, &space, &frame, &execution),
        Mode::Target {
            labels,
            space,
            frame,
            execution,
        } => campaigns::target(&labels, &space, &frame, &execution),
        Mode::Corpus { frame, execution } => campaigns::corpus(&frame, &execution),
        Mode::Replay {
            label,
            to,
            execution,
        } => single::replay(&label, to.as_deref(), &execution),
        Mode::Shrink { label, execution } => single::shrink_label(&label, &execution),
        Mode::Differential {
            mode,
            cases,
            space,
            frame,
            execution,
        } => campaigns::differential(mode, cases, &space, &frame, &execution),
        #[cfg(feature = "mutants")]
        Mode::Mutants { only, report } => mutants(&only, report.as_deref()),
        Mode::Render { scenes, execution } => render::render(&scenes, &execution),
        Mode::Report { files, json } => report(&files, json),
        Mode::Operators => {
            list();
            Ok(Outcome::AllPassed)
        }
    }
}

/// The operators under test and the forms of programs.
fn list() {
    for row in OPERATORS {
        println!("{:18} {:?} {}", row.name, row.syntax, row.domain);
    }
    println!("\nForms of programs:");
    for form in PROGRAM_FORMS {
        println!("{:18} {}", form.name, form.shows);
    }
}

fn report(files: &[PathBuf], json: bool) -> Result<Outcome, String> {
    let mut records = Vec::new();
    for file in files {
        records.extend(load(file)?);
    }
    let summary = summarize(&records)?;
    if json {
        println!("{:#}", summary.to_json())
    } else {
        println!("{}", summary.to_markdown())
    }
    Ok(outcome(summary.total.failures))
}

/// Switches every deliberate fault on in turn.
#[cfg(feature = "mutants")]
fn mutants(only: &[String], report: Option<&Path>) -> Result<Outcome, String> {
    let catches = datm::catch_all(only, &|catch| {
        let by = catch.by.as_ref();
        let how = by.map_or("NOT CAUGHT".to_string(), |(label, at, cause)| {
            format!("{at}: {cause}: {label}")
        });
        println!("{}: {}\n    {how}", catch.name, catch.fault);
    })?;
    if let Some(file) = report {
        save(file, datm::table(&catches).as_bytes())?;
    }
    let missed = catches.iter().filter(|catch| catch.by.is_none()).count();
    println!("{} faults, {missed} not caught", catches.len());
    Ok(outcome(missed))
}

fn load(file: &Path) -> Result<Vec<Record>, String> {
    let input =
        File::open(file).map_err(|error| format!("cannot open {}: {error}", file.display()))?;
    read_records(BufReader::new(input)).map_err(|message| format!("{}: {message}", file.display()))
}

fn save(file: &Path, contents: &[u8]) -> Result<(), String> {
    fs::write(file, contents).map_err(|error| format!("cannot write {}: {error}", file.display()))
}
