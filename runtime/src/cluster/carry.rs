//! The trait that MPI implements, and threads for tests.

use super::mailbox::Mailbox;
use std::sync::Arc;

/// Carries letters between the ranks of a run.
pub trait Cluster: Send + Sync {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Sends a letter to the mailbox of another rank, without waiting for it. The letters of one sender arrive in their order. Any
    /// thread may call it.
    fn send(&self, to: usize, letter: Arc<Vec<u8>>);

    /// The letters that have come to this rank.
    fn mailbox(&self) -> &Mailbox;
}
