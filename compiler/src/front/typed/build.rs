//! Expressions that build values: tensors and sequences from elements, comprehensions, and what is loaded from files.

use super::{
    coerce::{coerce, common},
    context::{Cx, Place},
    expr::{constant_string, infer, typed},
    tree::{Expr, ExprKind, VarId, VarKind},
    types,
};
use crate::front::{source::Span, syntax::ast};
use ein_ir::{Continuity, Shape, Type};

/// `[a, …]`: a tensor of tensors or a field of fields, the new axis first.
pub(super) fn tensor<'a>(
    cx: &mut Cx<'a>,
    elements: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let hint = hint.and_then(|ty| element_of_tensor(ty, elements.len()));
    let elements: Vec<Option<Expr>> = elements
        .iter()
        .map(|e| infer(cx, e, hint.as_ref()))
        .collect();
    let elements: Option<Vec<Expr>> = elements.into_iter().collect();
    tensor_of(cx, elements?, span)
}

/// The tensor or field with these parts along a new first axis.
pub(super) fn tensor_of(cx: &mut Cx<'_>, mut elements: Vec<Expr>, span: Span) -> Option<Expr> {
    for element in &mut elements {
        if element.ty == Type::Int {
            let int = std::mem::replace(element, typed(Type::Int, ExprKind::Zeros, span));
            *element = coerce(int, &Type::REAL);
        }
    }
    let least = elements
        .iter()
        .map(|element| continuity(&element.ty))
        .min()?;
    for element in &elements {
        if !matches!(element.ty, Type::Tensor(_) | Type::Field { .. }) {
            let ty = element.ty.clone();
            cx.error(
                "tensor-element",
                element.span,
                format!("a tensor cannot have elements of type `{ty}`"),
            )
            .hint("elements of `[…]` are numbers, tensors, or fields; a sequence is written `{…}`");
            return None;
        }
    }
    let first = with_continuity(&elements[0].ty, least);
    if let Some(other) = elements
        .iter()
        .find(|element| with_continuity(&element.ty, least) != first)
    {
        let message = format!(
            "the elements of a tensor differ: `{}` and `{}`",
            elements[0].ty, other.ty
        );
        cx.error("elements-differ", other.span, message)
            .label(elements[0].span, format!("`{}`", elements[0].ty));
        return None;
    }
    if elements.len() == 1 {
        return elements.pop();
    }
    let outer = |shape: &Shape| Shape::new([elements.len()]).append(shape.dims());
    let ty = match &first {
        Type::Field {
            continuity,
            dim,
            shape,
        } => Type::Field {
            continuity: *continuity,
            dim: *dim,
            shape: outer(shape),
        },
        Type::Tensor(shape) => Type::Tensor(outer(shape)),
        _ => return None,
    };
    types::limit_size(cx, &ty, span)?;
    let elements = elements
        .into_iter()
        .map(|element| coerce(element, &first))
        .collect();
    Some(typed(ty, ExprKind::Tensor(elements), span))
}

fn element_of_tensor(ty: &Type, count: usize) -> Option<Type> {
    let rest = |shape: &Shape| match shape.dims() {
        [first, rest @ ..] if *first == count => Some(Shape::from(rest)),
        _ => None,
    };
    match ty {
        Type::Tensor(shape) => rest(shape).map(Type::Tensor),
        Type::Field {
            continuity,
            dim,
            shape,
        } => rest(shape).map(|shape| Type::Field {
            continuity: *continuity,
            dim: *dim,
            shape,
        }),
        _ => None,
    }
}

fn continuity(ty: &Type) -> Continuity {
    match ty {
        Type::Field { continuity, .. } => *continuity,
        _ => Continuity::Infinite,
    }
}

/// The type with its continuity, if it has one, replaced.
fn with_continuity(ty: &Type, continuity: Continuity) -> Type {
    match ty {
        Type::Field { dim, shape, .. } => Type::Field {
            continuity,
            dim: *dim,
            shape: shape.clone(),
        },
        other => other.clone(),
    }
}

/// `{a, …}`, `{}`
pub(super) fn sequence<'a>(
    cx: &mut Cx<'a>,
    written: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let wanted = match hint {
        Some(Type::Seq(element, _)) => Some(&**element),
        _ => None,
    };
    let elements: Vec<Option<Expr>> = written.iter().map(|e| infer(cx, e, wanted)).collect();
    let elements: Option<Vec<Expr>> = elements.into_iter().collect();
    let elements = elements?;
    let mut common_type = match (elements.first(), wanted) {
        (Some(first), _) => first.ty.clone(),
        (None, Some(wanted)) => wanted.clone(),
        // The empty sequence adapts to any other.
        (None, None) => Type::Int,
    };
    for element in elements.iter().skip(1) {
        let fits_hint = |ty: &&Type| common_type.coerces_to(ty) && element.ty.coerces_to(ty);
        match common(&common_type, &element.ty).or_else(|| wanted.filter(fits_hint).cloned()) {
            Some(ty) => common_type = ty,
            None => {
                let message = format!(
                    "the elements of a sequence differ: `{common_type}` and `{}`",
                    element.ty
                );
                cx.error("elements-differ", element.span, message)
                    .label(elements[0].span, format!("`{common_type}`"));
                return None;
            }
        }
    }
    let at = elements.first().map_or(span, |first| first.span);
    let ty = types::sequence_of(cx, common_type.clone(), Some(elements.len()), at)?;
    let elements = elements
        .into_iter()
        .map(|element| coerce(element, &common_type))
        .collect();
    Some(typed(ty, ExprKind::Sequence(elements), span))
}

