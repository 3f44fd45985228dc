//! The typing rules, stated on shapes; each takes the argument types and gives the result type, if there is one.
//!
//! The rules are those of the language. Where the published test generator was narrower, a predicate
//! beside the rule says at which types it generated the operator; the calibration counts need it.

use crate::types::{Shape, Type};

/// The field or tensor in which arguments meet: fields agree in dimension, the least continuity counts.
fn join(types: &[Type]) -> Option<Type> {
    let fields: Vec<&Type> = types.iter().filter(|ty| ty.is_field()).collect();
    let Some(first) = fields.first() else {
        return Some(Type::tensor(Shape::SCALAR));
    };
    let continuity = fields.iter().map(|ty| ty.continuity).min()?;
    fields
        .iter()
        .all(|ty| ty.dim == first.dim)
        .then(|| Type::field(first.dim, continuity, Shape::SCALAR))
}

/// The field of an argument after taking derivatives.
fn lowered(ty: &Type, orders: u8) -> Option<Type> {
    let continuity = ty.continuity.checked_sub(orders)?;
    ty.is_field().then_some(Type { continuity, ..*ty })
}

pub(super) fn anything(t: &[Type]) -> Option<Type> {
    Some(t[0])
}

pub(super) fn norm(t: &[Type]) -> Option<Type> {
    Some(t[0].with_shape(Shape::SCALAR))
}

pub(super) fn not_scalar(t: &[Type]) -> Option<Type> {
    (!t[0].shape.is_scalar()).then_some(t[0])
}

pub(super) fn scalar(t: &[Type]) -> Option<Type> {
    t[0].shape.is_scalar().then_some(t[0])
}

/// One or more scalars of any kinds.
pub(super) fn scalars(t: &[Type]) -> Option<Type> {
    if t.iter().all(|ty| ty.shape.is_scalar()) {
        join(t)
    } else {
        None
    }
}

/// One or more plain reals.
pub(super) fn reals(t: &[Type]) -> Option<Type> {
    t.iter()
        .all(|ty| !ty.is_field() && ty.shape.is_scalar())
        .then_some(t[0])
}

/// The value of a field.
pub(super) fn probe(t: &[Type]) -> Option<Type> {
    t[0].is_field().then(|| Type::probed(t[0].dim, t[0].shape))
}

/// A matrix with an eigenvalue of this place, 0 for the greatest.
pub(super) fn eigenvalue(t: &[Type], place: usize) -> Option<Type> {
    eigenprojector(t, place).map(|ty| ty.with_shape(Shape::SCALAR))
}

/// The same with the matrix that projects onto its eigenvector.
pub(super) fn eigenprojector(t: &[Type], place: usize) -> Option<Type> {
    let n = t[0].shape.square()?;
    (matches!(n, 2 | 3) && place < usize::from(n)).then_some(t[0])
}

pub(super) fn transpose(t: &[Type]) -> Option<Type> {
    match *t[0].shape.extents() {
        [n, m] => Some(t[0].with_shape(Shape::new(&[m, n])?)),
        _ => None,
    }
}

pub(super) fn trace(t: &[Type]) -> Option<Type> {
    match t[0].shape.extents() {
        [rest @ .., n, m] if n == m => Some(t[0].with_shape(Shape::new(rest)?)),
        _ => None,
    }
}

pub(super) fn det(t: &[Type]) -> Option<Type> {
    matches!(t[0].shape.square(), Some(2 | 3)).then(|| t[0].with_shape(Shape::SCALAR))
}

pub(super) fn inverse(t: &[Type]) -> Option<Type> {
    (t[0].shape.is_scalar() || matches!(t[0].shape.square(), Some(2 | 3))).then_some(t[0])
}

/// Indexing: `None` keeps an axis, `Some(i)` selects.
pub(super) fn slice(t: &[Type], pattern: &[Option<usize>]) -> Option<Type> {
    let extents = t[0].shape.extents();
    if extents.len() != pattern.len() {
        return None;
    }
    let axes = || extents.iter().zip(pattern);
    if axes().any(|(n, index)| index.is_some_and(|i| i >= usize::from(*n))) {
        return None;
    }
    let kept: Vec<u8> = axes()
        .filter(|(_, index)| index.is_none())
        .map(|(n, _)| *n)
        .collect();
    Some(t[0].with_shape(Shape::new(&kept)?))
}

pub(super) fn gradient(t: &[Type]) -> Option<Type> {
    let field = lowered(&scalar(t)?, 1)?;
    // A dimension of one does not count as an axis: the derivative on the line is a scalar.
    if field.dim == 1 {
        Some(field)
    } else {
        Some(field.with_shape(Shape::new(&[field.dim])?))
    }
}

pub(super) fn hessian(t: &[Type]) -> Option<Type> {
    let field = lowered(&scalar(t)?, 2)?;
    Some(field.with_shape(Shape::new(&[field.dim, field.dim])?))
}

pub(super) fn laplacian(t: &[Type]) -> Option<Type> {
    lowered(&t[0], 2)
}

