//! Truth of the tensor operators, component by component on jets.

use super::{JetTensor, MARGIN, Undefined, above, away_from_zero};
use crate::jet::{Jet, Space};
use crate::number::{Function, Number};
use crate::tensor::Tensor;

type Result = std::result::Result<JetTensor, Undefined>;

pub(super) fn identity(_: &Space, a: &[JetTensor]) -> Result {
    Ok(a[0].clone())
}

pub(super) fn negate(_: &Space, a: &[JetTensor]) -> Result {
    Ok(a[0].map(Jet::negated))
}

pub(super) fn add(_: &Space, a: &[JetTensor]) -> Result {
    Ok(Tensor::from_fn(a[0].extents(), |i| {
        a[0].at(i).plus(a[1].at(i))
    }))
}

pub(super) fn subtract(_: &Space, a: &[JetTensor]) -> Result {
    Ok(Tensor::from_fn(a[0].extents(), |i| {
        a[0].at(i).minus(a[1].at(i))
    }))
}

/// Sums jets; the caller guarantees there is one.
pub(super) fn sum(terms: impl IntoIterator<Item = Jet>) -> Option<Jet> {
    terms.into_iter().reduce(|sum, term| sum.plus(&term))
}

pub(super) fn scale(space: &Space, a: &[JetTensor]) -> Result {
    let (factor, tensor) = if a[0].extents().is_empty() {
        (&a[0], &a[1])
    } else {
        (&a[1], &a[0])
    };
    Ok(tensor.map(|component| space.times(factor.at(&[]), component)))
}

pub(super) fn divide(space: &Space, a: &[JetTensor]) -> Result {
    let divisor = a[1].at(&[]);
    away_from_zero(divisor.value(), "division by a number near zero")?;
    let inverse = space.reciprocal(divisor);
    Ok(a[0].map(|component| space.times(component, &inverse)))
}

pub(super) fn modulate(space: &Space, a: &[JetTensor]) -> Result {
    Ok(Tensor::from_fn(a[0].extents(), |i| {
        space.times(a[0].at(i), a[1].at(i))
    }))
}

pub(super) fn outer(space: &Space, a: &[JetTensor]) -> Result {
    let split = a[0].extents().len();
    let extents = [a[0].extents(), a[1].extents()].concat();
    Ok(Tensor::from_fn(&extents, |i| {
        space.times(a[0].at(&i[..split]), a[1].at(&i[split..]))
    }))
}

/// Σ over the last `count` axes of the first and the first `count` of the second.
fn contract(space: &Space, a: &[JetTensor], count: usize) -> Result {
    let split = a[0].extents().len() - count;
    let (kept, summed) = a[0].extents().split_at(split);
    let extents = [kept, &a[1].extents()[count..]].concat();
    Ok(Tensor::from_fn(&extents, |i| {
        let terms = Tensor::from_fn(summed, |k| {
            let left = [&i[..split], k].concat();
            let right = [k, &i[split..]].concat();
            space.times(a[0].at(&left), a[1].at(&right))
        });
        sum(terms.components().iter().cloned()).unwrap_or_else(|| space.constant(Number::zero()))
    }))
}

pub(super) fn inner(space: &Space, a: &[JetTensor]) -> Result {
    contract(space, a, 1)
}

pub(super) fn colon(space: &Space, a: &[JetTensor]) -> Result {
    contract(space, a, 2)
}

pub(super) fn cross(space: &Space, a: &[JetTensor]) -> Result {
    let minor = |i: usize, j: usize| {
        let forward = space.times(a[0].at(&[i]), a[1].at(&[j]));
        forward.minus(&space.times(a[0].at(&[j]), a[1].at(&[i])))
    };
    if a[0].extents() == [2] {
        return Ok(Tensor::scalar(minor(0, 1)));
    }
    Ok(Tensor::from_fn(&[3], |i| {
        minor((i[0] + 1) % 3, (i[0] + 2) % 3)
    }))
}

pub(super) fn transpose(_: &Space, a: &[JetTensor]) -> Result {
    let extents = a[0].extents();
    Ok(Tensor::from_fn(&[extents[1], extents[0]], |i| {
        a[0].at(&[i[1], i[0]]).clone()
    }))
}

