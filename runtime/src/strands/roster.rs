//! Who is where: the strands in creation order, the block and lane each lives in, and whether it is
//! active or stable.
//!
//! A *slot* is a place (block × width + lane), a *rank* the position of a strand among the living
//! in creation order, an *id* the number of strands created before it in the whole run. Strands
//! move between slots, never between ranks except by closing the gaps of the dead, so everything a
//! user can see is ordered by rank and does not depend on where strands live. For a grid the rank
//! is the row-major index.

use crate::abi::LaneMask;

/// The lanes of one block by state; a lane in no set is vacant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSets {
    /// Lanes that update.
    pub active: LaneMask,
    /// Lanes that are done but visible.
    pub stable: LaneMask,
    /// Active lanes whose `start` method has not run yet.
    pub fresh: LaneMask,
    /// Whether the block's state may differ from what is published of it.
    pub unpublished: bool,
}

impl LaneSets {
    /// Lanes that hold a strand.
    pub fn alive(self) -> LaneMask {
        self.active | self.stable
    }

    /// The lanes that belong to `set`.
    pub fn members(self, set: StrandSet) -> LaneMask {
        match set {
            StrandSet::All => self.alive(),
            StrandSet::Active => self.active,
            StrandSet::Stable => self.stable,
        }
    }
}

/// The sets a program can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrandSet {
    /// Every strand alive.
    All,
    /// Those that still update.
    Active,
    /// Those that have stabilized.
    Stable,
}

/// Sizes of the sets, and how many strands have died.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Strands that still update.
    pub active: u64,
    /// Strands that have stabilized.
    pub stable: u64,
    /// Strands that have died since the beginning.
    pub dead: u64,
}

impl Counts {
    /// Strands alive.
    pub fn all(self) -> u64 {
        self.active + self.stable
    }
}

/// The register of all strands.
#[derive(Debug)]
pub struct Roster {
    width: usize,
    /// Per block.
    pub(crate) lanes: Vec<LaneSets>,
    /// Per slot; meaningless for vacant ones.
    pub(crate) ids: Vec<u64>,
    /// Per slot; meaningless for vacant ones.
    pub(crate) ranks: Vec<u32>,
    /// Slot of each rank.
    order: Vec<u32>,
    created: u64,
}

impl Roster {
    /// Registers as many strands as `walk` has entries: slot after slot, `walk` says which rank
    /// lives there. All are active and fresh.
    pub fn new(width: usize, walk: &[u32]) -> Roster {
        let blocks = walk.len().div_ceil(width);
        let mut roster = Roster {
            width,
            lanes: vec![LaneSets::default(); blocks],
            ids: vec![0; blocks * width],
            ranks: vec![0; blocks * width],
            order: vec![0; walk.len()],
            created: walk.len() as u64,
        };
        for (slot, &rank) in walk.iter().enumerate() {
            roster.ids[slot] = u64::from(rank);
            roster.ranks[slot] = rank;
            roster.order[rank as usize] = slot as u32;
            roster.mark_new(slot);
        }
        roster
    }

