//! Components by index, δ, ε and ∂: where they are written, their types, and which axes the indices stand on.

use super::{
    super::{
        constant,
        context::Cx,
        expr::{infer, typed},
        indices::Use,
        messages::plural,
        overload,
        tree::{Expr, ExprKind, Notation, VarKind, notation::extents, part::type_of_part},
    },
    described, ended,
    ranges::{self, note_use},
};
use crate::front::{
    codes,
    facts::Referent,
    source::Span,
    syntax::ast::{self, Subscript, TIME},
};
use ein_ir::{Shape, Type, ops::spelling};

/// A component or part of a tensor or field; there are as many entries as axes.
pub(in super::super) fn component(
    cx: &mut Cx<'_>,
    base: Expr,
    indices: Vec<Option<Expr>>,
    span: Span,
) -> Option<Expr> {
    let labels = ranges::labels(cx, &base);
    let what = described(cx, &base);
    let extents = extents(&base.ty)?;
    for (axis, (index, &extent)) in indices.iter().zip(&extents).enumerate() {
        if let Some(index) = index {
            let used = Use {
                extent,
                label: labels.axes.get(axis).cloned().flatten(),
                origin: format!("axis {axis} of {what}"),
                span: index.span,
            };
            note_use(cx, index, used);
        }
    }
    let kept = extents.iter().zip(&indices);
    let shape = Shape::new(kept.filter(|(_, index)| index.is_none()).map(|(&n, _)| n));
    let ty = type_of_part(&base.ty, shape);
    Some(ended(
        cx,
        Notation::Component { base, indices }.at(ty, span),
    ))
}

/// The way out for sequences that may be empty.
const EMPTY: &str = "an index takes at least one value; a reduction of all elements may have none: `sum {t | t in s}`";

/// An element of a sequence, whose place depends on indices.
pub(in super::super) fn element(
    cx: &mut Cx<'_>,
    base: Expr,
    index: Expr,
    span: Span,
) -> Option<Expr> {
    let Type::Seq(element, length) = base.ty.clone() else {
        return None;
    };
    let Some(extent) = length else {
        return counted_element(cx, base, &index, *element, span);
    };
    if extents(&base.ty).is_some_and(|all| all.contains(&0)) {
        let message = format!(
            "{} of type `{}` has no elements, so no index counts them",
            described(cx, &base),
            base.ty
        );
        cx.error(codes::INDEX_RANGE_UNKNOWN, index.span, message)
            .hint(EMPTY);
        return None;
    }
    let labels = ranges::labels(cx, &base);
    let used = Use {
        extent,
        label: labels.axes.first().cloned().flatten(),
        origin: format!("the length of {}", described(cx, &base)),
        span: index.span,
    };
    note_use(cx, &index, used);
    let indices = vec![Some(index)];
    let made = Notation::Component { base, indices };
    Some(ended(cx, made.at(*element, span)))
}

/// An element of a sequence of varying length: the index that counts the elements becomes the iteration over them.
fn counted_element(
    cx: &mut Cx<'_>,
    base: Expr,
    index: &Expr,
    element: Type,
    span: Span,
) -> Option<Expr> {
    let name = described(cx, &base);
    let counting = index
        .index()
        .filter(|&var| cx.indices.var(var).range.is_none());
    let Some(var) = counting else {
        cx.error(
            codes::INDEX_RANGE_UNKNOWN,
            index.span,
            format!("the length of {name} is known only at run time"),
        )
        .hint("an index can count all elements of one such sequence: `sum[n](s[n])`");
        return None;
    };
    let same = |other: &Expr| match (&other.kind, &base.kind) {
        (ExprKind::Var(a), ExprKind::Var(b)) => a == b,
        _ => other.span == base.span,
    };
    let item = match cx.indices.var(var).elements.clone() {
        Some((other, item)) if same(&other) => item,
        Some((other, _)) => {
            let other = described(cx, &other);
            cx.error(
                codes::INDEX_EXTENTS,
                span,
                format!(
                    "two sequences of varying length, {other} and {name}, have no common index"
                ),
            )
            .hint("their lengths may differ; a loop over `0..length(s)-1` reads both");
            return None;
        }
        None => {
            let item = cx.fresh("element", Some(element.clone()), VarKind::Local, span);
            cx.vars[item.0].read = true;
            cx.indices.known.get_mut(&var)?.elements = Some((base, item));
            item
        }
    };
    Some(typed(element, ExprKind::Var(item), span))
}

