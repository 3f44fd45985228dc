//! From expressions with indices to one operator and its arguments.
//!
//! Operators of the table are composed by putting terms in the place of their parameters; whatever does not depend on an
//! index is an argument. An index stays an index as long as it is only used as one. Where its value counts, as in `v[i+1]`,
//! `real(i)` or `a if i < j else b`, and for what EIN cannot express, the term is written out for every value of the index:
//! a sum becomes a sum of terms, and along an axis of the result each term is multiplied by a δ.

use super::builder::Builder;
use crate::front::{
    codes,
    diag::Diagnostic,
    source::Span,
    tree::{
        Constant, Expr, ExprKind, Notation, VarId,
        convert::coerce,
        notation::{Binder, Range, extents},
        typed,
    },
};
use ein_ir::{
    Ein, FreshBinders, Index, Param, Rational, Shape, Term, Type,
    ops::{Builtin, Fixed, Form, Instance, Meaning},
    rational,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How many copies of a term writing out may make.
const MOST_COPIES: usize = 4096;

/// Why a term could not be made as it was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The values of more indices are needed; they are noted.
    Values,
    /// An error was reported.
    Failed,
    /// The value of an index is needed that is known only at run time.
    Unstepped,
}

/// What an index is at some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// An index.
    Index(u32),
    /// One of its values.
    Value(i64),
    /// An int at run time, which will be all of these in turn.
    Running(VarId, Range),
}

pub(super) type Slots = BTreeMap<VarId, Slot>;

/// What tells arguments apart, so that one that is used in many places is passed once.
#[derive(Clone, Debug, PartialEq)]
enum Key {
    Variable(VarId),
    /// The expression at a place in the source, at some values of the indices. The terms of a sum that was written out have one
    /// place and differ in constants.
    Written(Span, Type, Vec<(VarId, i64)>, Vec<Constant>),
    Unique,
}

pub(super) struct Lowering<'b, 'p> {
    pub(super) build: &'b mut Builder<'p>,
    args: Vec<(Key, Expr)>,
    pub(super) binders: FreshBinders,
    /// The indices whose values are needed.
    valued: BTreeSet<VarId>,
    copies: usize,
}

/// An expression without free indices.
pub(super) fn complete(build: &mut Builder<'_>, e: &Expr) -> Result<Expr, Stop> {
    let outside = Slots::new();
    match e.ty {
        Type::Bool => Lowering::new(build).truth_at(e, &outside),
        Type::Int => Lowering::new(build).at_values(e, &outside),
        _ => expression(build, &[], e, &e.ty, &outside, e.span),
    }
}

/// A value of type `declared` from its components.
pub(super) fn definition(
    build: &mut Builder<'_>,
    left: &[Binder],
    body: &Expr,
    declared: &Type,
    outside: &Slots,
    span: Span,
) -> Result<Expr, Stop> {
    let left = vars_of(left);
    if matches!(body.ty, Type::Int | Type::Bool) {
        return Lowering::new(build).sequence_of(&left, body, declared, outside, span);
    }
    expression(build, &left, body, declared, outside, span)
}

/// The indices that are bound.
pub(super) fn vars_of(binders: &[Binder]) -> Vec<VarId> {
    binders.iter().map(|binder| binder.var).collect()
}

