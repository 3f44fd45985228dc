//! Clause blocks: sequences whose elements are given by clauses, each for a part of their places, and may read elements that
//! come before.
//!
//! The clauses must say what every element is, and say it once. Elements are computed in the order of their places, with the
//! axes in the first order in which whatever is read was computed before. Each is a value of its own, so what nobody reads
//! later is not kept.

use super::{
    super::{
        context::Cx,
        expr::{check_against, typed},
        overload,
        scope::Entity,
        stmt,
        tree::{Expr, ExprKind, VarId, VarKind},
    },
    binders::{bind, binder, unbind},
    lower::{self, Slot, Slots, Stop},
    ranges::{self, Range, Use},
};
use crate::front::{
    codes,
    source::Span,
    syntax::ast::{self, Clause, ClauseBody, ExprKind as Written, StmtKind, Subscript},
};
use ein_ir::{Type, ops::spelling};
use std::collections::BTreeMap;

/// How many elements clauses may define.
const MOST_POINTS: usize = 4096;

/// The place of an element.
type Point = Vec<i64>;

/// The sequence that is being defined by clauses.
#[derive(Clone, Debug)]
pub(super) struct Recurrence {
    pub(super) var: VarId,
    lengths: Vec<usize>,
    /// The elements that are computed, each a variable.
    computed: BTreeMap<Point, VarId>,
    /// The place that is being computed.
    here: Point,
    /// What was read too early, and where that is written.
    early: Option<(Point, Span)>,
}

/// One clause as it was understood.
struct Known {
    /// A fixed place, or an index, for each axis.
    slots: Vec<Place>,
    body: Expr,
    span: Span,
}

#[derive(Clone, Copy)]
enum Place {
    Fixed(i64),
    Index(VarId, Range),
}

impl Place {
    fn values(self) -> Vec<i64> {
        match self {
            Place::Fixed(value) => vec![value],
            Place::Index(_, range) => range.values().collect(),
        }
    }
}

/// A sequence by clauses.
pub(in super::super) fn clauses<'a>(
    cx: &mut Cx<'a>,
    written: &'a [Clause],
    declared: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let declared = declared?.clone();
    let name = cx.target.as_ref().map(|target| target.name)?;
    let (mut lengths, mut element) = (Vec::new(), &declared);
    while let Type::Seq(inner, Some(n)) = element {
        lengths.push(*n);
        element = inner;
    }
    let points = lengths
        .iter()
        .try_fold(1usize, |all, n| all.checked_mul(*n));
    if lengths.is_empty() || !matches!(element, Type::Tensor(_)) {
        let message = format!("clauses define a sequence of a fixed length, not a `{declared}`");
        cx.error(codes::CLAUSE_TYPE, span, message)
            .hint("its elements are numbers or tensors: `real[9] x { … }`");
        return None;
    }
    if points.is_none_or(|points| points > MOST_POINTS) {
        let message = format!("clauses define at most {MOST_POINTS} elements");
        cx.error(codes::TOO_LARGE, span, message);
        return None;
    }
    let outer = cx.indices.recurrence.take();
    cx.scopes.push();
    let var = cx.fresh(name, Some(declared.clone()), VarKind::Local, span);
    cx.vars[var.0].read = true;
    cx.scopes.declare(name, Entity::Var(var), span);
    cx.indices.recurrence = Some(Recurrence {
        var,
        lengths: lengths.clone(),
        computed: BTreeMap::new(),
        here: Vec::new(),
        early: None,
    });
    let reported = cx.diagnostics.len();
    let known: Vec<Option<Known>> = written
        .iter()
        .map(|clause| understood(cx, clause, name, &lengths, element))
        .collect();
    let known: Option<Vec<Known>> = known.into_iter().collect();
    let failed = cx.diagnostics[reported..].iter().any(|d| d.is_error());
    let made = known.filter(|_| !failed).and_then(|known| {
        let of = assigned(cx, &known, &lengths, name, span)?;
        computed(cx, &known, &of, &declared, name, span)
    });
    cx.scopes.pop();
    cx.indices.recurrence = outer;
    made
}

