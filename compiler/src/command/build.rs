//! `diderotc build`: a self-contained executable without a C compiler or linker.
//!
//! The executable is this command with the program attached at its end; started, it finds the program, compiles it in memory
//! (milliseconds) and takes all its words as the program's options.

use super::{FAILURE, SUCCESS, complain, read_source, report};
use crate::{front::source::Source, pipeline::Options};
use std::{
    fs,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Ends an executable with a program attached; before it stands the length of what is attached.
const MARK: &[u8; 16] = b"diderot-program\n";

/// A program attached to this executable.
pub(super) struct Attached {
    pub(super) source: Source,
    pub(super) options: Options,
}

pub(super) fn build(file: &str, output: Option<String>, options: &Options) -> u8 {
    let Some(source) = read_source(file) else {
        return FAILURE;
    };
    let (ast, errors) = crate::front::syntax::parse(&source);
    let check = crate::front::typed::CheckOptions {
        constants: options.constants.clone(),
    };
    let (typed, diagnostics) = crate::front::typed::check(&ast, &check, errors);
    report(&source, diagnostics);
    if typed.is_none() {
        return FAILURE;
    }
    let output = output.map_or_else(|| Path::new(file).with_extension(""), PathBuf::from);
    match write_executable(&output, &source, options) {
        Ok(()) => SUCCESS,
        Err(error) => {
            complain(&format!("error: {}: {error}\n", output.display()));
            FAILURE
        }
    }
}

/// Writes the executable beside its final name and renames it when it is complete.
fn write_executable(output: &Path, source: &Source, options: &Options) -> std::io::Result<()> {
    let mut partial = output.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = (|| {
        fs::copy(std::env::current_exe()?, &partial)?;
        let mut file = fs::OpenOptions::new().append(true).open(&partial)?;
        let payload = encode(source, options);
        file.write_all(payload.as_bytes())?;
        file.write_all(&(payload.len() as u64).to_le_bytes())?;
        file.write_all(MARK)?;
        file.sync_all()?;
        fs::rename(&partial, output)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

/// The program attached to this executable, if there is one.
pub(super) fn attached() -> Option<Attached> {
    let mut file = fs::File::open(std::env::current_exe().ok()?).ok()?;
    let trailer = (MARK.len() + 8) as u64;
    let end = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(end.checked_sub(trailer)?)).ok()?;
    let mut bytes = [0; 8 + MARK.len()];
    file.read_exact(&mut bytes).ok()?;
    if bytes[8..] != MARK[..] {
        return None;
    }
    let length = u64::from_le_bytes(bytes[..8].try_into().ok()?);
    file.seek(SeekFrom::Start(
        end.checked_sub(trailer)?.checked_sub(length)?,
    ))
    .ok()?;
    let mut payload = vec![0; usize::try_from(length).ok()?];
    file.read_exact(&mut payload).ok()?;
    decode(&String::from_utf8(payload).ok()?)
}

/// Options and source as text: one line per fact, then the program.
fn encode(source: &Source, options: &Options) -> String {
    let mut text = format!("path {}\n", source.path.display());
    if options.double {
        text.push_str("double\n");
    }
    if options.long_int {
        text.push_str("long-int\n");
    }
    if let Some(width) = options.width {
        text.push_str(&format!("width {width}\n"));
    }
    for (name, value) in &options.constants {
        text.push_str(&format!("constant {name} {value}\n"));
    }
    text + "source\n" + &source.text
}

fn decode(payload: &str) -> Option<Attached> {
    let (head, text) = payload.split_once("source\n")?;
    let mut options = Options::default();
    let mut path = PathBuf::new();
    for line in head.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "path" => path = rest.into(),
            "double" => options.double = true,
            "long-int" => options.long_int = true,
            "width" => options.width = Some(rest.parse().ok()?),
            "constant" => {
                let (name, value) = rest.split_once(' ')?;
                options
                    .constants
                    .push((name.to_string(), value.to_string()));
            }
            _ => return None,
        }
    }
    Some(Attached {
        source: Source {
            path,
            text: text.to_string(),
        },
        options,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_attached_is_found_again() {
        let source = Source {
            path: "a b.diderot".into(),
            text: "#version 2.0\nsource\n".into(),
        };
        let constants = vec![("n".to_string(), "[1, 2]".to_string())];
        let options = Options {
            double: true,
            width: Some(4),
            constants,
            ..Options::default()
        };
        let found = decode(&encode(&source, &options)).unwrap();
        assert_eq!(
            (found.source.path, found.source.text),
            (source.path, source.text)
        );
        assert!(found.options.double && !found.options.long_int);
        assert_eq!(
            (found.options.width, found.options.constants),
            (options.width, options.constants)
        );
    }
}