pub(super) fn trace(space: &Space, a: &[JetTensor]) -> Result {
    let (kept, square) = a[0].extents().split_at(a[0].extents().len() - 2);
    Ok(Tensor::from_fn(kept, |i| {
        let diagonal = (0..square[0]).map(|k| a[0].at(&[i, &[k, k]].concat()).clone());
        sum(diagonal).unwrap_or_else(|| space.constant(Number::zero()))
    }))
}

/// The determinant by expansion along the first row.
fn determinant(space: &Space, m: &JetTensor) -> Jet {
    let at = |i: usize, j: usize| m.at(&[i, j]);
    let minor = |i: [usize; 2], j: [usize; 2]| {
        space
            .times(at(i[0], j[0]), at(i[1], j[1]))
            .minus(&space.times(at(i[0], j[1]), at(i[1], j[0])))
    };
    if m.extents() == [2, 2] {
        return minor([0, 1], [0, 1]);
    }
    let first = space.times(at(0, 0), &minor([1, 2], [1, 2]));
    let second = space.times(at(0, 1), &minor([1, 2], [0, 2]));
    let third = space.times(at(0, 2), &minor([1, 2], [0, 1]));
    first.minus(&second).plus(&third)
}

pub(super) fn det(space: &Space, a: &[JetTensor]) -> Result {
    Ok(Tensor::scalar(determinant(space, &a[0])))
}

pub(super) fn inverse(space: &Space, a: &[JetTensor]) -> Result {
    let m = &a[0];
    if m.extents().is_empty() {
        away_from_zero(m.at(&[]).value(), "inverse of a number near zero")?;
        return Ok(Tensor::scalar(space.reciprocal(m.at(&[]))));
    }
    let determinant = determinant(space, m);
    away_from_zero(
        determinant.value(),
        "inverse of a matrix that is nearly singular",
    )?;
    let factor = space.reciprocal(&determinant);
    let n = m.extents()[0];
    Ok(Tensor::from_fn(&[n, n], |index| {
        // The cofactor of the transposed place; cyclic indices carry the sign in three dimensions.
        let (i, j) = (index[1], index[0]);
        let cofactor = if n == 2 {
            let other = m.at(&[1 - i, 1 - j]).clone();
            if i == j { other } else { other.negated() }
        } else {
            let (i1, i2, j1, j2) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
            let forward = space.times(m.at(&[i1, j1]), m.at(&[i2, j2]));
            forward.minus(&space.times(m.at(&[i1, j2]), m.at(&[i2, j1])))
        };
        space.times(&cofactor, &factor)
    }))
}

/// The Euclidean length as a jet; its derivatives need a length away from zero.
fn length(space: &Space, a: &JetTensor) -> std::result::Result<Jet, Undefined> {
    if let [component] = a.components() {
        return magnitude(space, component);
    }
    if a.components()
        .iter()
        .all(|component| component.order(space) == 0)
    {
        let values: Vec<Number> = a
            .components()
            .iter()
            .map(|component| component.value().clone())
            .collect();
        return Ok(Jet::from_coefficients(vec![Number::root_of_squares(
            &values,
        )]));
    }
    let squares = a
        .components()
        .iter()
        .map(|component| space.times(component, component));
    let square = sum(squares).unwrap_or_else(|| space.constant(Number::zero()));
    above(
        square.value(),
        MARGIN * MARGIN,
        "derivative of a norm near zero",
    )?;
    Ok(space.apply(Function::Sqrt, &square))
}

/// The absolute value of a scalar; its derivatives need a value away from zero.
pub(super) fn magnitude(space: &Space, a: &Jet) -> std::result::Result<Jet, Undefined> {
    if a.order(space) > 0 {
        away_from_zero(a.value(), "derivative of an absolute value near zero")?;
    }
    Ok(if a.value().to_f64() < 0.0 {
        a.negated()
    } else {
        a.clone()
    })
}

