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
use std::sync::Arc;

/// Bytes of a unit of the buffer. A record is a unit with the number of its site and the slot of its strand, a word each, and a unit
/// for every value, which is as in a lane of a state.
pub(super) const UNIT: usize = 8;

/// Units of the first buffer.
const FIRST_UNITS: usize = 1 << 13;
/// The part of the free memory that a buffer may take.
const SHARE: usize = 8;
/// Bytes of text that a number takes at most.
const NUMBER: usize = 40;

/// The operations of methods that are events, each once: a site is the place of one, counted from 1. New strands `with_sequences` of
/// varying length are made by the CPU alone.
pub(super) fn sites(
    methods: &[Option<Function<Device>>; 3],
    with_sequences: bool,
) -> Arc<[low::Op]> {
    let mut sites: Vec<low::Op> = Vec::new();
    for function in methods.iter().flatten() {
        function.each_op(&mut |op, _, _| {
            let device::Op::Low(op) = op else { return };
            let is_site = match op {
                low::Op::Print(_) => true,
                low::Op::Dynamic(Dynamic::New(_)) => !with_sequences,
                _ => false,
            };
            if is_site && !sites.contains(op) {
                sites.push(op.clone());
            }
        });
    }
    sites.into()
}

/// The types of the values in a record of a site.
pub(super) fn values(site: &low::Op) -> Vec<Scalar> {
    match site {
        low::Op::Print(pieces) => pieces.iter().filter_map(Piece::scalars).collect(),
        low::Op::Dynamic(Dynamic::New(state)) => state.to_vec(),
        other => unreachable!("`{other}` is not an event"),
    }
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
    /// The number of an operation's site, if it is an event that can be told of.
    pub(super) fn site(&self, op: &low::Op) -> Option<usize> {
        let place = self.sites.iter().position(|site| site == op)?;
        Some(place + 1)
    }

    /// Bytes of the host that the events of so many units take at most.
    fn bytes_of_events(&self, units: usize, batch: &Batch<'_>, strings: &[Arc<str>]) -> usize {
        let longest = strings.iter().map(|text| text.len()).max().unwrap_or(0);
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Scalar(Scalar::Str) => longest,
            Piece::Scalar(_) => NUMBER,
        };
        let bytes = |site: &low::Op| {
            let records = units / (1 + values(site).len());
            match site {
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
        let longest = kernel.sites.iter().map(|site| 1 + values(site).len()).max();
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

    /// Takes the records of a launch for some strands: so many units, of which only those that have room were written. Those of strands
    /// that wait are forgotten: they will be told of again.
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
        let kernel = &self.kernel;
        room.events.is_open = false;
        let mut block = vec![0; kernel.stride];
        for record in kernel.records(&room.events.records) {
            let slot = slot(record);
            let fate = batch.fates.get(slot).copied().unwrap_or(fate::RUNNING);
            if fate::kind(fate) == fate::LEFT {
                continue;
            }
            match &kernel.sites[site(record) - 1] {
                low::Op::Print(pieces) => {
                    let mut values = record[1..].iter();
                    let next = |ty| kernel.value(ty, *values.next().expect("a value"));
                    let text = text_of(pieces, kernel.lanes.double, strings, next);
                    batch.print(slot, &text);
                }
                _ => {
                    for (plane, value) in kernel.planes.iter().zip(&record[1..]) {
                        let bytes = &value.to_le_bytes()[..plane.stride];
                        block[plane.offset..plane.offset + plane.stride].copy_from_slice(bytes);
                    }
                    batch.spawn(slot, &block);
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
            let length = 1 + values(&self.sites[site]).len();
            let (record, rest) = units.split_at_checked(length)?;
            units = rest;
            Some(record)
        })
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
