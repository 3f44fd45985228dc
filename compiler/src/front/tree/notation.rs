//! Index notation as it is written: indices, components, `δ`, `ε`, `∂[i]`, reductions over indices, definitions by index and clauses.
//!
//! The checker knows the types of these expressions and the values of all indices. The stage `notation` of elaboration makes
//! operators of them (`elaborate/notation`); no later stage finds any.

use super::{Expr, ExprKind, VarId};
use crate::front::source::Span;
use ein_ir::{
    Type,
    ops::{Form, Meaning, Reduction},
};
use std::collections::BTreeSet;

/// Ints in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first one.
    pub low: i64,
    /// How many there are.
    pub count: usize,
}

impl Range {
    /// All of them, in order.
    pub fn values(self) -> impl Iterator<Item = i64> {
        self.low..self.end()
    }

    /// The first int after them.
    pub fn end(self) -> i64 {
        self.low + self.count as i64
    }

    /// Whether an int is one of them.
    pub fn contains(self, value: i64) -> bool {
        (self.low..self.end()).contains(&value)
    }
}

/// The values that an index takes.
#[derive(Clone, Debug)]
pub enum Values {
    /// These ints.
    Range(Range),
    /// The places of a sequence of varying length. The index itself does not occur; a variable is the element.
    Elements {
        /// The sequence.
        sequence: Box<Expr>,
        /// The variable.
        element: VarId,
    },
}

/// An index where it is bound.
#[derive(Clone, Debug)]
pub struct Binder {
    /// The index.
    pub var: VarId,
    /// The values that it takes.
    pub values: Values,
}

impl Binder {
    fn vars_mut(&mut self) -> Vec<&mut VarId> {
        match &mut self.values {
            Values::Elements { element, .. } => vec![&mut self.var, element],
            Values::Range(_) => vec![&mut self.var],
        }
    }
}

/// A clause: the elements of a sequence at some of its places.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The places: a range along each axis.
    pub places: Vec<Range>,
    /// The index along each axis, if there is one.
    pub indices: Vec<Option<VarId>>,
    /// The element.
    pub body: Expr,
    /// Where it is written.
    pub span: Span,
}

impl Clause {
    /// Whether it defines the element at a place.
    pub fn is_for(&self, point: &[i64]) -> bool {
        let mut along = self.places.iter().zip(point);
        along.all(|(range, &place)| range.contains(place))
    }
}

/// An expression of index notation.
#[derive(Clone, Debug)]
pub enum Notation {
    /// The value of an index.
    Index(VarId),
    /// The sequence that the clauses around this expression define.
    Itself(VarId),
    /// A component or part: one entry for each axis of the base, none where the axis stays.
    Component {
        /// The whole.
        base: Expr,
        /// The entries.
        indices: Vec<Option<Expr>>,
    },
    /// `∂[i, …] F`
    Partial {
        /// The axes of the derivatives.
        indices: Vec<Expr>,
        /// The field.
        field: Expr,
    },
    /// `δ[i, j]`
    Delta(Box<[Expr; 2]>),
    /// `ε[i, j]`, `ε[i, j, k]`
    Epsilon(Vec<Expr>),
    /// A reduction over indices.
    Reduced {
        /// The reduction.
        reduction: Reduction,
        /// The indices, the outermost first.
        over: Vec<Binder>,
        /// The expression that is reduced.
        body: Expr,
    },
    /// `T x[i, j] = e`: a value by its components.
    Definition {
        /// The indices on the left side, one for each axis.
        left: Vec<Binder>,
        /// The component.
        body: Expr,
    },
    /// A sequence by clauses; together they define every element, and none twice.
    Clauses {
        /// The sequence in the bodies of the clauses; its name is that of the variable that is defined.
        itself: VarId,
        /// The clauses.
        clauses: Vec<Clause>,
    },
}

impl Notation {
    /// As an expression.
    pub(crate) fn at(self, ty: Type, span: Span) -> Expr {
        super::typed(ty, ExprKind::Notation(Box::new(self)), span)
    }

    /// The indices that it binds.
    pub(crate) fn binders(&self) -> &[Binder] {
        match self {
            Notation::Reduced { over, .. } => over,
            Notation::Definition { left, .. } => left,
            _ => &[],
        }
    }

