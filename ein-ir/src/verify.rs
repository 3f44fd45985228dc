//! Well-formedness of operators and regions: scopes of indices, extents, shapes, dimensions. Every violation is given.

use crate::jet::MAX_DIM;
use crate::region::{Region, ValueId};
use crate::{Eigen, Ein, Index, Param, Term};
use std::collections::BTreeSet;
use std::fmt;

/// Something that must not be in an operator or region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The part in question, printed.
    pub place: String,
    /// A description of the fault.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in `{}`", self.message, self.place)
    }
}

impl Ein {
    /// Everything that is wrong with the operator; nothing if it is well-formed.
    pub fn verify(&self) -> Vec<Violation> {
        let mut check = Check {
            op: self,
            binders: Vec::new(),
            used: BTreeSet::new(),
            violations: Vec::new(),
        };
        for param in &self.params {
            let extents = param.shape().dims().iter().all(|&n| n >= 2);
            check.demand(extents, param, || "an axis has no extent".to_owned());
            let dim = param.dim().is_none_or(|dim| (1..=MAX_DIM).contains(&dim));
            check.demand(dim, param, || {
                format!("a domain has 1 to {MAX_DIM} dimensions")
            });
        }
        let extents = self.axes.iter().all(|&n| n >= 2);
        check.demand(extents, self, || {
            "a result axis of extent 1 or 0 is none".to_owned()
        });
        check.term(&self.body, self.body.dim(&self.params));
        check.violations
    }
}

impl Region {
    /// Everything that is wrong with the region; nothing if it is well-formed.
    pub fn verify(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        let kinds = self.kinds();
        let mut report =
            |place: String, message: String| violations.push(Violation { place, message });
        for (k, def) in self.defs.iter().enumerate() {
            let place = || format!("v{}", self.inputs.len() + k);
            if def.args.len() != def.op.params.len() {
                report(
                    place(),
                    format!(
                        "{} arguments for {} parameters",
                        def.args.len(),
                        def.op.params.len()
                    ),
                );
            }
            for (arg, param) in def.args.iter().zip(&def.op.params) {
                match kinds.get(arg.0) {
                    Some(_) if arg.0 >= self.inputs.len() + k => {
                        report(place(), format!("v{} is not defined yet", arg.0));
                    }
                    Some(kind) if !stands_for(kind, param) => {
                        report(
                            place(),
                            format!("v{} is {kind} but the parameter is {param}", arg.0),
                        );
                    }
                    Some(_) => {}
                    None => report(place(), format!("there is no v{}", arg.0)),
                }
            }
        }
        for ValueId(root) in &self.roots {
            if *root >= kinds.len() {
                report("return".to_owned(), format!("there is no v{root}"));
            }
        }
        violations.extend(self.defs.iter().flat_map(|def| def.op.verify()));
        violations
    }
}

/// Whether a value of this kind may be an argument for a parameter: a tensor is also a constant field.
fn stands_for(kind: &Param, param: &Param) -> bool {
    kind.shape() == param.shape() && (kind.dim().is_none() || kind.dim() == param.dim())
}

struct Check<'a> {
    op: &'a Ein,
    /// The binders in scope with their ranges.
    binders: Vec<(u32, usize)>,
    /// All binders so far.
    used: BTreeSet<u32>,
    violations: Vec<Violation>,
}

