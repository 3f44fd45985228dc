//! Facts about a class. They follow from its nodes, and only ever improve.

use crate::{
    node::{Extents, Node, Op},
    sparsity::Zeros,
    symmetry::Symmetries,
};
use egg::Id;
use ein_ir::Rational;
use smallvec::SmallVec;

/// What a class is, if it is one of the tensors that rules know by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    No,
    One,
    Delta,
    Epsilon,
    Position,
}

/// A class without a node in normal form has this size.
pub(crate) const NO_NORMAL_FORM: u32 = u32::MAX;

/// The facts about a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The extents of the axes.
    pub(crate) shape: Extents,
    /// The dimension of the domain; 0 if the value does not depend on the position.
    pub(crate) dim: u8,
    /// The value is zero everywhere.
    pub(crate) zero: bool,
    /// The components that are zero by structure.
    pub(crate) zeros: Zeros,
    /// The value is made of numbers, δ and ε alone.
    pub(crate) constant: bool,
    pub(crate) leaf: Leaf,
    /// One bit per pair of axes that may be exchanged, see [`pair`].
    pub(crate) symmetric: u64,
    /// One bit per pair of axes whose exchange changes the sign.
    pub(crate) antisymmetric: u64,
    /// That many last axes are derivatives of one field, hence symmetric in all derivatives of the class as well.
    pub(crate) derivatives: u8,
    /// The value is never negative where it is defined.
    pub(crate) nonnegative: bool,
    /// The class is this multiple of another one.
    pub(crate) scale: Option<(Rational, Id)>,
    /// The class is the inverse of this matrix.
    pub(crate) inverse: Option<Id>,
    /// The class contains a leaf field.
    pub(crate) field: bool,
    /// The size of the smallest normal form, or [`NO_NORMAL_FORM`].
    pub(crate) size: u32,
}

/// The bit of a pair of axes; tensors of very high order have none for their last axes.
pub(crate) fn pair(i: usize, j: usize) -> u64 {
    let (low, high) = (i.min(j), i.max(j));
    let bit = high * (high - 1) / 2 + low;
    if bit < 64 { 1 << bit } else { 0 }
}

/// Only this many first axes have bits of pairs, so no other is in a group.
const PAIRED_AXES: usize = 12;

/// Groups of slots that may be permuted, as far as a canonical form is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotGroups {
    /// For each slot the first slot of its group.
    first: [u8; PAIRED_AXES],
    /// One bit for each slot that is in a group with another.
    grouped: u16,
    /// One bit for each slot for which a transposition in its group changes the sign.
    antisymmetric: u16,
}

impl SlotGroups {
    /// Every slot on its own.
    const NONE: SlotGroups = SlotGroups {
        first: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        grouped: 0,
        antisymmetric: 0,
    };

    /// The first slot of the group of a slot.
    pub(crate) fn first(&self, slot: usize) -> u8 {
        self.first.get(slot).copied().unwrap_or(slot as u8)
    }

    /// Whether a transposition in the group of a slot changes the sign.
    pub(crate) fn is_antisymmetric(&self, slot: usize) -> bool {
        slot < PAIRED_AXES && self.antisymmetric >> slot & 1 == 1
    }

    /// Whether no slot is in a group with another.
    pub(crate) fn is_trivial(&self) -> bool {
        self.grouped == 0
    }

    /// The groups of at least two slots.
    pub(crate) fn members(&self) -> impl Iterator<Item = SmallVec<[usize; 8]>> + use<> {
        let groups = *self;
        let is_in = move |slot: usize, start: usize| {
            groups.grouped >> slot & 1 == 1 && usize::from(groups.first[slot]) == start
        };
        let starts = (0..PAIRED_AXES).filter(move |&start| is_in(start, start));
        starts.map(move |start| {
            let slots = start..PAIRED_AXES;
            slots.filter(|&slot| is_in(slot, start)).collect()
        })
    }

    fn join(&mut self, i: usize, j: usize) {
        self.grouped |= 1 << i | 1 << j;
        let (a, b) = (self.first[i], self.first[j]);
        let root = a.min(b);
        self.first
            .iter_mut()
            .filter(|f| **f == a || **f == b)
            .for_each(|f| *f = root);
    }
}

