//! Expressions that build sequences, and those that load files.

use super::{
    context::{Cx, Place},
    expr::{constant_string, infer, literal, typed},
    overload,
    scope::Entity,
    tree::{Constant, Domain, Expr, ExprKind, VarId, VarKind},
    types,
};
use crate::front::{codes, diag::Fix, source::Span, syntax::ast};
use ein_ir::{
    Type,
    ops::{self, Builtin, Meaning, spelling},
};

/// `{a, …}`, `{}`
pub(super) fn sequence<'a>(
    cx: &mut Cx<'a>,
    written: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let of = |element: &Type| Type::Seq(Box::new(element.clone()), Some(written.len()));
    let wanted = match hint {
        Some(Type::Seq(element, _)) => Some(of(element)),
        _ => None,
    };
    if written.is_empty() {
        // The empty sequence adapts to any other.
        let ty = wanted.unwrap_or_else(|| of(&Type::Int));
        return Some(literal(ty, Constant::Seq(Vec::new()), span));
    }
    let written: Vec<&ast::Expr> = written.iter().collect();
    overload::operation(
        cx,
        spelling::SEQUENCE,
        span,
        &written,
        wanted.as_ref(),
        span,
    )
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
    let domain = source.map(|source| Domain::Seq(Box::new(source)));
    comprehension_over(cx, body, iter, domain, hint, span)
}

/// The same over a domain that was checked before; `None` if it has errors.
pub(super) fn comprehension_over<'a>(
    cx: &mut Cx<'a>,
    body: &'a ast::Expr,
    iter: &'a ast::Iter,
    domain: Option<Domain>,
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let element = match &domain {
        Some(Domain::Seq(source)) => Some(element_type(source)),
        Some(Domain::Strands(_)) => cx
            .strand
            .as_ref()
            .map(|strand| Type::Strand(strand.name.to_owned())),
        None => None,
    };
    let wanted = match hint {
        Some(Type::Seq(element, None)) => Some(&**element),
        _ => None,
    };
    let place = body.span;
    let (var, body) = with_iterator(cx, iter, element, place, |cx| infer(cx, body, wanted));
    let (body, domain) = (body?, domain?);
    let ty = types::sequence_of(cx, body.ty.clone(), None, body.span)?;
    let kind = ExprKind::Comprehension {
        body: Box::new(body),
        var,
        domain,
    };
    Some(typed(ty, kind, span))
}

/// Does something where an iterator's variable is in scope. It may be left unused: to count is a use of the iteration.
pub(super) fn with_iterator<'a, R>(
    cx: &mut Cx<'a>,
    iter: &'a ast::Iter,
    ty: Option<Type>,
    extent: Span,
    inside: impl FnOnce(&mut Cx<'a>) -> R,
) -> (VarId, R) {
    cx.scopes.push(extent);
    let var = cx.declare(&iter.name, ty, VarKind::Local);
    cx.vars[var.0].read = true;
    cx.loops += 1;
    let result = inside(cx);
    cx.loops -= 1;
    cx.scopes.pop();
    (var, result)
}

/// The source of an iteration, which must be a sequence.
pub(super) fn iteration<'a>(
    cx: &mut Cx<'a>,
    source: &'a ast::Expr,
    hint: Option<&Type>,
) -> Option<Expr> {
    let source = infer(cx, source, hint)?;
    if !matches!(source.ty, Type::Seq(..)) {
        let is_count = source.ty == Type::Int;
        let hint = is_count.then(|| "the integers below n are `0..n-1`".to_owned());
        let fix = is_count.then(|| Fix::wrap(source.span, "0..", "-1"));
        cx.error(
            codes::NOT_A_SEQUENCE,
            source.span,
            format!(
                "only a sequence can be iterated over, not a value of type `{}`",
                source.ty
            ),
        )
        .hints(hint)
        .fix(fix);
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

/// Whether a call loads values on a mesh, or a mesh. These functions are found by name; images and sequences have keywords.
pub(super) fn is_loader(callee: &ast::Expr) -> bool {
    matches!(&callee.kind, ast::ExprKind::Name(name) if loads(name))
}

/// The same by the name.
pub(super) fn loads(function: &str) -> bool {
    let loading = [Builtin::LoadFem, Builtin::LoadMesh].map(Meaning::Builtin);
    ops::candidates(function).any(|row| loading.contains(&row.meaning))
}

/// `load_image("…")`, `load_sequence("…")`, `load_fem("…", "…")`, `load_mesh("…")`; its type is that of the hint.
pub(super) fn load<'a>(
    cx: &mut Cx<'a>,
    function: &str,
    written: &'a [ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let (article, what, example) = match function {
        "load_image" => ("an", "image", "image(3)[] v"),
        "load_sequence" => ("a", "sequence", "real[] s"),
        "load_mesh" => ("a", "mesh", "mesh(3) m"),
        _ => ("a", "field on a mesh", "fem#1(3)[] g"),
    };
    if !matches!(cx.place, Place::Item | Place::GlobalInitialize) {
        let place = cx.place.describe();
        cx.error(
            codes::LOAD_PLACE,
            span,
            format!("{article} {what} cannot be loaded in {place}"),
        )
        .hint("load it in the definition of a global variable");
        return None;
    }
    let args: Vec<Option<Expr>> = written
        .iter()
        .map(|arg| match named_mesh(cx, arg) {
            true => infer(cx, arg, None),
            false => constant_string(cx, arg, "the name of a file")
                .map(|name| literal(Type::String, Constant::String(name), arg.span)),
        })
        .collect();
    let types: Vec<Type> = args
        .iter()
        .map(|arg| arg.as_ref().map_or(Type::String, |arg| arg.ty.clone()))
        .collect();
    // A sequence that is loaded is as long as it is.
    let wanted = match hint {
        Some(Type::Seq(element, _)) => Some(Type::Seq(element.clone(), None)),
        other => other.cloned(),
    };
    match ops::resolve_as(function, &types, wanted.as_ref()) {
        Ok(op) => {
            let args: Option<Vec<Expr>> = args.into_iter().collect();
            Some(Expr::applied(op, args?, span))
        }
        Err(_) if cx.hint_lost => None,
        Err(_) if !(1..3).contains(&types.len()) => {
            let message = format!("`{function}` does not take {} arguments", types.len());
            cx.error(codes::ARGUMENT_COUNT, span, message)
                .hint("write `load_fem(\"file\", \"array\")`");
            None
        }
        Err(_) => {
            cx.error(
                codes::UNKNOWN_TYPE_OF_FILE,
                span,
                format!("the type of this {what} is not known from its surroundings"),
            )
            .hint(format!(
                "define it as a global of its own: `{example} = …;`"
            ));
            None
        }
    }
}

/// Whether an expression is a variable of mesh type.
fn named_mesh(cx: &Cx<'_>, written: &ast::Expr) -> bool {
    let ast::ExprKind::Name(name) = &written.kind else {
        return false;
    };
    matches!(cx.scopes.value(name), Some(Entity::Var(var)) if matches!(cx.var(var).ty, Some(Type::Mesh(_))))
}