impl Check<'_> {
    fn demand(&mut self, holds: bool, place: &impl fmt::Display, message: impl Fn() -> String) {
        if !holds {
            self.violations.push(Violation {
                place: place.to_string(),
                message: message(),
            });
        }
    }

    /// The number of values of an index: none for a constant, or for one that is not in scope, which is reported.
    fn extent(&mut self, index: Index, place: &Term) -> Option<usize> {
        let extent = match index {
            Index::Const(_) => return None,
            Index::Axis(axis) => self.op.axes.get(axis).copied(),
            Index::Bound(binder) => self
                .binders
                .iter()
                .find(|(bound, _)| *bound == binder)
                .map(|(_, range)| *range),
        };
        self.demand(extent.is_some(), place, || {
            format!("the index {index} is not in scope")
        });
        extent
    }

    /// An index where `wanted` values are possible.
    fn index(&mut self, index: Index, wanted: usize, place: &Term) {
        let extent = self.extent(index, place);
        let fits = match index {
            Index::Const(component) => component < wanted,
            Index::Axis(_) | Index::Bound(_) => extent.is_none_or(|n| n == wanted),
        };
        self.demand(fits, place, || {
            format!("the index {index} does not have {wanted} values")
        });
    }

    /// Checks a term that stands for a field of dimension `ambient`, if any. Gives the dimension it has itself.
    fn term(&mut self, term: &Term, ambient: Option<usize>) -> Option<usize> {
        match term {
            Term::Const(_) => None,
            Term::Access { param, indices } => self.access(*param, indices, term),
            Term::Eigen {
                part,
                param,
                indices,
            } => self.eigen(*part, *param, indices, term),
            Term::Position { dim, index } => {
                let possible = (1..=MAX_DIM).contains(dim);
                self.demand(possible, term, || {
                    format!("a domain has 1 to {MAX_DIM} dimensions")
                });
                self.index(*index, *dim, term);
                Some(*dim)
            }
            Term::Delta(i, j) => {
                let extents = [self.extent(*i, term), self.extent(*j, term)];
                if let Some(n) = extents[0].or(extents[1]) {
                    self.index(*i, n, term);
                    self.index(*j, n, term);
                }
                None
            }
            Term::Epsilon(indices) => {
                let n = indices.len();
                self.demand((2..=3).contains(&n), term, || {
                    "ε has two or three indices".to_owned()
                });
                for index in indices {
                    self.index(*index, n, term);
                }
                None
            }
            Term::Neg(_) | Term::Add(_) | Term::Sub(..) | Term::Mul(_) | Term::Div(..) => {
                self.all(&term.children(), ambient, term)
            }
            Term::Pow(..) | Term::Cond { .. } => self.all(&term.children(), ambient, term),
            Term::Apply(function, args) => {
                let arity = function.arity();
                self.demand(args.len() == arity, term, || {
                    format!("{} arguments for a function of {arity}", args.len())
                });
                self.all(&term.children(), ambient, term)
            }
            Term::Sum {
                binder,
                range,
                body,
            } => {
                let fresh = self.used.insert(*binder);
                self.demand(fresh, term, || {
                    format!("two sums bind {}", Index::Bound(*binder))
                });
                self.demand(*range > 0, term, || "a sum over nothing".to_owned());
                self.binders.push((*binder, *range));
                let dim = self.term(body, ambient);
                self.binders.pop();
                dim
            }
            Term::Deriv { index, body } => {
                let own = self.term(body, ambient);
                match own.or(ambient) {
                    Some(dim) => self.index(*index, dim, term),
                    None => self.demand(false, term, || {
                        "the derivative of something that is not a field".to_owned()
                    }),
                }
                own
            }
            Term::Probe { field, at } => {
                let own = self.term(field, Some(at.len()));
                self.demand(own.is_none_or(|dim| dim == at.len()), term, || {
                    format!("{} coordinates for another dimension", at.len())
                });
                let possible = (1..=MAX_DIM).contains(&at.len());
                self.demand(possible, term, || {
                    format!("a position has 1 to {MAX_DIM} coordinates")
                });
                self.all(&at.iter().collect::<Vec<_>>(), ambient, term)
            }
        }
    }

    fn access(&mut self, param: usize, indices: &[Index], place: &Term) -> Option<usize> {
        let Some(kind) = self.op.params.get(param) else {
            self.demand(false, place, || format!("there is no parameter {param}"));
            return None;
        };
        let dims = kind.shape().dims();
        self.demand(dims.len() == indices.len(), place, || {
            format!(
                "{} indices for the shape {}",
                indices.len(),
                Param::shape(kind)
            )
        });
        for (index, &n) in indices.iter().zip(dims) {
            self.index(*index, n, place);
        }
        kind.dim()
    }

    fn eigen(
        &mut self,
        part: Eigen,
        param: usize,
        indices: &[Index],
        place: &Term,
    ) -> Option<usize> {
        let Some(kind) = self.op.params.get(param) else {
            self.demand(false, place, || format!("there is no parameter {param}"));
            return None;
        };
        let &[n @ (2 | 3), m] = kind.shape().dims() else {
            let shape = kind.shape();
            self.demand(false, place, || {
                format!("the eigensystem of the shape {shape}")
            });
            return kind.dim();
        };
        self.demand(n == m, place, || {
            format!("the eigensystem of the shape {}", kind.shape())
        });
        self.demand(indices.len() == part.order(), place, || {
            format!("{} indices instead of {}", indices.len(), part.order())
        });
        for index in indices {
            self.index(*index, n, place);
        }
        kind.dim()
    }

    /// Checks terms that stand side by side: those that are fields have one dimension.
    fn all(&mut self, terms: &[&Term], ambient: Option<usize>, place: &Term) -> Option<usize> {
        let mut common = None;
        for term in terms {
            let own = self.term(term, ambient);
            let fits = own.is_none() || common.is_none() || own == common;
            self.demand(fits, place, || "fields of different dimensions".to_owned());
            common = common.or(own);
        }
        common
    }
}
