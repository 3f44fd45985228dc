//! The values that are wanted of strands that are not kept, and the results of these strands.

use crate::memory::Claim;
use crate::reduce::Values;
use crate::strands::Counts;
use crate::world::values::parts::Taker;
use crate::world::workers::on;
use std::sync::Arc;

/// The results of strands that ran to their ends, or until a request to stop.
pub struct Completed {
    /// The values that the variables asked for had in the beginning, in creation order.
    pub initial: Vec<Values>,
    /// The values that they had last, of all strands that did not die; none if they were only streamed.
    pub outputs: Vec<Option<Values>>,
    /// The largest number of super-steps any strand took.
    pub steps: u64,
    /// What became of the strands.
    pub counts: Counts,
    /// Whether all values of the outputs were streamed.
    pub handed_on: bool,
    /// The printed text.
    pub text: String,
    pub(super) threads: Arc<rayon::ThreadPool>,
    /// The memory of the values.
    pub(super) _claim: Claim,
}

impl Completed {
    /// Does something with the workers as the current rayon pool.
    pub fn on_workers<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        on(&self.threads, work)
    }
}

/// State variables whose values are kept.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// As strands are made.
    pub initial: &'a [usize],
    /// As they end.
    pub outputs: &'a [usize],
    /// The receiver of the values of outputs as they come, if the strands are a grid.
    pub taker: Option<Taker<'a>>,
}

/// How it ended.
pub enum Completion {
    /// No strand is active any more, or the others were asked to stop.
    Completed(Box<Completed>),
    /// A strand met a run-time error. Which is to be reported is found by a [`World`](crate::world::World) of the same program.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// The program's executor does not make these strands. A [`World`](crate::world::World) of the same program lets it run them.
    Declined,
}
