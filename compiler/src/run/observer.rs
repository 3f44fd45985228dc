//! Observers of a run: files, films, viewers.

use super::Run;
use runtime::{output::early::Early, world::RunEnd};

/// Sees a run on its way. All methods are called on the thread that runs it.
///
/// Strands that nothing can notice are not kept: they are created, run to their ends and forgotten, one after the other, unless an
/// observer needs more than their outputs.
pub trait Observer {
    /// Whether it reads strands while they run, or variables other than outputs.
    fn needs_strands(&self) -> bool {
        false
    }

    /// The super-steps from one call of [`Observer::stepped`] to the next, if it wants these calls. Then strands are kept.
    fn period(&self) -> Option<u64> {
        None
    }

    /// Whether it may read outputs in the end that do not come as rows.
    fn reads_outputs(&self) -> bool {
        true
    }

    /// Strands will not be kept. Their outputs come as rows while they run.
    fn streams(&mut self, _run: &Run) {}

    /// Takes the values of outputs as they come, if the strands are a grid that is not kept.
    fn rows(&self) -> Option<&dyn Rows> {
        None
    }

    /// The places of the strands at their creation can be read: before the first super-step if they are kept, else after the last.
    ///
    /// # Errors
    /// The run cannot continue.
    fn created(&mut self, _run: &Run) -> Result<(), String> {
        Ok(())
    }

    /// The strands are there, or the number of super-steps has become a multiple of the period.
    ///
    /// # Errors
    /// The run cannot continue.
    fn stepped(&mut self, _run: &Run) -> Result<(), String> {
        Ok(())
    }

    /// The run has ended, or has come to its limit, and the outputs can be read.
    ///
    /// # Errors
    /// The results cannot be used.
    fn ended(&mut self, _run: &Run, _end: RunEnd) -> Result<(), String> {
        Ok(())
    }
}

/// Observes nothing. Outputs stay readable after the run.
impl Observer for () {}

/// Takes the values of outputs while others are computed.
pub trait Rows: Sync {
    /// Takes values of an output, by its number, in creation order. `before` is the number of bytes of its values that come before.
    /// Called by any worker, but for one output by one at a time.
    fn take(&self, output: usize, before: usize, values: &[u8]);

    /// Whether the values of an output are not needed again.
    fn is_last(&self, output: usize) -> bool;

    /// The file that the values of an output go to, and nowhere else. The ranks of a cluster may write it instead of calling
    /// [`Rows::take`].
    fn file(&self, _output: usize) -> Option<&Early> {
        None
    }
}
