//! Moves the strands of a world between super-steps: those that are near each other in space near in memory, and active ones
//! together.

use super::core::{Core, owned};
use super::executor::Executor;
use super::search::Homes;
use super::workers::on;
use crate::neighbours::RadiusStatistics;
use crate::strands::StateLayout;
use crate::strands::arrange::{arrange, packed_order, packing_pays};
use crate::strands::blocks::Blocks;
use crate::strands::roster::Roster;
use rayon::prelude::*;

/// Blocks whose strands a worker moves at a time.
const BLOCKS: usize = 64;

impl Core {
    /// Makes the spatial index fit the strands, and moves strands near their neighbours when that
    /// pays.
    pub(crate) fn prepare(&mut self) {
        let is_new = self.update_index();
        let sorting_pays = |core: &Core| {
            let index = core.index.as_ref();
            index.is_some_and(|index| index.search().sorting_pays())
        };
        if is_new && sorting_pays(self) {
            self.live_in_cell_order();
        }
    }

    /// Makes the spatial index fit the strands; returns whether it had to be rebuilt.
    pub(super) fn update_index(&mut self) -> bool {
        let Some(index) = &mut self.index else {
            return false;
        };
        let mut radii = RadiusStatistics::default();
        for worker in &mut self.workers {
            radii.take(&mut owned(worker).radii);
        }
        let homes = Homes {
            state: &self.state,
            published: &self.published,
        };
        let (layout, roster) = (&self.layout, &self.roster);
        on(&self.threads, || {
            index.update(layout, roster, homes, &radii)
        })
    }

    /// Notes that strands are no longer where the spatial index has them.
    pub(super) fn forget_positions(&mut self) {
        if let Some(index) = &mut self.index {
            index.forget_positions();
        }
    }

    /// Moves strands into cell order: active ones first, then stable ones, then those at no finite
    /// position.
    fn live_in_cell_order(&mut self) {
        let Some(index) = &mut self.index else {
            return;
        };
        let search = index.search_mut();
        let width = self.layout.width();
        let lanes = &self.roster.lanes;
        let is_active =
            |slot: &u32| lanes[*slot as usize / width].active >> (*slot as usize % width) & 1 == 1;
        let order = search.cell_order().par_iter().copied();
        let (mut sources, stable): (Vec<u32>, Vec<u32>) =
            on(&self.threads, || order.partition(is_active));
        sources.extend(stable);
        let slots = lanes.len() * width;
        if sources.len() < self.roster.count() {
            let mut listed = vec![false; slots];
            sources
                .iter()
                .for_each(|&slot| listed[slot as usize] = true);
            let unlisted = |slot: &u32| !listed[*slot as usize];
            sources.extend(self.roster.order().into_iter().filter(unlisted));
        }
        let targets = move_strands(
            &self.threads,
            &self.layout,
            &self.state,
            &mut self.roster,
            &sources,
        );
        let mut moved = vec![0; slots];
        sources
            .iter()
            .zip(&targets)
            .for_each(|(&source, &target)| moved[source as usize] = target);
        on(&self.threads, || {
            search.move_slots(&|slot| moved[slot as usize])
        });
        self.publish();
    }

    /// Moves active strands together when many lanes idle.
    pub(crate) fn pack(&mut self, executor: Option<&dyn Executor>) {
        let width = self.layout.width();
        // Nearly always that is enough to know.
        let many_are_active = self.counts.active as usize * 2 > self.roster.blocks() * width;
        if !many_are_active && packing_pays(&self.roster.lanes, width) {
            self.bring_back(executor, |_, _| true);
            let sources = packed_order(&self.roster.lanes, width);
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