pub(super) fn jacobian(t: &[Type]) -> Option<Type> {
    let field = lowered(&not_scalar(t)?, 1)?;
    Some(field.with_shape(field.shape.then(&[field.dim])?))
}

pub(super) fn divergence(t: &[Type]) -> Option<Type> {
    let field = lowered(&t[0], 1)?;
    match field.shape.extents() {
        [rest @ .., n] if *n == field.dim => Some(field.with_shape(Shape::new(rest)?)),
        _ => None,
    }
}

pub(super) fn curl(t: &[Type]) -> Option<Type> {
    let field = lowered(&t[0], 1)?;
    match (field.dim, field.shape.vector()) {
        (2, Some(2)) => Some(field.with_shape(Shape::SCALAR)),
        (3, Some(3)) => Some(field),
        _ => None,
    }
}

pub(super) fn equal_shapes(t: &[Type]) -> Option<Type> {
    if t.iter().any(|ty| ty.shape != t[0].shape) {
        return None;
    }
    Some(join(t)?.with_shape(t[0].shape))
}

pub(super) fn scaling(t: &[Type]) -> Option<Type> {
    let (a, b) = (t[0].shape, t[1].shape);
    let shape = match (a.is_scalar(), b.is_scalar()) {
        (true, _) => b,
        (_, true) => a,
        (false, false) => return None,
    };
    Some(join(t)?.with_shape(shape))
}

pub(super) fn division(t: &[Type]) -> Option<Type> {
    if !t[1].shape.is_scalar() {
        return None;
    }
    Some(join(t)?.with_shape(t[0].shape))
}

pub(super) fn cross(t: &[Type]) -> Option<Type> {
    let both = join(t)?;
    match t[0].shape.vector().filter(|_| t[0].shape == t[1].shape)? {
        2 => Some(both),
        3 => Some(both.with_shape(t[0].shape)),
        _ => None,
    }
}

pub(super) fn modulate(t: &[Type]) -> Option<Type> {
    t[0].shape.vector()?;
    equal_shapes(t)
}

/// Contraction of the last `count` axes of the first with the first `count` axes of the second.
fn contraction(t: &[Type], count: usize) -> Option<Type> {
    let (a, b) = (t[0].shape, t[1].shape);
    let split = a.order().checked_sub(count)?;
    if b.order() < count || a.extents()[split..] != b.extents()[..count] {
        return None;
    }
    let shape = Shape::new(&a.extents()[..split])?.then(&b.extents()[count..])?;
    Some(join(t)?.with_shape(shape))
}

pub(super) fn inner(t: &[Type]) -> Option<Type> {
    contraction(t, 1)
}

pub(super) fn colon(t: &[Type]) -> Option<Type> {
    contraction(t, 2)
}

pub(super) fn outer(t: &[Type]) -> Option<Type> {
    Some(join(t)?.with_shape(t[0].shape.then(t[1].shape.extents())?))
}

pub(super) fn concat(t: &[Type]) -> Option<Type> {
    let part = equal_shapes(t)?;
    Some(part.with_shape(Shape::new(&[t.len() as u8])?.then(part.shape.extents())?))
}

pub(super) fn compose(t: &[Type]) -> Option<Type> {
    let (outer, inner) = (t[0], t[1]);
    let fits = match inner.shape.vector() {
        Some(n) => n == outer.dim,
        None => inner.shape.is_scalar() && outer.dim == 1,
    };
    let composed = Type::field(
        inner.dim,
        outer.continuity.min(inner.continuity),
        outer.shape,
    );
    (outer.is_field() && inner.is_field() && fits).then_some(composed)
}

/// Two of one shape, and scalars.
pub(super) fn interpolation(t: &[Type]) -> Option<Type> {
    let parameters = join(t).filter(|_| scalars(&t[2..]).is_some())?;
    (t[0].shape == t[1].shape).then(|| parameters.with_shape(t[0].shape))
}

/// Two bounds, scalar or of the shape of the third.
pub(super) fn clamp(t: &[Type]) -> Option<Type> {
    let (low, high, shape) = (t[0].shape, t[1].shape, t[2].shape);
    let bounds_fit = low == high && (low == shape || low.is_scalar());
    join(t)
        .filter(|_| bounds_fit)
        .map(|both| both.with_shape(shape))
}

// Where the published generator was narrower than the language.

pub(super) fn everywhere(_: &[Type]) -> bool {
    true
}

pub(super) fn square_small(t: &[Type]) -> bool {
    matches!(t[0].shape.square(), Some(2 | 3))
}

pub(super) fn square(t: &[Type]) -> bool {
    t[0].shape.square().is_some()
}

pub(super) fn scalar_field(t: &[Type]) -> bool {
    t[0].is_field()
}

pub(super) fn tensors_of_order_one_or_square(t: &[Type]) -> bool {
    let d = t[0].dim;
    t[0].shape.vector() == Some(d) || t[0].shape.square() == Some(d)
}

pub(super) fn vectors(t: &[Type]) -> bool {
    t[0].shape.vector().is_some()
}

/// Vectors as long as the dimension of the fields among them.
pub(super) fn vectors_of_dimension(t: &[Type]) -> bool {
    t.iter()
        .all(|ty| !ty.is_field() || ty.shape.vector() == Some(ty.dim))
}

