//! Values that are known when the program is compiled: the evaluation of constant expressions.
//!
//! Everything that depends on nothing but literals and constants can be evaluated: arithmetic on ints, reals and
//! tensors, comparisons, conditionals, sequences, comprehensions and reductions. The work is limited by a number of
//! steps, so that no program can keep the compiler busy.

use super::{
    builtin_value::builtin_value,
    coerce::convert,
    context::Cx,
    expr::infer,
    messages::mismatch,
    tree::{Constant, Domain, Expr, ExprKind, VarId},
};
use crate::front::{source::Span, syntax::ast};
use ein_ir::{
    Input, Shape, Tensor, Type,
    ops::{Builtin, Instance, Meaning},
};

/// The number of operations a constant expression may take.
const STEPS: usize = 1 << 20;

/// Why an expression has no value at compile time, and the part of it that is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotConstant {
    pub(super) span: Span,
    pub(super) reason: &'static str,
}

/// The value of an expression, if it is known.
pub(super) fn evaluate(expr: &Expr) -> Result<Constant, NotConstant> {
    Evaluation {
        bound: Vec::new(),
        steps: STEPS,
    }
    .value(expr)
}

/// The value of an expression that must be known; `what` names its role in messages.
pub(super) fn require(cx: &mut Cx<'_>, expr: &Expr, what: &str) -> Option<Constant> {
    match evaluate(expr) {
        Ok(value) => Some(value),
        Err(NotConstant { span, reason }) => {
            let mut report = cx.error(
                "not-constant",
                expr.span,
                format!("{what} must be a constant"),
            );
            if span != expr.span || reason != NOT_KNOWN {
                report = report.label(span, reason);
            }
            report.hint("literals, `const` definitions and arithmetic on them are constants");
            None
        }
    }
}

/// A constant integer; `what` names its role in messages.
pub(super) fn constant_int<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr, what: &str) -> Option<i64> {
    let found = infer(cx, written, Some(&Type::Int))?;
    if found.ty != Type::Int {
        mismatch(cx, found.span, what, &Type::Int, &found.ty);
        return None;
    }
    match require(cx, &found, what)? {
        Constant::Int(value) => Some(value),
        Constant::Bool(_) | Constant::String(_) | Constant::Tensor(..) | Constant::Seq(_) => None,
    }
}

/// The plainest reason: the value comes from outside.
const NOT_KNOWN: &str = "this is known only at run time";

struct Evaluation {
    /// Variables of the comprehensions around the expression.
    bound: Vec<(VarId, Constant)>,
    /// How many more operations may be evaluated.
    steps: usize,
}

impl Evaluation {
    fn value(&mut self, expr: &Expr) -> Result<Constant, NotConstant> {
        let fail = |reason| NotConstant {
            span: expr.span,
            reason,
        };
        self.steps = self
            .steps
            .checked_sub(1)
            .ok_or(fail("this takes too many steps to evaluate"))?;
        match &expr.kind {
            ExprKind::Constant(value) => Ok(value.clone()),
            ExprKind::Var(var) => {
                let bound = self.bound.iter().rev().find(|(bound, _)| bound == var);
                bound.map(|(_, value)| value.clone()).ok_or(fail(NOT_KNOWN))
            }
            ExprKind::Op { op, args } => {
                let args = self.values(args)?;
                let divides = matches!(
                    op.row.meaning,
                    Meaning::Builtin(Builtin::IntDiv | Builtin::IntRem)
                );
                if divides && args.last() == Some(&Constant::Int(0)) {
                    return Err(fail("this divides by zero"));
                }
                operation(op, args).ok_or(fail("this cannot be evaluated at compile time"))
            }
            ExprKind::Power { base, exponent } => match self.value(base)? {
                Constant::Tensor(shape, x) => Ok(Constant::Tensor(
                    shape,
                    x.iter().map(|x| x.powi(*exponent)).collect(),
                )),
                _ => Err(fail(NOT_KNOWN)),
            },
            ExprKind::Tensor(elements) => {
                let parts = self.values(elements)?;
                let (shape, components) = tensor_parts(parts).ok_or(fail(NOT_KNOWN))?;
                let outer = Shape::new([elements.len()]).append(shape.dims());
                Ok(Constant::Tensor(outer, components))
            }
            ExprKind::Sequence(elements) => self.values(elements).map(Constant::Seq),
            ExprKind::Slice { base, mask } => match self.value(base)? {
                Constant::Tensor(shape, x) => Ok(slice(&shape, &x, mask)),
                _ => Err(fail(NOT_KNOWN)),
            },
            ExprKind::Index { base, index } => match (self.value(base)?, self.value(index)?) {
                (Constant::Seq(elements), Constant::Int(at)) => {
                    let element = usize::try_from(at).ok().and_then(|at| elements.get(at));
                    element.cloned().ok_or(fail("this index is out of range"))
                }
                _ => Err(fail(NOT_KNOWN)),
            },
            ExprKind::Identity(n) => Ok(identity(*n)),
            ExprKind::Zeros => filled(&expr.ty, 0.0).ok_or(fail(NOT_KNOWN)),
            ExprKind::Nan => filled(&expr.ty, f64::NAN).ok_or(fail(NOT_KNOWN)),
            ExprKind::Coerce(inner) => self.value(inner).map(|value| convert(value, &expr.ty)),
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => match self.holds(condition)? {
                true => self.value(then),
                false => self.value(otherwise),
            },
            ExprKind::And(left, right) => {
                Ok(Constant::Bool(self.holds(left)? && self.holds(right)?))
            }
            ExprKind::Or(left, right) => {
                Ok(Constant::Bool(self.holds(left)? || self.holds(right)?))
            }
            ExprKind::Range(first, last) => {
                let (Constant::Int(first), Constant::Int(last)) =
                    (self.value(first)?, self.value(last)?)
                else {
                    return Err(fail(NOT_KNOWN));
                };
                let count = usize::try_from(last - first + 1).unwrap_or(0);
                self.steps = self
                    .steps
                    .checked_sub(count)
                    .ok_or(fail("this is too long to evaluate"))?;
                Ok(Constant::Seq((first..=last).map(Constant::Int).collect()))
            }
            ExprKind::Comprehension { body, var, domain } => {
                self.each(body, *var, domain).map(Constant::Seq)
            }
            ExprKind::Reduce {
                op,
                body,
                var,
                domain,
            } => match domain {
                Domain::Seq(source) => {
                    let elements = self.each(body, *var, source)?;
                    operation(op, vec![Constant::Seq(elements)])
                        .ok_or(fail("this cannot be evaluated at compile time"))
                }
                Domain::Strands(_) => Err(fail(NOT_KNOWN)),
            },
            ExprKind::Kernel(_)
            | ExprKind::Probe { .. }
            | ExprKind::Call { .. }
            | ExprKind::Select { .. }
            | ExprKind::LoadImage(_)
            | ExprKind::LoadSequence(_)
            | ExprKind::Sphere { .. }
            | ExprKind::Swap { .. } => Err(fail(NOT_KNOWN)),
        }
    }

