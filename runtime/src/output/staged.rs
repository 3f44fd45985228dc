//! Files that appear under their names only when all of them are complete.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::OutputError;
use super::identity::{followed, is_special};
use crate::file_name::escaped;

/// Files that are written under temporary names in their directories. Those that are not committed are removed.
#[derive(Default)]
pub(super) struct Staged {
    files: Vec<(PathBuf, PathBuf)>,
}

pub(super) fn error(path: &Path, cause: impl std::fmt::Display) -> OutputError {
    OutputError::new(format!("{}: {cause}", escaped(path.as_os_str())))
}

impl Staged {
    /// Writes what will be the file at `path`.
    pub(super) fn write(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> Result<(), OutputError>,
    ) -> Result<(), OutputError> {
        let mut out = BufWriter::new(self.open(path)?);
        write(&mut out).map_err(|e| error(path, e))?;
        out.flush().map_err(|e| error(path, e))
    }

    /// Opens what will be the file at `path`.
    pub(super) fn open(&mut self, path: &Path) -> Result<File, OutputError> {
        if is_special(path) {
            // Earlier output through the same stream stays.
            let opened = File::options().append(true).open(path);
            return opened.map_err(|e| error(path, e));
        }
        // A link stays a link: its target is replaced.
        let target = followed(path).map_err(|e| error(path, e))?;
        let (file, temporary) = create_beside(&target).map_err(|e| error(path, e))?;
        self.files.push((temporary, target));
        Ok(file)
    }

    /// Creates what will be the file at `path`, for another program to write. Gives its name until then.
    pub(super) fn reserve(&mut self, path: &Path) -> Result<PathBuf, OutputError> {
        if is_special(path) {
            return Err(error(path, "this is not a file in which one can go back"));
        }
        self.open(path)?;
        let reserved = self.last().map(Path::to_path_buf);
        reserved.ok_or_else(|| error(path, "this is not a file"))
    }

    /// The name until then of the file that was created last.
    pub(super) fn last(&self) -> Option<&Path> {
        self.files.last().map(|(temporary, _)| &**temporary)
    }

    /// Gives all files their names. If one cannot have its name, none has.
    pub(super) fn commit(mut self) -> Result<(), OutputError> {
        let files = std::mem::take(&mut self.files);
        let waiting: Vec<PathBuf> = files
            .iter()
            .map(|(temporary, _)| temporary.clone())
            .collect();
        let result = rename_all(files);
        forget(&waiting);
        result
    }
}

/// Gives all files their names; if one cannot have its name, none has.
fn rename_all(files: Vec<(PathBuf, PathBuf)>) -> Result<(), OutputError> {
    for (i, (temporary, target)) in files.iter().enumerate() {
        let Err(cause) = fs::rename(temporary, target) else {
            continue;
        };
        for (_, renamed) in &files[..i] {
            remove(renamed);
        }
        for (waiting, _) in &files[i..] {
            remove(waiting);
        }
        return Err(error(target, cause));
    }
    Ok(())
}

impl Drop for Staged {
    fn drop(&mut self) {
        for (temporary, _) in &self.files {
            remove(temporary);
            forget(std::slice::from_ref(temporary));
        }
    }
}

/// A file of text that grows while a program runs and appears under its name when it is complete.
pub struct TextFile {
    out: BufWriter<File>,
    staged: Staged,
}

impl TextFile {
    /// Begins what will be the file at `path`.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn create(path: &Path) -> Result<TextFile, OutputError> {
        let mut staged = Staged::default();
        let out = BufWriter::new(staged.open(path)?);
        Ok(TextFile { out, staged })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Not all of it could be written; then there is no such file, or the one that was there before.
    pub fn finish(mut self) -> Result<(), OutputError> {
        self.out
            .flush()
            .map_err(|e| OutputError::new(e.to_string()))?;
        self.staged.commit()
    }
}

impl Write for TextFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Temporary files of this process that exist now.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn forget(temporaries: &[PathBuf]) {
    unfinished().retain(|file| !temporaries.contains(file));
}

/// Removes the temporary files of this process, which is about to end. From then on no other can be created.
pub fn remove_unfinished() {
    // The thread that ends the process may hold the list itself, so the wait is short.
    const ATTEMPTS: usize = 100;
    for _ in 0..ATTEMPTS {
        match UNFINISHED.try_lock() {
            Ok(mut files) => {
                files.drain(..).for_each(|file| remove(&file));
                // Another thread that wants to create a file waits until the process has ended.
                return std::mem::forget(files);
            }
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    }
}

/// Tries to create a file beside `path`, and removes it.
pub(super) fn try_create(path: &Path) -> io::Result<()> {
    let (_, temporary) = create_beside(path)?;
    remove(&temporary);
    forget(&[temporary]);
    Ok(())
}

/// Writes a file that appears, or replaces another, when it is complete.
///
/// # Errors
/// What failed; then nothing has changed.
pub fn replace_file(
    path: &Path,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut staged = Staged::default();
    let target = followed(path)?;
    let (file, temporary) = create_beside(&target)?;
    staged.files.push((temporary.clone(), target));
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.into_inner()?.sync_all()?;
    if let Some(permissions) = permissions {
        fs::set_permissions(&temporary, permissions)?;
    }
    staged.commit().map_err(io::Error::other)
}

/// Removal is part of reporting another failure, which is the one to tell.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

/// The bytes that the name of a file may have on the systems we know.
const LONGEST_NAME: usize = 255;

/// A new file in the directory of `target`, with a name that is not in use.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    // The temporary name is cut to fit, the name itself cannot be.
    if name.len() > LONGEST_NAME {
        let message = format!(
            "a file name has at most {LONGEST_NAME} bytes, this one {}",
            name.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, message));
    }
    let name = name.to_string_lossy();
    let process = std::process::id();
    for _ in 0..1000 {
        // Another machine has a file of this name only if it sees this one.
        let random = RandomState::new().hash_one(process);
        let end = format!(".{process}-{random:016x}.part");
        let mut kept = name.len().min(LONGEST_NAME - 1 - end.len());
        while !name.is_char_boundary(kept) {
            kept -= 1;
        }
        let temporary = target.with_file_name(format!(".{}{end}", &name[..kept]));
        // The list is held meanwhile: a process that ends removes all files that there are.
        let mut list = unfinished();
        // Not for reading: see `Pieces::open`.
        let created = File::options()
            .write(true)
            .create_new(true)
            .open(&temporary);
        match created {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            created => {
                let file = created?;
                list.push(temporary.clone());
                return Ok((file, temporary));
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
