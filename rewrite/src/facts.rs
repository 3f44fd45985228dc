//! What is known about a class: facts that follow from its nodes and only ever improve.

use crate::{
    node::{Extents, Function, Node, Op},
    numbers::Power,
    product::{Product, position_shape, with_derivative_axis},
    symmetry::Symmetries,
};
use egg::Id;
use ein_ir::{
    Elementary, Rational,
    mutants::{Mutant, is_on},
};
use num_traits::Signed;
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

/// What is known about a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The extents of the axes.
    pub(crate) shape: Extents,
    /// The dimension of the domain; 0 if the value does not depend on the position.
    pub(crate) dim: u8,
    /// The value is zero everywhere.
    pub(crate) zero: bool,
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

/// Groups of slots that may be permuted, as far as a canonical form is concerned.
#[derive(Clone, Debug)]
pub(crate) struct SlotGroups {
    /// For each slot the first slot of its group.
    pub(crate) first: SmallVec<[u8; 8]>,
    /// For each slot whether a transposition in its group changes the sign.
    pub(crate) antisymmetric: SmallVec<[bool; 8]>,
}

impl SlotGroups {
    /// The groups of at least two slots.
    pub(crate) fn members(&self) -> impl Iterator<Item = SmallVec<[usize; 8]>> + '_ {
        (0..self.first.len())
            .map(|start| {
                (start..self.first.len())
                    .filter(|&s| usize::from(self.first[s]) == start)
                    .collect()
            })
            .filter(|group: &SmallVec<[usize; 8]>| group.len() > 1)
    }

    fn join(&mut self, i: usize, j: usize) {
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
            leaf: Leaf::No,
            symmetric: 0,
            antisymmetric: 0,
            derivatives: 0,
            nonnegative: false,
            scale: None,
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
        let order = self.shape.len();
        let mut groups = SlotGroups {
            first: (0..order as u8).collect(),
            antisymmetric: std::iter::repeat_n(false, order).collect(),
        };
        if self.symmetric == 0 && self.antisymmetric == 0 {
            return groups;
        }
        let mut symmetric: SmallVec<[bool; 8]> = std::iter::repeat_n(false, order).collect();
        for j in 0..order {
            for i in 0..j {
                let anti = &mut groups.antisymmetric;
                if self.symmetric & pair(i, j) != 0 && !anti[i] && !anti[j] {
                    symmetric[i] = true;
                    symmetric[j] = true;
                    groups.join(i, j);
                } else if self.antisymmetric & pair(i, j) != 0 && !symmetric[i] && !symmetric[j] {
                    anti[i] = true;
                    anti[j] = true;
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
        self.field |= other.field;
        self.size = self.size.min(other.size);
        (*self != before, *self != other)
    }

    /// Adds what the structure of a contraction says.
    pub(crate) fn learn(&mut self, symmetries: Symmetries) {
        self.zero |= symmetries.zero;
        self.symmetric |= symmetries.symmetric;
        self.antisymmetric |= symmetries.antisymmetric;
    }

    fn mark_last_axes_symmetric(&mut self, count: u8) {
        let order = self.shape.len();
        for j in order - usize::from(count)..order {
            for i in order - usize::from(count)..j {
                self.symmetric |= pair(i, j);
            }
        }
    }
}

/// The size of the smallest normal form with this node on top. Derivatives have none, nor have probes of anything but
/// leaf fields.
pub(crate) fn normal_size<'a>(node: &Node, facts: impl Fn(Id) -> &'a Facts) -> u32 {
    match &node.op {
        Op::Deriv { .. } => NO_NORMAL_FORM,
        Op::Probe if !facts(node.children[0]).field => NO_NORMAL_FORM,
        _ => node.children.iter().fold(1, |size: u32, &child| {
            size.saturating_add(facts(child).size)
        }),
    }
}

/// The facts that follow from one node, but for the symmetries that a contraction has by its structure: they are found
/// by [`crate::symmetry::symmetries_of`] and added by [`Facts::learn`].
pub(crate) fn facts_of<'a>(node: &Node, facts: impl Fn(Id) -> &'a Facts + Copy) -> Facts {
    let child = |k: usize| facts(node.children[k]);
    let dim = node
        .children
        .iter()
        .map(|&c| facts(c).dim)
        .max()
        .unwrap_or(0);
    let mut result = Facts::tensor(Extents::new());
    match &node.op {
        Op::One => {
            result.leaf = Leaf::One;
            result.nonnegative = true;
        }
        Op::Zero(shape) => {
            result.shape = shape.clone();
            result.zero = true;
            result.nonnegative = true;
        }
        Op::Tensor { shape, .. } => result.shape = shape.clone(),
        Op::Position { dim } => {
            result.shape = position_shape(*dim);
            result.dim = *dim;
            result.leaf = Leaf::Position;
        }
        Op::Delta(n) => {
            result.shape = [*n; 2].into_iter().collect();
            result.leaf = Leaf::Delta;
            result.symmetric = pair(0, 1);
        }
        Op::Epsilon(n) => {
            let order = *n as usize;
            result.shape = std::iter::repeat_n(*n, order).collect();
            result.leaf = Leaf::Epsilon;
            for j in 0..order {
                (0..j).for_each(|i| result.antisymmetric |= pair(i, j));
            }
        }
        Op::Field {
            dim, shape, order, ..
        } => {
            result.shape = shape.clone();
            result.dim = *dim;
            result.field = true;
            if *dim > 1 {
                result
                    .shape
                    .extend(std::iter::repeat_n(u32::from(*dim), (*order).into()));
                result.derivatives = *order;
                result.mark_last_axes_symmetric(*order);
            }
        }
        Op::Contract(spec) => {
            let operands = || spec.operands.iter().zip(&node.children);
            result.shape = spec.extents[..spec.results].into();
            result.dim = dim;
            result.zero =
                operands().any(|((_, power), &child)| facts(child).zero && power.is_positive());
            if spec.results == 0 {
                result.nonnegative = is_nonnegative(&Product::of(spec, &node.children), facts);
            }
        }
        Op::Sum(coefficients) => {
            result.shape = child(0).shape.clone();
            result.dim = dim;
            let looked_at = if is_on(Mutant::FirstAddendOnly) {
                1
            } else {
                node.children.len()
            };
            result.symmetric = node.children[..looked_at]
                .iter()
                .fold(!0, |all, &c| all & facts(c).symmetric);
            result.antisymmetric = node
                .children
                .iter()
                .fold(!0, |all, &c| all & facts(c).antisymmetric);
            result.zero = node.children.iter().all(|&c| facts(c).zero);
            result.nonnegative = coefficients
                .iter()
                .zip(&node.children)
                .all(|(coefficient, &c)| !coefficient.is_negative() && facts(c).nonnegative);
            if let [coefficient] = coefficients[..] {
                result.scale = Some((coefficient, node.children[0]));
            }
        }
        Op::Apply(function) => {
            result.shape = child(0).shape.clone();
            result.dim = dim;
            result.symmetric = node
                .children
                .iter()
                .fold(!0, |all, &c| all & facts(c).symmetric);
            result.nonnegative = match function {
                Function::Elementary(f) => {
                    matches!(
                        f,
                        Elementary::Exp | Elementary::Abs | Elementary::Erfc | Elementary::Sqrt
                    )
                }
                Function::Power(power) => power.is_even() || !power.is_integer(),
            };
        }
        Op::Eigen(part) => {
            result.shape = child(0).shape[..part.order()].into();
            result.dim = dim;
        }
        Op::Cond(_) => {
            result.shape = child(2).shape.clone();
            result.dim = dim;
            result.symmetric = node
                .children
                .iter()
                .fold(!0, |all, &c| all & facts(c).symmetric);
            result.zero = child(2).zero && child(3).zero;
            result.nonnegative = child(2).nonnegative && child(3).nonnegative;
        }
        Op::Deriv { dim } => {
            let field = child(0);
            result.shape = with_derivative_axis(&field.shape, *dim);
            result.zero = field.dim == 0 || field.zero;
            result.dim = if result.zero { 0 } else { field.dim };
            result.symmetric = field.symmetric;
            result.antisymmetric = field.antisymmetric;
            if *dim > 1 {
                result.derivatives = field.derivatives + 1;
                result.mark_last_axes_symmetric(result.derivatives);
            }
        }
        Op::Probe => {
            let field = child(0);
            result.shape = field.shape.clone();
            result.dim = if field.dim == 0 { 0 } else { child(1).dim };
            result.zero = field.zero;
            result.symmetric = field.symmetric;
            result.antisymmetric = field.antisymmetric;
            result.nonnegative = field.nonnegative;
        }
        Op::Tuple => {}
    }
    result.size = normal_size(node, facts);
    result
}

/// Even powers, pairs of equal factors and factors that are known to be nonnegative make a scalar nonnegative.
fn is_nonnegative<'a>(product: &Product, facts: impl Fn(Id) -> &'a Facts) -> bool {
    let mut factors: Vec<_> = product
        .operands
        .iter()
        .map(|operand| (operand.id, &operand.slots, operand.power))
        .collect();
    factors.sort();
    factors
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .all(|equal| {
            let total = equal
                .iter()
                .try_fold(Power::integer(0), |sum, factor| sum.plus(factor.2));
            let (id, slots, _) = equal[0];
            let even = total.is_some_and(Power::is_even);
            even || slots.is_empty()
                && (facts(id).nonnegative || total.is_some_and(|power| !power.is_integer()))
        })
}
