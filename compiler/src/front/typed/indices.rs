//! The state of index notation while a program is checked: the indices in scope, and nodes that only index notation has.

use super::tree::{Expr, ExprKind, Past, VarId};
use crate::front::source::Span;
use ein_ir::ops::Reduction;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A place in a sequence, along each axis.
pub(super) type Point = Vec<i64>;

/// The values of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The first one.
    pub(super) low: i64,
    /// How many there are.
    pub(super) count: usize,
}

impl Range {
    pub(super) fn values(self) -> impl Iterator<Item = i64> {
        self.low..self.end()
    }

    /// The first int after its values.
    pub(super) fn end(self) -> i64 {
        self.low + self.count as i64
    }

    pub(super) fn contains(self, value: i64) -> bool {
        (self.low..self.end()).contains(&value)
    }
}

/// An axis that an index stands on alone.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) extent: usize,
    pub(super) label: Option<String>,
    /// What the axis is, as in "axis 1 of `A`".
    pub(super) origin: String,
    pub(super) span: Span,
}

/// An index variable, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct IndexVar {
    pub(super) range: Option<Range>,
    /// Whether the range is written with it; then axes may be longer.
    pub(super) explicit: bool,
    pub(super) uses: Vec<Use>,
    /// The sequence of varying length whose elements it counts, and the variable that is the element.
    pub(super) elements: Option<(Expr, VarId)>,
}

impl IndexVar {
    pub(super) fn new(range: Option<Range>) -> IndexVar {
        IndexVar {
            explicit: range.is_some(),
            range,
            uses: Vec::new(),
            elements: None,
        }
    }
}

/// The labels of the axes of a value: of its domain, then of its sequences and components from the outermost on.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    pub(super) domain: Option<String>,
    pub(super) axes: Vec<Option<String>>,
}

/// What only index notation has, as a value of the surrounding expression.
#[derive(Clone, Debug)]
pub(super) enum StandIn {
    /// A component or part: one entry for each axis of the base, none where the axis stays.
    Component {
        base: Expr,
        indices: Vec<Option<Expr>>,
    },
    /// `∂[i, …] F`
    Partial { indices: Vec<Expr>, field: Expr },
    /// `δ[i, j]`
    Delta(Box<[Expr; 2]>),
    /// `ε[i, j]`, `ε[i, j, k]`
    Epsilon(Vec<Expr>),
    /// A reduction over indices.
    Reduced {
        reduction: Reduction,
        over: Vec<VarId>,
        body: Expr,
    },
}

impl StandIn {
    fn parts(&self) -> Vec<&Expr> {
        match self {
            StandIn::Component { base, indices } => std::iter::once(base)
                .chain(indices.iter().flatten())
                .collect(),
            StandIn::Partial { indices, field } => indices.iter().chain([field]).collect(),
            StandIn::Delta(indices) => indices.iter().collect(),
            StandIn::Epsilon(indices) => indices.iter().collect(),
            StandIn::Reduced { body, .. } => vec![body],
        }
    }
}

/// The index variables and stand-ins of a check.
#[derive(Default)]
pub(super) struct Indices {
    /// The index variables in scope, the outermost first.
    pub(super) live: Vec<VarId>,
    /// Every index variable, as far as it is known so far.
    pub(super) known: BTreeMap<VarId, IndexVar>,
    pub(super) stand_ins: BTreeMap<VarId, Arc<StandIn>>,
    /// Indices that stand together in a δ, and so have one range.
    pub(super) pairs: Vec<[VarId; 2]>,
    /// The sequence that is being defined by clauses.
    pub(super) recurrence: Option<ByClauses>,
}

impl Indices {
    /// The index variables in scope, the outermost first.
    pub(super) fn live(&self) -> &[VarId] {
        &self.live
    }

    /// Whether a variable stands for something of index notation.
    pub(super) fn is_stand_in(&self, var: VarId) -> bool {
        self.stand_ins.contains_key(&var)
    }

    /// What a stand-in is made of.
    pub(super) fn parts_of(&self, var: VarId) -> Vec<&Expr> {
        self.stand_in(var).map(StandIn::parts).unwrap_or_default()
    }

    /// What a variable stands for.
    pub(super) fn stand_in(&self, var: VarId) -> Option<&StandIn> {
        self.stand_ins.get(&var).map(|stand_in| &**stand_in)
    }

    pub(super) fn var(&self, var: VarId) -> &IndexVar {
        &self.known[&var]
    }

    /// Whether a variable is the sequence that clauses are defining.
    pub(super) fn is_being_defined(&self, var: VarId) -> bool {
        self.recurrence
            .as_ref()
            .is_some_and(|recurrence| recurrence.var == var)
    }

