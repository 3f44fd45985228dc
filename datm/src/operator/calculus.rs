//! Truth of the differential operators: coefficients of the jets of one order more.

use super::algebra::sum;
use super::{JetTensor, Undefined};
use crate::jet::Space;
use crate::number::Number;
use crate::tensor::Tensor;

type Result = std::result::Result<JetTensor, Undefined>;

pub(super) fn gradient(space: &Space, a: &[JetTensor]) -> Result {
    let field = a[0].at(&[]);
    if space.variables() == 1 {
        return Ok(Tensor::scalar(space.derivative(field, 0)));
    }
    Ok(Tensor::from_fn(&[space.variables()], |i| {
        space.derivative(field, i[0])
    }))
}

pub(super) fn hessian(space: &Space, a: &[JetTensor]) -> Result {
    let d = space.variables();
    Ok(Tensor::from_fn(&[d, d], |i| {
        space.derivative(&space.derivative(a[0].at(&[]), i[0]), i[1])
    }))
}

/// The second derivatives along all axes, component by component.
pub(super) fn laplacian(space: &Space, a: &[JetTensor]) -> Result {
    Ok(a[0].map(|component| {
        let terms =
            (0..space.variables()).map(|k| space.derivative(&space.derivative(component, k), k));
        sum(terms).unwrap_or_else(|| space.constant(Number::zero()))
    }))
}

/// The derivative axis comes last.
pub(super) fn jacobian(space: &Space, a: &[JetTensor]) -> Result {
    let order = a[0].extents().len();
    let extents = [a[0].extents(), &[space.variables()]].concat();
    Ok(Tensor::from_fn(&extents, |i| {
        space.derivative(a[0].at(&i[..order]), i[order])
    }))
}

/// The last axis is contracted with the derivative.
pub(super) fn divergence(space: &Space, a: &[JetTensor]) -> Result {
    let kept = &a[0].extents()[..a[0].extents().len() - 1];
    Ok(Tensor::from_fn(kept, |i| {
        let terms =
            (0..space.variables()).map(|k| space.derivative(a[0].at(&[i, &[k]].concat()), k));
        sum(terms).unwrap_or_else(|| space.constant(Number::zero()))
    }))
}

pub(super) fn curl(space: &Space, a: &[JetTensor]) -> Result {
    let turn = |i: usize, j: usize| {
        space
            .derivative(a[0].at(&[j]), i)
            .minus(&space.derivative(a[0].at(&[i]), j))
    };
    if space.variables() == 2 {
        return Ok(Tensor::scalar(turn(0, 1)));
    }
    Ok(Tensor::from_fn(&[3], |i| {
        turn((i[0] + 1) % 3, (i[0] + 2) % 3)
    }))
}
