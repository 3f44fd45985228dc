//! Index notation: tensors, fields and fixed sequences whose components are defined by index, `δ`, `ε`, `∂[i]`, and
//! reductions over indices.
//!
//! An index variable is an int whose range is known now, so the body of a definition is checked like any other expression.
//! What only index notation has stands in that expression as a [`StandIn`]: a variable of the right type that no program
//! has. When the body is complete the ranges of all indices are known (`ranges`), and the whole becomes one operator in
//! index notation with its arguments (`lower`), an [`ExprKind::Indexed`]. Stand-ins are gone then.

mod binders;
mod broadcast;
mod clauses;
mod coverage;
mod definition;
mod fold;
mod folded;
mod lower;
mod notation;
mod points;
mod ranges;
mod reduction;
mod steps;
mod truth;

pub(super) use clauses::clauses;
pub(super) use definition::definition;
pub(super) use notation::{component, element, partial, symbol};
pub(super) use reduction::{reduced, reduction_of};

use super::{
    context::Cx,
    expr::typed,
    indices::{Labels, StandIn},
    tree::{Expr, ExprKind, VarKind},
};
use crate::front::source::Span;
use ein_ir::Type;
use std::sync::Arc;

/// An expression that stands for something of index notation. Where no index variable is in scope it is complete, and
/// becomes an operator at once.
fn stand_in(
    cx: &mut Cx<'_>,
    stand_in: StandIn,
    ty: Type,
    labels: Labels,
    span: Span,
) -> Option<Expr> {
    let e = stand_in_for(cx, stand_in, ty, span);
    if let ExprKind::Var(var) = e.kind {
        cx.vars[var.0].labels = labels;
    }
    match cx.indices.live.is_empty() && cx.indices.recurrence.is_none() {
        true => lower::complete(cx, &e),
        false => Some(e),
    }
}

/// A variable that stands for something of index notation.
fn stand_in_for(cx: &mut Cx<'_>, stand_in: StandIn, ty: Type, span: Span) -> Expr {
    let var = cx.fresh("component", Some(ty.clone()), VarKind::Local, span);
    cx.vars[var.0].read = true;
    cx.indices.stand_ins.insert(var, Arc::new(stand_in));
    typed(ty, ExprKind::Var(var), span)
}

/// The name of a subscripted expression, if it has one.
pub(super) fn name_of<'c>(cx: &'c Cx<'_>, e: &Expr) -> Option<&'c str> {
    match &e.kind {
        ExprKind::Var(var) => match cx.indices.stand_in(*var) {
            Some(StandIn::Component { base, .. } | StandIn::Partial { field: base, .. }) => {
                name_of(cx, base)
            }
            Some(_) => None,
            None => Some(&cx.var(*var).name),
        },
        ExprKind::Coerce(inner) => name_of(cx, inner),
        ExprKind::Op { args, .. } if ranges::is_probe(e) => name_of(cx, &args[0]),
        _ => None,
    }
}

/// The words of messages for a subscripted expression.
fn described(cx: &Cx<'_>, e: &Expr) -> String {
    match name_of(cx, e) {
        Some(name) => format!("`{name}`"),
        None => "this expression".to_owned(),
    }
}
