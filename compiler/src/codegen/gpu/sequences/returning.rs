//! Sequences on their way back: states and the elements of their sequences, some blocks at a time.

use crate::codegen::gpu::{
    driver::DriverError,
    header::Header,
    kernel::{Kernel, WORD},
    launch::{Accelerator, Machine, Room},
    memory::Memory,
    results::Returning,
};
use runtime::world::{BatchSequences, SequenceKeeper, fate};
use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// Strands that come back at a time.
const PART: usize = 1024;
/// Threads that put them in their places, at most.
const TAKERS: usize = 16;
/// Threads that copy the elements of a sequence.
const COPIERS: u32 = 32;
/// Bytes of the description of a copy: the place of the sequence, its words, and the offset of their new place.
const JOB: usize = 16;

/// Some blocks here, to which states come back.
struct Part<'a> {
    /// The number of the first block.
    first: usize,
    state: &'a mut [u8],
    /// What became of the strands; those for whose sequences there is no memory here are left.
    fates: &'a mut [u32],
}

/// Memory of the machine that is used for one part after the other.
struct Staging {
    machine: Arc<dyn Machine>,
    memory: Option<(usize, Memory)>,
}

impl Staging {
    /// The address of this many bytes; earlier contents are gone.
    fn room(&mut self, bytes: usize) -> Result<u64, DriverError> {
        if self.memory.as_ref().is_none_or(|(size, _)| *size < bytes) {
            self.memory = None;
            let size = bytes.next_power_of_two();
            self.memory = Some((size, Memory::new(&self.machine, size)?));
        }
        let memory = self.memory.as_ref().expect("it was made");
        Ok(memory.1.address)
    }
}

/// A thread that takes parts.
struct Taker<'a> {
    accelerator: &'a Accelerator,
    sequences: BatchSequences<'a>,
    keeper: SequenceKeeper<'a>,
    room: &'a Room,
    jobs: Staging,
    elements: Staging,
    /// Elements that have come back.
    landed: Vec<u8>,
}

impl Accelerator {
    /// Takes over the states of some blocks and their sequences: of strands that have a fate other than being left, or of all living
    /// ones if they stay there.
    ///
    /// # Errors
    /// The machine is lost. Every strand is either taken over, with its fate, or as it was.
    pub(in crate::codegen::gpu) fn take_sequences(
        &self,
        strands: Returning<'_>,
        words: Option<&[u32]>,
        (sequences, room, first): (BatchSequences<'_>, &Room, usize),
    ) -> Result<(), DriverError> {
        let width = strands.width;
        let per_part = (PART / width).max(1);
        let count = strands.fates.len().div_ceil(per_part * width);
        let states = strands.state.chunks_mut(per_part * self.kernel.stride);
        let fates = strands.fates.chunks_mut(per_part * width);
        let parts = states.zip(fates).enumerate();
        let parts = Mutex::new(parts.map(|(n, (state, fates))| Part {
            first: n * per_part,
            state,
            fates,
        }));
        let take_some = |n: usize| {
            let staging = || Staging {
                machine: Arc::clone(&self.machine),
                memory: None,
            };
            let mut taker = Taker {
                accelerator: self,
                sequences,
                keeper: sequences.keeper(n),
                room,
                jobs: staging(),
                elements: staging(),
                landed: Vec::new(),
            };
            loop {
                let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(mut part) = next else {
                    return Ok(());
                };
                let own = part.first * width..part.first * width + part.fates.len();
                taker.take(&mut part, words.map(|words| &words[own]), first)?;
            }
        };
        let threads = count.min(TAKERS).min(sequences.keepers());
        std::thread::scope(|scope| {
            // Where there can be no more threads, this one takes all.
            let take_some = &take_some;
            let spawn = |n: usize| {
                let builder = std::thread::Builder::new();
                builder.spawn_scoped(scope, move || take_some(n)).ok()
            };
            let others: Vec<_> = (1..threads).filter_map(spawn).collect();
            let own = take_some(0);
            let join = |other: std::thread::ScopedJoinHandle<'_, _>| {
                let taken = other.join();
                taken.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            others.into_iter().map(join).fold(own, Result::and)
        })
    }
}

impl Taker<'_> {
    /// Takes over one part; `first` is the number of the first block of all parts on the machine.
    fn take(
        &mut self,
        part: &mut Part<'_>,
        words: Option<&[u32]>,
        first: usize,
    ) -> Result<(), DriverError> {
        let kernel = &self.accelerator.kernel;
        let (width, stride) = (kernel.lanes.width, kernel.stride);
        let mut after = vec![0; part.state.len()];
        let at = self.room.state.address + ((first + part.first) * stride) as u64;
        self.accelerator.machine.read(at, &mut after)?;
        let comes = |slot: usize| match words {
            Some(words) => !matches!(
                fate::kind(words[slot]),
                fate::LEFT | fate::IDLE | fate::DEAD
            ),
            None => self.sequences.alive(part.first + slot / width) >> (slot % width) & 1 == 1,
        };
        let coming: Vec<bool> = (0..part.fates.len()).map(comes).collect();
        let ranges = self.land(&after, &coming)?;
        let planes = self.sequences.planes().len();
        let mut ranges = ranges.chunks_exact(planes.max(1));
        for slot in 0..part.fates.len() {
            let (block, lane) = (slot / width, slot % width);
            let state = &mut part.state[block * stride..(block + 1) * stride];
            let word = words.map(|words| words[slot]);
            if coming[slot] {
                let own = if planes > 0 { ranges.next() } else { None };
                let own = own.unwrap_or_default().iter();
                let own = own.map(|range: &Range<usize>| &self.landed[range.clone()]);
                if self
                    .keeper
                    .put(state, (part.first + block, lane), own)
                    .is_err()
                {
                    let Some(word) = word else {
                        let why = "there is too little memory here";
                        return Err(DriverError::new("copying sequences from the GPU", why));
                    };
                    part.fates[slot] = word >> fate::BITS << fate::BITS | fate::LEFT;
                    continue;
                }
                let after = &after[block * stride..(block + 1) * stride];
                for plane in kernel.planes.iter().filter(|plane| !plane.is_handle) {
                    let at = plane.offset + lane * plane.stride;
                    let at = at..at + plane.stride;
                    state[at.clone()].copy_from_slice(&after[at]);
                }
            } else if word.map(fate::kind) == Some(fate::DEAD) {
                self.keeper.clear(state, lane);
            }
            if let Some(word) = word {
                part.fates[slot] = word;
            }
        }
        Ok(())
    }

