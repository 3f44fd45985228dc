//! A plain hash-consed arena: source terms, and the directed normalizer.
//!
//! Nodes are in dependency order. In every mode but [`Mode::Source`] derivatives and probes are pushed down as they are
//! built, so that normalizing is one walk over the source, bottom up.

use crate::{
    build::{Context, conditional, contract, linear, zero},
    class::{Facts, Leaf},
    inverse::{cofactors, simpler_inverse},
    laws::{Construction, Taken, note},
    log::{Left, Log},
    node::{Extents, Node, Op, Slot},
    node_facts::facts_of,
    numbers::Power,
    product::{MAX_LABELS, Operand, Product},
    push::{derivative_shape, push_derivative, push_probe, trivial_probe},
    rules::{COFACTORS, SIMPLIFY_INVERSE},
    sparsity::vanishes,
    symmetry::{Symmetries, symmetries_of, symmetries_of_sum},
};
use egg::Id;
use ein_ir::Rational;
use rustc_hash::FxHashMap;

/// How much the constructors of an arena do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing: terms as they were written.
    Source,
    /// Push-down, index elimination and collection of like terms; sums stay factored.
    Lazy,
    /// Products are distributed over sums and contractions flattened.
    Expanded,
    /// As `Expanded`, and dummies are replaced by their values: the component normal form.
    Components,
}

/// A hash-consed arena of nodes.
#[derive(Debug)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    classes: FxHashMap<Node, Id>,
    derivatives: FxHashMap<(u8, Id), Id>,
    probes: FxHashMap<(Id, Id), Id>,
    mode: Mode,
    /// Products that may still be expanded.
    budget: usize,
    pub(crate) taken: Taken,
    /// The equations that the constructors used, if they are wanted.
    log: Option<Log>,
    /// The laws of the equation that is being worked out, as far as they are no longer in the log.
    around: Vec<&'static str>,
}

/// No positive power above this is multiplied out.
const LARGEST_EXPANDED_POWER: i32 = 6;
/// Operands of a product that is searched for symmetries across contractions.
const FUSED_OPERANDS: usize = 6;

impl Arena {
    /// An empty arena; expansion stops when `budget` products have been made.
    pub(crate) fn new(mode: Mode, budget: usize) -> Arena {
        Arena {
            nodes: Vec::new(),
            facts: Vec::new(),
            classes: FxHashMap::default(),
            derivatives: FxHashMap::default(),
            probes: FxHashMap::default(),
            mode,
            budget,
            taken: Taken::default(),
            log: None,
            around: Vec::new(),
        }
    }

    /// The same arena, which keeps a log if `wanted`.
    pub(crate) fn logging(mut self, wanted: bool) -> Arena {
        self.log = wanted.then(Log::default);
        self
    }

