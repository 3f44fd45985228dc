//! The functions of the simplifier's steps; their laws and side conditions are in the table of `simplify`.

use crate::{
    build::{Context, constant, contract_raw},
    class::Leaf,
    mutants,
    node::{Node, Op, Slot},
    numbers::{Power, integer, raise},
    product::{MAX_LABELS, Operand, Product},
    simplify::{Condition, Conditions, Outcome},
};
use ein_ir::Rational;
use smallvec::SmallVec;

pub(crate) fn zero_factor(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    for operand in &mut product.operands {
        operand.id = context.find(operand.id);
        let positive = operand.power.is_positive();
        if context.facts(operand.id).zero && conditions.allow(Condition::PositivePower, positive) {
            return Outcome::Replaced(Vec::new());
        }
    }
    Outcome::Unchanged
}

pub(crate) fn one_factor(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    let before = product.operands.len();
    product
        .operands
        .retain(|operand| !operand.power.is_zero() && context.facts(operand.id).leaf != Leaf::One);
    changed_if(product.operands.len() < before)
}

fn changed_if(changed: bool) -> Outcome {
    if changed {
        Outcome::Changed
    } else {
        Outcome::Unchanged
    }
}

pub(crate) fn pull_coefficient(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    for k in 0..product.operands.len() {
        let operand = &product.operands[k];
        // A multiple of an inverse would not be recognized.
        if context.facts(operand.id).inverse.is_none()
            && let Some((coefficient, base)) = context.as_scale(operand.id)
            && let Some(factor) = raise(coefficient, operand.power)
            && product.scale(factor)
        {
            product.operands[k].id = base;
            return Outcome::Changed;
        }
    }
    Outcome::Unchanged
}

/// The positions of the operands that are δ or ε.
pub(crate) fn positions_of(
    context: &dyn Context,
    product: &Product,
    leaf: Leaf,
) -> SmallVec<[usize; 4]> {
    (0..product.operands.len())
        .filter(|&k| context.facts(product.operands[k].id).leaf == leaf)
        .collect()
}

pub(crate) fn delta_evaluate(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    for k in positions_of(context, product, Leaf::Delta) {
        match product.operands[k].slots[..] {
            [a, b] if a == b => {
                product.operands.remove(k);
                return Outcome::Changed;
            }
            [Slot::Fixed(_), Slot::Fixed(_)] => return Outcome::Replaced(Vec::new()),
            _ => {}
        }
    }
    Outcome::Unchanged
}

pub(crate) fn delta_eliminate(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    for k in positions_of(context, product, Leaf::Delta) {
        let [a, b] = product.operands[k].slots[..] else {
            continue;
        };
        for (slot, other) in [(a, b), (b, a)] {
            let Slot::Label(label) = slot else { continue };
            if slot == other {
                continue;
            }
            if conditions.allow(Condition::Bound, product.is_dummy(label)) {
                product.operands.remove(k);
                product.substitute(label, other, None);
                if product.is_dummy(label) {
                    product.delete(label);
                }
                return Outcome::Changed;
            }
        }
    }
    Outcome::Unchanged
}

pub(crate) fn delta_substitute(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    for k in positions_of(context, product, Leaf::Delta) {
        let (from, to) = match product.operands[k].slots[..] {
            [Slot::Label(label), Slot::Fixed(c)] | [Slot::Fixed(c), Slot::Label(label)] => {
                (label, Slot::Fixed(c))
            }
            [Slot::Label(a), Slot::Label(b)] => (a.max(b), Slot::Label(a.min(b))),
            _ => continue,
        };
        if product.substitute(from, to, Some(k)) {
            return Outcome::Changed;
        }
    }
    Outcome::Unchanged
}

pub(crate) fn epsilon_repeated(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    for k in positions_of(context, product, Leaf::Epsilon) {
        let slots = &product.operands[k].slots;
        if slots
            .iter()
            .enumerate()
            .any(|(i, slot)| slots[i + 1..].contains(slot))
        {
            return Outcome::Replaced(Vec::new());
        }
    }
    Outcome::Unchanged
}

/// All permutations of 0..n with their signs, n being 2 or 3.
fn permutations(n: usize) -> Vec<(Vec<usize>, i64)> {
    match n {
        2 => vec![(vec![0, 1], 1), (vec![1, 0], -1)],
        _ => {
            let row =
                |first: usize, step: usize| vec![first, (first + step) % 3, (first + 2 * step) % 3];
            (0..3)
                .flat_map(|first| [(row(first, 1), 1), (row(first, 2), -1)])
                .collect()
        }
    }
}

