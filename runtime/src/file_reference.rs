//! The one parser of names where a file is expected: a file, a part of it, numbered files, or data of the standard library.
//!
//! | name | meaning |
//! |---|---|
//! | `FILE` | a file; one of that name comes first, whatever it looks like |
//! | `FILE#N`, `FILE#N:M` | frames of it |
//! | `FILE#ARRAY`, `FILE#ARRAY#N` | an array of it by name or path, and frames of that |
//! | `FILE#a,b,c` | several arrays as components; the reader of the format takes them apart |
//! | `FILE#/7` | the array `7`: with a slash in front, a number is a name |
//! | `DIR`, `DIR#NAME`, `DIR#NAME#N` | the same of a directory: Zarr, or a series of DICOM |
//! | `slice%03d.tif 1 120`, `slice%d.tif 0 100 5` | numbered files, with a step |
//! | `std:NAME` | data of the standard library |

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::file_name::split_last;

/// The name of data of the standard library.
pub fn library_name(name: &Path) -> Option<&str> {
    name.to_str()?.strip_prefix("std:")
}

/// The file of a mesh or of values on it, and the name of the array of values: `FILE` or `FILE#ARRAY`. Files with several times have a
/// number or a time in their name: `FILE.pvd#N`, `FILE.pvd#N#ARRAY`, `FILE.pvd@T#ARRAY`; some of its times are `FILE.pvd#N:M`.
pub fn mesh_and_array(name: &Path) -> (&Path, Option<&str>) {
    let split = split_last(name.as_os_str(), b'#').filter(|_| !name.exists());
    match split.map(|(file, array)| (Path::new(file), array.to_str())) {
        // Some of the times of a file.
        Some((file, _)) if has_times(file) && split_frames(name.as_os_str()).is_some() => {
            (name, None)
        }
        Some((file, array @ Some(_))) => (file, array),
        _ => (name, None),
    }
}

/// Whether the format of a mesh has several times, as its name says.
fn has_times(file: &Path) -> bool {
    let suffix = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["pvd", "xdmf", "xmf"]
        .iter()
        .any(|known| suffix.eq_ignore_ascii_case(known))
}

/// The numbered files that a name stands for; nothing if there is a file of that name.
pub(crate) fn numbered_files(name: &Path) -> Option<NumberedFiles> {
    let files = name.to_str().and_then(NumberedFiles::parse)?;
    (!name.exists()).then_some(files)
}

/// Frames of a file that has an axis beside space and components, as `FILE#N` and `FILE#N:M` ask for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// One frame.
    One(usize),
    /// The frames from the first to the last, as components.
    Range(usize, usize),
}

/// A file and the part of it to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen<'a> {
    pub(crate) file: &'a Path,
    /// The array that is wanted of a file with several.
    pub(crate) array: Option<&'a str>,
    pub(crate) frames: Option<Frames>,
}

/// The file that a name means, and the part of it to read: `FILE`, `FILE#N`, `FILE#ARRAY` or `FILE#ARRAY#N`. A file whose own name looks
/// like that comes first.
pub(crate) fn chosen(name: &Path) -> Chosen<'_> {
    let whole = Chosen {
        file: name,
        array: None,
        frames: None,
    };
    if name.exists() {
        return whole;
    }
    let (file, frames) = match split_frames(name.as_os_str()) {
        Some((file, frames)) => (Path::new(file), Some(frames)),
        None => (name, None),
    };
    let array = split_last(file.as_os_str(), b'#').filter(|_| !file.exists());
    match array.map(|(file, array)| (Path::new(file), array.to_str())) {
        Some((file, Some(array))) if file.exists() => Chosen {
            file,
            array: Some(array),
            frames,
        },
        _ => Chosen {
            file,
            frames,
            ..whole
        },
    }
}

/// Splits the frames off a name: `ct.nii#3` is frame 3 of `ct.nii`, and `ct.nii#3:5` are three frames.
pub(crate) fn split_frames(name: &OsStr) -> Option<(&OsStr, Frames)> {
    let (file, frames) = split_last(name, b'#')?;
    let frames = frames.to_str()?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    };
    let frames = match frames.split_once(':') {
        None => Frames::One(number(frames)?),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(Frames::Range(first, last))?
        }
    };
    (!file.is_empty()).then_some((file, frames))
}

