//! Where strands run: by their methods on this CPU, or by an [`Executor`], such as a GPU, all together. Strands that cannot notice each
//! other run to their ends there, others super-step by super-step. The states of the latter stay there, and are brought back when
//! they are needed here; every block knows where its newest state is.
//!
//! A strand that an executor does not finish is left as it was, and its methods run it here. So an executor need not support
//! everything, and every run-time error is reported by the methods.

use super::context::StepContext;
use super::core::Core;
use super::methods::step_block;
use super::program::StrandProgram;
use super::{Control, RunError};
use crate::abi::LaneMask;
use crate::strands::Counts;
use crate::strands::roster::{LaneSets, Newest};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The state of a strand before or after a launch. The bits above are its number of super-steps.
pub mod fate {
    /// Nothing: there is no strand, or it is not active.
    pub const IDLE: u32 = 0;
    /// It is active.
    pub const RUNNING: u32 = 1;
    /// It is active and its `start` method has not run yet.
    pub const FRESH: u32 = 2;
    /// It stabilized.
    pub const STABLE: u32 = 3;
    /// It died.
    pub const DEAD: u32 = 4;
    /// It is left to its methods, with the state that it had in the beginning.
    pub const LEFT: u32 = 5;
    /// How many bits these take.
    pub const BITS: u32 = 3;

    /// What became of a strand, without the super-steps.
    pub fn kind(fate: u32) -> u32 {
        fate & ((1 << BITS) - 1)
    }
}

/// Runs the strands of a program instead of its methods.
pub trait Executor: Sync {
    /// Whether it can run strands: it may have failed.
    fn is_ready(&self) -> bool;

    /// Runs strands and sets their [fates](Batch::fates); false if that failed. If they run to their ends, their states are then here
    /// again; after one super-step they stay there, of all blocks that have active strands, until they are brought back.
    fn run(&self, strands: &mut Batch<'_>) -> bool;

    /// Copies the states of some blocks from there; false if they are lost.
    fn bring_back(&self, strands: &mut Batch<'_>, blocks: &[Range<usize>]) -> bool;

    /// Copies the published state of all blocks from there; false if it is lost.
    fn bring_published(&self, strands: &mut Batch<'_>) -> bool;

    /// Whether global blocks look at the states of strands, which are then brought back before.
    fn reduces(&self) -> bool;
}

/// Strands that an executor is to run.
pub struct Batch<'a> {
    /// The states of all strands, block after block; of some blocks they are older than those there.
    pub state: &'a mut [u8],
    /// Bytes of a block.
    pub stride: usize,
    /// What others may read of the blocks: the first this many bytes of each, as of the start of a super-step.
    pub published: &'a mut [u8],
    /// See `published`.
    pub published_stride: usize,
    /// The place of each strand in the order of strands, by its place in memory.
    pub ranks: &'a [u32],
    /// Whether these have changed since the last super-step that was run there.
    pub reordered: bool,
    /// Strands in a block.
    pub width: usize,
    /// What became of each strand, by its place; nothing if all active ones took a super-step and go on.
    pub fates: Vec<u32>,
    /// Super-steps at most.
    pub limit: u64,
    /// Sizes of the sets at the end of the last super-step.
    pub counts: Counts,
    /// Whether strands run to their ends, and not all together one super-step.
    pub independent: bool,
    /// Whether strands may have begun to run there: what fails then may have changed their states.
    pub began: bool,
    lanes: &'a [LaneSets],
    settled: bool,
    starts: bool,
    first_step: u64,
    control: &'a Control,
}

impl Batch<'_> {
    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.lanes.len()
    }

