//! Statements: allowed places, assignments, and control flow.
//!
//! A wrong statement is reported and left out; a program with errors has no tree. Statements after an exit are checked
//! like all others, but left out of the tree.

use super::{
    build::{element_type, iteration},
    call::inferred,
    context::{Cx, Place, Target},
    expr::{check_against, condition, infer, variable},
    indexed,
    messages::conversion_advice,
    overload, restrictions,
    scope::Entity,
    strand::created_with,
    tree::{Block, Expr, Stmt, StmtKind, VarId, VarKind},
    types, unroll,
};
use crate::front::{
    codes,
    diag::Fix,
    facts::Referent,
    source::Span,
    syntax::ast::{self, AssignOp, StmtKind as Written},
};
use ein_ir::Type;

/// A block with a scope of its own.
pub(super) fn block<'a>(cx: &mut Cx<'a>, written: &'a ast::Block) -> Block {
    statements(cx, &written.stmts, written.span)
}

/// A statement as a block, with a scope of its own.
fn branch<'a>(cx: &mut Cx<'a>, written: &'a ast::Stmt) -> Block {
    match &written.kind {
        Written::Block(inner) => block(cx, inner),
        _ => statements(cx, std::slice::from_ref(written), written.span),
    }
}

fn statements<'a>(cx: &mut Cx<'a>, written: &'a [ast::Stmt], span: Span) -> Block {
    cx.scopes.push(span);
    let mut stmts = Vec::new();
    let mut warned = !cx.flow.is_reachable();
    for stmt in written {
        let reachable = cx.flow.is_reachable();
        if !reachable && !warned {
            warned = true;
            cx.warning(
                codes::UNREACHABLE,
                stmt.span,
                "this statement is never reached",
            )
            .hint("an exit comes before it");
        }
        if let Some(kind) = statement(cx, stmt)
            && reachable
        {
            stmts.push(Stmt {
                kind,
                span: stmt.span,
            });
        }
    }
    cx.scopes.pop();
    Block { stmts }
}

fn statement<'a>(cx: &mut Cx<'a>, written: &'a ast::Stmt) -> Option<StmtKind> {
    match &written.kind {
        Written::Block(inner) => Some(StmtKind::Block(block(cx, inner))),
        Written::Decl { ty, name, value } => declaration(cx, ty, name, value.as_ref()),
        Written::Assign { name, op, value } => assignment(cx, name, *op, value),
        Written::If {
            condition: written,
            then,
            otherwise,
        } => {
            let condition = condition(cx, written);
            let before = cx.flow.clone();
            let then = branch(cx, then);
            let after_then = std::mem::replace(&mut cx.flow, before);
            let otherwise = otherwise
                .as_deref()
                .map(|otherwise| branch(cx, otherwise))
                .unwrap_or_default();
            cx.flow.join(after_then);
            Some(StmtKind::If {
                condition: condition?,
                then,
                otherwise,
            })
        }
        Written::Foreach { ty, iter, body } => foreach(cx, ty, iter, body),
        Written::Print(args) => print(cx, args),
        Written::New { strand, args } => new(cx, strand, args, written.span),
        Written::Stabilize => exit(cx, StmtKind::Stabilize, written.span),
        Written::Die => exit(cx, StmtKind::Die, written.span),
        Written::Continue => {
            if !matches!(cx.place, Place::Method(_)) && !cx.place.is_between_steps() {
                let message = format!("`continue` cannot be used in {}", cx.place.describe());
                cx.error(codes::CONTINUE_PLACE, written.span, message).hint(
                    "it ends this execution of a method or of the global `start` or `update` block",
                );
                return None;
            }
            if cx.loops > 0 {
                cx.warning(codes::CONTINUE_IN_LOOP, written.span, "`continue` inside a loop ends the whole method or block, not one turn of the loop");
            }
            cx.exits.continued.extend(cx.flow.lacking());
            cx.flow.exit();
            Some(StmtKind::Continue)
        }
        Written::Return(value) => returned(cx, value, written.span),
        Written::Error => None,
    }
}

