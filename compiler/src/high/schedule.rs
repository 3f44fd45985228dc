//! Places definitions as early as their arguments allow.

use super::High;
use crate::ssa::{Inst, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A block under construction, and definitions that wait for their arguments. They are placed in rounds: each round takes, in
/// their order, the definitions that the round before has made possible.
pub(super) struct Schedule {
    placed: Vec<Inst<High>>,
    pending: Vec<Option<Inst<High>>>,
    /// For each pending definition how many arguments are still to be defined.
    missing: Vec<usize>,
    /// The pending definitions that wait for each value.
    waiting: FxHashMap<Value, Vec<usize>>,
    /// The definitions that can be placed, by round.
    ready: BTreeSet<(usize, usize)>,
}

impl Schedule {
    /// A block of `pending` definitions and the instructions `kept`, which will be placed in turn; values of neither are
    /// defined outside.
    pub(super) fn new(kept: &[Inst<High>], pending: Vec<Inst<High>>) -> Schedule {
        let results = kept.iter().chain(&pending).flat_map(|inst| &inst.results);
        let here: FxHashSet<Value> = results.copied().collect();
        let mut schedule = Schedule {
            placed: Vec::with_capacity(kept.len() + pending.len()),
            pending: Vec::with_capacity(pending.len()),
            missing: Vec::with_capacity(pending.len()),
            waiting: FxHashMap::default(),
            ready: BTreeSet::new(),
        };
        for (n, inst) in pending.into_iter().enumerate() {
            let mut missing = inst.kind.operands();
            missing.retain(|v| here.contains(v));
            missing.sort_unstable();
            missing.dedup();
            if missing.is_empty() {
                schedule.ready.insert((0, n));
            }
            schedule.missing.push(missing.len());
            for v in missing {
                schedule.waiting.entry(v).or_default().push(n);
            }
            schedule.pending.push(Some(inst));
        }
        schedule.place_ready();
        schedule
    }

    /// Places an instruction, and the definitions that have waited for it.
    pub(super) fn place(&mut self, inst: Inst<High>) {
        self.define(&inst.results, 0);
        self.placed.push(inst);
        self.place_ready();
    }

    /// The instructions in order.
    pub(super) fn finish(self) -> Vec<Inst<High>> {
        let is_complete = self.pending.iter().all(Option::is_none);
        assert!(is_complete, "normalization made a cycle");
        self.placed
    }

    fn place_ready(&mut self) {
        while let Some((round, n)) = self.ready.pop_first() {
            let inst = self.pending[n].take().expect("it is placed once");
            self.define(&inst.results, round + 1);
            self.placed.push(inst);
        }
    }

    /// Definitions that have waited only for these values can be placed in this round.
    fn define(&mut self, values: &[Value], round: usize) {
        for v in values {
            for n in self.waiting.remove(v).unwrap_or_default() {
                self.missing[n] -= 1;
                if self.missing[n] == 0 {
                    self.ready.insert((round, n));
                }
            }
        }
    }
}
