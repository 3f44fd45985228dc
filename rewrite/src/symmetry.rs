//! Symmetries that follow from structure: axes whose exchange leaves a contraction or a sum as it is, or turns its sign.

use crate::{
    canon::canonical,
    class::{Facts, pair},
    node::Slot,
    numbers::Power,
    product::Product,
};
use egg::Id;
use ein_ir::Rational;
use smallvec::SmallVec;

/// What a contraction's structure says about its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Symmetries {
    pub(crate) zero: bool,
    pub(crate) symmetric: u64,
    pub(crate) antisymmetric: u64,
}

/// Exchanges each pair of result axes of a contraction and compares canonical forms.
pub(crate) fn symmetries_of<'a>(
    product: &Product,
    facts: impl Fn(Id) -> &'a Facts + Copy,
) -> Symmetries {
    let mut result = Symmetries::default();
    let candidates = exchangeable_axes(product, facts);
    if candidates.is_empty() {
        return result;
    }
    let base = canonical(product, facts);
    if base.zero {
        result.zero = true;
        return result;
    }
    let key = base.key(product);
    for (i, j) in candidates {
        let exchanged = product.with_exchanged(i, j);
        let form = canonical(&exchanged, facts);
        if !form.zero && form.key(&exchanged) == key {
            if form.negative == base.negative {
                result.symmetric |= pair(i.into(), j.into());
            } else {
                result.antisymmetric |= pair(i.into(), j.into());
            }
        }
    }
    result
}

/// Terms of a sum beyond which it is not searched for terms that are each other's transposes.
const TRANSPOSED_TERMS: usize = 12;

/// Pairs of axes whose exchange permutes the terms of a sum: `a[i]·b[j] + a[j]·b[i]` is symmetric though no term is.
/// Pairs in `known` are not looked at.
pub(crate) fn symmetries_of_sum<'a>(
    terms: &[(Rational, Product)],
    known: u64,
    facts: impl Fn(Id) -> &'a Facts + Copy,
) -> Symmetries {
    let mut result = Symmetries::default();
    let Some((_, first)) = terms.first() else {
        return result;
    };
    let open = |i: usize, j: usize| first.extents[i] == first.extents[j] && known & pair(i, j) == 0;
    let any_open = (1..first.results).any(|j| (0..j).any(|i| open(i, j)));
    if !any_open || !(2..=TRANSPOSED_TERMS).contains(&terms.len()) {
        return result;
    }
    let signed = |coefficient: Rational, product: &Product| {
        let form = canonical(product, facts);
        let sign = if form.negative {
            -coefficient
        } else {
            coefficient
        };
        (!form.zero).then(|| (form.key(product), sign))
    };
    let written: Option<Vec<_>> = terms
        .iter()
        .map(|(coefficient, product)| signed(*coefficient, product))
        .collect();
    let Some(written) = written else {
        return result;
    };
    for j in 1..first.results {
        for i in (0..j).filter(|&i| open(i, j)) {
            let (mut symmetric, mut antisymmetric) = (true, true);
            for (coefficient, product) in terms {
                let transposed = signed(*coefficient, &product.with_exchanged(i as u8, j as u8));
                let image = transposed.and_then(|(key, sign)| {
                    let known = written.iter().find(|(other, _)| *other == key)?;
                    Some((known.1, sign))
                });
                symmetric &= image.is_some_and(|(known, sign)| known == sign);
                antisymmetric &= image.is_some_and(|(known, sign)| known == -sign);
                if !(symmetric || antisymmetric) {
                    break;
                }
            }
            result.symmetric |= if symmetric { pair(i, j) } else { 0 };
            result.antisymmetric |= if antisymmetric { pair(i, j) } else { 0 };
        }
    }
    result
}

/// Pairs of result axes of one extent that occur in the same places of the same operands: all others differ for sure.
fn exchangeable_axes<'a>(product: &Product, facts: impl Fn(Id) -> &'a Facts) -> Vec<(u8, u8)> {
    if product.results < 2 {
        return Vec::new();
    }
    let mut occurrences: Vec<SmallVec<[(Id, Power, u8); 4]>> =
        vec![SmallVec::new(); product.results];
    for operand in &product.operands {
        let groups = facts(operand.id).slot_groups();
        for (slot, index) in operand.slots.iter().enumerate() {
            if let Slot::Label(label) = index
                && usize::from(*label) < product.results
            {
                occurrences[usize::from(*label)].push((
                    operand.id,
                    operand.power,
                    groups.first[slot],
                ));
            }
        }
    }
    occurrences
        .iter_mut()
        .for_each(|places| places.sort_unstable());
    let mut pairs = Vec::new();
    for j in 0..product.results {
        for i in 0..j {
            if product.extents[i] == product.extents[j] && occurrences[i] == occurrences[j] {
                pairs.push((i as u8, j as u8));
            }
        }
    }
    pairs
}
