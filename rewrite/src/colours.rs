//! Colours of operands and labels, by which a canonical form tells them apart.

use crate::{
    class::{Facts, SlotGroups},
    node::Slot,
    product::Product,
};
use egg::Id;
use smallvec::SmallVec;

/// A colour for each label and each operand of a product.
#[derive(Clone)]
pub(crate) struct Colours {
    pub(crate) labels: SmallVec<[u64; 16]>,
    pub(crate) operands: SmallVec<[u64; 8]>,
}

/// A colour that depends on both.
pub(crate) fn mix(seed: u64, value: u64) -> u64 {
    let mixed = seed ^ value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    let mixed = mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 29)
}

/// The number of different colours. There are few, so that comparing each with those before it takes the least time.
pub(crate) fn distinct(colours: &[u64]) -> usize {
    let is_new = |k: &usize| !colours[..*k].contains(&colours[*k]);
    (0..colours.len()).filter(is_new).count()
}

/// Where a label occurs.
struct Occurrence {
    label: u8,
    operand: usize,
    /// The group of slots, from 1.
    place: u64,
}

/// What colours are refined by: the structure of a product.
pub(crate) struct Refinement<'a> {
    product: &'a Product,
    /// The groups of slots of each operand.
    pub(crate) groups: SmallVec<[SlotGroups; 8]>,
    /// Where labels occur, by label.
    occurrences: SmallVec<[Occurrence; 16]>,
}

impl<'a> Refinement<'a> {
    pub(crate) fn new<'f>(product: &'a Product, facts: impl Fn(Id) -> &'f Facts) -> Refinement<'a> {
        let operands = product.operands.iter();
        let groups = operands.map(|operand| facts(operand.id).slot_groups());
        let groups: SmallVec<[SlotGroups; 8]> = groups.collect();
        Refinement {
            product,
            occurrences: occurrences(product, &groups),
            groups,
        }
    }

    /// Lets operands and labels tell each other apart until nothing changes.
    pub(crate) fn refine(&self, colours: &mut Colours) {
        let mut known = 0;
        loop {
            self.recolour_labels(colours);
            self.recolour_operands(colours);
            let (labels, operands) = (distinct(&colours.labels), distinct(&colours.operands));
            let all = labels == colours.labels.len() && operands == colours.operands.len();
            if all || labels + operands == known {
                return;
            }
            known = labels + operands;
        }
    }

    /// Mixes into the colour of each label those of its occurrences, in their order.
    fn recolour_labels(&self, colours: &mut Colours) {
        let Colours { labels, operands } = colours;
        labels
            .iter_mut()
            .for_each(|colour| *colour = mix(*colour, 3));
        let occurrences = self.occurrences.chunk_by(|a, b| a.label == b.label);
        let met = |at: &Occurrence| mix(operands[at.operand], at.place);
        for same in occurrences {
            let colour = &mut labels[usize::from(same[0].label)];
            match same {
                [one] => *colour = mix(*colour, met(one)),
                [a, b] => {
                    let (a, b) = (met(a), met(b));
                    *colour = mix(mix(*colour, a.min(b)), a.max(b));
                }
                _ => {
                    let mut all: SmallVec<[u64; 8]> = same.iter().map(met).collect();
                    all.sort_unstable();
                    *colour = all.into_iter().fold(*colour, mix);
                }
            }
        }
    }

    /// Mixes into the colour of each operand those of its slots, in the order of groups and, inside of these, of colours.
    fn recolour_operands(&self, colours: &mut Colours) {
        let Colours { labels, operands } = colours;
        let colour_of = |index: &Slot| match *index {
            Slot::Fixed(component) => mix(9, component.into()),
            Slot::Label(label) => labels[usize::from(label)],
        };
        for (k, operand) in self.product.operands.iter().enumerate() {
            let slots = operand.slots.iter().enumerate();
            let add =
                |mixed: u64, (place, colour): (u8, u64)| mix(mix(mixed, place.into()), colour);
            let start = mix(operands[k], 5);
            let groups = &self.groups[k];
            let places = slots.map(|(slot, index)| (groups.first(slot), colour_of(index)));
            operands[k] = if groups.is_trivial() {
                places.fold(start, add)
            } else {
                let mut places: SmallVec<[(u8, u64); 8]> = places.collect();
                places.sort_unstable();
                places.into_iter().fold(start, add)
            };
        }
    }
}

/// Where the labels of a product occur.
fn occurrences(product: &Product, groups: &[SlotGroups]) -> SmallVec<[Occurrence; 16]> {
    let mut found: SmallVec<[Occurrence; 16]> = SmallVec::new();
    for (k, operand) in product.operands.iter().enumerate() {
        for (slot, index) in operand.slots.iter().enumerate() {
            if let Slot::Label(label) = *index {
                found.push(Occurrence {
                    label,
                    operand: k,
                    place: u64::from(groups[k].first(slot)) + 1,
                });
            }
        }
    }
    found.sort_by_key(|at| at.label);
    found
}
