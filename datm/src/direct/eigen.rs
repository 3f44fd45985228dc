//! Eigensystems of symmetric matrices as scalar formulas.

use super::expand::{Components, cross, determinant, total};
use super::expression::{Binary, Graph, Node, Unary};
use crate::tensor::Tensor;

/// The eigenvalue of a place, descending: by the angle whose tangent is √(q³ − r²)/r in three dimensions.
pub(super) fn value(graph: &mut Graph, m: &Components, place: usize) -> Node {
    let m = &mirrored(m);
    let n = m.extents()[0];
    let parts = graph.constant(n as f64);
    let trace = total(graph, (0..n).map(|i| *m.at(&[i, i])));
    let mean = graph.div(trace, parts);
    let rest = shifted(graph, m, mean);
    let squares: Vec<Node> = rest.components().iter().map(|&x| graph.mul(x, x)).collect();
    let square = total(graph, squares);
    let factor = graph.constant(if n == 2 { 0.5 } else { 1.0 / 6.0 });
    let q = graph.mul(square, factor);
    let root = graph.unary(Unary::Sqrt, q);
    let offset = if n == 2 {
        let sign = graph.constant(if place == 0 { 1.0 } else { -1.0 });
        graph.mul(root, sign)
    } else {
        let (half, third) = (graph.constant(0.5), graph.constant(1.0 / 3.0));
        let determinant = determinant(graph, &rest);
        let r = graph.mul(determinant, half);
        let (q_squared, r_squared) = (graph.mul(q, q), graph.mul(r, r));
        let q_cubed = graph.mul(q_squared, q);
        let discriminant = graph.sub(q_cubed, r_squared);
        let height = graph.unary(Unary::Sqrt, discriminant);
        let angle = graph.binary(Binary::Atan2, height, r);
        let angle = graph.mul(angle, third);
        // The angles φ, φ − 2π/3 and φ + 2π/3 give them in descending order.
        let turn = std::f64::consts::TAU / 3.0;
        let turn = graph.constant([0.0, -turn, turn][place]);
        let angle = graph.add(angle, turn);
        let cosine = graph.unary(Unary::Cos, angle);
        let double = graph.add(root, root);
        graph.mul(double, cosine)
    };
    graph.add(mean, offset)
}

/// v⊗v for the eigenvector v of a place: orthogonal to the rows of A − λ.
pub(super) fn projector(graph: &mut Graph, m: &Components, place: usize) -> Components {
    let value = value(graph, m, place);
    let rest = shifted(graph, &mirrored(m), value);
    let n = rest.extents()[0];
    let row = |i: usize| Tensor::from_fn(&[n], |j| *rest.at(&[i, j[0]]));
    let candidates: Vec<Components> = if n == 2 {
        (0..2)
            .map(|i| {
                let opposite = graph.unary(Unary::Neg, *rest.at(&[i, 1]));
                Tensor::from_fn(&[2], |j| [opposite, *rest.at(&[i, 0])][j[0]])
            })
            .collect()
    } else {
        (0..3)
            .map(|i| cross(graph, &row(i), &row((i + 1) % 3)))
            .collect()
    };
    let lengths: Vec<Node> = candidates
        .iter()
        .map(|v| {
            let squares: Vec<Node> = v.components().iter().map(|&x| graph.mul(x, x)).collect();
            total(graph, squares)
        })
        .collect();
    // The longest of them, divided by its square length where it occurs twice.
    let (mut best, mut length) = (candidates[0].clone(), lengths[0]);
    for (v, &other) in candidates.iter().zip(&lengths).skip(1) {
        best = Tensor::from_fn(&[n], |i| graph.choose(length, other, *v.at(i), *best.at(i)));
        length = graph.choose(length, other, other, length);
    }
    Tensor::from_fn(&[n, n], |i| {
        let product = graph.mul(*best.at(&[i[0]]), *best.at(&[i[1]]));
        graph.div(product, length)
    })
}

/// The matrix with its upper triangle below the diagonal too.
fn mirrored(m: &Components) -> Components {
    Tensor::from_fn(m.extents(), |i| *m.at(&[i[0].min(i[1]), i[0].max(i[1])]))
}

/// A − λ·1
fn shifted(graph: &mut Graph, m: &Components, value: Node) -> Components {
    Tensor::from_fn(m.extents(), |i| match i[0] == i[1] {
        true => graph.sub(*m.at(i), value),
        false => *m.at(i),
    })
}
