//! The options of normalization, and the numbers that describe a run of it.

use crate::laws::Taken;
use ein_ir::Symmetry;
use std::collections::BTreeMap;

/// Which engine normalizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Equality saturation and extraction by cost.
    #[default]
    EGraph,
    /// Bottom up, hash-consed, with a greedy contraction plan.
    Directed,
}

/// How much is done to make a region cheap. No option is about time: the same region and options give the same result.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many nodes the optimizing phases may add to the e-graph, how many applications of rules each of them may
    /// take, and of how many products, half as many, an expanded form may be made.
    pub node_budget: usize,
    /// How many iterations each optimizing phase may take.
    pub iterations: usize,
    /// Whether the result may be undefined at places where the source is defined, such as |a| = a•a/|a| at 0.
    pub relaxed: bool,
    /// For each input of the region the cost of probing one component of it, see [`crate::probe_weight`]; inputs
    /// without an entry are taken for three-dimensional with a cubic kernel.
    pub leaf_cost: Vec<u64>,
    /// Symmetries of the region's definitions that they do not show by themselves, but that other forms of the same values had.
    /// Empty if nothing is known.
    pub symmetry: Vec<Symmetry>,
    /// The engine.
    pub engine: Engine,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            node_budget: 800,
            iterations: 8,
            relaxed: false,
            leaf_cost: Vec::new(),
            symmetry: Vec::new(),
            engine: Engine::EGraph,
        }
    }
}

/// What normalization did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The rules that made classes equal, the steps of the simplifier and the laws of construction, with how often each
    /// was applied.
    pub rules: BTreeMap<&'static str, usize>,
    /// Products that the simplifier left unfinished because its steps went in a circle. Such a product keeps its value; if
    /// there ever is one, it is a fault in the table of steps.
    pub unfinished: usize,
    /// The nodes of the e-graph at its end.
    pub nodes: usize,
    /// The iterations of all phases.
    pub iterations: usize,
    /// Floating-point operations of the definitions as composed and pushed down, before anything was optimized.
    pub cost_before: u64,
    /// Floating-point operations of the result; both without those of the probes.
    pub cost_after: u64,
    /// Probes that the composed definitions ask for, each index pattern on its own.
    pub probes_before: usize,
    /// Probes of the result.
    pub probes_after: usize,
}

impl Stats {
    /// Adds the work that equality saturation did at the same time.
    pub(crate) fn add(&mut self, other: Stats) {
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        self.unfinished += other.unfinished;
        self.nodes += other.nodes;
        self.iterations += other.iterations;
    }

    pub(crate) fn add_laws(&mut self, taken: &Taken) {
        for (law, count) in taken.counts() {
            *self.rules.entry(law).or_default() += count;
        }
        self.unfinished += taken.unfinished;
    }
}
