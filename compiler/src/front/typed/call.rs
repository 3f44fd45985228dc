//! What `f(…)` means: a probe if `f` is a field, else a call of a user function, a built-in one, or one of the forms
//! that take their arguments in a way of their own.

use super::{
    build,
    coerce::coerce,
    context::{Cx, FunctionInfo},
    expr::{converted, infer, require_value, typed},
    forms::{EXTRA_FUNCTIONS, axis_kernels, extra, swap},
    hint,
    messages::{mismatch, plural},
    overload, reduce,
    tree::{Expr, ExprKind, FunctionId, VarId},
};
use crate::front::{
    source::Span,
    syntax::ast::{self, ExprKind as Written},
};
use ein_ir::{
    Continuity, Shape, Type,
    kernel::KERNELS,
    ops::{self, Builtin, Form, Meaning, OPERATORS, Syntax},
};

/// `f(a, …)`
pub(super) fn call<'a>(
    cx: &mut Cx<'a>,
    callee: &'a ast::Expr,
    args: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    if let Written::Name(text) = &callee.kind
        && cx.scopes.value(text).is_none()
    {
        let name = ast::Name {
            text: text.clone(),
            span: callee.span,
        };
        return match cx.scopes.function(text) {
            Some(function) => user_function(cx, function, args, &name, span),
            None => builtin(cx, &name, args, hint, span),
        };
    }
    probe(cx, callee, args, hint, span)
}

/// `f { e | x in s }`, which is `f({ e | x in s })`.
pub(super) fn call_comprehension<'a>(
    cx: &mut Cx<'a>,
    callee: &'a ast::Expr,
    body: &'a ast::Expr,
    iter: &'a ast::Iter,
    span: Span,
) -> Option<Expr> {
    let comprehension_span = body.span.to(iter.source.span);
    if let Written::Name(text) = &callee.kind
        && cx.scopes.value(text).is_none()
    {
        let name = ast::Name {
            text: text.clone(),
            span: callee.span,
        };
        if let Some(function) = cx.scopes.function(text) {
            let sequence = build::comprehension(cx, body, iter, None, comprehension_span);
            return call_with(cx, function, vec![sequence], &name, span);
        }
        if reduce::is_reduction(text) {
            return reduce::of_comprehension(cx, &name, body, iter, span);
        }
        let sequence = build::comprehension(cx, body, iter, None, comprehension_span);
        if !overload::is_function(text) {
            unknown_function(cx, &name);
            return None;
        }
        return overload::apply(cx, text, callee.span, vec![sequence?], span);
    }
    let callee = infer(cx, callee, None);
    build::comprehension(cx, body, iter, None, comprehension_span);
    let callee = callee?;
    cx.error(
        "not-a-function",
        callee.span,
        format!("a value of type `{}` cannot be called", callee.ty),
    )
    .hint("a variable hides a function of the same name");
    None
}

fn user_function<'a>(
    cx: &mut Cx<'a>,
    function: FunctionId,
    args: &'a [ast::Expr],
    name: &ast::Name,
    span: Span,
) -> Option<Expr> {
    let wanted: Vec<Option<Type>> = {
        let params = &cx.function(function).params;
        params
            .iter()
            .map(|&param| cx.var(param).ty.clone())
            .collect()
    };
    let args = args
        .iter()
        .enumerate()
        .map(|(k, arg)| infer(cx, arg, wanted.get(k).and_then(Option::as_ref)))
        .collect();
    call_with(cx, function, args, name, span)
}

/// A call of a user function with arguments that were looked at.
fn call_with(
    cx: &mut Cx<'_>,
    function: FunctionId,
    args: Vec<Option<Expr>>,
    name: &ast::Name,
    span: Span,
) -> Option<Expr> {
    for needed in cx.function(function).needs.clone() {
        require_value(cx, needed, name.span);
    }
    let FunctionInfo {
        params,
        result,
        span: defined,
        ..
    } = cx.function(function);
    let (params, result, defined) = (params.clone(), result.clone(), *defined);
    let what = format!("function `{}`", name.text);
    let args = arguments(cx, &params, args, &what, (name.span, defined));
    Some(typed(
        result?,
        ExprKind::Call {
            function,
            args: args?,
        },
        span,
    ))
}

