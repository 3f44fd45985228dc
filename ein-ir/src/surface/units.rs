//! Constant tensors that were taken apart into unit vectors, put together again: 0.2·δ[0,i] + 0.3·δ[2,i] is `[0.2, 0, 0.3]`.

use super::{
    convert::{Operand, note_params},
    expr::{Expr, row},
};
use crate::{
    Ein, Index, Input, Param, Shape, Tensor, Term, rational,
    region::{Def, ValueId},
};
use std::collections::BTreeMap;

/// The values that are unit vectors or linear combinations of such.
#[derive(Default)]
pub(super) struct Units(BTreeMap<ValueId, Tensor<f64>>);

impl Units {
    /// A definition and its operands with the terms of its sum that are constant as one of them, the last. A value that is
    /// constant as a whole is remembered.
    pub(super) fn fold(
        &mut self,
        value: ValueId,
        def: &Def,
        mut operands: Vec<Operand>,
    ) -> (Ein, Vec<Operand>) {
        let mut op = def.op.clone();
        if is_unit(&op) {
            self.0.insert(value, op.eval(&[]));
            return (op, operands);
        }
        let mut terms = Vec::new();
        addends(&op.body, false, &mut terms);
        let is_constant = |term: &Term| {
            let mut used = Vec::new();
            note_params(term, &mut used);
            let is_unit = |&param: &usize| self.0.contains_key(&def.args[param]);
            !used.is_empty() && used.iter().all(is_unit) && is_linear(term)
        };
        let (constant, mut rest): (Vec<Term>, Vec<Term>) = terms.into_iter().partition(is_constant);
        if constant.is_empty() {
            return (op, operands);
        }
        let shape = Shape::new(op.axes.iter().copied());
        let given = def.args.iter().zip(&op.params).map(|(arg, param)| {
            let known = self.0.get(arg).cloned();
            Input::Tensor(known.unwrap_or_else(|| Tensor::from_fn(param.shape(), |_| 0.0)))
        });
        let sum = Ein {
            params: op.params.iter().map(as_tensor).collect(),
            axes: op.axes.clone(),
            body: Term::Add(constant),
        };
        let sum = sum.eval(&given.collect::<Vec<_>>());
        let Some(expr) = literal(&shape, sum.components()) else {
            return (op, operands);
        };
        let indices = (0..shape.order()).map(Index::Axis).collect();
        let access = Term::Access {
            param: operands.len(),
            indices,
        };
        op.params.push(Param::Tensor(shape.clone()));
        operands.push(Operand {
            expr,
            kind: Param::Tensor(shape),
            symmetry: Vec::new(),
        });
        op.body = match rest.is_empty() {
            true => {
                self.0.insert(value, sum);
                access
            }
            false => {
                rest.insert(0, access);
                Term::Add(rest)
            }
        };
        (op, operands)
    }
}

/// Whether an operator gives a tensor with a single component 1.
fn is_unit(op: &Ein) -> bool {
    let selects = |term: &Term| {
        matches!(
            term,
            Term::Delta(Index::Const(_), Index::Axis(_))
                | Term::Delta(Index::Axis(_), Index::Const(_))
        )
    };
    match &op.body {
        Term::Mul(factors) => !factors.is_empty() && factors.iter().all(selects),
        body => selects(body),
    }
}

fn as_tensor(param: &Param) -> Param {
    Param::Tensor(param.shape().clone())
}

/// The terms of a sum, with their signs.
fn addends(term: &Term, negative: bool, found: &mut Vec<Term>) {
    match term {
        Term::Add(terms) => terms.iter().for_each(|t| addends(t, negative, found)),
        Term::Sub(a, b) => {
            addends(a, negative, found);
            addends(b, !negative, found);
        }
        Term::Neg(body) => addends(body, !negative, found),
        other if negative => found.push(Term::Neg(Box::new(other.clone()))),
        other => found.push(other.clone()),
    }
}

/// Whether a term is a multiple of one access.
fn is_linear(term: &Term) -> bool {
    match term {
        Term::Access { .. } => true,
        Term::Neg(body) => is_linear(body),
        Term::Mul(factors) => {
            let mut others = factors.iter().filter(|f| !matches!(f, Term::Const(_)));
            others.next().is_some_and(is_linear) && others.next().is_none()
        }
        _ => false,
    }
}

/// A tensor of numbers as programs write it.
fn literal(shape: &Shape, components: &[f64]) -> Option<Expr> {
    let Some((first, rest)) = shape.dims().split_first() else {
        return Some(Expr::Number(rational::from_f64(components[0])?));
    };
    let (rest, size) = (Shape::from(rest), components.len() / first);
    let parts = components.chunks(size).map(|part| literal(&rest, part));
    Some(Expr::Apply(row("concat"), parts.collect::<Option<_>>()?))
}
