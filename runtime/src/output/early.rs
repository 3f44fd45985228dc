//! Files that are written while their values are computed, each part by the worker that has it.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::OutputError;
use super::contents::{Contents, Number, Written};
use super::format::Destination;
use super::identity::is_special;
use super::staged::{Staged, error};

/// A file whose header is written; values follow as they come.
pub struct Early {
    path: PathBuf,
    file: File,
    staged: Staged,
    /// Bytes before the values.
    start: u64,
    /// Bytes of values that have not come.
    left: AtomicU64,
    /// The first that went wrong.
    failure: Mutex<Option<OutputError>>,
    written: Written,
}

impl Early {
    /// Begins the file of one output whose values are not there: of those in `contents` only the type counts. `None` if the
    /// file is none that can be written in any order, or if it cannot be begun; then it is to be written when the values are
    /// there, and any failure is found again.
    pub fn begin(
        destination: &Destination,
        number: Option<Number>,
        contents: Contents<'_>,
    ) -> Option<Early> {
        let [column] = contents.columns else {
            return None;
        };
        // The bytes of truth values are not those in the file.
        column.values.bytes()?;
        let of_value = column.values.sample_type().size()?;
        let destination = match number {
            Some(Number { value, digits }) => &destination.numbered(value, digits),
            None => destination,
        };
        let path = &*destination.file;
        let is_file = !destination.is_standard_output() && !is_special(path);
        let head = destination
            .format
            .head()
            .filter(|_| cfg!(unix) && is_file)?;
        let head = head(contents)?;
        let values = contents.domain.strand_count() * column.output.strand_size();
        let mut staged = Staged::default();
        let early = Early {
            file: staged.open(path).ok()?,
            path: path.to_path_buf(),
            staged,
            start: head.len() as u64,
            left: AtomicU64::new((values * of_value) as u64),
            failure: Mutex::default(),
            written: Written::new(&destination.file, contents.description()),
        };
        early.write_at(0, &head);
        Some(early)
    }

    /// Writes some of the values, before which there are this many bytes of values.
    pub fn put(&self, before: usize, values: &[u8]) {
        self.write_at(self.start + before as u64, values);
        self.left.fetch_sub(values.len() as u64, Relaxed);
    }

    #[cfg(unix)]
    fn write_at(&self, at: u64, bytes: &[u8]) {
        use std::os::unix::fs::FileExt;
        if let Err(cause) = self.file.write_all_at(bytes, at) {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert_with(|| error(&self.path, cause));
        }
    }

    #[cfg(not(unix))]
    fn write_at(&self, _: u64, _: &[u8]) {
        unreachable!("such files are begun on other systems")
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Not all of it could be written; then there is no such file, or the one that was there before.
    pub fn finish(self) -> Result<Vec<Written>, OutputError> {
        let failure = self.failure.into_inner();
        if let Some(failure) = failure.unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        match self.left.into_inner() {
            0 => {}
            left => return Err(error(&self.path, format!("{left} bytes did not come"))),
        }
        self.staged.commit()?;
        Ok(vec![self.written])
    }
}
