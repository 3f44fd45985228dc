//! The places of values while code is emitted: registers, slots, or fixed places in memory.
//!
//! When registers run out, the value whose next use is farthest leaves its own. At a branch the places of all values are
//! remembered, and where the ways meet again they are restored, so only the way that was taken pays.

use super::{Emitter, slots::Slot};
use crate::codegen::vector::{
    encode::{Address, Gpr, Operand},
    fault::{Fault, is_seeded},
    target::Target,
    tree::{Base, Class, Home, MemoryPlace, Val},
};

/// The most registers that a file has.
pub(super) const MOST: usize = 32;
/// How much farther the next use of a value seems that needs not be stored to leave its register.
const LEAVES_FREELY: u32 = 8;

/// The values in the registers of each file.
pub(super) type Files = [[Option<Val>; MOST]; 2];

/// Where values are.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) files: Files,
    pub(super) slots: Vec<(Val, Slot)>,
}

/// A place for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Register(u8),
    Slot(Slot),
}

/// A value that comes to a place, from where another one is now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) spot: Spot,
    pub(super) value: Val,
    pub(super) from: Val,
}

impl<T: Target> Emitter<'_, T> {
    pub(super) fn class(&self, v: Val) -> Class {
        self.tree.values.class(v)
    }

    pub(super) fn home(&self, v: Val) -> Home {
        self.tree.values.home(v)
    }

    pub(super) fn file(&self, v: Val) -> usize {
        T::file(self.class(v))
    }

    /// Whether a value is used after the current step.
    pub(super) fn is_used_later(&self, v: Val) -> bool {
        self.uses.last(v).is_some_and(|last| last > self.at)
    }

    /// Whether a value is used in the current step or after it.
    fn is_needed(&self, v: Val) -> bool {
        self.uses.last(v).is_some_and(|last| last >= self.at)
    }

    pub(super) fn slot_address(&self, slot: Slot) -> Address {
        slot.address(T::BYTES)
    }

    pub(super) fn place_address(&self, place: MemoryPlace) -> Address {
        let base = match place.base {
            Base::Frame => Gpr::RBX,
            Base::Globals => Gpr::R12,
            Base::Images => Gpr::R13,
            Base::Constants => Gpr::R14,
            Base::State => Gpr::R15,
            Base::Args => Gpr::RBP,
        };
        base.at(place.at)
    }

    /// Says that a value is in a register and nowhere else.
    pub(super) fn bind(&mut self, v: Val, r: u8) {
        debug_assert!(self.files[self.file(v)][usize::from(r)].is_none());
        self.drop_slot(v);
        self.files[self.file(v)][usize::from(r)] = Some(v);
        self.registers[v.index()] = Some(r);
    }

    /// Says that a value is in a slot.
    pub(super) fn bind_slot(&mut self, v: Val, slot: Slot) {
        self.slot_of[v.index()] = Some(slot);
        self.in_slots.push(v);
    }

    pub(super) fn drop_register(&mut self, v: Val) {
        if let Some(r) = self.registers[v.index()].take() {
            self.files[self.file(v)][usize::from(r)] = None;
            let file = self.file(v);
            self.pinned.retain(|&pin| pin != (file, r));
        }
    }

    pub(super) fn drop_slot(&mut self, v: Val) {
        if let Some(slot) = self.slot_of[v.index()].take() {
            self.memory.give_back(slot);
            self.forget_slot(v);
        }
    }

    /// Says that a value is in no slot any more. Those that came last mostly leave first.
    fn forget_slot(&mut self, v: Val) {
        if let Some(place) = self.in_slots.iter().rposition(|&other| other == v) {
            self.in_slots.remove(place);
        }
    }

    /// Another value takes the place of one, as which it is known from now on.
    pub(super) fn rename(&mut self, from: Val, to: Val) {
        if let Some(r) = self.registers[from.index()].take() {
            self.files[self.file(to)][usize::from(r)] = Some(to);
            self.registers[to.index()] = Some(r);
        }
        if let Some(slot) = self.slot_of[from.index()].take() {
            self.forget_slot(from);
            self.bind_slot(to, slot);
        }
    }

    pub(super) fn pin(&mut self, v: Val, r: u8) {
        let file = self.file(v);
        self.pinned.push((file, r));
    }

    /// Makes a register free.
    fn evict(&mut self, file: usize, r: u8) {
        let Some(v) = self.files[file][usize::from(r)] else {
            return;
        };
        let must_stay = self.home(v) == Home::None && self.slot_of[v.index()].is_none();
        if must_stay && self.is_needed(v) {
            self.spill(v, r);
        }
        self.drop_register(v);
    }

    /// Stores a value that has no place in memory yet.
    pub(super) fn spill(&mut self, v: Val, r: u8) {
        let slot = self.memory.take(1);
        let (class, to) = (self.class(v), self.slot_address(slot));
        if !is_seeded(Fault::SpillOmitted) {
            self.target.store(class, to, r);
        }
        self.bind_slot(v, slot);
        if is_seeded(Fault::SlotGivenBackEarly) {
            self.memory.give_back(slot);
        }
    }

    /// Puts a value into memory only.
    pub(super) fn leave_register(&mut self, v: Val) {
        if let Some(r) = self.registers[v.index()] {
            let file = self.file(v);
            self.evict(file, r);
        }
    }

    fn is_free(&self, file: usize, r: u8) -> bool {
        self.files[file][usize::from(r)].is_none() && !self.pinned.contains(&(file, r))
    }

    fn has_free_register(&self, file: usize) -> bool {
        T::registers(file).any(|r| self.is_free(file, r))
    }

    /// A register to write to, best one of these.
    pub(super) fn free_register(&mut self, file: usize, wanted: &[Option<u8>]) -> u8 {
        let wanted = wanted.iter().flatten().copied();
        if let Some(r) = wanted
            .chain(T::registers(file))
            .find(|&r| self.is_free(file, r))
        {
            return r;
        }
        let farthest = T::registers(file)
            .filter(|&r| !self.pinned.contains(&(file, r)))
            .max_by_key(|&r| self.files[file][usize::from(r)].map_or(0, |v| self.distance(v)))
            .expect("more registers than operands");
        self.evict(file, farthest);
        farthest
    }

    /// How far the next use of a value seems.
    fn distance(&self, v: Val) -> u32 {
        let next = self.uses.next(v, self.at).unwrap_or(u32::MAX);
        if next == self.at {
            return next;
        }
        if self.home(v) != Home::None || self.slot_of[v.index()].is_some() {
            next.saturating_add(LEAVES_FREELY)
        } else {
            next
        }
    }

    /// A value in a register, which stays its own during this step.
    pub(super) fn reg(&mut self, v: Val) -> u8 {
        if let Some(r) = self.registers[v.index()] {
            self.pin(v, r);
            return r;
        }
        let file = self.file(v);
        let r = self.free_register(file, &[]);
        self.fetch(v, r);
        self.files[file][usize::from(r)] = Some(v);
        self.registers[v.index()] = Some(r);
        self.pin(v, r);
        r
    }

    /// Loads a value that is in no register.
    pub(super) fn fetch(&mut self, v: Val, r: u8) {
        let at = |place| self.place_address(place);
        match self.home(v) {
            Home::Truth(truth) => self.target.truth(r, truth),
            Home::TruthAt(place) => {
                let from = at(place);
                self.target.truth_at(r, from);
            }
            Home::Broadcast(place) => {
                let from = at(place);
                self.target.broadcast(r, from);
            }
            Home::Plane(place) => {
                let from = at(place);
                self.target.load(Class::Vector, r, from);
            }
            Home::None => {
                let slot = self.slot_of[v.index()].unwrap_or_else(|| panic!("{v:?} is nowhere"));
                let (class, from) = (self.class(v), self.slot_address(slot));
                self.target.load(class, r, from);
            }
        }
    }

    /// A vector as the last operand of an instruction: in its register, or in memory.
    pub(super) fn operand(&mut self, v: Val) -> Operand {
        debug_assert_eq!(self.class(v), Class::Vector);
        if let Some(r) = self.registers[v.index()] {
            self.pin(v, r);
            return Operand::Register(r);
        }
        // A lane that has to be loaded for all by itself is best kept, if there is room.
        let is_lane = matches!(self.home(v), Home::Broadcast(_));
        let file = self.file(v);
        if is_lane && !T::SPREADS && self.is_used_later(v) && self.has_free_register(file) {
            return Operand::Register(self.reg(v));
        }
        match (self.home(v), self.slot_of[v.index()]) {
            (Home::Broadcast(place), _) => Operand::Broadcast(self.place_address(place)),
            (Home::Plane(place), _) => Operand::Memory(self.place_address(place)),
            (_, Some(slot)) => Operand::Memory(self.slot_address(slot)),
            _ => panic!("{v:?} is nowhere"),
        }
    }

    /// The registers of values that are not used any more become free.
    pub(super) fn release_registers(&mut self, values: &[Val]) {
        for &v in values {
            if !self.is_used_later(v) {
                self.drop_register(v);
            } else if is_seeded(Fault::RegisterReleasedEarly)
                && let Some(r) = self.registers[v.index()]
            {
                let file = self.file(v);
                self.files[file][usize::from(r)] = None;
                self.pinned.retain(|&pin| pin != (file, r));
            }
        }
    }

    /// So does the memory, once no instruction needs it.
    pub(super) fn release(&mut self, values: &[Val]) {
        self.release_registers(values);
        for &v in values {
            if !self.is_used_later(v) {
                self.drop_slot(v);
            }
        }
    }

    /// Forgets all values that are not used any more.
    pub(super) fn sweep(&mut self) {
        let mut values: Vec<Val> = self.files.iter().flatten().flatten().copied().collect();
        values.extend(&self.in_slots);
        self.release(&values);
    }

    /// Where values are now; the slots stay as they are until [`Emitter::settle`].
    pub(super) fn remember(&mut self) -> Snapshot {
        let slots = self.in_slots.iter();
        let slots = slots.filter_map(|&v| Some((v, self.slot_of[v.index()]?)));
        let snapshot = Snapshot {
            files: self.files,
            slots: slots.collect(),
        };
        for &(_, slot) in &snapshot.slots {
            self.memory.reserve(slot);
        }
        snapshot
    }

    /// Ends the reservation of a snapshot's slots.
    pub(super) fn unreserve(&mut self, snapshot: &Snapshot) {
        for &(_, slot) in &snapshot.slots {
            self.memory.unreserve(slot);
        }
    }

    /// Says that values are where they were.
    pub(super) fn reset(&mut self, snapshot: &Snapshot) {
        self.forget_all();
        for (file, registers) in snapshot.files.iter().enumerate() {
            for (r, v) in registers.iter().enumerate() {
                if let Some(v) = v {
                    self.files[file][r] = Some(*v);
                    self.registers[v.index()] = Some(r as u8);
                }
            }
        }
        for &(v, slot) in &snapshot.slots {
            self.memory.take_again(slot);
            self.bind_slot(v, slot);
        }
    }

    fn forget_all(&mut self) {
        for v in std::mem::take(&mut self.files)
            .into_iter()
            .flatten()
            .flatten()
        {
            self.registers[v.index()] = None;
        }
        for v in std::mem::take(&mut self.in_slots) {
            if let Some(slot) = self.slot_of[v.index()].take() {
                self.memory.give_back(slot);
            }
        }
        self.pinned.clear();
    }

    /// Moves values to the places where they are wanted, all at once. Those of `kept`, in their slots, stay; all others are
    /// forgotten.
    pub(super) fn settle(&mut self, arrivals: &[Arrival], kept: &[(Val, Slot)]) {
        self.step_aside(arrivals);
        for arrival in arrivals {
            if let Spot::Slot(slot) = arrival.spot {
                self.store_to(arrival.from, slot);
            }
        }
        for file in 0..T::FILES {
            self.settle_file(file, arrivals);
        }
        self.forget_all();
        for &(v, slot) in kept {
            self.memory.take_again(slot);
            self.bind_slot(v, slot);
        }
        for &Arrival { spot, value, .. } in arrivals {
            match spot {
                Spot::Register(r) => {
                    self.files[self.file(value)][usize::from(r)] = Some(value);
                    self.registers[value.index()] = Some(r);
                }
                Spot::Slot(slot) => {
                    self.memory.take_again(slot);
                    self.bind_slot(value, slot);
                }
            }
        }
    }

    /// Values in slots into which others come are copied to slots of their own first, if they are still to go elsewhere: slots are
    /// written one after the other.
    fn step_aside(&mut self, arrivals: &[Arrival]) {
        for arrival in arrivals {
            let v = arrival.from;
            let (None, Some(slot)) = (self.registers[v.index()], self.slot_of[v.index()]) else {
                continue;
            };
            let is_lost = |other: &Arrival| other.spot == Spot::Slot(slot) && other.from != v;
            if arrival.spot == Spot::Slot(slot) || !arrivals.iter().any(is_lost) {
                continue;
            }
            let class = self.class(v);
            let scratch = T::scratch(class);
            self.fetch(v, scratch);
            let aside = self.memory.take(1);
            let to = self.slot_address(aside);
            if !is_seeded(Fault::NotAside) {
                self.target.store(class, to, scratch);
                self.slot_of[v.index()] = Some(aside);
            }
        }
    }

    /// Stores what a value is to a slot, unless it is there.
    fn store_to(&mut self, v: Val, slot: Slot) {
        if self.slot_of[v.index()] == Some(slot) {
            return;
        }
        let class = self.class(v);
        let r = self.registers[v.index()].unwrap_or_else(|| {
            let scratch = T::scratch(class);
            self.fetch(v, scratch);
            scratch
        });
        let to = self.slot_address(slot);
        self.target.store(class, to, r);
    }

    fn settle_file(&mut self, file: usize, arrivals: &[Arrival]) {
        let mut moves = Vec::new();
        let mut loads = Vec::new();
        for arrival in arrivals.iter().filter(|a| self.file(a.value) == file) {
            let Spot::Register(to) = arrival.spot else {
                continue;
            };
            match self.registers[arrival.from.index()] {
                Some(from) if from == to => {}
                Some(_) if is_seeded(Fault::NextNotMoved) && arrival.from != arrival.value => {}
                Some(from) => moves.push((self.class(arrival.value), to, from)),
                None => loads.push((to, arrival.from)),
            }
        }
        while !moves.is_empty() {
            let is_source = |r: u8, moves: &[(Class, u8, u8)]| moves.iter().any(|m| m.2 == r);
            match moves.iter().position(|m| !is_source(m.1, &moves)) {
                Some(n) => {
                    let (class, to, from) = moves.swap_remove(n);
                    self.target.copy(class, to, from);
                }
                None if is_seeded(Fault::CircleInOrder) => {
                    let (class, to, from) = moves.swap_remove(0);
                    self.target.copy(class, to, from);
                }
                None => {
                    // Every target is a source: a circle. One of its values steps aside.
                    let (class, _, from) = moves[0];
                    let scratch = T::scratch(class);
                    self.target.copy(class, scratch, from);
                    for m in moves.iter_mut().filter(|m| m.2 == from) {
                        m.2 = scratch;
                    }
                }
            }
        }
        let skipped = usize::from(is_seeded(Fault::RestoreSkipped));
        for (to, v) in loads.into_iter().skip(skipped) {
            self.fetch(v, to);
        }
    }
}
