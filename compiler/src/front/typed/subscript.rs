//! Subscripts: components and slices of tensors and fields, elements of sequences.

use super::{
    axis_range, constant,
    context::Cx,
    expr::infer,
    indexed, overload,
    tree::{
        Expr, ExprKind,
        part::{Axis, type_of_part},
        typed,
    },
    unroll,
};
use crate::front::{
    codes,
    diag::Diagnostic,
    facts::Referent,
    source::Span,
    syntax::ast::{self, Subscript},
};
use ein_ir::{
    Shape, Type,
    ops::{Instance, spelling},
};

/// What messages call a subscript.
pub(super) const INDEX: &str = "an index of a tensor or field";

/// `a[i, …]`
pub(super) fn subscript<'a>(
    cx: &mut Cx<'a>,
    base: &'a ast::Expr,
    subscripts: &'a [Subscript],
    span: Span,
) -> Option<Expr> {
    if let ast::ExprKind::Name(name) = &base.kind
        && let Some(symbol) = indexed::symbol(cx, name, subscripts, span)
    {
        cx.facts.name(base.span, Referent::Word);
        return symbol;
    }
    let Some(base) = infer(cx, base, None) else {
        // The indices may be wrong in ways of their own.
        for subscript in subscripts {
            if let Subscript::At(index) = subscript {
                infer(cx, index, Some(&Type::Int));
            }
        }
        return None;
    };
    match base.ty.clone() {
        Type::Tensor(shape) | Type::Field { shape, .. } => {
            slice(cx, base, &shape, subscripts, span)
        }
        Type::Seq(..) => elements(cx, base, subscripts, span),
        other => {
            cx.error(
                codes::NOT_INDEXABLE,
                span,
                format!("a value of type `{other}` cannot be indexed"),
            )
            .hint("tensors, fields and sequences can be indexed");
            None
        }
    }
}

/// `s{i}`
pub(super) fn brace_index<'a>(
    cx: &mut Cx<'a>,
    base: &'a ast::Expr,
    index: &'a ast::Expr,
    span: Span,
) -> Option<Expr> {
    let base = infer(cx, base, None);
    let Some(base) = base else {
        infer(cx, index, Some(&Type::Int));
        return None;
    };
    if !matches!(base.ty, Type::Seq(..)) {
        cx.error(
            codes::NOT_INDEXABLE,
            span,
            format!(
                "only a sequence is indexed with `{{…}}`, not a value of type `{}`",
                base.ty
            ),
        )
        .hint("the components of a tensor are written `t[…]`");
        return None;
    }
    element(cx, base, index, span)
}

/// `s[i]`, or `s[i, j]` for an element of an element.
pub(super) fn elements<'a>(
    cx: &mut Cx<'a>,
    base: Expr,
    subscripts: &'a [Subscript],
    span: Span,
) -> Option<Expr> {
    let mut found = base;
    for subscript in subscripts {
        let (Subscript::At(index), Type::Seq(..)) = (subscript, &found.ty) else {
            let message = "a sequence is indexed with exactly one int";
            cx.error(codes::SEQUENCE_INDEX, span, message)
                .hint("a sequence of sequences has one index for each; components of elements have brackets of their own: `s[n][i]`");
            return None;
        };
        found = element(cx, found, index, span)?;
    }
    Some(found)
}

/// An element of a sequence.
fn element<'a>(cx: &mut Cx<'a>, base: Expr, index: &'a ast::Expr, span: Span) -> Option<Expr> {
    let index = infer(cx, index, None)?;
    // A place that is known only at run time is looked up at run time, for all values of the indices in it.
    let is_known = unroll::is_of_indices(cx, &index);
    if index.ty == Type::Int
        && (is_known || cx.indices.occur_in(&base) && !cx.indices.occur_in(&index))
    {
        return indexed::element(cx, base, index, span);
    }
    overload::apply(cx, spelling::ELEMENT, span, vec![base, index], None, span)
}

/// Components of a tensor or field.
fn slice<'a>(
    cx: &mut Cx<'a>,
    base: Expr,
    shape: &Shape,
    subscripts: &'a [Subscript],
    span: Span,
) -> Option<Expr> {
    if subscripts.len() != shape.order() {
        wrong_count(cx, &base, shape.order(), subscripts.len(), span);
        return None;
    }
    if axis_range::is_among(subscripts) {
        return axis_range::parts(cx, base, shape, subscripts, span);
    }
    let indices = indices(cx, subscripts)?;
    if (indices.iter().flatten()).any(|index| cx.indices.occur_in(index)) {
        return indexed::component(cx, base, indices, span);
    }
    part(cx, base, along(indices), span)
}

/// The subscripts of axes that stay or have an index.
pub(super) fn along(indices: Vec<Option<Expr>>) -> Vec<Axis> {
    let axis = |index: Option<Expr>| index.map_or(Axis::All, |index| Axis::At(Box::new(index)));
    indices.into_iter().map(axis).collect()
}

