//! Wrong laws: the deliberate faults of [`ein_ir::mutants`] that concern normalization.
//!
//! At the place of a fault, the code calls a function of this file, which returns its argument unless the fault is switched on.
//! Faults of the simplifier are rows that replace its own.

use crate::{
    build::Context,
    class::Leaf,
    node::{Node, Slot},
    numbers::Power,
    product::{Operand, Product},
    simplify::{Condition, Conditions, Outcome, Seeks, Step, When},
    steps,
};
use egg::Id;
use ein_ir::{
    Index, Rational, Term,
    mutants::{ENABLED, Mutant, is_on},
};
use num_traits::One;
use rustc_hash::FxHashMap;

/// What wrong rows have in common.
const WRONG: Step = Step {
    name: "",
    law: "",
    conditions: &[],
    when: When::Always,
    seeks: Seeks::Anything,
    run: |_, _, _| Outcome::Unchanged,
};

/// Rows that stand in place of those with their names.
#[rustfmt::skip]
const WRONG_STEPS: &[(Mutant, Step)] = &[
    (Mutant::NeighbouringDeltas, Step { name: "delta-evaluate", law: "δ[i,0]·δ[j,1] = 0", run: neighbouring_deltas, ..WRONG }),
    (Mutant::DeltaBeyondOne, Step { name: "delta-evaluate", law: "δ[2,2] = 0", run: delta_beyond_one, ..WRONG }),
    (Mutant::DeltaOnFreeIndex, Step { name: "delta-eliminate", law: "δ[i,j]·e = e[j:=i]", run: steps::delta_eliminate, ..WRONG }),
    (Mutant::DeltaOnConstant, Step { name: "delta-substitute", law: "δ[i,1]·e[1] = e[i]", run: delta_on_constant, ..WRONG }),
    (Mutant::EpsilonTimesAnyMatrix, Step { name: "epsilon-repeated", law: "ε[i,j,k]·e[j,k] = 0", run: epsilon_times_matrix, ..WRONG }),
    (Mutant::EpsilonWithConstant, Step { name: "epsilon-component", law: "ε[c,j,k] is impossible", run: epsilon_with_constant, ..WRONG }),
    (Mutant::VacuousSum, Step { name: "unused-index", law: "Σi e = e", conditions: &[Condition::Bound, Condition::Unused], run: vacuous_sum, ..WRONG }),
    (Mutant::LostSum, Step { name: "split-scalar", law: "Σij a·b = a·(Σj b)", conditions: &[Condition::NoResultAxis, Condition::Private], run: lost_sum, ..WRONG }),
];

