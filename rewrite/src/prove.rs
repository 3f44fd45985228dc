//! Proofs that two regions compute the same.
//!
//! Both sides are saturated in one e-graph until they meet. If they do not, the component normal form decides: every
//! component of both sides, expanded with all sums unrolled.

use crate::{
    arena::{Arena, Mode},
    build::{Context, contract_raw, scaled},
    derivation::Derivation,
    egraph::{Graph, insert_nodes},
    insert::insert_region,
    journal::{Journal, TermId},
    log::Log,
    node::{Extents, Node, Op, Slot},
    product::view,
    rules::{
        CHOOSE_EPSILONS, COFACTORS, DISTRIBUTE, FLATTEN, FUSE, PUSH_DERIVATIVE, PUSH_PROBE, Rule,
        SIMPLIFY, SIMPLIFY_INVERSE, WRITE_EPSILON,
    },
    saturate::{Limits, Stop, saturate},
};
use egg::Id;
use ein_ir::region::Region;

/// How two regions were proven to compute the same, if they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// They met in the e-graph.
    Saturation,
    /// Their component normal forms are the same.
    Components,
    /// They were not proven equal; that does not mean that they differ.
    None,
}

/// The result of a proof.
#[derive(Clone, Debug)]
pub struct Proof {
    /// How it succeeded, if it did.
    pub method: Method,
    /// The equations that lead from the left side to the right side, if they met in the e-graph.
    pub derivation: Option<Derivation>,
    /// The nodes of the e-graph in the end.
    pub nodes: usize,
    /// The iterations of the saturation.
    pub iterations: usize,
}

impl Proof {
    /// Whether the two sides were proven equal.
    pub fn is_proven(&self) -> bool {
        self.method != Method::None
    }
}

/// The rules that look for a proof.
const RULES: &[Rule] = &[
    PUSH_DERIVATIVE,
    PUSH_PROBE,
    SIMPLIFY,
    SIMPLIFY_INVERSE,
    COFACTORS,
    FUSE,
    DISTRIBUTE,
    FLATTEN,
    CHOOSE_EPSILONS,
    WRITE_EPSILON,
];
const LIMITS: Limits = Limits {
    iterations: 30,
    nodes: 10_000,
    applications: usize::MAX,
};
/// Products after which the component normal form is given up.
const COMPONENT_BUDGET: usize = 200_000;

/// Tries to prove that two regions over the same inputs give the same roots, which may be fields.
pub fn prove(lhs: &Region, rhs: &Region) -> Proof {
    assert_eq!(lhs.inputs, rhs.inputs, "both sides have the same inputs");
    assert_eq!(
        lhs.roots.len(),
        rhs.roots.len(),
        "both sides have as many roots"
    );
    let mut arena = Arena::new(Mode::Source, usize::MAX).logging(true);
    let mut journal = Journal::kept();
    let mut side = |region: &Region| -> (Vec<Id>, Vec<TermId>) {
        let values = insert_region(&mut arena, region, &[]);
        let terms = journal.region(region);
        journal.insertion(&mut arena, region, &values);
        let roots = region.roots.iter();
        roots.map(|root| (values[root.0], terms[root.0])).unzip()
    };
    let ((left, left_terms), (right, right_terms)) = (side(lhs), side(rhs));
    let tuple = |arena: &mut Arena, roots: &[Id]| arena.add(Node::new(Op::Tuple, roots));
    let (a, b) = (tuple(&mut arena, &left), tuple(&mut arena, &right));
    let same_shapes = left
        .iter()
        .zip(&right)
        .all(|(&l, &r)| arena.facts(l).shape == arena.facts(r).shape);

    let mut graph = Graph::default();
    graph.analysis.log = Some(Log::default());
    graph.analysis.push_everywhere = true;
    let mut nodes = arena.reachable(a);
    nodes.extend(arena.reachable(b));
    nodes.sort_unstable();
    nodes.dedup();
    let (classes, _) = insert_nodes(&mut graph, nodes.iter().map(|&id| (id, arena.node(id))));
    let goal = (classes[&a], classes[&b]);
    let (stop, iterations) = saturate(&mut graph, RULES, LIMITS, Some(goal));
    let mut proof = Proof {
        method: Method::None,
        derivation: None,
        nodes: graph.total_number_of_nodes(),
        iterations,
    };
    if stop == Stop::Goal {
        proof.method = Method::Saturation;
        journal.graph(&mut graph);
        let pairs: Vec<_> = left_terms.into_iter().zip(right_terms).collect();
        let known = journal.consequences();
        proof.derivation = known.and_then(|known| known.derivation(&pairs, &lhs.inputs));
    } else if same_shapes
        && left
            .iter()
            .zip(&right)
            .all(|(&l, &r)| components_agree(&mut arena, l, r))
    {
        proof.method = Method::Components;
    }
    proof
}

/// Whether the component normal forms of two classes are the same.
pub(crate) fn components_agree(arena: &mut Arena, left: Id, right: Id) -> bool {
    let shape = arena.facts(left).shape.clone();
    let mut count = 1u64;
    for &extent in &shape {
        count = count.saturating_mul(extent.into());
    }
    (0..count).all(|component| {
        let slots = component_slots(component, &shape);
        let mut normal = Arena::new(Mode::Components, COMPONENT_BUDGET);
        let mut form = |side: Id| {
            let class = contract_raw(arena, &view(side, slots.clone(), Extents::new()));
            let source = scaled(arena, class);
            normal.normalize(arena, source).map(|image| image[&source])
        };
        matches!((form(left), form(right)), (Some(l), Some(r)) if l == r)
    })
}

fn component_slots(mut component: u64, shape: &Extents) -> crate::node::Slots {
    let mut slots: crate::node::Slots = shape.iter().map(|_| Slot::Fixed(0)).collect();
    for (slot, &extent) in slots.iter_mut().zip(shape).rev() {
        *slot = Slot::Fixed((component % u64::from(extent)) as u32);
        component /= u64::from(extent);
    }
    slots
}
