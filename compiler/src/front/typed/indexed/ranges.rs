//! Ranges of indices: which axes an index stands on, and whether they agree.

use super::super::{
    context::Cx,
    indices::{IndexVar, Labels, Use},
    tree::{Expr, ExprKind, Notation, VarId, notation::Range},
};
use crate::front::{codes, source::Span};

/// The labels of an expression: those that a variable was declared with.
pub(super) fn labels(cx: &Cx<'_>, e: &Expr) -> Labels {
    match &e.kind {
        ExprKind::Notation(notation) => match &**notation {
            Notation::Component { base, indices } => remaining(&labels(cx, base), indices),
            Notation::Partial { field, .. } => labels(cx, field),
            _ => Labels::default(),
        },
        ExprKind::Var(var) => cx.var(*var).labels.clone(),
        ExprKind::Coerce(inner) => labels(cx, inner),
        ExprKind::Op { args, .. } if e.is_probe() => Labels {
            domain: None,
            axes: labels(cx, &args[0]).axes,
        },
        _ => Labels::default(),
    }
}

/// Notes that an expression is the subscript of an axis, if it is an index alone.
pub(super) fn note_use(cx: &mut Cx<'_>, index: &Expr, used: Use) {
    if let Some(var) = index.index()
        && let Some(known) = cx.indices.known.get_mut(&var)
    {
        known.uses.push(used);
    }
}

/// Notes the axis that the left side of a definition gives an index.
pub(super) fn note_declared(cx: &mut Cx<'_>, var: VarId, declared: Use) {
    let extent = declared.extent;
    if let Some(known) = cx.indices.known.get_mut(&var) {
        known.range.get_or_insert(Range {
            low: 0,
            count: extent,
        });
        known.uses.insert(0, declared);
    }
}

/// Decides the range of an index whose scope ends, and compares the axes that it stands on.
pub(super) fn conclude(cx: &mut Cx<'_>, var: VarId) -> Option<()> {
    let IndexVar {
        range,
        explicit,
        uses,
        elements,
    } = cx.indices.var(var).clone();
    let (name, span) = (cx.var(var).name.clone(), cx.var(var).span);
    if elements.is_some() {
        return counts_elements(cx, &name, span, &uses);
    }
    let mut labelled = uses.iter().filter(|used| used.label.is_some());
    if let Some(first) = labelled.next()
        && let Some(second) = labelled.find(|used| used.label != first.label)
    {
        let label = |used: &Use| used.label.clone().unwrap_or_default();
        let message = format!(
            "the index `{name}` cannot stand on the axes `{}` and `{}`",
            label(first),
            label(second)
        );
        cx.error(codes::INDEX_LABELS, second.span, message)
            .label(first.span, format!("`{}`: {}", label(first), first.origin))
            .label(second.span, format!("`{}`: {}", label(second), second.origin))
            .hint("axes with different labels are not interchangeable, even where their extents agree");
        return None;
    }
    let differing = match (uses.first(), explicit) {
        (Some(first), false) => uses.iter().find(|used| used.extent != first.extent),
        _ => None,
    };
    if let (Some(first), Some(second)) = (uses.first(), differing) {
        let message = format!(
            "the index `{name}` cannot have extents {} and {}",
            first.extent, second.extent
        );
        cx.error(codes::INDEX_EXTENTS, second.span, message)
            .label(first.span, format!("{} from {}", first.extent, first.origin))
            .label(second.span, format!("{} from {}", second.extent, second.origin))
            .hint(format!(
                "if only part of the longer axis is meant, give its extent where the index is bound: `{name}:{}`",
                first.extent.min(second.extent)
            ));
        return None;
    }
    if range.is_some() {
        return Some(());
    }
    let paired = cx.indices.pairs.iter().find_map(|&[a, b]| match var {
        _ if var == a => cx.indices.var(b).range,
        _ if var == b => cx.indices.var(a).range,
        _ => None,
    });
    let found = uses.first().map(|used| Range {
        low: 0,
        count: used.extent,
    });
    match found.or(paired) {
        Some(range) => {
            cx.indices.known.get_mut(&var)?.range = Some(range);
            Some(())
        }
        None => {
            let message = format!("the range of the index `{name}` cannot be inferred");
            cx.error(codes::INDEX_RANGE_UNKNOWN, span, message)
                .hint(format!(
                    "an index has the range of an axis that it stands on alone; else write it: `{name}:n`"
                ));
            None
        }
    }
}

/// An index that counts the elements of a sequence of varying length can count nothing else.
fn counts_elements(cx: &mut Cx<'_>, name: &str, span: Span, uses: &[Use]) -> Option<()> {
    let Some(other) = uses.first() else {
        return Some(());
    };
    let message = format!(
        "the index `{name}` counts the elements of a sequence of varying length, and stands on {}",
        other.origin
    );
    cx.error(codes::INDEX_EXTENTS, span, message).label(
        other.span,
        format!("{} from {}", other.extent, other.origin),
    );
    None
}

/// Reports an index that does not occur in the body of its reduction, or warns of one that a definition does not depend on.
pub(super) fn unused(cx: &mut Cx<'_>, var: VarId, is_reduction: bool) -> Option<()> {
    if cx.var(var).read {
        return Some(());
    }
    let (name, span) = (cx.var(var).name.clone(), cx.var(var).span);
    if is_reduction {
        cx.error(
            codes::INDEX_NOT_USED,
            span,
            format!("the index `{name}` does not occur in the body of its reduction"),
        )
        .hint("leave it out, or multiply by the number of its values");
        return None;
    }
    cx.warning(
        codes::INDEX_CONSTANT,
        span,
        format!("the index `{name}` does not occur on the right side"),
    )
    .hint("the value is the same along this axis");
    Some(())
}

/// The labels of the axes that are left where some have indices.
fn remaining(labels: &Labels, indices: &[Option<Expr>]) -> Labels {
    let kept = |(axis, index): (usize, &Option<Expr>)| match index {
        Some(_) => None,
        None => Some(labels.axes.get(axis).cloned().flatten()),
    };
    let mut axes: Vec<Option<String>> = indices.iter().enumerate().filter_map(kept).collect();
    axes.extend(labels.axes.iter().skip(indices.len()).cloned());
    Labels {
        domain: labels.domain.clone(),
        axes,
    }
}
