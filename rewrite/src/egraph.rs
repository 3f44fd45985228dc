//! The e-graph: egg's, with facts as its analysis and the constructors' [`Context`].

use crate::{
    build::{Context, zero},
    class::{Facts, NO_NORMAL_FORM},
    laws::{Construction, Taken, ZERO, note},
    log::{Left, Log},
    node::{Kind, Node, Op},
    node_facts::facts_of,
    product::Product,
    push::{derivative_shape, trivial_probe},
    symmetry::{Symmetries, symmetries_of, symmetries_of_sum},
};
use egg::{Analysis, DidMerge, EGraph, Id, Language};
use ein_ir::Rational;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::{
    collections::BTreeMap,
    hash::{Hash, Hasher},
    sync::LazyLock,
};

pub(crate) type Graph = EGraph<Node, Engine>;

/// The symmetric and antisymmetric pairs of each child of a node.
type KnownSymmetries = SmallVec<[(u64, u64); 4]>;

/// What the rules remember between iterations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Engine {
    /// Applications that were made already, by rule and a hash of its argument.
    done: FxHashSet<(&'static str, u64)>,
    /// Contractions that came out of the simplifier.
    pub(crate) simplified: FxHashSet<Simplification>,
    /// Symmetries of contractions, by node and the facts about its children.
    symmetries: FxHashMap<(Node, KnownSymmetries), Symmetries>,
    /// Whether it matters no more how large normal forms are: whatever is pushed down is, and a smaller form is not news to
    /// those that are made of it.
    pub(crate) is_pushed: bool,
    /// Nodes beyond which no rule adds any.
    pub(crate) node_limit: usize,
    /// How often a rule was applied to something new: what time is spent on.
    pub(crate) applications: usize,
    /// Whether derivatives and probes are pushed through every node of a class, not only the smallest.
    pub(crate) push_everywhere: bool,
    /// How often each rule made two classes one.
    pub(crate) counts: BTreeMap<&'static str, usize>,
    pub(crate) taken: Taken,
    /// The equations by which classes became one, if they are wanted.
    pub(crate) log: Option<Log>,
}

impl Engine {
    /// The laws applied since this was last asked.
    pub(crate) fn laws_so_far(&mut self) -> Vec<&'static str> {
        let taken = &self.taken;
        self.log
            .as_mut()
            .map(|log| log.laws(taken))
            .unwrap_or_default()
    }
}

impl Analysis<Node> for Engine {
    type Data = Facts;

    /// Facts are asked for whenever those of a child improve; the symmetries are only searched for again if those of a
    /// child are different.
    fn make(graph: &mut Graph, node: &Node, _: Id) -> Facts {
        let mut facts = facts_of(node, |id| &graph[id].data);
        if graph.analysis.is_pushed {
            facts.size = NO_NORMAL_FORM;
        }
        let has_structure = matches!(node.op, Op::Contract(_) | Op::Sum(_));
        if has_structure && facts.shape.len() > 1 {
            let known = |id: &Id| (graph[*id].data.symmetric, graph[*id].data.antisymmetric);
            let key = (node.clone(), node.children.iter().map(known).collect());
            let symmetries = match graph.analysis.symmetries.get(&key) {
                Some(symmetries) => *symmetries,
                None => {
                    let symmetries = symmetries_of_node(graph, node, &facts);
                    graph.analysis.symmetries.insert(key, symmetries);
                    symmetries
                }
            };
            facts.learn(symmetries);
        }
        facts
    }

    fn merge(&mut self, a: &mut Facts, b: Facts) -> DidMerge {
        let (left, right) = a.merge(b);
        DidMerge(left, right)
    }

    /// A class that is known to be zero contains the zero of its shape.
    fn modify(graph: &mut Graph, id: Id) {
        if !graph[id].data.zero {
            return;
        }
        let zero = graph.add(Node::leaf(Op::Zero(graph[id].data.shape.clone())));
        if graph.find(zero) != graph.find(id) {
            unite(graph, Left::Class(id), id, zero, ZERO);
        }
    }
}

