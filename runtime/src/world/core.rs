//! The world without its program: storage, workers, and the super-step protocol.
//!
//! One super-step is `prepare` (spatial index), `sweep` (methods of all active blocks, in parallel)
//! and `finish` (outcomes, new strands, publication). What a sweep leaves behind is ordered by
//! strand before it is acted on, so nothing depends on which worker ran what.

use super::births::strand_bytes;
use super::context::{Shared, StepContext, Worker};
use super::events::{PrintLog, StrandFailure};
use super::program::{Abilities, StrandProgram};
use super::search::{Homes, Search, search};
use super::workers::{Workers, on};
use super::{Control, Creation, RunError, WorldError};
use crate::memory::{Claim, Meter, claim};
use crate::neighbours::RadiusStatistics;
use crate::sequence::SequencePool;
use crate::strands::blocks::Blocks;
use crate::strands::roster::{LaneSets, Newest, Roster};
use crate::strands::tiles::walk;
use crate::strands::{Counts, Sharing, StateLayout};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Strands a worker takes at a time.
const TASK: usize = 64;
/// Of long tasks a worker takes several that are neighbours, unless fewer than these shares per worker are left.
const SHARES: usize = 2;

/// Everything but the program.
pub(crate) struct Core {
    pub(crate) layout: StateLayout,
    pub(crate) abilities: Abilities,
    pub(crate) roster: Roster,
    pub(crate) state: Blocks,
    pub(crate) published: Blocks,
    pub(crate) sequences: Arc<SequencePool>,
    pub(crate) workers: Vec<Mutex<Worker>>,
    pub(crate) control: Arc<Control>,
    pub(crate) step: u64,
    /// Sizes of the sets at the end of the last super-step.
    pub(crate) counts: Counts,
    /// Whether the newest states of all blocks with active strands are elsewhere, no strand is fresh, and nothing has changed
    /// here since: then the next super-step elsewhere has nothing to do here.
    pub(crate) settled: bool,
    /// Whether states that were elsewhere are lost.
    pub(crate) lost: bool,
    pub(super) search: Option<Box<dyn Search>>,
    /// Whether the spatial index shows the strands where they are, and the radius it was made for.
    pub(super) index_fits: bool,
    index_radius: Option<f64>,
    pub(crate) threads: Arc<rayon::ThreadPool>,
    /// The memory of the strands.
    pub(super) claim: Claim,
}

impl Core {
    /// The strands of a creation clause, each in its place.
    pub(crate) fn new(
        layout: StateLayout,
        abilities: Abilities,
        creation: &Creation,
        sequences: Arc<SequencePool>,
        workers: &Workers,
    ) -> Result<Core, WorldError> {
        let count = creation.count()?;
        let claim = claim(strand_bytes(&layout, count as usize))
            .map_err(|shortage| WorldError::Memory { count, shortage })?;
        let mut core = Core::empty(layout, abilities, count as usize, sequences, workers)?;
        core.claim = claim;
        let walk = match creation {
            Creation::Grid(sizes) => on(&core.threads, || walk(sizes)),
            Creation::Collection(_) => (0..count).collect(),
        };
        core.roster = Roster::new(core.layout.width(), walk);
        core.state.resize(core.roster.blocks());
        core.published.resize(core.roster.blocks());
        core.search = abilities
            .communicates
            .then(|| core.layout.position().map(search))
            .flatten();
        core.counts = core.roster.counts();
        Ok(core)
    }

    /// Workers for `count` strands, but no strands yet.
    pub(crate) fn empty(
        layout: StateLayout,
        abilities: Abilities,
        count: usize,
        sequences: Arc<SequencePool>,
        workers: &Workers,
    ) -> Result<Core, WorldError> {
        // More workers than blocks would idle, unless strands can be created.
        let blocks = count.div_ceil(layout.width());
        let useful = match abilities.creates {
            true => usize::MAX,
            false => blocks,
        };
        let threads = workers.for_work(useful)?;
        let workers = threads.current_num_threads();
        Ok(Core {
            roster: Roster::new(layout.width(), Vec::new()),
            state: Blocks::new(layout.stride()),
            published: Blocks::new(layout.published_stride()),
            workers: (0..workers)
                .map(|_| Mutex::new(Worker::new(&layout)))
                .collect(),
            layout,
            abilities,
            sequences,
            control: Arc::default(),
            step: 0,
            counts: Counts::default(),
            settled: false,
            lost: false,
            search: None,
            index_fits: false,
            index_radius: None,
            threads,
            claim: Claim::default(),
        })
    }

    /// Runs `work` on the pool, or here if it is not worth waking anyone.
    pub(crate) fn parallel<R: Send>(
        &self,
        blocks: usize,
        work: impl FnOnce(bool) -> R + Send,
    ) -> R {
        if self.workers.len() == 1 || blocks * self.layout.width() <= TASK {
            work(false)
        } else {
            on(&self.threads, || work(true))
        }
    }

