//! Saturation: rules applied to a graph until nothing changes or a limit is reached.
//!
//! The limits count iterations and nodes, never time, and everything is visited in sorted order: the same input gives
//! the same graph on every run.

use crate::{
    egraph::{Graph, classes_with, nodes_of_kinds, rebuild},
    rules::{Rule, Site},
    simplify::Conditions,
};
use egg::Id;

/// Why a saturation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Saturated,
    Goal,
    Iterations,
    /// The limit of nodes or of applications.
    Size,
}

/// Limits of a saturation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) iterations: usize,
    /// As egg counts them: all nodes ever added.
    pub(crate) nodes: usize,
    /// Applications of rules to something new, in this saturation.
    pub(crate) applications: usize,
}

/// Applies `rules` in turn; ends early when the two classes of `goal` are one. Gives the number of iterations.
pub(crate) fn saturate(
    graph: &mut Graph,
    rules: &[Rule],
    limits: Limits,
    goal: Option<(Id, Id)>,
) -> (Stop, usize) {
    graph.analysis.node_limit = limits.nodes;
    let last_application = graph
        .analysis
        .applications
        .saturating_add(limits.applications);
    rebuild(graph);
    // For each rule what the graph was when it was last applied: on the same graph it would do nothing again.
    let mut met = vec![None; rules.len()];
    for iteration in 1..=limits.iterations {
        let before = (graph.total_number_of_nodes(), graph.number_of_classes());
        for (rule, met) in rules.iter().zip(&mut met) {
            if met.replace(extent(graph)) == Some(extent(graph)) {
                continue;
            }
            if !apply(graph, rule, last_application) {
                rebuild(graph);
                return (Stop::Size, iteration);
            }
            rebuild(graph);
            if let Some((a, b)) = goal
                && graph.find(a) == graph.find(b)
            {
                return (Stop::Goal, iteration);
            }
        }
        if (graph.total_number_of_nodes(), graph.number_of_classes()) == before {
            return (Stop::Saturated, iteration);
        }
    }
    (Stop::Iterations, limits.iterations)
}

/// All nodes ever added and the number of classes. Nodes are only added and classes only made one, so a graph with the same
/// extent is the same graph.
fn extent(graph: &Graph) -> (usize, usize) {
    (graph.total_size(), graph.number_of_classes())
}

/// Applies one rule wherever it matches; `false` if a limit was reached.
fn apply(graph: &mut Graph, rule: &Rule, last_application: usize) -> bool {
    for class in classes_with(graph, rule.on) {
        for node in nodes_of_kinds(graph, class, rule.on) {
            let place = Site {
                rule: rule.name,
                conditions: Conditions(rule.conditions),
                class,
                node: &node,
            };
            graph.analysis.laws_so_far();
            (rule.apply)(graph, &place);
            if graph.total_size() > graph.analysis.node_limit
                || graph.analysis.applications > last_application
            {
                return false;
            }
        }
    }
    true
}