/// The tensor, field or sequence whose components along the axes `left` are `body`.
pub(super) fn expression(
    build: &mut Builder<'_>,
    left: &[VarId],
    body: &Expr,
    ty: &Type,
    outside: &Slots,
    span: Span,
) -> Result<Expr, Stop> {
    let mut lowering = Lowering::new(build);
    lowering.valued.extend(outside.keys());
    let ids: Vec<u32> = left.iter().map(|_| lowering.binders.fresh()).collect();
    let axes: Vec<(VarId, u32)> = left.iter().copied().zip(ids).collect();
    let term = lowering.along(&axes, &mut outside.clone(), body)?;
    let term = match (&body.ty, ty) {
        (Type::Tensor(_), Type::Field { dim, .. }) => as_field(term, *dim),
        _ => term,
    };
    // Axes of one value are none.
    let kept: Vec<u32> = axes
        .iter()
        .filter(|(var, _)| lowering.range(*var).count > 1)
        .map(|(_, id)| *id)
        .collect();
    let place = |index: Index| match index {
        Index::Bound(id) => match kept.iter().position(|&kept| kept == id) {
            Some(axis) => Index::Axis(axis),
            None => index,
        },
        Index::Axis(own) => Index::Axis(kept.len() + own),
        constant => constant,
    };
    let term = term.rename(&place, &|param| param);
    let counts = axes.iter().map(|(var, _)| lowering.range(*var).count);
    let shape = Shape::new(counts).append(&extents(&body.ty).unwrap_or_default());
    let (ein, args) = lowering.finish(term, shape.dims().to_vec());
    let kind = ExprKind::Indexed {
        operator: Arc::new(ein),
        args,
    };
    Ok(typed(ty.clone(), kind, span))
}

/// A term that does not depend on the position, as one that does to the types.
fn as_field(term: Term, dim: usize) -> Term {
    let nothing = Term::Mul(vec![
        number(0),
        Term::Position {
            dim,
            index: Index::Const(0),
        },
    ]);
    Term::Add(vec![term, nothing])
}

pub(super) fn number(n: i64) -> Term {
    Term::Const(Rational::from_integer(n.into()))
}

/// A sum as a term of the sort that has more than one operand.
pub(super) fn add(mut terms: Vec<Term>) -> Term {
    match terms.len() {
        1 => terms.remove(0),
        _ => Term::Add(terms),
    }
}

impl<'b, 'p> Lowering<'b, 'p> {
    fn new(build: &'b mut Builder<'p>) -> Self {
        Lowering {
            build,
            args: Vec::new(),
            binders: FreshBinders::default(),
            valued: BTreeSet::new(),
            copies: 1,
        }
    }

    /// The operator with the parameters that are used, and the arguments for them.
    fn finish(self, body: Term, axes: Vec<usize>) -> (Ein, Vec<Expr>) {
        let body = flattened(body);
        let mut used = BTreeSet::new();
        params_of(&body, &mut used);
        let places: BTreeMap<usize, usize> = used.iter().copied().zip(0..).collect();
        let args: Vec<Expr> = self
            .args
            .into_iter()
            .enumerate()
            .filter(|(param, _)| used.contains(param))
            .map(|(_, (_, arg))| arg)
            .collect();
        let ein = Ein {
            params: args.iter().map(|arg| param_of(&arg.ty)).collect(),
            axes,
            body: body.rename(&|index| index, &|param| places[&param]),
        };
        (ein, args)
    }

    pub(super) fn range(&self, var: VarId) -> Range {
        self.build.range(var)
    }

    /// Asks for the values of indices that are none yet.
    pub(super) fn need_values(
        &mut self,
        vars: impl IntoIterator<Item = VarId>,
        slots: &Slots,
    ) -> Result<(), Stop> {
        let mut missing = false;
        for var in vars {
            if matches!(slots.get(&var), None | Some(Slot::Index(_))) {
                missing = true;
                self.valued.insert(var);
            }
        }
        if missing { Err(Stop::Values) } else { Ok(()) }
    }