impl Facts {
    /// Facts of a constant tensor about which nothing is known.
    pub(crate) fn tensor(shape: Extents) -> Facts {
        Facts {
            shape,
            dim: 0,
            zero: false,
            zeros: Zeros::default(),
            constant: false,
            leaf: Leaf::No,
            symmetric: 0,
            antisymmetric: 0,
            derivatives: 0,
            nonnegative: false,
            scale: None,
            inverse: None,
            field: false,
            size: 1,
        }
    }

    /// The number of components.
    pub(crate) fn components(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |count, &n| u64::saturating_mul(count, n.into()))
    }

    /// Symmetric and antisymmetric groups of axes; an axis that is in both kinds goes with the first one found.
    pub(crate) fn slot_groups(&self) -> SlotGroups {
        let mut groups = SlotGroups::NONE;
        if self.symmetric == 0 && self.antisymmetric == 0 {
            return groups;
        }
        let mut symmetric = 0;
        for j in 0..self.shape.len().min(PAIRED_AXES) {
            for i in 0..j {
                let both = 1 << i | 1 << j;
                if self.symmetric & pair(i, j) != 0 && groups.antisymmetric & both == 0 {
                    symmetric |= both;
                    groups.join(i, j);
                } else if self.antisymmetric & pair(i, j) != 0 && symmetric & both == 0 {
                    groups.antisymmetric |= both;
                    groups.join(i, j);
                }
            }
        }
        groups
    }

    /// Takes over what `other` knows about the same class; says whether this side and whether the other side was
    /// lacking something.
    pub(crate) fn merge(&mut self, other: Facts) -> (bool, bool) {
        assert_eq!(
            self.shape, other.shape,
            "classes of different shapes were made equal"
        );
        let before = self.clone();
        self.dim = self.dim.min(other.dim);
        self.zero |= other.zero;
        self.zeros = self.zeros.with(other.zeros);
        self.constant |= other.constant;
        if self.leaf == Leaf::No {
            self.leaf = other.leaf;
        }
        self.symmetric |= other.symmetric;
        self.antisymmetric |= other.antisymmetric;
        self.derivatives = self.derivatives.max(other.derivatives);
        self.nonnegative |= other.nonnegative;
        self.scale = match (self.scale, other.scale) {
            (Some(a), Some(b)) => Some(if a.1 <= b.1 { a } else { b }),
            (a, b) => a.or(b),
        };
        self.inverse = match (self.inverse, other.inverse) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.field |= other.field;
        self.size = self.size.min(other.size);
        self.reconcile_zeros();
        (*self != before, *self != other)
    }

    /// The facts about the exchange of axes.
    pub(crate) fn symmetries(&self) -> Symmetries {
        Symmetries {
            zero: self.zero,
            symmetric: self.symmetric,
            antisymmetric: self.antisymmetric,
        }
    }

    /// Adds what the structure of a contraction says, or is known from elsewhere.
    pub(crate) fn learn(&mut self, symmetries: Symmetries) {
        self.zero |= symmetries.zero;
        self.symmetric |= symmetries.symmetric;
        self.antisymmetric |= symmetries.antisymmetric;
        self.reconcile_zeros();
    }

    /// A value all of whose components are zero is zero, and the other way round.
    pub(crate) fn reconcile_zeros(&mut self) {
        if self.zero {
            self.zeros = Zeros::of(&self.shape, |_| true);
        } else {
            self.zero = self.zeros.are_all(&self.shape);
        }
    }

    pub(crate) fn mark_last_axes_symmetric(&mut self, count: u8) {
        let order = self.shape.len();
        for j in order - usize::from(count)..order {
            for i in order - usize::from(count)..j {
                self.symmetric |= pair(i, j);
            }
        }
    }
}

/// The size of the smallest normal form with this node on top. Derivatives have none, nor have probes of anything but
/// leaf fields, nor inverses, which are written out.
pub(crate) fn normal_size<'a>(node: &Node, facts: impl Fn(Id) -> &'a Facts) -> u32 {
    match &node.op {
        Op::Deriv { .. } | Op::Inverse => NO_NORMAL_FORM,
        Op::Probe if !facts(node.children[0]).field => NO_NORMAL_FORM,
        _ => node.children.iter().fold(1, |size: u32, &child| {
            size.saturating_add(facts(child).size)
        }),
    }
}
