//! Binders of indices: the left side of a definition and the brackets of a reduction.

use super::super::{
    constant,
    context::Cx,
    indices::IndexVar,
    scope::Entity,
    tree::{VarId, VarKind, notation::Range},
};
use crate::front::{
    codes,
    facts::DefinitionKind,
    source::Span,
    syntax::ast::{self, ExprKind as Written, Subscript},
};
use ein_ir::Type;

/// An index as it is bound.
pub(super) struct Binder<'a> {
    pub(super) name: &'a str,
    pub(super) span: Span,
    /// The range that is written with it.
    pub(super) range: Option<Range>,
}

/// `i`, `i : n` or `i in a..b`. Anything else is reported; `around` is where the brackets are.
pub(super) fn binder<'a>(
    cx: &mut Cx<'a>,
    written: &'a Subscript,
    around: Span,
) -> Option<Binder<'a>> {
    match written {
        Subscript::All => {
            cx.error(codes::INDEX_EXPRESSION, around, "`:` is not an index")
                .hint("an index of a definition or reduction has a name: `i`");
            None
        }
        Subscript::In(index, range) => {
            let (name, span) = name_of(cx, index)?;
            let Written::Range(low, high) = &range.kind else {
                let message = format!("the range of the index `{name}` is written `a..b`");
                cx.error(codes::INDEX_EXPRESSION, range.span, message);
                return None;
            };
            let (low, high) = (limit(cx, low, name), limit(cx, high, name));
            let range = between(cx, name, low?, high?, range.span)?;
            Some(Binder {
                name,
                span,
                range: Some(range),
            })
        }
        Subscript::At(index) => {
            if let Written::Name(name) = &index.kind {
                return Some(Binder {
                    name,
                    span: index.span,
                    range: None,
                });
            }
            let Some((name, span, count)) = counted(cx, index) else {
                name_of(cx, index)?;
                return None;
            };
            let range = between(cx, name, 0, count? - 1, index.span)?;
            Some(Binder {
                name,
                span,
                range: Some(range),
            })
        }
    }
}

fn name_of<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr) -> Option<(&'a str, Span)> {
    match &written.kind {
        Written::Name(name) => Some((name, written.span)),
        Written::Error => None,
        _ => {
            cx.error(
                codes::INDEX_EXPRESSION,
                written.span,
                "an index is bound by its name alone",
            )
            .hint("subscripts on the right side may be expressions: `x[t] = x[t-1]`");
            None
        }
    }
}

/// `i : n`. The colon binds as tightly as a product, so in `i : n + 1` it stands at the left end of the expression.
fn counted<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr) -> Option<(&'a str, Span, Option<i64>)> {
    let Written::Infix { op, left, right } = &written.kind else {
        return None;
    };
    if op.symbol == ":"
        && let Written::Name(name) = &left.kind
    {
        return Some((name, left.span, limit(cx, right, name)));
    }
    let (name, span, low) = counted(cx, left)?;
    let right = limit(cx, right, name);
    let count = low.zip(right).and_then(|(a, b)| match op.symbol {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        _ => None,
    });
    Some((name, span, count))
}

/// A bound of a range, which is a constant.
fn limit<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr, name: &str) -> Option<i64> {
    constant::constant_int(cx, written, &format!("the range of the index `{name}`"))
}

/// The range from one int to another, which must not be empty.
fn between(cx: &mut Cx<'_>, name: &str, low: i64, high: i64, span: Span) -> Option<Range> {
    let count = high.checked_sub(low).and_then(|n| n.checked_add(1));
    match count {
        Some(count) if count > 0 => Some(Range {
            low,
            count: count as usize,
        }),
        _ => {
            let message = format!("the range of the index `{name}` is empty");
            cx.error(codes::BAD_DIMENSION, span, message);
            None
        }
    }
}

/// Brings an index into scope.
pub(super) fn bind<'a>(cx: &mut Cx<'a>, binder: &Binder<'a>) -> VarId {
    let Binder { name, span, range } = *binder;
    if let Some(&outer) = cx
        .indices
        .live
        .iter()
        .find(|&&var| cx.vars[var.0].name == name)
    {
        let first = cx.var(outer).span;
        cx.error(
            codes::INDEX_BOUND_TWICE,
            span,
            format!("the index `{name}` is bound twice"),
        )
        .label(first, "bound here first");
    } else if cx.scopes.value(name).is_some() {
        cx.warning(
            codes::INDEX_HIDES,
            span,
            format!("the index `{name}` hides a variable of the same name"),
        );
    }
    let written = ast::Name {
        text: name.to_owned(),
        span,
    };
    cx.define(
        &written,
        DefinitionKind::Index,
        Some(&Type::Int),
        Vec::new(),
    );
    let var = cx.fresh(name, Some(Type::Int), VarKind::Local, span);
    cx.scopes.declare(name, Entity::Var(var), span);
    cx.indices.live.push(var);
    cx.indices.known.insert(var, IndexVar::new(range));
    var
}

/// Takes the innermost indices out of scope.
pub(super) fn unbind(cx: &mut Cx<'_>, vars: &[VarId]) {
    let left = cx.indices.live.len() - vars.len();
    cx.indices.live.truncate(left);
    for var in vars {
        // An unused index was reported before.
        cx.vars[var.0].read = true;
    }
}
