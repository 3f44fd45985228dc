//! Ranks of a cluster that are threads of the test.

#![allow(dead_code, reason = "every test uses a part of it")]

use runtime::cluster::{Team, Threads};
use std::sync::Arc;

/// Does something on every rank; gives the results in the order of ranks. Letters are delayed as the seed says.
pub(crate) fn on_ranks<R: Send>(
    size: usize,
    seed: u64,
    work: impl Fn(Arc<Team>) -> R + Sync,
) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let ranks = Threads::ranks(size, seed).into_iter();
        let ranks: Vec<_> = ranks
            .map(|rank| scope.spawn(move || work(Arc::new(Team::new(rank)))))
            .collect();
        let ended = ranks.into_iter().map(|rank| rank.join());
        ended
            .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
