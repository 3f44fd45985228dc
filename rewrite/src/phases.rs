//! The phases of equality saturation: push-down, directed forms, regrouping and fusing, extraction.

use crate::{
    arena::{Arena, Mode},
    class::NO_NORMAL_FORM,
    cost::LeafCost,
    egraph::{Graph, insert_nodes, rebuild, unite},
    extract::Choices,
    extractable::{Places, singular_places},
    insert::Source,
    journal::Journal,
    laws::CONSTRUCTION,
    log::Left,
    node::Node,
    options::{Options, Stats},
    price::arena_cost,
    regroup::plan,
    rules::{
        COFACTORS, FACTOR_OUT, FUSE, ISOLATE_SCALARS, PUSH_DERIVATIVE, PUSH_PROBE, REGROUP_PAIR,
        Rule, SIMPLIFY, SIMPLIFY_INVERSE,
    },
    saturate::{Limits, saturate},
    simplify::{STEPS, When},
};
use egg::{Id, Language};
use rustc_hash::FxHashMap;

/// The rules of the three phases.
const PUSHING: &[Rule] = &[
    SIMPLIFY,
    SIMPLIFY_INVERSE,
    COFACTORS,
    PUSH_DERIVATIVE,
    PUSH_PROBE,
];
const REGROUPING: &[Rule] = &[SIMPLIFY, ISOLATE_SCALARS, REGROUP_PAIR, FACTOR_OUT];
const FUSING: &[Rule] = &[SIMPLIFY, FUSE, ISOLATE_SCALARS, REGROUP_PAIR, FACTOR_OUT];

/// The rules and steps that a normalization may take, as [`Stats::rules`] names them: all laws but those that only
/// proofs use.
pub fn counted_rules() -> impl Iterator<Item = &'static str> {
    let phases = [PUSHING, REGROUPING, FUSING].into_iter().flatten();
    let mut rules: Vec<&str> = phases.map(|rule| rule.name).collect();
    rules.sort_unstable();
    rules.dedup();
    let steps = STEPS.iter().filter(|step| step.when != When::Unrolling);
    let steps = steps.map(|step| step.name);
    let rules = rules.into_iter().chain(steps);
    rules.chain(CONSTRUCTION.iter().map(|law| law.name))
}

/// Push-down needs no limit; these are beyond anything it has ever needed.
const PUSH_DOWN: Limits = Limits {
    iterations: 500,
    nodes: 200_000,
    applications: usize::MAX,
};
/// An expanded form this many times as expensive as the factored one is not worth its nodes.
const HOPELESS: u64 = 2;

/// Runs the phases; gives the extracted form and the class of each node of the source.
pub(crate) fn optimize(
    graph: &mut Graph,
    source: &Source,
    options: &Options,
    stats: &mut Stats,
    journal: &mut Journal,
) -> Option<(Arena, FxHashMap<Id, Id>)> {
    let budget = options.node_budget;
    let reachable = source.arena.reachable(source.root);
    let nodes = reachable.iter().map(|&id| (id, source.arena.node(id)));
    let (classes, written) = insert_nodes(graph, nodes);
    let root = classes[&source.root];
    let leaf_cost = LeafCost(&options.leaf_cost);

    let (_, iterations) = saturate(graph, PUSHING, PUSH_DOWN, None);
    stats.iterations += iterations;
    if graph[root].data.size == NO_NORMAL_FORM {
        return None;
    }
    graph.analysis.is_pushed = true;
    let first = Choices::new(graph, root, leaf_cost, None).best(&[], false)?;
    let mut seeds = vec![written];
    let representative = add_directed_forms(
        graph,
        root,
        &first,
        leaf_cost,
        budget / 2,
        &mut seeds,
        journal,
    );

    let start = graph.total_size();
    let limits = |share: usize| Limits {
        iterations: options.iterations,
        nodes: start + share,
        applications: budget,
    };
    let (_, iterations) = saturate(graph, REGROUPING, limits(budget * 2 / 3), None);
    stats.iterations += iterations;
    let (_, iterations) = saturate(graph, FUSING, limits(budget), None);
    stats.iterations += iterations;

    let permitted: Places = representative
        .iter()
        .map(|node| node.clone().map_children(|child| graph.find(child)))
        .flat_map(|node| singular_places(&node))
        .collect();
    let permitted = (!options.relaxed).then_some(&permitted);
    let best = Choices::new(graph, root, leaf_cost, permitted).best(&seeds, true)?;
    Some((best, classes))
}

/// Adds the factored, expanded and planned forms of a representative, each class equal to its image; the expanded one
/// only if it takes no more than `products` products. Gives the nodes of the representative.
fn add_directed_forms(
    graph: &mut Graph,
    root: Id,
    first: &Arena,
    leaf_cost: LeafCost,
    products: usize,
    seeds: &mut Vec<Vec<Node>>,
    journal: &mut Journal,
) -> Vec<Node> {
    let first_root = extracted_root(first);
    let reachable = first.reachable(first_root);
    let (classes, representative) =
        insert_nodes(graph, reachable.iter().map(|&id| (id, first.node(id))));
    unite(
        graph,
        Left::Class(root),
        root,
        classes[&first_root],
        "representative",
    );
    seeds.push(representative.clone());
    let mut best = None;
    let forms = [
        (Mode::Lazy, usize::MAX, "collect"),
        (Mode::Expanded, products, "expand"),
    ];
    for (mode, products, name) in forms {
        let mut arena = Arena::new(mode, products).logging(journal.is_kept());
        let image = arena.normalize(first, first_root);
        graph.analysis.taken.add(&arena.taken);
        let Some(image) = image else {
            continue;
        };
        let arena_root = image[&first_root];
        let (mut planned, planned_root) = plan(&arena, arena_root, journal.is_kept());
        journal.arena(&mut arena);
        journal.arena(&mut planned);
        let price = arena_cost(&planned, planned_root, leaf_cost).arithmetic;
        if price > HOPELESS * *best.get_or_insert(price) {
            continue;
        }
        let nodes = arena.reachable(arena_root);
        let (inserted, written) = insert_nodes(graph, nodes.iter().map(|&id| (id, arena.node(id))));
        seeds.push(written);
        for id in &reachable {
            if let Some(class) = image.get(id).and_then(|id| inserted.get(id)) {
                unite(graph, Left::Class(classes[id]), classes[id], *class, name);
            }
        }
        rebuild(graph);
        seeds.push(add_plan(graph, root, &planned, planned_root));
    }
    let (mut planned, planned_root) = plan(first, first_root, journal.is_kept());
    journal.arena(&mut planned);
    seeds.push(add_plan(graph, root, &planned, planned_root));
    representative
}

/// Adds a planned form as equal to the root; gives its nodes.
fn add_plan(graph: &mut Graph, root: Id, planned: &Arena, planned_root: Id) -> Vec<Node> {
    let nodes = planned.reachable(planned_root);
    let (image, inserted) = insert_nodes(graph, nodes.iter().map(|&id| (id, planned.node(id))));
    unite(graph, Left::Class(root), root, image[&planned_root], "plan");
    rebuild(graph);
    inserted
}

/// The root of an extracted arena is its last node.
pub(crate) fn extracted_root(arena: &Arena) -> Id {
    Id::from(arena.len() - 1)
}
