//! Truth of the scalar functions, each with the guard that keeps its argument inside the domain.

use super::algebra::magnitude;
use super::{JetTensor, MARGIN, Undefined, above, away_from_zero};
use crate::jet::{Jet, Space};
use crate::number::{Function, Number};
use crate::tensor::Tensor;

type Result = std::result::Result<JetTensor, Undefined>;

/// Arguments of `exp` beyond this would leave the range in which single precision is a fair test.
const LARGEST_EXPONENT: f64 = 20.0;

/// Arguments of the trigonometric functions beyond this lose their digits to range reduction.
const LARGEST_ANGLE: f64 = 4096.0;

fn below(number: &Number, bound: f64, reason: &'static str) -> std::result::Result<(), Undefined> {
    above(&number.negated(), -bound, reason)
}

fn apply(space: &Space, function: Function, x: &Jet) -> Result {
    Ok(Tensor::scalar(space.apply(function, x)))
}

pub(super) fn sqrt(space: &Space, a: &[JetTensor]) -> Result {
    let x = a[0].at(&[]);
    above(
        x.value(),
        MARGIN,
        "square root of a number that is not positive",
    )?;
    apply(space, Function::Sqrt, x)
}

pub(super) fn exp(space: &Space, a: &[JetTensor]) -> Result {
    let x = a[0].at(&[]);
    below(
        &x.value().magnitude(),
        LARGEST_EXPONENT,
        "exponential of a large number",
    )?;
    apply(space, Function::Exp, x)
}

fn angle(x: &Jet) -> std::result::Result<(), Undefined> {
    below(
        &x.value().magnitude(),
        LARGEST_ANGLE,
        "trigonometric function of a large number",
    )
}

pub(super) fn sin(space: &Space, a: &[JetTensor]) -> Result {
    angle(a[0].at(&[]))?;
    apply(space, Function::Sin, a[0].at(&[]))
}

pub(super) fn cos(space: &Space, a: &[JetTensor]) -> Result {
    angle(a[0].at(&[]))?;
    apply(space, Function::Cos, a[0].at(&[]))
}

pub(super) fn tan(space: &Space, a: &[JetTensor]) -> Result {
    let x = a[0].at(&[]);
    angle(x)?;
    let cosine = space.apply(Function::Cos, x);
    away_from_zero(cosine.value(), "tangent near its pole")?;
    Ok(Tensor::scalar(space.times(
        &space.apply(Function::Sin, x),
        &space.reciprocal(&cosine),
    )))
}

fn unit_interval(x: &Jet) -> std::result::Result<(), Undefined> {
    below(
        &x.value().magnitude(),
        1.0 - MARGIN,
        "inverse trigonometric function outside the unit interval",
    )
}

pub(super) fn asin(space: &Space, a: &[JetTensor]) -> Result {
    unit_interval(a[0].at(&[]))?;
    apply(space, Function::Asin, a[0].at(&[]))
}

pub(super) fn acos(space: &Space, a: &[JetTensor]) -> Result {
    unit_interval(a[0].at(&[]))?;
    apply(space, Function::Acos, a[0].at(&[]))
}

pub(super) fn atan(space: &Space, a: &[JetTensor]) -> Result {
    apply(space, Function::Atan, a[0].at(&[]))
}

pub(super) fn abs(space: &Space, a: &[JetTensor]) -> Result {
    Ok(Tensor::scalar(magnitude(space, a[0].at(&[]))?))
}

/// Picks a branch away from ties; the derivative is that of the branch.
fn select(a: &[JetTensor], first: fn(f64, f64) -> bool) -> Result {
    let (x, y) = (a[0].at(&[]), a[1].at(&[]));
    let gap = x.value().minus(y.value());
    away_from_zero(&gap, "minimum or maximum near a tie")?;
    Ok(if first(x.value().to_f64(), y.value().to_f64()) {
        a[0].clone()
    } else {
        a[1].clone()
    })
}

pub(super) fn max(_: &Space, a: &[JetTensor]) -> Result {
    select(a, |x, y| x > y)
}

pub(super) fn min(_: &Space, a: &[JetTensor]) -> Result {
    select(a, |x, y| x < y)
}

