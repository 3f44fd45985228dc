//! The meaning of `f(…)`: a probe if `f` is a field, else a call of a user function or a built-in one.

use super::{
    build,
    coerce::implicitly,
    context::{Cx, FunctionInfo},
    expr::{infer, require_value, typed},
    foreign_names, hint, indexed,
    messages::{CONVOLVE, TO_FIELD, mismatch, plural},
    overload, reduce,
    tree::{Expr, ExprKind, FunctionId, VarId},
};
use crate::front::{
    codes,
    facts::Referent,
    source::Span,
    syntax::{
        ast::{self, ExprKind as Written, Operator},
        foreign_word,
    },
};
use ein_ir::{
    Type,
    kernel::KERNELS,
    ops::{self, Builtin, Lift, Meaning, OPERATORS, Reduction, Syntax, spelling},
};

/// `f(a, …)`
pub(super) fn call<'a>(
    cx: &mut Cx<'a>,
    callee: &'a ast::Expr,
    args: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    if let Some(reduction) = indexed::reduction_of(cx, callee) {
        return indexed::reduced(cx, callee, reduction, args, span);
    }
    let (derivatives, inner) = derivatives(callee);
    let Some(name) = function_name(cx, inner).filter(|name| {
        // Where nothing of this name can be called, it is taken for a field that is differentiated.
        derivatives.is_empty() || is_known(cx, &name.text)
    }) else {
        return probe(cx, callee, args, hint, span);
    };
    // `∇f(a)` can only mean the derivative of what the function gives, since a function is not a field.
    let mut wanted = hint.cloned();
    for op in &derivatives {
        wanted = ops::wanted(op.symbol, &[None], 0, wanted.as_ref());
    }
    let called = match called(cx, &name) {
        Some(function) => user_function(cx, function, args, &name, span),
        None => builtin(cx, &name, args, wanted.as_ref(), span),
    };
    derivatives.iter().rev().fold(called, |operand, op| {
        overload::apply(cx, op.symbol, op.span, vec![operand?], None, span)
    })
}

/// The differential operators before an expression, the outermost first, and their operand.
fn derivatives(written: &ast::Expr) -> (Vec<Operator>, &ast::Expr) {
    let (mut found, mut inner) = (Vec::new(), written);
    while let Written::Prefix { op, operand } = &inner.kind
        && ops::candidates(op.symbol).any(|row| row.lift == Lift::Derivative)
    {
        found.push(*op);
        inner = operand;
    }
    (found, inner)
}

/// The name of a function that is called, if it is one: a variable of the same name hides it.
fn function_name(cx: &Cx<'_>, callee: &ast::Expr) -> Option<ast::Name> {
    let Written::Name(text) = &callee.kind else {
        return None;
    };
    cx.scopes.value(text).is_none().then(|| ast::Name {
        text: text.clone(),
        span: callee.span,
    })
}

/// The user function that is called, if it is one.
fn called(cx: &mut Cx<'_>, name: &ast::Name) -> Option<FunctionId> {
    let Some(function) = cx.scopes.function(&name.text) else {
        if overload::is_function(&name.text) {
            cx.names_operator(name.span, &name.text);
        }
        return None;
    };
    let defined = cx.function(function).span;
    cx.facts.name(name.span, Referent::Defined(defined));
    Some(function)
}

fn is_known(cx: &Cx<'_>, function: &str) -> bool {
    cx.scopes.function(function).is_some() || overload::is_function(function)
}

