//! Inverses of matrices: their expansion, and the laws that simplify them.
//!
//! An inverse is a node of its own while derivatives and probes are pushed, so that `(A⁻¹)⁻¹`, `A•A⁻¹` and `∂A⁻¹` are
//! recognized. Then it becomes cofactors over the determinant: in three dimensions the columns of the
//! adjugate are the cross products of the rows, and one of them gives the determinant as well.

use crate::{
    build::{Context, contract, linear, power},
    class::Leaf,
    laws::{Construction, note},
    node::{Extents, Node, Op, Slot, Slots},
    numbers::Power,
    product::{Operand, Product, axes, view, with_derivative_axis},
    simplify::{Condition, Conditions, Outcome},
};
use egg::Id;
use ein_ir::Rational;
use num_traits::One;

/// The inverse of a matrix that is itself an inverse, a transpose or the identity.
pub(crate) fn simpler_inverse(context: &mut dyn Context, matrix: Id) -> Option<Id> {
    let facts = context.facts(matrix);
    if facts.leaf == Leaf::Delta {
        return Some(matrix);
    }
    if let Some(inverted) = facts.inverse {
        return Some(context.find(inverted));
    }
    let shape = facts.shape.clone();
    let whole = Product::whole(matrix, &shape);
    let inner = context.inline(&whole, 0)?;
    let transposed = [Slot::Label(1), Slot::Label(0)];
    let of = inner.as_view().filter(|of| of.slots[..] == transposed)?.id;
    let inverse = context.inverse(of);
    Some(contract(
        context,
        view(inverse, Slots::from_slice(&transposed), shape),
    ))
}

/// adj A / det A.
pub(crate) fn cofactors(context: &mut dyn Context, matrix: Id) -> Id {
    let shape = context.facts(matrix).shape.clone();
    let (adjugate, determinant) = match shape[0] {
        2 => adjugate2(context, matrix),
        _ => adjugate3(context, matrix),
    };
    let reciprocal = power(context, determinant, Power::MINUS_ONE);
    let factors = vec![
        Operand::scalar(reciprocal, Power::ONE),
        Operand::new(adjugate, axes(2)),
    ];
    contract(context, Product::pointwise(&shape, factors))
}

/// The adjugate and the determinant of a two by two matrix.
fn adjugate2(context: &mut dyn Context, matrix: Id) -> (Id, Id) {
    let component = |i: u32, j: u32| Operand::new(matrix, [Slot::Fixed(i), Slot::Fixed(j)]);
    let mut terms = Vec::new();
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (sign, cofactor) = if i == j {
            (Rational::one(), component(1 - i, 1 - i))
        } else {
            (-Rational::one(), component(i, j))
        };
        terms.push((sign, placed(context, &[(0, i), (1, j)], cofactor, 2)));
    }
    let adjugate = linear(context, terms, Extents::from_slice(&[2; 2]), false);
    let mut diagonal = |a: Operand, b: Operand| {
        let product = Product::pointwise(&Extents::new(), vec![a, b]);
        contract(context, product)
    };
    let terms = vec![
        (Rational::one(), diagonal(component(0, 0), component(1, 1))),
        (-Rational::one(), diagonal(component(0, 1), component(1, 0))),
    ];
    (adjugate, linear(context, terms, Extents::new(), false))
}

/// The adjugate and the determinant of a three by three matrix.
fn adjugate3(context: &mut dyn Context, matrix: Id) -> (Id, Id) {
    let label = Slot::Label;
    let row = |k: u32, along: Slot| Operand::new(matrix, [Slot::Fixed(k % 3), along]);
    let epsilon = context.add(Node::leaf(Op::Epsilon(3)));
    let columns = [0, 1, 2].map(|k| {
        let cross = Product {
            coefficient: Rational::one(),
            results: 1,
            extents: Extents::from_slice(&[3; 3]),
            operands: vec![
                Operand::new(epsilon, [label(0), label(1), label(2)]),
                row(k + 1, label(1)),
                row(k + 2, label(2)),
            ],
        };
        contract(context, cross)
    });
    let mut terms = Vec::new();
    for (k, column) in (0..).zip(columns) {
        let column = Operand::new(column, [label(0)]);
        terms.push((Rational::one(), placed(context, &[(1, k)], column, 3)));
    }
    let adjugate = linear(context, terms, Extents::from_slice(&[3; 2]), false);
    let first = Product {
        coefficient: Rational::one(),
        results: 0,
        extents: Extents::from_slice(&[3]),
        operands: vec![row(0, label(0)), Operand::new(columns[0], [label(0)])],
    };
    (adjugate, contract(context, first))
}

