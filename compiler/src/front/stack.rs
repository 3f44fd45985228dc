//! Work that goes as deep as a program is nested.

use runtime::memory;

/// Bytes of stack for such work: programs may be nested deeply, and functions are put in the place of their calls. Only what is
/// used becomes memory.
const STACK: u64 = 256 << 20;
/// What programs need that are not written to need more.
const LEAST: u64 = 16 << 20;

/// Does work on a stack of its own that is large enough for any program, or as large as there is memory for. On such a stack
/// already, it just does it.
pub fn deep<T>(work: impl FnOnce() -> T) -> T {
    if stacker::remaining_stack().is_some_and(|left| left as u64 > STACK / 2) {
        return work();
    }
    let share = memory::available().map_or(STACK, |bytes| bytes / 3);
    stacker::grow(share.clamp(LEAST, STACK) as usize, work)
}
