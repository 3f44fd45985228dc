//! Steps of a proof, from egg's explanations.

use crate::{
    arena::{Arena, Mode},
    build::Context,
    egraph::Graph,
    meaning::region_of,
    node::{Node, Op},
};
use egg::{FlatTerm, Id, Language, RecExpr};
use ein_ir::{Param, region::Region};
use rustc_hash::FxHashMap;
use std::fmt;

/// One step: a term that is equal to the one before it, by a rule.
#[derive(Clone, Debug)]
pub struct Step {
    /// The rule, or nothing for the first term.
    pub rule: Option<String>,
    /// Whether the rule was applied from right to left.
    pub backward: bool,
    /// The term, readable.
    pub text: String,
    /// The term as a region with the same inputs, to be evaluated.
    pub region: Region,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.rule, self.backward) {
            (None, _) => write!(f, "  {}", self.text),
            (Some(rule), false) => write!(f, "= {}   by {rule}", self.text),
            (Some(rule), true) => write!(f, "= {}   by {rule}, from right to left", self.text),
        }
    }
}

/// Terms of a proof that are written out; longer ones only have a length.
const TERM_LIMIT: usize = 400;

/// The steps that lead from one term to another, both known to be equal in `graph`; nothing if the terms are too large
/// to be written out as trees.
pub(crate) fn steps_between(
    graph: &mut Graph,
    from: &Arena,
    from_root: Id,
    to: &Arena,
    to_root: Id,
    inputs: &[Param],
) -> Option<Vec<Step>> {
    if tree_size(from, from_root) > TERM_LIMIT || tree_size(to, to_root) > TERM_LIMIT {
        return None;
    }
    let mut explanation =
        graph.explain_equivalence(&expression(from, from_root), &expression(to, to_root));
    let flat = explanation.make_flat_explanation();
    let step = |term: &FlatTerm<Node>| {
        let (rule, backward) =
            rule_of(term).map_or((None, false), |(rule, backward)| (Some(rule), backward));
        let mut arena = Arena::new(Mode::Source, usize::MAX);
        let root = insert(&mut arena, term);
        let roots: Vec<Id> = match arena.node(root).op {
            Op::Tuple => arena.node(root).children.to_vec(),
            _ => vec![root],
        };
        Step {
            rule,
            backward,
            text: text(term),
            region: region_of(&arena, &roots, inputs),
        }
    };
    Some(flat.iter().map(step).collect())
}

/// The number of nodes of a term as a tree.
pub(crate) fn tree_size(arena: &Arena, root: Id) -> usize {
    let mut sizes: FxHashMap<Id, usize> = FxHashMap::default();
    for id in arena.reachable(root) {
        let size = arena
            .node(id)
            .children
            .iter()
            .fold(1usize, |size, child| size.saturating_add(sizes[child]));
        sizes.insert(id, size);
    }
    sizes[&root]
}

/// The term below `root` as egg wants it.
pub(crate) fn expression(arena: &Arena, root: Id) -> RecExpr<Node> {
    let mut expression = RecExpr::default();
    let mut image: FxHashMap<Id, Id> = FxHashMap::default();
    for id in arena.reachable(root) {
        let node = arena.node(id).clone().map_children(|child| image[&child]);
        image.insert(id, expression.add(node));
    }
    expression
}

fn insert(arena: &mut Arena, term: &FlatTerm<Node>) -> Id {
    let children: Vec<Id> = term
        .children
        .iter()
        .map(|child| insert(arena, child))
        .collect();
    arena.add(Node::new(term.node.op.clone(), &children))
}

/// The rule that a flat term names somewhere, and whether it was used backward.
fn rule_of(term: &FlatTerm<Node>) -> Option<(String, bool)> {
    let forward = term.forward_rule.map(|rule| (rule.to_string(), false));
    let backward = term.backward_rule.map(|rule| (rule.to_string(), true));
    forward
        .or(backward)
        .or_else(|| term.children.iter().find_map(rule_of))
}

fn text(term: &FlatTerm<Node>) -> String {
    if term.children.is_empty() {
        return term.node.to_string();
    }
    let children: Vec<String> = term.children.iter().map(text).collect();
    format!("{}({})", term.node, children.join(", "))
}
