//! Moves strands between slots: packs live strands into full blocks, or brings strands that are
//! near in space near in memory.
//!
//! Nothing a user can see depends on it: ids and ranks travel with the strands.

use super::blocks::{Blocks, copy_lane};
use super::layout::StateLayout;
use super::roster::{LaneSets, Roster};
use crate::abi::bits;
use crate::memory::Room;

/// True when at most half the lanes of the open blocks (those with an active lane) are active, and
/// packing would close a block.
///
/// Packing then at least halves the number of blocks to run, so the copying done in a whole run is
/// at most twice the state of all strands.
pub(crate) fn packing_pays(lanes: &[LaneSets], width: usize) -> bool {
    let (open, active) = lanes
        .iter()
        .filter(|sets| sets.active != 0)
        .fold((0, 0), |(open, active), sets| {
            (open + 1, active + sets.active.count_ones() as usize)
        });
    active * 2 <= open * width && active.div_ceil(width) < open
}

/// Whether a block has an active lane.
pub(crate) fn is_open(_: usize, sets: &LaneSets) -> bool {
    sets.active != 0
}

/// The slots of some blocks: active ones first, then stable ones, each in slot order. Vacant slots are left out.
pub(crate) fn packed_order(
    lanes: &[LaneSets],
    width: usize,
    is_wanted: impl Fn(usize, &LaneSets) -> bool,
) -> Vec<u32> {
    let mut slots = Vec::new();
    for pick in [|sets: &LaneSets| sets.active, |sets: &LaneSets| sets.stable] {
        for (block, sets) in lanes.iter().enumerate() {
            if is_wanted(block, sets) {
                slots.extend(bits(pick(sets)).map(|lane| (block * width) as u32 + lane));
            }
        }
    }
    slots
}

/// The per-slot records of a run of blocks that travel with the strands.
pub(crate) struct Records<'a> {
    pub(crate) lanes: &'a mut [LaneSets],
    pub(crate) ranks: &'a mut [u32],
}

impl Roster {
    /// The records of all slots, so that strands can move.
    pub(crate) fn records(&mut self) -> Records<'_> {
        self.reordered = true;
        Records {
            lanes: &mut self.lanes,
            ranks: &mut self.ranks,
        }
    }
}

/// Does something for every number below another: one after the other, or on several workers.
pub(crate) type Each<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// One after the other.
pub(crate) fn in_turn(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(work);
}

/// Moves the strands at `sources` into the slots of their own blocks, first source to the first
/// slot of the first block and so on.
///
/// `sources` must name every living strand of each block it touches exactly once. Slots count from
/// the first block of `records`, whose state begins at block `first` of `state`. Gives the slots
/// that were filled, in the order of `sources`.
///
/// # Safety
/// No other thread may access the state of these blocks.
pub(crate) unsafe fn arrange(
    layout: &StateLayout,
    state: &Blocks,
    first: usize,
    records: &mut Records<'_>,
    sources: &[u32],
    each: Each<'_>,
) -> Vec<u32> {
    let width = layout.width();
    let mut is_touched = vec![false; records.lanes.len()];
    for &slot in sources {
        is_touched[slot as usize / width] = true;
    }
    let mut copy_of = vec![0; records.lanes.len()];
    let mut blocks = Vec::new();
    for block in (0..is_touched.len()).filter(|&block| is_touched[block]) {
        copy_of[block] = blocks.len();
        blocks.push(block);
    }
    let old_lanes: Vec<LaneSets> = blocks.iter().map(|&block| records.lanes[block]).collect();
    let living = old_lanes.iter().map(|sets| sets.alive().count_ones());
    debug_assert_eq!(living.sum::<u32>() as usize, sources.len());
    let mut saved = Blocks::new(layout.stride());
    saved.resize(blocks.len());
    let mut saved_ranks = vec![0u32; blocks.len() * width];
    let mut targets = vec![0u32; sources.len()];
    let ranks_kept = Room::new(saved_ranks.as_mut_ptr());
    let (lanes, ranks) = (records.lanes.as_mut_ptr(), records.ranks.as_mut_ptr());
    let (lanes, ranks) = (Room::new(lanes), Room::new(ranks));
    let filled = Room::new(targets.as_mut_ptr());
    let save = |copy: usize| {
        let block = blocks[copy];
        // SAFETY: both blocks exist and are `stride` bytes long, and each is copied by one worker.
        unsafe {
            let (from, to) = (state.block(first + block), saved.block(copy));
            std::ptr::copy_nonoverlapping(from, to, layout.stride());
            let (from, to) = (ranks.at(block * width), ranks_kept.at(copy * width));
            std::ptr::copy_nonoverlapping(from, to, width);
        };
    };
    // The strands that come to live in a block.
    let fill = |nth: usize| {
        let block = blocks[nth];
        let mut now = LaneSets {
            unpublished: true,
            ..LaneSets::default()
        };
        let arriving = (nth * width..sources.len()).take(width);
        for (lane, index) in arriving.enumerate() {
            let source = sources[index] as usize;
            let (copy, from) = (copy_of[source / width], source % width);
            let was = old_lanes[copy];
            now.active |= (was.active >> from & 1) << lane;
            now.stable |= (was.stable >> from & 1) << lane;
            now.fresh |= (was.fresh >> from & 1) << lane;
            let target = block * width + lane;
            // SAFETY: the saved copies are no longer written; the target block is ours by the caller's promise, and one
            // worker fills it.
            unsafe {
                let (there, here) = (saved.block(copy), state.block(first + block));
                copy_lane(layout, there, from, here, lane);
                ranks.put(target, *ranks_kept.at(copy * width + from));
                filled.put(index, target as u32);
            };
        }
        // SAFETY: as above.
        unsafe { lanes.put(block, now) };
    };
    each(blocks.len(), &save);
    each(blocks.len(), &fill);
    targets
}

