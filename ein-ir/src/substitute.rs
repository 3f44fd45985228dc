//! Terms put in the place of parameters: how operators are composed before anything is normalized.

use crate::{Index, Term};
use std::collections::BTreeMap;

/// Gives out numbers of summation indices that are not in use.
#[derive(Clone, Debug, Default)]
pub struct FreshBinders(u32);

impl FreshBinders {
    /// A number that was not given out before.
    pub fn fresh(&mut self) -> u32 {
        self.0 += 1;
        self.0 - 1
    }

    /// The same term with new numbers for all the indices that its sums bind. Indices that are free in it stay.
    pub fn renew(&mut self, term: Term) -> Term {
        let mut renamed = BTreeMap::new();
        self.collect(&term, &mut renamed);
        let index = |index: Index| match index {
            Index::Bound(binder) => Index::Bound(*renamed.get(&binder).unwrap_or(&binder)),
            other => other,
        };
        rebind(term.rename(&index, &|param| param), &renamed)
    }

    fn collect(&mut self, term: &Term, renamed: &mut BTreeMap<u32, u32>) {
        if let Term::Sum { binder, .. } = term {
            renamed.insert(*binder, self.fresh());
        }
        for child in term.children() {
            self.collect(child, renamed);
        }
    }
}

/// The sums of a term with the numbers that their indices have now.
fn rebind(term: Term, renamed: &BTreeMap<u32, u32>) -> Term {
    match term.map(&mut |inner| rebind(inner, renamed)) {
        Term::Sum {
            binder,
            range,
            body,
        } => Term::Sum {
            binder: *renamed.get(&binder).unwrap_or(&binder),
            range,
            body,
        },
        other => other,
    }
}

impl Term {
    /// This term, the body of an operator, with terms in the place of its parameters. The axes of each argument are the
    /// indices `Axis(0)`, `Axis(1)`, … in its term; its other indices mean the same outside. None if the operator looks at
    /// a whole parameter, as an eigensystem does, and the argument is not one.
    pub fn substitute(&self, args: &[Term], binders: &mut FreshBinders) -> Option<Term> {
        let own = binders.renew(self.clone());
        own.with_args(args, binders)
    }

    fn with_args(self, args: &[Term], binders: &mut FreshBinders) -> Option<Term> {
        match self {
            Term::Access { param, indices } => {
                let arg = binders.renew(args.get(param)?.clone());
                let place = |index: Index| match index {
                    Index::Axis(axis) => indices.get(axis).copied().unwrap_or(index),
                    other => other,
                };
                Some(arg.rename(&place, &|param| param))
            }
            Term::Eigen {
                part,
                param,
                indices,
            } => match args.get(param)? {
                Term::Access {
                    param,
                    indices: places,
                } if *places == [Index::Axis(0), Index::Axis(1)] => Some(Term::Eigen {
                    part,
                    param: *param,
                    indices,
                }),
                _ => None,
            },
            other => {
                let mut whole = true;
                let term = other.map(&mut |inner| {
                    inner.with_args(args, binders).unwrap_or_else(|| {
                        whole = false;
                        Term::Const(crate::Rational::from_integer(0))
                    })
                });
                whole.then_some(term)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ein, Input, Param, Shape, Tensor};

    fn access(param: usize, indices: &[Index]) -> Term {
        Term::Access {
            param,
            indices: indices.to_vec(),
        }
    }

    /// The trace of a product of a product: sums of all three keep apart, and a free index stays.
    #[test]
    fn products_are_composed_without_capturing_indices() {
        let mut binders = FreshBinders::default();
        let outside = binders.fresh();
        let product = Term::Sum {
            binder: 0,
            range: 2,
            body: Box::new(Term::Mul(vec![
                access(0, &[Index::Axis(0), Index::Bound(0)]),
                access(1, &[Index::Bound(0), Index::Axis(1)]),
            ])),
        };
        let scaled = Term::Mul(vec![
            access(0, &[Index::Axis(0), Index::Axis(1)]),
            access(1, &[Index::Bound(outside), Index::Const(0)]),
        ]);
        let whole = access(2, &[Index::Axis(0), Index::Axis(1)]);
        let inner = product.substitute(&[scaled, whole.clone()], &mut binders);
        let twice = product
            .substitute(&[inner.expect("no eigensystem"), whole], &mut binders)
            .expect("no eigensystem");
        let matrix = || Param::Tensor(Shape::new([2, 2]));
        let ein = Ein {
            params: vec![matrix(), matrix(), matrix()],
            axes: vec![2, 2],
            body: Term::Sum {
                binder: outside,
                range: 2,
                body: Box::new(twice),
            },
        };
        assert_eq!(ein.verify(), []);
        let input = |x: [f64; 4]| Input::Tensor(Tensor::new(Shape::new([2, 2]), x.to_vec()));
        let value = ein.eval(&[
            input([1.0, 2.0, 3.0, 4.0]),
            input([5.0, 0.0, 7.0, 0.0]),
            input([1.0, 1.0, 0.0, 2.0]),
        ]);
        // 12 · A · C · C
        assert_eq!(value.components(), [12.0, 132.0, 36.0, 300.0]);
    }
}