    /// Copies the elements of all sequences of the strands that come, side by side; gives the range of each.
    fn land(&mut self, states: &[u8], coming: &[bool]) -> Result<Vec<Range<usize>>, DriverError> {
        let kernel = Arc::clone(&self.accelerator.kernel);
        let (width, stride) = (kernel.lanes.width, kernel.stride);
        let lists = kernel.lists.as_ref();
        let planes = lists.map_or(&[][..], |lists| &lists.planes);
        let (mut ranges, mut jobs) = (Vec::new(), Vec::new());
        let mut end = 0;
        for slot in (0..coming.len()).filter(|&slot| coming[slot]) {
            for plane in planes {
                let at = slot / width * stride + plane.offset + slot % width * 8;
                let half = |at: usize| {
                    u32::from_le_bytes(states[at..at + WORD].try_into().expect("four bytes"))
                };
                let [length, place] = [at, at + WORD].map(half);
                let bytes = length as usize * plane.element;
                ranges.push(end..end + bytes);
                if bytes > 0 {
                    jobs.extend_from_slice(&place.to_le_bytes());
                    jobs.extend_from_slice(&((bytes / WORD) as u32).to_le_bytes());
                    jobs.extend_from_slice(&(end as u64).to_le_bytes());
                }
                end += bytes;
            }
        }
        self.landed.resize(end, 0);
        let entry = self.accelerator.entry(Kernel::GATHER);
        if let Some(entry) = entry.filter(|_| end > 0) {
            let mut header = Header {
                state: self.jobs.room(jobs.len())?,
                places: self.elements.room(end)?,
                common: self.accelerator.common_address(),
                count: (jobs.len() / JOB) as u32 * COPIERS,
                ..Header::default()
            };
            if let Some(heap) = &self.room.heap {
                heap.describe(&mut header);
            }
            let machine = &self.accelerator.machine;
            machine.write(header.state, &jobs)?;
            let parameters = kernel.parameters(&header, &vec![0; kernel.cells.len()]);
            machine.launch(&[(entry, header.count)], &parameters)?;
            machine.read(header.places, &mut self.landed)?;
        }
        Ok(ranges)
    }
}
