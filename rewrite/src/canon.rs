//! The canonical form of a contraction.
//!
//! Takes a product and the symmetry facts of its operands; gives the order of the operands, the order of the slots
//! inside symmetric groups, the numbers of the dummies and the sign that reordering costs. Two products that differ by
//! the names of dummies, the order of factors or a permutation of symmetric slots have the same canonical form, and a
//! product that such a change maps to minus itself is found to be zero.
//!
//! The method is canonical labelling of a small bipartite graph (operands and labels) by colour refinement and
//! individualization. Colours depend on classes and structure only, never on the numbers the labels came with.

use crate::{
    class::Facts,
    colours::{Colours, Refinement, distinct, mix},
    node::{Slot, Slots},
    numbers::Power,
    product::Product,
};
use egg::Id;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Leaves of the search; if they were ever used up the form would not be unique, which is sound.
const SEARCH_LEAVES: usize = 2000;

/// A canonical form.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    /// The value is zero whatever the operands are.
    pub(crate) zero: bool,
    /// Reordering antisymmetric slots turned the sign.
    pub(crate) negative: bool,
    /// The operands of the product in canonical order.
    pub(crate) order: SmallVec<[usize; 8]>,
    /// The slots of each operand, in that order, renumbered.
    pub(crate) slots: SmallVec<[Slots; 4]>,
    /// The new number of each label of the product.
    pub(crate) renamed: SmallVec<[Option<u8>; 16]>,
}

impl Canonical {
    /// What two equal contractions have in common.
    pub(crate) fn key(&self, product: &Product) -> Key {
        let operand = |&k: &usize| (product.operands[k].id, product.operands[k].power);
        let operands = self.order.iter().map(operand).zip(&self.slots);
        operands
            .map(|((id, power), slots)| (id, power, slots.clone()))
            .collect()
    }

    /// The order of two leaves of the search, which is that of their keys.
    fn compare(&self, other: &Canonical, product: &Product) -> Ordering {
        let operands = |form: &Canonical| {
            let operand = |&k: &usize| (product.operands[k].id, product.operands[k].power);
            form.order.iter().map(operand).collect::<SmallVec<[_; 8]>>()
        };
        let (own, others) = (operands(self), operands(other));
        let own = own.iter().zip(&self.slots);
        own.cmp(others.iter().zip(&other.slots))
    }
}

/// The canonical form of `product`.
pub(crate) fn canonical<'a>(product: &Product, facts: impl Fn(Id) -> &'a Facts) -> Canonical {
    search(product, 0, facts)
}

/// The canonical order of labels that stand for an unordered interface: `product` has no result axes, and the labels
/// of the bit set `interface` are numbered in the order in which the canonical form mentions them.
pub(crate) fn canonical_interface<'a>(
    product: &Product,
    interface: u64,
    facts: impl Fn(Id) -> &'a Facts,
) -> Canonical {
    debug_assert_eq!(product.results, 0);
    search(product, interface, facts)
}

fn search<'a>(product: &Product, interface: u64, facts: impl Fn(Id) -> &'a Facts) -> Canonical {
    if is_plain(product, &facts) {
        return number_plainly(product);
    }
    let mut search = Search {
        product,
        interface,
        refinement: Refinement::new(product, facts),
        best: None,
        zero: false,
        leaves: SEARCH_LEAVES,
    };
    let colours = search.initial_colours();
    search.refine_and_branch(colours);
    match search.best {
        Some(best) if !search.zero => best,
        _ => Canonical {
            zero: true,
            negative: false,
            order: SmallVec::new(),
            slots: SmallVec::new(),
            renamed: SmallVec::new(),
        },
    }
}

/// Whether the operands are different classes without symmetric slots: then they have one order only, dummies are
/// numbered as they come, and no exchange changes a sign.
fn is_plain<'a>(product: &Product, facts: impl Fn(Id) -> &'a Facts) -> bool {
    let operands = &product.operands;
    operands.iter().enumerate().all(|(k, operand)| {
        let known = facts(operand.id);
        known.symmetric == 0
            && known.antisymmetric == 0
            && operands[..k].iter().all(|other| other.id != operand.id)
    })
}

fn number_plainly(product: &Product) -> Canonical {
    let mut order: SmallVec<[usize; 8]> = (0..product.operands.len()).collect();
    order.sort_unstable_by_key(|&k| product.operands[k].id);
    let mut numbers = Numbers::new(product);
    let slots = order
        .iter()
        .map(|&k| numbers.rename(product.operands[k].slots.clone()))
        .collect();
    Canonical {
        zero: false,
        negative: false,
        order,
        slots,
        renamed: numbers.renamed,
    }
}

/// The new numbers of labels: the axes of the result keep theirs, dummies are numbered by first occurrence.
struct Numbers {
    renamed: SmallVec<[Option<u8>; 16]>,
    next: u8,
}

impl Numbers {
    fn new(product: &Product) -> Numbers {
        let number = |label: usize| (label < product.results).then_some(label as u8);
        Numbers {
            renamed: (0..product.extents.len()).map(number).collect(),
            next: product.results as u8,
        }
    }

    fn rename(&mut self, mut slots: Slots) -> Slots {
        for slot in &mut slots {
            if let Slot::Label(label) = slot {
                *label = *self.renamed[usize::from(*label)].get_or_insert_with(|| {
                    self.next += 1;
                    self.next - 1
                });
            }
        }
        slots
    }
}

/// What leaves of the search are compared by: the canonical operands.
type Key = Vec<(Id, Power, Slots)>;

