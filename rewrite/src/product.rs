//! Products of indexed operands under a summation: contractions while they are being worked on.
//!
//! The functions here move labels about; none of them knows what an operand is.

use crate::{
    mutants,
    node::{Extents, Slot, Slots, Spec},
    numbers::{Power, times},
};
use egg::Id;
use ein_ir::Rational;
use num_traits::One;
use smallvec::{SmallVec, smallvec};

/// No contraction has more labels than this; what would is left as an operand of its own.
pub(crate) const MAX_LABELS: usize = 48;

/// One factor of a product.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) id: Id,
    pub(crate) slots: Slots,
    pub(crate) power: Power,
}

impl Clone for Operand {
    /// As derived, but the slots are copied all at once.
    fn clone(&self) -> Operand {
        Operand {
            slots: Slots::from_slice(&self.slots),
            ..*self
        }
    }
}

impl Operand {
    /// A tensor with its indices.
    pub(crate) fn new(id: Id, slots: impl IntoIterator<Item = Slot>) -> Operand {
        Operand {
            id,
            slots: slots.into_iter().collect(),
            power: Power::ONE,
        }
    }

    /// A power of a scalar.
    pub(crate) fn scalar(id: Id, power: Power) -> Operand {
        Operand {
            id,
            slots: Slots::new(),
            power,
        }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.slots.is_empty()
    }

    pub(crate) fn mentions(&self, label: u8) -> bool {
        self.slots.contains(&Slot::Label(label))
    }

    /// The labels, one bit for each; there are no more than [`MAX_LABELS`].
    pub(crate) fn mentioned(&self) -> u64 {
        self.labels().fold(0, |labels, label| labels | 1 << label)
    }

    /// The labels, each as often as it occurs.
    pub(crate) fn labels(&self) -> impl Iterator<Item = u8> + '_ {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Label(label) => Some(*label),
            Slot::Fixed(_) => None,
        })
    }
}

/// `coefficient · Σ over labels ≥ results of Π operands`; labels below `results` are the result's axes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Product {
    pub(crate) coefficient: Rational,
    pub(crate) results: usize,
    pub(crate) extents: Extents,
    pub(crate) operands: Vec<Operand>,
}

impl Clone for Product {
    /// As derived, but the extents are copied all at once.
    fn clone(&self) -> Product {
        Product {
            extents: Extents::from_slice(&self.extents),
            operands: self.operands.clone(),
            ..*self
        }
    }
}

/// The labels `0..count` as slots.
pub(crate) fn axes(count: usize) -> Slots {
    (0..count).map(|axis| Slot::Label(axis as u8)).collect()
}

impl Product {
    /// A product whose labels are all axes of its result.
    pub(crate) fn pointwise(shape: &Extents, operands: Vec<Operand>) -> Product {
        Product {
            coefficient: Rational::one(),
            results: shape.len(),
            extents: shape.clone(),
            operands,
        }
    }

    /// A class as it is, as a product.
    pub(crate) fn whole(class: Id, shape: &Extents) -> Product {
        Product::pointwise(shape, vec![Operand::new(class, axes(shape.len()))])
    }

    /// The contraction of a node.
    pub(crate) fn of(spec: &Spec, children: &[Id]) -> Product {
        let operands = spec
            .operands
            .iter()
            .zip(children)
            .map(|((slots, power), &id)| Operand {
                id,
                slots: Slots::from_slice(slots),
                power: *power,
            });
        Product {
            coefficient: Rational::one(),
            results: spec.results,
            extents: Extents::from_slice(&spec.extents),
            operands: operands.collect(),
        }
    }

    /// The shape of the result.
    pub(crate) fn shape(&self) -> Extents {
        self.extents[..self.results].into()
    }

    pub(crate) fn is_dummy(&self, label: u8) -> bool {
        usize::from(label) >= self.results
    }

    /// The labels that some operand mentions, one bit for each.
    pub(crate) fn mentioned(&self) -> u64 {
        let operands = self.operands.iter();
        operands.fold(0, |labels, operand| labels | operand.mentioned())
    }

