//! Index notation: tensors, fields and fixed sequences whose components are defined by index, `δ`, `ε`, `∂[i]`, and
//! reductions over indices.
//!
//! An index variable is an int whose range is known now, so the body of a definition is checked like any other expression, and index
//! notation stays in the tree as it is written. When the scope of an index ends, its range is known (`ranges`). Elaboration makes
//! operators of complete notation (`elaborate/notation`).

mod binders;
mod broadcast;
mod clauses;
mod coverage;
mod definition;
mod notation;
mod ranges;
mod reduction;

pub(super) use clauses::clauses;
pub(super) use definition::definition;
pub(super) use notation::{component, element, partial, symbol};
pub(super) use reduction::{reduced, reduction_of};

use super::{
    context::{Cx, Place},
    tree::{Expr, VarId},
};
use crate::front::elaborate::notation::Unplaced;

/// Index notation that ends here. If it is not part of other notation it is complete, which is noted: its errors are found also where it
/// has no place in a tree.
fn ended(cx: &mut Cx<'_>, e: Expr) -> Expr {
    if !cx.indices.are_open() {
        let noted = Unplaced {
            expr: e.clone(),
            loops: Vec::new(),
            defined: None,
            is_in_field: cx.place == Place::FieldFunction,
        };
        let is_reachable = cx.flow.is_reachable();
        cx.indices.complete.push((noted, is_reachable));
    }
    e
}

/// Notes that a variable has a value, which clauses may define.
pub(super) fn defines(cx: &mut Cx<'_>, var: VarId, value: &Expr) {
    if let Some((noted, _)) = cx.indices.complete.last_mut()
        && noted.expr.span == value.span
        && value.notation().is_some()
    {
        noted.defined = Some(var);
    }
}

/// The name of a subscripted expression, if it has one.
pub(super) fn name_of<'c>(cx: &'c Cx<'_>, e: &Expr) -> Option<&'c str> {
    e.subscripted().map(|var| cx.var(var).name.as_str())
}

/// The words of messages for a subscripted expression.
fn described(cx: &Cx<'_>, e: &Expr) -> String {
    match name_of(cx, e) {
        Some(name) => format!("`{name}`"),
        None => "this expression".to_owned(),
    }
}
