//! Moves the strands of a world between super-steps: those that are near each other in space near in memory, and active ones
//! together.

use super::core::{Core, owned};
use super::exchange::Reach;
use super::executor::Executor;
use super::search::Homes;
use super::shares::Cuts;
use super::workers::on;
use crate::abi::bits;
use crate::cluster::Lost;
use crate::neighbours::RadiusStatistics;
use crate::strands::StateLayout;
use crate::strands::arrange::{arrange, is_open, packed_order, packing_pays};
use crate::strands::blocks::Blocks;
use crate::strands::roster::{LaneSets, Roster};
use rayon::prelude::*;

/// Blocks whose strands a worker moves at a time.
const BLOCKS: usize = 64;
/// If at most one in this many blocks has strands of several parts of space, the others stay as they are.
const FEW: usize = 3;

impl Core {
    /// Makes the spatial index fit the strands, and moves strands near their neighbours when that
    /// pays. All states are here.
    pub(super) fn index_in_order(&mut self) {
        if self.update_index() && self.sorting_pays() {
            self.live_in_cell_order();
        }
    }

    /// Whether strands should live in cell order.
    pub(super) fn sorting_pays(&self) -> bool {
        let index = self.index.as_ref();
        index.is_some_and(|index| index.search().sorting_pays())
    }

    /// Makes the spatial index fit the strands; returns whether it had to be rebuilt.
    pub(super) fn update_index(&mut self) -> bool {
        let radii = self.take_radii();
        let Some(index) = &mut self.index else {
            return false;
        };
        let homes = Homes {
            state: &self.state,
            published: &self.published,
        };
        let (layout, roster) = (&self.layout, &self.roster);
        on(&self.threads, || {
            index.update(layout, roster, homes, &radii)
        })
    }

    /// The radii of the queries of all workers since the last call.
    pub(super) fn take_radii(&mut self) -> RadiusStatistics {
        let mut radii = RadiusStatistics::default();
        for worker in &mut self.workers {
            radii.take(&mut owned(worker).radii);
        }
        radii
    }

    /// Notes that strands are no longer where the spatial index has them.
    pub(super) fn forget_positions(&mut self) {
        if let Some(index) = &mut self.index {
            index.forget_positions();
        }
    }

    /// All strands are known here, wherever strands look.
    pub(super) fn know_all(&mut self) {
        if let Some(index) = &mut self.index {
            index.know_all();
        }
    }

    /// Moves strands into cell order: active ones first, then stable ones, then those at no finite
    /// position.
    fn live_in_cell_order(&mut self) {
        let sources = self.in_cell_order();
        self.live_in_order(&sources);
    }

    /// Moves the strands of each of some parts of space together. Gives the part that each block is in.
    ///
    /// If most blocks are in one part as they are, and those near in space near in memory, only the strands of the others move; else all
    /// do, into cell order.
    pub(super) fn live_in_parts(&mut self, cuts: &Cuts, parts: usize) -> Vec<u32> {
        let width = self.layout.width();
        let places = self.places();
        let part = |slot: u32| {
            let (block, lane) = self.roster.place(slot);
            let place = places
                .as_ref()
                .and_then(|places| places.at(block, lane as u32));
            match place {
                Some(place) => cuts.rank(place, slot),
                None => slot % parts as u32,
            }
        };
        let part_of_block = |(block, sets): (usize, &LaneSets)| {
            let mut parts = bits(sets.alive()).map(|lane| part((block * width) as u32 + lane));
            let first = parts.next().unwrap_or(0);
            parts.all(|part| part == first).then_some(first)
        };
        let lanes = &self.roster.lanes;
        let owners: Vec<Option<u32>> = on(&self.threads, || {
            lanes.par_iter().enumerate().map(part_of_block).collect()
        });
        let between = owners.iter().filter(|owner| owner.is_none()).count();
        let (mut owners, moving) = if between * FEW <= owners.len() && !self.sorting_pays() {
            let moving = packed_order(lanes, width, |block, _| owners[block].is_none());
            let owners = owners.into_iter().map(|owner| owner.unwrap_or(0));
            (owners.collect(), moving)
        } else {
            (vec![0; owners.len()], self.in_cell_order())
        };
        let of: Vec<u32> = on(&self.threads, || {
            moving.par_iter().map(|&slot| part(slot)).collect()
        });
        let mut next = vec![0; parts];
        of.iter().for_each(|&part| next[part as usize] += 1);
        let mut first = 0;
        for next in &mut next {
            first += std::mem::replace(next, first);
        }
        let (mut sources, mut sorted) = (vec![0; of.len()], vec![0; of.len()]);
        for (slot, part) in moving.into_iter().zip(of) {
            let place = &mut next[part as usize];
            (sources[*place], sorted[*place]) = (slot, part);
            *place += 1;
        }
        let targets = self.live_in_order(&sources);
        // Where parts meet in a block, the last one has it.
        for (target, part) in targets.into_iter().zip(sorted) {
            owners[target as usize / width] = part;
        }
        owners
    }

