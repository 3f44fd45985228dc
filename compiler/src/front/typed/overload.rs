//! Operators and built-in functions: the row of the operator table that fits.

use super::{
    coerce::implicitly, context::Cx, hint, rejected, restrictions::restricted, tree::Expr, types,
};
use crate::front::{facts::Referent, source::Span, syntax::ast};
use ein_ir::{
    Type,
    ops::{self, Syntax},
};

/// Whether the table has a function of this name.
pub(super) fn is_function(name: &str) -> bool {
    let is_call = |syntax: &Syntax| matches!(syntax, Syntax::Call(call) if *call == name);
    ops::candidates(name).any(|row| row.syntax.iter().any(is_call))
}

/// An operator or built-in function applied to written arguments; `op_span` is the place of its name or symbol, and `hint`
/// the type that the surroundings prefer.
pub(super) fn operation<'a>(
    cx: &mut Cx<'a>,
    spelling: &str,
    op_span: Span,
    written: &[&'a ast::Expr],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let args = hint::operands(cx, spelling, written, hint)?;
    apply(cx, spelling, op_span, args, hint, span)
}

/// The same with arguments that are already checked.
pub(super) fn apply(
    cx: &mut Cx<'_>,
    spelling: &str,
    op_span: Span,
    args: Vec<Expr>,
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let found: Vec<Type> = args.iter().map(|arg| arg.ty.clone()).collect();
    match ops::resolve_as(spelling, &found, hint) {
        Ok(op) => {
            // Operators such as brackets have no symbol that names them.
            if op_span != span {
                cx.facts.name(op_span, Referent::Operator(op.row));
            }
            types::limit_size(cx, &op.result, span)?;
            let args = args.into_iter().zip(&op.args);
            let args = args
                .map(|(arg, wanted)| implicitly(cx, arg, wanted))
                .collect();
            restricted(cx, op, args, op_span, span)
        }
        Err(rejection) => {
            rejected::report(cx, spelling, op_span, &args, &rejection);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_are_functions() {
        assert!(is_function("sqrt") && is_function("length"));
        assert!(!is_function("+") && !is_function("π") && !is_function("nothing"));
    }
}