/// The matrix that is `part` where the given axes have the given values, and zero elsewhere.
fn placed(context: &mut dyn Context, at: &[(u8, u32)], part: Operand, extent: u32) -> Id {
    let delta = context.add(Node::leaf(Op::Delta(extent)));
    let place =
        |&(axis, value): &(u8, u32)| Operand::new(delta, [Slot::Label(axis), Slot::Fixed(value)]);
    let operands = at.iter().map(place).chain([part]).collect();
    let shape = Extents::from_slice(&[extent; 2]);
    contract(context, Product::pointwise(&shape, operands))
}

/// Puts δ in place of a matrix and its inverse.
pub(crate) fn cancel_inverse(
    context: &mut dyn Context,
    product: &mut Product,
    conditions: Conditions,
) -> Outcome {
    let count = product.operands.len();
    for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
        let (inverse, matrix) = (&product.operands[a], &product.operands[b]);
        let inverted = context.facts(inverse.id).inverse;
        if a == b || inverted.map(|id| context.find(id)) != Some(context.find(matrix.id)) {
            continue;
        }
        let [i, j] = [inverse.slots[0], inverse.slots[1]];
        let [k, l] = [matrix.slots[0], matrix.slots[1]];
        let extent = context.facts(matrix.id).shape[0];
        // Σj A⁻¹[i,j]·A[j,l] and Σi A[k,i]·A⁻¹[i,j]; both matrices are symmetric or none is.
        let mut ways = vec![(j, k, [i, l]), (i, l, [k, j])];
        if context.facts(matrix.id).symmetric != 0 {
            ways.extend([(j, l, [i, k]), (i, k, [j, l])]);
        }
        for (common, other, ends) in ways {
            let Slot::Label(label) = common else { continue };
            let uses = product.operands.iter().flat_map(Operand::labels);
            let private = uses.filter(|used| *used == label).count() == 2;
            if common != other
                || !conditions.allow(Condition::Bound, product.is_dummy(label))
                || !conditions.allow(Condition::Private, private)
            {
                continue;
            }
            let delta = context.add(Node::leaf(Op::Delta(extent)));
            product.operands[a] = Operand::new(delta, ends);
            product.operands.remove(b);
            if product.is_dummy(label) && !product.uses(label) {
                product.delete(label);
            }
            return Outcome::Changed;
        }
    }
    Outcome::Unchanged
}

/// ∂A⁻¹ = −A⁻¹•∂A•A⁻¹, the axis of the derivative last.
pub(crate) fn derivative_of_inverse(context: &mut dyn Context, dim: u8, matrix: Id) -> Id {
    note(context, Construction::Inverse);
    let inverse = context.inverse(matrix);
    let derivative = context.derivative(dim, matrix);
    let shape = context.facts(matrix).shape.clone();
    let mut product = Product::pointwise(&with_derivative_axis(&shape, dim), Vec::new());
    let results = product.results as u8;
    let [i, j] = [0, 1].map(Slot::Label);
    let [p, q] = [results, results + 1].map(Slot::Label);
    product.extents.extend([shape[0]; 2]);
    product.coefficient = -Rational::one();
    let along = (dim > 1).then_some(Slot::Label(2));
    product.operands = vec![
        Operand::new(inverse, [i, p]),
        Operand::new(derivative, [p, q].into_iter().chain(along)),
        Operand::new(inverse, [q, j]),
    ];
    contract(context, product)
}
