//! Extraction: the cheapest normal form that a graph holds, counting shared classes once.
//!
//! The search starts from a greedy solution that accounts for sharing, and from any forms that are in the graph
//! already. Hill climbing then improves the best of them one node at a time. Costs are updated incrementally.

use crate::{
    arena::{Arena, Mode},
    build::Context,
    cost::{INFINITE, LeafCost, ROOT, cost, counted},
    egraph::{Graph, nodes_of},
    extractable::{Places, Singular, is_reducible, singular_places},
    node::{Node, Op},
};
use egg::{Id, Language};
use rustc_hash::FxHashMap;

/// Something that a node needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    Class(Id),
    /// The square root of a scalar class: it becomes a definition of its own.
    Root(Id),
}

/// A node that may be chosen for a class.
struct Candidate {
    node: Node,
    /// Its cost, as [`counted`].
    cost: u64,
    /// The classes it needs, each once.
    needs: Vec<usize>,
}

/// The choices that a graph offers for everything below a root.
pub(crate) struct Choices<'a> {
    graph: &'a Graph,
    /// The subjects of a choice: classes, and square roots of classes, which several nodes can share.
    classes: Vec<Wanted>,
    index: FxHashMap<Wanted, usize>,
    candidates: Vec<Vec<Candidate>>,
    root: usize,
}

/// One node chosen for each class that matters.
struct Solution<'a> {
    choices: &'a Choices<'a>,
    chosen: Vec<usize>,
    /// How many chosen nodes (or the root) need each class.
    uses: Vec<u32>,
    total: u64,
    journal: Vec<(usize, u32)>,
}

/// Rounds of hill climbing over all classes of a solution.
const CLIMBING_ROUNDS: usize = 4;
/// Starts from which the climbing is done.
const CLIMBING_STARTS: usize = 3;
const NONE: usize = usize::MAX;

