//! `T x[i, j] = e;`: the left side, and whether the right side fits it.

use super::{
    super::{
        context::Cx,
        expr::infer,
        indices::{Labels, Use},
        messages::mismatch,
        tree::{Expr, Notation, notation::extents, part::type_of_part},
        unroll::is_of_indices,
    },
    binders::{bind, binder, unbind},
    broadcast, ended, ranges,
};
use crate::front::{
    codes,
    diag::Fix,
    source::Span,
    syntax::ast::{self, Subscript},
};
use ein_ir::{Shape, Type};

/// A value of type `declared` by its components. `brackets` is where the indices stand.
pub(in super::super) fn definition<'a>(
    cx: &mut Cx<'a>,
    subscripts: &'a [Subscript],
    body: &'a ast::Expr,
    declared: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let declared = declared?.clone();
    let (name, labels) = match &cx.target {
        Some(target) => (target.name.to_owned(), target.labels.clone()),
        None => (String::new(), Labels::default()),
    };
    let is_unread = |subscript: &Subscript| matches!(subscript, Subscript::At(index) if matches!(index.kind, ast::ExprKind::Error));
    if subscripts.iter().any(is_unread) {
        // The error in the brackets was reported.
        return None;
    }
    let element = element_after(cx, &declared, subscripts.len(), &name, span)?;
    let extents = extents(&declared)?;
    if extents.contains(&0) {
        let message = format!("`{name}` of type `{declared}` has no elements to be defined");
        cx.error(codes::INDEX_LEFT_SIDE, span, message)
            .hint("an empty sequence is written `{}`");
        return None;
    }
    let before = cx.diagnostics.len();
    cx.scopes.push(body.span);
    let mut left = Vec::new();
    for ((axis, written), &extent) in subscripts.iter().enumerate().zip(&extents) {
        let Some(binder) = binder(cx, written, span) else {
            continue;
        };
        let range = binder.range;
        let var = bind(cx, &binder);
        if range.is_some_and(|range| range.low != 0 || range.count != extent) {
            let message = format!(
                "the index `{}` must run over all of axis {axis} of `{name}`, which has extent {extent}",
                binder.name
            );
            cx.error(codes::INDEX_EXTENTS, binder.span, message);
        }
        let declared = Use {
            extent,
            label: labels.axes.get(axis).cloned().flatten(),
            origin: format!("axis {axis} of `{name}`"),
            span: binder.span,
        };
        ranges::note_declared(cx, var, declared);
        left.push(var);
    }
    // What an index that is wrong would mean on the right side is not known.
    let mut fits = left.len() == subscripts.len();
    let found = fits.then(|| infer(cx, body, None)).flatten();
    cx.scopes.pop();
    if found.is_some() {
        for &var in &left {
            fits &= ranges::conclude(cx, var).is_some();
        }
    }
    let found = found.filter(|_| fits);
    let made = found.and_then(|found| {
        let found = fitted(cx, found, &element, &declared)?;
        broadcast::check(cx, &left, &found);
        let failed = cx.diagnostics[before..].iter().any(|d| d.is_error());
        let left = cx.indices.binders(&left).filter(|_| !failed)?;
        let made = Notation::Definition { left, body: found };
        Some(made.at(declared, span))
    });
    if made.is_some() {
        for &var in &left {
            ranges::unused(cx, var, false);
        }
    }
    unbind(cx, &left);
    made.map(|made| ended(cx, made))
}

/// The type that remains when as many axes as there are indices are taken from a type: all of them, or those of its
/// sequences. Anything else is reported.
fn element_after(
    cx: &mut Cx<'_>,
    declared: &Type,
    count: usize,
    name: &str,
    span: Span,
) -> Option<Type> {
    let mut element = declared;
    let mut sequences = 0;
    while let Type::Seq(inner, Some(_)) = element {
        element = inner;
        sequences += 1;
    }
    let order = match element {
        Type::Tensor(shape) | Type::Field { shape, .. } => shape.order(),
        Type::Int | Type::Bool if sequences > 0 => 0,
        _ => {
            let message = format!("a value of type `{declared}` cannot be defined by index");
            cx.error(codes::INDEX_LEFT_SIDE, span, message)
                .hint("tensors, fields and sequences of a fixed length can");
            return None;
        }
    };
    if sequences > 0 && count == sequences {
        return Some(element.clone());
    }
    if count == sequences + order {
        return Some(match element {
            Type::Field { .. } | Type::Tensor(_) => type_of_part(element, Shape::SCALAR),
            other => other.clone(),
        });
    }
    let wanted = sequences + order;
    let message = format!(
        "`{name}` of type `{declared}` has order {wanted}, so {wanted} {} wanted on the left, found {count}",
        if wanted == 1 {
            "index is"
        } else {
            "indices are"
        }
    );
    cx.error(codes::INDEX_LEFT_SIDE, span, message);
    None
}

/// The right side, if it is a component of what the left side is.
fn fitted(cx: &mut Cx<'_>, found: Expr, element: &Type, declared: &Type) -> Option<Expr> {
    if found.ty == Type::Int && *element != Type::Int {
        if is_of_indices(cx, &found) {
            cx.error(
                codes::INDEX_AS_NUMBER,
                found.span,
                "an index is an int, not a number",
            )
            .hint("write `real(…)` around it")
            .fix(Fix::wrap(found.span, "real(", ")"));
            return None;
        }
        return Some(super::super::coerce::implicitly(cx, found, &Type::REAL));
    }
    match (&found.ty, element) {
        (Type::Field { .. }, Type::Tensor(_)) => {
            cx.error(
                codes::FIELD_COMPONENTS,
                found.span,
                format!("the right side is a field, but a `{declared}` is defined"),
            )
            .hint("probe the field at a position, or declare a field");
            None
        }
        (Type::Tensor(found_shape), Type::Field { shape, .. }) if found_shape == shape => {
            Some(found)
        }
        (Type::Tensor(shape) | Type::Field { shape, .. }, Type::Tensor(_) | Type::Field { .. })
            if !shape.is_scalar() && found.ty != *element =>
        {
            let message = format!(
                "the right side must be one component, but has type `{}`",
                found.ty
            );
            cx.error(codes::INDEX_AS_NUMBER, found.span, message)
                .hint("give it an index for each of its axes");
            None
        }
        _ if found.ty.coerces_to(element) => Some(found),
        _ => {
            mismatch(cx, "the right side", element, &found);
            None
        }
    }
}
