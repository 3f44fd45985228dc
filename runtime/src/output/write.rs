//! Writing outputs to files, over values that were gathered.

use std::io::Write;

pub use super::contents::{Contents, Number, Style, Written};

use super::OutputError;
use super::format::{Destination, FileFormat};
use super::staged::Staged;
use crate::file_name::escaped;

/// Writes outputs to their destination, or to a numbered one like it.
///
/// # Errors
/// What failed; then no part of it is left.
pub fn write(
    destination: &Destination,
    number: Option<Number>,
    contents: Contents<'_>,
    style: &Style,
) -> Result<Vec<Written>, OutputError> {
    let varying = contents
        .columns
        .iter()
        .any(|column| column.lengths.is_some());
    if let Some((pair, files)) = destination.pair(number, varying) {
        return (pair.write)(contents, &files);
    }
    let destination = match number {
        Some(Number { value, digits }) => &destination.numbered(value, digits),
        None => destination,
    };
    let style = Style {
        title: style.title.clone().or_else(|| title(destination)),
        ..style.clone()
    };
    let mut told = (String::new(), None);
    let mut stream = |out: &mut dyn Write| {
        told = (destination.format.encode())(contents, &style, out)?;
        Ok(())
    };
    if destination.is_standard_output() {
        let mut out = std::io::stdout().lock();
        stream(&mut out)?;
        out.flush()
            .map_err(|e| OutputError::new(format!("standard output: {e}")))?;
    } else {
        let mut staged = Staged::default();
        staged.write(&destination.file, stream)?;
        staged.commit()?;
    }
    let (description, tally) = told;
    Ok(vec![Written {
        tally,
        ..Written::new(&destination.file, description)
    }])
}

/// The bytes of a file that needs no other beside it.
///
/// # Errors
/// The format does not suit the outputs.
pub fn write_bytes(
    format: FileFormat,
    contents: Contents<'_>,
    style: &Style,
) -> Result<Vec<u8>, OutputError> {
    let mut bytes = Vec::new();
    (format.encode())(contents, style, &mut bytes)?;
    Ok(bytes)
}

/// The name of a file without its suffix.
fn title(destination: &Destination) -> Option<String> {
    let stem = destination.file.file_stem();
    let stem = stem.filter(|_| !destination.is_standard_output())?;
    Some(escaped(stem))
}
