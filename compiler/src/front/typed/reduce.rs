//! Reductions of sequences and strand sets, and the queries that give strands.

use super::{
    build::{comprehension_over, iteration},
    context::{Cx, Place},
    expr::typed,
    messages::mismatch,
    overload,
    tree::{Domain, Expr, ExprKind, VarKind},
};
use crate::front::{
    codes,
    facts::Referent,
    source::Span,
    syntax::ast::{self, ExprKind as Written, Operator},
};
use ein_ir::{
    Type,
    ops::{Builtin, Reduction, StrandSet, spelling},
};

/// Whether a function of the table reduces sequences.
pub(super) fn is_reduction(name: &str) -> bool {
    Reduction::named(name).is_some()
}

/// `{ e | x in s }` that is reduced, so that `s` may also be a strand set.
pub(super) fn comprehension<'a>(
    cx: &mut Cx<'a>,
    body: &'a ast::Expr,
    iter: &'a ast::Iter,
    span: Span,
) -> Option<Expr> {
    let domain = match set_of_strands(cx, &iter.source) {
        Some(set) => set.map(Domain::Strands),
        None => iteration(cx, &iter.source, None).map(|source| Domain::Seq(Box::new(source))),
    };
    comprehension_over(cx, body, iter, domain, None, span)
}

/// `argmin { e | x in s }`: the element `x` where `e` is least; of a set of strands, the strand.
pub(super) fn witness(
    cx: &mut Cx<'_>,
    name: &ast::Name,
    sequence: Expr,
    span: Span,
) -> Option<Expr> {
    let ExprKind::Comprehension { body, var, domain } = sequence.kind else {
        return None;
    };
    let source = match domain {
        Domain::Seq(source) => *source,
        Domain::Strands(set) => {
            let strand = cx.strand.as_ref().map(|strand| strand.name.to_owned())?;
            if body.ty == Type::Int {
                mismatch(cx, "a value compared between strands", &Type::REAL, &body);
                return None;
            }
            let domain = Domain::Strands(set);
            let kind = ExprKind::Comprehension { body, var, domain };
            let values = vec![typed(sequence.ty, kind, sequence.span)];
            let found = overload::apply(cx, &name.text, name.span, values, None, span)?;
            return Some(typed(Type::Strand(strand), found.kind, span));
        }
    };
    // The sequence or range is computed once, and then indexed.
    let mut bindings = Vec::new();
    let mut once = |cx: &mut Cx<'_>, e: &Expr| {
        let bound = cx.fresh("elements", Some(e.ty.clone()), VarKind::Local, e.span);
        cx.vars[bound.0].read = true;
        bindings.push((bound, e.clone()));
        typed(e.ty.clone(), ExprKind::Var(bound), e.span)
    };
    let source = match (source.builtin(), &source.kind) {
        (Some((Builtin::Range, [low, high])), ExprKind::Op { op, .. }) => {
            let args = vec![once(cx, low), once(cx, high)];
            Expr::applied(op.clone(), args, source.span)
        }
        _ => once(cx, &source),
    };
    let domain = Domain::Seq(Box::new(source.clone()));
    let kind = ExprKind::Comprehension { body, var, domain };
    let values = vec![typed(sequence.ty, kind, sequence.span)];
    let place = overload::apply(cx, &name.text, name.span, values, None, span)?;
    let found = overload::apply(cx, spelling::ELEMENT, span, vec![source, place], None, span)?;
    let (ty, body) = (found.ty.clone(), Box::new(found));
    Some(typed(ty, ExprKind::Let { bindings, body }, span))
}

/// `SUM(F, s)` and its kin: a field at every point of a sequence, reduced.
pub(super) fn at_points(
    cx: &mut Cx<'_>,
    reduction: Reduction,
    args: Vec<Expr>,
    symbol: Operator,
    span: Span,
) -> Option<Expr> {
    let [field, points] = <[Expr; 2]>::try_from(args).ok()?;
    let Type::Seq(point, _) = &points.ty else {
        return None;
    };
    let point = (**point).clone();
    let var = cx.fresh("point", Some(point.clone()), VarKind::Local, points.span);
    cx.vars[var.0].read = true;
    let at = typed(point, ExprKind::Var(var), points.span);
    let probe = vec![field, at];
    let body = overload::apply(cx, spelling::PROBE, symbol.span, probe, None, span)?;
    let values = typed(
        Type::Seq(Box::new(body.ty.clone()), None),
        ExprKind::Comprehension {
            body: Box::new(body),
            var,
            domain: Domain::Seq(Box::new(points)),
        },
        span,
    );
    overload::apply(cx, reduction.name(), symbol.span, vec![values], None, span)
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
    if !cx.names_strand(name, base.span) {
        return None;
    }
    let Some(set) = StrandSet::named(&member.text) else {
        unknown_strand_set(cx, name, member);
        return Some(None);
    };
    cx.facts.name(member.span, Referent::StrandSet(set));
    if !cx.place.is_between_steps() {
        let message = format!(
            "strand sets such as `{name}.{}` cannot be used in {}",
            member.text,
            cx.place.describe()
        );
        let report = cx.error(codes::STRAND_SET, source.span, message);
        report.hint("they can be reduced in the global `start` and `update` blocks; a strand finds its neighbours with `sphere(r)`");
        return Some(None);
    }
    if cx.loops > 0 {
        cx.error(
            codes::STRAND_SET,
            source.span,
            "strands cannot be reduced inside a loop",
        )
        .hint("reduce before the loop and keep the result in a variable");
        return Some(None);
    }
    Some(Some(set))
}

/// Reports a name after the strand's that is not one of its sets.
pub(super) fn unknown_strand_set(cx: &mut Cx<'_>, strand: &str, member: &ast::Name) {
    cx.error(
        codes::UNKNOWN_STRAND_SET,
        member.span,
        format!("unknown strand set `{strand}.{}`", member.text),
    )
    .hint(format!(
        "the strand sets are `{strand}.all`, `{strand}.active` and `{strand}.stable`"
    ));
}

/// The type of the strands that a spatial query finds, if there may be one here.
pub(super) fn queried(cx: &mut Cx<'_>, span: Span) -> Option<Type> {
    if !matches!(cx.place, Place::Method(_)) {
        let message = format!(
            "spatial queries are only allowed inside methods of a strand, not in {}",
            cx.place.describe()
        );
        cx.error(codes::QUERY_PLACE, span, message);
        return None;
    }
    let strand = cx.strand.as_ref()?;
    if strand.position.is_none() {
        cx.error(
            codes::QUERY_POSITION,
            span,
            "spatial queries need a state variable `pos` of type `real`, `vec2` or `vec3`",
        );
        return None;
    }
    let strand = Type::Strand(strand.name.to_owned());
    Some(Type::Seq(Box::new(strand), None))
}
