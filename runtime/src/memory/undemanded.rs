//! Memory on demand, where the system does not let a process make its own pages: everything is read instead.

use super::Parts;
use std::io;
use std::sync::Arc;

/// Memory whose contents are made on demand; there is none.
#[derive(Debug)]
pub(crate) enum Demand {}

impl Demand {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn new(_: Arc<dyn Parts>, _: usize, _: usize) -> io::Result<Demand> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The first byte.
    pub(crate) fn first(&self) -> *const u8 {
        match *self {}
    }

    /// Why a part could not be made.
    pub(crate) fn failure(&self) -> Option<&str> {
        match *self {}
    }
}

/// Takes note of nothing, as nothing is kept.
pub(crate) fn set_cache(_: u64) {}
