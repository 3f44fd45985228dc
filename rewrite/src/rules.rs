//! The rules of the e-graph.
//!
//! A rule is a row: its name, the law, its side conditions as data, the kinds of nodes it applies to, and a function of
//! one node of one class. egg's patterns cannot express "any contraction", so rules are functions on nodes; they compute
//! an equal class and merge the two.

use crate::{
    build::{as_constant, conditional, contract, contract_raw, linear, scaled},
    class::{NO_NORMAL_FORM, normal_size},
    egraph::{
        Graph, Simplification, contraction, count_of_kind, first_time, nodes_of, nodes_of_kinds,
        unite,
    },
    factor::{FACTOR, factored_forms},
    inverse::{cofactors, simpler_inverse},
    laws::note,
    log::Left,
    node::{Kind, Node, Op, Spec},
    numbers::{Power, times},
    product::Product,
    push::{push_derivative, push_probe, trivial_probe},
    regroup::{REGROUP, isolate_scalars, parts, regroup},
    simplify::{Condition, Conditions},
    steps::{distribute_over, epsilon_pairs, epsilon_values, expand_epsilon_pair, plane_epsilons},
};
use egg::Id;
use ein_ir::Rational;
use num_traits::One;

/// One row of the table of rules.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    /// The law in index notation.
    pub(crate) law: &'static str,
    pub(crate) conditions: &'static [Condition],
    /// The kinds of nodes it looks at.
    pub(crate) on: &'static [Kind],
    pub(crate) apply: fn(&mut Graph, &Site),
}

/// A node at which a rule is applied.
pub(crate) struct Site<'a> {
    pub(crate) rule: &'static str,
    pub(crate) conditions: Conditions<'a>,
    pub(crate) class: Id,
    pub(crate) node: &'a Node,
}

impl Site<'_> {
    /// The class of this place is also `result`.
    fn fire(&self, graph: &mut Graph, result: Id) {
        let left = Left::Node(self.node.clone());
        unite(graph, left, self.class, result, self.rule);
    }

    /// The same, seen by looking at these nodes of its children, which are given by position.
    fn fire_through(&self, graph: &mut Graph, children: Vec<(usize, Node)>, result: Id) {
        let left = Left::Through(self.node.clone(), children);
        unite(graph, left, self.class, result, self.rule);
    }

    fn spec(&self) -> Option<&Spec> {
        match &self.node.op {
            Op::Contract(spec) => Some(spec),
            _ => None,
        }
    }

    fn contraction(&self) -> Option<Product> {
        contraction(self.node)
    }
}

/// Operands and labels beyond which contractions are not fused.
const FUSED_OPERANDS: usize = 8;
const FUSED_LABELS: usize = 14;
/// Terms of a sum over which a product is distributed, and the largest power that is multiplied out.
const DISTRIBUTED_TERMS: usize = 8;
const DISTRIBUTED_POWER: i32 = 3;
/// Terms of a flattened sum.
const FLATTENED_TERMS: usize = 40;
/// Contractions of a term of a sum in which common factors are looked for.
const ALTERNATIVES: usize = 3;
/// Tensor operands of a contraction that is regrouped.
const REGROUPED_OPERANDS: usize = 7;