impl<'a> Choices<'a> {
    /// The choices below `root`; with `permitted`, only nodes all of whose singular places are in it.
    pub(crate) fn new(
        graph: &'a Graph,
        root: Id,
        leaf_cost: LeafCost,
        permitted: Option<&Places>,
    ) -> Choices<'a> {
        let mut choices = Choices {
            graph,
            classes: Vec::new(),
            index: FxHashMap::default(),
            candidates: Vec::new(),
            root: 0,
        };
        choices.root = choices.index_of(Wanted::Class(graph.find(root)));
        let mut next = 0;
        while next < choices.classes.len() {
            let candidates = match choices.classes[next] {
                Wanted::Class(class) => choices.candidates_of(class, leaf_cost, permitted),
                Wanted::Root(class) => vec![Candidate {
                    node: Node::leaf(Op::One),
                    cost: counted(ROOT),
                    needs: vec![choices.index_of(Wanted::Class(class))],
                }],
            };
            choices.candidates.push(candidates);
            next += 1;
        }
        choices
    }

    fn candidates_of(
        &mut self,
        class: Id,
        leaf_cost: LeafCost,
        permitted: Option<&Places>,
    ) -> Vec<Candidate> {
        let graph = self.graph;
        let mut candidates = Vec::new();
        for node in nodes_of(graph, class) {
            let is_permitted =
                |place: &(Id, Singular)| permitted.is_none_or(|places| places.contains(place));
            if node.children.contains(&class)
                || is_reducible(&node, |id| graph[id].data.leaf)
                || !singular_places(&node).iter().all(is_permitted)
            {
                continue;
            }
            let field_input = |id: Id| leaf_field(graph, id).map(|(input, _)| input);
            let price = cost(
                &node,
                &graph[class].data,
                |id| &graph[id].data,
                field_input,
                leaf_cost,
            );
            if price >= INFINITE {
                continue;
            }
            let mut roots = 0;
            let mut needs: Vec<usize> = needed(&node)
                .map(|wanted| {
                    roots += u64::from(matches!(wanted, Wanted::Root(_)));
                    self.index_of(wanted)
                })
                .collect();
            needs.sort_unstable();
            needs.dedup();
            candidates.push(Candidate {
                node,
                cost: counted(price - roots * ROOT),
                needs,
            });
        }
        candidates
    }

    fn index_of(&mut self, wanted: Wanted) -> usize {
        let next = self.classes.len();
        let index = *self.index.entry(wanted).or_insert(next);
        if index == next {
            self.classes.push(wanted);
        }
        index
    }

    /// For each class the node with the cheapest set of needed classes, as far as a fixed point finds it.
    fn greedy(&self) -> Vec<usize> {
        let count = self.classes.len();
        let words = count.div_ceil(64);
        let mut chosen = vec![NONE; count];
        let mut totals = vec![u64::MAX; count];
        let mut sets: Vec<Vec<u64>> = vec![Vec::new(); count];
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (class, candidates) in self.candidates.iter().enumerate() {
            for &need in candidates.iter().flat_map(|candidate| &candidate.needs) {
                users[need].push(class);
            }
        }
        users.iter_mut().for_each(|users| users.dedup());
        // Classes found last are nearest to the leaves.
        let mut queue: std::collections::VecDeque<usize> = (0..count).rev().collect();
        let mut queued = vec![true; count];
        let mut updates = vec![0u32; count];
        let mut set = vec![0u64; words];
        while let Some(class) = queue.pop_front() {
            queued[class] = false;
            let mut improved = false;
            for (k, candidate) in self.candidates[class].iter().enumerate() {
                if candidate.needs.iter().any(|&need| chosen[need] == NONE) {
                    continue;
                }
                set.iter_mut().for_each(|word| *word = 0);
                for &need in &candidate.needs {
                    set.iter_mut()
                        .zip(&sets[need])
                        .for_each(|(word, other)| *word |= other);
                }
                if set[class / 64] >> (class % 64) & 1 == 1 {
                    continue;
                }
                let total = candidate.cost + self.total_of(&set, &chosen);
                if total < totals[class] {
                    totals[class] = total;
                    chosen[class] = k;
                    set[class / 64] |= 1 << (class % 64);
                    sets[class].clone_from(&set);
                    improved = true;
                }
            }
            // A bound on updates ends the rare oscillation that sharing can cause.
            updates[class] += 1;
            if improved && updates[class] < 50 {
                for &user in &users[class] {
                    if !std::mem::replace(&mut queued[user], true) {
                        queue.push_back(user);
                    }
                }
            }
        }
        chosen
    }

    fn total_of(&self, set: &[u64], chosen: &[usize]) -> u64 {
        let mut total = 0;
        for (w, &word) in set.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let class = w * 64 + rest.trailing_zeros() as usize;
                total += self.candidates[class][chosen[class]].cost;
                rest &= rest - 1;
            }
        }
        total
    }

    /// `base`, changed to use the given nodes where they are candidates.
    fn prefer(&self, base: &[usize], nodes: &[Node]) -> Vec<usize> {
        let mut chosen = base.to_vec();
        for node in nodes {
            let node = node.clone().map_children(|child| self.graph.find(child));
            let Some(class) = self
                .graph
                .lookup(node.clone())
                .map(|id| self.graph.find(id))
            else {
                continue;
            };
            let Some(&index) = self.index.get(&Wanted::Class(class)) else {
                continue;
            };
            if let Some(k) = self.candidates[index]
                .iter()
                .position(|candidate| candidate.node == node)
            {
                chosen[index] = k;
            }
        }
        chosen
    }

    /// The classes that a choice needs, in dependency order; nothing if it is cyclic or incomplete.
    fn order(&self, chosen: &[usize]) -> Option<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.classes.len()];
        let mut order = Vec::new();
        let mut stack = vec![(self.root, 0)];
        while let Some((class, position)) = stack.pop() {
            if chosen[class] == NONE {
                return None;
            }
            let needs = &self.candidates[class][chosen[class]].needs;
            marks[class] = Mark::Open;
            match needs.get(position) {
                None => {
                    marks[class] = Mark::Done;
                    order.push(class);
                }
                Some(&need) => {
                    stack.push((class, position + 1));
                    match marks[need] {
                        Mark::New => stack.push((need, 0)),
                        Mark::Open => return None,
                        Mark::Done => {}
                    }
                }
            }
        }
        Some(order)
    }

    /// The cheapest solution found; `seeds` are the nodes of forms that are in the graph. Without `climb` it is the
    /// greedy one.
    pub(crate) fn best(&self, seeds: &[Vec<Node>], climb: bool) -> Option<Arena> {
        let greedy = self.greedy();
        if !climb {
            return self
                .order(&greedy)
                .map(|order| self.to_arena(&greedy, &order));
        }
        let starts = std::iter::once(greedy.clone())
            .chain(seeds.iter().map(|seed| self.prefer(&greedy, seed)));
        let mut solutions: Vec<Solution> = starts
            .filter_map(|chosen| Solution::new(self, chosen))
            .collect();
        solutions.sort_by_key(|solution| solution.total);
        solutions.dedup_by(|a, b| a.is_same_as(b));
        solutions.truncate(CLIMBING_STARTS);
        solutions.iter_mut().for_each(Solution::climb);
        let best = solutions
            .into_iter()
            .min_by_key(|solution| solution.total)?;
        let order = self.order(&best.chosen)?;
        Some(self.to_arena(&best.chosen, &order))
    }

    /// The chosen nodes as an arena; its last node is the root.
    fn to_arena(&self, chosen: &[usize], order: &[usize]) -> Arena {
        let mut arena = Arena::new(Mode::Source, usize::MAX);
        let mut image: FxHashMap<Id, Id> = FxHashMap::default();
        for &position in order {
            let Wanted::Class(class) = self.classes[position] else {
                continue;
            };
            let node = self.candidates[position][chosen[position]].node.clone();
            if node.op == Op::Probe
                && let Some((_, leaf)) = leaf_field(self.graph, node.children[0])
            {
                let leaf = arena.add(leaf);
                image.insert(node.children[0], leaf);
            }
            let id = arena.add(node.map_children(|child| image[&child]));
            arena.learn(id, self.graph[class].data.symmetries());
            image.insert(class, id);
        }
        arena
    }
}