/// The symmetries of a contraction or a sum by its structure; `facts` are those known without it.
fn symmetries_of_node(graph: &Graph, node: &Node, facts: &Facts) -> Symmetries {
    let known = |id: Id| &graph[id].data;
    match &node.op {
        Op::Contract(spec) => symmetries_of(&Product::of(spec, &node.children), known),
        Op::Sum(coefficients) => {
            let products = node.children.iter().map(|&child| {
                let whole = || Product::whole(child, &known(child).shape);
                let contractions = nodes_of_kinds(graph, child, &[Kind::Contract]);
                let product = contractions.first().and_then(contraction);
                product.unwrap_or_else(whole)
            });
            let terms: Vec<_> = coefficients.iter().copied().zip(products).collect();
            symmetries_of_sum(&terms, facts.symmetric | facts.antisymmetric, known)
        }
        _ => Symmetries::default(),
    }
}

/// Merges the classes `a`, which has the member `left`, and `b`, for the reason given.
pub(crate) fn unite(graph: &mut Graph, left: Left, a: Id, b: Id, reason: &'static str) {
    let laws = graph.analysis.laws_so_far();
    // A union that is none would count as a change, after which all classes are sorted again.
    if graph.find(a) == graph.find(b) {
        return;
    }
    graph.union(a, b);
    *graph.analysis.counts.entry(reason).or_default() += 1;
    if let Some(log) = &mut graph.analysis.log {
        log.write(left, b, laws, Some(reason));
    }
}

/// egg times its work to log it, by a clock that first takes some milliseconds to set itself. This one stands still.
static STOPPED: LazyLock<quanta::Clock> = LazyLock::new(|| quanta::Clock::mock().0);

/// Restores the invariants of a graph, if it has changed since they were last restored.
pub(crate) fn rebuild(graph: &mut Graph) {
    if !graph.clean {
        quanta::with_clock(&STOPPED, || graph.rebuild());
    }
}

/// A node with all that its simplification depends on, as a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Simplification(u64);

impl Simplification {
    pub(crate) fn of(graph: &Graph, node: &Node) -> Simplification {
        let mut hasher = FxHasher::default();
        node.hash(&mut hasher);
        for &child in &node.children {
            let facts = Context::facts(graph, child);
            let scale = graph.as_scale(child).map(|(_, base)| base);
            let inverse = facts.inverse.map(|id| graph.find(id));
            (facts.symmetric, facts.antisymmetric, scale, inverse).hash(&mut hasher);
            (facts.zero, facts.leaf as u8, facts.nonnegative).hash(&mut hasher);
        }
        Simplification(hasher.finish())
    }
}

/// Whether `rule` meets `subject` for the first time.
pub(crate) fn first_time(graph: &mut Graph, rule: &'static str, subject: impl Hash) -> bool {
    let mut hasher = FxHasher::default();
    subject.hash(&mut hasher);
    let new = graph.analysis.done.insert((rule, hasher.finish()));
    graph.analysis.applications += usize::from(new);
    new
}

/// The nodes of a class, sorted, with the representatives of their children.
pub(crate) fn nodes_of(graph: &Graph, id: Id) -> Vec<Node> {
    sorted_nodes(graph, graph[id].nodes.iter())
}

/// The nodes of a class that are of one of these kinds, sorted, with the representatives of their children.
pub(crate) fn nodes_of_kinds(graph: &Graph, id: Id, kinds: &[Kind]) -> Vec<Node> {
    let nodes = graph[id].nodes.iter();
    sorted_nodes(graph, nodes.filter(|node| kinds.contains(&node.kind())))
}

