//! The derivative of eigensystems.
//!
//! With A eₖ = λₖ eₖ and the reduced resolvent Rₖ = Σⱼ eⱼ⊗eⱼ/(λₖ − λⱼ), the sum over j ≠ k:
//!
//! - ∂λₖ = eₖ•∂A•eₖ
//! - ∂eₖ = Rₖ•∂A•eₖ
//! - ∂Rₖ = Rₖ•∂A•Rₖ − ∂λₖ Rₖ•Rₖ − (Rₖ•∂eₖ)⊗eₖ − eₖ⊗(Rₖ•∂eₖ)
//!
//! The third is the derivative of a pseudoinverse, that of λₖ − A. No other eigenvector occurs: where two of the others
//! coincide they have no derivative, but every term here has derivatives of all orders if λₖ is simple.

use crate::{
    build::{Context, contract, linear},
    class::pair,
    laws::{Construction, note},
    node::{Node, Op, Slot},
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
    let system = System::new(context, dim, matrix);
    match part {
        Eigen::Values => system.of_values(context),
        Eigen::Vectors => system.of_vectors(context),
        Eigen::Resolvents => system.of_resolvents(context),
    }
}

/// What the derivatives of an eigensystem are made of.
struct System {
    dim: u8,
    /// The rows of the matrix.
    n: u32,
    vectors: Id,
    resolvents: Id,
    /// The derivative of the matrix.
    change: Id,
}

impl System {
    fn new(context: &mut dyn Context, dim: u8, matrix: Id) -> System {
        let mut part = |part: Eigen| context.add(Node::new(Op::Eigen(part), &[matrix]));
        let [vectors, resolvents] = [Eigen::Vectors, Eigen::Resolvents].map(&mut part);
        System {
            dim,
            n: context.facts(matrix).shape[0],
            vectors,
            resolvents,
            change: derivative_of_triangle(context, dim, matrix),
        }
    }

    /// ∂A•eₖ.
    fn changed(&self, context: &mut dyn Context) -> Id {
        let factors = [(self.change, "ip∂"), (self.vectors, "kp")];
        self.sum(context, "ki∂", &factors)
    }

    fn of_values(&self, context: &mut dyn Context) -> Id {
        let factors = [(self.vectors, "kp"), (self.changed(context), "kp∂")];
        self.sum(context, "k∂", &factors)
    }

    fn of_vectors(&self, context: &mut dyn Context) -> Id {
        let factors = [(self.resolvents, "kip"), (self.changed(context), "kp∂")];
        self.sum(context, "ki∂", &factors)
    }

    fn of_resolvents(&self, context: &mut dyn Context) -> Id {
        let (rates, turning) = (self.of_values(context), self.of_vectors(context));
        let (r, e) = (self.resolvents, self.vectors);
        let bent = self.sum(context, "ki∂", &[(r, "kip"), (turning, "kp∂")]);
        let terms: [(i128, &[(Id, &str)]); 4] = [
            (1, &[(r, "kip"), (self.change, "pq∂"), (r, "kqj")]),
            (-1, &[(rates, "k∂"), (r, "kip"), (r, "kpj")]),
            (-1, &[(bent, "ki∂"), (e, "kj")]),
            (-1, &[(e, "ki"), (bent, "kj∂")]),
        ];
        let terms = terms.map(|(sign, factors)| {
            let sign = Rational::from_integer(sign);
            (sign, self.sum(context, "kij∂", factors))
        });
        let shape = with_derivative_axis(&[self.n; 3].into_iter().collect(), self.dim);
        linear(context, terms.into(), shape, false)
    }

    /// A product of factors with the given indices, over whose other indices it is summed. The index ∂ is that of the derivative.
    fn sum(&self, context: &mut dyn Context, result: &str, factors: &[(Id, &str)]) -> Id {
        let is_index = |index: &char| *index != '∂' || self.dim > 1;
        let mut labels: Vec<char> = result.chars().filter(is_index).collect();
        let results = labels.len();
        let mut operands = Vec::with_capacity(factors.len());
        for (id, indices) in factors {
            let slots = indices.chars().filter(is_index).map(|index| {
                let label = labels.iter().position(|&label| label == index);
                Slot::Label(label.unwrap_or_else(|| {
                    labels.push(index);
                    labels.len() - 1
                }) as u8)
            });
            operands.push(Operand::new(*id, slots.collect::<Vec<_>>()));
        }
        let extent = |label: &char| match label {
            '∂' => self.dim.into(),
            _ => self.n,
        };
        let product = Product {
            coefficient: Rational::one(),
            results,
            extents: labels.iter().map(extent).collect(),
            operands,
        };
        contract(context, product)
    }
}

/// The derivative of a matrix, with its upper triangle on both sides unless it is known to be symmetric.
fn derivative_of_triangle(context: &mut dyn Context, dim: u8, matrix: Id) -> Id {
    let n = context.facts(matrix).shape[0];
    let is_symmetric = context.facts(matrix).symmetric & pair(0, 1) != 0;
    let derivative = context.derivative(dim, matrix);
    if is_symmetric {
        return derivative;
    }
    let shape = with_derivative_axis(&[n; 2].into_iter().collect(), dim);
    let delta = context.add(Node::leaf(Op::Delta(n)));
    let mut terms = Vec::new();
    for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let place = |axis: u8, at: u32| Operand::new(delta, [Slot::Label(axis), Slot::Fixed(at)]);
        let entry = [row.min(column), row.max(column)].map(Slot::Fixed);
        let along = (dim > 1).then_some(Slot::Label(2));
        let operands = vec![
            place(0, row),
            place(1, column),
            Operand::new(derivative, entry.into_iter().chain(along)),
        ];
        let term = contract(context, Product::pointwise(&shape, operands));
        terms.push((Rational::one(), term));
    }
    linear(context, terms, shape, false)
}
