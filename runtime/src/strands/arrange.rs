//! Moves strands between slots: packs live strands into full blocks, or brings strands that are
//! near in space near in memory.
//!
//! Nothing a user can see depends on it: ids and ranks travel with the strands.

use super::blocks::{Blocks, copy_lane};
use super::layout::StateLayout;
use super::roster::{LaneSets, Roster};
use crate::abi::LaneMask;

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

/// The slots of the open blocks: active ones first, then stable ones, each in slot order. Vacant
/// slots are left out.
pub(crate) fn packed_order(lanes: &[LaneSets], width: usize) -> Vec<u32> {
    let mut slots = Vec::new();
    for pick in [|sets: &LaneSets| sets.active, |sets: &LaneSets| sets.stable] {
        for (block, sets) in lanes
            .iter()
            .enumerate()
            .filter(|(_, sets)| sets.active != 0)
        {
            slots.extend(bits(pick(sets)).map(|lane| (block * width) as u32 + lane));
        }
    }
    slots
}

/// The lanes of a mask, lowest first.
pub(crate) fn bits(mut mask: LaneMask) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros();
            mask &= mask - 1;
            lane
        })
    })
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

/// Moves the strands at `sources` into the slots of their own blocks, first source to the first
/// slot of the first block and so on.
///
/// `sources` must name every living strand of each block it touches exactly once. Slots count from
/// the first block of `records`, whose state begins at block `first` of `state`. Gives the slots
/// that were filled, in the order of `sources`.
///
/// # Safety
/// Nobody else may touch the state of these blocks.
pub(crate) unsafe fn arrange(
    layout: &StateLayout,
    state: &Blocks,
    first: usize,
    records: &mut Records<'_>,
    sources: &[u32],
) -> Vec<u32> {
    let width = layout.width();
    let mut blocks: Vec<usize> = sources.iter().map(|&slot| slot as usize / width).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let mut saved = Blocks::new(layout.stride());
    saved.resize(blocks.len());
    let mut copy_of = vec![0; records.lanes.len()];
    for (copy, &block) in blocks.iter().enumerate() {
        copy_of[block] = copy;
        // SAFETY: both blocks exist and are `stride` bytes long.
        unsafe {
            std::ptr::copy_nonoverlapping(
                state.block(first + block),
                saved.block(copy),
                layout.stride(),
            )
        };
    }
    let old_lanes: Vec<LaneSets> = blocks.iter().map(|&block| records.lanes[block]).collect();
    let old_ranks: Vec<u32> = sources
        .iter()
        .map(|&slot| records.ranks[slot as usize])
        .collect();
    debug_assert_eq!(
        old_lanes
            .iter()
            .map(|sets| sets.alive().count_ones() as usize)
            .sum::<usize>(),
        sources.len()
    );
    for &block in &blocks {
        records.lanes[block] = LaneSets {
            unpublished: true,
            ..LaneSets::default()
        };
    }
    let mut targets = Vec::with_capacity(sources.len());
    for (index, (&source, rank)) in sources.iter().zip(old_ranks).enumerate() {
        let copy = copy_of[source as usize / width];
        let (block, lane) = (blocks[index / width], index % width);
        let from = source as usize % width;
        // SAFETY: the saved copy is ours alone, the target block is ours by the caller's promise.
        unsafe {
            copy_lane(
                layout,
                saved.block(copy),
                from,
                state.block(first + block),
                lane,
            )
        };
        let target = block * width + lane;
        records.ranks[target] = rank;
        let (was, now) = (old_lanes[copy], &mut records.lanes[block]);
        now.active |= (was.active >> from & 1) << lane;
        now.stable |= (was.stable >> from & 1) << lane;
        now.fresh |= (was.fresh >> from & 1) << lane;
        targets.push(target as u32);
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::super::blocks::lanes_mut;
    use super::super::layout::{Kind, Scalar, Sharing, Variable};
    use super::*;

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
        let sources = packed_order(&roster.lanes, 4);
        assert_eq!(sources, [1, 11, 0, 2, 3, 9]);
        // SAFETY: as above.
        let targets = unsafe { arrange(&layout, &state, 0, &mut roster.records(), &sources) };
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
