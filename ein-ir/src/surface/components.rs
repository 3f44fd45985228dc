//! Component notation for terms that have no notation with whole tensors.

use super::{
    convert::{Converter, Operand, free_indices},
    expr::{Expr, row},
    key::factors,
    recognize::Recognizer,
};
use crate::{
    Ein, Term,
    ops::{Meaning, OPERATORS},
};

/// An expression for one component of an operator, its axes being indices.
pub(super) fn component(recognizer: &mut Recognizer, op: &Ein, args: Vec<Operand>) -> Expr {
    Converter::new(recognizer, op, args).component(&op.body)
}

impl Converter<'_> {
    /// One component in index notation; parts without an index are whole scalars.
    fn component(&mut self, term: &Term) -> Expr {
        if free_indices(term).is_empty()
            && let Some(scalar) = self.tensor(term, &[])
        {
            return scalar;
        }
        match term {
            Term::Const(value) => Expr::Number(*value),
            Term::Access { param, indices } => Expr::Component(
                Box::new(self.operands[*param].expr.clone()),
                indices.clone(),
            ),
            Term::Eigen {
                part,
                param,
                indices,
            } => {
                let (system, _) = self.eigensystem(*part, *param);
                Expr::Component(Box::new(system), indices.clone())
            }
            Term::Position { index, .. } => Expr::Position(*index),
            Term::Delta(i, j) => Expr::Delta(*i, *j),
            Term::Epsilon(indices) => Expr::Epsilon(indices.clone()),
            Term::Neg(body) => self.component(body).minus(),
            Term::Add(terms) => {
                let terms: Vec<Expr> = terms.iter().map(|term| self.component(term)).collect();
                let sum = terms.into_iter().reduce(Expr::plus);
                sum.unwrap_or(Expr::Number(0.into()))
            }
            Term::Sub(a, b) => {
                let b = self.component(b);
                self.component(a).plus(b.minus())
            }
            Term::Mul(_) | Term::Sum { .. } => {
                let (binders, factors) = factors(term);
                let mut factors: Vec<Expr> = factors.iter().map(|f| self.component(f)).collect();
                let product = match factors.len() {
                    1 => factors.remove(0),
                    _ => Expr::Product(factors),
                };
                let binders: Vec<u32> = binders.into_iter().map(|(binder, _)| binder).collect();
                match binders.is_empty() {
                    true => product,
                    false => Expr::Sum(binders, Box::new(product)),
                }
            }
            Term::Div(a, b) => {
                let parts = vec![self.component(a), self.component(b)];
                Expr::Apply(row("divide"), parts)
            }
            Term::Pow(base, exponent) => Expr::Power(Box::new(self.component(base)), *exponent),
            Term::Apply(function, args) => {
                let args: Vec<Expr> = args.iter().map(|arg| self.component(arg)).collect();
                let meaning = Meaning::Elementary(*function);
                match OPERATORS.iter().find(|row| row.meaning == meaning) {
                    Some(row) => Expr::Apply(row, args),
                    None => Expr::Call(function.def().name, args),
                }
            }
            Term::Cond {
                test,
                sides,
                then,
                otherwise,
            } => Expr::If {
                test: *test,
                parts: Box::new(
                    [&sides[0], &sides[1], then, otherwise].map(|part| self.component(part)),
                ),
            },
            Term::Deriv { index, body } => Expr::Partial(*index, Box::new(self.component(body))),
            Term::Probe { field, at } => {
                let (field, mut at) = (
                    self.component(field),
                    at.iter()
                        .map(|term| self.component(term))
                        .collect::<Vec<_>>(),
                );
                let position = match at.len() {
                    1 => at.remove(0),
                    _ => Expr::Apply(row("concat"), at),
                };
                Expr::Apply(row("probe"), vec![field, position])
            }
        }
    }
}
