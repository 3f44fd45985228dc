//! The text that a program prints: to standard output, or to a file that appears when it is complete.

use runtime::{
    file_name::FileName,
    output::{OutputError, TextFile, format::STANDARD_OUTPUT},
};
use std::io::{self, Write};

/// Where printed text goes.
pub(super) enum PrintedText {
    Standard(io::Stdout),
    File(TextFile),
    /// Another process prints it.
    Elsewhere,
}

impl PrintedText {
    pub(super) fn open(file: &FileName) -> Result<PrintedText, OutputError> {
        Ok(match *file == *STANDARD_OUTPUT {
            true => PrintedText::Standard(io::stdout()),
            false => PrintedText::File(TextFile::create(file)?),
        })
    }

    /// Gives a file its name.
    pub(super) fn finish(self) -> Result<(), OutputError> {
        match self {
            PrintedText::File(file) => file.finish(),
            PrintedText::Standard(_) | PrintedText::Elsewhere => Ok(()),
        }
    }
}

impl Write for PrintedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            PrintedText::Standard(out) => out.write(bytes),
            PrintedText::File(out) => out.write(bytes),
            PrintedText::Elsewhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            PrintedText::Standard(out) => out.flush(),
            PrintedText::File(out) => out.flush(),
            PrintedText::Elsewhere => Ok(()),
        }
    }
}