    /// The log since the last time.
    pub(crate) fn take_log(&mut self) -> Log {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The result of `work`, which is equal to `left`.
    pub(crate) fn logged(
        &mut self,
        left: impl FnOnce() -> Left,
        rule: Option<&'static str>,
        work: impl FnOnce(&mut Arena) -> Id,
    ) -> Id {
        let Some(log) = &mut self.log else {
            return work(self);
        };
        // Laws applied so far belong to the equation around this one, if there is any.
        let around = log.laws(&self.taken);
        self.around.extend(around);
        let outer = std::mem::take(&mut self.around);
        let result = work(self);
        let mut laws = std::mem::replace(&mut self.around, outer);
        if let Some(log) = &mut self.log {
            laws.extend(log.laws(&self.taken));
            laws.sort_unstable();
            laws.dedup();
            log.write(left(), result, laws, rule);
        }
        result
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[usize::from(id)]
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the budget was used up, so that the result is sound but not expanded.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.budget == 0
    }

    /// The classes that `root` is made of, in dependency order.
    pub(crate) fn reachable(&self, root: Id) -> Vec<Id> {
        let mut reached = vec![false; self.nodes.len()];
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut reached[usize::from(id)], true) {
                stack.extend(&self.node(id).children);
            }
        }
        (0..self.nodes.len())
            .filter(|&k| reached[k])
            .map(Id::from)
            .collect()
    }

    /// Normalizes what `root` is made of; gives the image of each class of `source` that was reached.
    ///
    /// Stops early, with nothing, once the budget is used up.
    pub(crate) fn normalize(&mut self, source: &Arena, root: Id) -> Option<FxHashMap<Id, Id>> {
        let mut image: FxHashMap<Id, Id> = FxHashMap::default();
        for id in source.reachable(root) {
            let node = source.node(id);
            let children: Vec<Id> = node.children.iter().map(|child| image[child]).collect();
            let node = Node::new(node.op.clone(), &children);
            let shape = &source.facts(id).shape;
            let result = self.logged(
                || Left::Node(node.clone()),
                None,
                |arena| arena.construct(&node, shape),
            );
            if self.is_exhausted() {
                return None;
            }
            self.learn(result, source.facts(id).symmetries());
            image.insert(id, result);
        }
        Some(image)
    }

    /// What the constructors make of a node whose value has this shape.
    fn construct(&mut self, node: &Node, shape: &Extents) -> Id {
        let children = &node.children;
        match &node.op {
            Op::Contract(spec) => contract(self, Product::of(spec, children)),
            Op::Sum(_) => {
                let terms = node.terms().unwrap_or_default();
                // A multiple of a sum stays one where sums stay factored.
                let opens = terms.len() > 1 || self.mode != Mode::Lazy;
                linear(self, terms, shape.clone(), opens)
            }
            Op::Cond(test) => conditional(
                self,
                *test,
                [children[0], children[1], children[2], children[3]],
            ),
            Op::Inverse => self.inverse(children[0]),
            Op::Deriv { dim } => self.derivative(*dim, children[0]),
            Op::Probe => self.probe(children[0], children[1]),
            _ => self.add(node.clone()),
        }
    }

    /// Takes over symmetries that are known from elsewhere.
    pub(crate) fn learn(&mut self, id: Id, symmetries: Symmetries) {
        self.facts[usize::from(id)].learn(symmetries);
    }

    /// The contraction that a class is.
    pub(crate) fn contraction(&self, id: Id) -> Option<Product> {
        let node = self.node(id);
        match &node.op {
            Op::Contract(spec) => Some(Product::of(spec, &node.children)),
            _ => None,
        }
    }

    /// A class as a product: its contraction, or the whole of it.
    fn as_product(&self, id: Id) -> Product {
        let whole = || Product::whole(id, &self.facts(id).shape);
        self.contraction(id).unwrap_or_else(whole)
    }

    /// A product with contractions in place of the operands that are such, up to a few operands: P•H•P is seen to be
    /// symmetric however it is grouped.
    fn fused(&self, mut product: Product) -> Product {
        let mut position = 0;
        while position < product.operands.len() {
            let inner = self
                .contraction(product.operands[position].id)
                .filter(|inner| {
                    inner.results > 0
                        && product.operands.len() + inner.operands.len() <= FUSED_OPERANDS + 1
                        && product.extents.len() + inner.extents.len() <= MAX_LABELS
                });
            match inner {
                Some(inner) => product.splice(position, &inner),
                None => position += 1,
            }
        }
        product
    }

    /// Whether an operand is a component of a vector that is written by its components, as a sum of scalars with a δ each: no
    /// more than one of the terms contributes.
    fn is_placed_scalar(&self, operand: &Operand, terms: &[Id]) -> bool {
        let component = |slot: &Slot| match *slot {
            Slot::Fixed(component) => Some(component),
            Slot::Label(_) => None,
        };
        let Some(index) = operand
            .slots
            .iter()
            .map(component)
            .collect::<Option<Extents>>()
        else {
            return false;
        };
        let contributes = |id: &&Id| !vanishes(self.facts(**id), &index);
        !index.is_empty()
            && terms.iter().filter(contributes).count() <= 1
            && terms.iter().all(|&id| self.places_scalar(id))
    }

    /// Whether a class is a scalar times δ: a product of more would be multiplied again wherever one of its components is used.
    fn places_scalar(&self, id: Id) -> bool {
        let Op::Contract(spec) = &self.node(id).op else {
            return false;
        };
        let operands = spec.operands.iter().zip(&self.node(id).children);
        let mut factors = operands.filter(|(_, child)| self.facts(**child).leaf != Leaf::Delta);
        let (first, second) = (factors.next(), factors.next());
        second.is_none()
            && first.is_none_or(|((slots, power), _)| slots.is_empty() && power.is_one())
    }

    fn has_leaf(&self, product: &Product, leaf: Leaf) -> bool {
        product
            .operands
            .iter()
            .any(|operand| self.facts(operand.id).leaf == leaf)
    }
}

impl Context for Arena {
    fn add(&mut self, node: Node) -> Id {
        if let Some(&id) = self.classes.get(&node) {
            return id;
        }
        let known = |id: Id| &self.facts[usize::from(id)];
        let mut facts = facts_of(&node, known);
        match &node.op {
            Op::Contract(spec) if spec.results > 1 => {
                let product = Product::of(spec, &node.children);
                facts.learn(symmetries_of(&product, known));
                if self.mode == Mode::Source {
                    let fused = self.fused(product.clone());
                    if fused != product {
                        facts.learn(symmetries_of(&fused, known));
                    }
                }
            }
            Op::Sum(coefficients) if self.mode == Mode::Source && facts.shape.len() > 1 => {
                let products = node.children.iter().map(|&id| self.as_product(id));
                let terms: Vec<_> = coefficients.iter().copied().zip(products).collect();
                let found = facts.symmetric | facts.antisymmetric;
                facts.learn(symmetries_of_sum(&terms, found, known));
            }
            _ => {}
        }
        let id = Id::from(self.nodes.len());
        self.nodes.push(node.clone());
        self.facts.push(facts);
        self.classes.insert(node, id);
        id
    }

