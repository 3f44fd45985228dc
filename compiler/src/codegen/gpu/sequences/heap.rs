//! The memory of sequences on a machine: how large it is, and how it becomes larger.

use super::layout::{COMMON, NEVER, UNIT, head};
use crate::codegen::gpu::{
    driver::DriverError,
    header::Header,
    kernel::Kernel,
    launch::{Accelerator, Flags, Machine, Room},
    memory::{Memory, words_as_bytes, words_as_bytes_mut},
};
use runtime::world::fate;
use std::{sync::Arc, time::Duration};

/// Units for each sequence of a strand that a heap begins with, if there is memory for them.
const FIRST_UNITS: usize = 256;
/// The same for each strand that makes others.
const OTHER_UNITS: usize = 64;
/// The part of the free memory that it may take in the beginning.
const SHARE: usize = 8;
/// Units that it has at least.
const LEAST_UNITS: u64 = 16;

/// Memory for the sequences of strands.
pub(in crate::codegen::gpu) struct Heap {
    buffers: Memory,
    /// How many units it has.
    units: u64,
    /// The number of the first unit that was never taken. Another counter is for the next heap.
    next: [Memory; 2],
    /// For each slot the first free unit of its chunk, and the end of this: two words.
    chunks: Memory,
    slots: usize,
    /// The super-step at which the strands of a launch pause.
    pub(in crate::codegen::gpu) until: u32,
}

impl Heap {
    /// An empty heap with a number of units, for the strands in some slots.
    fn new(machine: &Arc<dyn Machine>, units: u64, slots: usize) -> Result<Heap, DriverError> {
        let counter = || Memory::new(machine, size_of::<u64>());
        let heap = Heap {
            buffers: buffers(machine, units)?,
            units,
            next: [counter()?, counter()?],
            chunks: Memory::new(machine, slots * 2 * size_of::<u32>())?,
            slots,
            until: u32::MAX,
        };
        heap.set_next(0, 1)?;
        heap.forget_chunks()?;
        Ok(heap)
    }

    fn set_next(&self, counter: usize, next: u64) -> Result<(), DriverError> {
        let Memory { machine, address } = &self.next[counter];
        machine.write(*address, &next.to_le_bytes())
    }