#[cfg(test)]
mod tests {
    use super::super::blocks::lanes_mut;
    use super::super::layout::{Kind, Scalar, Sharing, Variable};
    use super::*;
    use crate::abi::LaneMask;

    fn lanes(active: LaneMask, stable: LaneMask, fresh: LaneMask) -> LaneSets {
        LaneSets {
            active,
            stable,
            fresh,
            unpublished: true,
            ..LaneSets::default()
        }
    }

    #[test]
    fn packing_moves_the_active_to_the_front_and_keeps_every_strand() {
        let kind = Kind::Tensor {
            scalar: Scalar::I32,
            components: 1,
        };
        let layout = StateLayout::new(
            4,
            vec![Variable {
                name: "v".into(),
                kind,
                sharing: Sharing::Private,
            }],
            None,
        )
        .unwrap();
        let mut roster = Roster::new(4, (0..12).collect());
        let mut state = Blocks::new(layout.stride());
        state.resize(3);
        for slot in 0..12 {
            // SAFETY: only this thread touches the blocks.
            unsafe {
                lanes_mut::<i32>(state.block(slot / 4), layout.plane(0, 0), 4)[slot % 4] =
                    slot as i32 * 10
            };
        }
        roster.lanes[0] = lanes(0b0010, 0b1101, 0);
        roster.lanes[1] = lanes(0, 0b1111, 0);
        roster.lanes[2] = lanes(0b1000, 0b0010, 0b1000);
        roster.forget_dead();
        assert!(packing_pays(&roster.lanes, 4));
        let sources = packed_order(&roster.lanes, 4, is_open);
        assert_eq!(sources, [1, 11, 0, 2, 3, 9]);
        // SAFETY: as above.
        let targets = unsafe {
            arrange(
                &layout,
                &state,
                0,
                &mut roster.records(),
                &sources,
                &in_turn,
            )
        };
        assert_eq!(targets, [0, 1, 2, 3, 8, 9]);
        assert_eq!(roster.lanes[0], lanes(0b0011, 0b1100, 0b0010));
        assert_eq!(roster.lanes[2], lanes(0, 0b0011, 0));
        assert!(!packing_pays(&roster.lanes, 4));
        let values: Vec<i32> = roster
            .order()
            .iter()
            .map(|&slot| {
                let (block, lane) = roster.place(slot);
                // SAFETY: as above.
                unsafe { lanes_mut::<i32>(state.block(block), layout.plane(0, 0), 4)[lane] }
            })
            .collect();
        assert_eq!(values, [0, 10, 20, 30, 40, 50, 60, 70, 90, 110]);
        assert_eq!(roster.id(8), 9);
    }
}
