//! The tangents of operations.

use super::{
    Fact,
    graph::derivatives_of,
    tangents::{Pass, nothing},
    term::{self, Active},
};
use crate::{
    high::{Op, dialect::tangent_type},
    ir::{
        Simple,
        leaf::{Convolution, Leaf, TimeKernel},
        tensor::{Base, Dynamic, Ty},
    },
    ssa::Value,
};
use ein_ir::{Ein, Index, Param, Rational, Shape, Term};
use std::sync::Arc;

/// The error for an operation without a derivative.
fn obstacle<T>(what: impl Into<String>) -> Result<T, Fact> {
    Err(Fact::Obstacle(what.into()))
}

/// An operator that is being written: its parameters and arguments.
#[derive(Clone, Default)]
pub(super) struct Writing {
    params: Vec<Param>,
    args: Vec<Value>,
}

impl Writing {
    /// Adds a parameter; gives its number.
    pub(super) fn add(&mut self, param: Param, arg: Value) -> usize {
        self.params.push(param);
        self.args.push(arg);
        self.args.len() - 1
    }
}

impl Pass<'_> {
    /// The tangent of the result of an operation; none if it is zero.
    pub(super) fn rule(
        &mut self,
        op: &Op,
        args: &[Value],
        result: Value,
    ) -> Result<Option<Value>, Fact> {
        match op {
            Op::Ein(operator) => self.operator(&operator.ein, args, result),
            Op::Variable(_) => Ok(self.tangent(args[0])),
            Op::Defined => Ok(self.tangent(args[1])),
            Op::Base(base) => self.base(base, args, result),
            Op::Field(leaf) => self.leaf(leaf, args),
            Op::Inside { .. } | Op::Derivative(_) => Ok(None),
        }
    }

    /// The tangent of a leaf field, which may depend on the time that it is at: the derivative by time, times the tangent of the time.
    fn leaf(&mut self, leaf: &Leaf, args: &[Value]) -> Result<Option<Value>, Fact> {
        let Some(&time) = args.first() else {
            return Ok(None);
        };
        let Some(tangent) = self.tangent(time) else {
            return Ok(None);
        };
        let (field, kernel) = match leaf {
            Leaf::Convolution(field) => (field, field.time.expect("a field over time")),
            // Values on a mesh are linear from frame to frame.
            Leaf::Fem(_) => return Err(Fact::TooRough { needed: 1, has: 0 }),
        };
        let (needed, has) = (u32::from(kernel.order) + 1, kernel.kernel.0.continuity);
        if needed > has {
            return Err(Fact::TooRough { needed, has });
        }
        let order = kernel.order + 1;
        let slope = Convolution {
            time: Some(TimeKernel { order, ..kernel }),
            ..(**field).clone()
        };
        let slope = self.op(Op::Field(Leaf::Convolution(Arc::new(slope))), &[time]);
        let own = field.shape.order();
        let mut writing = Writing::default();
        let outer = writing.add(self.param(slope), slope);
        let inner = writing.add(self.param(tangent), tangent);
        let access = |param, axes: std::ops::Range<usize>| Term::Access {
            param,
            indices: axes.map(Index::Axis).collect(),
        };
        let by = own..own + self.by.order();
        let body = Term::Mul(vec![access(outer, 0..own), access(inner, by)]);
        let axes = [field.shape.dims(), self.by.dims()].concat();
        self.write(&writing, &axes, body).map(Some)
    }

    fn base(&mut self, base: &Base, args: &[Value], result: Value) -> Result<Option<Value>, Fact> {
        let ty = tangent_type(self.type_of(result), &self.by);
        let tangent = ty.expect("a value with a derivative");
        let is_active = |this: &Self, arg: &Value| this.tangent(*arg).is_some();
        let op = match base {
            Base::Select(_) => Base::Select(tangent),
            Base::Sequence(_) => {
                let element = tangent.element().expect("a sequence has elements").clone();
                Base::Sequence(element)
            }
            Base::Element(_) => {
                return Ok(self
                    .tangent(args[0])
                    .map(|sequence| self.op(Op::Base(base.clone()), &[sequence, args[1]])));
            }
            Base::Simple(simple) => return self.simple(*simple, args, result),
            Base::Dynamic(dynamic) => return self.dynamic(dynamic, args, &tangent),
            Base::Locate(..) => return obstacle("the place of a position in a cell"),
            _ => return Ok(None),
        };
        let values = match base {
            Base::Select(_) => &args[1..],
            _ => args,
        };
        if !values.iter().any(|arg| is_active(self, arg)) {
            return Ok(None);
        }
        let mut given: Vec<Value> = args[..args.len() - values.len()].to_vec();
        for &value in values {
            given.push(self.tangent_or_zero(value)?);
        }
        Ok(Some(self.op(Op::Base(op), &given)))
    }

    /// Operations on scalars are operators like all others.
    fn simple(
        &mut self,
        simple: Simple,
        args: &[Value],
        result: Value,
    ) -> Result<Option<Value>, Fact> {
        let scalar = |param| Term::Access {
            param,
            indices: Vec::new(),
        };
        let body = match simple {
            Simple::Add => Term::Add(vec![scalar(0), scalar(1)]),
            Simple::Sub => Term::Sub(Box::new(scalar(0)), Box::new(scalar(1))),
            Simple::Mul => Term::Mul(vec![scalar(0), scalar(1)]),
            Simple::Div => Term::Div(Box::new(scalar(0)), Box::new(scalar(1))),
            Simple::Neg => Term::Neg(Box::new(scalar(0))),
            _ => return Ok(None),
        };
        let ein = Ein {
            params: vec![Param::Tensor(Shape::SCALAR); args.len()],
            axes: Vec::new(),
            body,
        };
        self.operator(&ein, args, result)
    }

    fn dynamic(
        &mut self,
        dynamic: &Dynamic,
        args: &[Value],
        tangent: &Ty,
    ) -> Result<Option<Value>, Fact> {
        let element = || tangent.element().expect("a sequence has elements").clone();
        let op = match dynamic {
            Dynamic::List(_) => Dynamic::List(element()),
            Dynamic::Append(_) => Dynamic::Append(element()),
            Dynamic::Prepend(_) => Dynamic::Prepend(element()),
            Dynamic::Concatenate(_) => Dynamic::Concatenate(element()),
            Dynamic::Item(_) => {
                let Some(list) = self.tangent(args[0]) else {
                    return Ok(None);
                };
                let item = Dynamic::Item(self.type_of(list).clone());
                return Ok(Some(
                    self.op(Op::Base(Base::Dynamic(item)), &[list, args[1]]),
                ));
            }
            Dynamic::Reduce(_) => {
                return match args.iter().any(|arg| self.tangent(*arg).is_some()) {
                    true => obstacle("a reduction over strands"),
                    false => Ok(None),
                };
            }
            _ => return Ok(None),
        };
        let mut given = Vec::new();
        for &arg in args {
            given.push(self.tangent_or_zero(arg)?);
        }
        Ok(Some(self.op(Op::Base(Base::Dynamic(op)), &given)))
    }

    /// The tangent of an operator: an operator of its arguments and their tangents.
    ///
    /// An elementary function, a power, a quotient and an eigensystem have intermediate values of their own. A derivative of the
    /// tangent then finds them again, and its terms are as many as the order of the derivative, not exponentially many.
    pub(super) fn operator(
        &mut self,
        ein: &Ein,
        args: &[Value],
        result: Value,
    ) -> Result<Option<Value>, Fact> {
        if let Some(tangent) = self.eigensystem(ein, args, result)? {
            return Ok(Some(tangent));
        }
        let mut writing = Writing::default();
        for &arg in args {
            writing.add(self.param(arg), arg);
        }
        let mut tangents = vec![None; args.len()];
        for (place, &arg) in tangents.iter_mut().zip(args) {
            *place = self
                .tangent(arg)
                .map(|tangent| writing.add(self.param(tangent), tangent));
        }
        let order = ein.axes.len();
        let by: Vec<Index> = (order..order + self.by.order()).map(Index::Axis).collect();
        let own: Vec<Index> = (0..order).map(Index::Axis).collect();
        let active = Active {
            tangents: &tangents,
            by: &by,
        };
        let slope = |term: &Term| term::derivative(term, &active).map_err(Fact::Obstacle);
        let body = match &ein.body {
            Term::Apply(function, terms) => {
                let mut products = Vec::new();
                for (k, inner) in terms.iter().enumerate() {
                    let Some(inner) = slope(inner)? else { continue };
                    let outer = term::outer(*function, k, terms).map_err(Fact::Obstacle)?;
                    let outer = self.write(&writing, &ein.axes, outer)?;
                    products.push((self.param(outer), outer, inner));
                }
                let products = products.into_iter().map(|(param, outer, inner)| {
                    let param = writing.add(param, outer);
                    let indices = own.clone();
                    Term::Mul(vec![Term::Access { param, indices }, inner])
                });
                sum(products.collect())
            }
            Term::Pow(base, n) if !matches!(n, 0 | 1) => match slope(base)? {
                None => None,
                Some(inner) => {
                    let power = match n {
                        2 => (**base).clone(),
                        _ => Term::Pow(base.clone(), n - 1),
                    };
                    let factor = Term::Const(Rational::from_integer((*n).into()));
                    let outer = Term::Mul(vec![factor, power]);
                    let outer = self.write(&writing, &ein.axes, outer)?;
                    let param = writing.add(self.param(outer), outer);
                    let outer = Term::Access {
                        param,
                        indices: own,
                    };
                    Some(Term::Mul(vec![outer, inner]))
                }
            },
            Term::Div(above, below) => match (slope(above)?, slope(below)?) {
                (above, None) => above.map(|above| Term::Div(Box::new(above), below.clone())),
                (above, Some(falling)) => {
                    // ∂(a/b) = (∂a − a/b ∂b)/b
                    let param = writing.add(self.param(result), result);
                    let quotient = Term::Access {
                        param,
                        indices: own.clone(),
                    };
                    let falling = Term::Mul(vec![quotient, falling]);
                    let numerator = match above {
                        Some(above) => Term::Sub(Box::new(above), Box::new(falling)),
                        None => Term::Neg(Box::new(falling)),
                    };
                    let axes = [&ein.axes[..], self.by.dims()].concat();
                    let numerator = self.write(&writing, &axes, numerator)?;
                    let param = writing.add(self.param(numerator), numerator);
                    let indices = own.iter().chain(&by).copied().collect();
                    let numerator = Term::Access { param, indices };
                    Some(Term::Div(Box::new(numerator), below.clone()))
                }
            },
            body => slope(body)?,
        };
        let Some(mut body) = body else {
            return Ok(None);
        };
        // The tangent of a field is a field, even if it is constant.
        if let Ty::Field { dim, .. } = self.type_of(result)
            && body.dim(&writing.params).is_none()
        {
            body = Term::Add(vec![body, nothing(*dim)]);
        }
        let axes = [&ein.axes[..], self.by.dims()].concat();
        self.write(&writing, &axes, body).map(Some)
    }

    /// An operator on those arguments that it reads.
    pub(super) fn write(
        &mut self,
        writing: &Writing,
        axes: &[usize],
        body: Term,
    ) -> Result<Value, Fact> {
        // An argument that occurs twice becomes one parameter, so that equal terms are found.
        let same = |param: usize| {
            let arg = writing.args[param];
            writing
                .args
                .iter()
                .position(|&other| other == arg)
                .unwrap_or(param)
        };
        let body = body.rename(&|index| index, &same);
        let body = term::with_unique_binders(term::collected(body));
        let mut kept = Vec::new();
        for (param, arg) in writing.args.iter().enumerate() {
            let Some(needed) = derivatives_of(&body, param) else {
                continue;
            };
            kept.push(param);
            if let Some(has) = self.graph.continuity(*arg)
                && matches!(writing.params[param], Param::Field { .. })
                && needed > has
            {
                return Err(Fact::TooRough { needed, has });
            }
        }
        let place = |param: usize| kept.iter().position(|&k| k == param).unwrap_or(param);
        let operator = Ein {
            params: kept.iter().map(|&k| writing.params[k].clone()).collect(),
            axes: axes.to_vec(),
            body: body.rename(&|index| index, &place),
        };
        let args: Vec<Value> = kept.iter().map(|&k| writing.args[k]).collect();
        Ok(self.op(Op::Ein(Arc::new(operator.into())), &args))
    }

    /// A value as the parameter of an operator.
    pub(super) fn param(&self, value: Value) -> Param {
        match self.type_of(value) {
            Ty::Tensor(shape) => Param::Tensor(shape.clone()),
            Ty::Field { dim, shape } => Param::Field {
                dim: *dim,
                shape: shape.clone(),
            },
            other => panic!("{other} is not a tensor"),
        }
    }
}

/// The sum of terms; none if there is none.
fn sum(mut terms: Vec<Term>) -> Option<Term> {
    match terms.len() {
        0 | 1 => terms.pop(),
        _ => Some(Term::Add(terms)),
    }
}
