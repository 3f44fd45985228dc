//! The roster: the strands in creation order, the block and lane of each, and whether it is active
//! or stable.
//!
//! A *slot* is a place (block × width + lane), a *rank* the position of a strand among the living
//! in creation order, an *id* the number of strands created before it in the whole run. Strands
//! move between slots, never between ranks except by closing the gaps of the dead, so everything a
//! user can see is ordered by rank and does not depend on the slots. For a grid the rank
//! is the row-major index.

use crate::abi::LaneMask;
use crate::abi::bits;
use std::collections::{HashMap, VecDeque};

/// The lanes of one block by state; a lane in no set is vacant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSets {
    /// Lanes that update.
    pub active: LaneMask,
    /// Lanes that are done but visible.
    pub stable: LaneMask,
    /// Active lanes whose `start` method has not run yet.
    pub fresh: LaneMask,
    /// Active lanes whose method could not look far enough in this super-step, and has to run again.
    pub waiting: LaneMask,
    /// Whether the block's state may differ from its published copy.
    pub unpublished: bool,
    /// Where the newest state of the block is.
    pub newest: Newest,
}

/// Where the newest state of a block is, if its strands may run elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Newest {
    /// Here alone.
    #[default]
    Here,
    /// Both here and there.
    Both,
    /// There alone.
    There,
}

impl LaneSets {
    /// Notes that the state of the block changes here.
    pub fn touch(&mut self) {
        debug_assert_ne!(self.newest, Newest::There, "an old state is changed");
        self.unpublished = true;
        self.newest = Newest::Here;
    }

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
    pub(crate) ranks: Vec<u32>,
    /// Per rank, ascending. Empty as long as no strand has died: then the id of a strand is its rank.
    ids: Vec<u64>,
    /// Number of ranks.
    count: usize,
    created: u64,
    /// Whether ranks or slots have changed since the accelerator was last informed.
    pub(crate) reordered: bool,
}

impl Roster {
    /// Registers as many strands as `walk` has entries: slot after slot, `walk` says which rank
    /// lives there. All are active and fresh.
    pub fn new(width: usize, walk: Vec<u32>) -> Roster {
        let count = walk.len();
        let blocks = count.div_ceil(width);
        let mut ranks = walk;
        ranks.resize(blocks * width, 0);
        let newcomers = |lanes: LaneMask| LaneSets {
            active: lanes,
            fresh: lanes,
            unpublished: true,
            ..LaneSets::default()
        };
        let full = LaneMask::MAX >> (LaneMask::BITS - width as u32);
        let mut lanes = vec![newcomers(full); blocks];
        if let Some(last) = lanes.last_mut() {
            *last = newcomers(full >> (blocks * width - count));
        }
        Roster {
            width,
            lanes,
            ranks,
            ids: Vec::new(),
            count,
            created: count as u64,
            reordered: true,
        }
    }

