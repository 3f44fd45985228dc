//! Clause blocks: sequences whose elements are given by clauses, each for a part of their places, and may read elements that
//! come before.
//!
//! The clauses must define every element, and each of them once. Elaboration finds an order in which elements can be computed.

use super::{
    super::{
        context::Cx,
        expr::{check_against, typed},
        indices::Use,
        scope::Entity,
        stmt,
        tree::{
            Expr, ExprKind, Notation, VarId, VarKind,
            notation::{Clause as Known, Range, sequence_axes, shown},
        },
    },
    binders::{bind, binder, unbind},
    coverage::{common, hole},
    ended, ranges,
};
use crate::front::{
    codes,
    facts::Referent,
    source::Span,
    syntax::ast::{self, Clause, ClauseBody, ExprKind as Written, StmtKind, Subscript},
};
use ein_ir::Type;

/// How many steps there may be.
const MOST_STEPS: usize = 1 << 16;

/// A sequence by clauses.
pub(in super::super) fn clauses<'a>(
    cx: &mut Cx<'a>,
    written: &'a [Clause],
    declared: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let declared = declared?.clone();
    let (name, defined) = cx
        .target
        .as_ref()
        .map(|target| (target.name, target.span))?;
    let (lengths, element) = sequence_axes(&declared);
    if lengths.is_empty() || !matches!(element, Type::Tensor(_)) {
        let message = format!("clauses define a sequence of a fixed length, not a `{declared}`");
        cx.error(codes::CLAUSE_TYPE, span, message)
            .hint("its elements are numbers or tensors: `real[9] x { … }`");
        return None;
    }
    if lengths.contains(&0) {
        let message = format!("`{name}` of type `{declared}` has no elements to be defined");
        cx.error(codes::CLAUSE_TYPE, span, message)
            .hint("an empty sequence is written `{}`");
        return None;
    }
    if lengths.iter().any(|&n| n > MOST_STEPS) {
        let message = format!("clauses define at most {MOST_STEPS} steps");
        cx.error(codes::TOO_LARGE, span, message);
        return None;
    }
    cx.scopes.push(span);
    let var = cx.fresh(name, Some(declared.clone()), VarKind::Local, defined);
    cx.vars[var.0].read = true;
    cx.scopes.declare(name, Entity::Var(var), defined);
    cx.indices.defined.push(var);
    let reported = cx.diagnostics.len();
    let known: Vec<Option<Known>> = written
        .iter()
        .map(|clause| understood(cx, clause, name, &lengths, element))
        .collect();
    let known: Option<Vec<Known>> = known.into_iter().collect();
    let failed = cx.diagnostics[reported..].iter().any(|d| d.is_error());
    let made = known.filter(|_| !failed).and_then(|clauses| {
        complete(cx, &clauses, &lengths, name, span)?;
        let made = Notation::Clauses {
            itself: var,
            clauses,
        };
        Some(made.at(declared, span))
    });
    cx.scopes.pop();
    cx.indices.defined.pop();
    made.map(|made| ended(cx, made))
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
    if let Some(target) = &cx.target {
        let referent = Referent::Defined(target.span);
        cx.facts.name(clause.name.span, referent);
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
    cx.scopes.push(clause.span);
    let mut bound = Vec::new();
    let slots: Vec<Option<(Range, Option<VarId>)>> = clause
        .slots
        .iter()
        .zip(lengths)
        .enumerate()
        .map(|(axis, (slot, &length))| slot_of(cx, slot, (axis, length), clause.span, &mut bound))
        .collect();
    let slots: Option<Vec<(Range, Option<VarId>)>> = slots.into_iter().collect();
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
    let (places, indices) = slots?.into_iter().unzip();
    Some(Known {
        places,
        indices,
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
) -> Option<(Range, Option<VarId>)> {
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
        return at.map(|low| (Range { low, count: 1 }, None));
    }
    let binder = binder(cx, slot, span)?;
    let range = binder.range.unwrap_or(Range {
        low: 0,
        count: length,
    });
    if range.low < 0 || range.end() > length as i64 {
        let message = format!(
            "the range of the index `{}` is longer than axis {axis}, which has extent {length}",
            binder.name
        );
        cx.error(codes::INDEX_RANGE, binder.span, message);
        return None;
    }
    let explicit = binder.range.is_some();
    let var = bind(cx, &binder);
    // An index that runs over a whole axis stands on it; one that runs over a part has a range.
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
    Some((range, Some(var)))
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

/// Whether clauses say what every element is, and none twice.
fn complete(
    cx: &mut Cx<'_>,
    known: &[Known],
    lengths: &[usize],
    name: &str,
    span: Span,
) -> Option<()> {
    for (number, clause) in known.iter().enumerate() {
        let both = |other: &Known| common(&other.places, &clause.places);
        let overlap = known[..number]
            .iter()
            .find_map(|other| Some((both(other)?, other.span)));
        if let Some((point, other)) = overlap {
            let message = format!("two clauses say what `{name}{}` is", shown(&point));
            cx.error(codes::CLAUSE_OVERLAP, clause.span, message)
                .label(other, "the other one");
            return None;
        }
    }
    let places: Vec<&[Range]> = known.iter().map(|clause| &clause.places[..]).collect();
    let Some(hole) = hole(&places, lengths) else {
        return Some(());
    };
    let message = format!("no clause says what `{name}{}` is", shown(&hole));
    cx.error(codes::CLAUSE_HOLE, span, message);
    None
}
