//! Files as memory, where no system call can put memory after a file: they are read instead.

use std::fs::File;
use std::io;

/// Bytes of a file; there are none of these.
#[derive(Debug)]
pub(crate) enum Mapping {}

impl Mapping {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn new(_: &File, _: &str, _: u64, _: usize, _: usize) -> io::Result<Mapping> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The first of the bytes.
    pub(crate) fn first(&self) -> *const u8 {
        match *self {}
    }

    /// Tells the system that pages are touched in no order.
    pub(crate) fn expect_disorder(&self) {
        match *self {}
    }
}
