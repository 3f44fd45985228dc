//! Symmetries that follow from structure: axes whose exchange leaves a contraction or a sum as it is, or turns its sign.

use crate::{
    canon::canonical,
    class::{Facts, pair},
    node::Slot,
    numbers::Power,
    product::{Operand, Product},
};
use egg::Id;
use ein_ir::{Groups, Rational, Symmetry};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;

/// The facts about the exchange of two axes, and whether all is zero; from the structure of a contraction or from
/// elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Symmetries {
    pub(crate) zero: bool,
    pub(crate) symmetric: u64,
    pub(crate) antisymmetric: u64,
}

/// What groups of axes say about each pair of them.
impl From<&Symmetry> for Symmetries {
    fn from(symmetry: &Symmetry) -> Symmetries {
        let pairs = |groups: &Groups| {
            let mut pairs = 0;
            for group in groups {
                for (n, &j) in group.iter().enumerate() {
                    pairs |= group[..n].iter().fold(0, |all, &i| all | pair(i, j));
                }
            }
            pairs
        };
        Symmetries {
            zero: false,
            symmetric: pairs(&symmetry.symmetric),
            antisymmetric: pairs(&symmetry.antisymmetric),
        }
    }
}

/// The groups of axes that follow from the facts about pairs.
impl From<&Facts> for Symmetry {
    fn from(facts: &Facts) -> Symmetry {
        let groups = facts.slot_groups();
        let members = groups.members().map(|group| group.to_vec());
        let (antisymmetric, symmetric) =
            members.partition(|group: &Vec<usize>| groups.is_antisymmetric(group[0]));
        Symmetry {
            symmetric,
            antisymmetric,
        }
    }
}

thread_local! {
    /// The symmetries of contractions by their [`structure`]: a normalization meets the same contractions again and again, in
    /// one arena after the other.
    static KNOWN: RefCell<FxHashMap<Box<[u64]>, Symmetries>> = RefCell::default();
}

/// Contractions that are remembered; beyond that many, all are forgotten.
const REMEMBERED: usize = 1 << 14;

/// What the structure of a contraction says about the exchange of two axes of its result.
pub(crate) fn symmetries_of<'a>(
    product: &Product,
    facts: impl Fn(Id) -> &'a Facts + Copy,
) -> Symmetries {
    let candidates = exchangeable_axes(product, facts);
    if candidates.is_empty() {
        return Symmetries::default();
    }
    let structure = structure(product, facts);
    KNOWN.with_borrow_mut(|known| {
        if let Some(symmetries) = known.get(&structure[..]) {
            return *symmetries;
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let symmetries = compare_exchanged(product, candidates, facts);
        known.insert(structure.into_boxed_slice(), symmetries);
        symmetries
    })
}

/// All that the symmetries of a contraction depend on: of its operands only which are the same, and how they are symmetric.
fn structure<'a>(product: &Product, facts: impl Fn(Id) -> &'a Facts) -> SmallVec<[u64; 32]> {
    let mut structure: SmallVec<[u64; 32]> = SmallVec::new();
    structure.extend([product.results as u64, product.extents.len() as u64]);
    structure.extend(product.extents.iter().map(|&extent| u64::from(extent)));
    for operand in &product.operands {
        let same = |other: &Operand| other.id == operand.id;
        let first = product.operands.iter().position(same).unwrap_or_default();
        let known = facts(operand.id);
        let power = operand.power.halves() as u64;
        structure.extend([first as u64, power, known.symmetric, known.antisymmetric]);
        structure.push(operand.slots.len() as u64);
        structure.extend(operand.slots.iter().map(|slot| match *slot {
            Slot::Fixed(component) => u64::from(component) << 1 | 1,
            Slot::Label(label) => u64::from(label) << 1,
        }));
    }
    structure
}

/// Exchanges pairs of result axes of a contraction and compares canonical forms.
fn compare_exchanged<'a>(
    product: &Product,
    candidates: Vec<(u8, u8)>,
    facts: impl Fn(Id) -> &'a Facts + Copy,
) -> Symmetries {
    let mut result = Symmetries::default();
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
    let pairs = (1..first.results).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut pairs: Vec<(usize, usize)> = pairs.filter(|&(i, j)| open(i, j)).collect();
    if pairs.is_empty() || !(2..=TRANSPOSED_TERMS).contains(&terms.len()) {
        return result;
    }
    // What permutes the terms takes the places of one axis to those of the other.
    let mut places: Vec<Vec<Places>> = vec![Vec::with_capacity(terms.len()); first.results];
    for (_, product) in terms {
        let of_term = places_of_axes(product, facts);
        let axes = places.iter_mut().zip(of_term);
        axes.for_each(|(all, places)| all.push(places));
    }
    places.iter_mut().for_each(|all| all.sort_unstable());
    pairs.retain(|&(i, j)| places[i] == places[j]);
    if pairs.is_empty() {
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
    for (i, j) in pairs {
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
    result
}

/// Pairs of result axes of one extent that occur in the same places of the same operands: all others differ for sure.
fn exchangeable_axes<'a>(product: &Product, facts: impl Fn(Id) -> &'a Facts) -> Vec<(u8, u8)> {
    if product.results < 2 {
        return Vec::new();
    }
    let places = places_of_axes(product, facts);
    let mut pairs = Vec::new();
    for j in 0..product.results {
        for i in 0..j {
            if product.extents[i] == product.extents[j] && places[i] == places[j] {
                pairs.push((i as u8, j as u8));
            }
        }
    }
    pairs
}

/// Where an axis of the result occurs: in which operands, and in which group of their slots.
type Places = SmallVec<[(Id, Power, u8); 4]>;

/// Where each axis of the result occurs, in order.
fn places_of_axes<'a>(product: &Product, facts: impl Fn(Id) -> &'a Facts) -> Vec<Places> {
    let mut places: Vec<Places> = vec![Places::new(); product.results];
    for operand in &product.operands {
        let groups = facts(operand.id).slot_groups();
        for (slot, index) in operand.slots.iter().enumerate() {
            if let Slot::Label(label) = index
                && let Some(places) = places.get_mut(usize::from(*label))
            {
                places.push((operand.id, operand.power, groups.first(slot)));
            }
        }
    }
    places.iter_mut().for_each(|places| places.sort_unstable());
    places
}