    /// Lanes per block.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.lanes.len()
    }

    /// Number of ranks: the strands alive when the dead last left.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Id of the strand of a rank.
    pub fn id(&self, rank: u32) -> u64 {
        self.ids
            .get(rank as usize)
            .copied()
            .unwrap_or(u64::from(rank))
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

    /// Slots of the living in creation order.
    pub fn order(&self) -> Vec<u32> {
        let mut order = vec![0; self.count];
        self.each_slot(LaneSets::alive, |slot| {
            order[self.ranks[slot] as usize] = slot as u32;
        });
        order
    }

    /// How many strands a set has, and for every rank in it how many members come before; `None` if
    /// that is the rank itself, because every strand is a member.
    pub fn places(&self, set: StrandSet) -> (usize, Option<Vec<u32>>) {
        let members = |sets: LaneSets| sets.members(set);
        let count = self.lanes.iter();
        let count = count.map(|&sets| members(sets).count_ones() as usize).sum();
        let places = (count < self.count).then(|| self.ranking(members));
        (count, places)
    }

    /// For every rank, how many of those before it are in `lanes`.
    fn ranking(&self, lanes: impl Fn(LaneSets) -> LaneMask) -> Vec<u32> {
        let mut places = vec![0; self.count];
        self.each_slot(lanes, |slot| places[self.ranks[slot] as usize] = 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        places
    }

    /// Visits the slots of all blocks in `lanes`.
    fn each_slot(&self, lanes: impl Fn(LaneSets) -> LaneMask, mut visit: impl FnMut(usize)) {
        for (block, &sets) in self.lanes.iter().enumerate() {
            bits(lanes(sets)).for_each(|lane| visit(block * self.width + lane as usize));
        }
    }

    /// Block and lane of a slot.
    pub fn place(&self, slot: u32) -> (usize, usize) {
        (slot as usize / self.width, slot as usize % self.width)
    }

    /// Takes the strands that have died since the last call out of the order; the others close up.
    pub fn forget_dead(&mut self) {
        let closed_up = self.ranking(LaneSets::alive);
        let mut ids = vec![0; self.count];
        let mut alive = 0;
        for (block, sets) in self.lanes.iter().enumerate() {
            for lane in bits(sets.alive()) {
                let rank = &mut self.ranks[block * self.width + lane as usize];
                let known = self.ids.get(*rank as usize).copied();
                let id = known.unwrap_or(u64::from(*rank));
                *rank = closed_up[*rank as usize];
                ids[*rank as usize] = id;
                alive += 1;
            }
        }
        ids.truncate(alive);
        self.reordered = true;
        self.ids = ids;
        self.count = alive;
    }

    /// Slots for a new strand of each of these makers: vacant ones in the blocks of the maker first, then new blocks. `owners` has the
    /// maker that each block belongs to, and gets those of the new blocks. `None` if there would be too many strands.
    pub fn room_for(&self, makers: &[u32], owners: &mut Vec<u32>) -> Option<Vec<u32>> {
        let total = self.count.checked_add(makers.len());
        total.filter(|&total| total < u32::MAX as usize)?;
        let mut missing: HashMap<u32, usize> = HashMap::new();
        for &maker in makers {
            *missing.entry(maker).or_default() += 1;
        }
        let mut found: HashMap<u32, VecDeque<u32>> = HashMap::new();
        let full = LaneMask::MAX >> (LaneMask::BITS - self.width as u32);
        for (block, sets) in self.lanes.iter().enumerate() {
            if missing.is_empty() {
                break;
            }
            let vacant = full & !sets.alive();
            let Some(wanted) = missing.get_mut(&owners[block]).filter(|_| vacant != 0) else {
                continue;
            };
            let lanes = bits(vacant).take(*wanted);
            let found = found.entry(owners[block]).or_default();
            let before = found.len();
            found.extend(lanes.map(|lane| (block * self.width) as u32 + lane));
            *wanted -= found.len() - before;
            if *wanted == 0 {
                missing.remove(&owners[block]);
            }
        }
        let slot = |maker: &u32| {
            let found = found.entry(*maker).or_default();
            if found.is_empty() {
                let begin = (owners.len() * self.width) as u32;
                found.extend(begin..begin + self.width as u32);
                owners.push(*maker);
            }
            found.pop_front().expect("a vacant slot")
        };
        Some(makers.iter().map(slot).collect())
    }

    /// Appends strands in vacant slots to the order; there are this many blocks then.
    pub fn admit(&mut self, slots: &[u32], blocks: usize) {
        let first = self.count;
        self.lanes.resize(blocks, LaneSets::default());
        self.ranks.resize(blocks * self.width, 0);
        for (&slot, rank) in slots.iter().zip(first as u32..) {
            let sets = &mut self.lanes[slot as usize / self.width];
            sets.active |= 1 << (slot as usize % self.width);
            sets.fresh |= 1 << (slot as usize % self.width);
            sets.touch();
            self.ranks[slot as usize] = rank;
        }
        if self.created > first as u64 {
            self.ids.extend((self.created..).take(slots.len()));
        }
        self.reordered = true;
        self.created += slots.len() as u64;
        self.count += slots.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_strands_fill_gaps_but_come_last_in_the_order() {
        let mut roster = Roster::new(4, vec![0, 1, 2, 3, 4]);
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
        let mut owners = vec![0; 2];
        let slots = roster.room_for(&[0; 6], &mut owners).unwrap();
        assert_eq!(slots, [1, 2, 5, 6, 7, 8]);
        roster.admit(&slots, owners.len());
        assert_eq!(roster.order(), [0, 3, 4, 1, 2, 5, 6, 7, 8]);
        assert_eq!(
            (0..9).map(|rank| roster.id(rank)).collect::<Vec<_>>(),
            [0, 3, 4, 5, 6, 7, 8, 9, 10]
        );
        assert_eq!(roster.count(), 9);
        assert_eq!(roster.blocks(), 3);
    }

    #[test]
    fn new_strands_live_in_the_blocks_of_their_makers() {
        let mut roster = Roster::new(4, (0..12).collect());
        roster.lanes[0].active &= !0b0110;
        roster.lanes[1].active &= !0b0001;
        roster.lanes[2].active &= !0b1000;
        roster.forget_dead();
        let mut owners = vec![1, 0, 1];
        let makers = [0, 1, 1, 0, 1, 1, 0, 0, 0, 0];
        let slots = roster.room_for(&makers, &mut owners).unwrap();
        assert_eq!(slots, [4, 1, 2, 12, 11, 16, 13, 14, 15, 20]);
        assert_eq!(owners, [1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn members_of_a_set_are_counted_in_creation_order() {
        let mut roster = Roster::new(4, vec![3, 2, 1, 0]);
        roster.lanes[0] = LaneSets {
            active: 0b1001,
            stable: 0b0110,
            ..LaneSets::default()
        };
        assert_eq!(roster.order(), [3, 2, 1, 0]);
        assert_eq!(roster.places(StrandSet::All), (4, None));
        // Ranks 0 and 3 are active, ranks 1 and 2 stable.
        assert_eq!(
            roster.places(StrandSet::Active),
            (2, Some(vec![0, 1, 1, 1]))
        );
        assert_eq!(
            roster.places(StrandSet::Stable),
            (2, Some(vec![0, 0, 1, 2]))
        );
    }

    #[test]
    fn an_impossible_number_of_strands_is_refused() {
        let mut roster = Roster::new(4, vec![0]);
        roster.count = u32::MAX as usize - 2;
        assert_eq!(roster.room_for(&[0; 3], &mut vec![0]), None);
    }
}
