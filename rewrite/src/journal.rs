//! The journal of a normalization: all terms it made and all equations between them.
//!
//! Insertion, arenas, the e-graph and emission record equations between their own terms. Here these become terms of one
//! bank, in which equal texts are one term. A derivation consists of the equations that congruence closure needs to
//! connect the region as written with the result.

use crate::{
    arena::Arena,
    build::Context,
    derivation::Consequences,
    egraph::Graph,
    emit::{Base, Written},
    log::{Left, Log},
    node::{Extents, Node, Op, Slot},
};
use egg::Id;
use ein_ir::{Ein, Index, Param, Term, region::Region};
use rustc_hash::FxHashMap;

/// A term of the bank, by its number; arguments have smaller ones.
pub(crate) type TermId = usize;

/// What a term does with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Head {
    /// An input of the region.
    Input(usize),
    /// A node of the normalizer.
    Node(Op),
    /// An operator of a region.
    Operator(Ein),
}

/// An equation between two terms.
#[derive(Clone, Debug)]
pub(crate) struct Equality {
    pub(crate) left: TermId,
    pub(crate) right: TermId,
    pub(crate) laws: Vec<&'static str>,
}

/// Terms with their shapes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bank {
    pub(crate) heads: Vec<Head>,
    pub(crate) args: Vec<Vec<TermId>>,
    pub(crate) shapes: Vec<Extents>,
    known: FxHashMap<(Head, Vec<TermId>), TermId>,
}

impl Bank {
    fn term(&mut self, head: Head, args: Vec<TermId>, shape: Extents) -> TermId {
        let key = (head, args);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let term = self.heads.len();
        self.heads.push(key.0.clone());
        self.args.push(key.1.clone());
        self.shapes.push(shape);
        self.known.insert(key, term);
        term
    }

    fn node(&mut self, op: &Op, args: Vec<TermId>, shape: &Extents) -> TermId {
        let head = match op {
            Op::Tensor { input, .. }
            | Op::Field {
                input, order: 0, ..
            } => Head::Input(*input),
            _ => Head::Node(op.clone()),
        };
        self.term(head, args, shape.clone())
    }

    fn operator(&mut self, op: &Ein, args: Vec<TermId>) -> TermId {
        let shape = op.axes.iter().map(|&n| n as u32).collect();
        self.term(Head::Operator(op.clone()), args, shape)
    }
}

/// The log, if one is kept.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) bank: Bank,
    pub(crate) equations: Vec<Equality>,
}

/// A journal that is kept or not.
#[derive(Debug, Default)]
pub(crate) struct Journal(Option<Notes>);

impl Journal {
    pub(crate) fn kept() -> Journal {
        Journal(Some(Notes::default()))
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// The terms of all values of a region.
    pub(crate) fn region(&mut self, region: &Region) -> Vec<TermId> {
        self.0
            .as_mut()
            .map(|notes| notes.region(region))
            .unwrap_or_default()
    }

    /// Takes over the terms and the log of an arena.
    pub(crate) fn arena(&mut self, arena: &mut Arena) {
        self.insertion(arena, &Region::default(), &[]);
    }

    /// The same for an arena into which a region was inserted, `values` being the classes of its values.
    pub(crate) fn insertion(&mut self, arena: &mut Arena, region: &Region, values: &[Id]) {
        if let Some(notes) = &mut self.0 {
            let terms = notes.arena(arena);
            let log = arena.take_log();
            let values: Vec<TermId> = values.iter().map(|&id| terms[usize::from(id)]).collect();
            let mut definition = |bank: &mut Bank, number: usize| {
                let def = &region.defs[number];
                bank.operator(&def.op, def.args.iter().map(|arg| values[arg.0]).collect())
            };
            notes.absorb(log, &terms, &mut definition, |id| &arena.facts(id).shape);
        }
    }

    /// Takes over the terms of a graph and the unions it made.
    pub(crate) fn graph(&mut self, graph: &mut Graph) {
        let Some(notes) = &mut self.0 else { return };
        let log = graph.analysis.log.take().unwrap_or_default();
        let mut terms: Vec<TermId> = Vec::new();
        for (k, node) in graph.nodes().iter().enumerate() {
            let term = notes.node(node, &terms, &graph[Id::from(k)].data.shape);
            terms.push(term);
        }
        let mut definition = |_: &mut Bank, _| unreachable!("regions are inserted into arenas");
        notes.absorb(log, &terms, &mut definition, |id| &graph[id].data.shape);
    }

    /// Notes that an arena was written as a region, whose values are these terms.
    pub(crate) fn emission(
        &mut self,
        arena: &Arena,
        root: Id,
        region: &Region,
        written: &FxHashMap<Id, Written>,
        values: &[TermId],
    ) {
        if let Some(notes) = &mut self.0 {
            notes.emission(arena, root, region, written, values);
        }
    }

    /// What follows from its equations; nothing if the journal is not kept.
    pub(crate) fn consequences(&self) -> Option<Consequences<'_>> {
        self.0.as_ref().map(Consequences::new)
    }
}

