//! Flow analysis: which variables may lack a value when control reaches a place, and whether the place is reached at
//! all.
//!
//! The language has no loop that repeats a statement before it was first seen, so one walk in textual order suffices:
//! the checker passes every declaration, assignment, use and exit to a [`Flow`] in that order. After an exit nothing
//! is reached and therefore everything counts as assigned.

use super::tree::{Expr, VarId};
use crate::front::elaborate::unroll::turns::Turns;
use ein_ir::Type;
use std::collections::BTreeSet;

/// The facts that are certain at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    unassigned: BTreeSet<VarId>,
    reachable: bool,
}

/// The variables that may lack a value where the methods of a strand end early.
#[derive(Clone, Debug, Default)]
pub(super) struct Exits {
    /// At `stabilize;`.
    pub(super) stabilized: BTreeSet<VarId>,
    /// At `continue;`.
    pub(super) continued: BTreeSet<VarId>,
}

/// A loop around a place, over a range that is known where the variables of the loops around it are.
pub(super) struct KnownLoop {
    pub(super) turns: Turns,
    /// Whether its variable is a subscript of a tensor or field, so that it will be unrolled.
    pub(super) is_wanted: bool,
    /// Whether there is something in its body that can be checked only where the value of its variable is known.
    pub(super) is_by_value: bool,
    /// The subscripts in its body that depend on it or on loops around it.
    pub(super) subscripts: Vec<Deferred>,
}

/// A subscript that is compared with its axis when the loops end whose variables are in it.
pub(super) struct Deferred {
    pub(super) index: Expr,
    /// The type that has the axis.
    pub(super) base: Type,
    /// The extent of the axis of a tensor or field.
    pub(super) extent: Option<usize>,
    /// The loops that ended so far, the innermost first.
    pub(super) within: Vec<Turns>,
}

impl Deferred {
    /// Whether it depends on a variable, perhaps by the range of a loop.
    pub(super) fn depends_on(&self, var: VarId) -> bool {
        let mut ranges = self.within.iter().map(|turns| &turns.source);
        self.index.mentions(var) || ranges.any(|range| range.mentions(var))
    }
}

impl Default for Flow {
    fn default() -> Flow {
        Flow::entering(BTreeSet::new())
    }
}

impl Flow {
    /// The beginning of a body that is entered while these variables may lack a value.
    pub(super) fn entering(unassigned: BTreeSet<VarId>) -> Flow {
        Flow {
            unassigned,
            reachable: true,
        }
    }

    /// A variable was declared without a value.
    pub(super) fn declare_without_value(&mut self, var: VarId) {
        self.unassigned.insert(var);
    }

    /// A variable was given a value.
    pub(super) fn assign(&mut self, var: VarId) {
        self.unassigned.remove(&var);
    }

    /// Whether a variable may lack a value here.
    pub(super) fn may_lack_value(&self, var: VarId) -> bool {
        self.reachable && self.unassigned.contains(&var)
    }

    /// The variables that may lack a value here; none where nothing is reached.
    pub(super) fn lacking(&self) -> BTreeSet<VarId> {
        match self.reachable {
            true => self.unassigned.clone(),
            false => BTreeSet::new(),
        }
    }

    /// Control leaves here for good.
    pub(super) fn exit(&mut self) {
        self.reachable = false;
    }

    /// Whether this place can be reached.
    pub(super) fn is_reachable(&self) -> bool {
        self.reachable
    }

    /// The place where this path and another meet.
    pub(super) fn join(&mut self, other: Flow) {
        if !other.reachable {
            return;
        }
        if !self.reachable {
            *self = other;
            return;
        }
        self.unassigned.extend(other.unassigned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: VarId = VarId(0);

    fn without_value() -> Flow {
        let mut flow = Flow::default();
        flow.declare_without_value(X);
        flow
    }

    #[test]
    fn both_branches_must_assign() {
        let mut then = without_value();
        then.assign(X);
        let mut one = then.clone();
        one.join(without_value());
        assert!(one.may_lack_value(X));
        let mut both = then.clone();
        both.join(then);
        assert!(!both.may_lack_value(X));
    }

    #[test]
    fn a_branch_that_exits_need_not_assign() {
        let mut then = without_value();
        then.exit();
        assert!(!then.may_lack_value(X));
        let mut otherwise = without_value();
        otherwise.assign(X);
        then.join(otherwise);
        assert!(then.is_reachable());
        assert!(!then.may_lack_value(X));
    }
}
