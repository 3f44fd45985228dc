//! Sequences that are computed in steps.

use super::{Constant, Expr, ExprKind, VarId};
use ein_ir::{Type, ops::Builtin};

/// The greatest length of a sequence whose element may be taken at a place that is known only at run time: the code compares
/// the place with every place of the sequence.
pub(crate) const MOST_COMPARED: usize = 16;

/// The most elements of a sequence that is written out or kept, and of one step of a sequence that is computed in steps.
pub(crate) const MOST_ELEMENTS: usize = 4096;

/// A sequence whose elements are computed in steps along one of its axes, each step from those before.
#[derive(Clone, Debug)]
pub struct Recurrence {
    /// Which elements of the steps it has.
    pub main: Layout,
    /// Sequences that other variables have, of elements of the same steps.
    pub also: Vec<(VarId, Layout)>,
    /// Steps that are computed alike, in their order; together they are all steps.
    pub segments: Vec<Segment>,
}

/// Which elements of steps a sequence has: one of a step for every place along its other axes. Steps may have more elements.
#[derive(Clone, Debug)]
pub struct Layout {
    /// How long the sequence is along each axis.
    pub lengths: Vec<usize>,
    /// The axis along which steps are taken.
    pub axis: usize,
    /// Where the elements of a step are along the other axes, in the order in which they are computed.
    pub places: Vec<Vec<usize>>,
    /// The first of a step's elements that belong to the sequence; one for every place follows.
    pub first: usize,
    /// The step that computes the first elements along the axis.
    pub start: i64,
}

/// Steps that are computed alike.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The first step.
    pub low: i64,
    /// The last step.
    pub high: i64,
    /// The number of the step, where the elements need it.
    pub index: VarId,
    /// The elements of earlier steps that are read.
    pub past: Vec<Past>,
    /// The elements of a step; each may read those before it.
    pub elements: Vec<(VarId, Expr)>,
}

/// An element of an earlier step.
#[derive(Clone, Copy, Debug)]
pub struct Past {
    /// The variable that has it.
    pub var: VarId,
    /// How many steps before.
    pub back: usize,
    /// Which of that step's elements.
    pub element: usize,
}

impl Layout {
    /// How many elements the sequence has.
    pub fn size(&self) -> usize {
        self.lengths.iter().product()
    }

    /// How many steps there are.
    pub fn steps(&self) -> usize {
        self.lengths[self.axis]
    }

    /// The last step that computes elements of it.
    pub fn last(&self) -> i64 {
        self.start + self.steps() as i64 - 1
    }

    /// The number among the elements of a step of the one at a place along the other axes.
    pub fn number(&self, place: &[usize]) -> Option<usize> {
        let number = self.places.iter().position(|other| other == place)?;
        Some(self.first + number)
    }
}

impl Recurrence {
    /// The values of all elements.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Expr> {
        let elements = self.segments.iter().flat_map(|segment| &segment.elements);
        elements.map(|(_, value)| value)
    }

    /// Whether steps take elements of a long sequence at their own places, which a loop would have to search for.
    pub(crate) fn searches(&self) -> bool {
        let by_step = |segment: &Segment| {
            let mut values = segment.elements.iter().map(|(_, value)| value);
            values.any(|value| searches(value, segment.index, &|_| true))
        };
        self.main.size() <= MOST_ELEMENTS && self.segments.iter().any(by_step)
    }
}

/// Whether elements of some long sequences are taken at places that depend on the step.
pub(crate) fn searches(e: &Expr, step: VarId, which: &dyn Fn(&Expr) -> bool) -> bool {
    let own = match e.builtin() {
        Some((Builtin::Element, [sequence, index])) => {
            matches!(sequence.ty, Type::Seq(_, Some(n)) if n > MOST_COMPARED)
                && index.mentions(step)
                && which(indexed(sequence).0)
        }
        _ => false,
    };
    let mut parts = e.children().into_iter();
    own || parts.any(|part| searches(part, step, which))
}

/// The sequence that an expression indexes, and the indices, the outermost first; there are no indices if the expression is
/// not an element of a sequence.
pub(crate) fn indexed(e: &Expr) -> (&Expr, Vec<&Expr>) {
    let (mut base, mut indices) = (e, Vec::new());
    while let Some((Builtin::Element, [sequence, index])) = base.builtin() {
        indices.push(index);
        base = sequence;
    }
    indices.reverse();
    (base, indices)
}

/// The int that an expression is, if that is written there.
pub(crate) fn int(e: &Expr) -> Option<i64> {
    match e.kind {
        ExprKind::Constant(Constant::Int(n)) => Some(n),
        _ => None,
    }
}
