//! The optional log of an arena or the e-graph: equations between its terms, each with the laws that lead from one side
//! to the other.

use crate::{
    laws::{Taken, ZERO},
    node::Node,
    rules::{PUSH_DERIVATIVE, PUSH_PROBE, RULES, SIMPLIFY},
};
use egg::Id;

/// The left side of an equation.
#[derive(Clone, Debug)]
pub(crate) enum Left {
    /// A node whose children are classes of the logging e-graph.
    Node(Node),
    /// A node in which some children, by position, are these nodes.
    Through(Node, Vec<(usize, Node)>),
    /// A class.
    Class(Id),
    /// A definition of the region that is being inserted, by its number.
    Definition(usize),
}

/// An equation: `left` is the class `right`.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) left: Left,
    pub(crate) right: Id,
    pub(crate) laws: Vec<&'static str>,
}

/// The equations so far, and the laws applied since the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) entries: Vec<Entry>,
    /// What had been taken when the laws were last asked for.
    mark: Taken,
}

impl Log {
    /// The laws applied since this was last asked.
    pub(crate) fn laws(&mut self, taken: &Taken) -> Vec<&'static str> {
        let laws = taken.since(&self.mark);
        self.mark = taken.clone();
        laws
    }

    /// Writes down an equation; `reason` is what brought it about, which may be a law itself.
    pub(crate) fn write(
        &mut self,
        left: Left,
        right: Id,
        mut laws: Vec<&'static str>,
        reason: Option<&'static str>,
    ) {
        laws.extend(reason.filter(|reason| is_law(reason)));
        self.entries.push(Entry { left, right, laws });
    }
}

/// Whether a reason is a law, not a collection of laws with names of their own.
fn is_law(reason: &str) -> bool {
    let collections = [SIMPLIFY, PUSH_DERIVATIVE, PUSH_PROBE].map(|rule| rule.name);
    let is_rule = RULES.iter().any(|rule| rule.name == reason);
    reason == ZERO || is_rule && !collections.contains(&reason)
}
