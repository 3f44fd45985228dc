//! Derivatives of one variable by another: `∂y/∂x`.
//!
//! The definition of `y` is followed back to `x` (`history`), and each definition on the way is differentiated (`tangent`): an
//! operator becomes an operator of its arguments and their derivatives, with the axes of `x` after its own. What does not
//! depend on `x` has no derivative at all, and the δ in those that do is removed by normalization, so a component of a
//! derivative costs no more than if it were written by hand.

mod apart;
mod call;
mod history;
mod looped;
mod steps;
mod tangent;
mod term;

pub(super) use history::{History, Reads, assigned, assigned_in};

use super::{
    context::Cx,
    expr::infer,
    indexed,
    scope::Entity,
    tree::{Expr, VarId},
};
use crate::front::{
    codes,
    source::Span,
    syntax::ast::{self, ExprKind as Written, Subscript},
};
use apart::{after, needed};
use ein_ir::{Shape, Type};
use tangent::Tangents;

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
    let value = infer(cx, target.whole, None)?;
    infer(cx, parameter.whole, None)?;
    if tangent_type(&value.ty, &shape).is_none() {
        let message = format!(
            "`{}` of type `{}` has no derivatives",
            target.name, value.ty
        );
        cx.error(codes::DERIVATIVE_REQUEST, target.span, message);
        return None;
    }
    let mut tangents = Tangents::new(cx, x, shape.clone(), span);
    let found = tangents.of(&value);
    let bindings = tangents.bindings;
    let found = found.ok()?;
    let whole = match found {
        Some(body) => {
            let mut wanted = Reads::default();
            wanted.expr(&body);
            after(needed(bindings, wanted.vars), body)
        }
        None => {
            let (y, x) = (target.name, parameter.name);
            let message = format!("`{y}` does not depend on `{x}`, so this derivative is zero");
            cx.warning(codes::ZERO_DERIVATIVE, span, message);
            tangent::zero(&value.ty, &shape, span)?
        }
    };
    components(cx, whole, (&target, &value.ty), (&parameter, &shape), span)
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

/// The type of a derivative: the axes of the parameter after those of what is differentiated.
fn tangent_type(ty: &Type, by: &Shape) -> Option<Type> {
    Some(match ty {
        Type::Tensor(shape) => Type::Tensor(shape.append(by.dims())),
        Type::Field {
            continuity,
            dim,
            shape,
        } => Type::Field {
            continuity: *continuity,
            dim: *dim,
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
    (target, ty): (&Reference<'a>, &Type),
    (parameter, shape): (&Reference<'a>, &Shape),
    span: Span,
) -> Option<Expr> {
    if target.subscripts.is_none() && parameter.subscripts.is_none() {
        return Some(whole);
    }
    let (mut whole, mut rest) = (whole, target.subscripts.unwrap_or_default());
    let mut element = ty.clone();
    // Sequences are indexed first.
    while let (Type::Seq(inner, _), [first, others @ ..]) = (&element, rest) {
        whole = super::subscript::elements(cx, whole, std::slice::from_ref(first), span)?;
        (element, rest) = ((**inner).clone(), others);
    }
    let order = match &element {
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
    if indices
        .iter()
        .flatten()
        .any(|index| cx.indices.occur_in(index))
    {
        return indexed::component(cx, whole, indices, span);
    }
    super::subscript::part(cx, whole, indices, span)
}
