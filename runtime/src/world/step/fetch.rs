//! Copies the states of strands that an executor holds back to the world.

use crate::strands::roster::{LaneSets, Newest};
use crate::world::away::{AwayEvents, BatchSequences};
use crate::world::core::Core;
use crate::world::executor::{Batch, Executor, runs};

impl Core {
    pub(crate) fn batch(&mut self, limit: u64) -> Batch<'_> {
        let stride = self.layout.stride();
        let bytes = self.state.len() * stride;
        let published_stride = self.layout.published_stride();
        let published_bytes = self.published.len() * published_stride;
        // SAFETY: the blocks are one piece of memory each, and no method runs while the world is borrowed for this.
        let [state, published] = unsafe {
            [(&self.state, bytes), (&self.published, published_bytes)]
                .map(|(blocks, bytes)| std::slice::from_raw_parts_mut(blocks.base(), bytes))
        };
        Batch {
            state,
            stride,
            published,
            published_stride,
            ranks: &self.roster.ranks,
            reordered: self.roster.reordered,
            width: self.layout.width(),
            fates: Vec::new(),
            events: AwayEvents::default(),
            limit,
            counts: self.counts,
            independent: self.abilities.independent(),
            began: false,
            sequences: BatchSequences {
                layout: &self.layout,
                pool: &self.sequences,
                workers: &self.workers,
                roster: &self.roster,
                first: 0,
            },
            lanes: &self.roster.lanes,
            settled: self.residence.is_settled(),
            starts: self.abilities.starts,
            first_step: self.step,
            control: &self.control,
        }
    }

    /// Copies states that an executor has back: those of the blocks that are wanted.
    pub(crate) fn bring_back(
        &mut self,
        executor: Option<&dyn Executor>,
        wanted: impl Fn(usize, &LaneSets) -> bool,
    ) {
        self.residence.note_change();
        let lanes = &self.roster.lanes;
        let is_away =
            |block: usize, sets: &LaneSets| sets.newest == Newest::There && wanted(block, sets);
        let blocks = runs(lanes, is_away);
        if blocks.is_empty() {
            return;
        }
        let is_here =
            executor.is_some_and(|executor| executor.bring_back(&mut self.batch(0), &blocks));
        let newest = match is_here {
            true => Newest::Both,
            false => {
                self.residence.lose();
                Newest::Here
            }
        };
        for run in blocks {
            let fetched = self.roster.lanes[run].iter_mut();
            fetched.for_each(|sets| sets.newest = newest);
        }
    }
}