pub(super) fn norm(space: &Space, a: &[JetTensor]) -> Result {
    Ok(Tensor::scalar(length(space, &a[0])?))
}

pub(super) fn normalize(space: &Space, a: &[JetTensor]) -> Result {
    let length = length(space, &a[0])?;
    away_from_zero(length.value(), "normalization of a tensor near zero")?;
    let factor = space.reciprocal(&length);
    Ok(a[0].map(|component| space.times(component, &factor)))
}

pub(super) fn slice(a: &JetTensor, pattern: &[Option<usize>]) -> Result {
    let axes = a.extents().iter().zip(pattern);
    let kept: Vec<usize> = axes
        .filter(|(_, index)| index.is_none())
        .map(|(n, _)| *n)
        .collect();
    Ok(Tensor::from_fn(&kept, |i| {
        let mut free = i.iter();
        let index: Vec<usize> = pattern
            .iter()
            .map(|fixed| fixed.unwrap_or_else(|| free.next().copied().unwrap_or(0)))
            .collect();
        a.at(&index).clone()
    }))
}

pub(super) fn concat(_: &Space, a: &[JetTensor]) -> Result {
    let extents = [&[a.len()], a[0].extents()].concat();
    Ok(Tensor::from_fn(&extents, |i| a[i[0]].at(&i[1..]).clone()))
}

pub(super) fn lerp(space: &Space, a: &[JetTensor]) -> Result {
    interpolate(space, &a[0], &a[1], a[2].at(&[]))
}

/// `lerp(a, b, t0, t, t1)`: the parameter is given between two others.
pub(super) fn lerp_between(space: &Space, a: &[JetTensor]) -> Result {
    interpolate(space, &a[0], &a[1], &parameter(space, &a[2..])?)
}

pub(super) fn clerp(space: &Space, a: &[JetTensor]) -> Result {
    clamp(space, &[a[0].clone(), a[1].clone(), lerp(space, a)?])
}

pub(super) fn clerp_between(space: &Space, a: &[JetTensor]) -> Result {
    clamp(
        space,
        &[a[0].clone(), a[1].clone(), lerp_between(space, a)?],
    )
}

fn parameter(space: &Space, a: &[JetTensor]) -> std::result::Result<Jet, Undefined> {
    let range = a[2].at(&[]).minus(a[0].at(&[]));
    away_from_zero(range.value(), "interpolation over an interval of no length")?;
    Ok(space.times(&a[1].at(&[]).minus(a[0].at(&[])), &space.reciprocal(&range)))
}

fn interpolate(space: &Space, a: &JetTensor, b: &JetTensor, t: &Jet) -> Result {
    Ok(Tensor::from_fn(a.extents(), |i| {
        a.at(i).plus(&space.times(t, &b.at(i).minus(a.at(i))))
    }))
}

/// The larger of the lower bound and the smaller of the others; no order of the bounds is assumed.
pub(super) fn clamp(space: &Space, a: &[JetTensor]) -> Result {
    let bound = |tensor: &JetTensor, i: &[usize]| {
        if tensor.extents().is_empty() {
            tensor.at(&[]).clone()
        } else {
            tensor.at(i).clone()
        }
    };
    let mut undefined = None;
    // Whether the first is less; undefined if that is not certain.
    let mut is_less = |x: &Jet, y: &Jet| {
        let gap = x.value().minus(y.value());
        // A tie costs nothing if a program has the same number on both sides, and no slopes.
        let is_exact = x.value().noise() + y.value().noise() == 0.0;
        let is_tie = gap.to_f64() == 0.0 && is_exact && x.order(space) == 0;
        if away_from_zero(&gap, "").is_err() && !is_tie {
            undefined = Some(Undefined("value near a bound of clamp"));
        }
        gap.to_f64() < 0.0
    };
    let clamped = Tensor::from_fn(a[2].extents(), |i| {
        let (low, high, x) = (bound(&a[0], i), bound(&a[1], i), a[2].at(i).clone());
        let below = if is_less(&x, &high) { x } else { high };
        if is_less(&low, &below) { below } else { low }
    });
    undefined.map_or(Ok(clamped), Err)
}