/// `f { e | x in s }`, which is `f({ e | x in s })`.
pub(super) fn call_comprehension<'a>(
    cx: &mut Cx<'a>,
    callee: &'a ast::Expr,
    body: &'a ast::Expr,
    iter: &'a ast::Iter,
    span: Span,
) -> Option<Expr> {
    let inside = body.span.to(iter.source.span);
    let Some(name) = function_name(cx, callee) else {
        let callee = infer(cx, callee, None);
        build::comprehension(cx, body, iter, None, inside);
        let callee = callee?;
        cx.error(
            codes::NOT_A_FUNCTION,
            callee.span,
            format!("a value of type `{}` cannot be called", callee.ty),
        )
        .hint("a variable hides a function of the same name");
        return None;
    };
    if let Some(function) = called(cx, &name) {
        let sequence = build::comprehension(cx, body, iter, None, inside);
        return call_with(cx, function, vec![sequence], &name, span);
    }
    let sequence = match reduce::is_reduction(&name.text) {
        true => reduce::comprehension(cx, body, iter, inside),
        false => build::comprehension(cx, body, iter, None, inside),
    };
    if !overload::is_function(&name.text) {
        unknown_function(cx, &name);
        return None;
    }
    let reduction = Reduction::named(&name.text);
    match reduction.filter(|reduction| reduction.extreme().is_some()) {
        Some(_) => reduce::witness(cx, &name, sequence?, span),
        None => overload::apply(cx, &name.text, name.span, vec![sequence?], None, span),
    }
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
        cx.error(codes::ARGUMENT_COUNT, called, message)
            .label(defined, "defined here");
        return None;
    }
    let converted: Vec<Option<Expr>> = args
        .into_iter()
        .zip(params)
        .map(|(arg, &param)| {
            let (arg, ty) = (arg?, cx.var(param).ty.clone()?);
            if arg.ty.coerces_to(&ty) {
                return Some(implicitly(cx, arg, &ty));
            }
            let what = format!("argument `{}` of {what}", cx.var(param).name);
            mismatch(cx, &what, &ty, &arg);
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
    let operands = match args {
        [at] => hint::operands(cx, spelling::PROBE, &[callee, at], hint)?,
        [at, time] => hint::operands(cx, spelling::PROBE, &[callee, at, time], hint)?,
        _ => {
            let field = infer(cx, callee, None);
            inferred(cx, args, None)?;
            vec![field?]
        }
    };
    let found = &operands[0].ty;
    if !matches!(found, Type::Field { .. }) {
        let hint = match (found, &callee.kind) {
            (Type::Image { .. }, _) => Some(CONVOLVE.to_owned()),
            (Type::Fem { .. }, _) => Some(TO_FIELD.to_owned()),
            (Type::Seq(element, _), _) if matches!(**element, Type::Field { .. }) => {
                Some("select one of the fields: `…[0](x)`".to_owned())
            }
            (_, Written::Name(_)) => {
                Some("a variable hides a function of the same name".to_owned())
            }
            _ => None,
        };
        cx.error(
            codes::NOT_A_FIELD,
            callee.span,
            format!("a value of type `{found}` cannot be called or probed"),
        )
        .hints(hint);
        return None;
    }
    if found.is_timed_field() && args.len() != 2 {
        let message = format!(
            "a field over time is probed at a position and a time, found {}",
            format_args!("{} {}", args.len(), plural(args.len(), "argument"))
        );
        cx.error(codes::TIME, span, message)
            .hint("write `F(x, t)`, with the time in seconds");
        return None;
    }
    if !found.is_timed_field() && args.len() != 1 {
        let hint = (args.len() > 1).then(|| "the position is one vector: `F([x, y])`".to_owned());
        cx.error(
            codes::PROBE_POSITION,
            span,
            format!("a field is probed at one position, found {}", args.len()),
        )
        .hints(hint);
        return None;
    }
    overload::apply(cx, spelling::PROBE, span, operands, None, span)
}

/// A function that is not the user's.
fn builtin<'a>(
    cx: &mut Cx<'a>,
    name: &ast::Name,
    args: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    if let Some(error) = foreign_word(cx.version, &name.text, name.span) {
        cx.diagnostics.push(error);
        return None;
    }
    if !overload::is_function(&name.text) {
        unknown_function(cx, name);
        for arg in args {
            // Errors in the arguments are reported, too; there is no hint for their types.
            infer(cx, arg, None);
        }
        return None;
    }
    if build::loads(&name.text) {
        return build::load(cx, &name.text, args, hint, span);
    }
    let operands = match args {
        [
            ast::Expr {
                kind: Written::Comprehension { body, iter },
                span,
            },
        ] if reduce::is_reduction(&name.text) => {
            vec![reduce::comprehension(cx, body, iter, *span)?]
        }
        _ => {
            let args: Vec<&ast::Expr> = args.iter().collect();
            hint::operands(cx, &name.text, &args, hint)?
        }
    };
    let mut rows = ops::candidates(&name.text);
    let strands = match rows.any(|row| row.meaning == Meaning::Builtin(Builtin::Sphere)) {
        true => Some(reduce::queried(cx, span)?),
        false => None,
    };
    let hint = strands.as_ref().or(hint);
    overload::apply(cx, &name.text, name.span, operands, hint, span)
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
    let is_open = cx.defining == Some(name.text.as_str());
    let calls = OPERATORS
        .iter()
        .flat_map(|row| row.syntax)
        .filter_map(|syntax| match syntax {
            Syntax::Call(name) => Some(*name),
            _ => None,
        });
    let names: Vec<&str> = cx.scopes.function_names().chain(calls).collect();
    let similar = cx.similar_name(&name.text, names);
    let message = format!("unknown function `{}`", name.text);
    let report = cx.error(codes::UNKNOWN_FUNCTION, name.span, message);
    if let Some(foreign) = foreign_names::function(&name.text) {
        report.foreign(foreign);
    } else if is_open {
        report.hint(format!(
            "`{}` is known only after its definition; there is no recursion",
            name.text
        ));
    } else if is_kernel {
        report.hint(format!(
            "`{0}` is a kernel; it makes a field of an image: `{0} ⊛ …`",
            name.text
        ));
    } else if is_strand {
        report.hint(format!(
            "`{0}` is the strand; a method creates one with `new {0}(…);`",
            name.text
        ));
    } else {
        report.did_you_mean(similar);
    }
}
