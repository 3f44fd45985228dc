//! Derivatives of one variable by another: `∂y/∂x`.
//!
//! Here they only get their types. The stage `derive` replaces them, where every value is defined once and control flow is `if` and
//! `for` (see [`crate::high::derive`]); it also reports the variables that have no derivative.

use super::{
    context::Cx,
    expr::{infer, typed},
    indexed,
    scope::Entity,
    tree::{Expr, ExprKind, VarId},
};
use crate::front::{
    codes,
    source::Span,
    syntax::ast::{self, ExprKind as Written, Subscript},
};
use ein_ir::{Shape, Type};

/// `∂y/∂x`
pub(super) fn request<'a>(
    cx: &mut Cx<'a>,
    target: &'a ast::Expr,
    parameter: &'a ast::Expr,
    span: Span,
) -> Option<Expr> {
    let target = reference(cx, target);
    let parameter = reference(cx, parameter);
    let (target, parameter) = (target?, parameter?);
    let Some(x) = parameter.variable(cx)? else {
        let message = format!(
            "`{}` is a constant; there is no derivative by it",
            parameter.name
        );
        cx.error(codes::DERIVATIVE_PARAMETER, parameter.span, message);
        return None;
    };
    let shape = parameter_shape(cx, x, parameter.span)?;
    let whole = infer(cx, target.whole, None)?;
    let by = infer(cx, parameter.whole, None)?;
    if tangent_type(&whole.ty, &shape).is_none() {
        let message = format!(
            "`{}` of type `{}` has no derivatives",
            target.name, whole.ty
        );
        cx.error(codes::DERIVATIVE_REQUEST, target.span, message);
        return None;
    }
    let derivative = |value: Expr| {
        let ty = tangent_type(&value.ty, &shape)?;
        let kind = ExprKind::Derivative {
            target: Box::new(value),
            parameter: Box::new(by.clone()),
        };
        Some(typed(ty, kind, span))
    };
    let subscripts = target.subscripts.unwrap_or_default();
    let (in_sequence, rest) = subscripts.split_at(depth(&whole.ty).min(subscripts.len()));
    // Only one element of a sequence counts, so no derivatives of the others are kept. If its place depends on an index, it is
    // taken from the derivatives of all elements.
    let value = super::subscript::elements(cx, whole.clone(), in_sequence, span)?;
    let element = value.ty.clone();
    let wanted = match cx.indices.occur_in(&value) && !in_sequence.is_empty() {
        true => super::subscript::elements(cx, derivative(whole)?, in_sequence, span)?,
        false => derivative(value)?,
    };
    components(
        cx,
        wanted,
        (&target, rest, &element),
        (&parameter, &shape),
        span,
    )
}

/// The number of sequences around a value.
fn depth(ty: &Type) -> usize {
    match ty {
        Type::Seq(element, _) => 1 + depth(element),
        _ => 0,
    }
}

/// `∂y` where there is no quotient.
pub(super) fn lone(cx: &mut Cx<'_>, span: Span) -> Option<Expr> {
    let message = "`∂y` has a meaning only in a quotient `∂y/∂x`";
    cx.error(codes::DERIVATIVE_REQUEST, span, message);
    None
}

/// A variable, perhaps with subscripts.
struct Reference<'a> {
    name: &'a str,
    span: Span,
    /// The variable without its subscripts.
    whole: &'a ast::Expr,
    subscripts: Option<&'a [Subscript]>,
}

fn reference<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr) -> Option<Reference<'a>> {
    match &written.kind {
        Written::Name(name) => Some(Reference {
            name,
            span: written.span,
            whole: written,
            subscripts: None,
        }),
        Written::Subscript { base, subscripts } => {
            let whole = reference(cx, base)?;
            if whole.subscripts.is_none() {
                return Some(Reference {
                    subscripts: Some(subscripts),
                    span: written.span,
                    ..whole
                });
            }
            unnamed(cx, written.span);
            None
        }
        Written::Error => None,
        _ => {
            unnamed(cx, written.span);
            None
        }
    }
}

fn unnamed(cx: &mut Cx<'_>, span: Span) {
    cx.error(
        codes::DERIVATIVE_REQUEST,
        span,
        "a derivative is that of one variable by another",
    )
    .hint("give the expression a name first: `real y = …; real d = ∂y/∂x;`");
}

impl Reference<'_> {
    /// The variable; inside, none if it is a constant.
    fn variable(&self, cx: &mut Cx<'_>) -> Option<Option<VarId>> {
        match cx.scopes.value(self.name) {
            Some(Entity::Var(var)) => Some(Some(var)),
            Some(Entity::Const(_)) => Some(None),
            None => {
                // An error in the name is reported where names are looked up.
                super::expr::undeclared(cx, self.name, self.span);
                None
            }
        }
    }
}

/// The shape of a variable that can be differentiated by.
fn parameter_shape(cx: &mut Cx<'_>, x: VarId, span: Span) -> Option<Shape> {
    match cx.var(x).ty.clone()? {
        Type::Tensor(shape) => Some(shape),
        other => {
            let name = cx.var(x).name.clone();
            let message =
                format!("`{name}` of type `{other}` is not a variable to differentiate by");
            cx.error(codes::DERIVATIVE_PARAMETER, span, message)
                .hint("derivatives are by numbers and tensors; those of a field by its position are written `∇F` or `∂[i] F`");
            None
        }
    }
}

/// The type of a derivative: the axes of the parameter after those of the differentiated value.
fn tangent_type(ty: &Type, by: &Shape) -> Option<Type> {
    Some(match ty {
        Type::Tensor(shape) => Type::Tensor(shape.append(by.dims())),
        Type::Field {
            continuity,
            dim,
            time,
            shape,
        } => Type::Field {
            continuity: *continuity,
            dim: *dim,
            time: *time,
            shape: shape.append(by.dims()),
        },
        Type::Seq(element, Some(n)) => Type::Seq(Box::new(tangent_type(element, by)?), Some(*n)),
        _ => return None,
    })
}

/// The part of a derivative that subscripts ask for.
fn components<'a>(
    cx: &mut Cx<'a>,
    whole: Expr,
    (target, rest, element): (&Reference<'a>, &'a [Subscript], &Type),
    (parameter, shape): (&Reference<'a>, &Shape),
    span: Span,
) -> Option<Expr> {
    if rest.is_empty() && parameter.subscripts.is_none() {
        return Some(whole);
    }
    let order = match element {
        Type::Tensor(shape) | Type::Field { shape, .. } => shape.order(),
        _ => 0,
    };
    let mut indices = Vec::new();
    for (subscripts, order, name) in [
        ((!rest.is_empty()).then_some(rest), order, target.name),
        (parameter.subscripts, shape.order(), parameter.name),
    ] {
        match subscripts {
            None => indices.extend(vec![None; order]),
            Some(subscripts) if subscripts.len() == order => {
                indices.extend(super::subscript::indices(cx, subscripts)?);
            }
            Some(subscripts) => {
                let message = format!(
                    "`{name}` has {order} axes, so as many indices are wanted, found {}",
                    subscripts.len()
                );
                cx.error(codes::INDEX_COUNT, span, message);
                return None;
            }
        }
    }
    if indices.iter().all(Option::is_none) {
        return Some(whole);
    }
    if (indices.iter().flatten()).any(|index| cx.indices.occur_in(index)) {
        return indexed::component(cx, whole, indices, span);
    }
    super::subscript::part(cx, whole, super::subscript::along(indices), span)
}
