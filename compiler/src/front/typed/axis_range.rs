//! Parts of tensors and fields along an axis: `v[0:2]` has the components 0 and 1.

use super::{
    constant,
    context::Cx,
    expr::{literal, typed},
    overload,
    subscript::part,
    tree::{Constant, Expr, ExprKind, VarKind},
};
use crate::front::{
    codes,
    source::Span,
    syntax::ast::{self, Subscript},
};
use ein_ir::{Shape, Type, ops::spelling};

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
    // A value is computed once. A field is not a value.
    if matches!(base.ty, Type::Field { .. }) || matches!(base.kind, ExprKind::Var(_)) {
        return nested(cx, &base, &axes?, Vec::new(), span);
    }
    let whole = cx.fresh("whole", Some(base.ty.clone()), VarKind::Local, base.span);
    cx.vars[whole.0].read = true;
    let named = typed(base.ty.clone(), ExprKind::Var(whole), base.span);
    let body = Box::new(nested(cx, &named, &axes?, Vec::new(), span)?);
    let bindings = vec![(whole, base)];
    Some(typed(
        body.ty.clone(),
        ExprKind::Let { bindings, body },
        span,
    ))
}

/// What remains of an axis.
#[derive(Clone)]
enum Axis {
    /// All of it.
    All(usize),
    /// One component.
    At(Box<Expr>),
    /// The components from one to before another.
    From(usize, usize),
}

fn axis<'a>(cx: &mut Cx<'a>, subscript: &'a Subscript, extent: usize, base: &Type) -> Option<Axis> {
    let Some((low, high)) = ends(subscript) else {
        return match subscript {
            Subscript::All => Some(Axis::All(extent)),
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

/// The part that is left when the first axes have these indices.
fn nested(
    cx: &mut Cx<'_>,
    base: &Expr,
    axes: &[Axis],
    chosen: Vec<Option<Expr>>,
    span: Span,
) -> Option<Expr> {
    let rest = &axes[chosen.len()..];
    let with = |index: Option<Expr>| {
        let mut chosen = chosen.clone();
        chosen.push(index);
        chosen
    };
    let is_range = |axis: &Axis| matches!(axis, Axis::From(..));
    let components = match rest.first() {
        None => return part(cx, base.clone(), chosen, span),
        Some(Axis::At(index)) => {
            return nested(cx, base, axes, with(Some((**index).clone())), span);
        }
        Some(Axis::All(_)) if !rest.iter().any(is_range) => {
            return nested(cx, base, axes, with(None), span);
        }
        Some(Axis::All(extent)) => 0..*extent,
        Some(Axis::From(low, high)) => *low..*high,
    };
    let parts: Option<Vec<Expr>> = components
        .map(|n| {
            let index = literal(Type::Int, Constant::Int(n as i64), span);
            nested(cx, base, axes, with(Some(index)), span)
        })
        .collect();
    overload::apply(cx, spelling::CONCAT, span, parts?, None, span)
}