    /// Does something for every value of an index.
    pub(super) fn each_value<T>(
        &mut self,
        var: VarId,
        slots: &mut Slots,
        span: Span,
        mut each: impl FnMut(&mut Self, &mut Slots, i64) -> Result<T, Stop>,
    ) -> Result<Vec<T>, Stop> {
        let range = self.range(var);
        let outer = self.copies;
        self.copies = self.copies.saturating_mul(range.count);
        if self.copies > MOST_COPIES {
            let message = format!(
                "this would be written out more than {MOST_COPIES} times, once for every value of its indices"
            );
            let error = Diagnostic::error(codes::TOO_LARGE, span, message).hint(
                "an index that is only used as a subscript by itself need not be written out",
            );
            self.copies = outer;
            return Err(self.build.report(error));
        }
        let before = slots.get(&var).copied();
        let made: Result<Vec<T>, Stop> = range
            .values()
            .map(|value| {
                slots.insert(var, Slot::Value(value));
                each(self, slots, value)
            })
            .collect();
        match before {
            Some(slot) => slots.insert(var, slot),
            None => slots.remove(&var),
        };
        self.copies = outer;
        made
    }

    /// Whether an index is to be written out from the start.
    pub(super) fn is_valued(&self, var: VarId) -> bool {
        self.valued.contains(&var) || self.range(var).count == 1
    }

    /// The term of `body` along axes of the result.
    fn along(
        &mut self,
        axes: &[(VarId, u32)],
        slots: &mut Slots,
        body: &Expr,
    ) -> Result<Term, Stop> {
        let Some((&(var, id), rest)) = axes.split_first() else {
            return self.term(body, slots);
        };
        if !self.is_valued(var) {
            slots.insert(var, Slot::Index(id));
            match self.along(rest, slots, body) {
                Err(Stop::Values) if self.is_valued(var) => {}
                done => return done,
            }
        }
        let low = self.range(var).low;
        let single = self.range(var).count == 1;
        let terms = self.each_value(var, slots, body.span, |this, slots, value| {
            let term = this.along(rest, slots, body)?;
            if single {
                return Ok(term);
            }
            let place = Index::Const((value - low) as usize);
            Ok(Term::Mul(vec![term, Term::Delta(place, Index::Bound(id))]))
        })?;
        Ok(add(terms))
    }

    /// The number of the parameter for an argument.
    fn argument(&mut self, key: Key, arg: Expr) -> usize {
        let same = self.args.iter().position(|(other, _)| *other == key);
        if let Some(known) = same.filter(|_| key != Key::Unique) {
            return known;
        }
        self.args.push((key, arg));
        self.args.len() - 1
    }

    /// The term of an argument: all its axes are its own.
    pub(super) fn hoisted(&mut self, arg: Expr, slots: Option<&Slots>) -> Term {
        let arg = match with_real_elements(&arg.ty) {
            Some(ty) => coerce(arg, &ty),
            None => arg,
        };
        let key = match (&arg.kind, slots) {
            (ExprKind::Var(var), _) => Key::Variable(*var),
            (_, Some(slots)) => {
                let values = slots.iter().filter_map(|(var, slot)| match slot {
                    Slot::Value(value) => Some((*var, *value)),
                    Slot::Index(_) | Slot::Running(..) => None,
                });
                Key::Written(arg.span, arg.ty.clone(), values.collect(), constants(&arg))
            }
            (_, None) => Key::Unique,
        };
        self.hoisted_as(key, arg)
    }

    fn hoisted_as(&mut self, key: Key, arg: Expr) -> Term {
        let order = param_of(&arg.ty).shape().order();
        Term::Access {
            param: self.argument(key, arg),
            indices: (0..order).map(Index::Axis).collect(),
        }
    }

    /// The term of an expression. Its own axes, if it has any, are `Axis(0)`, `Axis(1)`, …
    pub(super) fn term(&mut self, e: &Expr, slots: &Slots) -> Result<Term, Stop> {
        if !e.has_notation() {
            return Ok(match literal(e) {
                Some(number) => Term::Const(number),
                None => self.hoisted(e.clone(), Some(&Slots::new())),
            });
        }
        if let Some(element) = self.self_read(e, slots)? {
            return Ok(self.hoisted(element, None));
        }
        match &e.kind {
            ExprKind::Notation(notation) => self.notation(notation, e, slots),
            ExprKind::Coerce(inner) if inner.ty == Type::Int => {
                match inner.is_of_indices() && !self.is_running(inner, slots) {
                    true => Ok(number(self.int(inner, slots)?)),
                    false => self.instance(e, slots),
                }
            }
            ExprKind::Coerce(inner) => self.term(inner, slots),
            ExprKind::Op { op, args } => self.operator(op, args, e, slots),
            _ => self.instance(e, slots),
        }
    }