    pub(crate) fn uses(&self, label: u8) -> bool {
        self.operands.iter().any(|operand| operand.mentions(label))
    }

    /// Whether the operand at `position` is the only one that mentions `label`.
    pub(crate) fn only_in(&self, label: u8, position: usize) -> bool {
        self.operands
            .iter()
            .enumerate()
            .all(|(k, operand)| k == position || !operand.mentions(label))
    }

    /// Multiplies the coefficient; `false` (and no change) if the result is not representable.
    pub(crate) fn scale(&mut self, factor: Rational) -> bool {
        match times(self.coefficient, factor) {
            Some(product) => {
                self.coefficient = product;
                true
            }
            None => false,
        }
    }

    /// Puts `to` in place of `label` in every operand but the one at `except`; says whether anything changed.
    pub(crate) fn substitute(&mut self, label: u8, to: Slot, except: Option<usize>) -> bool {
        let mut changed = false;
        for (k, operand) in self.operands.iter_mut().enumerate() {
            if Some(k) == except {
                continue;
            }
            for slot in &mut operand.slots {
                if *slot == Slot::Label(label) {
                    *slot = to;
                    changed = true;
                }
            }
        }
        changed
    }

    /// The product with two of its labels in each other's place.
    pub(crate) fn with_exchanged(&self, i: u8, j: u8) -> Product {
        let mut exchanged = self.clone();
        let operands = exchanged.operands.iter_mut();
        for slot in operands.flat_map(|operand| &mut operand.slots) {
            match slot {
                Slot::Label(label) if *label == i => *label = j,
                Slot::Label(label) if *label == j => *label = i,
                Slot::Label(_) | Slot::Fixed(_) => {}
            }
        }
        exchanged
    }

    /// Deletes a dummy that no operand mentions, without the factor that its range would contribute.
    pub(crate) fn delete(&mut self, label: u8) {
        debug_assert!(self.is_dummy(label) && !self.uses(label));
        self.extents.remove(label.into());
        for slot in self
            .operands
            .iter_mut()
            .flat_map(|operand| &mut operand.slots)
        {
            if let Slot::Label(other) = slot
                && *other > label
            {
                *other -= 1;
            }
        }
    }

    /// After the operands at `taken` of `whole` were taken out: deletes the dummies that went with them.
    pub(crate) fn delete_dummies_of(&mut self, whole: &Product, taken: &[usize]) {
        for label in (self.results as u8..self.extents.len() as u8).rev() {
            if !self.uses(label) && taken.iter().any(|&k| whole.operands[k].mentions(label)) {
                self.delete(label);
            }
        }
    }

    /// Puts the product `inner` in place of the operand at `position`, whose slots say what inner's axes are.
    pub(crate) fn splice(&mut self, position: usize, inner: &Product) {
        let outer = self.operands.remove(position);
        let base = mutants::first_free(self);
        self.extents
            .extend_from_slice(&inner.extents[inner.results..]);
        let renamed = |slot: &Slot| match *slot {
            Slot::Label(label) if usize::from(label) < inner.results => {
                outer.slots[usize::from(label)]
            }
            Slot::Label(label) => Slot::Label((base + usize::from(label) - inner.results) as u8),
            Slot::Fixed(component) => Slot::Fixed(component),
        };
        let spliced = inner.operands.iter().map(|operand| Operand {
            id: operand.id,
            slots: operand.slots.iter().map(renamed).collect(),
            power: operand.power,
        });
        self.operands.splice(position..position, spliced);
    }

    /// Makes room for one more axis of the result, after the others; it takes the label `results`.
    pub(crate) fn add_result_axis(&mut self, extent: u32) {
        let axis = self.results as u8;
        self.extents.insert(self.results, extent);
        self.results += 1;
        for slot in self
            .operands
            .iter_mut()
            .flat_map(|operand| &mut operand.slots)
        {
            if let Slot::Label(label) = slot
                && *label >= axis
            {
                *label += 1;
            }
        }
    }