/// Declares a local variable.
fn declaration<'a>(
    cx: &mut Cx<'a>,
    ty: &'a ast::TypeExpr,
    name: &'a ast::Name,
    value: Option<&'a ast::Expr>,
) -> Option<StmtKind> {
    let (var, value) = declared(cx, ty, name, value, VarKind::Local)?;
    Some(StmtKind::Decl { var, value })
}

/// Declares a variable, local or global, with its value if it has one.
pub(super) fn declared<'a>(
    cx: &mut Cx<'a>,
    ty: &'a ast::TypeExpr,
    name: &'a ast::Name,
    value: Option<&'a ast::Expr>,
    kind: VarKind,
) -> Option<(VarId, Option<Expr>)> {
    let labels = types::labels(cx, ty);
    let ty = types::resolve(cx, ty);
    let target = Target {
        name: &name.text,
        span: name.span,
        labels: labels.clone(),
    };
    let outer = cx.target.replace(target);
    let checked = value.map(|value| {
        check_against(
            cx,
            value,
            ty.as_ref(),
            &format!("the value of `{}`", name.text),
        )
    });
    cx.target = outer;
    let var = cx.declare(name, ty.clone(), kind);
    if let Some(value) = value {
        cx.facts.known_from(name.span, value.span.end);
    }
    cx.vars[var.0].labels = labels;
    match checked {
        Some(value) => {
            remember_kernels(cx, var, value.as_ref());
            let value = value?;
            indexed::defines(cx, var, &value);
            Some((var, Some(value)))
        }
        None => {
            require_assignable(cx, ty.as_ref()?, name)?;
            cx.flow.declare_without_value(var);
            Some((var, None))
        }
    }
}

/// Notes which kernels a variable stands for.
pub(super) fn remember_kernels(cx: &mut Cx<'_>, var: VarId, value: Option<&Expr>) {
    cx.vars[var.0].kernels = value
        .and_then(|value| restrictions::kernels(cx, value))
        .cloned();
}

/// Reports a variable without a value that could never be assigned one.
pub(super) fn require_assignable(cx: &mut Cx<'_>, ty: &Type, name: &ast::Name) -> Option<()> {
    if is_definition(ty) {
        let message = format!(
            "`{}` of type `{ty}` needs a value: it can never be assigned",
            name.text
        );
        cx.error(codes::MISSING_VALUE, name.span, message);
        return None;
    }
    Some(())
}

/// Whether variables of a type are definitions rather than places for values.
fn is_definition(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Field { .. }
            | Type::Image { .. }
            | Type::Kernel(_)
            | Type::Fem { .. }
            | Type::Mesh(_)
    )
}

fn assignment<'a>(
    cx: &mut Cx<'a>,
    name: &'a ast::Name,
    op: AssignOp,
    value: &'a ast::Expr,
) -> Option<StmtKind> {
    let target = target(cx, name);
    let ty = target.and_then(|var| cx.var(var).ty.clone());
    let result = match (op_symbol(op), target, &ty) {
        (Some(symbol), Some(var), Some(ty)) => {
            let value = infer(cx, value, None);
            let read_before = cx.var(var).read;
            let old = variable(cx, var, name.span);
            // Only to change a variable is not to use it.
            cx.vars[var.0].read = read_before;
            combined(cx, symbol, old, value, ty, name)
        }
        _ => {
            let what = format!("the value assigned to `{}`", name.text);
            check_against(cx, value, ty.as_ref(), &what)
        }
    };
    let var = target?;
    cx.flow.assign(var);
    let value = result?;
    Some(StmtKind::Assign { var, value })
}

fn op_symbol(op: AssignOp) -> Option<&'static str> {
    match op {
        AssignOp::Set => None,
        AssignOp::Add => Some("+"),
        AssignOp::Sub => Some("-"),
        AssignOp::Mul => Some("*"),
        AssignOp::Div => Some("/"),
        AssignOp::Rem => Some("%"),
        AssignOp::Append => Some("@"),
    }
}

