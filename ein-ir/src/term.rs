//! EIN operators: closed functions on tensors and fields whose body computes one component of the result.

use crate::{Eigen, Elementary, Rational, Shape, Type, rational};
use std::hash::{Hash, Hasher};

/// What a parameter, or the result, of an operator is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Param {
    /// A tensor: a constant as far as derivatives are concerned.
    Tensor(Shape),
    /// A function of a position in `dim` dimensions.
    Field {
        /// Dimension of the domain.
        dim: usize,
        /// Shape of a value.
        shape: Shape,
    },
}

impl Param {
    /// The shape of the tensor, or of a value of the field.
    pub fn shape(&self) -> &Shape {
        match self {
            Param::Tensor(shape) | Param::Field { shape, .. } => shape,
        }
    }

    /// The dimension of the field's domain; none for a tensor.
    pub fn dim(&self) -> Option<usize> {
        match self {
            Param::Tensor(_) => None,
            Param::Field { dim, .. } => Some(*dim),
        }
    }

    /// The parameter for an argument of a surface type; integers enter as reals, other types not at all.
    pub fn of(ty: &Type) -> Option<Param> {
        match ty {
            Type::Int => Some(Param::Tensor(Shape::SCALAR)),
            Type::Tensor(shape) => Some(Param::Tensor(shape.clone())),
            Type::Field { dim, shape, .. } => Some(Param::Field {
                dim: *dim,
                shape: shape.clone(),
            }),
            Type::Bool | Type::String | Type::Seq(..) => None,
            Type::Image { .. } | Type::Kernel(_) | Type::Kernels(_) | Type::Strand(_) => None,
            Type::Fem { .. } | Type::Mesh(_) => None,
        }
    }
}

/// λ(params) ⟨ body ⟩ axes. The result has shape `axes`; result axis `k` is the index `Axis(k)` in the body.
///
/// It is a field operator if the body denotes a field, see [`Ein::result`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ein {
    /// The parameters, referred to by position.
    pub params: Vec<Param>,
    /// The extents of the result's axes.
    pub axes: Vec<usize>,
    /// One component of the result.
    pub body: Term,
}

/// An index of a tensor access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// A fixed component, counted from 0.
    Const(usize),
    /// An axis of the operator's result.
    Axis(usize),
    /// A summation index, bound by the [`Term::Sum`] with this binder.
    Bound(u32),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparison {
    /// `<`; false if either side is NaN.
    Less,
    /// `≤`; false if either side is NaN.
    LessEqual,
    /// `=`; false if either side is NaN.
    Equal,
}

/// A scalar expression with indexed leaves.
///
/// A term denotes a field (a function of position) if one of its leaves does and no probe at a constant position
/// stands in between; a tensor is a constant field, so there is no lifting construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A constant.
    Const(Rational),
    /// A component of a parameter.
    Access {
        /// Position in [`Ein::params`].
        param: usize,
        /// One index per axis.
        indices: Vec<Index>,
    },
    /// A component of the eigensystem of a parameter: a matrix that is taken to be symmetric, by its upper triangle.
    Eigen {
        /// Which part of the eigensystem.
        part: Eigen,
        /// Position in [`Ein::params`].
        param: usize,
        /// The number of the eigenvalue; for a vector also its component.
        indices: Vec<Index>,
    },
    /// A component of the position itself: the identity field ℝᵈ → ℝᵈ (for `dim` 1 the index is `Const(0)`).
    Position {
        /// Dimension of the domain.
        dim: usize,
        /// Which coordinate.
        index: Index,
    },
    /// Kronecker's δ.
    Delta(Index, Index),
    /// The Levi-Civita symbol with two or three indices.
    Epsilon(Vec<Index>),
    /// Negation.
    Neg(Box<Term>),
    /// A sum of any number of terms.
    Add(Vec<Term>),
    /// A difference.
    Sub(Box<Term>, Box<Term>),
    /// A product of any number of terms.
    Mul(Vec<Term>),
    /// A quotient.
    Div(Box<Term>, Box<Term>),
    /// An integer power; `e⁰` is 1 everywhere.
    Pow(Box<Term>, i32),
    /// An elementary function of one or two arguments.
    Apply(Elementary, Vec<Term>),
    /// `then` where the comparison holds, else `otherwise`; only the chosen side counts, also for derivatives.
    Cond {
        /// The comparison.
        test: Comparison,
        /// Its sides.
        sides: Box<[Term; 2]>,
        /// Value where it holds.
        then: Box<Term>,
        /// Value where it does not.
        otherwise: Box<Term>,
    },
    /// Σ over `binder` = 0 … `range`−1.
    Sum {
        /// The index this sum binds; unique within an operator.
        binder: u32,
        /// How many values it takes.
        range: usize,
        /// The summand.
        body: Box<Term>,
    },
    /// ∂ with respect to one coordinate of the position.
    Deriv {
        /// Which coordinate; for a one-dimensional domain `Const(0)`.
        index: Index,
        /// The field that is differentiated.
        body: Box<Term>,
    },
    /// A field at a position given by its coordinates. If the coordinates are themselves fields this is composition.
    Probe {
        /// The field.
        field: Box<Term>,
        /// As many coordinates as the field's domain has dimensions.
        at: Vec<Term>,
    },
}