/// Arguments converted to the types of parameters. The places are those of the name that is called and of its
/// definition.
pub(super) fn arguments(
    cx: &mut Cx<'_>,
    params: &[VarId],
    args: Vec<Option<Expr>>,
    what: &str,
    (called, defined): (Span, Span),
) -> Option<Vec<Expr>> {
    let (found, wanted) = (args.len(), params.len());
    if found != wanted {
        let message = format!(
            "{what} takes {wanted} {}, found {found}",
            plural(wanted, "argument")
        );
        cx.error("argument-count", called, message)
            .label(defined, "defined here");
        return None;
    }
    let converted: Vec<Option<Expr>> = args
        .into_iter()
        .zip(params)
        .map(|(arg, &param)| {
            let (arg, ty) = (arg?, cx.var(param).ty.clone()?);
            if arg.ty.coerces_to(&ty) {
                return Some(coerce(arg, &ty));
            }
            let what = format!("argument `{}` of {what}", cx.var(param).name);
            mismatch(cx, arg.span, &what, &ty, &arg.ty);
            None
        })
        .collect();
    converted.into_iter().collect()
}

/// `F(x)`
fn probe<'a>(
    cx: &mut Cx<'a>,
    callee: &'a ast::Expr,
    args: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    // The position is looked at first if it may say what the field is made of.
    let early = match args {
        [arg] if hint::needs_context(callee) => Some(infer(cx, arg, None)),
        _ => None,
    };
    let field_hint = match (&early, hint) {
        (Some(Some(at)), Some(Type::Tensor(shape))) => dimension(&at.ty).map(|dim| Type::Field {
            continuity: Continuity::Infinite,
            dim,
            shape: shape.clone(),
        }),
        _ => None,
    };
    let field = infer(cx, callee, field_hint.as_ref());
    let wanted = match &field {
        Some(Expr {
            ty: Type::Field { dim, .. },
            ..
        }) => Some(Type::Tensor(Shape::new([*dim]))),
        _ => None,
    };
    let args: Vec<Option<Expr>> = match early {
        Some(at) => vec![at],
        None => args
            .iter()
            .map(|arg| infer(cx, arg, wanted.as_ref()))
            .collect(),
    };
    let field = field?;
    let Type::Field { shape, .. } = &field.ty else {
        let hint = match (&field.ty, &callee.kind) {
            (Type::Seq(element, _), _) if matches!(**element, Type::Field { .. }) => {
                Some("select one of the fields: `…[0](x)`".to_owned())
            }
            (_, Written::Name(_)) => {
                Some("a variable hides a function of the same name".to_owned())
            }
            _ => None,
        };
        cx.error(
            "not-a-field",
            callee.span,
            format!("a value of type `{}` cannot be called or probed", field.ty),
        )
        .hints(hint);
        return None;
    };
    let (shape, wanted) = (shape.clone(), wanted?);
    let count = args.len();
    let [at] = <[Option<Expr>; 1]>::try_from(args).unwrap_or([None]);
    if count != 1 {
        let hint = (count > 1).then(|| "the position is one vector: `F([x, y])`".to_owned());
        cx.error(
            "probe-position",
            span,
            format!("a field is probed at one position, found {count}"),
        )
        .hints(hint);
        return None;
    }
    let at = converted(cx, at?, &wanted, "the position of a probe")?;
    Some(typed(
        Type::Tensor(shape),
        ExprKind::Probe {
            field: Box::new(field),
            at: Box::new(at),
        },
        span,
    ))
}

/// The dimension of the space a position lies in.
fn dimension(position: &Type) -> Option<usize> {
    match position {
        Type::Int => Some(1),
        Type::Tensor(shape) => match shape.dims() {
            [] => Some(1),
            [n @ (2 | 3)] => Some(*n),
            _ => None,
        },
        _ => None,
    }
}

