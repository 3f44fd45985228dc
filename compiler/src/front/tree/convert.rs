//! Conversions of expressions and constants to other types.

use super::{Constant, Expr, ExprKind};
use ein_ir::{
    Shape, Type,
    ops::{Builtin, Instance, Meaning},
};

/// The expression at a type it converts to. Literals are converted at once; everything else is wrapped.
pub(crate) fn coerce(expr: Expr, to: &Type) -> Expr {
    debug_assert!(
        expr.ty.coerces_to(to),
        "{} does not convert to {to}",
        expr.ty
    );
    if expr.ty == *to {
        return expr;
    }
    let span = expr.span;
    let kind = match (expr.kind, to) {
        (ExprKind::Constant(value), _) => ExprKind::Constant(convert(value, to)),
        (ExprKind::Op { op, args }, Type::Seq(element, length)) if is_literal(&op) => {
            // The elements are converted first, then the length is forgotten.
            let args: Vec<Expr> = args.into_iter().map(|e| coerce(e, element)).collect();
            let types = vec![(**element).clone(); args.len()];
            let op = op.row.accept(&types, false).expect("elements of one type");
            let sequence = Expr::applied(op, args, span);
            match length {
                Some(_) => sequence.kind,
                None => ExprKind::Coerce(Box::new(sequence)),
            }
        }
        (kind, _) => ExprKind::Coerce(Box::new(Expr {
            ty: expr.ty,
            kind,
            span,
        })),
    };
    Expr {
        ty: to.clone(),
        kind,
        span,
    }
}

fn is_literal(op: &Instance) -> bool {
    op.row.meaning == Meaning::Builtin(Builtin::Sequence)
}

/// A constant at a type its own type converts to.
pub(crate) fn convert(value: Constant, to: &Type) -> Constant {
    match (value, to) {
        (Constant::Int(n), Type::Tensor(_)) => Constant::Tensor(Shape::SCALAR, vec![n as f64]),
        (Constant::Seq(elements), Type::Seq(element, _)) => {
            Constant::Seq(elements.into_iter().map(|e| convert(e, element)).collect())
        }
        (value, _) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::source::Span;
    use ein_ir::ops::{self, spelling};

    fn seq(element: Type, length: Option<usize>) -> Type {
        Type::Seq(Box::new(element), length)
    }

    #[test]
    fn literals_are_converted_and_their_length_is_forgotten_last() {
        let span = Span::default();
        let one = Expr {
            ty: Type::Int,
            kind: ExprKind::Constant(Constant::Int(1)),
            span,
        };
        let op = ops::resolve(spelling::SEQUENCE, &[Type::Int]).expect("a sequence");
        let literal = Expr::applied(op, vec![one], span);
        let converted = coerce(literal, &seq(Type::REAL, None));
        let ExprKind::Coerce(inner) = converted.kind else {
            panic!("the length is forgotten by a conversion");
        };
        assert_eq!(inner.ty, seq(Type::REAL, Some(1)));
        let ExprKind::Op { args, .. } = inner.kind else {
            panic!("the literal is kept");
        };
        let ExprKind::Constant(value) = &args[0].kind else {
            panic!("the element is still a literal");
        };
        assert_eq!(*value, Constant::Tensor(Shape::SCALAR, vec![1.0]));
    }
}