impl Notes {
    fn region(&mut self, region: &Region) -> Vec<TermId> {
        let mut terms = Vec::new();
        for (k, param) in region.inputs.iter().enumerate() {
            let shape = param.shape().dims().iter().map(|&n| n as u32).collect();
            terms.push(self.bank.term(Head::Input(k), Vec::new(), shape));
        }
        for def in &region.defs {
            let args = def.args.iter().map(|arg| terms[arg.0]).collect();
            terms.push(self.bank.operator(&def.op, args));
        }
        terms
    }

    fn arena(&mut self, arena: &Arena) -> Vec<TermId> {
        let mut terms: Vec<TermId> = Vec::new();
        for id in (0..arena.len()).map(Id::from) {
            let term = self.node(arena.node(id), &terms, &arena.facts(id).shape);
            terms.push(term);
        }
        terms
    }

    fn node(&mut self, node: &Node, terms: &[TermId], shape: &Extents) -> TermId {
        self.bank.node(&node.op, args(node, terms), shape)
    }

    fn equate(&mut self, left: TermId, right: TermId, laws: Vec<&'static str>) {
        if left != right {
            self.equations.push(Equality { left, right, laws });
        }
    }

    fn absorb<'a>(
        &mut self,
        log: Log,
        terms: &[TermId],
        definition: &mut dyn FnMut(&mut Bank, usize) -> TermId,
        shape: impl Fn(Id) -> &'a Extents,
    ) {
        for entry in log.entries {
            let right = terms[usize::from(entry.right)];
            let left = match entry.left {
                Left::Class(id) => terms[usize::from(id)],
                Left::Definition(number) => definition(&mut self.bank, number),
                Left::Node(node) => self.node(&node, terms, shape(entry.right)),
                Left::Through(node, inner) => {
                    let mut args = args(&node, terms);
                    for (place, child) in inner {
                        args[place] = self.node(&child, terms, shape(node.children[place]));
                    }
                    self.bank.node(&node.op, args, shape(entry.right))
                }
            };
            self.equate(left, right, entry.laws);
        }
    }

    fn emission(
        &mut self,
        arena: &Arena,
        root: Id,
        region: &Region,
        forms: &FxHashMap<Id, Written>,
        values: &[TermId],
    ) {
        let kinds = region.kinds();
        let classes = self.arena(arena);
        let mut written: FxHashMap<Id, TermId> = FxHashMap::default();
        for id in arena.reachable(root) {
            let node = arena.node(id);
            let shape = &arena.facts(id).shape;
            let Some(form) = forms.get(&id) else {
                continue;
            };
            let right = match &form.base {
                Base::Field => classes[usize::from(id)],
                Base::Value(value) if form.slots == crate::product::axes(shape.len()) => {
                    values[value.0]
                }
                base => {
                    let (op, args) = view(base, &form.slots, shape, &kinds);
                    let args = args.into_iter().map(|value| values[value]).collect();
                    self.bank.operator(&op, args)
                }
            };
            let args = node.children.iter().map(|child| written[child]).collect();
            let left = self.bank.node(&node.op, args, shape);
            self.equate(left, right, Vec::new());
            written.insert(id, right);
        }
        let roots = arena.node(root).children.iter().zip(&region.roots);
        for (child, value) in roots {
            self.equate(written[child], values[value.0], Vec::new());
        }
    }
}

/// The terms of a node's children, given those of all classes.
fn args(node: &Node, terms: &[TermId]) -> Vec<TermId> {
    node.children
        .iter()
        .map(|&child| terms[usize::from(child)])
        .collect()
}

/// The operator that writes a class as a view of something, and the value it is applied to.
fn view(base: &Base, slots: &[Slot], shape: &Extents, kinds: &[Param]) -> (Ein, Vec<usize>) {
    let index = |slot: &Slot| match *slot {
        Slot::Fixed(component) => Index::Const(component as usize),
        Slot::Label(label) => Index::Axis(label.into()),
    };
    let indices: Vec<Index> = slots.iter().map(index).collect();
    let (body, arg) = match base {
        Base::Value(value) => (Term::Access { param: 0, indices }, Some(value.0)),
        Base::Constant(value) => (Term::Const(*value), None),
        Base::Delta => (Term::Delta(indices[0], indices[1]), None),
        Base::Epsilon => (Term::Epsilon(indices), None),
        Base::Field => unreachable!("a leaf field is a term of its own"),
    };
    let op = Ein {
        params: arg.map(|value| kinds[value].clone()).into_iter().collect(),
        axes: shape.iter().map(|&n| n as usize).collect(),
        body,
    };
    (op, arg.into_iter().collect())
}
