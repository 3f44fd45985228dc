//! Numbered pictures as one array: `slice%03d.tif 1 120` are 120 files, the slowest axis goes through them.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::boxes::Boxes;
use super::missing::{Missing, beside_nans, listed, nans, type_with_nan};
use super::{ImageError, Note, Sink, Source};
use crate::file_reference::NumberedFiles;
use crate::nrrd::{Axis, Header, Kind, Samples};

/// Describes the array by its first file; the others are opened one at a time when they are read.
pub(super) fn open(files: NumberedFiles, missing: Missing) -> Result<Source<'static>, ImageError> {
    let told = move |error: ImageError, path: &Path| {
        let error = error.in_file(path);
        match missing == Missing::Refuse && !path.exists() {
            true => {
                error.hint("`--missing nan` fills the places of files that there are not with NaN")
            }
            false => error,
        }
    };
    let open = move |path: &Path| super::open_file(path, None, missing).map_err(|e| told(e, path));
    let lost = match missing {
        Missing::Nan => lost(&files),
        Missing::Refuse => {
            // Memory is taken for all: the first and the last one are there, or the numbers are wrong.
            for number in [files.numbers[0], files.numbers[files.numbers.len() - 1]] {
                let file = files.file(number);
                std::fs::metadata(&file)
                    .map_err(|e| told(ImageError::new(e.to_string()), &file))?;
            }
            Vec::new()
        }
    };
    // If none is there, the message is about the first.
    let is_there = |number: &&u64| lost.binary_search(number).is_err();
    let first = files.numbers.iter().find(is_there);
    let first = open(&files.file(*first.unwrap_or(&files.numbers[0])))?;
    let slice = first.header().clone();
    if first.scale.is_some() {
        return Err(ImageError::new(
            "files whose samples are scaled cannot be stacked",
        ));
    }
    let mut header = slice.clone();
    if !lost.is_empty() {
        header.sample_type = type_with_nan(slice.sample_type);
    }
    header.axes.push(Axis {
        size: files.numbers.len(),
        kind: Some(Kind::Domain),
        ..Axis::default()
    });
    let boxes = Files {
        extents: slice.sizes().into_iter().chain([1]).collect(),
        files: files.clone(),
        slice: slice.clone(),
        lost: lost.clone(),
    };
    let (format, mut notes) = (first.format(), first.notes.clone());
    if !lost.is_empty() {
        let are = if lost.len() == 1 { "is" } else { "are" };
        notes.push(Note::warning(format!(
            "{} of {} files {are} missing and became NaN: {}",
            lost.len(),
            files.numbers.len(),
            listed(&lost)
        )));
    }
    let is_rescaled = first.is_rescaled;
    let mut source = Source::decoded(
        format,
        header,
        Box::new(move |sink| {
            let (mut first, mut notes) = (Some(first), Vec::new());
            for &number in &files.numbers {
                if lost.binary_search(&number).is_ok() {
                    let count = slice.sample_count().unwrap_or(0);
                    sink(nans(slice.sample_type, count));
                    continue;
                }
                let path = files.file(number);
                let next = first.take().map_or_else(|| open(&path), Ok)?;
                check(&slice, next.header()).map_err(|e| e.in_file(&path))?;
                let mut give = |samples: Samples| match lost.is_empty() {
                    true => sink(samples),
                    false => sink(beside_nans(samples, slice.sample_type)),
                };
                notes.extend(next.read_pieces(&mut give).map_err(|e| e.in_file(&path))?);
            }
            Ok(notes)
        }),
    );
    source.notes = notes;
    source.boxes = Some(Arc::new(boxes));
    source.is_rescaled = is_rescaled;
    Ok(source)
}

/// Files that are read in any order.
struct Files {
    files: NumberedFiles,
    slice: Header,
    extents: Vec<usize>,
    /// The numbers of those that there are not.
    lost: Vec<u64>,
}

impl Boxes for Files {
    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn read(&self, place: &[Range<usize>], sink: &mut Sink<'_>) -> Result<u64, ImageError> {
        let number = self.files.numbers[place.last().map_or(0, |along| along.start)];
        if self.lost.binary_search(&number).is_ok() {
            let count = self.slice.sample_count().unwrap_or(0);
            sink(nans(self.slice.sample_type, count));
            return Ok(0);
        }
        let path = self.files.file(number);
        let mut read = || {
            let source = super::open_file(&path, None, Missing::Refuse)?;
            check(&self.slice, source.header())?;
            source.checked()?.read_pieces(sink).map(|_| 0)
        };
        read().map_err(|error: ImageError| error.in_file(&path))
    }
}

/// The numbers of the files that there are not.
fn lost(files: &NumberedFiles) -> Vec<u64> {
    let is_lost = |number: &u64| {
        let found = std::fs::metadata(files.file(*number));
        found.is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound)
    };
    let mut lost: Vec<u64> = files.numbers.iter().copied().filter(is_lost).collect();
    lost.sort_unstable();
    lost
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
