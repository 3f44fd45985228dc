//! The e-graph language: closed operators on tensor-valued functions.
//!
//! A node denotes a function of position with values of one fixed shape; a tensor is a constant function. No node has a
//! free index: indices live inside the [`Spec`] of a contraction, so equality of nodes is equality up to renaming.

use crate::{numbers::Power, shared::Shared};
use egg::{FromOp, Id, Language};
use ein_ir::{Comparison, Eigen, Elementary, Rational, rational};
use smallvec::SmallVec;
use std::{
    fmt,
    hash::{Hash, Hasher},
};

/// The extents of the axes of a class.
pub(crate) type Extents = SmallVec<[u32; 4]>;

/// What stands at one axis of an operand of a contraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// A fixed component.
    Fixed(u32),
    /// An index of the contraction, by its number.
    Label(u8),
}

pub(crate) type Slots = SmallVec<[Slot; 4]>;

/// An einsum over the children: `result[0..results] = Σ over the other labels of Π childₖ[slotsₖ]^powerₖ`.
///
/// Labels below `results` are the axes of the result in order. Only scalar operands have powers other than 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Spec {
    pub(crate) results: usize,
    pub(crate) extents: Extents,
    pub(crate) operands: Vec<(Slots, Power)>,
}

impl Spec {
    /// Whether this is a *view*: an access to a single tensor without summation.
    pub(crate) fn is_view(&self) -> bool {
        matches!(self.operands[..], [(_, power)] if power.is_one())
            && self.extents.len() == self.results
    }

    /// Whether every operand is a scalar and so is the result.
    pub(crate) fn is_monomial(&self) -> bool {
        self.results == 0 && self.operands.iter().all(|(slots, _)| slots.is_empty())
    }
}

/// The coefficients of a linear combination, one for each child.
#[derive(Clone, Debug, Eq, PartialOrd, Ord)]
pub(crate) struct Coefficients(pub(crate) SmallVec<[Rational; 2]>);

impl PartialEq for Coefficients {
    /// They are reduced, so equal ones have equal parts; their own comparison takes long divisions.
    fn eq(&self, other: &Coefficients) -> bool {
        let parts = |coefficients: &Coefficients| {
            let parts = |q: &Rational| (*q.numer(), *q.denom());
            coefficients.iter().map(parts).collect::<SmallVec<[_; 2]>>()
        };
        parts(self) == parts(other)
    }
}

impl Hash for Coefficients {
    /// See [`rational::hash`].
    fn hash<H: Hasher>(&self, state: &mut H) {
        for coefficient in &self.0 {
            rational::hash(coefficient, state);
        }
    }
}

impl std::ops::Deref for Coefficients {
    type Target = [Rational];

    fn deref(&self) -> &[Rational] {
        &self.0
    }
}

/// A function applied to each component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Function {
    Elementary(Elementary),
    /// A power of a tensor, component by component; powers of scalars are part of contractions.
    Power(Power),
}

/// What a node does with its children.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Op {
    /// The number 1.
    One,
    /// The zero tensor.
    Zero(Extents),
    /// Input of the region that is a tensor.
    Tensor { input: usize, shape: Extents },
    /// The identity field of ℝᵈ.
    Position { dim: u8 },
    /// Kronecker's δ.
    Delta(u32),
    /// The Levi-Civita symbol.
    Epsilon(u32),
    /// A derivative of a leaf field. The derivative axes come last; a one-dimensional domain has none.
    Field {
        input: usize,
        dim: u8,
        shape: Extents,
        order: u8,
    },
    /// A contraction.
    Contract(Shared<Spec>),
    /// A rational linear combination of children of one shape.
    Sum(Shared<Coefficients>),
    /// A function of children of one shape, component by component.
    Apply(Function),
    /// A part of the eigensystem of a matrix: which one is the first axis.
    Eigen(Eigen),
    /// `[a, b, then, otherwise]`, all of one shape, selected component by component.
    Cond(Comparison),
    /// The inverse of a square matrix. It has no normal form: in the end it is written out as cofactors over the determinant,
    /// but the laws of inverses apply to this node.
    Inverse,
    /// The derivative; its axis is the last one (none if the domain is one-dimensional).
    Deriv { dim: u8 },
    /// `[field, position]`: the field at a position; a composition if the position is itself a field.
    Probe,
    /// All roots of a region together.
    Tuple,
}

/// The kinds of nodes, as rules select them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Leaf,
    Contract,
    Sum,
    Apply,
    Eigen,
    Cond,
    Inverse,
    Deriv,
    Probe,
    Tuple,
}

/// An operator with its children.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node {
    pub(crate) op: Op,
    pub(crate) children: SmallVec<[Id; 4]>,
}

