//! Parts of tensors and fields along an axis: `v[0:2]` has the components 0 and 1.

use super::{
    constant,
    context::Cx,
    subscript::part,
    tree::{Expr, part::Axis},
};
use crate::front::{
    codes,
    source::Span,
    syntax::ast::{self, Subscript},
};
use ein_ir::{Shape, Type};

/// Whether one of the subscripts is a range of an axis. `:` between two numbers in brackets is not a product.
pub(super) fn is_among(subscripts: &[Subscript]) -> bool {
    subscripts.iter().any(|subscript| ends(subscript).is_some())
}

/// The two ends of a range.
fn ends(subscript: &Subscript) -> Option<(&ast::Expr, &ast::Expr)> {
    match subscript {
        Subscript::At(index) => match &index.kind {
            ast::ExprKind::Infix { op, left, right } if op.symbol == ":" => Some((left, right)),
            _ => None,
        },
        Subscript::All | Subscript::In(..) => None,
    }
}

/// The part of a tensor or field with some components along its axes. There are as many subscripts as axes.
pub(super) fn parts<'a>(
    cx: &mut Cx<'a>,
    base: Expr,
    shape: &Shape,
    subscripts: &'a [Subscript],
    span: Span,
) -> Option<Expr> {
    let axes: Vec<Option<Axis>> = subscripts
        .iter()
        .zip(shape.dims())
        .map(|(subscript, &extent)| axis(cx, subscript, extent, &base.ty))
        .collect();
    let axes: Option<Vec<Axis>> = axes.into_iter().collect();
    part(cx, base, axes?, span)
}

fn axis<'a>(cx: &mut Cx<'a>, subscript: &'a Subscript, extent: usize, base: &Type) -> Option<Axis> {
    let Some((low, high)) = ends(subscript) else {
        return match subscript {
            Subscript::All => Some(Axis::All),
            Subscript::At(index) => {
                let index = constant::int(cx, index, "an index")?;
                Some(Axis::At(Box::new(index)))
            }
            Subscript::In(index, _) => {
                let message = "an index has a range only where it is bound";
                cx.error(codes::INDEX_EXPRESSION, index.span, message);
                None
            }
        };
    };
    let span = low.span.to(high.span);
    let low = constant::constant_int(cx, low, "the begin of a range of components");
    let high = constant::constant_int(cx, high, "the end of a range of components");
    let (low, high) = (low?, high?);
    match (usize::try_from(low), usize::try_from(high)) {
        (Ok(low), Ok(high)) if low + 1 < high && high <= extent => Some(Axis::From(low, high)),
        _ => {
            let message = format!(
                "`{low}:{high}` is not a part of an axis of `{base}` with {extent} components"
            );
            let hint = match high == low + 1 {
                true => format!("one component is written `[{low}]`"),
                false => format!(
                    "`{low}:{high}` has the components from {low} to before {high}; `0:{extent}` are all"
                ),
            };
            cx.error(codes::INDEX_RANGE, span, message).hint(hint);
            None
        }
    }
}
