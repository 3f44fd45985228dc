//! Common factors of a sum.
//!
//! Σ a·b + Σ a·c = Σ a·(b + c) for a factor `a` that occurs in several terms with the same power, the same pattern of
//! indices and the same remaining result axes. The factor may be a scalar or a tensor, summed over or not.

use crate::{
    build::{Context, contract, linear},
    node::{Extents, Slot, Slots},
    numbers::Power,
    product::{Operand, Product},
    simplify::{Condition, Conditions},
};
use egg::Id;
use ein_ir::Rational;
use num_traits::One;
use std::collections::BTreeMap;

/// The side conditions of factoring.
pub(crate) const FACTOR: &[Condition] = &[Condition::SameIndices, Condition::SamePower];

/// Terms that are looked at: the search is quadratic in them.
const TERM_LIMIT: usize = 60;

/// What the slot of a common factor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SlotContents {
    Fixed(u32),
    Result(u8),
    /// A dummy, by the first slot in which the factor has it.
    Dummy(u8),
}

/// What occurrences of a common factor have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Factor {
    id: Id,
    power: Power,
    pattern: Vec<SlotContents>,
    /// The axes of the result that the rest of the term mentions.
    rest_axes: Vec<u8>,
}

/// Where a factor was found: term, alternative, operand.
pub(crate) type Occurrence = (usize, usize, usize);

/// Sums equal to `terms` with a common factor taken out, and where it was found; `alternatives` are contractions equal to
/// each term.
pub(crate) fn factored_forms(
    context: &mut dyn Context,
    terms: &[(Rational, Id)],
    alternatives: &[Vec<Product>],
    conditions: Conditions,
) -> Vec<(Vec<Occurrence>, Id)> {
    let mut factors: BTreeMap<Factor, Vec<Occurrence>> = BTreeMap::new();
    for (t, products) in alternatives.iter().enumerate().take(TERM_LIMIT) {
        for (alternative, product) in products.iter().enumerate() {
            for k in 0..product.operands.len() {
                for factor in factors_at(context, product, k, conditions) {
                    let found = factors.entry(factor).or_default();
                    if found.iter().all(|occurrence| occurrence.0 != t) {
                        found.push((t, alternative, k));
                    }
                }
            }
        }
    }
    factors.retain(|_, occurrences| occurrences.len() > 1);
    let mut take_out = |(factor, occurrences): (Factor, Vec<Occurrence>)| {
        let sum = take_out(context, terms, alternatives, &factor, &occurrences)?;
        Some((occurrences, sum))
    };
    factors.into_iter().filter_map(&mut take_out).collect()
}

/// The factors that the operand at `k` can be taken for.
fn factors_at(
    context: &dyn Context,
    product: &Product,
    k: usize,
    conditions: Conditions,
) -> Vec<Factor> {
    let operand = &product.operands[k];
    // A dummy that only this operand has is better summed inside of it.
    let own_dummy = operand
        .labels()
        .any(|label| product.is_dummy(label) && product.only_in(label, k));
    if own_dummy {
        return Vec::new();
    }
    let first_slot = |slot: &Slot| {
        operand
            .slots
            .iter()
            .position(|other| other == slot)
            .unwrap_or(0)
    };
    let place = |slot: &Slot| match *slot {
        Slot::Fixed(component) => SlotContents::Fixed(component),
        Slot::Label(label) if !product.is_dummy(label) => SlotContents::Result(label),
        Slot::Label(_) => SlotContents::Dummy(first_slot(slot) as u8),
    };
    let rest_axes = (0..product.results as u8)
        .filter(|&axis| !product.only_in(axis, k))
        .collect();
    let mut factor = Factor {
        id: context.find(operand.id),
        power: operand.power,
        pattern: operand.slots.iter().map(place).collect(),
        rest_axes,
    };
    if !conditions.0.contains(&Condition::SameIndices)
        && factor
            .pattern
            .iter()
            .any(|p| matches!(p, SlotContents::Fixed(_)))
    {
        // Without the condition fixed components are not told apart.
        factor.pattern.iter_mut().for_each(|place| {
            if let SlotContents::Fixed(component) = place {
                *component = 0;
            }
        });
    }
    if !conditions.0.contains(&Condition::SamePower) {
        factor.power = Power::ONE;
    }
    let mut factors = vec![factor.clone()];
    if operand.is_scalar() && operand.power.is_integer() && operand.power > Power::ONE {
        factors.push(Factor {
            power: Power::ONE,
            ..factor
        });
    }
    factors.dedup();
    factors
}

fn take_out(
    context: &mut dyn Context,
    terms: &[(Rational, Id)],
    alternatives: &[Vec<Product>],
    factor: &Factor,
    occurrences: &[Occurrence],
) -> Option<Id> {
    let dummies: Vec<usize> = (0..factor.pattern.len())
        .filter(|&slot| factor.pattern[slot] == SlotContents::Dummy(slot as u8))
        .collect();
    let mut inner = Vec::with_capacity(occurrences.len());
    let mut inner_shape = Extents::new();
    for &(t, alternative, k) in occurrences {
        let mut product = alternatives[t][alternative].clone();
        let mut kept = factor.rest_axes.clone();
        for &slot in &dummies {
            if let Slot::Label(label) = product.operands[k].slots[slot] {
                kept.push(label);
            }
        }
        let mut rest: Vec<usize> = (0..product.operands.len()).filter(|&j| j != k).collect();
        if factor.power.is_one()
            && product.operands[k].power > Power::ONE
            && product.operands[k].is_scalar()
        {
            product.operands[k].power = product.operands[k].power.plus(Power::MINUS_ONE)?;
            rest.push(k);
        }
        let part = product.part(&rest, &kept);
        inner_shape = part.shape();
        inner.push((terms[t].0, contract(context, part)));
    }
    let sum = linear(context, inner, inner_shape, false);

    let whole = &alternatives[occurrences[0].0][occurrences[0].1];
    let mut extents = whole.shape();
    let mut sum_slots: Slots = factor
        .rest_axes
        .iter()
        .map(|&axis| Slot::Label(axis))
        .collect();
    let factor_shape = context.facts(factor.id).shape.clone();
    let mut factor_slots = Slots::new();
    for (slot, place) in factor.pattern.iter().enumerate() {
        factor_slots.push(match *place {
            SlotContents::Fixed(component) => Slot::Fixed(component),
            SlotContents::Result(axis) => Slot::Label(axis),
            SlotContents::Dummy(first) if usize::from(first) == slot => {
                let label = Slot::Label(extents.len() as u8);
                extents.push(factor_shape[slot]);
                sum_slots.push(label);
                label
            }
            SlotContents::Dummy(first) => factor_slots[usize::from(first)],
        });
    }
    let product = Product {
        coefficient: Rational::one(),
        results: whole.results,
        extents,
        operands: vec![
            Operand {
                id: factor.id,
                slots: factor_slots,
                power: factor.power,
            },
            Operand::new(sum, sum_slots),
        ],
    };
    let product = contract(context, product);
    let is_left = |t: usize| occurrences.iter().all(|occurrence| occurrence.0 != t);
    let mut all: Vec<(Rational, Id)> = (0..terms.len())
        .filter(|&t| is_left(t))
        .map(|t| terms[t])
        .collect();
    all.push((Rational::one(), product));
    let shape = context.facts(terms[0].1).shape.clone();
    Some(linear(context, all, shape, false))
}
