//! Which nodes may be extracted: defined wherever the source is, and reduced.

use crate::{
    class::Leaf,
    node::{Function, Node, Op, Slot, Slots},
    numbers::Power,
};
use egg::Id;
use ein_ir::Elementary;
use rustc_hash::FxHashSet;

/// How a scalar can make a term undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Singular {
    Inverse,
    Root,
    Function(Elementary),
}

/// The places at which a term can be undefined: a class and how it is used.
pub(crate) type Places = FxHashSet<(Id, Singular)>;

/// The singular places of one node.
pub(crate) fn singular_places(node: &Node) -> Vec<(Id, Singular)> {
    let mut places = Vec::new();
    let mut power = |child: Id, power: Power| {
        if power.halves() < 0 {
            places.push((child, Singular::Inverse));
        }
        if !power.is_integer() {
            places.push((child, Singular::Root));
        }
    };
    match &node.op {
        Op::Contract(spec) => {
            for ((_, exponent), &child) in spec.operands.iter().zip(&node.children) {
                power(child, *exponent);
            }
        }
        Op::Apply(Function::Power(exponent)) => power(node.children[0], *exponent),
        Op::Apply(Function::Elementary(function)) if function.def().singular => {
            let place = |&child: &Id| (child, Singular::Function(*function));
            places.extend(node.children.iter().map(place));
        }
        _ => {}
    }
    places
}

/// Whether a contraction has a δ, an ε or a sum that the simplifier removes: it is in the graph as it was written only.
pub(crate) fn is_reducible(node: &Node, leaf: impl Fn(Id) -> Leaf) -> bool {
    let Op::Contract(spec) = &node.op else {
        return false;
    };
    let is_dummy =
        |slot: &Slot| matches!(slot, Slot::Label(label) if usize::from(*label) >= spec.results);
    let mentions = |label: usize| {
        let mut slots = spec.operands.iter().flat_map(|(slots, _)| slots);
        slots.any(|slot| *slot == Slot::Label(label as u8))
    };
    if !(spec.results..spec.extents.len()).all(mentions) {
        return true;
    }
    let mut epsilons: Vec<&Slots> = Vec::new();
    for ((slots, _), &child) in spec.operands.iter().zip(&node.children) {
        match leaf(child) {
            Leaf::Delta if slots[0] == slots[1] || slots.iter().any(is_dummy) => return true,
            Leaf::Epsilon => {
                let is_fixed = slots.iter().any(|slot| matches!(slot, Slot::Fixed(_)));
                let pairs = |other: &Slots| {
                    other.len() == slots.len()
                        && (slots.len() == 2 || other.iter().any(|slot| slots.contains(slot)))
                };
                if is_fixed || epsilons.iter().any(|other| pairs(other)) {
                    return true;
                }
                epsilons.push(slots);
            }
            Leaf::Delta => {
                if slots.iter().all(|slot| matches!(slot, Slot::Fixed(_))) {
                    return true;
                }
            }
            Leaf::No | Leaf::One | Leaf::Position => {}
        }
    }
    false
}
