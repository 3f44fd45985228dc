//! The interface that the compiler implements: the layout of a strand's state, its methods over
//! blocks of W strands, and the global blocks.

use super::abilities::Abilities;
use super::executor::Executor;
use super::step::context::StepContext;
use super::step::global::GlobalContext;
use crate::abi::{LaneMask, LaneOutcome};
use crate::sequence::Sequence;
use crate::strands::StateLayout;

/// A compiled program. Methods run on W strands at once and are called by several workers at the
/// same time, each with another block.
///
/// # Safety
/// The world trusts the program: with valid arguments, the strand methods may write nothing but the
/// lanes of `block` they were asked to run and what the context gives them, must leave in every
/// sequence plane a handle that the context or a published plane gave them, and must answer with
/// lanes out of those they were asked to run.
pub unsafe trait StrandProgram: Sync {
    /// The layout of the state. It must be the same at every call.
    fn layout(&self) -> &StateLayout;

    /// What the program makes use of.
    fn abilities(&self) -> Abilities;

    /// Initializes the strands of the creation clause. Lane `l` has iterator positions
    /// `coordinates[axis * W + l]`, counted from 0, first iterator first.
    ///
    /// # Safety
    /// `block` is a zeroed block of the layout that no other thread accesses, `coordinates` has W
    /// entries per axis.
    unsafe fn create(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    );

    /// Whether strands always end with their first `update`, and [`create_and_update`](StrandProgram::create_and_update) can be called.
    fn ends_at_once(&self) -> bool {
        false
    }

    /// Does what `create` does and then `update`. The lanes that stabilize or die are all those that do not fail.
    ///
    /// # Safety
    /// As for `create`, and [`ends_at_once`](StrandProgram::ends_at_once).
    unsafe fn create_and_update(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) -> LaneOutcome {
        // SAFETY: promised by the caller.
        unsafe {
            self.create(cx, block, lanes, coordinates);
            self.update(cx, block, lanes)
        }
    }

    /// Runs the `start` method.
    ///
    /// # Safety
    /// `block` is a block of the layout that no other thread accesses.
    unsafe fn start(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome;

    /// Runs the `update` method.
    ///
    /// # Safety
    /// As for `start`.
    unsafe fn update(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome;

    /// Runs the `update` method up to `steps` times, at least once, and every lane until it ends. It is for strands that cannot
    /// observe each other and that nothing observes between super-steps. Returns the outcome of the lanes, and the number of
    /// times that the method ran for the lanes that ran longest.
    ///
    /// # Safety
    /// As for `start`.
    unsafe fn update_steps(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        steps: u64,
    ) -> (LaneOutcome, u64) {
        debug_assert!(steps > 0);
        // SAFETY: promised by the caller.
        (unsafe { self.update(cx, block, lanes) }, 1)
    }

    /// The executor that runs strands instead of the methods, if there is one.
    fn executor(&self) -> Option<&dyn Executor> {
        None
    }

    /// Runs the `stabilize` method.
    ///
    /// # Safety
    /// As for `start`.
    unsafe fn stabilize(&self, cx: &mut StepContext<'_>, block: *mut u8, lanes: LaneMask);

    /// Runs the global `start` block.
    fn global_start(&mut self, cx: &mut GlobalContext<'_>);

    /// Runs the global `update` block.
    fn global_update(&mut self, cx: &mut GlobalContext<'_>);

    /// Calls `hold` with every sequence that a global variable refers to. Global sequences that are
    /// not named are freed after each global block.
    fn held_sequences(&self, hold: &mut dyn FnMut(Sequence));
}