    fn operator(
        &mut self,
        op: &Instance,
        args: &[Expr],
        e: &Expr,
        slots: &Slots,
    ) -> Result<Term, Stop> {
        match (op.row.meaning, args) {
            (Meaning::Builtin(Builtin::Select), [then, condition, otherwise]) => {
                self.choice(condition, then, otherwise, slots)
            }
            (Meaning::Builtin(_), _) => self.instance(e, slots),
            (Meaning::Form(Form::Power), [base, exponent])
                if op.fixed == Fixed::Nothing && exponent.is_of_indices() =>
            {
                let exponent = self.int(exponent, slots)?;
                let base = self.term(base, slots)?;
                match i32::try_from(exponent) {
                    Ok(exponent) => Ok(Term::Pow(Box::new(base), exponent)),
                    Err(_) => self.instance(e, slots),
                }
            }
            _ => {
                let params: Vec<Param> = args.iter().map(|arg| param_of(&arg.ty)).collect();
                let Some(ein) = op.ein_over(&params) else {
                    return self.instance(e, slots);
                };
                let terms = self.terms(args, slots)?;
                match ein.body.substitute(&terms, &mut self.binders) {
                    Some(term) => Ok(term),
                    None => self.instance(e, slots),
                }
            }
        }
    }

    pub(super) fn terms(&mut self, exprs: &[Expr], slots: &Slots) -> Result<Vec<Term>, Stop> {
        exprs.iter().map(|e| self.term(e, slots)).collect()
    }

    /// What EIN cannot express, at values of its indices, as an argument.
    fn instance(&mut self, e: &Expr, slots: &Slots) -> Result<Term, Stop> {
        let free = e.free_indices();
        self.need_values(free, slots)?;
        let made = self.at_values(e, slots)?;
        Ok(self.hoisted(made, Some(slots)))
    }

    fn notation(&mut self, notation: &Notation, e: &Expr, slots: &Slots) -> Result<Term, Stop> {
        match notation {
            Notation::Index(_) if !self.is_running(e, slots) => Ok(number(self.int(e, slots)?)),
            Notation::Index(_)
            | Notation::Itself(_)
            | Notation::Definition { .. }
            | Notation::Clauses { .. } => self.instance(e, slots),
            _ if e.ty == Type::Int => self.instance(e, slots),
            Notation::Component { .. } if matches!(e.ty, Type::Bool | Type::String) => {
                self.instance(e, slots)
            }
            Notation::Component { base, indices } if self.is_item(base, indices, slots) => {
                self.instance(e, slots)
            }
            Notation::Component { base, indices } => {
                let whole = self.term(base, slots)?;
                let all = extents(&base.ty).unwrap_or_default();
                let mut places = Vec::new();
                let mut own = 0;
                for (axis, &extent) in all.iter().enumerate() {
                    let place = match indices.get(axis).and_then(Option::as_ref) {
                        Some(index) => self.place(index, extent, (base, axis), slots)?,
                        None => {
                            own += usize::from(extent > 1);
                            Index::Axis(own.max(1) - 1)
                        }
                    };
                    if extent > 1 {
                        places.push(place);
                    }
                }
                let place = |index: Index| match index {
                    Index::Axis(axis) => places[axis],
                    other => other,
                };
                Ok(whole.rename(&place, &|param| param))
            }
            Notation::Partial { indices, field } => {
                let Type::Field { dim, .. } = field.ty else {
                    return Err(Stop::Failed);
                };
                let mut term = self.term(field, slots)?;
                for index in indices.iter().rev() {
                    // The axes of the field are those of the result, so an index of the derivative is never one of them.
                    let index = self.place(index, dim, (field, 0), slots)?;
                    term = Term::Deriv {
                        index,
                        body: Box::new(term),
                    };
                }
                Ok(term)
            }
            Notation::Delta(two) => self.delta(two, e.span, slots),
            Notation::Epsilon(indices) => {
                let count = indices.len();
                let places: Result<Vec<Index>, Stop> = indices
                    .iter()
                    .map(|index| self.place(index, count, (e, 0), slots))
                    .collect();
                Ok(Term::Epsilon(places?))
            }
            Notation::Reduced { .. } if notation.is_truth() => {
                let truth = self.truth(e, slots)?;
                Ok(truth.number())
            }
            // A reduction that is the same in all copies of a term is computed once.
            Notation::Reduced { .. } if self.copies > 1 && e.free_indices().is_empty() => {
                let key = Key::Written(e.span, e.ty.clone(), Vec::new(), constants(e));
                let known = self.args.iter().find(|(other, _)| *other == key);
                let whole = match known {
                    Some((_, whole)) => whole.clone(),
                    None => expression(self.build, &[], e, &e.ty, &Slots::new(), e.span)?,
                };
                Ok(self.hoisted_as(key, whole))
            }
            Notation::Reduced {
                reduction,
                over,
                body,
            } => {
                let over = vars_of(over);
                match self.folded(*reduction, &over, body, e.span, slots)? {
                    Some(folded) => Ok(self.hoisted(folded, Some(slots))),
                    None => self.reduce(*reduction, &over, body, slots),
                }
            }
        }
    }
}

