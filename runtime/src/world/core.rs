//! The world without its program: the strands, and the workers that share the work on them.
//!
//! One super-step is `prepare` (spatial index), `sweep` (methods of all active blocks, in parallel)
//! and `finish` (outcomes, new strands, publication). The results of a sweep are ordered by strand before anything is done with
//! them, so nothing depends on which worker ran what.

use super::abilities::Abilities;
use super::control::Control;
use super::creation::Creation;
use super::errors::WorldError;
use super::index::SpatialIndex;
use super::residence::Residence;
use super::spread::Spread;
use super::step::context::{Shared, StepContext, Worker};
use super::workers::{Workers, on};
use crate::cluster::{Lost, Team};
use crate::memory::{Claim, claim};
use crate::sequence::SequencePool;
use crate::strands::blocks::Blocks;
use crate::strands::roster::{LaneSets, Roster};
use crate::strands::tiles::walk;
use crate::strands::{Counts, StateLayout};
use rayon::prelude::*;
use std::ops::Range;
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
    pub(super) residence: Residence,
    /// The spatial index of programs that search.
    pub(super) index: Option<SpatialIndex>,
    pub(crate) threads: Arc<rayon::ThreadPool>,
    /// The ranks that share the strands, if there are several.
    pub(super) team: Option<Arc<Team>>,
    /// The ranks that run all strands, if executors do.
    pub(super) runners: Option<Vec<usize>>,
    /// Where the states are, if ranks run strands super-step by super-step.
    pub(super) spread: Option<Spread>,
    /// What ranks were asked for, as all ranks know it.
    pub(super) agreed: Agreed,
    /// Whether there was no memory here for a sequence of another rank, which the others do not know.
    pub(super) is_short: bool,
    /// A rank that was found to have left where this could not be returned.
    pub(super) lost: Mutex<Option<Lost>>,
    /// The memory of the strands.
    pub(super) claim: Claim,
}

/// Whether a rank was asked to stop, at once or after the super-step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Agreed {
    pub(super) is_cancelled: bool,
    pub(super) is_over: bool,
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
        core.index = abilities
            .communicates
            .then(|| core.layout.position().map(SpatialIndex::new))
            .flatten();
        core.counts = core.roster.counts();
        let is_shared = core.team.is_some() && !abilities.independent();
        core.spread = is_shared.then(Spread::default);
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
        let team = workers.team().cloned();
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
            residence: Residence::default(),
            index: None,
            threads,
            team,
            runners: None,
            spread: None,
            agreed: Agreed::default(),
            is_short: false,
            lost: Mutex::default(),
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
        let workers = self.workers.len().min(tasks).max(1);
        self.work_off(tasks, || take_some(&next, tasks, neighbours, workers), run);
    }

    /// Runs the tasks that `take` gives to each worker, until it has no more; there are at most `tasks`.
    pub(crate) fn work_off(
        &self,
        tasks: usize,
        take: impl Fn() -> Option<Range<usize>> + Sync,
        run: impl Fn(usize) + Sync,
    ) {
        let work = || {
            while let Some(tasks) = take() {
                tasks.for_each(&run);
            }
        };
        match self.workers.len().min(tasks) {
            0 | 1 => work(),
            _ => drop(on(&self.threads, || rayon::broadcast(|_| work()))),
        }
    }

    /// Calls `run` for every block with active lanes, several at a time.
    pub(crate) fn sweep(
        &mut self,
        run: impl Fn(&mut StepContext<'_>, *mut u8, &mut LaneSets) + Sync,
    ) {
        self.sweep_some(|_, _| true, run);
    }

    /// The same for some of them.
    pub(crate) fn sweep_some(
        &mut self,
        is_wanted: impl Fn(usize, &LaneSets) -> bool + Sync,
        run: impl Fn(&mut StepContext<'_>, *mut u8, &mut LaneSets) + Sync,
    ) {
        self.visit(is_wanted, |cx, block, sets| {
            sets.touch();
            run(cx, block, sets);
        });
    }

    /// The same where the states do not change: the newest may be elsewhere.
    pub(crate) fn visit(
        &mut self,
        is_wanted: impl Fn(usize, &LaneSets) -> bool + Sync,
        run: impl Fn(&mut StepContext<'_>, *mut u8, &mut LaneSets) + Sync,
    ) {
        let mut lanes = std::mem::take(&mut self.roster.lanes);
        let width = self.layout.width();
        let shared = self.shared();
        let per_task = (TASK / width).max(1);
        let has_work =
            |(block, sets): &(usize, &mut LaneSets)| sets.active != 0 && is_wanted(*block, sets);
        let task = |(first, sets): (usize, &mut [LaneSets])| {
            let mut worker = self.worker();
            for (block, sets) in (first..).zip(sets).filter(has_work) {
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
                run(&mut cx, self.state.block(block), sets);
            }
        };
        // Workers divide the tasks in which there is work: it may all be in a small part of the blocks.
        let firsts = (0..).step_by(per_task);
        let tasks = firsts.zip(lanes.chunks_mut(per_task));
        let tasks = tasks.filter_map(|(first, sets)| {
            let is_task = (first..).zip(&mut *sets).any(|block| has_work(&block));
            is_task.then_some((first, sets))
        });
        let tasks: Vec<(usize, &mut [LaneSets])> = tasks.collect();
        self.parallel(tasks.len() * per_task, |wide| {
            if wide {
                tasks.into_par_iter().for_each(task);
            } else {
                tasks.into_iter().for_each(task);
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
            search: self.index.as_ref().map(SpatialIndex::search),
            may_wait: self.spread.is_some()
                && (self.index.as_ref()).is_some_and(|index| index.search().is_limited()),
            maker: self.team.as_ref().map_or(0, |team| team.rank() as u32),
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
}

/// The next tasks of all: a fair share for one of some workers, but no more than a number of neighbours.
pub(super) fn take_some(
    next: &AtomicUsize,
    tasks: usize,
    neighbours: usize,
    workers: usize,
) -> Option<Range<usize>> {
    loop {
        let first = next.load(Relaxed);
        if first >= tasks {
            return None;
        }
        let fair = (tasks - first) / (SHARES * workers);
        let end = first + fair.clamp(1, neighbours.max(1));
        let taken = next.compare_exchange(first, end, Relaxed, Relaxed);
        if taken.is_ok() {
            return Some(first..end);
        }
    }
}

/// The contents of a lock that no other thread can hold.
pub(super) fn owned<T>(lock: &mut Mutex<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes for each strand beside its state: its rank, its number, and the tables to find them.
pub(super) const ROSTER_BYTES: usize = 24;

/// Bytes for this many strands, all together.
fn strand_bytes(layout: &StateLayout, count: usize) -> u64 {
    let blocks = count.div_ceil(layout.width()) as u64;
    let block = layout.stride() + layout.published_stride() + size_of::<LaneSets>();
    blocks.saturating_mul(block as u64) + (count * ROSTER_BYTES) as u64
}
