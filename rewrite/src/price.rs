//! Prices of whole forms: the operations of arenas and regions, shared values counted once.

use crate::{
    arena::Arena,
    build::Context,
    cost::{INFINITE, LeafCost, ROOT, cost, counted},
    node::{Op, Slots},
};
use egg::Id;
use rustc_hash::FxHashSet;

/// What a form costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Price {
    /// Without the probes.
    pub(crate) arithmetic: u64,
    /// With the probes, each node as [`counted`].
    pub(crate) total: u64,
}

/// The operations of an arena. A square root is taken once.
pub(crate) fn arena_cost(arena: &Arena, root: Id, leaf_cost: LeafCost) -> Price {
    let facts = |id: Id| arena.facts(id);
    let field_input = |id: Id| match arena.node(id).op {
        Op::Field { input, .. } => Some(input),
        _ => None,
    };
    let mut price = Price::default();
    let mut roots: FxHashSet<Id> = FxHashSet::default();
    for id in arena.reachable(root) {
        let node = arena.node(id);
        if matches!(node.op, Op::Field { .. }) {
            continue;
        }
        let mut flops = cost(node, facts(id), facts, field_input, leaf_cost);
        if let Op::Contract(spec) = &node.op {
            for ((_, power), &child) in spec.operands.iter().zip(&node.children) {
                let is_shared = !power.is_integer() && !roots.insert(child);
                flops -= if is_shared { ROOT } else { 0 };
            }
        }
        price.total = price.total.saturating_add(counted(flops));
        if node.op != Op::Probe {
            price.arithmetic = price.arithmetic.saturating_add(flops).min(INFINITE);
        }
    }
    price
}

/// The probes that an arena asks for if each index pattern of a probed field is a probe of its own.
pub(crate) fn unsliced_probes(arena: &Arena, root: Id) -> usize {
    let mut patterns: Vec<(Id, Option<&Slots>)> = Vec::new();
    let is_probe = |id: Id| arena.node(id).op == Op::Probe;
    for id in arena.reachable(root) {
        let node = arena.node(id);
        let slots = |k: usize| match &node.op {
            Op::Contract(spec) => Some(&spec.operands[k].0),
            _ => None,
        };
        let children = node.children.iter().enumerate();
        let probes = children.filter(|(_, child)| is_probe(**child));
        patterns.extend(probes.map(|(k, &child)| (child, slots(k))));
    }
    patterns.sort_unstable();
    patterns.dedup();
    patterns.len()
}