    /// The blocks in this many parts, or fewer if there are few, each a batch of its own; for strands that run to their ends.
    pub fn split(&mut self, parts: usize) -> Vec<Batch<'_>> {
        let per_part = self.blocks().div_ceil(parts).max(1);
        let states = self.state.chunks_mut(per_part * self.stride);
        let lanes = self.lanes.chunks(per_part);
        let part = |(state, lanes)| Batch {
            state,
            published: &mut [],
            ranks: &[],
            fates: Vec::new(),
            lanes,
            ..*self
        };
        states.zip(lanes).map(part).collect()
    }

    /// The states of the strands of some blocks, by their slots.
    pub fn told(&self, blocks: Range<usize>) -> Vec<u32> {
        let fate_of = |sets: &LaneSets, lane: usize| {
            let is_in = |set: LaneMask| set >> lane & 1 == 1;
            match () {
                () if is_in(sets.stable) => fate::STABLE,
                () if !is_in(sets.active) => fate::IDLE,
                () if self.starts && is_in(sets.fresh) => fate::FRESH,
                () => fate::RUNNING,
            }
        };
        let all = LaneMask::MAX >> (LaneMask::BITS as usize - self.width);
        let mut fates = Vec::with_capacity(blocks.len() * self.width);
        for sets in &self.lanes[blocks] {
            // Nearly always all lanes of a block are in the same sets.
            match sets.active == all && sets.stable == 0 && (sets.fresh == 0 || sets.fresh == all) {
                true => fates.resize(fates.len() + self.width, fate_of(sets, 0)),
                false => fates.extend((0..self.width).map(|lane| fate_of(sets, lane))),
            }
        }
        fates
    }

    /// Ranges of blocks whose newest state is here only.
    pub fn changed(&self) -> Vec<Range<usize>> {
        if self.settled {
            return Vec::new();
        }
        runs(self.lanes, |_, sets| sets.newest == Newest::Here)
    }

    /// Ranges of blocks whose newest state is there only.
    pub fn away(&self) -> Vec<Range<usize>> {
        runs(self.lanes, |_, sets| sets.newest == Newest::There)
    }

    /// Whether the run has to end now. A super-step that all strands take together is finished unless it is cancelled.
    pub fn is_over(&self) -> bool {
        ends_now(self.control, self.independent)
    }

    /// Reports the progress of strands and how many have ended.
    pub fn advance(&self, steps: u64, stabilized: u64, died: u64) {
        self.control
            .advance(self.first_step + steps, stabilized, died);
    }
}

/// The runs of blocks next to each other for which something holds.
fn runs(lanes: &[LaneSets], holds: impl Fn(usize, &LaneSets) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let blocks = lanes.iter().enumerate();
    for (block, _) in blocks.filter(|(block, sets)| holds(*block, sets)) {
        match runs.last_mut() {
            Some(run) if run.end == block => run.end += 1,
            _ => runs.push(block..block + 1),
        }
    }
    runs
}

/// Whether a run has to end before its strands do.
fn ends_now(control: &Control, independent: bool) -> bool {
    match independent {
        true => control.is_over(),
        false => control.is_cancelled(),
    }
}

impl Core {
    fn batch(&mut self, limit: u64) -> Batch<'_> {
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
            limit,
            counts: self.counts,
            independent: self.abilities.independent(),
            began: false,
            lanes: &self.roster.lanes,
            settled: self.settled,
            starts: self.abilities.starts,
            first_step: self.step,
            control: &self.control,
        }
    }

    /// Copies states that an executor has back: those of the blocks that are wanted.
    pub(crate) fn bring_back<P: StrandProgram>(
        &mut self,
        program: &P,
        wanted: impl Fn(usize, &LaneSets) -> bool,
    ) {
        self.settled = false;
        let lanes = &self.roster.lanes;
        let is_away =
            |block: usize, sets: &LaneSets| sets.newest == Newest::There && wanted(block, sets);
        let blocks = runs(lanes, is_away);
        if blocks.is_empty() {
            return;
        }
        let executor = program.executor();
        let is_here =
            executor.is_some_and(|executor| executor.bring_back(&mut self.batch(0), &blocks));
        self.lost |= !is_here;
        let newest = match is_here {
            true => Newest::Both,
            false => Newest::Here,
        };
        for run in blocks {
            let fetched = self.roster.lanes[run].iter_mut();
            fetched.for_each(|sets| sets.newest = newest);
        }
    }

    /// The error of a world whose states are lost.
    pub(crate) fn check_lost(&self) -> Result<(), RunError> {
        match self.lost {
            true => Err(RunError::Lost { step: self.step }),
            false => Ok(()),
        }
    }
}

/// The outcome of a run by an executor.
pub(crate) struct Ran {
    /// The largest number of super-steps any strand took.
    pub(crate) steps: u64,
    /// Whether no strand ended or is left, so that nothing has to be done about them here.
    pub(crate) quietly: bool,
}

