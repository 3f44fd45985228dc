//! Memory of a machine: allocations are freed on drop, and arrays can be written and read in parts.

use super::{driver::DriverError, launch::Machine};
use std::{borrow::Cow, ops::Range, sync::Arc};

/// Memory of a machine.
pub(super) struct Memory {
    pub(super) machine: Arc<dyn Machine>,
    pub(super) address: u64,
}

impl Memory {
    pub(super) fn new(machine: &Arc<dyn Machine>, bytes: usize) -> Result<Memory, DriverError> {
        Ok(Memory {
            address: machine.allocate(bytes.max(8))?,
            machine: machine.clone(),
        })
    }

    /// Writes some units of an array of these, this many bytes each.
    pub(super) fn put<'a>(
        &self,
        unit: usize,
        runs: &[Range<usize>],
        bytes: impl Fn(Range<usize>) -> Cow<'a, [u8]>,
    ) -> Result<(), DriverError> {
        for near in groups(unit, runs) {
            let span = near[0].start..near[near.len() - 1].end;
            let at = self.address + (span.start * unit) as u64;
            if let [run] = near {
                self.machine.write(at, &bytes(run.clone()))?;
                continue;
            }
            // One copy in each direction takes less time than many small ones.
            let mut all = vec![0; span.len() * unit];
            self.machine.read(at, &mut all)?;
            for run in near {
                let first = (run.start - span.start) * unit;
                all[first..first + run.len() * unit].copy_from_slice(&bytes(run.clone()));
            }
            self.machine.write(at, &all)?;
        }
        Ok(())
    }

    /// Reads the same units of an array into one like it.
    pub(super) fn get(
        &self,
        unit: usize,
        runs: &[Range<usize>],
        to: &mut [u8],
    ) -> Result<(), DriverError> {
        for near in groups(unit, runs) {
            let span = near[0].start..near[near.len() - 1].end;
            let at = self.address + (span.start * unit) as u64;
            if let [run] = near {
                self.machine
                    .read(at, &mut to[run.start * unit..run.end * unit])?;
                continue;
            }
            let mut all = vec![0; span.len() * unit];
            self.machine.read(at, &mut all)?;
            for run in near {
                let first = (run.start - span.start) * unit;
                to[run.start * unit..run.end * unit]
                    .copy_from_slice(&all[first..first + run.len() * unit]);
            }
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.machine.free(self.address);
    }
}

/// Bytes that come back at a time: few enough to stay in a cache.
pub(super) const PART: usize = 1 << 20;
/// Threads that put such parts in their places, at most.
const TAKERS: usize = 4;

/// Takes parts on several threads, but no more than there are parts; `take_some` takes them until there are no more.
pub(super) fn on_threads(
    parts: usize,
    take_some: impl Fn() -> Result<(), DriverError> + Sync,
) -> Result<(), DriverError> {
    std::thread::scope(|scope| {
        // Where there can be no more threads, this one takes all.
        let spawn = |_| {
            let thread = std::thread::Builder::new();
            thread.spawn_scoped(scope, &take_some).ok()
        };
        let others: Vec<_> = (1..parts.min(TAKERS)).filter_map(spawn).collect();
        let own = take_some();
        let join = |other: std::thread::ScopedJoinHandle<'_, _>| {
            let taken = other.join();
            taken.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        others.into_iter().map(join).fold(own, Result::and)
    })
}

/// Bytes between two runs that are copied rather than left out.
const NEAR: usize = 1 << 16;

/// Runs with little between them, together.
fn groups(unit: usize, runs: &[Range<usize>]) -> impl Iterator<Item = &[Range<usize>]> {
    runs.chunk_by(move |a, b| (b.start - a.end) * unit <= NEAR)
}

/// Words as they are in memory, which is how the machine reads them.
pub(super) fn words_as_bytes(words: &[u32]) -> &[u8] {
    // SAFETY: all bytes of the words are initialized, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The same, to be written.
pub(super) fn words_as_bytes_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: as above; any bytes make words.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