    fn facts(&self, id: Id) -> &Facts {
        &self.facts[usize::from(id)]
    }

    fn find(&self, id: Id) -> Id {
        id
    }

    fn as_scale(&self, id: Id) -> Option<(Rational, Id)> {
        self.facts(id).scale
    }

    fn as_sum(&self, id: Id) -> Option<Vec<(Rational, Id)>> {
        self.node(id).terms()
    }

    fn inline(&self, product: &Product, position: usize) -> Option<Product> {
        let inner = self.node(product.operands[position].id);
        let Op::Contract(spec) = &inner.op else {
            return None;
        };
        let has_leaf = |leaf: Leaf| inner.children.iter().any(|&id| self.facts(id).leaf == leaf);
        let wanted = match self.mode {
            Mode::Source => false,
            _ if spec.is_monomial() => true,
            _ if spec.results == 0 => false,
            Mode::Expanded | Mode::Components => true,
            Mode::Lazy => {
                spec.is_view()
                    || has_leaf(Leaf::Delta)
                    || has_leaf(Leaf::Epsilon) && self.has_leaf(product, Leaf::Epsilon)
            }
        };
        wanted.then(|| Product::of(spec, &inner.children))
    }

    fn distribute(&self, product: &Product, position: usize) -> Option<Vec<(Rational, Id)>> {
        let operand = &product.operands[position];
        let Op::Sum(_) = &self.node(operand.id).op else {
            return None;
        };
        let wanted = match self.mode {
            Mode::Source => false,
            Mode::Lazy => {
                // Only to bring an ε in the sum to an ε in the product, or for a component that is a scalar.
                let has_epsilon = |id: Id| {
                    self.contraction(id)
                        .is_some_and(|inner| self.has_leaf(&inner, Leaf::Epsilon))
                };
                let terms = &self.node(operand.id).children;
                operand.power.is_one()
                    && (self.has_leaf(product, Leaf::Epsilon)
                        && terms.iter().any(|&id| has_epsilon(id))
                        || self.is_placed_scalar(operand, terms))
            }
            Mode::Expanded | Mode::Components => {
                let power = operand.power;
                power.is_integer()
                    && power.is_positive()
                    && power <= Power::integer(LARGEST_EXPANDED_POWER)
            }
        };
        wanted.then(|| self.as_sum(operand.id)).flatten()
    }

    fn derivative(&mut self, dim: u8, id: Id) -> Id {
        // Derivatives of leaf fields are written as such from the beginning.
        if self.mode == Mode::Source && !matches!(self.node(id).op, Op::Field { .. }) {
            return self.add(Node::new(Op::Deriv { dim }, &[id]));
        }
        if let Some(&known) = self.derivatives.get(&(dim, id)) {
            return known;
        }
        let whole = Node::new(Op::Deriv { dim }, &[id]);
        let left = || Left::Node(whole.clone());
        let result = self.logged(left, None, |arena| {
            if arena.facts(id).dim == 0 {
                note(arena, Construction::Constants);
                let shape = derivative_shape(arena, dim, id);
                return zero(arena, shape);
            }
            let node = match arena.facts(id).inverse {
                Some(matrix) => Node::new(Op::Inverse, &[matrix]),
                None => arena.node(id).clone(),
            };
            push_derivative(arena, dim, &node).unwrap_or_else(|| arena.add(whole.clone()))
        });
        self.derivatives.insert((dim, id), result);
        result
    }

    fn probe(&mut self, id: Id, position: Id) -> Id {
        if self.mode == Mode::Source {
            return self.add(Node::new(Op::Probe, &[id, position]));
        }
        if let Some(&known) = self.probes.get(&(id, position)) {
            return known;
        }
        let whole = Node::new(Op::Probe, &[id, position]);
        let left = || Left::Node(whole.clone());
        let result = self.logged(left, None, |arena| {
            if let Some(law) = trivial_probe(arena, id, position) {
                note(arena, law);
                return id;
            }
            let node = arena.node(id).clone();
            push_probe(arena, &node, position).unwrap_or_else(|| arena.add(whole.clone()))
        });
        self.probes.insert((id, position), result);
        result
    }

    fn inverse(&mut self, id: Id) -> Id {
        let whole = Node::new(Op::Inverse, &[id]);
        if self.mode == Mode::Source {
            return self.add(whole);
        }
        let left = || Left::Node(whole);
        if let Some(simpler) = simpler_inverse(self, id) {
            return self.logged(left, Some(SIMPLIFY_INVERSE.name), |_| simpler);
        }
        let inverse = self.logged(left, Some(COFACTORS.name), |arena| cofactors(arena, id));
        let symmetric = self.facts(id).symmetric;
        let facts = &mut self.facts[usize::from(inverse)];
        facts.inverse = Some(id);
        facts.symmetric |= symmetric;
        inverse
    }

    fn taken(&mut self) -> &mut Taken {
        &mut self.taken
    }

    fn unrolls(&self) -> bool {
        self.mode == Mode::Components
    }

    fn charge(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }
}