/// `∂[i, …] F`
pub(in super::super) fn partial<'a>(
    cx: &mut Cx<'a>,
    indices: &'a [ast::Expr],
    operand: &'a ast::Expr,
    span: Span,
) -> Option<Expr> {
    let field = infer(cx, operand, None);
    // `time` is a word here, unless a variable has the name.
    let is_time = |cx: &Cx<'a>, index: &ast::Expr| {
        matches!(&index.kind, ast::ExprKind::Name(name) if name == TIME)
            && cx.scopes.value(TIME).is_none()
    };
    let (times, axes): (Vec<_>, Vec<_>) = indices.iter().partition(|index| is_time(cx, index));
    let indices = ints(cx, axes.iter().copied());
    let (mut field, indices) = (field?, indices?);
    for time in &times {
        cx.facts.name(time.span, Referent::Word);
        field = overload::apply(
            cx,
            spelling::TIME_DERIVATIVE,
            time.span,
            vec![field],
            None,
            span,
        )?;
    }
    if indices.is_empty() && !times.is_empty() {
        return Some(field);
    }
    let Type::Field {
        continuity,
        dim,
        time,
        shape,
    } = field.ty.clone()
    else {
        let message = format!(
            "`∂[…]` differentiates a field, not a value of type `{}`",
            field.ty
        );
        cx.error(codes::NOT_A_FIELD, field.span, message)
            .hint("the derivative of one variable by another is written `∂y/∂x`");
        return None;
    };
    let orders = indices.len() as u32;
    let Some(continuity) = continuity.after(orders) else {
        let what = described(cx, &field);
        let has = continuity.to_string().replace('#', "C");
        let message = format!(
            "{what} is {has}, too rough for {orders} {}",
            plural(indices.len(), "derivative")
        );
        cx.error(codes::NO_DERIVATIVE, span, message);
        return None;
    };
    let labels = ranges::labels(cx, &field);
    let origin = format!("the domain of {}", described(cx, &field));
    for index in &indices {
        let used = Use {
            extent: dim,
            label: labels.domain.clone(),
            origin: origin.clone(),
            span: index.span,
        };
        note_use(cx, index, used);
    }
    let ty = Type::Field {
        continuity,
        dim,
        time,
        shape,
    };
    Some(ended(cx, Notation::Partial { indices, field }.at(ty, span)))
}

/// `δ[i, j]`, `ε[i, j, k]`; none if the name is not a symbol, or is a variable.
pub(in super::super) fn symbol<'a>(
    cx: &mut Cx<'a>,
    name: &str,
    subscripts: &'a [Subscript],
    span: Span,
) -> Option<Option<Expr>> {
    let (symbol, orders) = match name {
        "δ" | "delta" => ("δ", 2..=2),
        "ε" | "epsilon" => ("ε", 2..=3),
        _ => return None,
    };
    if cx.scopes.value(name).is_some() {
        return None;
    }
    if !orders.contains(&subscripts.len()) {
        let wanted = if symbol == "δ" {
            "two"
        } else {
            "two or three"
        };
        let message = format!(
            "`{symbol}` has {wanted} indices, found {}",
            subscripts.len()
        );
        cx.error(codes::INDEX_SYMBOL, span, message);
        return Some(None);
    }
    let mut written = Vec::new();
    for subscript in subscripts {
        let Subscript::At(index) = subscript else {
            let message = format!("`{symbol}` has indices, not parts");
            cx.error(codes::INDEX_SYMBOL, span, message);
            return Some(None);
        };
        written.push(index);
    }
    Some(symbol_of(cx, symbol, &written, span))
}

fn symbol_of<'a>(
    cx: &mut Cx<'a>,
    symbol: &str,
    written: &[&'a ast::Expr],
    span: Span,
) -> Option<Expr> {
    let indices = ints(cx, written.iter().copied())?;
    let made = match <[Expr; 2]>::try_from(indices) {
        Ok(two) if symbol == "δ" => {
            if let (Some(a), Some(b)) = (two[0].index(), two[1].index()) {
                cx.indices.pairs.push([a, b]);
            }
            Notation::Delta(Box::new(two))
        }
        Ok(two) => Notation::Epsilon(two.into()),
        Err(three) => Notation::Epsilon(three),
    };
    if let Notation::Epsilon(indices) = &made {
        for index in indices {
            let used = Use {
                extent: indices.len(),
                label: None,
                origin: format!("`ε` of {} indices", indices.len()),
                span: index.span,
            };
            note_use(cx, index, used);
        }
    }
    Some(ended(cx, made.at(Type::REAL, span)))
}

/// Indices, which are ints.
fn ints<'a>(
    cx: &mut Cx<'a>,
    written: impl IntoIterator<Item = &'a ast::Expr>,
) -> Option<Vec<Expr>> {
    let found: Vec<Option<Expr>> = written
        .into_iter()
        .map(|index| constant::int(cx, index, "an index"))
        .collect();
    found.into_iter().collect()
}
