//! Parts of tensors and fields: their components where axes have subscripts.

use super::{Expr, notation::extents};
use crate::front::source::Span;
use ein_ir::{
    Shape, Type,
    ops::{self, Instance, spelling},
};

/// The subscript of an axis.
#[derive(Clone, Debug)]
pub enum Axis {
    /// `:`, the whole axis.
    All,
    /// One component. Its index is known where the variables of loops are.
    At(Box<Expr>),
    /// `0:2`, the components from one to before another.
    From(usize, usize),
}

impl Axis {
    /// The index of its one component.
    pub(crate) fn index(&self) -> Option<&Expr> {
        match self {
            Axis::At(index) => Some(index),
            Axis::All | Axis::From(..) => None,
        }
    }

    /// The same, to be changed in place.
    pub(crate) fn index_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Axis::At(index) => Some(index),
            Axis::All | Axis::From(..) => None,
        }
    }

    /// How many components it leaves of an axis; none if the axis is gone.
    pub(crate) fn extent(&self, whole: usize) -> Option<usize> {
        match self {
            Axis::All => Some(whole),
            Axis::At(_) => None,
            Axis::From(low, high) => Some(high - low),
        }
    }
}

/// The type of a part of a tensor or field.
pub(crate) fn type_of_part(base: &Type, shape: Shape) -> Type {
    match base {
        Type::Field {
            continuity,
            dim,
            time,
            ..
        } => Type::Field {
            continuity: *continuity,
            dim: *dim,
            time: *time,
            shape,
        },
        _ => Type::Tensor(shape),
    }
}

/// A part by operators of the table: components, and tensors of components. `at` gives the values of indices; there is no part without
/// them.
pub(crate) fn by_operators(
    base: &Expr,
    axes: &[Axis],
    at: &mut dyn FnMut(&Expr) -> Option<usize>,
    span: Span,
) -> Option<Expr> {
    nested(base, axes, Vec::new(), at, span)
}

/// The part that is left when the first axes have these indices.
fn nested(
    base: &Expr,
    axes: &[Axis],
    chosen: Vec<Option<usize>>,
    at: &mut dyn FnMut(&Expr) -> Option<usize>,
    span: Span,
) -> Option<Expr> {
    let (axis, rest) = (chosen.len(), &axes[chosen.len()..]);
    let with = |index: Option<usize>| [&chosen[..], &[index]].concat();
    let is_range = |axis: &Axis| matches!(axis, Axis::From(..));
    let components = match rest.first() {
        None if chosen.iter().all(Option::is_none) => return Some(base.clone()),
        None => {
            let op = Instance::slice(&base.ty, chosen).ok()?;
            return Some(Expr::applied(op, vec![base.clone()], span));
        }
        Some(Axis::At(index)) => {
            let index = at(index)?;
            return nested(base, axes, with(Some(index)), at, span);
        }
        Some(Axis::All) if !rest.iter().any(is_range) => {
            return nested(base, axes, with(None), at, span);
        }
        Some(Axis::All) => 0..extents(&base.ty)?[axis],
        Some(Axis::From(low, high)) => *low..*high,
    };
    let parts: Option<Vec<Expr>> = components
        .map(|n| nested(base, axes, with(Some(n)), at, span))
        .collect();
    let parts = parts?;
    let types: Vec<Type> = parts.iter().map(|part| part.ty.clone()).collect();
    let op = ops::resolve(spelling::CONCAT, &types).ok()?;
    Some(Expr::applied(op, parts, span))
}
