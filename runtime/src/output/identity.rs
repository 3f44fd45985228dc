//! The identity of the file that a path leads to, whether it exists or not.
//!
//! Takes paths as users spell them, and gives one answer for all spellings of a file: links are followed as a shell
//! follows them, directories are compared by their real paths, and existing files by device and inode. With it, a run that
//! would write one file twice, or replace one of its inputs, is rejected before it begins.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::file_name::FileName;

/// Links that may follow one another before they count as a circle.
const MOST_LINKS: usize = 40;

/// The path that is written when `path` is: links are followed, also to a file that is not there yet.
///
/// # Errors
/// The links lead in a circle, or there is no such directory.
pub(super) fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let directory = directory_of(&path);
        let Ok(next) = fs::read_link(&path) else {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
            return Ok(fs::canonicalize(directory)?.join(name));
        };
        path = directory.join(next);
    }
    Err(io::Error::other("this link leads in a circle"))
}

/// The directory of a file.
pub(super) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A file that is read or written, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUse {
    /// The file as it was spelled; of a family of numbered files the one with the number 0.
    pub file: FileName,
    /// Its use, such as "the input `vol`".
    pub purpose: String,
    /// The text of the number 0 in the name, if this is a family of numbered files.
    pub number: Option<String>,
}

impl FileUse {
    /// The use of one file.
    pub fn of(file: impl Into<FileName>, purpose: impl Into<String>) -> FileUse {
        FileUse {
            file: file.into(),
            purpose: purpose.into(),
            number: None,
        }
    }
}

/// A use with the data to compare it.
struct Known<'u> {
    used: &'u FileUse,
    /// The real path.
    path: PathBuf,
    /// What the system calls the file, if it exists.
    inode: Option<(u64, u64)>,
    /// What stands before and after the number in the names of a family.
    family: Option<(String, String)>,
}

impl<'u> Known<'u> {
    /// Nothing for devices and streams: several uses may write to them, one after the other.
    fn of(used: &'u FileUse) -> Option<Known<'u>> {
        if is_special(&used.file) {
            return None;
        }
        let path = followed(&used.file).ok()?;
        let family = used.number.as_ref().and_then(|number| {
            let name = path.file_name()?.to_string_lossy();
            let (before, after) = name.rsplit_once(&**number)?;
            Some((before.to_string(), after.to_string()))
        });
        Some(Known {
            inode: inode(&path).filter(|_| family.is_none()),
            used,
            path,
            family,
        })
    }

    /// Whether two uses can meet in one file.
    fn meets(&self, other: &Known<'_>) -> bool {
        match (&self.family, &other.family) {
            (None, None) => {
                self.path == other.path || self.inode.is_some() && self.inode == other.inode
            }
            (Some(family), None) => self.is_beside(other) && has_number(family, &other.path),
            (None, Some(family)) => self.is_beside(other) && has_number(family, &self.path),
            (Some(one), Some(another)) => self.is_beside(other) && one == another,
        }
    }

    fn is_beside(&self, other: &Known<'_>) -> bool {
        self.path.parent() == other.path.parent()
    }
}

/// Whether the name of a file is that of a family with some number.
fn has_number((before, after): &(String, String), path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let rest = name.strip_prefix(&**before);
    let number = rest.and_then(|rest| rest.strip_suffix(&**after));
    number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Whether two paths lead to one file.
pub(super) fn is_same(one: &Path, another: &Path) -> bool {
    let uses = [one, another].map(|path| FileUse::of(path, ""));
    match (Known::of(&uses[0]), Known::of(&uses[1])) {
        (Some(a), Some(b)) => a.meets(&b),
        _ => one == another,
    }
}

/// What files that are written would replace: others that are written, and those that are read. Each a sentence.
pub(super) fn collisions(written: &[FileUse], read: &[FileUse]) -> Vec<String> {
    let written: Vec<Known<'_>> = written.iter().filter_map(Known::of).collect();
    let read: Vec<Known<'_>> = read.iter().filter_map(Known::of).collect();
    let mut problems = Vec::new();
    for (n, one) in written.iter().enumerate() {
        for other in read.iter().chain(&written[..n]).filter(|o| one.meets(o)) {
            problems.push(format!(
                "{}: {} would replace {} ({} is the same file)",
                one.used.file, one.used.purpose, other.used.purpose, other.used.file
            ));
        }
    }
    problems
}

/// Whether a path leads to a device, a pipe or a stream of this process: what cannot be replaced by a file and has nothing
/// that could be left incomplete.
pub(super) fn is_special(path: &Path) -> bool {
    let is_stream = ["/dev/stdout", "/dev/stderr"]
        .map(Path::new)
        .contains(&path)
        || ["/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|streams| path.starts_with(streams));
    is_stream || fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}