    /// Lanes per block.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.lanes.len()
    }

    /// Slots of the living in creation order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Id of the strand of a rank.
    pub fn id(&self, rank: u32) -> u64 {
        self.ids[self.order[rank as usize] as usize]
    }

    /// Sizes of the sets now.
    pub fn counts(&self) -> Counts {
        let (active, stable) = self.lanes.iter().fold((0, 0), |(active, stable), sets| {
            (
                active + u64::from(sets.active.count_ones()),
                stable + u64::from(sets.stable.count_ones()),
            )
        });
        Counts {
            active,
            stable,
            dead: self.created - active - stable,
        }
    }

    /// Slots of a set in creation order.
    pub fn slots(&self, set: StrandSet) -> Vec<u32> {
        match set {
            StrandSet::All => self.order.clone(),
            StrandSet::Active | StrandSet::Stable => self
                .order
                .iter()
                .copied()
                .filter(|&slot| self.has(slot, set))
                .collect(),
        }
    }

    fn has(&self, slot: u32, set: StrandSet) -> bool {
        let (block, lane) = self.place(slot);
        self.lanes[block].members(set) >> lane & 1 == 1
    }

    /// Block and lane of a slot.
    pub fn place(&self, slot: u32) -> (usize, usize) {
        (slot as usize / self.width, slot as usize % self.width)
    }

    /// Takes the strands that have died since the last call out of the order; the others close up.
    pub fn forget_dead(&mut self) {
        let lanes = &self.lanes;
        let width = self.width;
        self.order.retain(|&slot| {
            lanes[slot as usize / width].alive() >> (slot as usize % width) & 1 == 1
        });
        self.renumber(0);
    }

    /// Appends `count` strands to the order and gives their slots: vacant ones first, then new
    /// blocks. `None` if there would be too many.
    pub fn admit(&mut self, count: usize) -> Option<Vec<u32>> {
        let first = self.order.len();
        let total = first
            .checked_add(count)
            .filter(|&total| total < u32::MAX as usize)?;
        let full = LaneMask::MAX >> (LaneMask::BITS - self.width as u32);
        let mut slots = Vec::with_capacity(count);
        for (block, sets) in self.lanes.iter().enumerate() {
            let mut vacant = full & !sets.alive();
            while vacant != 0 && slots.len() < count {
                slots.push((block * self.width) as u32 + vacant.trailing_zeros());
                vacant &= vacant - 1;
            }
            if slots.len() == count {
                break;
            }
        }
        let end = (self.lanes.len() * self.width) as u32;
        let missing = (count - slots.len()) as u32;
        slots.extend(end..end + missing);
        let blocks = self.lanes.len() + (missing as usize).div_ceil(self.width);
        self.lanes.resize(blocks, LaneSets::default());
        self.ids.resize(blocks * self.width, 0);
        self.ranks.resize(blocks * self.width, 0);
        for &slot in &slots {
            self.ids[slot as usize] = self.created;
            self.created += 1;
            self.mark_new(slot as usize);
        }
        self.order.extend_from_slice(&slots);
        debug_assert_eq!(self.order.len(), total);
        self.renumber(first);
        Some(slots)
    }

    fn mark_new(&mut self, slot: usize) {
        let sets = &mut self.lanes[slot / self.width];
        sets.active |= 1 << (slot % self.width);
        sets.fresh |= 1 << (slot % self.width);
        sets.unpublished = true;
    }

    fn renumber(&mut self, first: usize) {
        for (rank, &slot) in self.order.iter().enumerate().skip(first) {
            self.ranks[slot as usize] = rank as u32;
        }
    }

    /// Rebuilds the order from the ranks after strands have changed slots.
    pub(crate) fn reorder(&mut self) {
        for (block, sets) in self.lanes.iter().enumerate() {
            let mut alive = sets.alive();
            while alive != 0 {
                let slot = block * self.width + alive.trailing_zeros() as usize;
                self.order[self.ranks[slot] as usize] = slot as u32;
                alive &= alive - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_strands_fill_gaps_but_come_last_in_the_order() {
        let mut roster = Roster::new(4, &[0, 1, 2, 3, 4]);
        roster.lanes[0].active &= !0b0110;
        roster.forget_dead();
        assert_eq!(roster.order(), [0, 3, 4]);
        assert_eq!(
            roster.counts(),
            Counts {
                active: 3,
                stable: 0,
                dead: 2
            }
        );
        assert_eq!(roster.admit(6), Some(vec![1, 2, 5, 6, 7, 8]));
        assert_eq!(roster.order(), [0, 3, 4, 1, 2, 5, 6, 7, 8]);
        assert_eq!(
            (0..9).map(|rank| roster.id(rank)).collect::<Vec<_>>(),
            [0, 3, 4, 5, 6, 7, 8, 9, 10]
        );
        for (rank, &slot) in roster.order().iter().enumerate() {
            assert_eq!(roster.ranks[slot as usize] as usize, rank);
        }
        assert_eq!(roster.blocks(), 3);
    }

    #[test]
    fn sets_are_listed_in_creation_order() {
        let mut roster = Roster::new(4, &[3, 2, 1, 0]);
        roster.lanes[0] = LaneSets {
            active: 0b1001,
            stable: 0b0110,
            ..LaneSets::default()
        };
        assert_eq!(roster.slots(StrandSet::All), [3, 2, 1, 0]);
        assert_eq!(roster.slots(StrandSet::Active), [3, 0]);
        assert_eq!(roster.slots(StrandSet::Stable), [2, 1]);
    }

    #[test]
    fn an_impossible_number_of_strands_is_refused() {
        assert_eq!(Roster::new(4, &[0]).admit(u32::MAX as usize), None);
    }
}
