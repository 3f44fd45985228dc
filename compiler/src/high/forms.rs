//! The normal forms of regions: each region is normalized once, and several at the same time.

use crate::front::{deep, deep_threads};
use ein_ir::region::Region;
use rewrite::{Engine, Normalized, Options};
use rustc_hash::FxHashMap;
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    num::NonZero,
    panic::resume_unwind,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// How often each rewrite rule fired.
pub type RuleCounts = BTreeMap<&'static str, usize>;

/// What normalization has found so far in the functions of a program, all with the same options.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// How often each rule fired.
    pub(super) fired: RuleCounts,
    /// Normal forms of regions, by what probes of their inputs cost.
    forms: FxHashMap<(Region, Vec<u64>), Normalized>,
}

/// How many definitions are worth a thread: about a millisecond.
const WORTH_A_THREAD: usize = 24;

impl Found {
    /// The normal form of a region; functions that are called several times have regions in common.
    pub(super) fn normal_form(&mut self, region: Region, options: &Options) -> Normalized {
        let key = (region, options.leaf_cost.clone());
        if let Some(known) = self.forms.get(&key) {
            return known.clone();
        }
        let normalized = rewrite::normalize(&key.0, options);
        self.forms.insert(key, normalized.clone());
        normalized
    }

    /// Looks for the normal forms of regions that will be asked for, at the same time if that is worth it.
    pub(super) fn prepare(&mut self, mut regions: Vec<(Region, Options)>) {
        let work: usize = regions.iter().map(|(region, _)| region.defs.len()).sum();
        let threads = usize::min(regions.len(), work / WORTH_A_THREAD);
        if threads < 2 {
            return;
        }
        // What takes longest comes first, so that no thread is left with it at the end.
        regions.sort_by_key(|(region, options)| {
            Reverse((options.engine == Engine::EGraph, region.defs.len()))
        });
        let mut keys: Vec<(Region, Vec<u64>)> = Vec::with_capacity(regions.len());
        let mut wanted: Vec<Options> = Vec::with_capacity(regions.len());
        for (region, options) in regions {
            let key = (region, options.leaf_cost.clone());
            if !self.forms.contains_key(&key) && !keys.contains(&key) {
                keys.push(key);
                wanted.push(options);
            }
        }
        let normalize = |k: usize| rewrite::normalize(&keys[k].0, &wanted[k]);
        let forms = each(keys.len(), threads, normalize);
        self.forms.extend(keys.into_iter().zip(forms));
    }
}

/// The results of work on each of `count` items, which this many threads take in turn, or as many as there are cores.
fn each<T: Send + Sync>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let results: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let take_turns = || {
        loop {
            let item = next.fetch_add(1, Ordering::Relaxed);
            let Some(result) = results.get(item) else {
                return;
            };
            result.get_or_init(|| work(item));
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        // Where there can be no more threads, those that there are do the work.
        let start = |_| thread::Builder::new().spawn_scoped(scope, || deep(take_turns));
        let helpers: Vec<_> = (1..cores.min(threads).min(deep_threads()))
            .filter_map(|k| start(k).ok())
            .collect();
        take_turns();
        for helper in helpers {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    let results = results.into_iter().map(OnceLock::into_inner);
    results.map(|done| done.expect("each was done")).collect()
}
