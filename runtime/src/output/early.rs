//! Files that are written while their values are computed, each part by the worker that has it.

use super::OutputError;
use super::contents::{Contents, Number, Written};
use super::format::Destination;
use super::identity::is_special;
use super::staged::{Staged, error};
use super::together::{Address, Pieces, Report};

/// A file whose header is written; values follow as they come.
pub struct Early {
    pieces: Pieces,
    staged: Staged,
    /// Bytes before the values, and of the values.
    start: u64,
    values: u64,
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
        let values = (values * of_value) as u64;
        let mut staged = Staged::default();
        let file = staged.open(path).ok()?;
        Some(Early {
            pieces: Pieces::begin(path, file, &head, values),
            staged,
            start: head.len() as u64,
            values,
            written: Written::new(&destination.file, contents.description()),
        })
    }

    /// Writes some of the values, before which there are this many bytes of values.
    pub fn put(&self, before: usize, values: &[u8]) {
        self.pieces.put(before, values);
    }

    /// Bytes of all its values.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// The way to it for other processes that have some of the values. `None` if a name in it is not text.
    pub fn address(&self) -> Option<Address> {
        Some(Address {
            path: self.written.file.to_str()?.to_string(),
            hidden: self.staged.last()?.to_str()?.to_string(),
            start: self.start,
            end: self.start + self.values,
        })
    }

    /// Adds the part that another process has written.
    pub fn add(&self, report: Report) {
        self.pieces.add(report);
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Not all of it could be written; then there is no such file, or the one that was there before.
    pub fn finish(self) -> Result<Vec<Written>, OutputError> {
        let (come, failure) = self.pieces.ended();
        if let Some(failure) = failure {
            return Err(failure);
        }
        if come != self.values {
            let message = format!("{come} of {} bytes have come", self.values);
            return Err(error(&self.written.file, message));
        }
        self.staged.commit()?;
        Ok(vec![self.written])
    }
}