impl<'a> Solution<'a> {
    fn new(choices: &'a Choices<'a>, chosen: Vec<usize>) -> Option<Solution<'a>> {
        let order = choices.order(&chosen)?;
        let mut uses = vec![0; choices.classes.len()];
        uses[choices.root] = 1;
        let mut total = 0;
        for &class in &order {
            let candidate = &choices.candidates[class][chosen[class]];
            total += candidate.cost;
            candidate.needs.iter().for_each(|&need| uses[need] += 1);
        }
        Some(Solution {
            choices,
            chosen,
            uses,
            total,
            journal: Vec::new(),
        })
    }

    /// Whether the same nodes are chosen for the classes that are needed.
    fn is_same_as(&self, other: &Solution) -> bool {
        let chosen = self.chosen.iter().zip(&other.chosen);
        self.uses == other.uses
            && (self.uses.iter().zip(chosen)).all(|(uses, (a, b))| *uses == 0 || a == b)
    }

    fn climb(&mut self) {
        for _ in 0..CLIMBING_ROUNDS {
            let Some(order) = self.choices.order(&self.chosen) else {
                return;
            };
            let mut improved = false;
            for class in order {
                for k in 0..self.choices.candidates[class].len() {
                    if self.uses[class] > 0 && k != self.chosen[class] {
                        improved |= self.exchange(class, k);
                    }
                }
            }
            if !improved {
                return;
            }
        }
    }

    /// Chooses another node for a class if that makes the whole cheaper and leaves it acyclic.
    fn exchange(&mut self, class: usize, k: usize) -> bool {
        let before = self.total;
        let old = self.chosen[class];
        let choices = self.choices;
        let (from, to) = (
            &choices.candidates[class][old],
            &choices.candidates[class][k],
        );
        if to.needs.iter().any(|&need| self.chosen[need] == NONE) {
            return false;
        }
        self.journal.clear();
        self.total += to.cost;
        let complete = to.needs.iter().all(|&need| self.require(need));
        self.total -= from.cost;
        from.needs.iter().for_each(|&need| self.release(need));
        self.chosen[class] = k;
        if complete && self.total < before && choices.order(&self.chosen).is_some() {
            return true;
        }
        self.chosen[class] = old;
        self.total = before;
        for (class, uses) in std::mem::take(&mut self.journal).into_iter().rev() {
            self.uses[class] = uses;
        }
        false
    }

    fn require(&mut self, class: usize) -> bool {
        self.journal.push((class, self.uses[class]));
        self.uses[class] += 1;
        if self.uses[class] > 1 {
            return true;
        }
        if self.chosen[class] == NONE {
            return false;
        }
        let candidate = &self.choices.candidates[class][self.chosen[class]];
        self.total += candidate.cost;
        candidate.needs.iter().all(|&need| self.require(need))
    }

    fn release(&mut self, class: usize) {
        self.journal.push((class, self.uses[class]));
        self.uses[class] -= 1;
        if self.uses[class] == 0 {
            let candidate = &self.choices.candidates[class][self.chosen[class]];
            self.total -= candidate.cost;
            candidate.needs.iter().for_each(|&need| self.release(need));
        }
    }
}

/// What a node needs: of a probe only the position, of a half-integer power the root.
fn needed(node: &Node) -> impl Iterator<Item = Wanted> + '_ {
    let skipped = usize::from(node.op == Op::Probe);
    node.children
        .iter()
        .enumerate()
        .skip(skipped)
        .map(|(k, &child)| match &node.op {
            Op::Contract(spec) if !spec.operands[k].1.is_integer() => Wanted::Root(child),
            _ => Wanted::Class(child),
        })
}

/// The leaf field that a class is, as the input and the node.
fn leaf_field(graph: &Graph, id: Id) -> Option<(usize, Node)> {
    let leaves = graph[id].nodes.iter().filter_map(|node| match node.op {
        Op::Field { input, .. } => Some((input, node.clone())),
        _ => None,
    });
    leaves.min()
}