    fn values(&mut self, exprs: &[Expr]) -> Result<Vec<Constant>, NotConstant> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    fn holds(&mut self, condition: &Expr) -> Result<bool, NotConstant> {
        match self.value(condition)? {
            Constant::Bool(holds) => Ok(holds),
            _ => Err(NotConstant {
                span: condition.span,
                reason: NOT_KNOWN,
            }),
        }
    }

    /// The body for every element of a sequence.
    fn each(
        &mut self,
        body: &Expr,
        var: VarId,
        source: &Expr,
    ) -> Result<Vec<Constant>, NotConstant> {
        let Constant::Seq(elements) = self.value(source)? else {
            return Err(NotConstant {
                span: source.span,
                reason: NOT_KNOWN,
            });
        };
        let mut values = Vec::new();
        for element in elements {
            self.bound.push((var, element));
            let value = self.value(body);
            self.bound.pop();
            values.push(value?);
        }
        Ok(values)
    }
}

/// A row applied to values.
fn operation(op: &Instance, args: Vec<Constant>) -> Option<Constant> {
    match op.row.meaning {
        Meaning::Builtin(builtin) => builtin_value(builtin, &args, &op.result),
        Meaning::Ein(_) | Meaning::Elementary(_) | Meaning::Form(_) => ein_value(op, args),
    }
}

/// The value of an EIN operator on tensors that are known.
fn ein_value(op: &Instance, args: Vec<Constant>) -> Option<Constant> {
    let args: Option<Vec<Input<'static>>> = args
        .into_iter()
        .map(|arg| match arg {
            Constant::Tensor(shape, x) => Some(Input::Tensor(Tensor::new(shape, x))),
            Constant::Bool(_) | Constant::Int(_) | Constant::String(_) | Constant::Seq(_) => None,
        })
        .collect();
    let value = op.ein()?.eval(&args?);
    let Type::Seq(element, _) = &op.result else {
        let shape = value.shape().clone();
        return Some(Constant::Tensor(shape, value.components().to_vec()));
    };
    // The elements of a sequence are along the first axis.
    let Type::Tensor(shape) = &**element else {
        return None;
    };
    let parts = value.components().chunks(shape.size());
    let elements = parts.map(|part| Constant::Tensor(shape.clone(), part.to_vec()));
    Some(Constant::Seq(elements.collect()))
}

/// Tensors of one shape, their components one after the other.
fn tensor_parts(parts: Vec<Constant>) -> Option<(Shape, Vec<f64>)> {
    let mut all = Vec::new();
    let mut common = None;
    for part in parts {
        let Constant::Tensor(shape, components) = part else {
            return None;
        };
        all.extend(components);
        common = Some(shape);
    }
    Some((common?, all))
}

fn slice(shape: &Shape, components: &[f64], mask: &[Option<usize>]) -> Constant {
    let kept = mask
        .iter()
        .zip(shape.dims())
        .filter(|(at, _)| at.is_none())
        .map(|(_, &extent)| extent);
    let selected = shape
        .indices()
        .zip(components)
        .filter(|(index, _)| {
            index
                .iter()
                .zip(mask)
                .all(|(i, at)| at.is_none_or(|at| at == *i))
        })
        .map(|(_, component)| *component);
    Constant::Tensor(Shape::new(kept), selected.collect())
}

fn identity(n: usize) -> Constant {
    let shape = Shape::new([n, n]);
    let components = shape
        .indices()
        .map(|index| f64::from(u8::from(index.windows(2).all(|pair| pair[0] == pair[1]))));
    let components = components.collect();
    Constant::Tensor(shape, components)
}

fn filled(ty: &Type, value: f64) -> Option<Constant> {
    match ty {
        Type::Tensor(shape) => Some(Constant::Tensor(shape.clone(), vec![value; shape.size()])),
        _ => None,
    }
}
