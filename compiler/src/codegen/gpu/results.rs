//! States that come back from a machine: of strands that have all ended only their results, of others everything.

use super::{
    driver::DriverError,
    header::Header,
    kernel::{Kernel, WORD},
    launch::{Accelerator, Room},
    memory::{PART, on_threads},
};
use runtime::world::fate;
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The strands of some blocks, to which states come back.
pub(super) struct Returning<'a> {
    pub(super) state: &'a mut [u8],
    pub(super) fates: &'a mut [u32],
    /// Strands in a block.
    pub(super) width: usize,
}

impl Accelerator {
    /// Takes over states and the fates `words`.
    ///
    /// # Errors
    /// The machine is lost. It leaves every strand either finished or as it was.
    pub(super) fn take_back(
        &self,
        strands: Returning<'_>,
        words: &[u32],
        room: &Room,
        spent: &mut Duration,
    ) -> Result<(), DriverError> {
        let has_ended = |word: &u32| !matches!(fate::kind(*word), fate::RUNNING | fate::LEFT);
        let entry = self.entry(Kernel::COLLECT);
        match entry.filter(|_| words.iter().all(has_ended)) {
            Some(entry) => {
                *spent += self.collect(entry, room, words.len() / strands.width)?;
                let stride = self.kernel.result_bytes();
                let take =
                    |state: &mut [u8], after: &[u8], _: &[u32]| self.take_results(state, after);
                self.take_all(strands, words, (room.results.address, stride), take)
            }
            None => {
                let width = strands.width;
                let from = (room.state.address, self.kernel.stride);
                let take = |state: &mut [u8], after: &[u8], words: &[u32]| {
                    self.take_states(state, after, words, width);
                };
                self.take_all(strands, words, from, take)
            }
        }
    }

    /// Puts the results of the strands of some blocks side by side.
    fn collect(&self, entry: u64, room: &Room, blocks: usize) -> Result<Duration, DriverError> {
        let mut spent = Duration::ZERO;
        let mut before = 0;
        for part in &self.kernel.results {
            let words = part.len() / WORD;
            let header = Header {
                state: room.state.address + part.start as u64,
                places: room.results.address + before,
                count: (blocks * words) as u32,
                steps: self.kernel.stride as u32,
                bits: words as u32,
                chunks: self.kernel.result_bytes() as u32,
                ..Header::default()
            };
            let cells = vec![0; self.kernel.cells.len()];
            let parameters = self.kernel.parameters(&header, &cells);
            spent += self.machine.launch(&[(entry, header.count)], &parameters)?;
            before += part.len() as u64;
        }
        Ok(spent)
    }

    /// Takes over states and fates, part by part, both together. While one part is on its way, others are put in their places.
    /// `first` is the address of the first block on the machine, and `stride` its bytes.
    fn take_all(
        &self,
        strands: Returning<'_>,
        words: &[u32],
        (first, stride): (u64, usize),
        take: impl Fn(&mut [u8], &[u8], &[u32]) + Sync,
    ) -> Result<(), DriverError> {
        let width = strands.width;
        let per_part = (PART / stride).max(1);
        let bytes = per_part * stride;
        let states = strands.state.chunks_mut(per_part * self.kernel.stride);
        let fates = strands.fates.chunks_mut(per_part * width);
        let parts = states.zip(fates).zip(words.chunks(per_part * width));
        let parts = Mutex::new(parts.enumerate());
        let take_some = || {
            let mut after = vec![0; bytes];
            loop {
                let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((n, ((state, fates), words))) = next else {
                    return Ok(());
                };
                let after = &mut after[..state.len() / self.kernel.stride * stride];
                self.machine.read(first + (n * bytes) as u64, after)?;
                take(state, after, words);
                fates.copy_from_slice(words);
            }
        };
        let threads = words.len().div_ceil(per_part * width);
        on_threads(threads, take_some)
    }

    /// Takes over the results of strands.
    fn take_results(&self, state: &mut [u8], mut after: &[u8]) {
        for state in state.chunks_exact_mut(self.kernel.stride) {
            for part in &self.kernel.results {
                let own;
                (own, after) = after.split_at(part.len());
                state[part.clone()].copy_from_slice(own);
            }
        }
    }

    /// Takes over the states of all strands that are not left to the CPU.
    fn take_states(&self, state: &mut [u8], after: &[u8], fates: &[u32], width: usize) {
        let stride = self.kernel.stride;
        let blocks = state
            .chunks_exact_mut(stride)
            .zip(after.chunks_exact(stride));
        for ((state, after), fates) in blocks.zip(fates.chunks_exact(width)) {
            let is_left = |lane: usize| fate::kind(fates[lane]) == fate::LEFT;
            if !(0..width).any(is_left) {
                state.copy_from_slice(after);
                continue;
            }
            for plane in &self.kernel.planes {
                for lane in (0..width).filter(|&lane| !is_left(lane)) {
                    let first = plane.offset + lane * plane.stride;
                    let at = first..first + plane.stride;
                    state[at.clone()].copy_from_slice(&after[at]);
                }
            }
        }
    }
}
