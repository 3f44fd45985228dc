//! Operators put in the place of other operators' parameters.

use crate::{
    Ein, Index, Term,
    region::{Def, ValueId},
};

/// A definition with some of its arguments replaced by their definitions; arguments that occur twice become one.
pub(super) fn substitute(outer: &Def, inner: &dyn Fn(ValueId) -> Option<Def>) -> Def {
    let mut joined = Joined {
        def: Def {
            op: Ein {
                params: Vec::new(),
                axes: outer.op.axes.clone(),
                body: Term::Const(0.into()),
            },
            args: Vec::new(),
        },
        binders: 0,
    };
    let identity: Vec<Index> = (0..outer.op.axes.len()).map(Index::Axis).collect();
    joined.def.op.body = joined.body(outer, &identity, inner);
    joined.def
}

struct Joined {
    def: Def,
    /// The next summation index.
    binders: u32,
}

impl Joined {
    fn param(&mut self, of: &Def, param: usize) -> usize {
        let arg = of.args[param];
        let known = self.def.args.iter().position(|&other| other == arg);
        known.unwrap_or_else(|| {
            self.def.args.push(arg);
            self.def.op.params.push(of.op.params[param].clone());
            self.def.args.len() - 1
        })
    }

    /// The body of a definition at these indices.
    fn body(&mut self, def: &Def, at: &[Index], inner: &dyn Fn(ValueId) -> Option<Def>) -> Term {
        let first = self.binders;
        self.binders += 1 + largest_binder(&def.op.body);
        let index = |index: Index| match index {
            Index::Axis(axis) => at[axis],
            Index::Bound(binder) => Index::Bound(first + binder),
            Index::Const(component) => Index::Const(component),
        };
        let body = def.op.body.clone().rename(&index, &|param| param);
        self.term(rebind(body, first), def, inner)
    }

    fn term(&mut self, term: Term, def: &Def, inner: &dyn Fn(ValueId) -> Option<Def>) -> Term {
        match term {
            Term::Access { param, indices } => match inner(def.args[param]) {
                Some(part) => self.body(&part, &indices, &|_| None),
                None => Term::Access {
                    param: self.param(def, param),
                    indices,
                },
            },
            Term::Eigen {
                part,
                param,
                indices,
            } => Term::Eigen {
                part,
                param: self.param(def, param),
                indices,
            },
            other => other.map(&mut |term| self.term(term, def, inner)),
        }
    }
}

fn largest_binder(term: &Term) -> u32 {
    let own = match term {
        Term::Sum { binder, .. } => *binder,
        _ => 0,
    };
    let inside = term.children().into_iter().map(largest_binder);
    inside.max().unwrap_or(0).max(own)
}

/// The same term with the binders of its sums moved by `first`, as its indices were.
fn rebind(term: Term, first: u32) -> Term {
    match term.map(&mut |inner| rebind(inner, first)) {
        Term::Sum {
            binder,
            range,
            body,
        } => Term::Sum {
            binder: first + binder,
            range,
            body,
        },
        other => other,
    }
}