    /// Runs tasks of many strands each, every one once. Workers take up to this many `neighbours` at a time, because these
    /// write to the same part of memory, and single ones near the end, so that no worker waits for long.
    pub(crate) fn share(&self, tasks: usize, neighbours: usize, run: impl Fn(usize) + Sync) {
        let next = AtomicUsize::new(0);
        let work = |workers: usize| {
            loop {
                let first = next.load(Relaxed);
                if first >= tasks {
                    return;
                }
                let fair = (tasks - first) / (SHARES * workers);
                let end = first + fair.clamp(1, neighbours.max(1));
                let taken = next.compare_exchange(first, end, Relaxed, Relaxed);
                if taken.is_ok() {
                    (first..end).for_each(&run);
                }
            }
        };
        match self.workers.len().min(tasks) {
            0 | 1 => work(1),
            _ => drop(on(&self.threads, || {
                rayon::broadcast(|_| work(self.workers.len()))
            })),
        }
    }

    /// Makes the spatial index fit the strands; tells whether it had to be rebuilt.
    pub(crate) fn index(&mut self) -> bool {
        let Some(search) = &mut self.search else {
            return false;
        };
        let mut radii = RadiusStatistics::default();
        for worker in &mut self.workers {
            radii.take(&mut owned(worker).radii);
        }
        let radius = radii.typical().or(self.index_radius);
        if self.index_fits && radius == self.index_radius {
            return false;
        }
        let homes = Homes {
            state: &self.state,
            published: &self.published,
        };
        let (layout, roster) = (&self.layout, &self.roster);
        on(&self.threads, || {
            search.rebuild(layout, roster, homes, radius)
        });
        self.index_fits = true;
        self.index_radius = radius;
        true
    }

    /// Calls `run` for every block with active lanes, several at a time.
    pub(crate) fn sweep(
        &mut self,
        run: impl Fn(&mut StepContext<'_>, *mut u8, &mut LaneSets) + Sync,
    ) {
        let mut lanes = std::mem::take(&mut self.roster.lanes);
        let width = self.layout.width();
        let shared = self.shared();
        let per_task = (TASK / width).max(1);
        let task = |(index, sets): (usize, &mut [LaneSets])| {
            let mut worker = self.worker();
            for (block, sets) in (index * per_task..)
                .zip(sets)
                .filter(|(_, sets)| sets.active != 0)
            {
                if self.control.is_cancelled() {
                    return;
                }
                let slots = block * width..(block + 1) * width;
                let mut cx = StepContext::new(
                    &shared,
                    &mut worker,
                    self.step,
                    block,
                    &self.roster.ranks[slots],
                );
                sets.touch();
                run(&mut cx, self.state.block(block), sets);
            }
        };
        self.parallel(lanes.len(), |wide| {
            if wide {
                lanes.par_chunks_mut(per_task).enumerate().for_each(task);
            } else {
                lanes.chunks_mut(per_task).enumerate().for_each(task);
            }
        });
        self.roster.lanes = lanes;
    }

    /// What all blocks share, as of now.
    pub(crate) fn shared(&self) -> Shared<'_> {
        Shared {
            layout: &self.layout,
            state: &self.state,
            published: &self.published,
            search: self.search.as_deref(),
            sequences: &self.sequences,
            roster: &self.roster,
            counts: self.counts,
            may_exhaust: self.abilities.creates
                || self.abilities.prints
                || !self.layout.sequence_planes().is_empty(),
            cancelled: self.control.cancelled(),
            stopped: match self.abilities.independent() {
                true => self.control.stopped(),
                false => self.control.cancelled(),
            },
        }
    }

    /// The number of the current thread among the workers.
    pub(crate) fn current_worker(&self) -> usize {
        // Outside the pool (see `parallel`) one thread works alone, as the first worker.
        rayon::current_thread_index()
            .filter(|&index| index < self.workers.len())
            .unwrap_or(0)
    }

    /// The logs and scratch memory of the current thread.
    pub(crate) fn worker(&self) -> MutexGuard<'_, Worker> {
        self.workers[self.current_worker()]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

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
    pub(crate) fn finish<P: StrandProgram>(&mut self, program: &P) -> Result<(), RunError> {
        self.recount();
        let died = self.counts.all() < self.roster.count() as u64;
        if died {
            self.roster.forget_dead();
        }
        let born = self.admit_new(program)?;
        if born {
            self.recount();
        }
        self.index_fits &= !(died || born || self.move_about());
        self.publish();
        self.free_retired();
        Ok(())
    }

    /// Ends a super-step elsewhere in which nothing happened that matters here.
    pub(crate) fn finish_quietly(&mut self) {
        self.step += 1;
        self.index_fits &= !self.move_about();
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
            self.sweep(|cx, block, sets| {
                // SAFETY: the block is the context's.
                unsafe {
                    cx.open_method(block);
                    cx.close_method(block, sets.active, sets.active);
                }
            });
        }
        for sets in &mut self.roster.lanes {
            sets.active = 0;
            sets.fresh = 0;
        }
        self.roster.forget_dead();
        self.free_retired();
        self.index_fits = false;
        self.recount();
    }

    /// Counts the strands, also for progress reports.
    pub(crate) fn recount(&mut self) {
        self.counts = self.roster.counts();
        self.control.show(self.step, self.counts);
    }
}

/// The contents of a lock that no other thread can hold.
pub(super) fn owned<T>(lock: &mut Mutex<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}
