//! Derivatives and probes pushed through one node.
//!
//! The laws, with derivative axes last: ∂(Σ cₖxₖ) = Σ cₖ∂xₖ; the product rule, one term per factor that depends on the
//! position; ∂xʳ = r·xʳ⁻¹·∂x; the chain rule for elementary functions and for composition; conditionals branch by
//! branch; eigensystems by `eigen`, inverses by `inverse`. A probe of anything but a leaf field is the same thing of
//! probes.

use crate::{
    build::{Context, all_axes, conditional, contract, elementwise, linear, one, power, zero},
    class::Leaf,
    eigen::derivative_of_eigensystem,
    inverse::derivative_of_inverse,
    laws::{Construction, note},
    mutants,
    node::{Extents, Function, Node, Op, Slot},
    numbers::Power,
    product::{Operand, Product, broadcast, with_derivative_axis},
};
use egg::Id;
use ein_ir::{Comparison, Rational};
use num_traits::One;

/// The derivative of a class by means of one of its nodes; nothing if the node is itself a derivative.
pub(crate) fn push_derivative(context: &mut dyn Context, dim: u8, node: &Node) -> Option<Id> {
    let children = &node.children;
    match &node.op {
        Op::Field {
            input,
            dim,
            shape,
            order,
        } => Some(context.add(Node::leaf(Op::Field {
            input: *input,
            dim: *dim,
            shape: shape.clone(),
            order: order.checked_add(1)?,
        }))),
        Op::Position { dim } => {
            note(context, Construction::Constants);
            Some(match dim {
                1 => one(context),
                _ => context.add(Node::leaf(Op::Delta((*dim).into()))),
            })
        }
        Op::Sum(coefficients) => {
            note(context, Construction::SumRule);
            let shape = with_derivative_axis(&context.facts(children[0]).shape, dim);
            if mutants::vanishes(context, children) {
                return Some(zero(context, shape));
            }
            let mut terms = Vec::with_capacity(children.len());
            for (&coefficient, &child) in coefficients.iter().zip(children) {
                let term = mutants::addend(context, children, child);
                terms.push((coefficient, context.derivative(dim, term)));
            }
            Some(linear(context, terms, shape, true))
        }
        Op::Contract(spec) => Some(product_rule(context, dim, &Product::of(spec, children))),
        Op::Apply(function) => Some(chain_rule(context, dim, *function, children)),
        Op::Eigen(part) => Some(derivative_of_eigensystem(context, dim, *part, children[0])),
        Op::Cond(test) => Some(derivative_of_branches(context, dim, *test, children)),
        Op::Inverse => Some(derivative_of_inverse(context, dim, children[0])),
        Op::Probe => Some(composition_rule(context, dim, children[0], children[1])),
        Op::One
        | Op::Zero(_)
        | Op::Tensor { .. }
        | Op::Delta(_)
        | Op::Epsilon(_)
        | Op::Deriv { .. }
        | Op::Tuple => None,
    }
}

/// ∂(Π xₖ^rₖ) = Σₖ rₖ·xₖ^(rₖ−1)·∂xₖ·Π of the others.
fn product_rule(context: &mut dyn Context, dim: u8, product: &Product) -> Id {
    note(context, Construction::ProductRule);
    let mut base = product.clone();
    let axis = base.results as u8;
    if dim > 1 {
        base.add_result_axis(dim.into());
    }
    let shape = base.shape();
    let mut terms = Vec::new();
    for k in 0..base.operands.len() {
        let id = base.operands[k].id;
        if context.facts(id).dim == 0 {
            continue;
        }
        let derivative = context.derivative(dim, id);
        let mut term = base.clone();
        let exponent = term.operands[k].power;
        let mut slots = std::mem::take(&mut term.operands[k].slots);
        slots.extend((dim > 1).then_some(Slot::Label(axis)));
        let mut coefficient = Rational::one();
        if exponent.is_one() {
            term.operands[k] = Operand::new(derivative, slots);
        } else {
            coefficient = mutants::factor(exponent);
            match exponent.plus(Power::MINUS_ONE) {
                Some(lowered) => term.operands[k].power = lowered,
                None => term.operands.push(Operand::scalar(id, Power::MINUS_ONE)),
            }
            term.operands.push(Operand::new(derivative, slots));
        }
        terms.push((coefficient, contract(context, term)));
    }
    linear(context, terms, shape, true)
}

/// ∂f(x, …) = Σₖ ∂ₖf(x, …)·∂xₖ, component by component.
fn chain_rule(context: &mut dyn Context, dim: u8, function: Function, arguments: &[Id]) -> Id {
    note(context, Construction::ChainRule);
    let inner = context.facts(arguments[0]).shape.clone();
    let shape = with_derivative_axis(&inner, dim);
    let mut terms = Vec::new();
    for (k, &argument) in arguments.iter().enumerate() {
        if context.facts(argument).dim == 0 {
            continue;
        }
        let (coefficient, outer) = match function {
            Function::Elementary(function) => {
                let term = function.derivative(k);
                (
                    Rational::one(),
                    elementwise(context, &term, arguments, &inner),
                )
            }
            Function::Power(exponent) => match exponent.plus(Power::MINUS_ONE) {
                Some(lowered) => (exponent.to_rational(), power(context, argument, lowered)),
                None => {
                    let whole = power(context, argument, exponent);
                    let inverse = power(context, argument, Power::MINUS_ONE);
                    let factors = [whole, inverse].map(|id| Operand::new(id, all_axes(&inner)));
                    let quotient = contract(context, Product::pointwise(&inner, factors.into()));
                    (exponent.to_rational(), quotient)
                }
            },
        };
        let derivative = context.derivative(dim, argument);
        let factors = vec![
            Operand::new(outer, all_axes(&inner)),
            Operand::new(derivative, all_axes(&shape)),
        ];
        terms.push((
            coefficient,
            contract(context, Product::pointwise(&shape, factors)),
        ));
    }
    linear(context, terms, shape, true)
}