/// The constants in an expression, in their order.
fn constants(e: &Expr) -> Vec<Constant> {
    let mut found = Vec::new();
    if let ExprKind::Constant(value) = &e.kind {
        found.push(value.clone());
    }
    e.each_child(|part| found.extend(constants(part)));
    found
}

/// The type of a sequence of ints as one of reals; none if it is another type.
fn with_real_elements(ty: &Type) -> Option<Type> {
    match ty {
        Type::Int => Some(Type::REAL),
        Type::Seq(element, Some(n)) => {
            let element = with_real_elements(element)?;
            Some(Type::Seq(Box::new(element), Some(*n)))
        }
        _ => None,
    }
}

/// What an argument is to an operator; the axes of a sequence come before those of its elements.
pub(super) fn param_of(ty: &Type) -> Param {
    match ty {
        Type::Field { dim, shape, .. } => Param::Field {
            dim: *dim,
            shape: shape.clone(),
        },
        other => Param::Tensor(Shape::new(extents(other).unwrap_or_default())),
    }
}

/// The number that is written, if an expression is a literal that is a rational number.
fn literal(e: &Expr) -> Option<Rational> {
    match &e.kind {
        ExprKind::Constant(Constant::Tensor(shape, values)) if shape.is_scalar() => {
            rational::from_f64(*values.first()?)
        }
        _ => None,
    }
}

/// Products of products and sums of sums as one, as they are in the operators of the table: the parts stay in their order.
fn flattened(term: Term) -> Term {
    match term.map(&mut flattened) {
        Term::Mul(mut factors) => {
            if let Some(Term::Mul(first)) = factors.first_mut() {
                let first = std::mem::take(first);
                factors.splice(..1, first);
            }
            Term::Mul(factors)
        }
        Term::Add(mut terms) => {
            if let Some(Term::Add(first)) = terms.first_mut() {
                let first = std::mem::take(first);
                terms.splice(..1, first);
            }
            Term::Add(terms)
        }
        other => other,
    }
}

fn params_of(term: &Term, found: &mut BTreeSet<usize>) {
    if let Term::Access { param, .. } | Term::Eigen { param, .. } = term {
        found.insert(*param);
    }
    for child in term.children() {
        params_of(child, found);
    }
}
