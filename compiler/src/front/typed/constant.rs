//! Expressions whose values must be known when the program is compiled.

use super::{
    context::Cx,
    expr::infer,
    messages::mismatch,
    tree::{
        Constant, Expr, ExprKind, Notation,
        value::{self, NotConstant},
    },
    unroll,
};
use crate::front::{codes, diag::Diagnostic, elaborate::notation, syntax::ast};
use ein_ir::Type;

/// The value of an expression, if it is known.
pub(super) fn evaluate(cx: &Cx<'_>, expr: &Expr) -> Result<Constant, NotConstant> {
    let long_int = cx.options.long_int;
    let value = value::evaluate(expr, Vec::new(), long_int);
    match value {
        Err(why) if why.is_known_later() => match constructed(cx, expr) {
            Some(Ok(made)) => value::evaluate(&made, Vec::new(), long_int),
            _ => Err(why),
        },
        known => known,
    }
}

/// An expression with operators in the place of its index notation; none if it has no index notation, or stands where indices are
/// in scope and is not complete.
fn constructed(cx: &Cx<'_>, expr: &Expr) -> Option<Result<Expr, Vec<Diagnostic>>> {
    let is_complete = !cx.indices.are_open() && expr.has_notation();
    is_complete.then(|| notation::constructed(expr, cx.tree_vars(), cx.options.long_int))
}

/// The value of an expression that must be known; `what` names its role in messages.
pub(super) fn require(cx: &mut Cx<'_>, expr: &Expr, what: &str) -> Option<Constant> {
    match evaluate(cx, expr) {
        Ok(value) => Some(value),
        Err(why) => {
            unroll::needs_value(cx, |var| expr.mentions(var));
            match constructed(cx, expr) {
                Some(Err(problems)) => cx.diagnostics.extend(problems),
                _ => not_constant(cx, expr, what, why),
            }
            None
        }
    }
}

/// Reports a value that is not known.
pub(super) fn not_constant(cx: &mut Cx<'_>, expr: &Expr, what: &str, why: NotConstant) {
    let named = match &expr.kind {
        ExprKind::Var(var) => Some(*var),
        ExprKind::Notation(notation) => match **notation {
            Notation::Index(var) | Notation::Itself(var) => Some(var),
            _ => None,
        },
        _ => None,
    };
    let message = match named {
        Some(var) => format!(
            "{what} must be a constant, but `{}` is known only at run time",
            cx.var(var).name
        ),
        None => format!("{what} must be a constant"),
    };
    let mut report = cx.error(codes::NOT_CONSTANT, expr.span, message);
    if why.span != expr.span || !why.is_known_later() {
        report = report.label(why.span, why.reason);
    }
    report.hint("literals, `const` definitions and arithmetic on them are constants");
}

/// A constant integer; `what` names its role in messages.
pub(super) fn constant_int<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr, what: &str) -> Option<i64> {
    let found = int(cx, written, what)?;
    known_int(cx, &found, what)
}

/// An expression that must be an int.
pub(super) fn int<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr, what: &str) -> Option<Expr> {
    let found = infer(cx, written, Some(&Type::Int))?;
    if found.ty != Type::Int {
        mismatch(cx, what, &Type::Int, &found);
        return None;
    }
    Some(found)
}

/// The value of an int that must be known.
pub(super) fn known_int(cx: &mut Cx<'_>, found: &Expr, what: &str) -> Option<i64> {
    match require(cx, found, what)? {
        Constant::Int(value) => Some(value),
        Constant::Bool(_) | Constant::String(_) | Constant::Tensor(..) | Constant::Seq(_) => None,
    }
}
