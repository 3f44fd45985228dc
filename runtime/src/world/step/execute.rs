//! Super-steps by an executor. Strands that it does not finish are run here, and the records of all follow its results.

use super::context::StepContext;
use super::methods::step_block;
use crate::abi::LaneMask;
use crate::strands::roster::{LaneSets, Newest};
use crate::world::core::Core;
use crate::world::executor::{Batch, Executor, ends_now, fate};
use crate::world::program::StrandProgram;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The outcome of a run by an executor.
pub(crate) struct Ran {
    /// The largest number of super-steps any strand took.
    pub(crate) steps: u64,
    /// Whether no strand ended, is left or was made, so that nothing has to be done about them here.
    pub(crate) quietly: bool,
}

/// Runs the active strands of these runs of blocks by the program's executor, if it has one. Strands that notice each other run all
/// together.
pub(crate) fn execute<P: StrandProgram>(
    core: &mut Core,
    program: &P,
    limit: u64,
    own: &[Range<usize>],
) -> Option<Ran> {
    let executor = program.executor().filter(|executor| executor.is_ready())?;
    if core.counts.active == 0 {
        return None;
    }
    let blocks = core.roster.blocks();
    let mut batch = core.batch(limit);
    let ran = match own {
        [all] if *all == (0..blocks) => executor.run(&mut batch),
        own => {
            run_parts(executor, &mut batch, own);
            true
        }
    };
    let Batch {
        fates,
        events,
        independent,
        began,
        ..
    } = batch;
    let quietly = fates.is_empty() && events.is_text_alone();
    if !(ran && quietly) {
        core.residence.note_change();
    }
    let width = core.layout.width();
    if !ran {
        if began {
            let lanes = &core.roster.lanes;
            if lanes.iter().any(|sets| sets.newest == Newest::There) {
                core.residence.lose();
            }
        } else {
            core.bring_back(Some(executor), |_, _| true);
        }
        core.publish();
        return core.residence.is_lost().then_some(Ran {
            steps: 0,
            quietly: false,
        });
    }
    core.land_events(events);
    core.roster.reordered = false;
    if core.residence.is_settled() {
        return Some(Ran {
            steps: 1,
            quietly: true,
        });
    }
    let is_left = |word: &u32| fate::kind(*word) == fate::LEFT;
    if core.abilities.communicates && fates.iter().any(is_left) {
        // Strands that are left see the others as they were before the super-step.
        if !executor.bring_published(&mut core.batch(0)) {
            core.residence.lose();
        }
        core.update_index();
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
        core.residence.settle();
        return Some(Ran { steps, quietly });
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
        core.bring_back(Some(executor), |block, _| left[block] != 0);
        steps = steps.max(run_left(core, program, limit, &left));
    }
    Some(Ran {
        steps,
        quietly: false,
    })
}

/// Runs some of the blocks, each run by itself. A run that fails is left to the methods, because its strands are then unchanged.
fn run_parts(executor: &dyn Executor, batch: &mut Batch<'_>, own: &[Range<usize>]) {
    let width = batch.width;
    let mut fates = vec![fate::IDLE; batch.blocks() * width];
    for run in own {
        let slots = run.start * width..run.end * width;
        let mut part = batch.part(run.clone());
        fates[slots].copy_from_slice(&match executor.run(&mut part) {
            true => part.fates,
            false => {
                let told = part.told(0..part.blocks()).into_iter();
                let leave = |word: u32| match word {
                    fate::RUNNING | fate::FRESH => fate::LEFT,
                    ended => ended,
                };
                told.map(leave).collect()
            }
        });
    }
    batch.fates = fates;
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
