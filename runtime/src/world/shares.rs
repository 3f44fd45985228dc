//! The blocks that each rank of a cluster runs.

mod by_place;

pub(super) use by_place::{Cuts, Weight};

use crate::strands::roster::LaneSets;
use std::ops::Range;

/// The owner of blocks that have no active strands.
const IDLE: u32 = u32::MAX;
/// Runs of neighbouring blocks that each rank gets: some take longer than others.
const RUNS: usize = 4;

/// The blocks that each rank runs.
pub(crate) struct Shares {
    /// By block.
    owners: Vec<u32>,
    /// By rank, in runs of neighbours.
    runs: Vec<Vec<Range<usize>>>,
}

impl Shares {
    /// All blocks, in runs of neighbours that are dealt to the ranks, with about as many active blocks each.
    pub(super) fn of_blocks(lanes: &[LaneSets], size: usize) -> Shares {
        let active = lanes.iter().filter(|sets| sets.active != 0).count();
        let run = active.div_ceil(size * RUNS).max(1);
        let mut before = 0;
        let owners = lanes.iter().map(|sets| {
            let owner = before / run % size;
            before += usize::from(sets.active != 0);
            owner as u32
        });
        Shares::new(owners.collect(), size)
    }

    /// Whole groups of blocks, dealt to the ranks. A group has the same owner as long as it lives.
    pub(super) fn of_groups(lanes: &[LaneSets], group: usize, size: usize) -> Shares {
        let ranks: Vec<usize> = (0..size).collect();
        Shares::dealt(lanes, group, 1, &ranks, size)
    }

    /// The same for some of the ranks, those with executors: they get a few runs of neighbouring groups each, because an executor
    /// is fast with many strands at a time.
    pub(super) fn of_executors(
        lanes: &[LaneSets],
        group: usize,
        runners: &[usize],
        size: usize,
    ) -> Shares {
        let groups = lanes.len().div_ceil(group);
        let run = groups.div_ceil(runners.len() * RUNS).max(1);
        Shares::dealt(lanes, group, run, runners, size)
    }

    /// Runs of this many groups, dealt to some of the ranks. It depends on the number of blocks alone, which does not change.
    fn dealt(
        lanes: &[LaneSets],
        group: usize,
        run: usize,
        runners: &[usize],
        size: usize,
    ) -> Shares {
        let mut owners = vec![IDLE; lanes.len()];
        let groups = owners.chunks_mut(group).zip(lanes.chunks(group));
        for (n, (owners, lanes)) in groups.enumerate() {
            if lanes.iter().any(|sets| sets.active != 0) {
                owners.fill(runners[n / run % runners.len()] as u32);
            }
        }
        Shares::new(owners, size)
    }

    /// The owner of every block, to be changed and given to [`Shares::new`].
    pub(crate) fn take_owners(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.owners)
    }

    /// The shares of ranks that own these blocks.
    pub(crate) fn new(owners: Vec<u32>, size: usize) -> Shares {
        let mut runs: Vec<Vec<Range<usize>>> = vec![Vec::new(); size];
        for (block, &owner) in owners.iter().enumerate() {
            let Some(runs) = runs.get_mut(owner as usize) else {
                continue;
            };
            match runs.last_mut() {
                Some(run) if run.end == block => run.end += 1,
                _ => runs.push(block..block + 1),
            }
        }
        Shares { owners, runs }
    }

    /// Whether a rank runs a block.
    pub(crate) fn has(&self, rank: usize, block: usize) -> bool {
        self.owners[block] == rank as u32
    }

    /// The largest number of active strands that a rank has, and all of them.
    pub(super) fn loads(&self, lanes: &[LaneSets]) -> (u64, u64) {
        let mut loads = vec![0u64; self.runs.len()];
        for (&owner, sets) in self.owners.iter().zip(lanes) {
            loads[owner as usize] += u64::from(sets.active.count_ones());
        }
        let largest = loads.iter().copied().max();
        (largest.unwrap_or(0), loads.iter().sum())
    }

    /// The blocks that a rank runs, in runs of neighbours.
    pub(crate) fn of(&self, rank: usize) -> &[Range<usize>] {
        &self.runs[rank]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(active: &[bool]) -> Vec<LaneSets> {
        let sets = |&active: &bool| LaneSets {
            active: u32::from(active),
            ..LaneSets::default()
        };
        active.iter().map(sets).collect()
    }

    #[test]
    fn every_block_has_one_owner_and_groups_with_active_strands_too() {
        let active: Vec<bool> = (0..100).map(|n| n % 7 != 3).collect();
        for size in 1..=8 {
            let shares = [
                (Shares::of_blocks(&lanes(&active), size), true),
                (Shares::of_groups(&lanes(&active), 1, size), false),
            ];
            for (shares, has_all) in shares {
                let mut owners = vec![0; active.len()];
                for rank in 0..size {
                    let blocks = shares.of(rank).iter().cloned().flatten();
                    blocks.for_each(|block| owners[block] += 1);
                }
                let expected = active.iter().map(|&active| i32::from(active || has_all));
                assert_eq!(owners, expected.collect::<Vec<_>>(), "{size}");
            }
        }
    }

    #[test]
    fn ranks_have_about_as_many_blocks_and_groups_stay_whole() {
        let shares = Shares::of_blocks(&lanes(&[true; 64]), 4);
        for rank in 0..4 {
            assert_eq!(shares.of(rank).iter().cloned().flatten().count(), 16);
        }
        assert_eq!(shares.loads(&lanes(&[true; 64])), (16, 64));
        let mut active = [false; 9];
        active[4] = true;
        let shares = Shares::of_groups(&lanes(&active), 3, 2);
        assert_eq!(shares.of(1), std::slice::from_ref(&(3..6)));
        assert!(shares.of(0).is_empty());
    }

    #[test]
    fn ranks_with_executors_have_all_blocks_in_a_few_long_runs() {
        for (blocks, group) in [(1000, 3), (7, 2), (1, 1), (64, 64)] {
            let all = lanes(&vec![true; blocks]);
            let shares = Shares::of_executors(&all, group, &[1, 3], 5);
            let owned = |rank: usize| shares.of(rank).iter().cloned().flatten().count();
            assert_eq!(owned(1) + owned(3), blocks);
            for rank in 0..5 {
                assert!(shares.of(rank).len() <= RUNS);
                let starts = shares.of(rank).iter().map(|run| run.start % group);
                assert!(starts.sum::<usize>() == 0, "groups stay whole");
            }
            // Strands that have ended change nothing about the others.
            let mut some = vec![true; blocks];
            some[0] = false;
            let later = Shares::of_executors(&lanes(&some), group, &[1, 3], 5);
            for block in group..blocks {
                assert_eq!(shares.has(1, block), later.has(1, block), "{block}");
            }
        }
    }
}
