//! Reductions of sequences and strand sets, and the queries that give strands.

use super::{
    build::{element_type, iteration, with_iterator},
    context::{Cx, Place, strand_set},
    expr::{converted, infer, typed, variable},
    messages::mismatch,
    overload,
    tree::{Domain, Expr, ExprKind, StrandSet, VarId, VarKind},
};
use crate::front::{
    source::Span,
    syntax::ast::{self, ExprKind as Written},
};
use ein_ir::{
    Shape, Type,
    ops::{self, Builtin, Meaning, OpDef},
};

/// Whether a function of the table reduces sequences.
pub(super) fn is_reduction(name: &str) -> bool {
    ops::candidates(name).any(reduces)
}

fn reduces(row: &OpDef) -> bool {
    matches!(row.meaning, Meaning::Builtin(Builtin::Reduce(_)))
}

/// `sum { e | x in s }`, also with a strand set as `s`.
pub(super) fn of_comprehension<'a>(
    cx: &mut Cx<'a>,
    reduction: &ast::Name,
    body: &'a ast::Expr,
    iter: &'a ast::Iter,
    span: Span,
) -> Option<Expr> {
    let domain = match set_of_strands(cx, &iter.source) {
        Some(set) => set.map(Domain::Strands),
        None => iteration(cx, &iter.source, None).map(|source| Domain::Seq(Box::new(source))),
    };
    let element = match &domain {
        Some(Domain::Strands(_)) => cx
            .strand
            .as_ref()
            .map(|strand| Type::Strand(strand.name.to_owned())),
        Some(Domain::Seq(source)) => Some(element_type(source)),
        None => None,
    };
    let (var, body) = with_iterator(cx, iter, element, |cx| infer(cx, body, None));
    reduce(cx, reduction, body?, var, domain?, span)
}

/// `sum(s)`
pub(super) fn of_sequence<'a>(
    cx: &mut Cx<'a>,
    reduction: &ast::Name,
    source: &'a ast::Expr,
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let hint = hint.map(|element| Type::Seq(Box::new(element.clone()), None));
    let source = iteration(cx, source, hint.as_ref())?;
    let element = element_type(&source);
    let var = cx.fresh(
        "element",
        Some(element.clone()),
        VarKind::Local,
        source.span,
    );
    cx.vars[var.0].read = true;
    let body = typed(element, ExprKind::Var(var), source.span);
    reduce(
        cx,
        reduction,
        body,
        var,
        Domain::Seq(Box::new(source)),
        span,
    )
}

/// `SUM(F, s)` and its kin: a field at every point of a sequence, reduced.
pub(super) fn of_points(
    cx: &mut Cx<'_>,
    reduction: &ast::Name,
    field: Expr,
    points: Expr,
    span: Span,
) -> Option<Expr> {
    let Type::Field { dim, shape, .. } = &field.ty else {
        let wanted = format!(
            "`{}` wants a field, not a value of type `{}`",
            reduction.text, field.ty
        );
        cx.error("no-overload", field.span, wanted);
        return None;
    };
    let (point, value) = (
        Type::Tensor(Shape::new([*dim])),
        Type::Tensor(shape.clone()),
    );
    let found = element_type(&points);
    if !matches!(points.ty, Type::Seq(..)) || found != point {
        mismatch(
            cx,
            points.span,
            "the sequence of points",
            &Type::Seq(Box::new(point), None),
            &points.ty,
        );
        return None;
    }
    let var = cx.fresh("point", Some(found.clone()), VarKind::Local, points.span);
    cx.vars[var.0].read = true;
    let at = Box::new(typed(found, ExprKind::Var(var), points.span));
    let body = typed(
        value,
        ExprKind::Probe {
            field: Box::new(field),
            at,
        },
        span,
    );
    let reduction = ast::Name {
        text: reduction.text.to_lowercase(),
        span: reduction.span,
    };
    reduce(
        cx,
        &reduction,
        body,
        var,
        Domain::Seq(Box::new(points)),
        span,
    )
}

fn reduce(
    cx: &mut Cx<'_>,
    reduction: &ast::Name,
    body: Expr,
    var: VarId,
    domain: Domain,
    span: Span,
) -> Option<Expr> {
    let reduced = Type::Seq(Box::new(body.ty.clone()), None);
    let accepted = |row: &'static OpDef| row.accept(std::slice::from_ref(&reduced), false).ok();
    match ops::candidates(&reduction.text)
        .filter(|row| reduces(row))
        .find_map(accepted)
    {
        Some(op) => {
            let ty = op.result.clone();
            Some(typed(
                ty,
                ExprKind::Reduce {
                    op,
                    body: Box::new(body),
                    var,
                    domain,
                },
                span,
            ))
        }
        None => {
            let elements: Vec<&str> = ops::candidates(&reduction.text)
                .filter(|row| reduces(row))
                .filter_map(|row| row.sig.split_once("{}"))
                .map(|(element, _)| match element {
                    "[]" => "reals",
                    "[α]" => "reals or tensors",
                    "int" => "ints",
                    "bool" => "truth values",
                    other => other,
                })
                .collect();
            let message = format!(
                "`{}` cannot reduce elements of type `{}`",
                reduction.text, body.ty
            );
            let takes_reals = elements.iter().any(|element| element.starts_with("reals"));
            let hint = match body.ty {
                Type::Int if takes_reals => "convert the elements to reals: `real(…)`".to_owned(),
                _ => format!("it reduces {}", elements.join(" or ")),
            };
            cx.error("no-overload", body.span, message).hint(hint);
            None
        }
    }
}