/// The new value of `x op= e`, which has the type of `x`.
fn combined(
    cx: &mut Cx<'_>,
    symbol: &'static str,
    old: Option<Expr>,
    value: Option<Expr>,
    ty: &Type,
    name: &ast::Name,
) -> Option<Expr> {
    let (old, value) = (old?, value?);
    let span = name.span.to(value.span);
    let value_span = value.span;
    let result = overload::apply(cx, symbol, span, vec![old, value], None, span)?;
    if result.ty == *ty {
        return Some(result);
    }
    let found = result.ty;
    let message = format!(
        "`{} {symbol}= …` would give a value of type `{found}`, but `{}` has type `{ty}`",
        name.text, name.text
    );
    cx.error(codes::TYPE_MISMATCH, value_span, message)
        .hints(conversion_advice(&found, ty));
    None
}

/// The variable that is assigned to, if it may be assigned here.
fn target(cx: &mut Cx<'_>, name: &ast::Name) -> Option<VarId> {
    let var = named_target(cx, name)?;
    let Some((what, hint)) = immutable(cx, var) else {
        return Some(var);
    };
    let declared = cx.var(var).span;
    let message = match what {
        "the global variable" => format!(
            "in {}, cannot assign to {what} `{}`",
            cx.place.describe(),
            name.text
        ),
        _ => format!("cannot assign to {what} `{}`", name.text),
    };
    cx.error(codes::ASSIGNMENT, name.span, message)
        .label(declared, "defined here")
        .hints(hint.map(str::to_owned));
    None
}

/// The variable of a name; anything else is reported.
fn named_target(cx: &mut Cx<'_>, name: &ast::Name) -> Option<VarId> {
    let (what, declared) = match cx.scopes.value(&name.text) {
        Some(Entity::Var(var)) => {
            cx.refers(name.span, var);
            // The variable of a loop that is unrolled is a constant.
            unroll::needs_value(cx, |known| known == var);
            return Some(var);
        }
        Some(Entity::Const(id)) => ("the constant", cx.consts[id.0].span),
        None => match cx.scopes.function_span(&name.text) {
            Some(declared) => ("the function", declared),
            None => {
                undeclared_target(cx, name);
                return None;
            }
        },
    };
    cx.facts.name(name.span, Referent::Defined(declared));
    let message = format!("cannot assign to {what} `{}`", name.text);
    cx.error(codes::ASSIGNMENT, name.span, message)
        .label(declared, "defined here");
    None
}

fn undeclared_target(cx: &mut Cx<'_>, name: &ast::Name) {
    if cx.incomplete {
        return;
    }
    let names: Vec<&str> = cx.scopes.value_names().collect();
    let similar = cx.similar_name(&name.text, names);
    let message = format!("cannot assign to undeclared variable `{}`", name.text);
    cx.error(codes::UNDECLARED_VARIABLE, name.span, message)
        .did_you_mean(similar);
}

/// What a variable is that may not be assigned here, and what helps.
fn immutable(cx: &Cx<'_>, var: VarId) -> Option<(&'static str, Option<&'static str>)> {
    let never = Some("fields, images and kernels are definitions; they never change");
    match (&cx.var(var).ty, cx.var(var).kind) {
        (Some(Type::Field { .. }), _) => Some(("the field", never)),
        (Some(Type::Image { .. }), _) => Some(("the image", never)),
        (Some(Type::Kernel(_)), _) => Some(("the kernel", never)),
        (Some(Type::Fem { .. } | Type::Mesh(_)), _) => Some(("the mesh", never)),
        (_, VarKind::Local) => None,
        (_, VarKind::Param) => Some(("the parameter", Some("copy it into a variable first"))),
        (_, VarKind::State) => {
            (!cx.place.may_assign_state()).then_some(("the state variable", None))
        }
        (_, VarKind::Input | VarKind::Global) => (!cx.place.may_assign_globals()).then_some((
            "the global variable",
            Some("globals change only in the global `initialize`, `start` and `update` blocks"),
        )),
    }
}

