//! Contents of memory that are made on demand.

use std::ops::Range;

/// The contents of memory, in parts that are made one by one.
pub(crate) trait Parts: Send + Sync {
    /// The number of parts.
    fn count(&self) -> usize;

    /// The part that has a byte, and its bytes around that one that follow one another.
    fn around(&self, byte: usize) -> (usize, Range<usize>);

    /// All bytes of a part.
    fn ranges(&self, part: usize) -> Vec<Range<usize>>;

    /// Puts the bytes of a part in place.
    ///
    /// # Errors
    /// They cannot be made; they are zeros then.
    ///
    /// # Safety
    /// There are all bytes from `first` on, and no other thread reads or writes those of the part meanwhile.
    unsafe fn make(&self, part: usize, first: *mut u8) -> Result<(), String>;
}