/// The strand set that is written as the source of an iteration: nothing if it is something else, `Some(None)` if it
/// is one but wrong here.
fn set_of_strands(cx: &mut Cx<'_>, source: &ast::Expr) -> Option<Option<StrandSet>> {
    let Written::Select { base, member } = &source.kind else {
        return None;
    };
    let Written::Name(name) = &base.kind else {
        return None;
    };
    if cx.strand.as_ref().is_none_or(|strand| strand.name != name) {
        return None;
    }
    let Some(set) = strand_set(&member.text) else {
        unknown_strand_set(cx, name, member);
        return Some(None);
    };
    if !cx.place.is_between_steps() {
        let message = format!(
            "strand sets such as `{name}.{}` cannot be used in {}",
            member.text,
            cx.place.describe()
        );
        let report = cx.error("strand-set", source.span, message);
        report.hint("they can be reduced in the global `start` and `update` blocks; a strand finds its neighbours with `sphere(r)`");
        return Some(None);
    }
    if cx.loops > 0 {
        cx.error(
            "strand-set",
            source.span,
            "strands cannot be reduced inside a loop",
        )
        .hint("reduce before the loop and keep the result in a variable");
        return Some(None);
    }
    Some(Some(set))
}

/// Reports a name after the strand's that is no strand set.
pub(super) fn unknown_strand_set(cx: &mut Cx<'_>, strand: &str, member: &ast::Name) {
    cx.error(
        "unknown-strand-set",
        member.span,
        format!("unknown strand set `{strand}.{}`", member.text),
    )
    .hint(format!(
        "the strand sets are `{strand}.all`, `{strand}.active` and `{strand}.stable`"
    ));
}

/// `sphere(r)`, `sphere(c, r)`
pub(super) fn sphere<'a>(
    cx: &mut Cx<'a>,
    args: &'a [ast::Expr],
    name: &ast::Name,
    span: Span,
) -> Option<Expr> {
    let position = cx.strand.as_ref().and_then(|strand| strand.position);
    let position_type = position.and_then(|var| cx.var(var).ty.clone());
    let values: Vec<Option<Expr>> = args.iter().map(|arg| infer(cx, arg, None)).collect();
    if !matches!(cx.place, Place::Method(_)) {
        let message = format!(
            "spatial queries are only allowed inside methods of a strand, not in {}",
            cx.place.describe()
        );
        cx.error("query-place", span, message);
        return None;
    }
    let (Some(position), Some(position_type)) = (position, position_type) else {
        cx.error(
            "query-position",
            span,
            "spatial queries need a state variable `pos` of type `real`, `vec2` or `vec3`",
        );
        return None;
    };
    let values: Option<Vec<Expr>> = values.into_iter().collect();
    let mut values = values?;
    if !matches!(values.len(), 1 | 2) {
        let message = format!("`sphere` takes 1 or 2 arguments, found {}", values.len());
        cx.error("argument-count", name.span, message)
            .hint("`sphere(r)` or `sphere(c, r)`");
        return None;
    }
    let radius = converted(cx, values.pop()?, &Type::REAL, "the radius of a sphere");
    let center = match values.pop() {
        Some(center) => Some(converted(
            cx,
            center,
            &position_type,
            "the centre of a sphere",
        )),
        None => {
            variable(cx, position, span);
            None
        }
    };
    cx.vars[position.0].read = true;
    let center = match center {
        Some(center) => Some(Box::new(center?)),
        None => None,
    };
    let strand = cx.strand.as_ref()?.name.to_owned();
    let ty = Type::Seq(Box::new(Type::Strand(strand)), None);
    Some(typed(
        ty,
        ExprKind::Sphere {
            center,
            radius: Box::new(radius?),
        },
        span,
    ))
}

/// `numActive()` and its kin: only where there are strands.
pub(super) fn count(
    cx: &mut Cx<'_>,
    name: &ast::Name,
    args: Vec<Expr>,
    span: Span,
) -> Option<Expr> {
    let allowed = matches!(cx.place, Place::Method(_)) || cx.place.is_between_steps();
    if !allowed {
        let message = format!("strands cannot be counted in {}", cx.place.describe());
        cx.error("count-place", span, message).hint(format!(
            "`{}` can be used in methods and in the global `start` and `update` blocks",
            name.text
        ));
        return None;
    }
    overload::apply(cx, &name.text, name.span, args, span)
}