/// A clause: what its slots are, and its body with their indices in scope.
fn understood<'a>(
    cx: &mut Cx<'a>,
    clause: &'a Clause,
    name: &str,
    lengths: &[usize],
    element: &Type,
) -> Option<Known> {
    if clause.name.text != name {
        let message = format!("this clause is of `{}`, not of `{name}`", clause.name.text);
        cx.error(codes::CLAUSE_TYPE, clause.name.span, message);
        return None;
    }
    if clause.slots.len() != lengths.len() {
        let message = format!(
            "`{name}` has {} axes, and a clause as many indices, found {}",
            lengths.len(),
            clause.slots.len()
        );
        cx.error(codes::INDEX_LEFT_SIDE, clause.span, message);
        return None;
    }
    cx.scopes.push();
    let mut bound = Vec::new();
    let slots: Vec<Option<Place>> = clause
        .slots
        .iter()
        .zip(lengths)
        .enumerate()
        .map(|(axis, (slot, &length))| slot_of(cx, slot, (axis, length), clause.span, &mut bound))
        .collect();
    let slots: Option<Vec<Place>> = slots.into_iter().collect();
    let body = slots.as_ref().and_then(|_| match &clause.body {
        ClauseBody::Expr(body) => check_against(cx, body, Some(element), "an element"),
        ClauseBody::Block(block) => block_value(cx, block, element),
    });
    cx.scopes.pop();
    let mut fits = true;
    if body.is_some() {
        for &var in &bound {
            fits &= ranges::conclude(cx, var).is_some();
        }
    }
    unbind(cx, &bound);
    Some(Known {
        slots: slots?,
        body: body.filter(|_| fits)?,
        span: clause.span,
    })
}

fn slot_of<'a>(
    cx: &mut Cx<'a>,
    slot: &'a Subscript,
    (axis, length): (usize, usize),
    span: Span,
    bound: &mut Vec<VarId>,
) -> Option<Place> {
    if let Subscript::At(ast::Expr {
        kind: Written::Int(digits),
        span,
    }) = slot
    {
        let at = digits.parse().ok().filter(|at| *at < length as i64);
        if at.is_none() {
            let message =
                format!("place {digits} is out of range: axis {axis} has extent {length}");
            cx.error(codes::INDEX_RANGE, *span, message);
        }
        return at.map(Place::Fixed);
    }
    let binder = binder(cx, slot, span)?;
    let range = binder.range.unwrap_or(Range {
        low: 0,
        count: length,
    });
    if range.low as usize + range.count > length {
        let message = format!(
            "the range of the index `{}` is longer than axis {axis}, which has extent {length}",
            binder.name
        );
        cx.error(codes::INDEX_RANGE, binder.span, message);
        return None;
    }
    let explicit = binder.range.is_some();
    let var = bind(cx, &binder);
    // An index that runs over a whole axis stands on it; one that runs over a part says so.
    if !explicit {
        let used = Use {
            extent: length,
            label: None,
            origin: format!("axis {axis} of the left side"),
            span: binder.span,
        };
        ranges::note_declared(cx, var, used);
    }
    bound.push(var);
    Some(Place::Index(var, range))
}

/// The value of `{ T x = e; … return e; }`.
fn block_value<'a>(cx: &mut Cx<'a>, block: &'a ast::Block, element: &Type) -> Option<Expr> {
    let mut bindings = Vec::new();
    for written in &block.stmts {
        match &written.kind {
            StmtKind::Decl {
                ty,
                name,
                value: Some(value),
            } => {
                let (var, value) = stmt::declared(cx, ty, name, Some(value), VarKind::Local)?;
                bindings.push((var, value?));
            }
            StmtKind::Return(value) => {
                let value = check_against(cx, value, Some(element), "an element")?;
                let (ty, span) = (value.ty.clone(), value.span);
                let body = Box::new(value);
                return Some(typed(ty, ExprKind::Let { bindings, body }, span));
            }
            StmtKind::Error => return None,
            _ => {
                let message = "a clause has definitions with values, and a `return` at its end";
                cx.error(codes::CLAUSE_TYPE, written.span, message);
                return None;
            }
        }
    }
    cx.error(
        codes::MISSING_RETURN,
        block.span,
        "this clause has no `return`",
    );
    None
}

/// Which clause says what the element at each place is: exactly one must.
fn assigned(
    cx: &mut Cx<'_>,
    known: &[Known],
    lengths: &[usize],
    name: &str,
    span: Span,
) -> Option<BTreeMap<Point, usize>> {
    let mut of: BTreeMap<Point, usize> = BTreeMap::new();
    for (number, clause) in known.iter().enumerate() {
        let axes: Vec<Vec<i64>> = clause.slots.iter().map(|slot| slot.values()).collect();
        for point in product(&axes) {
            if let Some(&other) = of.get(&point) {
                let message = format!("two clauses say what `{name}{}` is", shown(&point));
                cx.error(codes::CLAUSE_OVERLAP, clause.span, message)
                    .label(known[other].span, "the other one");
                return None;
            }
            of.insert(point, number);
        }
    }
    let axes: Vec<Vec<i64>> = lengths.iter().map(|&n| (0..n as i64).collect()).collect();
    match product(&axes)
        .into_iter()
        .find(|point| !of.contains_key(point))
    {
        None => Some(of),
        Some(hole) => {
            let message = format!("no clause says what `{name}{}` is", shown(&hole));
            cx.error(codes::CLAUSE_HOLE, span, message);
            None
        }
    }
}

