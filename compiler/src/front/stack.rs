//! Work that goes as deep as a program is nested.

/// Bytes of stack for such work: programs may be nested deeply, and functions are put in the place of their calls. Only what is
/// used becomes memory.
const STACK: usize = 256 << 20;

/// Does work on a stack of its own that is large enough for any program.
pub fn deep<T>(work: impl FnOnce() -> T) -> T {
    stacker::grow(STACK, work)
}