pub(crate) fn epsilon_component(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    for k in positions_of(context, product, Leaf::Epsilon) {
        let slots = &product.operands[k].slots;
        if slots.iter().any(|slot| matches!(slot, Slot::Fixed(_))) {
            return Outcome::Replaced(epsilon_values(context, product, k));
        }
    }
    Outcome::Unchanged
}

/// A product with the values of the ε at a position in its place: one product for every permutation.
pub(crate) fn epsilon_values(
    context: &mut dyn Context,
    product: &Product,
    k: usize,
) -> Vec<Product> {
    let slots = &product.operands[k].slots;
    let delta = context.add(Node::leaf(Op::Delta(slots.len() as u32)));
    let mut terms = Vec::new();
    for (permutation, sign) in permutations(slots.len()) {
        let values = || {
            slots
                .iter()
                .zip(permutation.iter().map(|&value| value as u32))
        };
        if values().any(|(slot, value)| matches!(slot, Slot::Fixed(c) if *c != value)) {
            continue;
        }
        let mut term = product.clone();
        term.operands.remove(k);
        term.coefficient *= integer(sign);
        let labels = values().filter(|(slot, _)| matches!(slot, Slot::Label(_)));
        let deltas = labels.map(|(slot, value)| Operand::new(delta, [*slot, Slot::Fixed(value)]));
        term.operands.extend(deltas);
        terms.push(term);
    }
    terms
}

/// The positions of ε with two indices.
pub(crate) fn plane_epsilons(context: &dyn Context, product: &Product) -> SmallVec<[usize; 4]> {
    let mut positions = positions_of(context, product, Leaf::Epsilon);
    positions.retain(|k| product.operands[*k].slots.len() == 2);
    positions
}

/// Pairs of ε that a determinant of δ makes simpler: those with a common index and all pairs in two dimensions; most
/// common indices first.
pub(crate) fn epsilon_pairs(context: &dyn Context, product: &Product) -> Vec<(usize, usize)> {
    let positions = positions_of(context, product, Leaf::Epsilon);
    let mut pairs = Vec::new();
    for (i, &a) in positions.iter().enumerate() {
        for &b in &positions[i + 1..] {
            let (first, second) = (&product.operands[a].slots, &product.operands[b].slots);
            let common = first.iter().filter(|slot| second.contains(slot)).count();
            if first.len() == second.len() && (common > 0 || first.len() == 2) {
                pairs.push((std::cmp::Reverse(common), a, b));
            }
        }
    }
    pairs.sort_unstable();
    pairs.into_iter().map(|(_, a, b)| (a, b)).collect()
}

/// The product with the ε at `a` and `b`, `a < b`, replaced by the determinant of δ.
pub(crate) fn expand_epsilon_pair(
    context: &mut dyn Context,
    product: &Product,
    a: usize,
    b: usize,
) -> Vec<Product> {
    let n = product.operands[a].slots.len();
    let delta = context.add(Node::leaf(Op::Delta(n as u32)));
    let term = |(permutation, sign): (Vec<usize>, i64)| {
        let mut term = product.clone();
        let second = term.operands.remove(b).slots;
        let first = term.operands.remove(a).slots;
        let deltas = (0..n).map(|i| Operand::new(delta, [first[i], second[permutation[i]]]));
        term.operands.extend(deltas);
        term.coefficient *= integer(sign);
        term
    };
    permutations(n)
        .into_iter()
        .filter(|(permutation, _)| mutants::has_term(product, [a, b], permutation))
        .map(term)
        .collect()
}

pub(crate) fn epsilon_pair(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    match epsilon_pairs(context, product).first() {
        Some(&(a, b)) => Outcome::Replaced(expand_epsilon_pair(context, product, a, b)),
        None => Outcome::Unchanged,
    }
}

pub(crate) fn unused_index(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    let mentioned = product.mentioned();
    for label in 0..product.extents.len() as u8 {
        let is_unused = mentioned >> label & 1 == 0;
        if !conditions.allow(Condition::Bound, product.is_dummy(label))
            || !conditions.allow(Condition::Unused, is_unused)
        {
            continue;
        }
        let extent = product.extents[usize::from(label)];
        let range = integer(extent.into());
        if !product.scale(range) {
            let range = constant(context, range);
            product.operands.push(Operand::scalar(range, Power::ONE));
        }
        product.substitute(label, Slot::Fixed(0), None);
        if product.is_dummy(label) {
            product.delete(label);
        }
        return Outcome::Changed;
    }
    Outcome::Unchanged
}