#[rustfmt::skip]
pub(crate) const SIMPLIFY: Rule = Rule { name: "simplify", law: "the steps of the simplifier, and c·x + d·x = (c+d)·x", conditions: &[], on: &[Kind::Contract, Kind::Sum, Kind::Cond], apply: simplify_node };
#[rustfmt::skip]
pub(crate) const PUSH_DERIVATIVE: Rule = Rule { name: "push-derivative", law: "∂ of sums, products, powers, functions, conditionals, compositions and eigensystems", conditions: &[], on: &[Kind::Deriv], apply: push_derivative_down };
#[rustfmt::skip]
pub(crate) const PUSH_PROBE: Rule = Rule { name: "push-probe", law: "(e ⊙ f)@p = e@p ⊙ f@p, x@p = p, e@g@p = e@(g@p)", conditions: &[], on: &[Kind::Probe], apply: push_probe_down };
#[rustfmt::skip]
pub(crate) const SIMPLIFY_INVERSE: Rule = Rule { name: "simplify-inverse", law: "(A⁻¹)⁻¹ = A, (Aᵀ)⁻¹ = (A⁻¹)ᵀ, δ⁻¹ = δ", conditions: &[], on: &[Kind::Inverse], apply: simplify_inverse };
#[rustfmt::skip]
pub(crate) const COFACTORS: Rule = Rule { name: "cofactors", law: "A⁻¹ = adj A / det A", conditions: &[], on: &[Kind::Inverse], apply: write_cofactors };
#[rustfmt::skip]
pub(crate) const FUSE: Rule = Rule { name: "fuse", law: "Σi a·(Σj b) = Σij a·b", conditions: &[], on: &[Kind::Contract], apply: fuse };
#[rustfmt::skip]
pub(crate) const CHOOSE_EPSILONS: Rule = Rule { name: "choose-epsilons", law: "ε[i,j,k]ε[l,m,n] = det δ, for every pair", conditions: &[], on: &[Kind::Contract], apply: choose_epsilons };
#[rustfmt::skip]
pub(crate) const WRITE_EPSILON: Rule = Rule { name: "write-epsilon", law: "ε[i,j] = δ[i,0]δ[j,1] − δ[i,1]δ[j,0]", conditions: &[], on: &[Kind::Contract], apply: write_epsilon };
#[rustfmt::skip]
pub(crate) const ISOLATE_SCALARS: Rule = Rule { name: "isolate-scalars", law: "s·t·A = (s·t)·A", conditions: &[], on: &[Kind::Contract], apply: isolate };
#[rustfmt::skip]
pub(crate) const REGROUP_PAIR: Rule = Rule { name: "regroup", law: "Σij a·b·c = Σi (Σj a·b)·c", conditions: REGROUP, on: &[Kind::Contract], apply: regroup_pairs };
#[rustfmt::skip]
pub(crate) const FACTOR_OUT: Rule = Rule { name: "factor", law: "Σ a·b + Σ a·c = Σ a·(b + c)", conditions: FACTOR, on: &[Kind::Sum], apply: factor_out };
#[rustfmt::skip]
pub(crate) const DISTRIBUTE: Rule = Rule { name: "distribute", law: "a·(b + c) = a·b + a·c", conditions: &[], on: &[Kind::Contract], apply: distribute };
#[rustfmt::skip]
pub(crate) const FLATTEN: Rule = Rule { name: "flatten", law: "a + c·(b + d) = a + c·b + c·d", conditions: &[], on: &[Kind::Sum], apply: flatten };
/// All rules.
pub(crate) const RULES: &[Rule] = &[
    SIMPLIFY,
    PUSH_DERIVATIVE,
    PUSH_PROBE,
    SIMPLIFY_INVERSE,
    COFACTORS,
    FUSE,
    CHOOSE_EPSILONS,
    WRITE_EPSILON,
    ISOLATE_SCALARS,
    REGROUP_PAIR,
    FACTOR_OUT,
    DISTRIBUTE,
    FLATTEN,
];

/// Rebuilds a node with the present representatives and facts of its children.
fn simplify_node(graph: &mut Graph, place: &Site) {
    let children = &place.node.children;
    let simplification = Simplification::of(graph, place.node);
    if !first_time(graph, place.rule, simplification)
        || graph.analysis.simplified.contains(&simplification)
    {
        return;
    }
    let result = match &place.node.op {
        Op::Contract(spec) => contract(graph, Product::of(spec, children)),
        Op::Sum(coefficients) => {
            let terms = coefficients
                .iter()
                .copied()
                .zip(children.iter().copied())
                .collect();
            let shape = graph[place.class].data.shape.clone();
            linear(graph, terms, shape, false)
        }
        Op::Cond(test) => {
            // A test between numbers is decided; otherwise only equal branches are worth a step.
            let decided = children[..2]
                .iter()
                .all(|&side| as_constant(graph, side).is_some());
            if !decided && children[2] != children[3] {
                return;
            }
            conditional(
                graph,
                *test,
                [children[0], children[1], children[2], children[3]],
            )
        }
        _ => return,
    };
    place.fire(graph, result);
}

/// The nodes of a class through which a derivative or probe is pushed: the smallest that has a normal form, or all. That a
/// class is an inverse says more than how it is written out.
fn pushable(graph: &Graph, id: Id) -> Vec<Node> {
    let mut nodes = nodes_of(graph, id);
    if graph.analysis.push_everywhere {
        return nodes;
    }
    let is_inverse = |node: &&Node| {
        node.op == Op::Inverse && graph[node.children[0]].data.size != NO_NORMAL_FORM
    };
    if let Some(inverse) = nodes.iter().find(is_inverse) {
        return vec![inverse.clone()];
    }
    let size = |node: &Node| normal_size(node, |child| &graph[child].data);
    nodes.retain(|node| size(node) != NO_NORMAL_FORM);
    nodes.sort_by_cached_key(|node| (size(node), node.children.len()));
    nodes.truncate(1);
    nodes
}