impl Op {
    /// A linear combination with these coefficients.
    pub(crate) fn sum(coefficients: impl IntoIterator<Item = Rational>) -> Op {
        Op::Sum(Shared::new(Coefficients(
            coefficients.into_iter().collect(),
        )))
    }
}

impl Clone for Node {
    /// As derived, but the children are copied all at once.
    fn clone(&self) -> Node {
        Node {
            op: self.op.clone(),
            children: SmallVec::from_slice(&self.children),
        }
    }
}

impl Node {
    pub(crate) fn leaf(op: Op) -> Node {
        Node {
            op,
            children: SmallVec::new(),
        }
    }

    pub(crate) fn new(op: Op, children: &[Id]) -> Node {
        Node {
            op,
            children: SmallVec::from_slice(children),
        }
    }

    /// A linear combination of these terms, which are put in order.
    pub(crate) fn sum(mut terms: Vec<(Id, Rational)>) -> Node {
        terms.sort();
        Node {
            op: Op::sum(terms.iter().map(|term| term.1)),
            children: terms.iter().map(|term| term.0).collect(),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.op {
            Op::One
            | Op::Zero(_)
            | Op::Tensor { .. }
            | Op::Position { .. }
            | Op::Delta(_)
            | Op::Epsilon(_)
            | Op::Field { .. } => Kind::Leaf,
            Op::Contract(_) => Kind::Contract,
            Op::Sum(_) => Kind::Sum,
            Op::Apply(_) => Kind::Apply,
            Op::Eigen(_) => Kind::Eigen,
            Op::Cond(_) => Kind::Cond,
            Op::Inverse => Kind::Inverse,
            Op::Deriv { .. } => Kind::Deriv,
            Op::Probe => Kind::Probe,
            Op::Tuple => Kind::Tuple,
        }
    }

    /// The terms of a linear combination.
    pub(crate) fn terms(&self) -> Option<Vec<(Rational, Id)>> {
        match &self.op {
            Op::Sum(coefficients) => Some(
                coefficients
                    .iter()
                    .copied()
                    .zip(self.children.iter().copied())
                    .collect(),
            ),
            _ => None,
        }
    }
}

impl Language for Node {
    type Discriminant = Kind;

    fn discriminant(&self) -> Kind {
        self.kind()
    }

    fn matches(&self, other: &Node) -> bool {
        self.op == other.op && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}

/// Nodes are never read from text; egg asks for this to print explanations.
impl FromOp for Node {
    type Error = String;

    fn from_op(op: &str, _children: Vec<Id>) -> Result<Node, String> {
        Err(format!("a node cannot be read from `{op}`"))
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Slot::Fixed(component) => write!(f, "{component}"),
            Slot::Label(label) => f.write_str(&label_name(label.into())),
        }
    }
}

/// `i`, `j`, … `z`, `a`, … `h`, then the same with a number.
fn label_name(label: usize) -> String {
    let letter = char::from(b'a' + ((label + 8) % 26) as u8);
    match label / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, (slots, power)) in self.operands.iter().enumerate() {
            if k > 0 {
                f.write_str(",")?;
            }
            slots.iter().try_for_each(|slot| write!(f, "{slot}"))?;
            if !power.is_one() {
                write!(f, "^{power}")?;
            }
        }
        f.write_str("→")?;
        (0..self.results).try_for_each(|label| f.write_str(&label_name(label)))
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.op {
            Op::One => f.write_str("1"),
            Op::Zero(_) => f.write_str("0"),
            Op::Tensor { input, .. } => write!(f, "v{input}"),
            Op::Position { .. } => f.write_str("x"),
            Op::Delta(_) => f.write_str("δ"),
            Op::Epsilon(_) => f.write_str("ε"),
            Op::Field { input, order, .. } => write!(f, "{}v{input}", "∇".repeat((*order).into())),
            Op::Contract(spec) => write!(f, "contract[{}]", **spec),
            Op::Sum(coefficients) => {
                f.write_str("sum[")?;
                for (k, coefficient) in coefficients.iter().enumerate() {
                    let comma = if k > 0 { "," } else { "" };
                    write!(f, "{comma}{coefficient}")?;
                }
                f.write_str("]")
            }
            Op::Apply(Function::Elementary(function)) => write!(f, "{function:?}"),
            Op::Apply(Function::Power(power)) => write!(f, "power[{power}]"),
            Op::Eigen(part) => f.write_str(part.name()),
            Op::Cond(test) => write!(f, "if{test:?}"),
            Op::Inverse => f.write_str("inverse"),
            Op::Deriv { .. } => f.write_str("∇"),
            Op::Probe => f.write_str("probe"),
            Op::Tuple => f.write_str("tuple"),
        }
    }
}
