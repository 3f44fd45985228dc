//! Implicit conversions made explicit, and the common type of several values.

use super::tree::{Constant, Expr, ExprKind};
use ein_ir::{Shape, Type};

/// The type that both convert to, if one of them converts to the other.
pub(super) fn common(a: &Type, b: &Type) -> Option<Type> {
    if a.coerces_to(b) {
        Some(b.clone())
    } else if b.coerces_to(a) {
        Some(a.clone())
    } else {
        None
    }
}

/// The expression at a type it converts to. Literals are converted at once; everything else is wrapped.
pub(super) fn coerce(expr: Expr, to: &Type) -> Expr {
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
        (ExprKind::Sequence(elements), Type::Seq(element, Some(_))) => {
            ExprKind::Sequence(elements.into_iter().map(|e| coerce(e, element)).collect())
        }
        (ExprKind::Sequence(elements), Type::Seq(element, None)) => {
            // The elements are converted first, then the length is forgotten.
            let fixed = Type::Seq(element.clone(), Some(elements.len()));
            let elements = elements.into_iter().map(|e| coerce(e, element)).collect();
            let inner = Expr {
                ty: fixed,
                kind: ExprKind::Sequence(elements),
                span,
            };
            ExprKind::Coerce(Box::new(inner))
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

/// A constant at a type its own type converts to.
pub(super) fn convert(value: Constant, to: &Type) -> Constant {
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

    fn seq(element: Type, length: Option<usize>) -> Type {
        Type::Seq(Box::new(element), length)
    }

    #[test]
    fn the_common_type_does_not_depend_on_the_order() {
        let pair = (seq(Type::Int, Some(1)), seq(Type::REAL, None));
        assert_eq!(common(&pair.0, &pair.1), Some(pair.1.clone()));
        assert_eq!(common(&pair.1, &pair.0), Some(pair.1.clone()));
        assert_eq!(common(&Type::Bool, &Type::Int), None);
    }

    #[test]
    fn literals_are_converted_and_their_length_is_forgotten_last() {
        let span = Span::default();
        let one = Expr {
            ty: Type::Int,
            kind: ExprKind::Constant(Constant::Int(1)),
            span,
        };
        let literal = Expr {
            ty: seq(Type::Int, Some(1)),
            kind: ExprKind::Sequence(vec![one]),
            span,
        };
        let converted = coerce(literal, &seq(Type::REAL, None));
        let ExprKind::Coerce(inner) = converted.kind else {
            panic!("the length is forgotten by a conversion");
        };
        assert_eq!(inner.ty, seq(Type::REAL, Some(1)));
        let ExprKind::Sequence(elements) = inner.kind else {
            panic!("the literal is kept");
        };
        let ExprKind::Constant(value) = &elements[0].kind else {
            panic!("the element is still a literal");
        };
        assert_eq!(*value, Constant::Tensor(Shape::SCALAR, vec![1.0]));
    }
}
