//! Events: the text that strands print, and the strands that they make, while all strands keep in step.
//!
//! ```text
//! kernel: site, slot, values ──► one buffer ──► here, after the launch: text by the pieces, a new strand by the state's planes
//! ```
//!
//! Strands take room for their records by an atomic sum, so the records of different strands are in any order, and those of one
//! strand in its own; the world puts them in the order of strands. A strand for whose record there is no room is left to the CPU,
//! and its records are forgotten. The next super-step has a larger buffer, if there is memory for its events.

use super::{
    driver::DriverError,
    header::Header,
    kernel::Kernel,
    launch::{Accelerator, Machine, Room},
    memory::{Memory, words_as_bytes_mut},
};
use crate::{
    codegen::host::text_of,
    device::{self, Device},
    ir::{Scalar, print_piece::Piece},
    low::{self, Dynamic},
    ssa::Function,
};
use runtime::{
    memory::Claim,
    world::{Batch, fate},
};
use std::{panic::resume_unwind, sync::Arc, thread::ScopedJoinHandle};

/// Bytes of a unit of the buffer. A record is a unit with the number of its site and the slot of its strand, a word each, and a unit
/// for every value, which is as in a lane of a state.
pub(super) const UNIT: usize = 8;

/// Units of the first buffer.
const FIRST_UNITS: usize = 1 << 13;
/// The part of the free memory that a buffer may take.
const SHARE: usize = 8;
/// Records that a thread has at least.
const PER_WORKER: usize = 1 << 10;
/// Bytes of text that a number takes at most.
const NUMBER: usize = 40;

/// An operation that is an event.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) op: low::Op,
    /// The types of the values in its records.
    pub(super) values: Vec<Scalar>,
}

impl Site {
    /// Units of its records.
    pub(super) fn units(&self) -> usize {
        1 + self.values.len()
    }
}

/// The operations of methods that are events, each once; their numbers count from 1. New strands `with_sequences` of varying length
/// are made by the CPU alone.
pub(super) fn sites(methods: &[Option<Function<Device>>; 3], with_sequences: bool) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    for function in methods.iter().flatten() {
        function.each_op(&mut |op, _, _| {
            let values = match op {
                device::Op::Low(low::Op::Print(pieces)) => {
                    pieces.iter().filter_map(Piece::scalars).collect()
                }
                device::Op::Low(low::Op::Dynamic(Dynamic::New(state))) if !with_sequences => {
                    state.to_vec()
                }
                _ => return,
            };
            if let device::Op::Low(op) = op
                && !sites.iter().any(|site| site.op == *op)
            {
                let op = op.clone();
                sites.push(Site { op, values });
            }
        });
    }
    sites
}

/// The buffer of a room.
#[derive(Default)]
pub(super) struct EventRoom {
    buffer: Option<Memory>,
    /// How many units it has, and the memory of the host that their events may take.
    units: usize,
    claim: Option<Claim>,
    /// Whether strands keep in step now. Events of others are left to the CPU.
    is_open: bool,
    /// Units that the last super-steps would have taken.
    wanted: usize,
    /// The units that came back from the launches of this super-step.
    records: Vec<u64>,
}

impl EventRoom {
    /// Tells a launch where the buffer is.
    pub(super) fn describe(&self, header: &mut Header) {
        if let Some(buffer) = self.buffer.as_ref().filter(|_| self.is_open) {
            header.events = buffer.address;
            header.event_units = self.units as u64;
        }
    }

    /// Makes the buffer larger, if there is memory for it here and there.
    fn grow(&mut self, machine: &Arc<dyn Machine>, units: usize, bytes: usize) {
        if units > machine.free_bytes() / UNIT / SHARE {
            return;
        }
        let claim = runtime::memory::claim(bytes as u64).ok();
        let larger = claim.zip(Memory::new(machine, units * UNIT).ok());
        if let Some((claim, buffer)) = larger {
            (self.buffer, self.claim, self.units) = (Some(buffer), Some(claim), units);
        }
    }
}

impl Kernel {
    /// The site of an operation and its number, if it is an event that can be told of.
    pub(super) fn site(&self, op: &low::Op) -> Option<(usize, &Site)> {
        let mut sites = (1..).zip(&self.sites);
        sites.find(|(_, site)| site.op == *op)
    }

    /// Bytes of the host that the events in this many units take at most.
    fn bytes_of_events(&self, units: usize, batch: &Batch<'_>, strings: &[Arc<str>]) -> usize {
        let longest = strings.iter().map(|text| text.len()).max().unwrap_or(0);
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Scalar(Scalar::Str) => longest,
            Piece::Scalar(_) => NUMBER,
        };
        let bytes = |site: &Site| {
            let records = units / site.units();
            match &site.op {
                low::Op::Print(pieces) => {
                    let text: usize = pieces.iter().map(text).sum();
                    batch.bytes_of_events(0, (records, records.saturating_mul(text)))
                }
                _ => batch.bytes_of_events(records, (0, 0)),
            }
        };
        self.sites.iter().map(bytes).max().unwrap_or(0)
    }
}

impl Accelerator {
    /// Makes room for the events of a super-step.
    pub(super) fn open_events(&self, room: &mut Room, batch: &Batch<'_>, strings: &[Arc<str>]) {
        let kernel = &self.kernel;
        let events = &mut room.events;
        events.records.clear();
        events.is_open = true;
        let longest = kernel.sites.iter().map(Site::units).max();
        let Some(longest) = longest else { return };
        let units = events.wanted.next_power_of_two().max(FIRST_UNITS);
        // Every strand may take room once more than there is, and the sum has 32 bits.
        let all = batch.blocks() * batch.width * longest + units;
        if all > u32::MAX as usize {
            *events = EventRoom::default();
        } else if events.units < units {
            let bytes = kernel.bytes_of_events(units, batch, strings);
            events.grow(&self.machine, units, bytes);
        }
    }

