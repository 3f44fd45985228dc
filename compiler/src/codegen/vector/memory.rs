//! Memory for machine code: written first, then executable and never written again.

use super::Compiled;
use memmap2::{Mmap, MmapMut};

/// Where code begins, so that loops in it can be aligned.
const ALIGNMENT: usize = 64;

/// Functions that are being collected.
#[derive(Debug, Default)]
pub(super) struct Library {
    bytes: Vec<u8>,
}

impl Library {
    /// Adds a function; gives the place of its entry.
    pub(super) fn add(&mut self, function: &Compiled) -> usize {
        let start = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(start, 0);
        self.bytes.extend(&function.code);
        start + function.entry
    }

    /// Makes the functions executable.
    ///
    /// # Panics
    /// If there is no memory.
    pub(super) fn finish(self) -> Executable {
        // A mapping cannot be empty.
        let length = self.bytes.len().max(1);
        let mut map = MmapMut::map_anon(length).expect("memory for machine code");
        map[..self.bytes.len()].copy_from_slice(&self.bytes);
        Executable(map.make_exec().expect("executable memory"))
    }
}

/// Functions that can be called.
#[derive(Debug)]
pub(super) struct Executable(Mmap);

impl Executable {
    /// The address of an entry.
    pub(super) fn address(&self, at: usize) -> *const u8 {
        &raw const self.0[at]
    }
}
