//! Numbered pictures as one array: `slice%03d.tif 1 120` are 120 files, the slowest axis goes through them.

use std::path::Path;

use super::ImageError;
use super::Source;
use crate::file_reference::NumberedFiles;
use crate::nrrd::{Axis, Header, Kind};

/// Describes the array by its first file; the others are opened one at a time when they are read.
pub(super) fn open(files: NumberedFiles) -> Result<Source<'static>, ImageError> {
    let open = |path: &Path| super::open_file(path, None).map_err(|e| e.in_file(path));
    let first = open(&files.file(files.numbers[0]))?;
    // Memory is taken for all: the last one is there, or the numbers are wrong.
    let last = files.file(files.numbers[files.numbers.len() - 1]);
    std::fs::metadata(&last).map_err(|e| ImageError::new(e.to_string()).in_file(&last))?;
    let slice = first.header().clone();
    if first.scale.is_some() {
        return Err(ImageError::new(
            "files whose samples are scaled cannot be stacked",
        ));
    }
    let mut header = slice.clone();
    header.axes.push(Axis {
        size: files.numbers.len(),
        kind: Some(Kind::Domain),
        ..Axis::default()
    });
    let (format, notes) = (first.format(), first.notes.clone());
    let mut source = Source::decoded(
        format,
        header,
        Box::new(move |sink| {
            let (mut first, mut notes) = (Some(first), Vec::new());
            for &number in &files.numbers {
                let path = files.file(number);
                let next = first.take().map_or_else(|| open(&path), Ok)?;
                check(&slice, next.header()).map_err(|e| e.in_file(&path))?;
                notes.extend(next.read_pieces(sink).map_err(|e| e.in_file(&path))?);
            }
            Ok(notes)
        }),
    );
    source.notes = notes;
    Ok(source)
}

/// Whether a slice is like the first.
fn check(first: &Header, other: &Header) -> Result<(), ImageError> {
    let alike = first.sizes() == other.sizes() && first.sample_type == other.sample_type;
    match alike {
        true => Ok(()),
        false => Err(ImageError::new(format!(
            "the sizes are {:?} of type {}, unlike those of the first file, {:?} of type {}",
            other.sizes(),
            other.sample_type,
            first.sizes(),
            first.sample_type
        ))),
    }
}