/// Numbered files: `slice%03d.tif 1 120` are 120 of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberedFiles {
    before: String,
    width: usize,
    after: String,
    pub(crate) numbers: Vec<u64>,
}

/// The most numbered files: more are a mistake in the numbers.
const MOST: u64 = 1_000_000;

impl NumberedFiles {
    /// The files that a text stands for: a name with `%d` or `%03d` in it, the first and the last number, and a step
    /// that may be left out.
    fn parse(text: &str) -> Option<NumberedFiles> {
        let at = text.rfind('%')?;
        let (width, after) = text[at + 1..].split_once('d')?;
        if !width.bytes().all(|b| b.is_ascii_digit()) || width.len() > 2 {
            return None;
        }
        // The numbers stand at the end, because names may have blanks in them.
        let (mut name, mut numbers) = (after, Vec::new());
        while let Some((rest, word)) = name.rsplit_once(' ')
            && numbers.len() < 3
            && let Ok(number) = word.parse::<u64>()
        {
            numbers.insert(0, number);
            name = rest;
        }
        let (first, last, step) = match numbers[..] {
            [first, last] => (first, last, 1),
            [first, last, step] if step > 0 => (first, last, step),
            _ => return None,
        };
        if first > last || (last - first) / step >= MOST {
            return None;
        }
        Some(NumberedFiles {
            before: text[..at].to_string(),
            width: width.parse().unwrap_or(0),
            after: name.to_string(),
            numbers: (first..=last)
                .step_by(usize::try_from(step).ok()?)
                .collect(),
        })
    }

    /// The file of a number.
    pub(crate) fn file(&self, number: u64) -> PathBuf {
        let NumberedFiles {
            before,
            width,
            after,
            ..
        } = self;
        PathBuf::from(format!("{before}{number:0width$}{after}"))
    }

    /// All its files, in order.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.numbers.iter().map(|&number| self.file(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_split_off_names() {
        let rows = [
            ("a.nii#3", Some(("a.nii", Frames::One(3)))),
            ("a#b.nii#0:2", Some(("a#b.nii", Frames::Range(0, 2)))),
            ("a.nii", None),
            ("a#", None),
            ("a#x", None),
            ("a#-1", None),
            ("a#+1", None),
            ("a#5:3", None),
            ("a#1:", None),
            ("#1", None),
            ("a#99999999999999999999999", None),
        ];
        for (name, split) in rows {
            let split = split.map(|(file, frames)| (OsStr::new(file), frames));
            assert_eq!(split_frames(OsStr::new(name)), split, "{name}");
        }
    }

    #[test]
    fn a_number_with_a_slash_is_a_name() {
        let directory = std::env::temp_dir();
        let name = |part: &str| PathBuf::from(format!("{}#{part}", directory.display()));
        for (part, array, frames) in [
            ("/7", Some("/7"), None),
            ("7", None, Some(Frames::One(7))),
            ("/g/u,v#3", Some("/g/u,v"), Some(Frames::One(3))),
            ("u#1:2", Some("u"), Some(Frames::Range(1, 2))),
        ] {
            let name = name(part);
            let found = chosen(&name);
            assert_eq!(
                (found.file, found.array, found.frames),
                (&*directory, array, frames)
            );
        }
    }

    #[test]
    fn patterns_name_numbered_files() {
        let files = |text: &str| {
            let found = NumberedFiles::parse(text)?;
            let names = found.files().map(|file| file.display().to_string());
            Some(names.collect::<Vec<_>>())
        };
        let some = |names: &[&str]| Some(names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(
            files("a%03d.tif 8 10"),
            some(&["a008.tif", "a009.tif", "a010.tif"])
        );
        assert_eq!(
            files("my dir/s%d 1 5 2"),
            some(&["my dir/s1", "my dir/s3", "my dir/s5"])
        );
        assert_eq!(files("a %d b.png 0 0"), some(&["a 0 b.png"]));
        for text in [
            "a.tif 1 2",
            "a%d.tif",
            "a%d.tif 1",
            "a%d.tif 5 1",
            "a%d 1 2 0",
            "a%xd 1 2",
            "50% 1 2",
            "a%d 0 9999999",
        ] {
            assert_eq!(files(text), None, "{text}");
        }
    }
}