struct Search<'a> {
    product: &'a Product,
    interface: u64,
    refinement: Refinement<'a>,
    best: Option<Canonical>,
    zero: bool,
    leaves: usize,
}

impl Search<'_> {
    fn in_interface(&self, label: usize) -> bool {
        self.interface >> label & 1 == 1
    }

    fn initial_colours(&self) -> Colours {
        let product = self.product;
        let label_colour = |label: usize| {
            let extent = u64::from(product.extents[label]);
            if self.in_interface(label) {
                mix(77, extent)
            } else if label < product.results {
                mix(1000, label as u64)
            } else {
                mix(55, extent)
            }
        };
        let operands = product.operands.iter();
        Colours {
            labels: (0..product.extents.len()).map(label_colour).collect(),
            operands: operands
                .map(|operand| {
                    mix(
                        usize::from(operand.id) as u64,
                        operand.power.halves() as u64,
                    )
                })
                .collect(),
        }
    }

    fn refine_and_branch(&mut self, mut colours: Colours) {
        if self.zero || self.leaves == 0 {
            return;
        }
        self.refinement.refine(&mut colours);
        for tied in tied_cells(&colours.operands) {
            let first = &self.product.operands[tied[0]].slots;
            if tied
                .iter()
                .all(|&k| self.product.operands[k].slots == *first)
            {
                // Literally identical operands: any order is the same, so no branching.
                for (rank, &k) in tied.iter().enumerate() {
                    colours.operands[k] = mix(colours.operands[k], 100 + rank as u64);
                }
                continue;
            }
            for k in tied {
                let mut branch = colours.clone();
                branch.operands[k] = mix(branch.operands[k], 4242);
                self.refine_and_branch(branch);
            }
            return;
        }
        self.leaves -= 1;
        self.test_label_ties(&colours);
        let leaf = self.number(&colours);
        match &self.best {
            None => self.best = Some(leaf),
            Some(best) => match leaf.compare(best, self.product) {
                Ordering::Less => self.best = Some(leaf),
                Ordering::Equal => self.zero |= leaf.negative != best.negative,
                Ordering::Greater => {}
            },
        }
    }

    /// Two dummies of equal colour can be exchanged. If they meet in an odd number of antisymmetric groups, that
    /// exchange changes the sign and nothing else.
    fn test_label_ties(&mut self, colours: &Colours) {
        let labels = self.product.results..self.product.extents.len();
        for a in labels.clone() {
            for b in a + 1..labels.end {
                if colours.labels[a] == colours.labels[b]
                    && !self.in_interface(a)
                    && !self.in_interface(b)
                {
                    self.zero |= self.meet_antisymmetrically(a as u8, b as u8) % 2 == 1;
                }
            }
        }
    }

    fn meet_antisymmetrically(&self, a: u8, b: u8) -> usize {
        let mut meetings = 0;
        for (operand, groups) in self.product.operands.iter().zip(&self.refinement.groups) {
            let places = |label: u8| {
                (0..operand.slots.len()).filter(move |&s| operand.slots[s] == Slot::Label(label))
            };
            for s in places(a) {
                let meets = groups.is_antisymmetric(s)
                    && places(b).any(|t| groups.first(t) == groups.first(s));
                meetings += usize::from(meets);
            }
        }
        meetings
    }

    /// Numbers dummies by first occurrence, operands in the order of classes and colours.
    fn number(&mut self, colours: &Colours) -> Canonical {
        let product = self.product;
        let mut order: SmallVec<[usize; 8]> = (0..product.operands.len()).collect();
        order.sort_by_key(|&k| (product.operands[k].id, colours.operands[k]));
        let mut numbers = Numbers::new(product);
        let mut negative = false;
        let mut renamed = SmallVec::with_capacity(order.len());
        for &k in &order {
            let operand = &product.operands[k];
            let mut slots = Slots::from_slice(&operand.slots);
            for group in self.refinement.groups[k].members() {
                let place = |slot: usize| match operand.slots[slot] {
                    Slot::Fixed(component) => (0u8, u64::from(component)),
                    Slot::Label(label) => match numbers.renamed[usize::from(label)] {
                        Some(number) if usize::from(number) < product.results => (1, number.into()),
                        Some(number) => (2, number.into()),
                        None => (3, colours.labels[usize::from(label)]),
                    },
                };
                let mut sorted = group.clone();
                sorted.sort_by_key(|&slot| (place(slot), slot));
                if self.refinement.groups[k].is_antisymmetric(group[0]) {
                    for (i, &s) in sorted.iter().enumerate() {
                        for &t in &sorted[i + 1..] {
                            negative ^= s > t;
                            self.zero |= operand.slots[s] == operand.slots[t];
                        }
                    }
                }
                for (&to, &from) in group.iter().zip(&sorted) {
                    slots[to] = operand.slots[from];
                }
            }
            renamed.push(numbers.rename(slots));
        }
        Canonical {
            zero: false,
            negative,
            order,
            slots: renamed,
            renamed: numbers.renamed,
        }
    }
}

/// Cells of operands of equal colour, smallest first.
fn tied_cells(colours: &[u64]) -> Vec<Vec<usize>> {
    if distinct(colours) == colours.len() {
        return Vec::new();
    }
    let mut sorted: Vec<(u64, usize)> = colours
        .iter()
        .enumerate()
        .map(|(k, &colour)| (colour, k))
        .collect();
    sorted.sort_unstable();
    let mut cells: Vec<Vec<usize>> = sorted
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|cell| cell.len() > 1)
        .map(|cell| cell.iter().map(|&(_, k)| k).collect())
        .collect();
    cells.sort_by_key(Vec::len);
    cells
}
