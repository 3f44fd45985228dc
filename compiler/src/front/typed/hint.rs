//! The type that the surroundings of an expression would like it to have, for the expressions that have none of their
//! own: images and sequences that are loaded, and the empty sequence.
//!
//! What an operator would like of its operands is read off what is wanted of its result or what its other operand is.
//! Hints are only followed by expressions without a type, so a hint that fits nothing does no harm.

use crate::front::syntax::ast::{self, ExprKind as Written};
use ein_ir::{Continuity, Shape, Type};

/// Whether an expression may need a hint to have a type.
pub(super) fn needs_context(written: &ast::Expr) -> bool {
    match &written.kind {
        Written::LoadImage(_) | Written::LoadSequence(_) => true,
        Written::Sequence(elements) => elements.is_empty(),
        Written::Call { args, .. } => args.len() == 1 && needs_context(&args[0]),
        Written::Infix { op, left, right } => {
            op.symbol == "⊛" && (needs_context(left) || needs_context(right))
        }
        Written::Prefix { operand, .. } => needs_context(operand),
        _ => false,
    }
}

fn field(dim: usize, shape: Shape) -> Type {
    // Only the dimension and the shape of a hint are ever looked at.
    Type::Field {
        continuity: Continuity::Infinite,
        dim,
        shape,
    }
}

/// What a prefix operator would like its operand to be if its result is wanted to be `result`.
pub(super) fn of_prefix(op: &str, result: Option<&Type>) -> Option<Type> {
    let result = result?;
    let Type::Field { dim, shape, .. } = result else {
        return Some(result.clone());
    };
    let operand = match op {
        "∇" => Some(Shape::SCALAR),
        "∇⊗" => without_last(shape, *dim),
        "∇•" => Some(shape.append(&[*dim])),
        "∇×" if *dim == 2 => Some(Shape::new([2])),
        _ => Some(shape.clone()),
    };
    operand.map(|shape| field(*dim, shape))
}

/// The shape without its last axis, which has this extent; an extent of 1 is no axis.
fn without_last(shape: &Shape, extent: usize) -> Option<Shape> {
    match shape.dims() {
        dims if extent == 1 => Some(Shape::from(dims)),
        [rest @ .., last] if *last == extent => Some(Shape::from(rest)),
        _ => None,
    }
}

/// What an infix operator would like an operand to be if its result is wanted to be `result` and its other operand is
/// of type `sibling`.
pub(super) fn of_infix(op: &str, result: Option<&Type>, sibling: Option<&Type>) -> Option<Type> {
    match (op, result, sibling) {
        ("⊛", Some(Type::Field { dim, shape, .. }), _) => Some(Type::Image {
            dim: *dim,
            shape: shape.clone(),
        }),
        ("+" | "-", Some(result @ Type::Field { .. }), _) => Some(result.clone()),
        ("+" | "-", _, Some(sibling)) => Some(sibling.clone()),
        ("*" | "/", Some(Type::Field { dim, shape, .. }), sibling) => {
            let scales = |ty: &Type| match ty {
                Type::Tensor(other) | Type::Field { shape: other, .. } => !other.is_scalar(),
                _ => false,
            };
            // One side of a product is a scalar, so what stands beside a tensor is one.
            let scalar = sibling.is_some_and(scales);
            Some(field(
                *dim,
                if scalar { Shape::SCALAR } else { shape.clone() },
            ))
        }
        ("@", Some(result @ Type::Seq(..)), _) => Some(result.clone()),
        ("@", _, Some(sibling @ Type::Seq(..))) => Some(sibling.clone()),
        ("@", _, Some(sibling)) => Some(Type::Seq(Box::new(sibling.clone()), None)),
        _ => None,
    }
}

/// What a built-in function would like its argument to be if its result is wanted to be `result`: most functions of
/// fields and images keep dimension and shape.
pub(super) fn of_argument(result: Option<&Type>) -> Option<Type> {
    match result? {
        result @ (Type::Image { .. } | Type::Field { .. }) => Some(result.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_take_back_the_axis_they_add() {
        let vector = field(3, Shape::new([3]));
        assert_eq!(of_prefix("∇", Some(&vector)), Some(field(3, Shape::SCALAR)));
        assert_eq!(
            of_prefix("∇⊗", Some(&field(3, Shape::new([2, 3])))),
            Some(field(3, Shape::new([2])))
        );
        assert_eq!(of_prefix("∇⊗", Some(&field(3, Shape::new([2])))), None);
        assert_eq!(
            of_prefix("∇•", Some(&vector)),
            Some(field(3, Shape::new([3, 3])))
        );
        assert_eq!(
            of_prefix("∇×", Some(&field(2, Shape::SCALAR))),
            Some(field(2, Shape::new([2])))
        );
    }

    #[test]
    fn a_product_asks_for_a_scalar_beside_a_tensor() {
        let wanted = field(2, Shape::new([2]));
        assert_eq!(
            of_infix("*", Some(&wanted), Some(&Type::REAL)),
            Some(wanted.clone())
        );
        assert_eq!(
            of_infix("*", Some(&wanted), Some(&Type::tensor(&[2]))),
            Some(field(2, Shape::SCALAR))
        );
    }
}
