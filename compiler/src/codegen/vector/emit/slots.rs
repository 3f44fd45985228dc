//! The function's own memory: slots of a vector each.

use crate::codegen::vector::encode::{Address, Gpr};

/// A slot by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

/// Bytes before the first slot; the caller's stack pointer is there.
pub(super) const HEADER: i32 = 64;

impl Slot {
    /// Where it is, if slots have this many bytes.
    pub(super) fn address(self, bytes: i32) -> Address {
        Gpr::RSP.at(HEADER + self.0 as i32 * bytes)
    }

    /// The slot this many places farther.
    pub(super) fn after(self, places: usize) -> Slot {
        Slot(self.0 + places as u32)
    }
}

/// Which slots are in use.
#[derive(Debug, Default)]
pub(super) struct Slots {
    used: Vec<bool>,
    /// How many of the branches and loops that are being emitted need a slot to stay as it is.
    reserved: Vec<u32>,
    /// No slot before this one is free.
    first_free: usize,
}

impl Slots {
    /// Free slots side by side.
    pub(super) fn take(&mut self, count: usize) -> Slot {
        let is_free = |n: usize| !self.used[n] && self.reserved[n] == 0;
        let fits =
            |first: &usize| (*first..first + count).all(|n| n >= self.used.len() || is_free(n));
        let first = (self.first_free..=self.used.len())
            .find(fits)
            .expect("there is room after the last");
        if count == 1 {
            self.first_free = first + 1;
        }
        let end = (first + count).max(self.used.len());
        self.used.resize(end, false);
        self.reserved.resize(end, 0);
        self.used[first..first + count].fill(true);
        Slot(first as u32)
    }

    pub(super) fn give_back(&mut self, slot: Slot) {
        self.used[slot.0 as usize] = false;
        self.first_free = self.first_free.min(slot.0 as usize);
    }

    /// Takes a slot again that has kept its contents.
    pub(super) fn take_again(&mut self, slot: Slot) {
        self.used[slot.0 as usize] = true;
    }

    pub(super) fn reserve(&mut self, slot: Slot) {
        self.reserved[slot.0 as usize] += 1;
    }

    pub(super) fn unreserve(&mut self, slot: Slot) {
        self.reserved[slot.0 as usize] -= 1;
        self.first_free = self.first_free.min(slot.0 as usize);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.used.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_slots_are_taken() {
        let mut slots = Slots::default();
        let taken: Vec<u32> = (0..4).map(|_| slots.take(1).0).collect();
        assert_eq!(taken, [0, 1, 2, 3]);
        for n in [2, 0] {
            slots.give_back(Slot(n));
        }
        // Two side by side are there only after the last; a single one goes into the first gap.
        assert_eq!(slots.take(2), Slot(4));
        assert_eq!(slots.take(1), Slot(0));
        assert_eq!(slots.take(1), Slot(2));
        assert_eq!(slots.take(1), Slot(6));
    }

    #[test]
    fn a_reserved_slot_is_not_taken_until_nobody_needs_it() {
        let mut slots = Slots::default();
        let slot = slots.take(1);
        slots.reserve(slot);
        slots.give_back(slot);
        assert_eq!(slots.take(1), Slot(1));
        slots.unreserve(slot);
        assert_eq!(slots.take(1), slot);
    }
}
