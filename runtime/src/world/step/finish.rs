//! The end of a super-step: printed text and errors in strand order, the dead leave, the new join, changes become visible.

use super::events::{PrintLog, StrandFailure};
use crate::memory::Meter;
use crate::strands::Sharing;
use crate::strands::roster::{LaneSets, Newest};
use crate::world::core::{Core, owned};
use crate::world::errors::RunError;
use crate::world::executor::Executor;
use rayon::prelude::*;

impl Core {
    /// Text printed since the last call, in strand order.
    pub(crate) fn printed(&mut self) -> String {
        PrintLog::merge(
            self.workers
                .iter_mut()
                .map(|worker| &mut owned(worker).printed),
        )
    }

    /// The first run-time error, if any.
    pub(crate) fn failure(&mut self) -> Result<(), RunError> {
        let mut first = None;
        for failure in self
            .workers
            .iter_mut()
            .filter_map(|worker| owned(worker).failure.take())
        {
            StrandFailure::keep_first(&mut first, failure);
        }
        first.map_or(
            Ok(()),
            |StrandFailure {
                 step, id, failure, ..
             }| Err(RunError::Strand { id, step, failure }),
        )
    }

    /// Ends a super-step: the dead leave, the new join, changes become visible.
    pub(crate) fn finish(&mut self, executor: Option<&dyn Executor>) -> Result<(), RunError> {
        self.recount();
        let died = self.counts.all() < self.roster.count() as u64;
        if died {
            self.roster.forget_dead();
        }
        let born = self.admit_new(executor)?;
        if born {
            self.recount();
        }
        if died || born || self.move_about() {
            self.forget_positions();
        }
        self.publish();
        self.free_retired();
        Ok(())
    }

    /// Ends a super-step elsewhere in which nothing happened that matters here.
    pub(crate) fn finish_quietly(&mut self) {
        self.step += 1;
        if self.move_about() {
            self.forget_positions();
        }
        self.control.show(self.step, self.counts);
    }

    /// Whether strands have positions that others look for and that may change.
    fn move_about(&self) -> bool {
        self.layout.position().is_some_and(|position| {
            self.layout.variables()[position.variable].sharing == Sharing::Communicated
        })
    }

    /// Gives back the sequences that strands have replaced or left behind.
    fn free_retired(&mut self) {
        for worker in &mut self.workers {
            let worker = owned(worker);
            worker.sequences.free_retired(&self.sequences);
            // Printed text and new strands are in their places.
            worker.meter = Meter::default();
        }
    }

    /// Copies what others may read from every block that has changed.
    pub(crate) fn publish(&mut self) {
        let stride = self.layout.published_stride();
        if stride == 0 {
            return;
        }
        let mut lanes = std::mem::take(&mut self.roster.lanes);
        let copy = |(block, sets): (usize, &mut LaneSets)| {
            if sets.newest != Newest::There && std::mem::take(&mut sets.unpublished) {
                // SAFETY: both blocks exist, the head of the state is as long as a published block,
                // and every block is copied by one thread only.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        self.state.block(block),
                        self.published.block(block),
                        stride,
                    )
                };
            }
        };
        self.parallel(lanes.len(), |wide| {
            if wide {
                lanes
                    .par_iter_mut()
                    .with_min_len(256)
                    .with_max_len(1024)
                    .enumerate()
                    .for_each(copy);
            } else {
                lanes.iter_mut().enumerate().for_each(copy);
            }
        });
        self.roster.lanes = lanes;
    }

    /// Removes all active strands.
    pub(crate) fn kill_active(&mut self) {
        if !self.layout.sequence_planes().is_empty() {
            // The sequences that the states here name are freed, and that alone: a block may have stable strands whose newest
            // states are elsewhere.
            self.visit(
                |_, _| true,
                |cx, block, sets| {
                    // SAFETY: the block is the context's.
                    unsafe {
                        cx.open_method(block);
                        cx.close_method(block, sets.active, sets.active);
                    }
                },
            );
        }
        for sets in &mut self.roster.lanes {
            sets.active = 0;
            sets.fresh = 0;
        }
        self.roster.forget_dead();
        self.free_retired();
        self.forget_positions();
        self.recount();
    }

    /// Counts the strands, also for progress reports.
    pub(crate) fn recount(&mut self) {
        self.counts = self.roster.counts();
        self.control.show(self.step, self.counts);
    }
}