pub(crate) fn inline_power(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    for k in 0..product.operands.len() {
        if !product.operands[k].is_scalar() {
            continue;
        }
        let exponent = product.operands[k].power;
        let Some(inner) = context.inline(product, k).filter(Product::is_monomial) else {
            continue;
        };
        let known = |operand: &Operand| {
            !operand.power.is_integer() || context.facts(operand.id).nonnegative
        };
        let safe = exponent.is_integer() || inner.operands.iter().all(known);
        if !conditions.allow(Condition::NonnegativeFactors, safe) {
            continue;
        }
        let raised: Option<Vec<Operand>> = inner
            .operands
            .iter()
            .map(|operand| Some(Operand::scalar(operand.id, operand.power.times(exponent)?)))
            .collect();
        if let Some(raised) = raised {
            product.operands.remove(k);
            product.operands.extend(raised);
            return Outcome::Changed;
        }
    }
    Outcome::Unchanged
}

pub(crate) fn inline_contraction(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    for k in 0..product.operands.len() {
        // Only tensors are inlined, and they have the power 1.
        if !product.operands[k].is_scalar()
            && let Some(inner) = context.inline(product, k)
            && product.extents.len() + inner.extents.len() <= MAX_LABELS
        {
            product.splice(k, &inner);
            return Outcome::Changed;
        }
    }
    Outcome::Unchanged
}

/// The products that `product` becomes if the operand at `position` is replaced by each term of a sum.
pub(crate) fn distribute_over(
    product: &Product,
    position: usize,
    sum: &[(Rational, egg::Id)],
) -> Option<Vec<Product>> {
    let exponent = product.operands[position].power;
    let rest = exponent.plus(Power::MINUS_ONE)?;
    sum.iter()
        .map(|&(coefficient, id)| {
            let mut term = product.clone();
            if rest.is_zero() {
                term.operands[position].id = id;
            } else {
                term.operands[position].power = rest;
                term.operands.push(Operand::scalar(id, Power::ONE));
            }
            term.scale(coefficient).then_some(term)
        })
        .collect()
}

pub(crate) fn expand_sum(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    for k in 0..product.operands.len() {
        let Some(sum) = context.distribute(product, k) else {
            continue;
        };
        if let Some(terms) = distribute_over(product, k, &sum) {
            return Outcome::Replaced(terms);
        }
    }
    Outcome::Unchanged
}

pub(crate) fn unroll(
    _: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    let Some(label) = product.extents.len().checked_sub(1).map(|last| last as u8) else {
        return Outcome::Unchanged;
    };
    if !conditions.allow(Condition::Bound, product.is_dummy(label)) {
        return Outcome::Unchanged;
    }
    let values = 0..product.extents[usize::from(label)];
    let term = |value: u32| {
        let mut term = product.clone();
        term.substitute(label, Slot::Fixed(value), None);
        if term.is_dummy(label) {
            term.extents.pop();
        }
        term
    };
    Outcome::Replaced(values.map(term).collect())
}

pub(crate) fn split_scalar(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    let count = product.operands.len();
    if count < 2 {
        return Outcome::Unchanged;
    }
    let (component, touches) = product.components();
    for (first, touches_result) in touches.into_iter().enumerate() {
        if product.operands[first].is_scalar()
            || !conditions.allow(Condition::NoResultAxis, !touches_result)
        {
            continue;
        }
        let selected: Vec<usize> = (0..count).filter(|&k| component[k] == first).collect();
        if selected.is_empty() || selected.len() == count {
            continue;
        }
        // Without the condition a part is any operand, whatever indices it shares with others.
        let selected = if conditions.0.contains(&Condition::Private) {
            selected
        } else {
            vec![first]
        };
        let part = product.part(&selected, &[]);
        let (coefficient, scalar) = contract_raw(context, &part);
        let mut rest = product.clone();
        for &k in selected.iter().rev() {
            rest.operands.remove(k);
        }
        if !rest.scale(coefficient) {
            continue;
        }
        rest.delete_dummies_of(product, &selected);
        rest.operands.push(Operand::scalar(scalar, Power::ONE));
        *product = rest;
        return Outcome::Changed;
    }
    Outcome::Unchanged
}

pub(crate) fn merge_powers(
    _: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    for i in 0..product.operands.len() {
        for j in i + 1..product.operands.len() {
            let (a, b) = (&product.operands[i], &product.operands[j]);
            let scalars = a.is_scalar() && b.is_scalar();
            if a.id != b.id || !conditions.allow(Condition::Scalar, scalars) {
                continue;
            }
            if let Some(sum) = a.power.plus(b.power) {
                product.operands[i].power = sum;
                product.operands.remove(j);
                return Outcome::Changed;
            }
        }
    }
    Outcome::Unchanged
}