impl Hash for Term {
    /// As derived but for constants, see [`rational::hash`].
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Term::Const(value) => rational::hash(value, state),
            Term::Access { param, indices } => (param, indices).hash(state),
            Term::Eigen {
                part,
                param,
                indices,
            } => (part, param, indices).hash(state),
            Term::Position { dim, index } => (dim, index).hash(state),
            Term::Delta(a, b) => (a, b).hash(state),
            Term::Epsilon(indices) => indices.hash(state),
            Term::Neg(body) => body.hash(state),
            Term::Add(terms) | Term::Mul(terms) => terms.hash(state),
            Term::Sub(a, b) | Term::Div(a, b) => (a, b).hash(state),
            Term::Pow(base, exponent) => (base, exponent).hash(state),
            Term::Apply(function, arguments) => (function, arguments).hash(state),
            Term::Cond {
                test,
                sides,
                then,
                otherwise,
            } => (test, sides, then, otherwise).hash(state),
            Term::Sum {
                binder,
                range,
                body,
            } => (binder, range, body).hash(state),
            Term::Deriv { index, body } => (index, body).hash(state),
            Term::Probe { field, at } => (field, at).hash(state),
        }
    }
}

impl Ein {
    /// What the operator gives: a field if its body denotes one, else a tensor.
    pub fn result(&self) -> Param {
        let shape = Shape::from(&self.axes[..]);
        match self.body.dim(&self.params) {
            None => Param::Tensor(shape),
            Some(dim) => Param::Field { dim, shape },
        }
    }
}

impl Term {
    /// The dimension of the field that this term denotes, given the parameters it refers to; none for a tensor.
    ///
    /// Of a term that mixes dimensions, which [`Ein::verify`] reports, it is the first one found.
    pub fn dim(&self, params: &[Param]) -> Option<usize> {
        match self {
            Term::Access { param, .. } | Term::Eigen { param, .. } => {
                params.get(*param).and_then(Param::dim)
            }
            Term::Position { dim, .. } => Some(*dim),
            // The probed field has its own space.
            Term::Probe { at, .. } => at.iter().find_map(|term| term.dim(params)),
            _ => self
                .children()
                .into_iter()
                .find_map(|term| term.dim(params)),
        }
    }

    /// The same term with every term directly inside changed.
    pub fn map(self, change: &mut dyn FnMut(Term) -> Term) -> Term {
        let mut one = |inner: Box<Term>| Box::new(change(*inner));
        match self {
            Term::Neg(body) => Term::Neg(one(body)),
            Term::Pow(body, exponent) => Term::Pow(one(body), exponent),
            Term::Sub(a, b) => Term::Sub(one(a), one(b)),
            Term::Div(a, b) => Term::Div(one(a), one(b)),
            Term::Sum {
                binder,
                range,
                body,
            } => Term::Sum {
                binder,
                range,
                body: one(body),
            },
            Term::Deriv { index, body } => Term::Deriv {
                index,
                body: one(body),
            },
            Term::Add(terms) => Term::Add(terms.into_iter().map(change).collect()),
            Term::Mul(terms) => Term::Mul(terms.into_iter().map(change).collect()),
            Term::Apply(function, terms) => {
                Term::Apply(function, terms.into_iter().map(change).collect())
            }
            Term::Cond {
                test,
                sides,
                then,
                otherwise,
            } => Term::Cond {
                test,
                then: one(then),
                otherwise: one(otherwise),
                sides: Box::new(sides.map(change)),
            },
            Term::Probe { field, at } => Term::Probe {
                field: one(field),
                at: at.into_iter().map(change).collect(),
            },
            leaf @ (Term::Const(_) | Term::Access { .. } | Term::Position { .. }) => leaf,
            leaf @ (Term::Eigen { .. } | Term::Delta(..) | Term::Epsilon(_)) => leaf,
        }
    }

    /// The same term with other indices and parameters.
    pub fn rename(self, index: &dyn Fn(Index) -> Index, param: &dyn Fn(usize) -> usize) -> Term {
        let all = |indices: Vec<Index>| indices.into_iter().map(index).collect();
        match self.map(&mut |term| term.rename(index, param)) {
            Term::Access { param: p, indices } => Term::Access {
                param: param(p),
                indices: all(indices),
            },
            Term::Eigen {
                part,
                param: p,
                indices,
            } => Term::Eigen {
                part,
                param: param(p),
                indices: all(indices),
            },
            Term::Position { dim, index: i } => Term::Position {
                dim,
                index: index(i),
            },
            Term::Delta(i, j) => Term::Delta(index(i), index(j)),
            Term::Epsilon(indices) => Term::Epsilon(all(indices)),
            Term::Deriv { index: i, body } => Term::Deriv {
                index: index(i),
                body,
            },
            other => other,
        }
    }

    /// The terms directly inside this one, in the order in which they are written.
    pub fn children(&self) -> Vec<&Term> {
        match self {
            Term::Const(_) | Term::Access { .. } | Term::Position { .. } => Vec::new(),
            Term::Eigen { .. } | Term::Delta(..) | Term::Epsilon(_) => Vec::new(),
            Term::Neg(body) | Term::Pow(body, _) => vec![body],
            Term::Sum { body, .. } | Term::Deriv { body, .. } => vec![body],
            Term::Add(terms) | Term::Mul(terms) | Term::Apply(_, terms) => terms.iter().collect(),
            Term::Sub(left, right) | Term::Div(left, right) => vec![left, right],
            Term::Cond {
                sides,
                then,
                otherwise,
                ..
            } => sides.iter().chain([&**then, &**otherwise]).collect(),
            Term::Probe { field, at } => std::iter::once(&**field).chain(at).collect(),
        }
    }

    /// The same term with `value` in place of an index variable that it does not bind.
    pub fn with_index(self, variable: Index, value: Index) -> Term {
        let index = |index: Index| if index == variable { value } else { index };
        self.rename(&index, &|param| param)
    }
}
