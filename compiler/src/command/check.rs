//! `diderotc check`: everything that is wrong with programs.

use super::{
    FAILURE, SUCCESS, complain, program_line::shadows, read_source, report, say, words::is_program,
};
use crate::{
    front::{
        report::to_json_lines,
        tree::{Program, VarKind},
    },
    pipeline::{self, Options},
};
use runtime::file_name::FileName;
use std::path::{Path, PathBuf};

/// Checks files, and all programs in directories, and reports everything about all of them.
pub(super) fn check(files: &[PathBuf], json: bool, options: &Options) -> u8 {
    let mut status = SUCCESS;
    for file in files {
        let programs = match programs(file) {
            Ok(programs) => programs,
            Err(message) => {
                complain(&format!("error: {message}\n"));
                status = FAILURE;
                continue;
            }
        };
        for program in programs {
            if !check_file(&program, json, options) {
                status = FAILURE;
            }
        }
    }
    status
}

fn check_file(file: &Path, json: bool, options: &Options) -> bool {
    let Some(source) = read_source(file) else {
        return false;
    };
    let checked = pipeline::check(&source, options);
    if json {
        say(&to_json_lines(&source, checked.diagnostics));
    } else {
        report(&source, checked.diagnostics);
        for note in checked.program.iter().flat_map(notes) {
            complain(&format!("note: {}: {note}\n", FileName::from(file)));
        }
    }
    checked.program.is_some()
}

/// What the user of a program should know of the names of its inputs.
fn notes(program: &Program) -> Vec<String> {
    let inputs = program.vars.iter().filter(|var| var.kind == VarKind::Input);
    inputs.filter_map(|input| shadows(&input.name)).collect()
}

/// The programs that a path stands for: itself, or those in a directory and below, in order.
pub(super) fn programs(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let failed = |e: std::io::Error| format!("{}: {e}", FileName::from(path));
    let mut found = Vec::new();
    let mut waiting = vec![path.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // A link to a directory may lead in a circle.
            if entry.file_type().map_err(failed)?.is_dir() {
                waiting.push(entry.path());
            } else if is_program(entry.path().as_os_str()) {
                found.push(entry.path());
            }
        }
    }
    if found.is_empty() {
        return Err(format!(
            "{}: there are no programs in this directory",
            FileName::from(path)
        ));
    }
    found.sort();
    Ok(found)
}