/// What stands in brackets after a tensor or field: nothing for an axis that stays.
pub(super) fn indices<'a>(
    cx: &mut Cx<'a>,
    subscripts: &'a [Subscript],
) -> Option<Vec<Option<Expr>>> {
    let indices: Vec<Option<Option<Expr>>> = subscripts
        .iter()
        .map(|subscript| match subscript {
            Subscript::All => Some(None),
            Subscript::At(index) => {
                let found = constant::int(cx, index, INDEX);
                advise_binding(cx, index);
                found.map(Some)
            }
            Subscript::In(index, _) => {
                let message = "an index has a range only where it is bound";
                cx.error(codes::INDEX_EXPRESSION, index.span, message);
                None
            }
        })
        .collect();
    indices.into_iter().collect()
}

/// Says how an index is bound, where one was reported that nothing binds.
fn advise_binding(cx: &mut Cx<'_>, index: &ast::Expr) {
    let is_unbound = |d: &Diagnostic| {
        d.code == codes::UNDECLARED_VARIABLE && d.span == index.span && d.hints.is_empty()
    };
    if let Some(last) = cx.diagnostics.last_mut().filter(|last| is_unbound(last)) {
        let advice = "an index is bound on the left side of a definition, `vec3 r[i] = …`, or by a reduction, `sum[i](…)`";
        last.hints.push(advice.to_owned());
    }
}

/// A part of a tensor or field, by indices that are constants here or where variables of loops are.
pub(super) fn part(cx: &mut Cx<'_>, base: Expr, axes: Vec<Axis>, span: Span) -> Option<Expr> {
    let (Type::Tensor(shape) | Type::Field { shape, .. }) = base.ty.clone() else {
        return None;
    };
    let mut is_known = true;
    let mut place = |axis: &Axis, extent: usize| {
        let at = match axis {
            Axis::All => return Some(None),
            Axis::At(index) => component(cx, index, extent, &base.ty)?,
            Axis::From(..) => None,
        };
        is_known &= at.is_some();
        Some(at)
    };
    let along = || axes.iter().zip(shape.dims().iter().copied());
    let mask: Vec<Option<Option<usize>>> =
        along().map(|(axis, extent)| place(axis, extent)).collect();
    let mask: Option<Vec<Option<usize>>> = mask.into_iter().collect();
    let mask = mask?;
    if !is_known {
        let extents = along().filter_map(|(axis, whole)| axis.extent(whole));
        let ty = type_of_part(&base.ty, Shape::new(extents));
        let base = Box::new(base);
        return Some(typed(ty, ExprKind::Part { base, axes }, span));
    }
    if mask.iter().all(Option::is_none) {
        return Some(base);
    }
    match Instance::slice(&base.ty, mask) {
        Ok(op) => Some(Expr::applied(op, vec![base], span)),
        Err(mismatch) => {
            cx.error(codes::NO_OVERLOAD, span, mismatch.to_string());
            None
        }
    }
}

/// Reports that there are more or fewer indices than axes.
fn wrong_count(cx: &mut Cx<'_>, base: &Expr, wanted: usize, found: usize, span: Span) {
    let ty = &base.ty;
    let what = match indexed::name_of(cx, base) {
        Some(name) => format!("`{name}` of type `{ty}`"),
        None => format!("`{ty}`"),
    };
    let message = match wanted {
        0 => format!("a value of type `{ty}` has no components to select"),
        1 => format!("{what} has order 1, so 1 index is wanted, found {found}"),
        _ => format!("{what} has order {wanted}, so {wanted} indices are wanted, found {found}"),
    };
    let rows = (found == 1 && wanted == 2)
        .then(|| "row i of a matrix is `m[i,:]`, column j is `m[:,j]`".to_owned());
    cx.error(codes::INDEX_COUNT, span, message).hints(rows);
}

/// The component that an index selects; inside, none if it is known only where variables of loops are.
fn component(cx: &mut Cx<'_>, index: &Expr, extent: usize, base: &Type) -> Option<Option<usize>> {
    if constant::evaluate(cx, index).is_err() && unroll::is_component(cx, index, extent, base) {
        return Some(None);
    }
    let at = constant::known_int(cx, index, INDEX)?;
    component_at(cx, at, extent, base, index.span).map(Some)
}

/// The component at a place of an axis, which must have it.
pub(super) fn component_at(
    cx: &mut Cx<'_>,
    at: i64,
    extent: usize,
    base: &Type,
    span: Span,
) -> Option<usize> {
    match usize::try_from(at) {
        Ok(at) if at < extent => Some(at),
        _ => {
            let message = format!(
                "index {at} is out of range: this axis of `{base}` has {extent} components"
            );
            cx.error(codes::INDEX_RANGE, span, message)
                .hint(format!("components are counted from 0 to {}", extent - 1));
            None
        }
    }
}
