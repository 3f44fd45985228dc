//! The state of index notation while a program is checked: the indices in scope, and the axes on which they stand.

use super::tree::{
    Expr, VarId,
    notation::{Binder, Range, Values},
};
use crate::front::{elaborate::notation::Unplaced, source::Span};
use std::collections::BTreeMap;

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

/// The index variables of a check.
#[derive(Default)]
pub(super) struct Indices {
    /// The index variables in scope, the outermost first.
    pub(super) live: Vec<VarId>,
    /// Every index variable, as far as it is known so far.
    pub(super) known: BTreeMap<VarId, IndexVar>,
    /// Indices that stand together in a δ, and so have one range.
    pub(super) pairs: Vec<[VarId; 2]>,
    /// The sequences that clauses around the place define, the outermost first.
    pub(super) defined: Vec<VarId>,
    /// All notation that is complete, and whether it can be reached.
    pub(super) complete: Vec<(Unplaced, bool)>,
}

impl Indices {
    /// The index variables in scope, the outermost first.
    pub(super) fn live(&self) -> &[VarId] {
        &self.live
    }

    /// Whether the place is inside index notation.
    pub(super) fn are_open(&self) -> bool {
        !self.live.is_empty() || !self.defined.is_empty()
    }

    /// Whether an expression is part of index notation around it.
    pub(super) fn occur_in(&self, e: &Expr) -> bool {
        self.are_open() && e.has_notation()
    }

    pub(super) fn var(&self, var: VarId) -> &IndexVar {
        &self.known[&var]
    }

    /// An index whose scope has ended, with its values; none if they are not known.
    pub(super) fn binder(&self, var: VarId) -> Option<Binder> {
        let known = self.var(var);
        let values = match &known.elements {
            Some((sequence, element)) => Values::Elements {
                sequence: Box::new(sequence.clone()),
                element: *element,
            },
            None => Values::Range(known.range?),
        };
        Some(Binder { var, values })
    }

    /// The same for several.
    pub(super) fn binders(&self, vars: &[VarId]) -> Option<Vec<Binder>> {
        vars.iter().map(|&var| self.binder(var)).collect()
    }
}