/// An integer power by repeated multiplication; a negative one is a reciprocal.
pub(super) fn power(space: &Space, a: &[JetTensor], exponent: i32) -> Result {
    let x = a[0].at(&[]);
    let base = if exponent < 0 {
        away_from_zero(x.value(), "negative power of a number near zero")?;
        space.reciprocal(x)
    } else {
        x.clone()
    };
    let one = space
        .constant(Number::integer(1))
        .truncated(x.coefficients().len());
    let product = (0..exponent.unsigned_abs()).fold(None, |product: Option<Jet>, _| {
        Some(product.map_or_else(|| base.clone(), |product| space.times(&product, &base)))
    });
    Ok(Tensor::scalar(product.unwrap_or(one)))
}

pub(super) fn ln(space: &Space, a: &[JetTensor]) -> Result {
    above(
        a[0].at(&[]).value(),
        MARGIN,
        "logarithm of a number that is not positive",
    )?;
    apply(space, Function::Ln, a[0].at(&[]))
}

/// The logarithm to an integer base.
pub(super) fn log(space: &Space, a: &[JetTensor], base: i64) -> Result {
    let natural = ln(space, a)?;
    let factor = space.constant(Number::integer(base).apply(Function::Ln).reciprocal());
    Ok(natural.map(|x| space.times(x, &factor)))
}

pub(super) fn erf(space: &Space, a: &[JetTensor]) -> Result {
    below(
        &a[0].at(&[]).value().magnitude(),
        3.0,
        "error function of a large number",
    )?;
    apply(space, Function::Erf, a[0].at(&[]))
}

pub(super) fn erfc(space: &Space, a: &[JetTensor]) -> Result {
    let one = space.constant(Number::integer(1));
    Ok(erf(space, a)?.map(|x| one.minus(x)))
}

/// x^y for positive x.
pub(super) fn pow(space: &Space, a: &[JetTensor]) -> Result {
    let logarithm = ln(space, a)?;
    let exponent = Tensor::scalar(space.times(logarithm.at(&[]), a[1].at(&[])));
    exp(space, &[exponent])
}

/// A step function of a value that is surely between its steps, which are at multiples of a half.
fn step(space: &Space, x: &Number, round: fn(f64) -> f64) -> std::result::Result<Jet, Undefined> {
    let doubled = x.scaled(2, 1);
    let nearest = doubled.to_f64().round();
    above(
        &doubled.minus(&Number::integer(nearest as i64)).magnitude(),
        MARGIN,
        "rounding near a step",
    )?;
    Ok(space.constant(Number::integer(round(x.to_f64()) as i64)))
}

pub(super) fn rounding(space: &Space, a: &[JetTensor], round: fn(f64) -> f64) -> Result {
    Ok(Tensor::scalar(step(space, a[0].at(&[]).value(), round)?))
}

/// x − y·trunc(x/y): the remainder keeps the sign of x.
pub(super) fn fmod(space: &Space, a: &[JetTensor]) -> Result {
    let (x, y) = (a[0].at(&[]), a[1].at(&[]));
    away_from_zero(y.value(), "remainder by a number near zero")?;
    let whole = step(space, &x.value().over(y.value()), f64::trunc)?;
    Ok(Tensor::scalar(x.minus(&space.times(&whole, y))))
}

/// The angle of (x, y), away from the origin and from the cut on the negative axis.
pub(super) fn atan2(space: &Space, a: &[JetTensor]) -> Result {
    let (y, x) = (a[0].at(&[]), a[1].at(&[]));
    let (fy, fx) = (y.value().to_f64(), x.value().to_f64());
    away_from_zero(
        &y.value().magnitude().plus(&x.value().magnitude()),
        "angle of a vector near zero",
    )?;
    if fx < 0.0 {
        away_from_zero(y.value(), "angle near its cut")?;
    }
    let right_angle = Number::integer(1).apply(Function::Atan).scaled(2, 1);
    let quarters = |n: i64| space.constant(right_angle.scaled(n, 1));
    let atan = |p: &Jet, q: &Jet| {
        let slope = space.times(p, &space.reciprocal(q));
        space.apply(Function::Atan, &slope)
    };
    Ok(Tensor::scalar(if fx.abs() > fy.abs() {
        let angle = atan(y, x);
        match (fx < 0.0, fy < 0.0) {
            (false, _) => angle,
            (true, false) => angle.plus(&quarters(2)),
            (true, true) => angle.minus(&quarters(2)),
        }
    } else {
        quarters(if fy < 0.0 { -1 } else { 1 }).minus(&atan(x, y))
    }))
}

/// The first where the third is positive, else the second.
pub(super) fn choice(_: &Space, a: &[JetTensor]) -> Result {
    let decides = a[2].at(&[]).value();
    away_from_zero(decides, "choice by a number near zero")?;
    Ok(a[usize::from(decides.to_f64() < 0.0)].clone())
}