/// The test does not change; each component of the derivative is that of the chosen branch.
fn derivative_of_branches(
    context: &mut dyn Context,
    dim: u8,
    test: Comparison,
    children: &[Id],
) -> Id {
    note(context, Construction::Branches);
    let further: &[u32] = if dim > 1 { &[u32::from(dim)] } else { &[] };
    let mut side = |k: usize| {
        let product = broadcast(
            children[k],
            &context.facts(children[k]).shape.clone(),
            further,
        );
        contract(context, product)
    };
    let (a, b) = (side(0), side(1));
    let then = context.derivative(dim, children[2]);
    let otherwise = context.derivative(dim, children[3]);
    conditional(context, test, [a, b, then, otherwise])
}

/// ∂ᵢ(f∘g) = Σⱼ ((∂ⱼf)∘g)·∂ᵢgⱼ.
fn composition_rule(context: &mut dyn Context, dim: u8, field: Id, position: Id) -> Id {
    note(context, Construction::CompositionRule);
    let shape = context.facts(field).shape.clone();
    let inner_dim = context.facts(field).dim;
    let result = with_derivative_axis(&shape, dim);
    if inner_dim == 0 {
        return zero(context, result);
    }
    let outer = context.derivative(inner_dim, field);
    let outer = context.probe(outer, position);
    let inner = context.derivative(dim, position);
    let mut product = Product::pointwise(&result, Vec::new());
    let mut outer_slots: Vec<Slot> = all_axes(&shape).collect();
    let mut inner_slots: Vec<Slot> = Vec::new();
    if inner_dim > 1 {
        let label = Slot::Label(product.extents.len() as u8);
        product.extents.push(inner_dim.into());
        outer_slots.push(label);
        inner_slots.push(label);
    }
    inner_slots.extend((dim > 1).then_some(Slot::Label(shape.len() as u8)));
    product.operands = vec![
        Operand::new(outer, outer_slots),
        Operand::new(inner, inner_slots),
    ];
    contract(context, product)
}

/// The probe of a class by means of one of its nodes; nothing if the node is a leaf field or a derivative.
pub(crate) fn push_probe(context: &mut dyn Context, node: &Node, position: Id) -> Option<Id> {
    match node.op {
        Op::Sum(_) | Op::Contract(_) | Op::Apply(_) | Op::Eigen(_) | Op::Cond(_) | Op::Inverse => {
            note(context, Construction::Probes)
        }
        Op::Position { .. } | Op::Probe => note(context, Construction::Positions),
        _ => {}
    }
    let children = &node.children;
    match &node.op {
        Op::Position { .. } => Some(position),
        Op::Sum(coefficients) => {
            let shape = context.facts(children[0]).shape.clone();
            let mut terms = Vec::with_capacity(children.len());
            for (&coefficient, &child) in coefficients.iter().zip(children) {
                terms.push((coefficient, context.probe(child, position)));
            }
            Some(linear(context, terms, shape, false))
        }
        Op::Contract(spec) => {
            let mut product = Product::of(spec, children);
            for operand in &mut product.operands {
                operand.id = context.probe(operand.id, position);
            }
            Some(contract(context, product))
        }
        Op::Apply(_) | Op::Eigen(_) => {
            let probed = probe_all(context, children, position);
            Some(context.add(Node::new(node.op.clone(), &probed)))
        }
        Op::Cond(test) => {
            let probed = probe_all(context, children, position);
            Some(conditional(
                context,
                *test,
                [probed[0], probed[1], probed[2], probed[3]],
            ))
        }
        Op::Inverse => {
            let matrix = context.probe(children[0], position);
            Some(context.inverse(matrix))
        }
        Op::Probe => {
            let inner = context.probe(children[1], position);
            Some(context.probe(children[0], inner))
        }
        Op::One
        | Op::Zero(_)
        | Op::Tensor { .. }
        | Op::Delta(_)
        | Op::Epsilon(_)
        | Op::Field { .. }
        | Op::Deriv { .. }
        | Op::Tuple => None,
    }
}

/// The law by which the probe of a class is the class itself: it is constant, or probed at the position as such.
pub(crate) fn trivial_probe(
    context: &dyn Context,
    field: Id,
    position: Id,
) -> Option<Construction> {
    if context.facts(field).dim == 0 {
        Some(Construction::Probes)
    } else if context.facts(position).leaf == Leaf::Position {
        Some(Construction::Positions)
    } else {
        None
    }
}

fn probe_all(context: &mut dyn Context, children: &[Id], position: Id) -> Vec<Id> {
    children
        .iter()
        .map(|&child| context.probe(child, position))
        .collect()
}

/// The shape of the derivative of a class.
pub(crate) fn derivative_shape(context: &dyn Context, dim: u8, id: Id) -> Extents {
    with_derivative_axis(&context.facts(id).shape, dim)
}