/// `{ e | x in s }` as a value.
pub(super) fn comprehension<'a>(
    cx: &mut Cx<'a>,
    body: &'a ast::Expr,
    iter: &'a ast::Iter,
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let source = iteration(cx, &iter.source, None);
    let wanted = match hint {
        Some(Type::Seq(element, None)) => Some(&**element),
        _ => None,
    };
    let (var, body) = with_iterator(cx, iter, source.as_ref().map(element_type), |cx| {
        infer(cx, body, wanted)
    });
    let (body, source) = (body?, source?);
    let ty = types::sequence_of(cx, body.ty.clone(), None, body.span)?;
    let kind = ExprKind::Comprehension {
        body: Box::new(body),
        var,
        domain: Box::new(source),
    };
    Some(typed(ty, kind, span))
}

/// Does something where an iterator's variable is in scope. It may be left unused: to count is a use of the iteration.
pub(super) fn with_iterator<'a, R>(
    cx: &mut Cx<'a>,
    iter: &'a ast::Iter,
    ty: Option<Type>,
    inside: impl FnOnce(&mut Cx<'a>) -> R,
) -> (VarId, R) {
    cx.scopes.push();
    let var = cx.declare(&iter.name, ty, VarKind::Local);
    cx.vars[var.0].read = true;
    cx.loops += 1;
    let result = inside(cx);
    cx.loops -= 1;
    cx.scopes.pop();
    (var, result)
}

/// What is iterated over, which must be a sequence.
pub(super) fn iteration<'a>(
    cx: &mut Cx<'a>,
    source: &'a ast::Expr,
    hint: Option<&Type>,
) -> Option<Expr> {
    let source = infer(cx, source, hint)?;
    if !matches!(source.ty, Type::Seq(..)) {
        let hint = (source.ty == Type::Int).then(|| "the integers below n are `0..n-1`".to_owned());
        cx.error(
            "not-a-sequence",
            source.span,
            format!(
                "only a sequence can be iterated over, not a value of type `{}`",
                source.ty
            ),
        )
        .hints(hint);
        return None;
    }
    Some(source)
}

/// The type of the elements of a sequence.
pub(super) fn element_type(sequence: &Expr) -> Type {
    match &sequence.ty {
        Type::Seq(element, _) => (**element).clone(),
        other => other.clone(),
    }
}

/// `load_image("…")`; its type is that of the hint.
pub(super) fn load_image<'a>(
    cx: &mut Cx<'a>,
    file: &'a ast::Expr,
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let file = load(cx, file, "an image", span);
    match hint {
        Some(ty @ Type::Image { .. }) => Some(typed(ty.clone(), ExprKind::LoadImage(file?), span)),
        _ if cx.hint_lost => None,
        _ => {
            cx.error(
                "unknown-type-of-file",
                span,
                "the type of this image is not known from its surroundings",
            )
            .hint("define it as a global of its own: `image(3)[] v = …;`");
            None
        }
    }
}

/// `load_sequence("…")`; its type is that of the hint.
pub(super) fn load_sequence<'a>(
    cx: &mut Cx<'a>,
    file: &'a ast::Expr,
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let file = load(cx, file, "a sequence", span);
    match hint {
        Some(Type::Seq(element, _)) => {
            let ty = types::sequence_of(cx, (**element).clone(), None, span)?;
            Some(typed(ty, ExprKind::LoadSequence(file?), span))
        }
        _ if cx.hint_lost => None,
        _ => {
            cx.error(
                "unknown-type-of-file",
                span,
                "the type of this sequence is not known from its surroundings",
            )
            .hint("define it as a global of its own: `real[] s = …;`");
            None
        }
    }
}

/// The name of a file that is loaded, and a check that files are loaded here.
fn load<'a>(cx: &mut Cx<'a>, file: &'a ast::Expr, what: &str, span: Span) -> Option<String> {
    if !matches!(cx.place, Place::Item | Place::GlobalInitialize) {
        let place = cx.place.describe();
        cx.error(
            "load-place",
            span,
            format!("{what} cannot be loaded in {place}"),
        )
        .hint("load it in the definition of a global variable");
        return None;
    }
    constant_string(cx, file, "the name of a file")
}