    /// The slots of all strands in cell order: active ones first, then stable ones, then those at no finite position.
    fn in_cell_order(&self) -> Vec<u32> {
        let Some(index) = &self.index else {
            return self.roster.order();
        };
        let width = self.layout.width();
        let lanes = &self.roster.lanes;
        let is_active =
            |slot: &u32| lanes[*slot as usize / width].active >> (*slot as usize % width) & 1 == 1;
        let order = index.search().cell_order().par_iter().copied();
        let (mut sources, stable): (Vec<u32>, Vec<u32>) =
            on(&self.threads, || order.partition(is_active));
        sources.extend(stable);
        if sources.len() < self.roster.count() {
            let mut listed = vec![false; lanes.len() * width];
            sources
                .iter()
                .for_each(|&slot| listed[slot as usize] = true);
            let unlisted = |slot: &u32| !listed[*slot as usize];
            sources.extend(self.roster.order().into_iter().filter(unlisted));
        }
        sources
    }

    /// Moves the strands, which are at these slots, into slots one after the other, which it gives.
    fn live_in_order(&mut self, sources: &[u32]) -> Vec<u32> {
        let targets = move_strands(
            &self.threads,
            &self.layout,
            &self.state,
            &mut self.roster,
            sources,
        );
        let slots = self.roster.blocks() * self.layout.width();
        let mut moved: Vec<u32> = (0..slots as u32).collect();
        sources
            .iter()
            .zip(&targets)
            .for_each(|(&source, &target)| moved[source as usize] = target);
        if let Some(index) = &mut self.index {
            let search = index.search_mut();
            on(&self.threads, || {
                search.move_slots(&|slot| moved[slot as usize])
            });
        }
        self.publish();
        targets
    }

    /// Moves active strands together when many lanes idle.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn pack(&mut self, executor: Option<&dyn Executor>) -> Result<(), Lost> {
        let width = self.layout.width();
        // Nearly always that is enough to know.
        let many_are_active = self.counts.active as usize * 2 > self.roster.blocks() * width;
        if !many_are_active && packing_pays(&self.roster.lanes, width) {
            self.bring_back(executor, |_, _| true);
            self.complete(Reach::All)?;
            if let Some(spread) = &mut self.spread {
                spread.is_due = true;
            }
            let sources = packed_order(&self.roster.lanes, width, is_open);
            move_strands(
                &self.threads,
                &self.layout,
                &self.state,
                &mut self.roster,
                &sources,
            );
            self.forget_positions();
            self.publish();
        }
        Ok(())
    }
}

/// Moves strands as [`arrange`] does, on the threads of a world between two super-steps.
fn move_strands(
    threads: &rayon::ThreadPool,
    layout: &StateLayout,
    state: &Blocks,
    roster: &mut Roster,
    sources: &[u32],
) -> Vec<u32> {
    let each = |count: usize, work: &(dyn Fn(usize) + Sync)| {
        let numbers = (0..count).into_par_iter().with_min_len(BLOCKS);
        on(threads, || numbers.for_each(work));
    };
    // SAFETY: no method runs between super-steps.
    unsafe { arrange(layout, state, 0, &mut roster.records(), sources, &each) }
}