/// All combinations, the last axis fastest.
fn product(axes: &[Vec<i64>]) -> Vec<Point> {
    axes.iter().fold(vec![Vec::new()], |points, values| {
        let longer = |point: &Point| -> Vec<Point> {
            let more = |value: &i64| [point.as_slice(), &[*value]].concat();
            values.iter().map(more).collect()
        };
        points.iter().flat_map(longer).collect()
    })
}

fn shown(point: &[i64]) -> String {
    let places: Vec<String> = point.iter().map(i64::to_string).collect();
    format!("[{}]", places.join(","))
}

/// All elements, in the first order of the axes in which each reads only what is there.
fn computed(
    cx: &mut Cx<'_>,
    known: &[Known],
    of: &BTreeMap<Point, usize>,
    declared: &Type,
    name: &str,
    span: Span,
) -> Option<Expr> {
    let mut first = None;
    for order in permutations(of.keys().next()?.len()) {
        let mut places: Vec<&Point> = of.keys().collect();
        places.sort_by_key(|point| order.iter().map(|&axis| point[axis]).collect::<Vec<_>>());
        if let Some(recurrence) = &mut cx.indices.recurrence {
            recurrence.computed.clear();
            recurrence.early = None;
        }
        let mut bindings = Vec::new();
        let mut stopped = false;
        for point in places {
            let clause = &known[of[point]];
            let slots: Slots = clause
                .slots
                .iter()
                .zip(point)
                .filter_map(|(slot, value)| match slot {
                    Place::Index(var, _) => Some((*var, Slot::Value(*value))),
                    Place::Fixed(_) => None,
                })
                .collect();
            if let Some(recurrence) = &mut cx.indices.recurrence {
                recurrence.here = point.clone();
            }
            let ty = clause.body.ty.clone();
            match lower::expression(cx, &[], &clause.body, &ty, &slots, clause.body.span) {
                Ok(value) => {
                    let label = format!("{name}{}", shown(point));
                    let var = cx.fresh(&label, Some(ty), VarKind::Local, clause.span);
                    cx.vars[var.0].read = true;
                    if let Some(recurrence) = &mut cx.indices.recurrence {
                        recurrence.computed.insert(point.clone(), var);
                    }
                    bindings.push((var, value));
                }
                Err(Stop::Values | Stop::Failed) => {
                    stopped = true;
                    break;
                }
            }
        }
        let recurrence = cx.indices.recurrence.as_mut()?;
        if !stopped {
            let computed = recurrence.computed.clone();
            let body = gathered(cx, &computed, declared, &mut Vec::new(), span)?;
            let body = Box::new(body);
            return Some(typed(
                declared.clone(),
                ExprKind::Let { bindings, body },
                span,
            ));
        }
        let early = recurrence.early.take()?;
        first.get_or_insert((early, recurrence.here.clone()));
    }
    let ((read, at), here) = first?;
    let message = format!(
        "`{name}{}` reads `{name}{}`, which is not computed yet",
        shown(&here),
        shown(&read)
    );
    cx.error(codes::CLAUSE_ORDER, at, message)
        .hint("elements are computed in the order of their places; each can read those before it");
    None
}

/// The elements as the sequence that they are.
fn gathered(
    cx: &mut Cx<'_>,
    computed: &BTreeMap<Point, VarId>,
    ty: &Type,
    prefix: &mut Point,
    span: Span,
) -> Option<Expr> {
    let Type::Seq(element, Some(n)) = ty else {
        let var = *computed.get(prefix)?;
        return Some(typed(ty.clone(), ExprKind::Var(var), span));
    };
    let mut elements = Vec::new();
    for at in 0..*n as i64 {
        prefix.push(at);
        elements.push(gathered(cx, computed, element, prefix, span)?);
        prefix.pop();
    }
    overload::apply(cx, spelling::SEQUENCE, span, elements, Some(ty), span)
}

/// All orders of the axes, that of their numbers first.
fn permutations(axes: usize) -> Vec<Vec<usize>> {
    (0..axes).fold(vec![Vec::new()], |orders, _| {
        let longer = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let rest = (0..axes).filter(|axis| !order.contains(axis));
            rest.map(|axis| [order.as_slice(), &[axis]].concat())
                .collect()
        };
        orders.iter().flat_map(longer).collect()
    })
}

impl Recurrence {
    /// The element at a place: the variable that has it. What is outside, or not computed yet, is said.
    pub(super) fn read(&mut self, point: &[i64], at: Span) -> Result<VarId, Option<String>> {
        let inside = point
            .iter()
            .zip(&self.lengths)
            .all(|(&place, &length)| (0..length as i64).contains(&place));
        if !inside {
            return Err(Some(format!(
                "the element at {} reads the one at {}, which does not exist",
                shown(&self.here),
                shown(point)
            )));
        }
        match self.computed.get(point) {
            Some(var) => Ok(*var),
            None => {
                self.early.get_or_insert((point.to_vec(), at));
                Err(None)
            }
        }
    }

    /// How many axes it has.
    pub(super) fn order(&self) -> usize {
        self.lengths.len()
    }
}
