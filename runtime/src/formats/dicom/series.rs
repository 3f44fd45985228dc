//! The series in a directory: which files belong together, and which of several series is meant.

use std::path::{Path, PathBuf};

use super::bytes::Bytes;
use super::frames::{File, Frame};
use crate::file_name::escaped;
use crate::formats::{ImageError, Note, sniff};

/// Parts of directions within which they are the same.
pub(super) const SAME_DIRECTION: f64 = 1e-4;

/// Bytes by which a file is known.
const HEAD: u64 = 140;

/// The regular files of a directory that are DICOM by their first bytes, in the order of their names.
fn candidates(directory: &Path) -> Result<Vec<(PathBuf, u64)>, ImageError> {
    let fail = |e: std::io::Error| ImageError::new(e.to_string()).in_file(directory);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        // An index of files is one of DICOM, too.
        let is_index = path
            .file_name()
            .is_some_and(|name| name.eq_ignore_ascii_case("DICOMDIR"));
        let Ok(metadata) = std::fs::metadata(&path) else {
            continue;
        };
        if metadata.is_file() && !is_index && is_dicom(&path, metadata.len()) {
            found.push((path, metadata.len()));
        }
    }
    found.sort();
    Ok(found)
}

fn is_dicom(path: &Path, length: u64) -> bool {
    let bytes = Bytes::File {
        path: path.to_path_buf(),
        length,
    };
    bytes
        .read(0, length.min(HEAD))
        .is_ok_and(|head| sniff::is_dicom(&head))
}

/// Whether a directory has a file of DICOM in it.
pub(in crate::formats) fn is_directory(path: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(path) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let metadata = std::fs::metadata(entry.path());
        metadata.is_ok_and(|m| m.is_file() && is_dicom(&entry.path(), m.len()))
    })
}

/// Files that belong together.
struct Series {
    files: Vec<File>,
}

impl Series {
    fn first(&self) -> &Frame {
        &self.files[0].frames[0]
    }

    /// Whether a file belongs to it: the same series, orientation, sizes and spacing.
    fn takes(&self, file: &File) -> bool {
        let (a, b) = (self.first(), &file.frames[0]);
        let near = |a: f64, b: f64| (a - b).abs() <= SAME_DIRECTION;
        let same_direction = match (a.orientation, b.orientation) {
            (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| near(*a, b)),
            (None, None) => true,
            _ => false,
        };
        let same_spacing = match (a.spacing, b.spacing) {
            (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| near(a / b, 1.0)),
            (None, None) => true,
            _ => false,
        };
        self.files[0].about.series == file.about.series
            && a.common.pixels.format == b.common.pixels.format
            && same_direction
            && same_spacing
    }

    fn shown(&self, number: usize) -> String {
        let (about, format) = (&self.files[0].about, &self.first().common.pixels.format);
        let slices: usize = self.files.iter().map(|file| file.frames.len()).sum();
        let name = match about.description.as_str() {
            "" => String::new(),
            name => format!(" \"{name}\""),
        };
        format!(
            "#/{number} {} {}×{}×{slices}{name}",
            about.modality, format.columns, format.rows
        )
    }
}

/// The files of the series that is asked for, or of the only one, and notes about the files that are left out.
pub(super) fn choose(
    directory: &Path,
    asked: Option<&str>,
) -> Result<(Vec<File>, Vec<Note>), ImageError> {
    let (mut all, mut without): (Vec<Series>, usize) = (Vec::new(), 0);
    let mut refused = None;
    for (path, length) in candidates(directory)? {
        let name = path.file_name().map(escaped).unwrap_or_default();
        let bytes = Bytes::File {
            path: path.clone(),
            length,
        };
        let file = match File::open(bytes, name) {
            Ok(Some(file)) => file,
            Ok(None) => {
                without += 1;
                continue;
            }
            // A file that is not read spoils only its own series; if there is no other, its message counts.
            Err(error) => {
                refused.get_or_insert((error.in_file(&path), 0_usize)).1 += 1;
                continue;
            }
        };
        match all.iter_mut().find(|series| series.takes(&file)) {
            Some(series) => series.files.push(file),
            None => all.push(Series { files: vec![file] }),
        }
    }
    all.sort_by(|a, b| {
        let key = |series: &Series| series.files[0].about.number.unwrap_or(f64::INFINITY);
        let uid = |series: &Series| series.files[0].about.series.clone();
        key(a).total_cmp(&key(b)).then_with(|| uid(a).cmp(&uid(b)))
    });
    let mut notes = Vec::new();
    if let Some((error, count)) = refused {
        match all.is_empty() || asked.is_none() && all.len() == 1 {
            true => return Err(error),
            false => notes.push(Note::warning(format!(
                "{count} of the files cannot be read: {}",
                error.headline()
            ))),
        }
    }
    let chosen = match asked {
        Some(asked) => by_name(&all, asked)?,
        None => the_only(&all, directory, &mut notes)?,
    };
    if without > 0 {
        let are = if without == 1 {
            "file without pixels is"
        } else {
            "files without pixels are"
        };
        notes.push(Note::new(format!("{without} {are} left out")));
    }
    Ok((all.swap_remove(chosen).files, notes))
}

fn listed(all: &[Series]) -> String {
    let shown = all
        .iter()
        .enumerate()
        .map(|(i, series)| series.shown(i + 1));
    shown.collect::<Vec<_>>().join(", ")
}

/// The series of a number in the list, or of the end of a UID.
fn by_name(all: &[Series], asked: &str) -> Result<usize, ImageError> {
    let asked = asked.trim_start_matches('/');
    let number = asked
        .parse::<usize>()
        .ok()
        .filter(|n| (1..=all.len()).contains(n));
    let ends = |series: &Series| series.files[0].about.series.ends_with(asked);
    let of_uid: Vec<usize> = (0..all.len()).filter(|&i| ends(&all[i])).collect();
    match (number, &of_uid[..]) {
        (Some(number), _) => Ok(number - 1),
        (None, &[one]) => Ok(one),
        _ => Err(ImageError::new(format!(
            "there is no series `{asked}`; the directory has {}",
            listed(all)
        ))),
    }
}

/// The only series but for overviews.
fn the_only(all: &[Series], directory: &Path, notes: &mut Vec<Note>) -> Result<usize, ImageError> {
    let overview = |i: &usize| all[*i].files.iter().all(|file| file.about.is_localizer);
    let real: Vec<usize> = (0..all.len()).filter(|i| !overview(i)).collect();
    match (&real[..], all) {
        (&[one], _) => {
            let left: usize =
                all.iter().map(|series| series.files.len()).sum::<usize>() - all[one].files.len();
            if left > 0 {
                let are = if left == 1 {
                    "localizer is"
                } else {
                    "localizers are"
                };
                notes.push(Note::new(format!("{left} {are} left out")));
            }
            Ok(one)
        }
        ([], [_]) => Ok(0),
        ([], []) => Err(ImageError::new("the directory has no picture of DICOM")),
        _ => Err(ImageError::new(format!(
            "the directory has {} series: {}",
            all.len(),
            listed(all)
        ))
        .hint(format!(
            "choose one of them: `{}#/1`",
            escaped(directory.as_os_str())
        ))
        .among((1..=all.len()).map(|number| format!("/{number}")))),
    }
}
