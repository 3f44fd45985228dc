//! Sequences on their way to a machine: those in the states of strands, and those of global variables.

use super::{
    heap::{Heap, too_much},
    layout::{COMMON, HEAD, MOST_UNITS, NEVER, UNIT, head, units},
};
use crate::codegen::gpu::{
    driver::DriverError,
    kernel::Cell,
    launch::{Accelerator, Machine, Room},
    memory::Memory,
};
use runtime::{sequence::Sequence, world::Batch};
use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, PoisonError},
};

/// Buffers, one after the other.
struct Parcel {
    /// The place of the first one.
    first: u64,
    bytes: Vec<u8>,
}

impl Parcel {
    fn units(&self) -> u64 {
        self.bytes.len() as u64 / UNIT
    }

    /// Adds a buffer; gives its place.
    fn add(&mut self, elements: &[u8], used: u32) -> Result<u32, DriverError> {
        let units = units(elements.len() as u64);
        let place = self.first + self.units();
        if units >= MOST_UNITS || place + units >= COMMON.into() {
            return Err(too_much());
        }
        let end = self.bytes.len() + (units * UNIT) as usize;
        self.bytes.extend_from_slice(&head(units as u32, used));
        self.bytes.extend_from_slice(elements);
        self.bytes.resize(end, 0);
        Ok(place as u32)
    }
}

impl Accelerator {
    /// Puts all sequences of the states of some blocks into the heap of a room, which is emptied if these are all; gives the states
    /// with their places, run by run. Nothing is given if states have no sequences.
    ///
    /// # Errors
    /// There is no memory for them.
    pub(in crate::codegen::gpu) fn send_sequences(
        &self,
        batch: &Batch<'_>,
        runs: &[Range<usize>],
        (room, slots, are_all): (&mut Room, usize, bool),
    ) -> Result<HashMap<usize, Vec<u8>>, DriverError> {
        let is_unchanged = runs.is_empty() || !self.kernel.keeps_lists();
        if self.kernel.lists.is_none() || is_unchanged && !are_all {
            return Ok(HashMap::new());
        }
        if are_all {
            let mut parcel = Parcel {
                first: 1,
                bytes: Vec::new(),
            };
            let states = self.pack_states(batch, runs, &mut parcel)?;
            // The smaller one is freed first.
            room.heap = None;
            let heap = room.heap.insert(self.new_heap(slots, parcel.units())?);
            heap.put(parcel.first, &parcel.bytes)?;
            return Ok(states);
        }
        let free_from = |room: &Room| room.heap.as_ref().map_or(Ok(1), Heap::free_from);
        let mut parcel = Parcel {
            first: free_from(room)?,
            bytes: Vec::new(),
        };
        let mut states = self.pack_states(batch, runs, &mut parcel)?;
        let holds = |room: &Room, parcel: &Parcel| {
            let heap = room.heap.as_ref();
            heap.is_some_and(|heap| heap.holds(parcel.first, parcel.units()))
        };
        let mut has_room = true;
        while !holds(room, &parcel) {
            if !has_room {
                return Err(too_much());
            }
            // What the old states of these blocks refer to is copied as well, but not for long.
            let mut spent = std::time::Duration::ZERO;
            has_room = self.enlarge(room, slots, false, &mut spent)?;
            parcel = Parcel {
                first: free_from(room)?,
                bytes: Vec::new(),
            };
            states = self.pack_states(batch, runs, &mut parcel)?;
        }
        if let Some(heap) = &room.heap {
            heap.put(parcel.first, &parcel.bytes)?;
        }
        Ok(states)
    }

    /// The states of some blocks, run by run, with places in a parcel.
    fn pack_states(
        &self,
        batch: &Batch<'_>,
        runs: &[Range<usize>],
        parcel: &mut Parcel,
    ) -> Result<HashMap<usize, Vec<u8>>, DriverError> {
        let mut packed = HashMap::new();
        if !self.kernel.keeps_lists() {
            return Ok(packed);
        }
        for run in runs {
            let bytes = run.start * batch.stride..run.end * batch.stride;
            let mut states = batch.state[bytes].to_vec();
            for (block, state) in run.clone().zip(states.chunks_exact_mut(batch.stride)) {
                let alive = batch.sequences.alive(block);
                for plane in batch.sequences.planes() {
                    for lane in 0..batch.width {
                        let at = plane.plane.offset + lane * plane.plane.bytes;
                        let handle = &mut state[at..at + size_of::<Sequence>()];
                        let known = u64::from_le_bytes((&*handle).try_into().expect("a handle"));
                        let length = Sequence::from_bits(known).len() as u32;
                        if alive >> lane & 1 == 0 || length == 0 {
                            handle.fill(0);
                            continue;
                        }
                        // SAFETY: it is the state of a strand, and its newest version is here.
                        let elements = unsafe { batch.sequences.elements(known, plane.element) };
                        let place = parcel.add(elements, length)?;
                        let sent = u64::from(place) << 32 | u64::from(length);
                        handle.copy_from_slice(&sent.to_le_bytes());
                    }
                }
            }
            packed.insert(run.start, states);
        }
        Ok(packed)
    }

