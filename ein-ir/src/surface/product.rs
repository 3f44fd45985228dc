//! Sums of products as products of whole tensors: `A•b`, `a⊗b`, `A:B`, `a×b` and what else the table has.

use super::{
    convert::{Converter, free_indices},
    expr::Expr,
    key::factors,
};
use crate::{Index, Param, Rational, Term};
use num_traits::CheckedMul;

/// A factor with indices: an operand and its index at each axis.
#[derive(Clone)]
struct Factor {
    param: usize,
    indices: Vec<Index>,
}

impl Factor {
    fn term(&self) -> Term {
        Term::Access {
            param: self.param,
            indices: self.indices.clone(),
        }
    }
}

impl Converter<'_> {
    /// The expression for a sum of products, if rows of the table say it: numbers and scalars first, then tensors, two at
    /// a time.
    pub(super) fn product(&mut self, term: &Term, axes: &[Index]) -> Option<Expr> {
        let (binders, factors) = factors(term);
        let mut number = Rational::from_integer(1);
        let (mut scalars, mut tensors) = (Vec::new(), Vec::new());
        for factor in factors {
            match factor {
                Term::Const(value) => match number.checked_mul(value) {
                    Some(product) => number = product,
                    None => scalars.push(Expr::Number(*value)),
                },
                _ if free_indices(factor).is_empty() => scalars.push(self.tensor(factor, &[])?),
                Term::Access { param, indices } => tensors.push(self.sliced(*param, indices)?),
                _ => {
                    let indices = free_indices(factor);
                    let Term::Access { param, indices } = self.part(factor, &indices)? else {
                        return None;
                    };
                    tensors.push(Factor { param, indices });
                }
            }
        }
        let scalar = scalars.into_iter().reduce(|a, b| match b {
            // a*(1/b) is read like a/b.
            Expr::Apply(op, args) if op.name == "divide" && is_one(&args[0]) => {
                Expr::Apply(op, vec![a, args[1].clone()])
            }
            b => a.scaling(b),
        });
        if tensors.is_empty() {
            // An index that nothing mentions only counts.
            let counted: usize = binders.iter().map(|(_, range)| range).product();
            let scalar = scalar.filter(|_| axes.is_empty())?;
            return Some(scalar.times(number * Rational::from_integer(counted as i128)));
        }
        let binders: Vec<u32> = binders.into_iter().map(|(binder, _)| binder).collect();
        let tensor = self.contraction(tensors, &binders, axes)?;
        let tensor = match scalar {
            Some(scalar) => scalar.scaling(tensor),
            None => tensor,
        };
        Some(tensor.times(number))
    }

    /// An access without constant indices: those are taken out by a slice.
    fn sliced(&mut self, param: usize, indices: &[Index]) -> Option<Factor> {
        let kept: Vec<Index> = indices
            .iter()
            .copied()
            .filter(|i| !matches!(i, Index::Const(_)))
            .collect();
        if kept.len() == indices.len() {
            let indices = kept;
            return Some(Factor { param, indices });
        }
        let mut distinct = kept.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < kept.len() {
            return None;
        }
        let indices = indices.to_vec();
        match self.part(&Term::Access { param, indices }, &kept)? {
            Term::Access { param, indices } => Some(Factor { param, indices }),
            _ => None,
        }
    }

    /// A contraction as one row, or as a row of two factors and a contraction of the rest.
    fn contraction(
        &mut self,
        factors: Vec<Factor>,
        binders: &[u32],
        axes: &[Index],
    ) -> Option<Expr> {
        if let Some(whole) = self.contraction_row(&factors, binders, axes) {
            return Some(whole);
        }
        if factors.len() < 2 {
            return None;
        }
        let pairs = (0..factors.len()).flat_map(|a| (0..factors.len()).map(move |b| (a, b)));
        for (a, b) in pairs.filter(|(a, b)| a != b) {
            let rest: Vec<Factor> = (0..factors.len())
                .filter(|k| ![a, b].contains(k))
                .map(|k| factors[k].clone())
                .collect();
            let (left, right) = (&factors[a], &factors[b]);
            let outside = |index: &Index| {
                axes.contains(index) || rest.iter().any(|factor| factor.indices.contains(index))
            };
            let mut kept: Vec<Index> = Vec::new();
            for index in left.indices.iter().chain(&right.indices) {
                if outside(index) && !kept.contains(index) {
                    kept.push(*index);
                }
            }
            if rest.is_empty() && kept == *axes && factors.len() == 2 {
                continue;
            }
            let is_inner = |binder: &&u32| !outside(&Index::Bound(**binder));
            let inner: Vec<u32> = binders.iter().filter(is_inner).copied().collect();
            if inner.is_empty() && !rest.is_empty() && shares_summed(&factors, binders) {
                // Outer products come last.
                continue;
            }
            let pair = [left.clone(), right.clone()];
            let Some(joined) = self.contraction_row(&pair, &inner, &kept) else {
                continue;
            };
            let left_over: Vec<u32> = binders
                .iter()
                .filter(|binder| !inner.contains(binder))
                .copied()
                .collect();
            let joined = self.joined(joined, &pair, kept);
            let factors = std::iter::once(joined).chain(rest).collect();
            if let Some(whole) = self.contraction(factors, &left_over, axes) {
                return Some(whole);
            }
        }
        None
    }

    /// The product of two factors as an operand of its own.
    fn joined(&mut self, expr: Expr, pair: &[Factor; 2], indices: Vec<Index>) -> Factor {
        let dims = pair
            .iter()
            .find_map(|factor| self.operands[factor.param].kind.dim());
        let shape = crate::Shape::new(indices.iter().map(|index| self.extents[index]));
        let kind = match dims {
            Some(dim) => Param::Field { dim, shape },
            None => Param::Tensor(shape),
        };
        self.operands.push(super::convert::Operand {
            expr,
            kind,
            symmetry: Vec::new(),
        });
        let param = self.operands.len() - 1;
        Factor { param, indices }
    }

    /// A row for all factors at once, matrices among them transposed if need be.
    fn contraction_row(
        &mut self,
        factors: &[Factor],
        binders: &[u32],
        axes: &[Index],
    ) -> Option<Expr> {
        let can_turn = |k: &usize| {
            factors[*k].indices.len() == 2 && factors[*k].indices[0] != factors[*k].indices[1]
        };
        let turnable: Vec<usize> = (0..factors.len()).filter(can_turn).collect();
        for turned in 0..1u32 << turnable.len().min(3) {
            let mut terms = Vec::new();
            for (k, factor) in factors.iter().enumerate() {
                let place = turnable.iter().position(|&t| t == k);
                if place.is_none_or(|place| turned >> place & 1 == 0) {
                    terms.push(factor.term());
                    continue;
                }
                let indices: Vec<Index> = factor.indices.iter().rev().copied().collect();
                terms.push(self.part(&factor.term(), &indices)?);
            }
            let product = match terms.len() {
                1 => terms.remove(0),
                _ => Term::Mul(terms),
            };
            let body = binders
                .iter()
                .rev()
                .fold(product, |body, &binder| Term::Sum {
                    binder,
                    range: self.extents[&Index::Bound(binder)],
                    body: Box::new(body),
                });
            let found = match &body {
                Term::Access { .. } => self.tensor(&body, axes),
                _ => self.row(&body, axes),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

fn is_one(expr: &Expr) -> bool {
    matches!(expr, Expr::Number(number) if *number == 1.into())
}

/// Whether two of the factors share an index that is summed over.
fn shares_summed(factors: &[Factor], binders: &[u32]) -> bool {
    binders.iter().any(|&binder| {
        let has = |factor: &&Factor| factor.indices.contains(&Index::Bound(binder));
        factors.iter().filter(has).count() > 1
    })
}
