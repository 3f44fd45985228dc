//! Runs strands that cannot notice each other: each group of blocks goes through all its
//! super-steps on its own, without waiting for the others.

use super::core::Core;
use super::program::StrandProgram;
use super::step::context::StepContext;
use super::step::execute::execute;
use super::step::methods::step_block;
use crate::abi::LaneMask;
use crate::cluster::Lost;
use crate::strands::arrange::{Records, arrange, in_turn, is_open, packed_order, packing_pays};
use crate::strands::roster::LaneSets;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Strands in a group, at most: enough to pack a few stragglers together, few enough to stay in a
/// cache.
pub(super) const GROUP: usize = 1024;
/// Groups, at least, if there are enough blocks: a few for every worker of a large machine. It does not depend on the
/// number of workers, because which strands are packed together may show in the last bits of what primitives compute.
pub(super) const SHARES: usize = 256;
/// Super-steps a block runs in one go.
const STRIDE: u64 = 16;

/// Runs every strand for up to `limit` super-steps or until it is done, by the program's executor if it has one; gives the largest
/// number of super-steps any strand took.
///
/// After an error in some super-step, others may stop before theirs: the run is over anyway, and no
/// earlier error can be missed.
pub(crate) fn run_to_completion<P: StrandProgram>(
    core: &mut Core,
    program: &P,
    limit: u64,
) -> Result<u64, Lost> {
    core.complete_together(|core, own| match execute(core, program, limit, own) {
        Some(ran) => ran.steps,
        None => run_groups(core, program, limit, own),
    })
}

/// The number of blocks in a group.
pub(super) fn groups(core: &Core) -> usize {
    let fair = core.roster.blocks() / SHARES;
    fair.clamp(1, (GROUP / core.layout.width()).max(1))
}

/// The same for the groups of this rank, which are these runs of blocks.
fn run_groups<P: StrandProgram>(
    core: &mut Core,
    program: &P,
    limit: u64,
    own: &[Range<usize>],
) -> u64 {
    let is_own = |block: usize| {
        let run = own.partition_point(|run| run.end <= block);
        own.get(run).is_some_and(|run| run.contains(&block))
    };
    let width = core.layout.width();
    let blocks = groups(core);
    let taken = AtomicU64::new(0);
    let first_failure = AtomicU64::new(u64::MAX);
    let mut lanes = std::mem::take(&mut core.roster.lanes);
    let mut ranks = std::mem::take(&mut core.roster.ranks);
    let core_here = &*core;
    let run = |(group, (lanes, ranks)): (usize, (&mut [_], &mut [_]))| {
        if !is_own(group * blocks) {
            return;
        }
        let records = Records { lanes, ranks };
        let steps = run_group(
            core_here,
            program,
            group * blocks,
            records,
            limit,
            &first_failure,
        );
        taken.fetch_max(steps, Relaxed);
    };
    core.parallel(lanes.len(), |wide| {
        if wide {
            let groups = lanes
                .par_chunks_mut(blocks)
                .zip(ranks.par_chunks_mut(blocks * width));
            // Some take much longer than others, and an idle worker takes any.
            groups.enumerate().with_max_len(1).for_each(run);
        } else {
            let groups = lanes
                .chunks_mut(blocks)
                .zip(ranks.chunks_mut(blocks * width));
            groups.enumerate().for_each(run);
        }
    });
    core.roster.lanes = lanes;
    core.roster.ranks = ranks;
    taken.into_inner()
}

/// Runs one group of blocks that begins with block `first` of the world; returns the number of
/// super-steps taken.
pub(super) fn run_group<P: StrandProgram>(
    core: &Core,
    program: &P,
    first: usize,
    mut records: Records<'_>,
    limit: u64,
    first_failure: &AtomicU64,
) -> u64 {
    let width = core.layout.width();
    let shared = core.shared();
    let mut worker = core.worker();
    let mut done = 0;
    let mut before = count(records.lanes, width);
    while done < limit && before.0 != 0 {
        if core.step + done > first_failure.load(Relaxed) {
            break;
        }
        let mut longest = 0;
        let ranks = &*records.ranks;
        let mut cx = StepContext::new(&shared, &mut worker, 0, first, &[]);
        for block in 0..records.lanes.len() {
            let slots = block * width..(block + 1) * width;
            let sets = &mut records.lanes[block];
            let mut steps = 0;
            let wanted = STRIDE.min(limit - done);
            while sets.active != 0 && steps < wanted {
                let step = core.step + done + steps;
                if core.control.is_over() {
                    return done + steps;
                }
                if step > first_failure.load(Relaxed) {
                    break;
                }
                cx.enter(step, first + block, &ranks[slots.clone()]);
                let taken = step_block(
                    program,
                    core.abilities,
                    &mut cx,
                    core.state.block(first + block),
                    sets,
                    wanted - steps,
                );
                if cx.failed() != 0 {
                    first_failure.fetch_min(step, Relaxed);
                }
                steps += taken;
            }
            longest = longest.max(steps);
        }
        done += longest;
        let now = count(records.lanes, width);
        let stabilized = now.1 - before.1;
        let died = before.0 - now.0 - stabilized;
        core.control.advance(core.step + done, stabilized, died);
        before = now;
        if packing_pays(records.lanes, width) {
            let sources = packed_order(records.lanes, width, is_open);
            // SAFETY: the blocks of the group are this worker's.
            unsafe {
                arrange(
                    &core.layout,
                    &core.state,
                    first,
                    &mut records,
                    &sources,
                    &in_turn,
                )
            };
        }
    }
    done
}

/// Active and stable strands, in blocks of `width` lanes.
pub(super) fn count(lanes: &[LaneSets], width: usize) -> (u64, u64) {
    let full = LaneMask::MAX >> (LaneMask::BITS as usize - width);
    // Nearly always all lanes are in a set or none, and without a machine's own instruction it takes long to count them.
    let size = |set: LaneMask| match set {
        0 => 0,
        _ if set == full => width as u64,
        _ => set.count_ones().into(),
    };
    lanes.iter().fold((0, 0), |(active, stable), sets| {
        (active + size(sets.active), stable + size(sets.stable))
    })
}
