//! Prices of whole forms: the operations of arenas and regions, shared values counted once.

use crate::{
    arena::Arena,
    build::Context,
    cost::{INFINITE, LeafCost, ROOT, cost},
    emit::Symmetry,
    facts::Facts,
    node::Op,
    normalize::Source,
};
use egg::Id;
use ein_ir::region::Region;
use rustc_hash::FxHashSet;

/// What a form costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Price {
    /// Without the probes.
    pub(crate) arithmetic: u64,
    /// With the probes, and one for each node so that ties prefer fewer.
    pub(crate) total: u64,
}

/// What a region in normal form costs whose definitions have these symmetries.
pub(crate) fn emitted_cost(region: &Region, symmetries: &[Symmetry], leaf_cost: LeafCost) -> u64 {
    let mut source = Source::new(region);
    for (&id, symmetry) in source.values[region.inputs.len()..].iter().zip(symmetries) {
        source.arena.learn_groups(id, symmetry);
    }
    arena_cost(&source.arena, source.root, leaf_cost).total
}

/// The operations of an arena by its own facts.
pub(crate) fn arena_cost(arena: &Arena, root: Id, leaf_cost: LeafCost) -> Price {
    cost_with(arena, root, leaf_cost, |id| arena.facts(id))
}

/// The operations of an arena by the given facts of its classes. A square root is taken once.
pub(crate) fn cost_with<'a>(
    arena: &Arena,
    root: Id,
    leaf_cost: LeafCost,
    facts: impl Fn(Id) -> &'a Facts,
) -> Price {
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
        let mut flops = cost(node, facts(id), &facts, field_input, leaf_cost);
        if let Op::Contract(spec) = &node.op {
            for ((_, power), &child) in spec.operands.iter().zip(&node.children) {
                let is_shared = !power.is_integer() && !roots.insert(child);
                flops -= if is_shared { ROOT } else { 0 };
            }
        }
        price.total = price
            .total
            .saturating_add(flops)
            .saturating_add(1)
            .min(INFINITE);
        if node.op != Op::Probe {
            price.arithmetic = price.arithmetic.saturating_add(flops).min(INFINITE);
        }
    }
    price
}

/// The probes that an arena asks for if each index pattern of a probed field is a probe of its own.
pub(crate) fn unsliced_probes(arena: &Arena, root: Id) -> usize {
    let mut patterns: Vec<String> = Vec::new();
    let is_probe = |id: Id| arena.node(id).op == Op::Probe;
    for id in arena.reachable(root) {
        let node = arena.node(id);
        match &node.op {
            Op::Contract(spec) => {
                for ((slots, _), &child) in spec.operands.iter().zip(&node.children) {
                    if is_probe(child) {
                        patterns.push(format!("{child} {slots:?}"));
                    }
                }
            }
            _ => patterns.extend(
                node.children
                    .iter()
                    .filter(|&&c| is_probe(c))
                    .map(|child| format!("{child}")),
            ),
        }
    }
    patterns.sort_unstable();
    patterns.dedup();
    patterns.len()
}