fn foreach<'a>(
    cx: &mut Cx<'a>,
    ty: &'a ast::TypeExpr,
    iter: &'a ast::Iter,
    body: &'a ast::Stmt,
) -> Option<StmtKind> {
    let declared = types::resolve(cx, ty);
    let hint = declared
        .clone()
        .map(|element| Type::Seq(Box::new(element), None));
    let source = iteration(cx, &iter.source, hint.as_ref());
    let mut fits = true;
    if let (Some(declared), Some(source)) = (&declared, &source) {
        let found = element_type(source);
        if found != *declared {
            fits = false;
            let message = format!(
                "the elements have type `{found}`, but `{}` is declared as `{declared}`",
                iter.name.text
            );
            cx.error(codes::ELEMENT_TYPE, ty.span, message)
                .hint(format!("declare it as `{found} {}`", iter.name.text))
                .fix(Fix::replace(ty.span, found.to_string()));
        }
    }
    cx.scopes.push(body.span);
    let var = cx.declare(&iter.name, declared, VarKind::Local);
    cx.vars[var.0].read = true;
    cx.loops += 1;
    let repeated = unroll::repeated(cx, &iter.name, var, source, |cx| branch(cx, body));
    cx.loops -= 1;
    cx.scopes.pop();
    repeated.filter(|_| fits)
}

fn print<'a>(cx: &mut Cx<'a>, args: &'a [ast::Expr]) -> Option<StmtKind> {
    let args: Vec<Option<Expr>> = args
        .iter()
        .map(|arg| {
            let arg = infer(cx, arg, None)?;
            if !arg.ty.is_value() {
                let hint = matches!(arg.ty, Type::Field { .. })
                    .then(|| "probe the field at a position first".to_owned());
                cx.error(
                    codes::PRINT_TYPE,
                    arg.span,
                    format!("a value of type `{}` cannot be printed", arg.ty),
                )
                .hints(hint);
                return None;
            }
            Some(arg)
        })
        .collect();
    let args: Option<Vec<Expr>> = args.into_iter().collect();
    args.map(StmtKind::Print)
}

fn new<'a>(
    cx: &mut Cx<'a>,
    strand: &'a ast::Name,
    args: &'a [ast::Expr],
    span: Span,
) -> Option<StmtKind> {
    if !cx.place.is_stepping() {
        let message = format!("`new` cannot be used in {}", cx.place.describe());
        cx.error(codes::NEW_PLACE, span, message)
            .hint("strands are created in the `start` and `update` methods");
        inferred(cx, args, None);
        return None;
    }
    cx.births_and_deaths.push(("new", span));
    let unknown = format!("unknown strand `{}`", strand.text);
    created_with(cx, &strand.text, strand.span, args, &unknown).map(StmtKind::New)
}

/// `stabilize;` and `die;`: exits in a method, calls to all strands in global code.
fn exit(cx: &mut Cx<'_>, kind: StmtKind, span: Span) -> Option<StmtKind> {
    let dies = matches!(kind, StmtKind::Die);
    let name = if dies { "die" } else { "stabilize" };
    if dies {
        cx.births_and_deaths.push((name, span));
    }
    if !cx.place.is_stepping() && !cx.place.is_between_steps() {
        let message = format!("`{name}` cannot be used in {}", cx.place.describe());
        cx.error(codes::EXIT_PLACE, span, message)
            .hint("it can be used in the `start` and `update` methods and in the global `start` and `update` blocks");
        return None;
    }
    cx.ends_strands = true;
    if cx.place.is_stepping() {
        if !dies {
            cx.exits.stabilized.extend(cx.flow.lacking());
        }
        cx.flow.exit();
    }
    Some(kind)
}

fn returned<'a>(cx: &mut Cx<'a>, value: &'a ast::Expr, span: Span) -> Option<StmtKind> {
    if cx.place != Place::Function {
        infer(cx, value, None);
        let message = format!("`return` cannot be used in {}", cx.place.describe());
        cx.error(codes::RETURN_PLACE, span, message)
            .hint("only functions return; a method ends with `continue`, `stabilize` or `die`");
        cx.flow.exit();
        return None;
    }
    let result = cx.result.clone();
    let value = check_against(cx, value, result.as_ref(), "the returned value");
    cx.flow.exit();
    Some(StmtKind::Return(value?))
}
