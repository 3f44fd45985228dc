//! `diderotc fmt`: the usual layout of programs.

use super::{FAILURE, SUCCESS, args::FmtWords, check::programs, complain, report, say};
use crate::{
    format::{Symbols, formatted},
    front::{files::read_text, source::Source},
};
use runtime::{file_name::FileName, output::TextFile};
use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// Lays out files, and all programs in directories.
pub(super) fn fmt(words: &FmtWords) -> u8 {
    let symbols = match (words.ascii, words.unicode) {
        (true, _) => Symbols::Ascii,
        (_, true) => Symbols::Unicode,
        _ => Symbols::AsWritten,
    };
    if words.files == [PathBuf::from("-")] {
        return standard(symbols, words.check);
    }
    let mut status = SUCCESS;
    for file in &words.files {
        let laid_out = programs(file).and_then(|programs| {
            let done = programs
                .iter()
                .map(|program| one(program, symbols, words.check));
            done.collect::<Result<Vec<bool>, String>>()
        });
        match laid_out {
            Ok(all) if all.iter().all(|is_well| *is_well) => {}
            Ok(_) => status = FAILURE,
            Err(message) => {
                complain(&format!("error: {message}\n"));
                status = FAILURE;
            }
        }
    }
    status
}

/// Lays out a program; says whether nothing is left to be done.
fn one(path: &Path, symbols: Symbols, is_check: bool) -> Result<bool, String> {
    let name = FileName::from(path);
    let text = read_text(path).map_err(|error| format!("{name}: {error}"))?;
    let made = match formatted(path, &text, symbols) {
        Ok(made) => made,
        Err(errors) => {
            report(&Source::new(path, text), errors);
            return Ok(false);
        }
    };
    if made == text {
        return Ok(true);
    }
    if is_check {
        complain(&format!("{name}: this is not its usual layout\n"));
        return Ok(false);
    }
    let mut file = TextFile::create(&name).map_err(|error| error.to_string())?;
    let written = file.write_all(made.as_bytes());
    written.map_err(|error| format!("{name}: {error}"))?;
    file.finish().map_err(|error| error.to_string())?;
    Ok(true)
}

/// From standard input to standard output.
fn standard(symbols: Symbols, is_check: bool) -> u8 {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        complain(&format!("error: standard input: {error}\n"));
        return FAILURE;
    }
    let path = Path::new("standard input");
    match formatted(path, &text, symbols) {
        Ok(made) if is_check => match made == text {
            true => SUCCESS,
            false => FAILURE,
        },
        Ok(made) => {
            say(&made);
            SUCCESS
        }
        Err(errors) => {
            report(&Source::new(path, text), errors);
            FAILURE
        }
    }
}