fn push_derivative_down(graph: &mut Graph, place: &Site) {
    let Op::Deriv { dim } = place.node.op else {
        return;
    };
    let field = graph.find(place.node.children[0]);
    for node in pushable(graph, field) {
        let pushed_once = !graph.analysis.push_everywhere
            && !first_time(graph, "pushed-derivative", (dim, field));
        if pushed_once || !first_time(graph, place.rule, (dim, field, &node)) {
            continue;
        }
        if let Some(result) = push_derivative(graph, dim, &node) {
            place.fire_through(graph, vec![(0, node)], result);
        }
    }
}

fn push_probe_down(graph: &mut Graph, place: &Site) {
    let (field, position) = (graph.find(place.node.children[0]), place.node.children[1]);
    if let Some(law) = trivial_probe(graph, field, position) {
        if graph.find(place.class) != field {
            note(graph, law);
            place.fire(graph, field);
        }
        return;
    }
    for node in pushable(graph, field) {
        let pushed_once = !graph.analysis.push_everywhere
            && !first_time(graph, "pushed-probe", (position, field));
        if pushed_once || !first_time(graph, place.rule, (position, field, &node)) {
            continue;
        }
        if let Some(result) = push_probe(graph, &node, position) {
            place.fire_through(graph, vec![(0, node)], result);
        }
    }
}

fn simplify_inverse(graph: &mut Graph, place: &Site) {
    let matrix = graph.find(place.node.children[0]);
    let known = (matrix, graph[matrix].data.inverse, graph[matrix].len());
    if first_time(graph, place.rule, known)
        && let Some(simpler) = simpler_inverse(graph, matrix)
    {
        place.fire(graph, simpler);
    }
}

fn write_cofactors(graph: &mut Graph, place: &Site) {
    let matrix = graph.find(place.node.children[0]);
    if first_time(graph, place.rule, matrix) {
        let written = cofactors(graph, matrix);
        place.fire(graph, written);
    }
}

fn fuse(graph: &mut Graph, place: &Site) {
    let Some(outer) = place.spec() else {
        return;
    };
    for (k, (slots, _)) in outer.operands.iter().enumerate() {
        // A scalar is not fused: the simplifier would split it off again. So the operand has the power 1.
        if slots.is_empty() {
            continue;
        }
        for node in nodes_of_kinds(graph, place.node.children[k], &[Kind::Contract]) {
            let Op::Contract(inner) = &node.op else {
                continue;
            };
            let labels = outer.extents.len() + inner.extents.len() - inner.results;
            if outer.operands.len() + inner.operands.len() - 1 > FUSED_OPERANDS
                || labels > FUSED_LABELS
                || !first_time(graph, place.rule, (place.node, k, &node))
            {
                continue;
            }
            let mut fused = Product::of(outer, &place.node.children);
            fused.splice(k, &Product::of(inner, &node.children));
            let result = contract(graph, fused);
            place.fire_through(graph, vec![(k, node)], result);
        }
    }
}

fn choose_epsilons(graph: &mut Graph, place: &Site) {
    let Some(product) = place.contraction() else {
        return;
    };
    let pairs = epsilon_pairs(graph, &product);
    if pairs.is_empty() || !first_time(graph, place.rule, place.node) {
        return;
    }
    for (a, b) in pairs {
        let products = expand_epsilon_pair(graph, &product, a, b);
        let result = sum_of(graph, products, &product);
        place.fire(graph, result);
    }
}

fn write_epsilon(graph: &mut Graph, place: &Site) {
    let Some(product) = place.contraction() else {
        return;
    };
    let positions = plane_epsilons(graph, &product);
    if positions.is_empty() || !first_time(graph, place.rule, place.node) {
        return;
    }
    for k in positions {
        let products = epsilon_values(graph, &product, k);
        let result = sum_of(graph, products, &product);
        place.fire(graph, result);
    }
}

/// The sum of products, each simplified.
fn sum_of(graph: &mut Graph, products: Vec<Product>, whole: &Product) -> Id {
    let mut terms = Vec::with_capacity(products.len());
    for product in products {
        terms.push((Rational::one(), contract(graph, product)));
    }
    linear(graph, terms, whole.shape(), false)
}