/// A function that is not the user's.
fn builtin<'a>(
    cx: &mut Cx<'a>,
    name: &ast::Name,
    args: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    if reduce::is_reduction(&name.text)
        && let [arg] = args
    {
        return match &arg.kind {
            Written::Comprehension { body, iter } => {
                reduce::of_comprehension(cx, name, body, iter, span)
            }
            _ => reduce::of_sequence(cx, name, arg, hint, span),
        };
    }
    if EXTRA_FUNCTIONS.contains(&name.text.as_str()) {
        return extra(cx, name, args, span);
    }
    if !overload::is_function(&name.text) {
        unknown_function(cx, name);
        for arg in args {
            // Their own mistakes are worth reporting; what they are for is not known.
            infer(cx, arg, None);
        }
        return None;
    }
    match ops::candidates(&name.text).next().map(|row| row.meaning) {
        Some(Meaning::Builtin(Builtin::Sphere)) => reduce::sphere(cx, args, name, span),
        Some(Meaning::Builtin(Builtin::Count(_))) => {
            let args = inferred(cx, args, None)?;
            reduce::count(cx, name, args, span)
        }
        Some(Meaning::Builtin(Builtin::AxisKernels)) => axis_kernels(cx, name, args, span),
        Some(Meaning::Form(Form::Swap)) => swap(cx, name, args, hint, span),
        Some(Meaning::Form(Form::Concat)) => {
            let args = inferred(cx, args, None)?;
            match args.is_empty() {
                true => overload::apply(cx, &name.text, name.span, args, span),
                false => build::tensor_of(cx, args, span),
            }
        }
        _ => {
            let hint = hint::of_argument(hint);
            let args = inferred(cx, args, hint.as_ref())?;
            overload::apply(cx, &name.text, name.span, args, span)
        }
    }
}

/// All arguments, if all are right.
pub(super) fn inferred<'a>(
    cx: &mut Cx<'a>,
    args: &'a [ast::Expr],
    hint: Option<&Type>,
) -> Option<Vec<Expr>> {
    let args: Vec<Option<Expr>> = args.iter().map(|arg| infer(cx, arg, hint)).collect();
    args.into_iter().collect()
}

fn unknown_function(cx: &mut Cx<'_>, name: &ast::Name) {
    if cx.incomplete {
        return;
    }
    let is_kernel = KERNELS.iter().any(|kernel| kernel.name == name.text);
    let is_strand = cx
        .strand
        .as_ref()
        .is_some_and(|strand| strand.name == name.text);
    let hint = if cx.defining == Some(name.text.as_str()) {
        Some(format!(
            "`{}` is known only after its definition; there is no recursion",
            name.text
        ))
    } else if is_kernel {
        Some(format!(
            "`{0}` is a kernel; it makes a field of an image: `{0} ⊛ …`",
            name.text
        ))
    } else if is_strand {
        Some(format!(
            "`{0}` is the strand; a method creates one with `new {0}(…);`",
            name.text
        ))
    } else {
        let calls = OPERATORS
            .iter()
            .flat_map(|row| row.syntax)
            .filter_map(|syntax| match syntax {
                Syntax::Call(name) => Some(*name),
                _ => None,
            });
        let names: Vec<&str> = cx
            .scopes
            .function_names()
            .chain(calls)
            .chain(EXTRA_FUNCTIONS)
            .collect();
        cx.similar_name(&name.text, names.into_iter())
    };
    cx.error(
        "unknown-function",
        name.span,
        format!("unknown function `{}`", name.text),
    )
    .hints(elsewhere(&name.text).or(hint));
}

/// What functions of other languages are called here.
fn elsewhere(name: &str) -> Option<String> {
    let instead = match name {
        "fabs" => "the magnitude of a number is `|x|`",
        "dist" => "the distance between points is `|a - b|`",
        "int" => "there is no conversion to int; `floor` and `round` return reals",
        "dot" => "the inner product is written `a • b`",
        "cross" => "the cross product is written `a × b`",
        "fmin" | "fmax" => "the functions are called `min` and `max`",
        _ => return None,
    };
    Some(instead.to_owned())
}
