//! The blocks that each rank of a cluster runs in a super-step.

use crate::strands::roster::LaneSets;
use std::ops::Range;

/// The owner of blocks that have no active strands.
const IDLE: u32 = u32::MAX;
/// Runs of neighbouring blocks that each rank gets in a super-step: some take longer than others.
const RUNS: usize = 4;

/// The blocks that each rank runs.
pub(crate) struct Shares {
    /// By block.
    owners: Vec<u32>,
    /// By rank, in runs of neighbours.
    runs: Vec<Vec<Range<usize>>>,
}

impl Shares {
    /// Blocks with active strands, in runs of neighbours that are dealt to the ranks.
    pub(super) fn of_blocks(lanes: &[LaneSets], size: usize) -> Shares {
        let active = lanes.iter().filter(|sets| sets.active != 0).count();
        let run = active.div_ceil(size * RUNS).max(1);
        let mut owners = vec![IDLE; lanes.len()];
        let open = owners.iter_mut().zip(lanes);
        let open = open.filter(|(_, sets)| sets.active != 0);
        for (n, (owner, _)) in open.enumerate() {
            *owner = (n / run % size) as u32;
        }
        Shares::new(owners, size)
    }

    /// Whole groups of blocks, dealt to the ranks. A group has the same owner as long as it lives.
    pub(super) fn of_groups(lanes: &[LaneSets], group: usize, size: usize) -> Shares {
        let mut owners = vec![IDLE; lanes.len()];
        let groups = owners.chunks_mut(group).zip(lanes.chunks(group));
        for (n, (owners, lanes)) in groups.enumerate() {
            if lanes.iter().any(|sets| sets.active != 0) {
                owners.fill((n % size) as u32);
            }
        }
        Shares::new(owners, size)
    }

    fn new(owners: Vec<u32>, size: usize) -> Shares {
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
    fn every_block_with_active_strands_has_one_owner() {
        let active: Vec<bool> = (0..100).map(|n| n % 7 != 3).collect();
        for size in 1..=8 {
            let shares = [
                Shares::of_blocks(&lanes(&active), size),
                Shares::of_groups(&lanes(&active), 1, size),
            ];
            for shares in shares {
                let mut owners = vec![0; active.len()];
                for rank in 0..size {
                    let blocks = shares.of(rank).iter().cloned().flatten();
                    blocks.for_each(|block| owners[block] += 1);
                }
                let expected = active.iter().map(|&active| i32::from(active));
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
        let mut active = [false; 9];
        active[4] = true;
        let shares = Shares::of_groups(&lanes(&active), 3, 2);
        assert_eq!(shares.of(1), std::slice::from_ref(&(3..6)));
        assert!(shares.of(0).is_empty());
    }
}
