//! Work that goes as deep as a program is nested.

use memmap2::MmapMut;
use runtime::memory::{self, Shortage};
use std::{
    panic::resume_unwind,
    sync::{Mutex, PoisonError},
};

/// Bytes of stack for such work: programs may be nested deeply, and functions are inlined. Only the pages that are used take
/// memory.
const STACK: u64 = 256 << 20;
/// Bytes that suffice for all programs but those that are nested to test the limit.
const LEAST: u64 = 16 << 20;

/// The number of threads with such stacks that there are addresses for, beside those for data: on each of them `rewrite` may start
/// another.
pub fn deep_threads() -> usize {
    memory::available().map_or(usize::MAX, |bytes| (bytes / (4 * STACK)) as usize)
}

/// Held while a stack is made.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Does work on a stack of its own that is large enough for any program, or as large as there is memory for. On such a stack
/// already, it just does it. Where there is no memory even for a small stack, it unwinds with the [`Shortage`], without the message
/// of a panic: the caller of the compilation catches it.
pub fn deep<T>(work: impl FnOnce() -> T) -> T {
    if stacker::remaining_stack().is_some_and(|left| left as u64 > STACK / 2) {
        return work();
    }
    // `stacker` would panic, so the memory is asked for before, and no other stack is made in between.
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let share = memory::available().map_or(STACK, |bytes| bytes / 3);
    let sizes = [share.clamp(LEAST, STACK), LEAST];
    let fits = |bytes: &u64| MmapMut::map_anon(*bytes as usize).is_ok();
    match sizes.into_iter().find(fits) {
        Some(bytes) => stacker::grow(bytes as usize, || {
            drop(alone);
            work()
        }),
        None => resume_unwind(Box::new(Shortage {
            wanted: LEAST,
            left: memory::available().unwrap_or(0).min(LEAST),
        })),
    }
}