/// Runs all active strands by the program's executor, if it has one.
pub(crate) fn execute<P: StrandProgram>(core: &mut Core, program: &P, limit: u64) -> Option<Ran> {
    let executor = program.executor().filter(|executor| executor.is_ready())?;
    if core.counts.active == 0 {
        return None;
    }
    let mut batch = core.batch(limit);
    let ran = executor.run(&mut batch);
    let Batch {
        fates,
        independent,
        began,
        ..
    } = batch;
    core.settled &= ran && fates.is_empty();
    let width = core.layout.width();
    let lanes = &mut core.roster.lanes;
    if !ran {
        if began {
            core.lost = lanes.iter().any(|sets| sets.newest == Newest::There);
        } else {
            core.bring_back(program, |_, _| true);
        }
        core.publish();
        return core.lost.then_some(Ran {
            steps: 0,
            quietly: false,
        });
    }
    core.roster.reordered = false;
    if core.settled && fates.is_empty() {
        return Some(Ran {
            steps: 1,
            quietly: true,
        });
    }
    let is_left = |word: &u32| fate::kind(*word) == fate::LEFT;
    if core.abilities.communicates && fates.iter().any(is_left) {
        // Strands that are left see the others as they were before the super-step.
        core.lost |= !executor.bring_published(&mut core.batch(0));
        core.index();
    }
    let lanes = &mut core.roster.lanes;
    if !independent {
        for sets in lanes.iter_mut() {
            if sets.active == 0 {
                // It was sent if it was only here.
                if sets.newest == Newest::Here {
                    sets.newest = Newest::Both;
                }
                continue;
            }
            sets.unpublished = true;
            sets.newest = Newest::There;
            if fates.is_empty() {
                sets.fresh = 0;
            }
        }
    }
    let mut steps = u64::from(!independent);
    if !independent && fates.is_empty() {
        core.settled = true;
        return Some(Ran {
            steps,
            quietly: true,
        });
    }
    let mut left: Vec<LaneMask> = vec![0; lanes.len()];
    for ((sets, left), fates) in lanes.iter_mut().zip(&mut left).zip(fates.chunks(width)) {
        for (lane, &word) in fates.iter().enumerate() {
            let bit = 1 << lane;
            if sets.active & bit == 0 {
                continue;
            }
            let taken = u64::from(word >> fate::BITS);
            match fate::kind(word) {
                fate::STABLE => sets.stable |= bit,
                fate::DEAD => {}
                fate::RUNNING if taken > 0 => {
                    sets.fresh &= !bit;
                    sets.unpublished = true;
                    steps = steps.max(taken);
                    continue;
                }
                fate::LEFT => {
                    *left |= bit;
                    continue;
                }
                _ => continue,
            }
            steps = steps.max(taken);
            sets.active &= !bit;
            sets.fresh &= !bit;
            sets.unpublished = true;
        }
    }
    if left.iter().any(|&lanes| lanes != 0) {
        core.bring_back(program, |block, _| left[block] != 0);
        steps = steps.max(run_left(core, program, limit, &left));
    }
    Some(Ran {
        steps,
        quietly: false,
    })
}

/// Runs the strands that were left, each in its place; gives the super-steps taken.
fn run_left<P: StrandProgram>(core: &mut Core, program: &P, limit: u64, left: &[LaneMask]) -> u64 {
    let width = core.layout.width();
    let mut lanes = std::mem::take(&mut core.roster.lanes);
    let taken = AtomicU64::new(0);
    let first_failure = AtomicU64::new(u64::MAX);
    let here = &*core;
    let shared = here.shared();
    let independent = here.abilities.independent();
    let run = |(block, (sets, &left)): (usize, (&mut LaneSets, &LaneMask))| {
        if left == 0 {
            return;
        }
        let mut worker = here.worker();
        let mut own = LaneSets {
            active: left,
            fresh: sets.fresh & left,
            ..LaneSets::default()
        };
        let ranks = &here.roster.ranks[block * width..(block + 1) * width];
        let mut done = 0;
        while own.active != 0 && done < limit && !ends_now(&here.control, independent) {
            let step = here.step + done;
            if step > first_failure.load(Relaxed) {
                break;
            }
            let mut cx = StepContext::new(&shared, &mut worker, step, block, ranks);
            let state = here.state.block(block);
            done += step_block(
                program,
                here.abilities,
                &mut cx,
                state,
                &mut own,
                limit - done,
            );
            if cx.failed() != 0 {
                first_failure.fetch_min(step, Relaxed);
            }
        }
        taken.fetch_max(done, Relaxed);
        sets.active = sets.active & !left | own.active;
        sets.fresh = sets.fresh & !left | own.fresh;
        sets.stable |= own.stable;
        sets.touch();
    };
    here.parallel(lanes.len(), |wide| {
        if wide {
            lanes.par_iter_mut().zip(left).enumerate().for_each(run);
        } else {
            lanes.iter_mut().zip(left).enumerate().for_each(run);
        }
    });
    core.roster.lanes = lanes;
    taken.into_inner()
}
