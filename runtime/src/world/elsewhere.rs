//! Runs strands somewhere else than by the methods: on another machine, all together. Those that cannot notice each other
//! run to their ends, others super-step by super-step.
//!
//! A strand that is not finished there is left as it was, and its methods run it here, so that nothing another machine
//! cannot do is lost and every run-time error is reported by the methods.

use super::Control;
use super::context::StepContext;
use super::core::Core;
use super::methods::step_block;
use super::program::StrandProgram;
use crate::abi::LaneMask;
use crate::strands::Counts;
use crate::strands::roster::LaneSets;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is to become, or has become, of a strand. Above these bits is how many super-steps it has taken.
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

/// Strands that are to run elsewhere.
pub struct Batch<'a> {
    /// The states of all strands, block after block.
    pub state: &'a mut [u8],
    /// Bytes of a block.
    pub stride: usize,
    /// Strands in a block.
    pub width: usize,
    /// What becomes of each strand, by its place.
    pub fates: Vec<u32>,
    /// Super-steps at most.
    pub limit: u64,
    /// Sizes of the sets at the end of the last super-step.
    pub counts: Counts,
    first_step: u64,
    independent: bool,
    control: &'a Control,
}

impl Batch<'_> {
    /// Whether the run has to end now. A super-step that all strands take together is finished unless it is cancelled.
    pub fn is_over(&self) -> bool {
        ends_now(self.control, self.independent)
    }

    /// Tells whoever watches how far strands have come and how many have ended.
    pub fn advance(&self, steps: u64, stabilized: u64, died: u64) {
        self.control
            .advance(self.first_step + steps, stabilized, died);
    }
}

/// Whether a run has to end before its strands have done what they began.
fn ends_now(control: &Control, independent: bool) -> bool {
    match independent {
        true => control.is_over(),
        false => control.is_cancelled(),
    }
}

/// Runs all active strands where the program says; gives the largest number of super-steps any strand took, or nothing if
/// the program says nothing.
pub(crate) fn run_elsewhere<P: StrandProgram>(
    core: &mut Core,
    program: &P,
    limit: u64,
) -> Option<u64> {
    if !program.runs_elsewhere() || core.counts.active == 0 {
        return None;
    }
    let width = core.layout.width();
    let starts = core.abilities.starts;
    let fate_of = |sets: &LaneSets, lane: usize| match (sets.active >> lane, sets.fresh >> lane) {
        (active, _) if active & 1 == 0 => fate::IDLE,
        (_, fresh) if starts && fresh & 1 == 1 => fate::FRESH,
        _ => fate::RUNNING,
    };
    let lanes = core.roster.lanes.iter();
    let fates = lanes.flat_map(|sets| (0..width).map(move |lane| fate_of(sets, lane)));
    let fates = fates.collect();
    let stride = core.layout.stride();
    let bytes = core.state.len() * stride;
    // SAFETY: the blocks are one piece of memory, and no method runs now.
    let state = unsafe { std::slice::from_raw_parts_mut(core.state.base(), bytes) };
    let mut batch = Batch {
        state,
        stride,
        width,
        fates,
        limit,
        counts: core.counts,
        first_step: core.step,
        independent: core.abilities.independent(),
        control: &core.control,
    };
    if !program.run_elsewhere(&mut batch) {
        return None;
    }
    let fates = batch.fates;
    let mut steps = 0;
    let mut left: Vec<LaneMask> = vec![0; core.roster.lanes.len()];
    for (block, sets) in core.roster.lanes.iter_mut().enumerate() {
        for (lane, &word) in fates[block * width..(block + 1) * width].iter().enumerate() {
            let bit = 1 << lane;
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
                    left[block] |= bit;
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
        steps = steps.max(run_left(core, program, limit, &left));
    }
    Some(steps)
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
        sets.unpublished = true;
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
