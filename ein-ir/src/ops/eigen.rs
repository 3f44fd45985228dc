//! Rows of eigensystems of symmetric matrices.

use super::tensor::{length, trace};
use super::{Domain, Meaning, OpDef, Oracle, POINTWISE, Syntax};
use crate::tensor::leibniz;
use crate::{Jet, Shape, Tensor};
use std::f64::consts::FRAC_PI_3;

const SYSTEM: OpDef = OpDef {
    domain: &[(0, Domain::DistinctEigenvalues)],
    ..POINTWISE
};

const VALUES: OpDef = OpDef {
    syntax: &[Syntax::Call("evals")],
    oracle: Oracle::Components(|x| {
        let n = x[0].shape().dims()[0];
        Tensor::new(Shape::new([n]), values(&mirrored(&x[0])))
    }),
    doc: "eigenvalues of a symmetric matrix, descending; only the upper triangle is read",
    ..SYSTEM
};

const VECTORS: OpDef = OpDef {
    syntax: &[Syntax::Call("evecs")],
    oracle: Oracle::Components(|x| {
        Tensor::new(x[0].shape().clone(), vectors(&mirrored(&x[0])).concat())
    }),
    doc: "unit eigenvectors in the order of the eigenvalues, right-handed; their signs are not specified",
    ..SYSTEM
};

#[rustfmt::skip]
pub(super) const ROWS: &[OpDef] = &[
    OpDef { name: "evals2", sig: "[2 2] -> []{2}", meaning: Meaning::Ein("k:2 | evals(a)[k]"), ..VALUES },
    OpDef { name: "evals3", sig: "[3 3] -> []{3}", meaning: Meaning::Ein("k:3 | evals(a)[k]"), ..VALUES },
    OpDef { name: "evecs2", sig: "[2 2] -> [2]{2}", meaning: Meaning::Ein("k:2 i:2 | evecs(a)[k i]"), ..VECTORS },
    OpDef { name: "evecs3", sig: "[3 3] -> [3]{3}", meaning: Meaning::Ein("k:3 i:3 | evecs(a)[k i]"), ..VECTORS },
];

/// The matrix with its upper triangle on both sides.
fn mirrored(x: &Tensor<Jet>) -> Tensor<Jet> {
    Tensor::from_fn(x.shape(), |i| x[[i[0].min(i[1]), i[0].max(i[1])]].clone())
}

/// The roots of the characteristic polynomial: numbers in closed form, made series by Newton's iteration.
fn values(a: &Tensor<Jet>) -> Vec<Jet> {
    let n = a.shape().dims()[0];
    let tr = |x: &Tensor<Jet>| trace(std::slice::from_ref(x)).components()[0].clone();
    let (sum, det) = (tr(a), leibniz(a));
    let squares = a.components().iter().map(|x| x * x);
    let square = squares.reduce(|sum, x| &sum + &x).expect("components");
    let minors = (&(&sum * &sum) - &square).scale(0.5);
    let (mean, spread) = (sum.value() / n as f64, square.value());
    let starts: Vec<f64> = if n == 2 {
        let radius = (spread / 2.0 - mean * mean).sqrt();
        vec![mean + radius, mean - radius]
    } else {
        let radius = (spread / 6.0 - mean * mean / 2.0).sqrt();
        let unit = Tensor::from_fn(a.shape(), |i| {
            let shift = if i[0] == i[1] { mean } else { 0.0 };
            Jet::constant(0, 0, (a.at(i).value() - shift) / radius)
        });
        let angle = (leibniz(&unit).value() / 2.0).clamp(-1.0, 1.0).acos() / 3.0;
        let at = |turn: f64| mean + 2.0 * radius * (angle + turn * FRAC_PI_3).cos();
        vec![at(0.0), at(4.0), at(2.0)]
    };
    let constant = |x: f64| Jet::constant(det.dim(), det.order(), x);
    let refine = |x: Jet| {
        let (value, slope) = if n == 2 {
            (&(&x * &(&x - &sum)) + &det, &x.scale(2.0) - &sum)
        } else {
            let inner = &(&x * &(&x - &sum)) + &minors;
            let slope = &(&x * &(&x.scale(3.0) - &sum.scale(2.0))) + &minors;
            (&(&x * &inner) - &det, slope)
        };
        &x - &(&value / &slope)
    };
    let solve = |start: f64| (0..det.order() + 4).fold(constant(start), |x, _| refine(x));
    starts.into_iter().map(solve).collect()
}

/// The vector orthogonal to the rows of A − λ; the last vector is orthogonal to the others.
fn vectors(a: &Tensor<Jet>) -> Vec<Vec<Jet>> {
    let n = a.shape().dims()[0];
    let mut found: Vec<Vec<Jet>> = Vec::new();
    for value in &values(a)[..n - 1] {
        let row = |i: usize| -> Vec<Jet> {
            let shifted = |j: usize| match i == j {
                true => &a[[i, j]] - value,
                false => a[[i, j]].clone(),
            };
            (0..n).map(shifted).collect()
        };
        let candidates: Vec<Vec<Jet>> = match n {
            2 => (0..2).map(|i| perpendicular(&row(i))).collect(),
            _ => (0..3).map(|i| cross(&row(i), &row((i + 1) % 3))).collect(),
        };
        let size = |x: &Vec<Jet>| x.iter().map(|c| c.value().powi(2)).sum::<f64>();
        let longest = candidates
            .into_iter()
            .max_by(|x, y| size(x).total_cmp(&size(y)))
            .expect("candidates");
        let norm = length(&Tensor::new(Shape::new([n]), longest.clone()));
        let sign = if longest[n - 1].value() < 0.0 {
            -1.0
        } else {
            1.0
        };
        found.push(longest.iter().map(|x| (x / &norm).scale(sign)).collect());
    }
    found.push(match &found[..] {
        [first] => perpendicular(first),
        [first, second] => cross(first, second),
        _ => unreachable!("matrices have two or three rows"),
    });
    found
}

/// The vector turned to the left by a right angle.
fn perpendicular(x: &[Jet]) -> Vec<Jet> {
    vec![-&x[1], x[0].clone()]
}

fn cross(x: &[Jet], y: &[Jet]) -> Vec<Jet> {
    let component = |i: usize| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        &(&x[j] * &y[k]) - &(&x[k] * &y[j])
    };
    (0..3).map(component).collect()
}