    /// Takes the records of a launch for some strands. They would take this many units; those without room were not written. Records of
    /// strands that wait are forgotten: the next launch writes them again.
    pub(super) fn take_records(
        &self,
        room: &mut Room,
        (strands, units): (usize, usize),
        have_waited: bool,
    ) -> Result<(), DriverError> {
        let events = &mut room.events;
        events.wanted = events.wanted.max(units);
        let Some(buffer) = events
            .buffer
            .as_ref()
            .filter(|_| events.is_open && units > 0)
        else {
            return Ok(());
        };
        let mut bytes = vec![0; units.min(events.units) * UNIT];
        self.machine.read(buffer.address, &mut bytes)?;
        let mut fates = vec![fate::IDLE; if have_waited { strands } else { 0 }];
        if have_waited {
            let words = words_as_bytes_mut(&mut fates);
            self.machine.read(room.fates.address, words)?;
        }
        let units = bytes.as_chunks::<UNIT>().0;
        let units: Vec<u64> = units.iter().map(|unit| u64::from_le_bytes(*unit)).collect();
        for record in self.kernel.records(&units) {
            let word = fates.get(slot(record)).copied().unwrap_or(fate::IDLE);
            if !matches!(fate::kind(word), fate::WAITING | fate::WAITING_FRESH) {
                events.records.extend_from_slice(record);
            }
        }
        Ok(())
    }

    /// Tells of the events of a super-step, but for those of strands that are left.
    pub(super) fn tell_events(&self, room: &mut Room, batch: &mut Batch<'_>, strings: &[Arc<str>]) {
        room.events.is_open = false;
        let is_told = |record: &&[u64]| {
            let fate = batch.fates.get(slot(record)).copied();
            fate::kind(fate.unwrap_or(fate::RUNNING)) != fate::LEFT
        };
        let records = self.kernel.records(&room.events.records).filter(is_told);
        let records: Vec<&[u64]> = records.collect();
        if records.is_empty() {
            return;
        }
        // Numbers take most of the time.
        let workers = batch.sequences.keepers();
        let per_worker = records.len().div_ceil(workers).max(PER_WORKER);
        let texts = |records| self.kernel.texts(records, strings);
        let parts: Vec<Vec<String>> = std::thread::scope(|scope| {
            let mut parts = records.chunks(per_worker);
            let own = parts.next().unwrap_or_default();
            // Where there can be no more threads, this one does it all.
            let begin = |part| {
                let work = move || texts(part);
                let thread = std::thread::Builder::new().spawn_scoped(scope, work);
                thread.map_err(|_| part)
            };
            let others: Vec<_> = parts.map(begin).collect();
            let own = texts(own);
            let end = |other: Result<ScopedJoinHandle<'_, _>, _>| match other {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(part) => texts(part),
            };
            std::iter::once(own)
                .chain(others.into_iter().map(end))
                .collect()
        });
        let mut texts = parts.iter().flatten();
        let mut block = vec![0; self.kernel.stride];
        for record in records {
            match self.kernel.sites[site(record) - 1].op {
                low::Op::Print(_) => batch
                    .events
                    .print(slot(record), texts.next().expect("a text")),
                _ => {
                    for (plane, value) in self.kernel.planes.iter().zip(&record[1..]) {
                        let bytes = &value.to_le_bytes()[..plane.stride];
                        block[plane.offset..plane.offset + plane.stride].copy_from_slice(bytes);
                    }
                    batch.spawn(slot(record), &block);
                }
            }
        }
    }
}

impl Kernel {
    /// The records in some units, up to the first for which there was no room.
    fn records<'u>(&self, mut units: &'u [u64]) -> impl Iterator<Item = &'u [u64]> {
        std::iter::from_fn(move || {
            let site = site(units).checked_sub(1)?;
            let (record, rest) = units.split_at_checked(self.sites[site].units())?;
            units = rest;
            Some(record)
        })
    }

    /// The texts of those records that print.
    fn texts(&self, records: &[&[u64]], strings: &[Arc<str>]) -> Vec<String> {
        let text = |record: &&[u64]| {
            let low::Op::Print(pieces) = &self.sites[site(record) - 1].op else {
                return None;
            };
            let mut values = record[1..].iter();
            let next = |ty| self.value(ty, *values.next().expect("a value"));
            Some(text_of(pieces, self.lanes.double, strings, next))
        };
        records.iter().filter_map(text).collect()
    }

    /// The bits of a value in a record, as [`text_of`] wants them.
    fn value(&self, ty: Scalar, unit: u64) -> u64 {
        match self.lanes.lane_bytes(ty) {
            4 if ty != Scalar::Real => i64::from(unit as i32) as u64,
            4 => unit & u64::from(u32::MAX),
            _ => unit,
        }
    }
}

/// The number of the site of the first record, or 0 if there is none.
fn site(units: &[u64]) -> usize {
    units
        .first()
        .map_or(0, |unit| (unit & u64::from(u32::MAX)) as usize)
}

fn slot(record: &[u64]) -> usize {
    (record[0] >> u32::BITS) as usize
}
