//! A file that several processes write before it has its name, each the values that it has, at their places.
//!
//! One process begins the file and gives it its length. The others find it by its hidden name, which contains a random number: a
//! process that has a file of this name and length sees the same file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::OutputError;
use super::staged::error;
use crate::cluster::wire::{Reader, put, put_bytes};

/// The way to a file that was begun, for other processes.
pub struct Address {
    /// The file as the user spells it.
    pub(super) path: String,
    pub(super) hidden: String,
    /// Bytes before the values, and of the whole file.
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Address {
    /// Appends it to a letter.
    pub fn put(&self, letter: &mut Vec<u8>) {
        put_bytes(letter, self.path.as_bytes());
        put_bytes(letter, self.hidden.as_bytes());
        put(letter, self.start);
        put(letter, self.end);
    }

    /// The next in a letter.
    pub fn read(reader: &mut Reader<'_>) -> Option<Address> {
        let mut text = || String::from_utf8(reader.bytes()?.to_vec()).ok();
        Some(Address {
            path: text()?,
            hidden: text()?,
            start: reader.number()?,
            end: reader.number()?,
        })
    }
}

/// The part that a process had in a file.
pub struct Report {
    /// Bytes of values that it wrote.
    pub(super) bytes: u64,
    /// The first write that went wrong.
    pub(super) failure: Option<String>,
}

impl Report {
    /// Appends it to a letter.
    pub fn put(&self, letter: &mut Vec<u8>) {
        put(letter, self.bytes);
        put(letter, self.failure.is_some().into());
        put_bytes(letter, self.failure.as_deref().unwrap_or("").as_bytes());
    }

    /// The next in a letter.
    pub fn read(reader: &mut Reader<'_>) -> Option<Report> {
        let (bytes, has_failed) = (reader.number()?, reader.number()? != 0);
        let failure = String::from_utf8_lossy(reader.bytes()?).into_owned();
        Some(Report {
            bytes,
            failure: has_failed.then_some(failure),
        })
    }
}

/// A file in which values are written as they come, in any order and by any thread.
pub struct Pieces {
    path: PathBuf,
    file: File,
    /// Bytes before the values.
    start: u64,
    /// Bytes of values that have come.
    come: AtomicU64,
    /// The first that went wrong.
    failure: Mutex<Option<OutputError>>,
}

impl Pieces {
    /// Begins a file with these bytes before the values, and this many bytes of values.
    pub(super) fn begin(path: &Path, file: File, head: &[u8], values: u64) -> Pieces {
        let start = head.len() as u64;
        let pieces = Pieces::of(path, file, start);
        // Clients of a network file system write zeros beside the values with which they make a file longer.
        let sized = pieces.file.set_len(start + values);
        pieces.note(sized);
        pieces.write_at(0, head);
        pieces
    }

    /// Opens a file that another process has begun. `None` if it is not seen from here.
    pub fn open(address: &Address) -> Option<Pieces> {
        // Where a file is also open for reading, such clients write whole pages, with old contents in place of others' values.
        let file = File::options().write(true).open(&address.hidden).ok()?;
        let is_same = file
            .metadata()
            .is_ok_and(|found| found.len() == address.end);
        is_same.then(|| Pieces::of(Path::new(&address.path), file, address.start))
    }

    fn of(path: &Path, file: File, start: u64) -> Pieces {
        Pieces {
            path: path.to_path_buf(),
            file,
            start,
            come: AtomicU64::new(0),
            failure: Mutex::default(),
        }
    }

    /// Writes some of the values, before which there are this many bytes of values.
    pub fn put(&self, before: usize, values: &[u8]) {
        self.write_at(self.start + before as u64, values);
        self.come.fetch_add(values.len() as u64, Relaxed);
    }

    #[cfg(unix)]
    fn write_at(&self, at: u64, bytes: &[u8]) {
        use std::os::unix::fs::FileExt;
        self.note(self.file.write_all_at(bytes, at));
    }

    #[cfg(not(unix))]
    fn write_at(&self, _: u64, _: &[u8]) {
        unreachable!("such files are begun on other systems")
    }

    /// Notes how something ended.
    fn note(&self, ended: std::io::Result<()>) {
        if let Err(cause) = ended {
            self.fail(error(&self.path, cause));
        }
    }

    fn fail(&self, failure: OutputError) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
    }

    /// Adds the part of another process.
    pub(super) fn add(&self, report: Report) {
        self.come.fetch_add(report.bytes, Relaxed);
        if let Some(failure) = report.failure {
            self.fail(OutputError::new(failure));
        }
    }

    /// Sends everything to the file system, so that other machines see it.
    pub fn close(self) -> Report {
        // Some file systems tell only now that the disk is full.
        self.note(self.file.sync_data());
        let (bytes, failure) = self.ended();
        Report {
            bytes,
            failure: failure.map(|failure| failure.to_string()),
        }
    }

    /// Bytes of values that have come, and the first write that went wrong.
    pub(super) fn ended(self) -> (u64, Option<OutputError>) {
        let failure = self.failure.into_inner();
        let failure = failure.unwrap_or_else(PoisonError::into_inner);
        (self.come.into_inner(), failure)
    }
}