    /// Whether indices are in scope inside, or a sequence that is defined by clauses.
    pub(crate) fn binds(&self) -> bool {
        !self.binders().is_empty() || matches!(self, Notation::Clauses { .. })
    }

    /// The variables that it names itself, to be changed in place.
    pub(super) fn vars_mut(&mut self) -> Vec<&mut VarId> {
        match self {
            Notation::Index(var) | Notation::Itself(var) => vec![var],
            Notation::Reduced { over: binders, .. }
            | Notation::Definition { left: binders, .. } => {
                binders.iter_mut().flat_map(Binder::vars_mut).collect()
            }
            Notation::Clauses { itself, clauses } => {
                let indices = clauses.iter_mut().flat_map(|clause| &mut clause.indices);
                [itself].into_iter().chain(indices.flatten()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it is a reduction that gives a truth value.
    pub(crate) fn is_truth(&self) -> bool {
        matches!(self, Notation::Reduced { body, .. } if body.ty == Type::Bool)
    }

    /// Does something with each expression in it.
    pub(super) fn each_part<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        for binder in self.binders() {
            if let Values::Elements { sequence, .. } = &binder.values {
                visit(sequence);
            }
        }
        match self {
            Notation::Index(_) | Notation::Itself(_) => {}
            Notation::Component { base, indices } => {
                visit(base);
                indices.iter().flatten().for_each(visit);
            }
            Notation::Partial { indices, field } => {
                indices.iter().for_each(&mut *visit);
                visit(field);
            }
            Notation::Delta(indices) => indices.iter().for_each(visit),
            Notation::Epsilon(indices) => indices.iter().for_each(visit),
            Notation::Reduced { body, .. } | Notation::Definition { body, .. } => visit(body),
            Notation::Clauses { clauses, .. } => {
                clauses.iter().for_each(|clause| visit(&clause.body));
            }
        }
    }

    /// The same, to be changed in place.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Expr> {
        fn bound<'e>(binders: &'e mut [Binder], body: &'e mut Expr) -> Vec<&'e mut Expr> {
            let sequences = binders.iter_mut().filter_map(|b| match &mut b.values {
                Values::Elements { sequence, .. } => Some(&mut **sequence),
                Values::Range(_) => None,
            });
            sequences.chain([body]).collect()
        }
        match self {
            Notation::Index(_) | Notation::Itself(_) => Vec::new(),
            Notation::Component { base, indices } => [base]
                .into_iter()
                .chain(indices.iter_mut().flatten())
                .collect(),
            Notation::Partial { indices, field } => indices.iter_mut().chain([field]).collect(),
            Notation::Delta(indices) => indices.iter_mut().collect(),
            Notation::Epsilon(indices) => indices.iter_mut().collect(),
            Notation::Reduced { over, body, .. } => bound(over, body),
            Notation::Definition { left, body } => bound(left, body),
            Notation::Clauses { clauses, .. } => clauses.iter_mut().map(|c| &mut c.body).collect(),
        }
    }

    /// The same with every expression directly inside changed.
    pub(super) fn try_map<E>(
        &self,
        change: &mut dyn FnMut(&Expr) -> Result<Expr, E>,
    ) -> Result<Notation, E> {
        let mut changed = self.clone();
        for part in changed.parts_mut() {
            *part = change(part)?;
        }
        Ok(changed)
    }
}

impl Expr {
    /// The index notation that it is.
    pub(crate) fn notation(&self) -> Option<&Notation> {
        match &self.kind {
            ExprKind::Notation(notation) => Some(notation),
            _ => None,
        }
    }

    /// Whether there is index notation in it.
    pub(crate) fn has_notation(&self) -> bool {
        self.notation().is_some() || self.any_child(Expr::has_notation)
    }

    /// The index that it is, if it is nothing else.
    pub(crate) fn index(&self) -> Option<VarId> {
        match self.notation() {
            Some(Notation::Index(var)) => Some(*var),
            _ => None,
        }
    }

    /// Whether it depends on indices and on no other variable.
    pub(crate) fn is_of_indices(&self) -> bool {
        self.has_notation() && self.is_known_with_indices()
    }

    fn is_known_with_indices(&self) -> bool {
        match &self.kind {
            ExprKind::Notation(_) => self.index().is_some(),
            ExprKind::Var(_)
            | ExprKind::Call { .. }
            | ExprKind::Given { .. }
            | ExprKind::Select { .. } => false,
            _ => !self.any_child(|child| !child.is_known_with_indices()),
        }
    }

    /// The indices that it depends on and does not bind itself.
    pub(crate) fn free_indices(&self) -> BTreeSet<VarId> {
        let mut found = BTreeSet::new();
        self.add_free_indices(&mut found);
        found
    }

    fn add_free_indices(&self, found: &mut BTreeSet<VarId>) {
        match self.notation() {
            Some(Notation::Index(var)) => {
                found.insert(*var);
            }
            Some(notation) => {
                let mut inside = BTreeSet::new();
                self.each_child(|part| part.add_free_indices(&mut inside));
                for binder in notation.binders() {
                    inside.remove(&binder.var);
                }
                if let Notation::Clauses { clauses, .. } = notation {
                    let bound = clauses.iter().flat_map(|clause| &clause.indices);
                    bound.flatten().for_each(|var| {
                        inside.remove(var);
                    });
                }
                found.extend(inside);
            }
            None => self.each_child(|child| child.add_free_indices(found)),
        }
    }

    /// Whether it is a field at a position.
    pub(crate) fn is_probe(&self) -> bool {
        matches!(&self.kind, ExprKind::Op { op, .. } if op.row.meaning == Meaning::Form(Form::Probe))
    }

    /// The variable that messages name for it where it has subscripts.
    pub(crate) fn subscripted(&self) -> Option<VarId> {
        match &self.kind {
            ExprKind::Var(var) => Some(*var),
            ExprKind::Notation(notation) => match &**notation {
                Notation::Index(var) | Notation::Itself(var) => Some(*var),
                Notation::Component { base, .. } | Notation::Partial { field: base, .. } => {
                    base.subscripted()
                }
                _ => None,
            },
            ExprKind::Coerce(inner) => inner.subscripted(),
            ExprKind::Op { args, .. } if self.is_probe() => args[0].subscripted(),
            _ => None,
        }
    }
}

/// The extents of all axes of a type: of its sequences from the outermost on, then of its components. `None` for types
/// without such axes, or without a fixed number of elements.
pub(crate) fn extents(ty: &Type) -> Option<Vec<usize>> {
    match ty {
        Type::Tensor(shape) | Type::Field { shape, .. } => Some(shape.dims().to_vec()),
        Type::Seq(element, Some(n)) => {
            let mut all = vec![*n];
            all.extend(extents(element)?);
            Some(all)
        }
        Type::Bool | Type::Int | Type::String => Some(Vec::new()),
        _ => None,
    }
}

/// The lengths of a sequence of sequences along its axes, and the type of its elements.
pub(crate) fn sequence_axes(ty: &Type) -> (Vec<usize>, &Type) {
    let (mut lengths, mut element) = (Vec::new(), ty);
    while let Type::Seq(inner, Some(n)) = element {
        lengths.push(*n);
        element = inner;
    }
    (lengths, element)
}

/// A place in a sequence, along each axis.
pub(crate) type Point = Vec<i64>;

/// A place as messages write it.
pub(crate) fn shown(point: &[i64]) -> String {
    let places: Vec<String> = point.iter().map(i64::to_string).collect();
    format!("[{}]", places.join(","))
}

/// The parts of an axis, in their order, along which the same clauses hold. A clause has a range along each axis.
pub(crate) fn stretches(clauses: &[&[Range]], axis: usize, length: usize) -> Vec<Range> {
    let mut cuts = BTreeSet::from([0, length as i64]);
    for clause in clauses {
        cuts.extend([clause[axis].low, clause[axis].end()]);
    }
    let cuts: Vec<i64> = cuts.into_iter().filter(|&at| at <= length as i64).collect();
    let between = |pair: &[i64]| Range {
        low: pair[0],
        count: (pair[1] - pair[0]) as usize,
    };
    cuts.windows(2).map(between).collect()
}
