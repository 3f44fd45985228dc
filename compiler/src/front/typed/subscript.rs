//! Subscripts: components and slices of tensors and fields, elements of sequences.

use super::{constant, context::Cx, expr::infer, overload, tree::Expr};
use crate::front::{
    codes,
    source::Span,
    syntax::ast::{self, Subscript},
};
use ein_ir::{
    Shape, Type,
    ops::{Instance, spelling},
};

/// `a[i, …]`
pub(super) fn subscript<'a>(
    cx: &mut Cx<'a>,
    base: &'a ast::Expr,
    subscripts: &'a [Subscript],
    span: Span,
) -> Option<Expr> {
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
        Type::Seq(..) => match subscripts {
            [Subscript::At(index)] => element(cx, base, index, span),
            _ => {
                cx.error(
                    codes::SEQUENCE_INDEX,
                    span,
                    "a sequence is indexed with exactly one int",
                );
                None
            }
        },
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

/// An element of a sequence.
fn element<'a>(cx: &mut Cx<'a>, base: Expr, index: &'a ast::Expr, span: Span) -> Option<Expr> {
    let index = infer(cx, index, None)?;
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
        wrong_count(cx, &base.ty, shape.order(), subscripts.len(), span);
        return None;
    }
    let mask: Vec<Option<Option<usize>>> = subscripts
        .iter()
        .zip(shape.dims())
        .map(|(subscript, &extent)| match subscript {
            Subscript::All => Some(None),
            Subscript::At(index) => component(cx, index, extent, &base.ty).map(Some),
        })
        .collect();
    let mask: Option<Vec<Option<usize>>> = mask.into_iter().collect();
    let mask = mask?;
    if mask.iter().all(Option::is_none) {
        return Some(base);
    }
    match Instance::slice(&base.ty, mask) {
        Ok(op) => Some(overload::applied(op, vec![base], span)),
        Err(mismatch) => {
            cx.error(codes::NO_OVERLOAD, span, mismatch.to_string());
            None
        }
    }
}

/// Reports that there are more or fewer indices than axes.
fn wrong_count(cx: &mut Cx<'_>, base: &Type, wanted: usize, found: usize, span: Span) {
    let message = match wanted {
        0 => format!("a value of type `{base}` has no components to select"),
        1 => format!("`{base}` has 1 axis, so 1 index is wanted, found {found}"),
        _ => format!("`{base}` has {wanted} axes, so {wanted} indices are wanted, found {found}"),
    };
    let rows = (found == 1 && wanted == 2)
        .then(|| "row i of a matrix is `m[i,:]`, column j is `m[:,j]`".to_owned());
    cx.error(codes::INDEX_COUNT, span, message).hints(rows);
}

fn component<'a>(
    cx: &mut Cx<'a>,
    index: &'a ast::Expr,
    extent: usize,
    base: &Type,
) -> Option<usize> {
    let at = constant::constant_int(cx, index, "an index of a tensor or field")?;
    match usize::try_from(at) {
        Ok(at) if at < extent => Some(at),
        _ => {
            let message = format!(
                "index {at} is out of range: this axis of `{base}` has {extent} components"
            );
            cx.error(codes::INDEX_RANGE, index.span, message)
                .hint(format!("components are counted from 0 to {}", extent - 1));
            None
        }
    }
}
