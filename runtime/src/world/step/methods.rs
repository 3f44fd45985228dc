//! Runs the methods of a program on one block and books what becomes of its lanes.

use super::context::StepContext;
use crate::abi::{LaneMask, LaneOutcome, MAX_WIDTH};
use crate::strands::roster::LaneSets;
use crate::world::abilities::Abilities;
use crate::world::program::StrandProgram;

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
        sets.fresh = fresh & cx.waiting();
    }
    // Strands for which there is no memory stay as they are: the run is over.
    let lanes = sets.active & !cx.exhausted() & !cx.waiting();
    if lanes != 0 {
        let update = |cx: &mut StepContext<'_>| {
            // SAFETY: the block is the context's.
            let (outcome, steps) = unsafe { program.update_steps(cx, block, lanes, steps) };
            taken = steps;
            outcome
        };
        run_method(program, abilities, cx, block, sets, lanes, update);
    }
    sets.waiting = cx.waiting();
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
        cx.undo_exhausted(block);
        let ended = lanes & !cx.exhausted() & !cx.waiting();
        let dead = (outcome.dead | cx.failed()) & ended;
        let stable = outcome.stable & ended & !dead;
        if stable != 0 && abilities.stabilizes {
            program.stabilize(cx, block, stable);
        }
        cx.undo_waiting(block);
        let (dead, stable) = (dead & !cx.waiting(), stable & !cx.waiting());
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

/// The sizes of the axes of a creation clause, prepared for dividing ranks by them.
pub(crate) struct Axes(Vec<(u32, u64)>);

impl Axes {
    /// Each size is below 2³², or there is no strand.
    pub(crate) fn new(sizes: &[usize]) -> Axes {
        // Lemire's reciprocal: the upper half of its product with any number of 32 bits is the quotient. That of 1 does not
        // fit and stands as 0.
        let reciprocal = |size: u32| (u64::MAX / u64::from(size.max(1))).wrapping_add(1);
        let axes = sizes.iter().map(|&size| size as u32);
        Axes(axes.map(|size| (size, reciprocal(size))).collect())
    }

    /// The iterator positions of the strands with these ranks, axis by axis.
    fn positions(&self, ranks: &[u32], positions: &mut Vec<u32>) {
        let width = ranks.len();
        positions.resize(self.0.len() * width, 0);
        let mut rest = [0; MAX_WIDTH];
        let rest = &mut rest[..width];
        rest.copy_from_slice(ranks);
        let planes = positions.chunks_exact_mut(width);
        for (plane, &(size, reciprocal)) in planes.zip(&self.0).rev() {
            for (position, rest) in plane.iter_mut().zip(&mut *rest) {
                let quotient = match reciprocal {
                    0 => *rest,
                    _ => ((u128::from(reciprocal) * u128::from(*rest)) >> u64::BITS) as u32,
                };
                *position = *rest - quotient * size;
                *rest = quotient;
            }
        }
    }
}

/// Creates the strands in the given lanes of a block: their iterator positions follow from their
/// ranks.
pub(crate) fn create_block<P: StrandProgram>(
    program: &P,
    axes: &Axes,
    cx: &mut StepContext<'_>,
    block: *mut u8,
    lanes: LaneMask,
) {
    let mut coordinates = std::mem::take(cx.coordinates());
    axes.positions(cx.ranks(), &mut coordinates);
    create_at(program, &coordinates, cx, block, lanes);
    *cx.coordinates() = coordinates;
}

/// Creates the strands in the given lanes of a block at these iterator positions, one for each lane axis by axis.
pub(crate) fn create_at<P: StrandProgram>(
    program: &P,
    coordinates: &[u32],
    cx: &mut StepContext<'_>,
    block: *mut u8,
    lanes: LaneMask,
) {
    // SAFETY: the scheduler gives each block to one worker, the block is the context's, and all
    // axes have their coordinates.
    unsafe {
        cx.open_method(block);
        program.create(cx, block, lanes, coordinates.as_ptr());
        cx.close_method(block, lanes, 0);
    }
}

/// Creates the strands in the given lanes of a block at these iterator positions, and runs their first and last super-step; gives what
/// became of them.
pub(crate) fn create_and_end<P: StrandProgram>(
    program: &P,
    abilities: Abilities,
    coordinates: &[u32],
    cx: &mut StepContext<'_>,
    block: *mut u8,
    lanes: LaneMask,
) -> LaneSets {
    let mut sets = LaneSets {
        active: lanes,
        unpublished: true,
        ..LaneSets::default()
    };
    let method = |cx: &mut StepContext<'_>| {
        // SAFETY: as in `create_at`.
        unsafe { program.create_and_update(cx, block, lanes, coordinates.as_ptr()) }
    };
    run_method(program, abilities, cx, block, &mut sets, lanes, method);
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_taken_apart_as_by_division() {
        for sizes in [
            vec![],
            vec![7],
            vec![1, 5, 1],
            vec![3, 1000, 17],
            vec![65536, 65535],
            vec![2, 2147483647],
            vec![4294967294],
        ] {
            let count: u64 = sizes.iter().map(|&size| size as u64).product();
            let axes = Axes::new(&sizes);
            for first in [0, 1, count / 3, count / 2, count.saturating_sub(16)] {
                let ranks: Vec<u32> = (0..16).map(|n| (first + n).min(count - 1) as u32).collect();
                let mut positions = Vec::new();
                axes.positions(&ranks, &mut positions);
                for (lane, &rank) in ranks.iter().enumerate() {
                    let mut rest = rank as usize;
                    for (axis, &size) in sizes.iter().enumerate().rev() {
                        assert_eq!(
                            positions[axis * 16 + lane] as usize,
                            rest % size,
                            "{sizes:?}"
                        );
                        rest /= size;
                    }
                }
            }
        }
    }
}