fn sorted_nodes<'a>(graph: &Graph, nodes: impl Iterator<Item = &'a Node>) -> Vec<Node> {
    // After a rebuild they are.
    if graph.clean {
        return nodes.cloned().collect();
    }
    let canonical = |node: &Node| node.clone().map_children(|child| graph.find(child));
    let mut nodes: Vec<Node> = nodes.map(canonical).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// How many nodes of a kind a class has.
pub(crate) fn count_of_kind(graph: &Graph, id: Id, kind: Kind) -> usize {
    if graph.clean {
        let nodes = graph[id].nodes.iter();
        return nodes.filter(|node| node.kind() == kind).count();
    }
    nodes_of_kinds(graph, id, &[kind]).len()
}

/// The contraction that a node is.
pub(crate) fn contraction(node: &Node) -> Option<Product> {
    match &node.op {
        Op::Contract(spec) => Some(Product::of(spec, &node.children)),
        _ => None,
    }
}

/// The classes that have a node of one of these kinds, in order.
pub(crate) fn classes_with(graph: &Graph, kinds: &[Kind]) -> Vec<Id> {
    let mut ids: Vec<Id> = kinds
        .iter()
        .filter_map(|kind| graph.classes_for_op(kind))
        .flatten()
        .map(|id| graph.find(id))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Inserts nodes given in dependency order; gives the class of each and the nodes as they were inserted.
pub(crate) fn insert_nodes<'a>(
    graph: &mut Graph,
    nodes: impl Iterator<Item = (Id, &'a Node)>,
) -> (FxHashMap<Id, Id>, Vec<Node>) {
    let mut image: FxHashMap<Id, Id> = FxHashMap::default();
    let mut inserted = Vec::new();
    for (id, node) in nodes {
        let node = node.clone().map_children(|child| image[&child]);
        let class = Context::add(graph, node.clone());
        inserted.push(node);
        image.insert(id, class);
    }
    (image, inserted)
}

impl Context for Graph {
    fn add(&mut self, node: Node) -> Id {
        EGraph::add(self, node)
    }

    /// Simplifying it once more would find nothing.
    fn add_simplified(&mut self, node: Node) -> Id {
        let simplification = Simplification::of(self, &node);
        self.analysis.simplified.insert(simplification);
        EGraph::add(self, node)
    }

    fn facts(&self, id: Id) -> &Facts {
        &self[id].data
    }

    fn find(&self, id: Id) -> Id {
        EGraph::find(self, id)
    }

    /// Only towards a smaller class: x = −y and y = −x must not be followed in a circle.
    fn as_scale(&self, id: Id) -> Option<(Rational, Id)> {
        let (coefficient, base) = self[id].data.scale?;
        let base = EGraph::find(self, base);
        (base < EGraph::find(self, id) && !self[base].data.zero).then_some((coefficient, base))
    }

    fn as_sum(&self, _: Id) -> Option<Vec<(Rational, Id)>> {
        None
    }

    /// Views and monomials only, and only towards smaller classes, for the same reason.
    fn inline(&self, product: &Product, position: usize) -> Option<Product> {
        let id = EGraph::find(self, product.operands[position].id);
        self[id].nodes.iter().find_map(|node| {
            let Op::Contract(spec) = &node.op else {
                return None;
            };
            if node
                .children
                .iter()
                .any(|&child| EGraph::find(self, child) >= id)
            {
                return None;
            }
            let is_view =
                spec.results > 0 && spec.operands.len() == 1 && spec.extents.len() == spec.results;
            let is_monomial =
                spec.extents.is_empty() && spec.operands.iter().all(|(slots, _)| slots.is_empty());
            (is_view || is_monomial).then(|| Product::of(spec, &node.children))
        })
    }

    fn distribute(&self, _: &Product, _: usize) -> Option<Vec<(Rational, Id)>> {
        None
    }

    fn derivative(&mut self, dim: u8, id: Id) -> Id {
        let facts = Context::facts(self, id);
        if facts.dim == 0 || facts.zero {
            note(self, Construction::Constants);
            let shape = derivative_shape(self, dim, id);
            return zero(self, shape);
        }
        Context::add(self, Node::new(Op::Deriv { dim }, &[id]))
    }

    fn probe(&mut self, id: Id, position: Id) -> Id {
        if let Some(law) = trivial_probe(self, id, position) {
            note(self, law);
            return id;
        }
        Context::add(self, Node::new(Op::Probe, &[id, position]))
    }

    fn inverse(&mut self, id: Id) -> Id {
        Context::add(self, Node::new(Op::Inverse, &[id]))
    }

    fn taken(&mut self) -> &mut Taken {
        &mut self.analysis.taken
    }
}