    /// The product of the selected operands; the labels `kept` become the axes of its result, in that order.
    pub(crate) fn part(&self, selected: &[usize], kept: &[u8]) -> Product {
        let mut renamed: Vec<Option<u8>> = vec![None; self.extents.len()];
        let mut extents = Extents::new();
        for &label in kept {
            renamed[usize::from(label)] = Some(extents.len() as u8);
            extents.push(self.extents[usize::from(label)]);
        }
        let mut operands = Vec::with_capacity(selected.len());
        for &k in selected {
            let mut operand = self.operands[k].clone();
            for slot in &mut operand.slots {
                if let Slot::Label(label) = slot {
                    let old = usize::from(*label);
                    *label = *renamed[old].get_or_insert_with(|| {
                        extents.push(self.extents[old]);
                        (extents.len() - 1) as u8
                    });
                }
            }
            operands.push(operand);
        }
        Product {
            coefficient: Rational::one(),
            results: kept.len(),
            extents,
            operands,
        }
    }

    /// Operands connected through dummies: for each operand the first operand of its component, and for each
    /// component (at its first operand) whether it mentions an axis of the result.
    pub(crate) fn components(&self) -> (SmallVec<[usize; 8]>, SmallVec<[bool; 8]>) {
        let axes = (1 << self.results) - 1;
        let mentioned = self.operands.iter().map(Operand::mentioned);
        let mentioned: SmallVec<[u64; 8]> = mentioned.collect();
        let mut component: SmallVec<[usize; 8]> = (0..self.operands.len()).collect();
        for b in 1..self.operands.len() {
            for a in 0..b {
                let (first, second) = (component[a], component[b]);
                if mentioned[a] & mentioned[b] & !axes != 0 && first != second {
                    let (from, to) = (first.max(second), first.min(second));
                    component
                        .iter_mut()
                        .filter(|c| **c == from)
                        .for_each(|c| *c = to);
                }
            }
        }
        let mut touches: SmallVec<[bool; 8]> = smallvec![false; self.operands.len()];
        for (&component, mentioned) in component.iter().zip(&mentioned) {
            touches[component] |= mentioned & axes != 0;
        }
        (component, touches)
    }

    /// The one operand, if this is a *view*: an access to a single tensor without summation.
    pub(crate) fn as_view(&self) -> Option<&Operand> {
        match self.operands.as_slice() {
            [operand] if operand.power.is_one() && self.extents.len() == self.results => {
                Some(operand)
            }
            _ => None,
        }
    }

    /// Whether every operand is a scalar and so is the result.
    pub(crate) fn is_monomial(&self) -> bool {
        self.results == 0 && self.operands.iter().all(Operand::is_scalar)
    }
}

/// `class` with further axes of these extents behind its own, along which it is constant.
pub(crate) fn broadcast(class: Id, shape: &Extents, further: &[u32]) -> Product {
    let mut extents = shape.clone();
    extents.extend_from_slice(further);
    Product::pointwise(&extents, vec![Operand::new(class, axes(shape.len()))])
}

/// The result axes of a view of `operand` onto labels `0..results`, as one product.
pub(crate) fn view(class: Id, slots: Slots, shape: Extents) -> Product {
    Product {
        coefficient: Rational::one(),
        results: shape.len(),
        extents: shape,
        operands: vec![Operand {
            id: class,
            slots,
            power: Power::ONE,
        }],
    }
}

/// A shape with one axis more, none if the domain is one-dimensional.
pub(crate) fn with_derivative_axis(shape: &Extents, dim: u8) -> Extents {
    let mut extents = shape.clone();
    if dim > 1 {
        extents.push(dim.into());
    }
    extents
}

/// The shape of a position.
pub(crate) fn position_shape(dim: u8) -> Extents {
    if dim > 1 {
        smallvec![dim.into()]
    } else {
        Extents::new()
    }
}
