//! Implicit conversions made explicit.

use super::{
    constant,
    context::Cx,
    tree::{Constant, Expr, convert::coerce},
    unroll,
};
use crate::front::{codes, diag::Fix};
use ein_ir::{Type, ops::Builtin};

/// The expression at a type it converts to where no conversion is written; a late one is worth a warning.
pub(super) fn implicitly(cx: &mut Cx<'_>, expr: Expr, to: &Type) -> Expr {
    if expr.ty == Type::Int && *to == Type::REAL && unroll::is_of_indices(cx, &expr) {
        let message = "an index is an int, not a number";
        cx.error(codes::INDEX_AS_NUMBER, expr.span, message)
            .hint("write `real(…)` around it, as in `real(i)`")
            .fix(Fix::wrap(expr.span, "real(", ")"));
    }
    if expr.ty == Type::Int && *to == Type::REAL && loses_a_fraction(cx, &expr) {
        let message = "this quotient of integers loses its fraction before it becomes a real";
        cx.warning(codes::INTEGER_DIVISION, expr.span, message)
            .hint("divide reals: `real(a)/b`; if it is meant: `real(a/b)`")
            .fix(Fix::wrap(expr.span, "real(", ")"));
    }
    coerce(expr, to)
}

/// Whether it is a quotient of integers that is not known to be exact.
fn loses_a_fraction(cx: &Cx<'_>, expr: &Expr) -> bool {
    let Some((Builtin::IntDiv, [a, b])) = expr.builtin() else {
        return false;
    };
    let known = |operand| match constant::evaluate(cx, operand) {
        Ok(Constant::Int(n)) => Some(n),
        _ => None,
    };
    !matches!((known(a), known(b)), (Some(a), Some(b)) if b != 0 && a % b == 0)
}