/// A row of the simplifier.
pub(crate) fn step(step: &'static Step) -> &'static Step {
    let wrong = |(mutant, wrong): &&(Mutant, Step)| is_on(*mutant) && wrong.name == step.name;
    let found = ENABLED.then(|| WRONG_STEPS.iter().find(wrong)).flatten();
    found.map_or(step, |(_, wrong)| wrong)
}

/// The constants that the δ of a product select are different.
fn neighbouring_deltas(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    let deltas = steps::positions_of(context, product, Leaf::Delta);
    let slots = deltas.iter().flat_map(|&k| &product.operands[k].slots);
    let mut constants = slots.filter(|slot| matches!(slot, Slot::Fixed(_)));
    let first = constants.next();
    if constants.any(|other| Some(other) != first) {
        return Outcome::Replaced(Vec::new());
    }
    steps::delta_evaluate(context, product, conditions)
}

fn delta_beyond_one(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    let mut deltas = steps::positions_of(context, product, Leaf::Delta).into_iter();
    let is_unknown = |k: usize| {
        matches!(
            product.operands[k].slots[..],
            [Slot::Fixed(2..), Slot::Fixed(_)]
        )
    };
    if deltas.any(is_unknown) {
        return Outcome::Replaced(Vec::new());
    }
    steps::delta_evaluate(context, product, conditions)
}

/// An index in place of an equal constant elsewhere; the δ is dropped.
fn delta_on_constant(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    for k in steps::positions_of(context, product, Leaf::Delta) {
        let (index, constant) = match product.operands[k].slots[..] {
            [index @ Slot::Label(_), constant @ Slot::Fixed(_)]
            | [constant @ Slot::Fixed(_), index @ Slot::Label(_)] => (index, constant),
            _ => continue,
        };
        let others = product.operands.iter_mut().enumerate();
        let others = others.filter(|(other, _)| *other != k);
        let mut slots = others.flat_map(|(_, operand)| &mut operand.slots);
        if let Some(slot) = slots.find(|slot| **slot == constant) {
            *slot = index;
            product.operands.remove(k);
            return Outcome::Changed;
        }
    }
    steps::delta_substitute(context, product, conditions)
}

fn epsilon_times_matrix(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    for k in steps::positions_of(context, product, Leaf::Epsilon) {
        let epsilon = &product.operands[k];
        let meets = |operand: &Operand| {
            let common = operand
                .slots
                .iter()
                .filter(|slot| epsilon.slots.contains(slot));
            common.count() == 2 && operand.id != epsilon.id
        };
        if product.operands.iter().any(meets) {
            return Outcome::Replaced(Vec::new());
        }
    }
    steps::epsilon_repeated(context, product, conditions)
}

fn epsilon_with_constant(
    context: &mut dyn Context,
    product: &mut Product,
    _: Conditions,
) -> Outcome {
    for k in steps::positions_of(context, product, Leaf::Epsilon) {
        let mut slots = product.operands[k].slots.iter();
        let is_constant = slots.any(|slot| matches!(slot, Slot::Fixed(_)));
        assert!(!is_constant, "ε with a constant index");
    }
    Outcome::Unchanged
}

fn vacuous_sum(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    for label in 0..product.extents.len() as u8 {
        if product.is_dummy(label) && !product.uses(label) {
            product.extents[usize::from(label)] = 1;
        }
    }
    steps::unused_index(context, product, conditions)
}

/// The first component in place of a sum within a scalar part.
fn lost_sum(context: &mut dyn Context, product: &mut Product, conditions: Conditions) -> Outcome {
    let (component, touches_result) = product.components();
    for first in (0..component.len()).filter(|&first| !touches_result[first]) {
        let is_part = |k: &usize| component[*k] == first;
        let part: Vec<usize> = (0..component.len()).filter(is_part).collect();
        let mut labels = part.iter().flat_map(|&k| product.operands[k].labels());
        let label = labels.next().filter(|_| part.len() < component.len());
        drop(labels);
        if let Some(label) = label {
            product.substitute(label, Slot::Fixed(0), None);
            product.delete(label);
            return Outcome::Changed;
        }
    }
    steps::split_scalar(context, product, conditions)
}

/// The terms of a difference.
pub(crate) fn difference(context: &dyn Context, terms: [(Id, Rational); 2]) -> Vec<(Id, Rational)> {
    let zero = terms.iter().find(|(id, _)| context.facts(*id).zero);
    let zero = zero.filter(|_| is_on(Mutant::ZerosMinus));
    zero.map_or_else(|| terms.to_vec(), |zero| vec![*zero])
}

/// The terms of a sum that decide about its symmetry.
pub(crate) fn addends(children: &[Id]) -> &[Id] {
    if is_on(Mutant::FirstAddendOnly) {
        &children[..1]
    } else {
        children
    }
}

/// Whether a view with these slots is taken for the tensor itself.
pub(crate) fn is_whole(slots: &[Slot], results: usize) -> bool {
    is_on(Mutant::ViewIsWhole) && slots.len() == results
}

/// The first label that no index of a product has.
pub(crate) fn first_free(product: &Product) -> usize {
    let captures = is_on(Mutant::CapturedIndex) && product.extents.len() > product.results;
    product.extents.len() - usize::from(captures)
}

/// Whether the product of two ε has the term of this permutation.
pub(crate) fn has_term(product: &Product, pair: [usize; 2], permutation: &[usize]) -> bool {
    let [first, second] = pair.map(|k| &product.operands[k].slots);
    let is_free = |slot: Slot| matches!(slot, Slot::Label(label) if !product.is_dummy(label));
    let keeps = |(slot, &place): (&Slot, &usize)| {
        !is_free(*slot) || !second.contains(slot) || second[place] == *slot
    };
    !is_on(Mutant::EpsilonsShareFreeIndex) || first.iter().zip(permutation).all(keeps)
}

/// The indices of an access to an argument.
pub(crate) fn indices(indices: &[Index], argument: &Node) -> Vec<Index> {
    let mut indices = indices.to_vec();
    if is_on(Mutant::NestedLayout) && !argument.children.is_empty() {
        indices.reverse();
    }
    let repeated = (1..indices.len()).find(|&k| indices[..k].contains(&indices[k]));
    if let Some(second) = repeated.filter(|_| is_on(Mutant::RepeatedIndex)) {
        indices[second] = Index::Const(0);
    }
    indices
}

/// The base of a power.
pub(crate) fn base<'a>(
    mut term: &'a Term,
    ranges: &mut FxHashMap<u32, usize>,
    dummies: &mut Vec<Index>,
) -> &'a Term {
    while is_on(Mutant::SumIntoFunction)
        && let Term::Sum {
            binder,
            range,
            body,
        } = term
    {
        ranges.insert(*binder, *range);
        dummies.push(Index::Bound(*binder));
        term = body;
    }
    term
}

/// Whether the derivative of a sum is forgotten.
pub(crate) fn vanishes(context: &dyn Context, children: &[Id]) -> bool {
    let is_derivative = |&child: &Id| context.facts(child).derivatives > 0;
    is_on(Mutant::SecondDerivativeOfDifference) && children.iter().all(is_derivative)
}

/// The term of a sum whose derivative is taken.
pub(crate) fn addend(context: &dyn Context, children: &[Id], child: Id) -> Id {
    let depends = |id: &Id| context.facts(*id).dim > 0;
    let next = children.iter().copied().find(depends);
    next.filter(|_| is_on(Mutant::VanishedParameter) && !depends(&child))
        .unwrap_or(child)
}

/// The factor that the derivative of a power has.
pub(crate) fn factor(exponent: Power) -> Rational {
    if is_on(Mutant::PowerRule) {
        Rational::one()
    } else {
        exponent.to_rational()
    }
}