    /// The index variable that an expression is, if it is nothing else.
    pub(super) fn bare(&self, e: &Expr) -> Option<VarId> {
        match e.kind {
            ExprKind::Var(var) if self.known.contains_key(&var) => Some(var),
            _ => None,
        }
    }

    /// Whether an expression depends on an index variable or has a stand-in.
    pub(super) fn occur_in(&self, e: &Expr) -> bool {
        match e.kind {
            ExprKind::Var(var) => {
                self.known.contains_key(&var)
                    || self.stand_ins.contains_key(&var)
                    || self.is_being_defined(var)
            }
            _ => e.any_child(|child| self.occur_in(child)),
        }
    }

    /// Whether an expression depends on index variables and on no other variable.
    pub(super) fn decide(&self, e: &Expr) -> bool {
        self.occur_in(e) && self.is_known(e)
    }

    fn is_known(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(var) => self.known.contains_key(var),
            ExprKind::Call { .. } | ExprKind::Given { .. } | ExprKind::Select { .. } => false,
            _ => !e.any_child(|child| !self.is_known(child)),
        }
    }

    /// The index variables that an expression depends on and does not bind itself.
    pub(super) fn free_in(&self, e: &Expr) -> BTreeSet<VarId> {
        let mut found = BTreeSet::new();
        self.add_free(e, &mut found);
        found
    }

    fn add_free(&self, e: &Expr, found: &mut BTreeSet<VarId>) {
        let ExprKind::Var(var) = e.kind else {
            return e.each_child(|child| self.add_free(child, found));
        };
        if self.known.contains_key(&var) {
            found.insert(var);
        } else if let Some(stand_in) = self.stand_in(var) {
            let mut inside = BTreeSet::new();
            for part in stand_in.parts() {
                self.add_free(part, &mut inside);
            }
            if let StandIn::Reduced { over, .. } = stand_in {
                inside.retain(|var| !over.contains(var));
            }
            found.extend(inside);
        }
    }
}

/// The sequence that is being defined by clauses.
#[derive(Clone, Debug)]
pub(super) struct ByClauses {
    pub(super) var: VarId,
    pub(super) lengths: Vec<usize>,
    /// The elements that are computed, each a variable; in steps, those of this step.
    pub(super) computed: BTreeMap<Point, VarId>,
    /// The place that is being computed.
    pub(super) here: Point,
    /// An element that was read too early, and the place of the read in the source.
    pub(super) early: Option<(Point, Span)>,
    pub(super) steps: Option<Steps>,
}

/// The steps that are being computed alike.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// The axis along which steps are taken.
    pub(super) axis: usize,
    /// The places of the steps along it.
    pub(super) now: Range,
    /// 1 if steps go to greater places, -1 if they go to smaller ones.
    pub(super) direction: i64,
    /// The number of the element at each place; the place along the axis of the steps does not count.
    pub(super) numbers: BTreeMap<Point, usize>,
    /// The elements of earlier steps that are read.
    pub(super) past: Vec<Past>,
    /// How far back indices are that depend on the step alone, by where they are written.
    pub(super) distances: Vec<(Span, i64)>,
}

/// Where an element of the sequence is read.
pub(super) struct Read {
    /// Its place; in steps, for the first of them.
    pub(super) point: Point,
    /// In steps, how far back it is.
    pub(super) back: i64,
}

impl ByClauses {
    pub(super) fn new(var: VarId, lengths: Vec<usize>) -> ByClauses {
        ByClauses {
            var,
            lengths,
            computed: BTreeMap::new(),
            here: Vec::new(),
            early: None,
            steps: None,
        }
    }

    pub(super) fn begin(&mut self, steps: Option<Steps>) {
        self.computed.clear();
        self.early = None;
        self.steps = steps;
    }

    /// How many elements it has.
    pub(super) fn size(&self) -> usize {
        let lengths = self.lengths.iter();
        lengths.fold(1, |all, &n| all.saturating_mul(n))
    }

    /// How many axes it has.
    pub(super) fn order(&self) -> usize {
        self.lengths.len()
    }

    /// Whether all steps that are computed alike find an element where they read.
    pub(super) fn is_inside(&self, read: &Read) -> bool {
        let last = self
            .steps
            .as_ref()
            .map(|s| (s.axis, s.now.count as i64 - 1));
        let along = read.point.iter().zip(&self.lengths).enumerate();
        along.into_iter().all(|(axis, (&place, &length))| {
            let further = match last {
                Some((of_steps, more)) if of_steps == axis => more,
                _ => 0,
            };
            place >= 0 && place + further < length as i64
        })
    }
}
