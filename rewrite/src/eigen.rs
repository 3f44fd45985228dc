//! The derivative of eigensystems.
//!
//! With A eₖ = λₖ eₖ and Mⱼₖ = eⱼ•∂A•eₖ, which is ∂A in the frame of the eigenvectors, ∂λₖ = Mₖₖ. The frame turns as a
//! whole: ∂eₖ = Σⱼ Wₖⱼ eⱼ with the antisymmetric Wₖⱼ = Mⱼₖ / (λₖ − λⱼ). An antisymmetric matrix of two or three rows is an
//! ε times its one or three entries, so the reciprocal differences are written as such, and no quotient 0/0 stands on
//! the diagonal.

use crate::{
    build::{Context, contract, linear, power},
    class::pair,
    laws::{Construction, note},
    node::{Extents, Node, Op, Slot},
    numbers::Power,
    product::{Operand, Product, with_derivative_axis},
};
use egg::Id;
use ein_ir::{Eigen, Rational};
use num_traits::One;

/// The derivative of a part of the eigensystem of a matrix.
pub(crate) fn derivative_of_eigensystem(
    context: &mut dyn Context,
    dim: u8,
    part: Eigen,
    matrix: Id,
) -> Id {
    note(context, Construction::Eigensystem);
    let vectors = context.add(Node::new(Op::Eigen(Eigen::Vectors), &[matrix]));
    let turned = in_eigenframe(context, dim, vectors, matrix);
    let n = context.facts(matrix).shape[0];
    let label = Slot::Label;
    if part == Eigen::Values {
        let shape = with_derivative_axis(&[n].into_iter().collect(), dim);
        let diagonal = [label(0), label(0)].into_iter();
        let slots = diagonal.chain((dim > 1).then_some(label(1)));
        return contract(
            context,
            Product::pointwise(&shape, vec![Operand::new(turned, slots)]),
        );
    }
    let values = context.add(Node::new(Op::Eigen(Eigen::Values), &[matrix]));
    let rates = turning_rates(context, dim, values, turned);
    // ∂ᵢ of component c of vector k: labels k, c, i, and j for the sum.
    let shape = with_derivative_axis(&[n, n].into_iter().collect(), dim);
    let other = label(shape.len() as u8);
    let mut product = Product::pointwise(&shape, Vec::new());
    product.extents.push(n);
    let derivative = (dim > 1).then_some(label(2));
    product.operands = vec![
        Operand::new(rates, [label(0), other].into_iter().chain(derivative)),
        Operand::new(vectors, [other, label(1)]),
    ];
    contract(context, product)
}

/// Mⱼₖ = eⱼ•∂A•eₖ. Of a matrix that is not known to be symmetric only the upper triangle counts.
fn in_eigenframe(context: &mut dyn Context, dim: u8, vectors: Id, matrix: Id) -> Id {
    let n = context.facts(matrix).shape[0];
    let is_symmetric = context.facts(matrix).symmetric & pair(0, 1) != 0;
    let derivative = context.derivative(dim, matrix);
    let shape = with_derivative_axis(&[n, n].into_iter().collect(), dim);
    let label = Slot::Label;
    let term = |context: &mut dyn Context, dummies: &[u32], [row, column]: [Slot; 2], entry| {
        let mut product = Product::pointwise(&shape, Vec::new());
        product.extents.extend_from_slice(dummies);
        let entry: [Slot; 2] = entry;
        let of_entry = entry.into_iter().chain((dim > 1).then_some(label(2)));
        product.operands = vec![
            Operand::new(vectors, [label(0), row]),
            Operand::new(derivative, of_entry),
            Operand::new(vectors, [label(1), column]),
        ];
        contract(context, product)
    };
    if is_symmetric {
        let first = shape.len() as u8;
        let both = [label(first), label(first + 1)];
        return term(context, &[n, n], both, both);
    }
    let mut terms = Vec::new();
    for row in 0..n {
        for column in 0..n {
            let [above, below] = [row.min(column), row.max(column)].map(Slot::Fixed);
            let places = [Slot::Fixed(row), Slot::Fixed(column)];
            let entry = term(context, &[], places, [above, below]);
            terms.push((Rational::one(), entry));
        }
    }
    linear(context, terms, shape, false)
}

/// Wₖⱼ = Mⱼₖ / (λₖ − λⱼ), and 0 for k = j.
fn turning_rates(context: &mut dyn Context, dim: u8, values: Id, turned: Id) -> Id {
    let n = context.facts(values).shape[0];
    let epsilon = context.add(Node::leaf(Op::Epsilon(n)));
    let label = Slot::Label;
    // The differences of eigenvalues: one for each axis in three dimensions, λₖ − λⱼ where ε is 1 at (k, j, axis).
    let axes: Extents = [n].into_iter().filter(|_| n == 3).collect();
    let count = axes.len() as u8;
    let mut differences = Product::pointwise(&axes, Vec::new());
    differences.extents.extend_from_slice(&[n, n]);
    let (k, j) = (label(count), label(count + 1));
    let axis = (n == 3).then_some(label(0));
    differences.operands = vec![
        Operand::new(epsilon, [k, j].into_iter().chain(axis)),
        Operand::new(values, [k]),
    ];
    let differences = contract(context, differences);
    let reciprocals = power(context, differences, Power::MINUS_ONE);
    let shape = with_derivative_axis(&[n, n].into_iter().collect(), dim);
    let axis = (n == 3).then_some(label(shape.len() as u8));
    let derivative = (dim > 1).then_some(label(2));
    let mut product = Product::pointwise(&shape, Vec::new());
    product.extents.extend(axes);
    product.operands = vec![
        Operand::new(epsilon, [label(0), label(1)].into_iter().chain(axis)),
        Operand::new(reciprocals, axis),
        Operand::new(turned, [label(1), label(0)].into_iter().chain(derivative)),
    ];
    contract(context, product)
}
