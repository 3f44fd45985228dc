//! Reductions over indices: `sum[k](…)`, `max[i, j](…)`, `all[n](…)`.

use super::{
    super::{
        context::Cx,
        expr::infer,
        messages::mismatch,
        tree::{Expr, Notation, VarId},
        unroll::is_of_indices,
    },
    binders::{bind, binder, unbind},
    ended, ranges,
};
use crate::front::{
    codes,
    diag::Fix,
    source::Span,
    syntax::ast::{self, ExprKind as Written, Subscript},
};
use ein_ir::{Type, ops::Reduction};

/// The reduction and the indices that something is called with, if it is `sum[…]` or another name of a reduction that
/// nothing hides.
pub(in super::super) fn reduction_of<'a>(
    cx: &Cx<'a>,
    callee: &'a ast::Expr,
) -> Option<(Reduction, &'a [Subscript])> {
    let Written::Subscript { base, subscripts } = &callee.kind else {
        return None;
    };
    let Written::Name(name) = &base.kind else {
        return None;
    };
    let is_hidden = cx.scopes.value(name).is_some() || cx.scopes.function(name).is_some();
    let reduction = Reduction::named(name).filter(|_| !is_hidden)?;
    (reduction != Reduction::Variance).then_some((reduction, subscripts))
}

/// `sum[k](e)` and its kin.
pub(in super::super) fn reduced<'a>(
    cx: &mut Cx<'a>,
    callee: &'a ast::Expr,
    (reduction, subscripts): (Reduction, &'a [Subscript]),
    args: &'a [ast::Expr],
    span: Span,
) -> Option<Expr> {
    if let Written::Subscript { base, .. } = &callee.kind {
        cx.names_operator(base.span, reduction.name());
    }
    let [body] = args else {
        let message = format!(
            "a reduction over indices has one argument, found {}",
            args.len()
        );
        cx.error(codes::ARGUMENT_COUNT, span, message);
        return None;
    };
    cx.scopes.push(body.span);
    let bound: Vec<Option<VarId>> = subscripts
        .iter()
        .map(|written| {
            let binder = binder(cx, written, span)?;
            Some(bind(cx, &binder))
        })
        .collect();
    let over: Vec<VarId> = bound.iter().flatten().copied().collect();
    // What an index that is wrong would mean in the body is not known.
    let mut fits = over.len() == bound.len();
    let found = fits.then(|| infer(cx, body, None)).flatten();
    cx.scopes.pop();
    if found.is_some() {
        for &var in &over {
            fits &= ranges::unused(cx, var, true)
                .and_then(|()| ranges::conclude(cx, var))
                .is_some();
        }
    }
    unbind(cx, &over);
    let body = found.filter(|_| fits)?;
    if reduction.extreme().is_some() && over.len() != 1 {
        let message = format!(
            "`{}` is over one index, found {}",
            reduction.name(),
            over.len()
        );
        cx.error(codes::INDEX_EXPRESSION, span, message)
            .hint("it gives the value of that index where the body is least or greatest");
        return None;
    }
    let ty = reduced_type(cx, reduction, &body)?;
    let made = Notation::Reduced {
        reduction,
        over: cx.indices.binders(&over)?,
        body,
    };
    Some(ended(cx, made.at(ty, span)))
}

/// The type of a reduction of scalars, of tensors or fields where they are added, or of truth values.
fn reduced_type(cx: &mut Cx<'_>, reduction: Reduction, body: &Expr) -> Option<Type> {
    let of_truth = matches!(reduction, Reduction::All | Reduction::Exists);
    let adds = matches!(reduction, Reduction::Sum | Reduction::Mean);
    let finds = reduction.extreme().is_some();
    let of_indices = is_of_indices(cx, body);
    match &body.ty {
        Type::Tensor(shape) if finds && shape.is_scalar() => Some(Type::Int),
        Type::Int if finds && !of_indices => Some(Type::Int),
        Type::Field { .. } if finds => {
            mismatch(cx, "a compared value", &Type::REAL, body);
            None
        }
        Type::Bool if of_truth => Some(Type::Bool),
        Type::Tensor(shape) | Type::Field { shape, .. }
            if !of_truth && (adds || shape.is_scalar()) =>
        {
            Some(body.ty.clone())
        }
        Type::Int if !of_truth && of_indices => {
            cx.error(
                codes::INDEX_AS_NUMBER,
                body.span,
                "an index is an int; the body of a reduction must be a number",
            )
            .hint("write `real(…)` around it")
            .fix(Fix::wrap(body.span, "real(", ")"));
            None
        }
        _ => {
            let wanted = if of_truth { Type::Bool } else { Type::REAL };
            mismatch(cx, "the body of a reduction over indices", &wanted, body);
            None
        }
    }
}