    /// Copies the sequences of global variables that strands read, if they have changed, and puts their places among the cells.
    pub(in crate::codegen::gpu) fn send_common(
        &self,
        batch: &Batch<'_>,
        value: &dyn Fn(Cell) -> u64,
        cells: &mut [u64],
    ) -> Result<(), DriverError> {
        let lists = self.kernel.lists.as_ref();
        let Some(lists) = lists.filter(|lists| !lists.common.is_empty()) else {
            return Ok(());
        };
        let mut parcel = Parcel {
            first: 0,
            bytes: head(0, NEVER).to_vec(),
        };
        parcel.bytes.resize(UNIT as usize, 0);
        let mut of_slots = HashMap::new();
        // Values that are computed from variables are known by their buffers.
        let mut of_buffers: HashMap<u32, (u32, Option<u32>)> = HashMap::new();
        let is_variable = |slot: &u32| lists.globals.iter().any(|list| list.slot == *slot);
        let are_all_wanted = !lists.common.iter().all(is_variable);
        let is_wanted = |slot: u32| are_all_wanted || lists.common.contains(&slot);
        for list in lists.globals.iter().filter(|list| is_wanted(list.slot)) {
            let [buffer, length] = [0, 1].map(|n| value(Cell::Global(list.slot + n)) as u32);
            if length == 0 {
                of_slots.insert(list.slot, 0);
                continue;
            }
            let handle = u64::from(buffer) << 32 | u64::from(length);
            // SAFETY: the variable is alive.
            let elements = unsafe { batch.sequences.elements(handle, list.element) };
            let place = parcel.add(elements, NEVER)? | COMMON;
            of_slots.insert(list.slot, place);
            let known = of_buffers.entry(buffer).or_insert((length, Some(place)));
            if known.0 != length {
                known.1 = None;
            }
        }
        let mut common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
        common.hold(&self.machine, parcel.bytes)?;
        let cells = self.kernel.cells.iter().zip(cells);
        for (cell, to) in cells {
            let Cell::Global(slot) = cell else { continue };
            if lists.common.contains(slot) {
                *to = match (of_slots.get(slot), of_buffers.get(&(*to as u32))) {
                    (Some(&place), _) | (None, Some(&(_, Some(place)))) => place.into(),
                    (None, None) if *to as u32 == 0 => 0,
                    (None, _) => {
                        let why = "two variables share one";
                        return Err(DriverError::new("copying sequences to the GPU", why));
                    }
                };
            }
        }
        Ok(())
    }
}

impl Accelerator {
    /// Where the common sequences are.
    pub(in crate::codegen::gpu) fn common_address(&self) -> u64 {
        let common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
        common.memory.as_ref().map_or(0, |memory| memory.address)
    }
}

/// The sequences of global variables on a machine.
#[derive(Default)]
pub(in crate::codegen::gpu) struct Common {
    memory: Option<Memory>,
    /// Their bytes.
    bytes: Vec<u8>,
}

impl Common {
    fn hold(&mut self, machine: &Arc<dyn Machine>, bytes: Vec<u8>) -> Result<(), DriverError> {
        let memory = match self.memory.take() {
            Some(memory) if self.bytes == bytes => {
                self.memory = Some(memory);
                return Ok(());
            }
            Some(memory) if self.bytes.len() >= bytes.len() => memory,
            // Copies read a little beyond the end.
            _ => Memory::new(machine, bytes.len() + HEAD as usize * 4)?,
        };
        machine.write(memory.address, &bytes)?;
        self.memory = Some(memory);
        self.bytes = bytes;
        Ok(())
    }
}
