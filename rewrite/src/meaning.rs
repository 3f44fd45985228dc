//! The meaning of nodes in EIN: one operator per node.
//!
//! With it the reference evaluator, which shares no code with the rules, replays derivations and audits unions. Unlike
//! `emit`, it takes any nodes, including derivatives and probes of anything.

use crate::{
    node::{Function, Node, Op, Slot, Spec},
    numbers::Power,
    recognize,
};
use ein_ir::{
    Ein, Elementary, Index, Param, Term,
    region::{Def, ValueId},
};
use num_traits::One;

/// The node as an operator applied to the values of its children; a leaf field is applied to its input.
pub(crate) fn definition(
    node: &Node,
    result: &Param,
    children: Vec<Param>,
    args: Vec<ValueId>,
    inputs: &[Param],
) -> Def {
    let axes = result.shape().dims().to_vec();
    let order = axes.len();
    let all = |order: usize| (0..order).map(Index::Axis).collect::<Vec<_>>();
    let whole = |param: usize| access(param, all(children[param].shape().order()));
    let (mut params, mut arguments) = (children.clone(), args);
    let body = match &node.op {
        Op::One => number(1),
        Op::Zero(_) => number(0),
        Op::Tensor { input, .. } => {
            params = vec![inputs[*input].clone()];
            arguments = vec![ValueId(*input)];
            access(0, all(order))
        }
        Op::Position { dim } => Term::Position {
            dim: (*dim).into(),
            index: if *dim > 1 {
                Index::Axis(0)
            } else {
                Index::Const(0)
            },
        },
        Op::Delta(_) => Term::Delta(Index::Axis(0), Index::Axis(1)),
        Op::Epsilon(_) => Term::Epsilon(all(order)),
        Op::Field {
            input,
            dim,
            shape,
            order: count,
        } => {
            params = vec![inputs[*input].clone()];
            arguments = vec![ValueId(*input)];
            let field = access(0, all(shape.len()));
            (0..usize::from(*count))
                .fold(field, |field, k| derivative(field, *dim, shape.len() + k))
        }
        Op::Contract(spec) => contraction(spec),
        Op::Sum(coefficients) => {
            let term = |(k, coefficient)| Term::Mul(vec![Term::Const(coefficient), whole(k)]);
            Term::Add(coefficients.iter().copied().enumerate().map(term).collect())
        }
        Op::Apply(Function::Elementary(function)) => {
            Term::Apply(*function, (0..children.len()).map(whole).collect())
        }
        Op::Apply(Function::Power(power)) => raised(whole(0), *power),
        Op::Eigen(part) => Term::Eigen {
            part: *part,
            param: 0,
            indices: all(order),
        },
        Op::Cond(test) => Term::Cond {
            test: *test,
            sides: Box::new([whole(0), whole(1)]),
            then: Box::new(whole(2)),
            otherwise: Box::new(whole(3)),
        },
        Op::Inverse => recognize::inverse(axes[0]),
        Op::Deriv { .. } if children[0].dim().is_none() => number(0),
        Op::Deriv { dim } => derivative(whole(0), *dim, children[0].shape().order()),
        Op::Probe if children[0].dim().is_none() => whole(0),
        Op::Probe => Term::Probe {
            field: Box::new(whole(0)),
            at: children[1]
                .shape()
                .indices()
                .map(|index| access(1, index.into_iter().map(Index::Const).collect()))
                .collect(),
        },
        Op::Tuple => unreachable!("a tuple is the roots of a region, not a value"),
    };
    Def {
        op: Ein { params, axes, body },
        args: arguments,
    }
}

fn number(n: i128) -> Term {
    Term::Const(n.into())
}

fn access(param: usize, indices: Vec<Index>) -> Term {
    Term::Access { param, indices }
}

fn derivative(body: Term, dim: u8, axis: usize) -> Term {
    Term::Deriv {
        index: if dim > 1 {
            Index::Axis(axis)
        } else {
            Index::Const(0)
        },
        body: Box::new(body),
    }
}

fn raised(base: Term, power: Power) -> Term {
    let (base, count) = if power.is_integer() {
        (base, power.halves() / 2)
    } else {
        (Term::Apply(Elementary::Sqrt, vec![base]), power.halves())
    };
    let largest = i64::from(i32::MAX);
    let mut left = count;
    let mut factors = Vec::new();
    while left != 0 {
        let part = left.clamp(-largest, largest);
        factors.push(Term::Pow(Box::new(base.clone()), part as i32));
        left -= part;
    }
    if count.is_one() {
        base
    } else {
        Term::Mul(factors)
    }
}

fn contraction(spec: &Spec) -> Term {
    let index = |slot: &Slot| match *slot {
        Slot::Fixed(component) => Index::Const(component as usize),
        Slot::Label(label) if usize::from(label) < spec.results => Index::Axis(label.into()),
        Slot::Label(label) => Index::Bound(label.into()),
    };
    let factor = |(param, (slots, power)): (usize, &(_, Power))| {
        let slots: &crate::node::Slots = slots;
        raised(access(param, slots.iter().map(index).collect()), *power)
    };
    let product = Term::Mul(spec.operands.iter().enumerate().map(factor).collect());
    (spec.results..spec.extents.len())
        .rev()
        .fold(product, |body, label| Term::Sum {
            binder: label as u32,
            range: spec.extents[label] as usize,
            body: Box::new(body),
        })
}