pub(super) fn no_scalars(t: &[Type]) -> bool {
    t.iter().all(|ty| !ty.shape.is_scalar())
}

pub(super) fn equal_matrices(t: &[Type]) -> bool {
    let equal_continuity =
        !(t[0].is_field() && t[1].is_field()) || t[0].continuity == t[1].continuity;
    t[0].shape.order() == 2 && t[0].shape == t[1].shape && equal_continuity
}

#[cfg(test)]
mod tests {
    use crate::operator::operator;
    use crate::types::Type;

    #[track_caller]
    fn check(name: &str, arguments: &[&str], result: Option<&str>) {
        let types: Vec<Type> = arguments
            .iter()
            .map(|text| text.parse().expect("a type"))
            .collect();
        let found = (operator(name).expect("a row").rule)(&types).map(|ty| ty.to_string());
        assert_eq!(found.as_deref(), result, "{name} {arguments:?}");
    }

    #[test]
    fn products_contract_and_extend_shapes() {
        check("inner", &["T[2,3]", "F2#4[3,4]"], Some("F2#4[2,4]"));
        check("inner", &["T[2,3]", "F2#4[2]"], None);
        check("colon", &["F3#1[2,3]", "F3#4[2,3]"], Some("F3#1[]"));
        check("colon", &["T[4,2,3]", "T[2,3,4]"], Some("T[4,4]"));
        check("outer", &["F1#2[]", "T[3]"], Some("F1#2[3]"));
        check("outer", &["T[2,2]", "T[2,2]"], None);
        check("cross", &["F2#4[2]", "T[2]"], Some("F2#4[]"));
        check("cross", &["F2#4[3]", "T[3]"], Some("F2#4[3]"));
        check("cross", &["F2#4[4]", "T[4]"], None);
        check("cross", &["T[3]", "T[3]"], Some("T[3]"));
    }

    #[test]
    fn fields_meet_in_one_dimension_with_the_least_continuity() {
        check("max", &["T[]", "F2#1[]"], Some("F2#1[]"));
        check("atan2", &["F2#4[]", "F3#4[]"], None);
        check("floor", &["F2#4[]"], None);
        check("add", &["F2#4[2]", "F2#1[2]"], Some("F2#1[2]"));
        check("add", &["F2#4[2]", "F3#4[2]"], None);
        check("div", &["T[3]", "F3#2[]"], Some("F3#2[3]"));
    }

    #[test]
    fn derivatives_append_an_axis_and_lower_the_continuity() {
        check("grad", &["F1#4[]"], Some("F1#3[]"));
        check("grad", &["F3#4[]"], Some("F3#3[3]"));
        check("grad", &["F3#0[]"], None);
        check("grad", &["T[]"], None);
        check("hessian", &["F2#2[]"], Some("F2#0[2,2]"));
        check("hessian", &["F2#1[]"], None);
        check("laplacian", &["F1#3[2,3]"], Some("F1#1[2,3]"));
        check("laplacian", &["F2#1[]"], None);
        check("jacobian", &["F2#4[3]"], Some("F2#3[3,2]"));
        check("divergence", &["F3#4[2,3]"], Some("F3#3[2]"));
        check("curl", &["F2#4[2]"], Some("F2#3[]"));
        check("curl", &["F2#4[3]"], None);
    }

    #[test]
    fn construction_and_selection_follow_the_language() {
        check("concat2", &["F2#4[3]", "F2#1[3]"], Some("F2#1[2,3]"));
        check("concat2", &["F2#4[3]", "T[3]"], Some("F2#4[2,3]"));
        check("concat2", &["F2#4[3]", "T[2]"], None);
        check("slice[:,1,:]", &["T[2,3,4]"], Some("T[2,4]"));
        check("slice[2]", &["T[2]"], None);
        check("compose", &["F1#4[2]", "F3#2[]"], Some("F3#2[2]"));
        check("compose", &["F2#4[2]", "F3#2[3]"], None);
        check("trace", &["F2#1[4,3,3]"], Some("F2#1[4]"));
        check("trace", &["T[4,3,3]"], Some("T[4]"));
        check("clamp", &["T[]", "F2#1[]", "T[3]"], Some("F2#1[3]"));
        check("clamp", &["T[]", "T[3]", "T[3]"], None);
        check("lerp", &["T[3]", "F2#1[3]", "F2#4[]"], Some("F2#1[3]"));
        check("lerp", &["T[3]", "T[3]", "T[3]"], None);
        check("choice", &["T[3]", "T[3]", "F2#4[]"], Some("F2#4[3]"));
        check("swap[1]", &["F2#4[3]", "F2#1[3]"], Some("F2#1[3]"));
        check("swap[1]", &["F2#4[3]", "T[3]"], Some("F2#4[3]"));
        check("swap[1]", &["T[2]", "T[3]"], None);
        check("evals[1]", &["F3#4[2,2]"], Some("F3#4[]"));
        check("evals[2]", &["F3#4[2,2]"], None);
        check("eigenprojector[0]", &["T[3,3]"], Some("T[3,3]"));
    }
}