fn isolate(graph: &mut Graph, place: &Site) {
    let has_scalar = |spec: &Spec| spec.operands.iter().any(|(slots, _)| slots.is_empty());
    if place.spec().is_some_and(has_scalar)
        && first_time(graph, place.rule, place.node)
        && let Some(product) = place.contraction()
        && let Some(result) = isolate_scalars(graph, &product)
    {
        place.fire(graph, result);
    }
}

fn regroup_pairs(graph: &mut Graph, place: &Site) {
    let tensors = place.spec().map_or(0, |spec| {
        let operands = spec.operands.iter();
        operands.filter(|(slots, _)| !slots.is_empty()).count()
    });
    if !(3..=REGROUPED_OPERANDS).contains(&tensors) || !first_time(graph, place.rule, place.node) {
        return;
    }
    let Some(product) = place.contraction() else {
        return;
    };
    for part in parts(graph, &product) {
        if part.len() < tensors
            && let Some(regrouped) = regroup(graph, &product, &part, place.conditions)
        {
            let class = contract_raw(graph, &regrouped);
            let result = scaled(graph, class);
            place.fire(graph, result);
        }
    }
}

fn factor_out(graph: &mut Graph, place: &Site) {
    let Some(terms) = place.node.terms().filter(|terms| terms.len() > 1) else {
        return;
    };
    let count = |&(_, id): &(Rational, Id)| {
        usize::min(count_of_kind(graph, id, Kind::Contract), ALTERNATIVES)
    };
    let counts: Vec<usize> = terms.iter().map(count).collect();
    if !first_time(graph, place.rule, (place.node, counts)) {
        return;
    }
    let longest = |&(_, id): &(Rational, Id)| {
        let mut found = nodes_of_kinds(graph, id, &[Kind::Contract]);
        found.sort_by_key(|node| std::cmp::Reverse(node.children.len()));
        found.truncate(ALTERNATIVES);
        found
    };
    let nodes: Vec<Vec<Node>> = terms.iter().map(longest).collect();
    let products = |nodes: &Vec<Node>| nodes.iter().filter_map(contraction).collect();
    let alternatives: Vec<Vec<Product>> = nodes.iter().map(products).collect();
    for (found, result) in factored_forms(graph, &terms, &alternatives, place.conditions) {
        let through = found
            .iter()
            .map(|&(t, alternative, _)| (t, nodes[t][alternative].clone()));
        place.fire_through(graph, through.collect(), result);
    }
}

fn distribute(graph: &mut Graph, place: &Site) {
    let Some(product) = place.contraction() else {
        return;
    };
    for k in 0..product.operands.len() {
        let power = product.operands[k].power;
        if !power.is_integer() || !power.is_positive() || power > Power::integer(DISTRIBUTED_POWER)
        {
            continue;
        }
        for node in nodes_of(graph, product.operands[k].id) {
            let Some(sum) = node.terms().filter(|sum| sum.len() <= DISTRIBUTED_TERMS) else {
                continue;
            };
            if !first_time(graph, place.rule, (place.node, k, &node)) {
                continue;
            }
            if let Some(products) = distribute_over(&product, k, &sum) {
                let result = sum_of(graph, products, &product);
                place.fire_through(graph, vec![(k, node)], result);
            }
        }
    }
}

fn flatten(graph: &mut Graph, place: &Site) {
    let Some(terms) = place.node.terms() else {
        return;
    };
    for (k, &(coefficient, term)) in terms.iter().enumerate() {
        for node in nodes_of(graph, term) {
            let Some(inner) = node
                .terms()
                .filter(|inner| inner.len() + terms.len() <= FLATTENED_TERMS)
            else {
                continue;
            };
            // Affine cycles x = y + z, y = x − z would grow without end.
            let cyclic =
                |id: Id| [graph.find(term), graph.find(place.class)].contains(&graph.find(id));
            if graph.find(term) == graph.find(place.class)
                || inner.iter().any(|&(_, id)| cyclic(id))
                || graph.total_size() > graph.analysis.node_limit
                || !first_time(graph, place.rule, (place.node, k, &node))
            {
                continue;
            }
            let scaled: Option<Vec<(Rational, Id)>> = inner
                .iter()
                .map(|&(factor, id)| Some((times(coefficient, factor)?, id)))
                .collect();
            let Some(scaled) = scaled else { continue };
            let mut flat = terms.clone();
            flat.splice(k..=k, scaled);
            let shape = graph[place.class].data.shape.clone();
            let result = linear(graph, flat, shape, false);
            place.fire_through(graph, vec![(k, node)], result);
        }
    }
}
