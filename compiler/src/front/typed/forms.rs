//! Built-in functions that take their arguments in a way of their own: kernels per axis, a choice of fields, and the
//! functions of older programs.

use super::{
    call::inferred,
    coerce::coerce,
    context::Cx,
    expr::{exactly, infer, literal, typed},
    hint,
    messages::{mismatch, plural},
    overload, reduce,
    tree::{Constant, Expr, ExprKind},
};
use crate::front::{source::Span, syntax::ast};
use ein_ir::Type;

/// Functions that are not rows of the operator table.
pub(super) const EXTRA_FUNCTIONS: [&str; 4] = ["SUM", "MAX", "MIN", "printIR"];

/// `KRNS(h, …)`: kernels that are known now, one per axis.
pub(super) fn axis_kernels<'a>(
    cx: &mut Cx<'a>,
    name: &ast::Name,
    args: &'a [ast::Expr],
    span: Span,
) -> Option<Expr> {
    let args = inferred(cx, args, None)?;
    if !matches!(args.len(), 1..=3) {
        let message = format!(
            "`{}` takes one kernel per axis, from 1 to 3, found {}",
            name.text,
            args.len()
        );
        cx.error("argument-count", name.span, message);
        return None;
    }
    let mut kernels = Vec::new();
    for arg in &args {
        match overload::kernels(cx, arg).map(Vec::as_slice) {
            Some([kernel]) => kernels.push(*kernel),
            _ => {
                let message = format!(
                    "`{}` wants kernels that are known at compile time, found a value of type `{}`",
                    name.text, arg.ty
                );
                cx.error("axis-kernels", arg.span, message);
                return None;
            }
        }
    }
    let least = args.iter().filter_map(|arg| match arg.ty {
        Type::Kernel(continuity) => Some(continuity),
        _ => None,
    });
    Some(typed(
        Type::Kernel(least.min()?),
        ExprKind::Kernel(kernels),
        span,
    ))
}

/// `swap(i, F, …)`: fields of one type, chosen at run time.
pub(super) fn swap<'a>(
    cx: &mut Cx<'a>,
    name: &ast::Name,
    args: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let Some((selector, fields)) = args.split_first().filter(|(_, fields)| fields.len() >= 2)
    else {
        inferred(cx, args, None)?;
        let message = format!(
            "`{}` takes a selector and at least 2 fields, found {} {}",
            name.text,
            args.len(),
            plural(args.len(), "argument")
        );
        cx.error("argument-count", name.span, message);
        return None;
    };
    let selector = exactly(cx, selector, &Type::Int, "the selector of `swap`");
    let fields = inferred(cx, fields, hint::of_argument(hint).as_ref());
    let (selector, fields) = (selector?, fields?);
    let least = fields.iter().filter_map(|field| match &field.ty {
        Type::Field { continuity, .. } => Some(*continuity),
        _ => None,
    });
    let least = least.min();
    let (Some(Type::Field { dim, shape, .. }), Some(continuity)) =
        (fields.first().map(|field| &field.ty), least)
    else {
        let ty = fields.first().map_or(Type::Bool, |field| field.ty.clone());
        cx.error(
            "no-overload",
            name.span,
            format!(
                "`{}` chooses between fields, not values of type `{ty}`",
                name.text
            ),
        )
        .hint("values are chosen by a conditional expression: `a if c else b`");
        return None;
    };
    let ty = Type::Field {
        continuity,
        dim: *dim,
        shape: shape.clone(),
    };
    if let Some(other) = fields.iter().find(|field| !field.ty.coerces_to(&ty)) {
        let (at, found) = (other.span, other.ty.clone());
        mismatch(cx, at, "a field of `swap`", &ty, &found);
        return None;
    }
    let fields = fields.into_iter().map(|field| coerce(field, &ty)).collect();
    Some(typed(
        ty,
        ExprKind::Swap {
            selector: Box::new(selector),
            fields,
        },
        span,
    ))
}

/// The functions of older programs that are not rows of the table.
pub(super) fn extra<'a>(
    cx: &mut Cx<'a>,
    name: &ast::Name,
    args: &'a [ast::Expr],
    span: Span,
) -> Option<Expr> {
    if name.text == "printIR" {
        inferred(cx, args, None)?;
        return Some(literal(Type::Int, Constant::Int(0), span));
    }
    let [field, points] = args else {
        inferred(cx, args, None)?;
        let message = format!(
            "`{}` takes a field and a sequence of points, found {} {}",
            name.text,
            args.len(),
            plural(args.len(), "argument")
        );
        cx.error("argument-count", name.span, message);
        return None;
    };
    let (field, points) = (infer(cx, field, None), infer(cx, points, None));
    reduce::of_points(cx, name, field?, points?, span)
}
