//! Runs the methods of a program on one block and books what becomes of its lanes.

use super::context::StepContext;
use super::program::{Abilities, StrandProgram};
use crate::abi::{LaneMask, LaneOutcome};
use crate::strands::arrange::bits;
use crate::strands::roster::LaneSets;

/// One super-step of one block: `start` for lanes that are new, `update` for those still active. If several super-steps are
/// wanted, `update` may run so often; gives how many super-steps there were.
pub(crate) fn step_block<P: StrandProgram>(
    program: &P,
    abilities: Abilities,
    cx: &mut StepContext<'_>,
    block: *mut u8,
    sets: &mut LaneSets,
    steps: u64,
) -> u64 {
    let mut taken = 1;
    let fresh = std::mem::take(&mut sets.fresh);
    if fresh != 0 && abilities.starts {
        // SAFETY: the block is the context's.
        let start = |cx: &mut StepContext<'_>| unsafe { program.start(cx, block, fresh) };
        run_method(program, abilities, cx, block, sets, fresh, start);
    }
    if sets.active != 0 {
        let lanes = sets.active;
        let update = |cx: &mut StepContext<'_>| {
            // SAFETY: the block is the context's.
            let (outcome, steps) = unsafe { program.update_steps(cx, block, lanes, steps) };
            taken = steps;
            outcome
        };
        run_method(program, abilities, cx, block, sets, lanes, update);
    }
    taken
}

fn run_method<P: StrandProgram>(
    program: &P,
    abilities: Abilities,
    cx: &mut StepContext<'_>,
    block: *mut u8,
    sets: &mut LaneSets,
    lanes: LaneMask,
    method: impl FnOnce(&mut StepContext<'_>) -> LaneOutcome,
) {
    // SAFETY: the scheduler gives each block to one worker, and the block is the context's.
    unsafe {
        cx.open_method(block);
        let outcome = method(cx);
        debug_assert_eq!(
            (outcome.stable | outcome.dead) & !lanes,
            0,
            "outcomes of lanes that did not run"
        );
        let dead = (outcome.dead | cx.failed()) & lanes;
        let stable = outcome.stable & lanes & !dead;
        if stable != 0 && abilities.stabilizes {
            program.stabilize(cx, block, stable);
        }
        cx.close_method(block, lanes, dead);
        sets.active &= !(dead | stable);
        sets.stable |= stable;
    }
}

/// Runs the `stabilize` methods of all active lanes of a block.
pub(crate) fn stabilize_block<P: StrandProgram>(
    program: &P,
    abilities: Abilities,
    cx: &mut StepContext<'_>,
    block: *mut u8,
    sets: &mut LaneSets,
) {
    let lanes = std::mem::take(&mut sets.active);
    sets.fresh = 0;
    sets.stable |= lanes;
    if abilities.stabilizes {
        // SAFETY: the scheduler gives each block to one worker, and the block is the context's.
        unsafe {
            cx.open_method(block);
            program.stabilize(cx, block, lanes);
            cx.close_method(block, lanes, 0);
        }
    }
}

/// Creates the strands in the given lanes of a block: their iterator positions follow from their
/// ranks.
pub(crate) fn create_block<P: StrandProgram>(
    program: &P,
    sizes: &[usize],
    cx: &mut StepContext<'_>,
    block: *mut u8,
    lanes: LaneMask,
) {
    let ranks = cx.ranks();
    let width = ranks.len();
    let mut coordinates = vec![0u32; sizes.len() * width];
    for lane in bits(lanes) {
        let mut rest = ranks[lane as usize] as usize;
        for (axis, &size) in sizes.iter().enumerate().rev() {
            coordinates[axis * width + lane as usize] = (rest % size) as u32;
            rest /= size;
        }
    }
    // SAFETY: the scheduler gives each block to one worker, the block is the context's, and all
    // axes have their coordinates.
    unsafe {
        cx.open_method(block);
        program.create(cx, block, lanes, coordinates.as_ptr());
        cx.close_method(block, lanes, 0);
    }
}