    fn next(&self, counter: usize) -> Result<u64, DriverError> {
        let Memory { machine, address } = &self.next[counter];
        let mut bytes = [0; 8];
        machine.read(*address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn forget_chunks(&self) -> Result<(), DriverError> {
        let Memory { machine, address } = &self.chunks;
        machine.write(*address, &vec![0; self.slots * 2 * size_of::<u32>()])
    }

    /// Tells a launch where everything is.
    pub(in crate::codegen::gpu) fn describe(&self, header: &mut Header) {
        header.heap = self.buffers.address;
        header.next = self.next[0].address;
        header.units = self.units;
        header.chunks_of = self.chunks.address;
        header.until = self.until.into();
    }

    /// The first unit that is free; strands may have counted beyond the end.
    pub(super) fn free_from(&self) -> Result<u64, DriverError> {
        Ok(self.next(0)?.min(self.units))
    }

    /// Whether there are units enough after one.
    pub(super) fn holds(&self, first: u64, units: u64) -> bool {
        first + units <= self.units
    }

    /// Puts buffers behind the others, from a unit on.
    pub(super) fn put(&self, first: u64, bytes: &[u8]) -> Result<(), DriverError> {
        let Memory { machine, address } = &self.buffers;
        machine.write(address + first * UNIT, bytes)?;
        self.set_next(0, first + bytes.len() as u64 / UNIT)
    }
}

/// Memory for a number of units. Its first one is a buffer that is full, for empty sequences.
fn buffers(machine: &Arc<dyn Machine>, units: u64) -> Result<Memory, DriverError> {
    // Copies read a little beyond the end.
    let memory = Memory::new(machine, ((units + 1) * UNIT) as usize)?;
    machine.write(memory.address, &head(0, NEVER))?;
    Ok(memory)
}

impl Accelerator {
    /// A heap for new contents: a number of units at least, and some for sequences to grow.
    pub(super) fn new_heap(&self, slots: usize, least: u64) -> Result<Heap, DriverError> {
        let lists = self.kernel.lists.as_ref();
        let of_strand = lists.map_or(0, |lists| {
            lists.planes.len() * FIRST_UNITS + usize::from(lists.makes) * OTHER_UNITS
        });
        let free = self.machine.free_bytes() / UNIT as usize / SHARE;
        let units = (slots * of_strand).min(free) as u64;
        let units = units.max(least + least / 2 + LEAST_UNITS);
        match units < COMMON.into() {
            true => Heap::new(&self.machine, units, slots),
            false => Err(too_much()),
        }
    }

    /// Runs all strands, and again with a larger heap those that wait for one. If there is no memory for it, these are left to the
    /// CPU. Strands that keep in step take one super-step.
    pub(in crate::codegen::gpu) fn launch_all(
        &self,
        room: &mut Room,
        slots: usize,
        (steps, are_together): (u32, bool),
        cells: &[u64],
    ) -> Result<(Flags, Duration), DriverError> {
        let (mut flags, mut time) = self.launch(room, slots, steps, cells)?;
        let mut before = Vec::new();
        while flags.is_short {
            let mut words = vec![fate::IDLE; slots];
            let fates = room.fates.address;
            self.machine.read(fates, words_as_bytes_mut(&mut words))?;
            let has_advanced = before != words;
            before.clone_from(&words);
            if !self.enlarge(room, slots, has_advanced, &mut time)? {
                for word in words.iter_mut().filter(|word| is_waiting(**word)) {
                    *word = with_kind(*word, fate::LEFT);
                }
                self.machine.write(fates, words_as_bytes(&words))?;
                flags.happened = true;
                break;
            }
            let again = words.iter().map(|&word| match fate::kind(word) {
                fate::WAITING => with_kind(word, fate::RUNNING),
                fate::WAITING_FRESH => with_kind(word, fate::FRESH),
                _ if are_together => fate::IDLE,
                _ => word,
            });
            let again: Vec<u32> = again.collect();
            self.machine.write(fates, words_as_bytes(&again))?;
            let (next, more) = self.launch(room, slots, steps, cells)?;
            time += more;
            flags = next.after(flags);
            if are_together {
                let mut after = vec![fate::IDLE; slots];
                self.machine.read(fates, words_as_bytes_mut(&mut after))?;
                let pairs = words.iter_mut().zip(after);
                for (word, after) in pairs.filter(|(word, _)| is_waiting(**word)) {
                    *word = after;
                }
                self.machine.write(fates, words_as_bytes(&words))?;
            }
        }
        Ok((flags, time))
    }

    /// Replaces the heap by one with the sequences that states refer to, and with more room. Says whether there is memory for that,
    /// and it is of use: if no strand `has_advanced` since the last time, the new one has to be larger.
    pub(super) fn enlarge(
        &self,
        room: &mut Room,
        slots: usize,
        has_advanced: bool,
        spent: &mut Duration,
    ) -> Result<bool, DriverError> {
        let Some((heap, entry)) = room.heap.as_mut().zip(self.entry(Kernel::COMPACT)) else {
            return Ok(false);
        };
        let mut header = Header {
            state: room.state.address,
            fates: room.fates.address,
            count: slots as u32,
            ..Header::default()
        };
        heap.describe(&mut header);
        header.next = heap.next[1].address;
        let mut compact = |header: &Header| {
            let parameters = self
                .kernel
                .parameters(header, &vec![0; self.kernel.cells.len()]);
            *spent += self.machine.launch(&[(entry, header.count)], &parameters)?;
            Ok::<(), DriverError>(())
        };
        // The first time everything is only measured.
        heap.set_next(1, 1)?;
        compact(&header)?;
        let live = heap.next(1)?;
        let least = match has_advanced && live <= heap.units / 4 * 3 {
            true => heap.units,
            false => heap.units.max(live) / 4 * 5 + LEAST_UNITS,
        };
        let wanted = match has_advanced && live <= heap.units / 4 {
            true => heap.units,
            false => (2 * heap.units).max(4 * live),
        };
        let free = self.machine.free_bytes() as u64 / UNIT;
        let most = (free - free / 8).min(u64::from(COMMON) - 1);
        let mut units = wanted.min(most).max(least);
        let larger = loop {
            if units >= COMMON.into() {
                return Ok(false);
            }
            match buffers(&self.machine, units) {
                Ok(memory) => break memory,
                Err(_) if units > least => units = (units / 2).max(least),
                Err(_) => return Ok(false),
            }
        };
        heap.set_next(1, 1)?;
        header.steps = 1;
        header.places = larger.address;
        compact(&header)?;
        heap.buffers = larger;
        heap.units = units;
        heap.next.swap(0, 1);
        Ok(true)
    }
}

fn is_waiting(word: u32) -> bool {
    matches!(fate::kind(word), fate::WAITING | fate::WAITING_FRESH)
}

/// The same number of super-steps with another fate.
fn with_kind(word: u32, kind: u32) -> u32 {
    word >> fate::BITS << fate::BITS | kind
}

/// The error of states whose sequences are too many.
pub(super) fn too_much() -> DriverError {
    DriverError::new("copying sequences to the GPU", "it has too little memory")
}
