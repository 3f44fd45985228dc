//! Values that are known when the program is compiled: the evaluation of expressions.
//!
//! Everything that depends on nothing but literals and constants can be evaluated: arithmetic on ints, reals and
//! tensors, comparisons, conditionals, sequences, comprehensions and reductions. The work is limited by a number of
//! steps, so that no program can keep the compiler busy. Of index notation, only indices whose values are given have
//! one; operators that elaboration makes of the rest do.

use super::{
    Constant, Domain, Expr, ExprKind, Notation, VarId, builtin_value::builtin_value,
    convert::convert, literal, part::by_operators,
};
use crate::front::source::Span;
use ein_ir::{
    Ein, Input, Shape, Tensor, Type,
    ops::{Builtin, Form, Instance, Meaning},
};

/// The number of operations an expression may take.
const STEPS: usize = 1 << 20;

/// Why an expression has no value at compile time, and the part of it that is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotConstant {
    pub(crate) span: Span,
    pub(crate) reason: &'static str,
}

impl NotConstant {
    /// Whether the value is known when the program runs.
    pub(crate) fn is_known_later(self) -> bool {
        self.reason == NOT_KNOWN
    }
}

/// The value of an expression, if it is known where some variables and indices have these values.
pub(crate) fn evaluate(
    expr: &Expr,
    bound: Vec<(VarId, Constant)>,
    long_int: bool,
) -> Result<Constant, NotConstant> {
    Evaluation {
        bound,
        steps: STEPS,
        long_int,
    }
    .value(expr)
}

/// The plainest reason: the value comes from outside.
const NOT_KNOWN: &str = "this is known only at run time";

struct Evaluation {
    /// Variables that have values: those of the comprehensions around the expression, and indices.
    bound: Vec<(VarId, Constant)>,
    /// How many more operations may be evaluated.
    steps: usize,
    /// Whether ints have 64 bits.
    long_int: bool,
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
            ExprKind::Var(var) => self.bound_to(*var).ok_or(fail(NOT_KNOWN)),
            ExprKind::Notation(notation) => match **notation {
                Notation::Index(var) => self.bound_to(var).ok_or(fail(NOT_KNOWN)),
                _ => Err(fail(NOT_KNOWN)),
            },
            ExprKind::Op { op, args } => match (op.row.meaning, args.as_slice()) {
                (Meaning::Builtin(Builtin::Select), [then, condition, otherwise]) => {
                    match self.holds(condition)? {
                        true => self.value(then),
                        false => self.value(otherwise),
                    }
                }
                (Meaning::Builtin(Builtin::And), [left, right]) => {
                    Ok(Constant::Bool(self.holds(left)? && self.holds(right)?))
                }
                (Meaning::Builtin(Builtin::Or), [left, right]) => {
                    Ok(Constant::Bool(self.holds(left)? || self.holds(right)?))
                }
                _ => {
                    let args = self.values(args)?;
                    self.operation(op, args).map_err(fail)
                }
            },
            ExprKind::Indexed { operator, args } => {
                let args = self.values(args)?;
                let left = self.steps.checked_sub(operator.axes.iter().product());
                self.steps = left.ok_or(fail("this takes too many steps to evaluate"))?;
                indexed_value(operator, &args, &expr.ty).ok_or(fail(NOT_KNOWN))
            }
            ExprKind::Coerce(inner) => self.value(inner).map(|value| convert(value, &expr.ty)),
            ExprKind::Comprehension {
                body,
                var,
                domain: Domain::Seq(source),
            } => self.each(body, *var, source).map(Constant::Seq),
            ExprKind::Part { base, axes } => {
                let whole = literal(base.ty.clone(), self.value(base)?, base.span);
                let mut at = |index: &Expr| match self.value(index) {
                    Ok(Constant::Int(at)) => usize::try_from(at).ok(),
                    _ => None,
                };
                let part = by_operators(&whole, axes, &mut at, expr.span);
                self.value(&part.ok_or(fail(NOT_KNOWN))?)
            }
            ExprKind::Kernel(_)
            | ExprKind::Call { .. }
            | ExprKind::Let { .. }
            | ExprKind::Derivative { .. }
            | ExprKind::Recurrence(_)
            | ExprKind::Comprehension { .. }
            | ExprKind::Given { .. }
            | ExprKind::Select { .. } => Err(fail(NOT_KNOWN)),
        }
    }

    fn bound_to(&self, var: VarId) -> Option<Constant> {
        let mut bound = self.bound.iter().rev();
        bound
            .find(|(bound, _)| *bound == var)
            .map(|(_, value)| value.clone())
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

    /// A row applied to values, or why it has none now.
    fn operation(&mut self, op: &Instance, args: Vec<Constant>) -> Result<Constant, &'static str> {
        let unknown = "this cannot be evaluated at compile time";
        let Meaning::Builtin(builtin) = op.row.meaning else {
            return ein_value(op, args).ok_or(unknown);
        };
        match (builtin, args.as_slice()) {
            (Builtin::IntDiv | Builtin::IntRem, [_, Constant::Int(0)]) => {
                Err("this divides by zero")
            }
            (Builtin::Data(_), _) => Err(NOT_KNOWN),
            (Builtin::Element, _) => builtin_value(builtin, &args, &op.result, self.long_int)
                .ok_or("this index is out of range"),
            (Builtin::Range, [Constant::Int(first), Constant::Int(last)]) => {
                let count = last.saturating_sub(*first).saturating_add(1);
                let count = usize::try_from(count).unwrap_or(0);
                let left = self.steps.checked_sub(count);
                self.steps = left.ok_or("this is too long to evaluate")?;
                Ok(Constant::Seq((*first..=*last).map(Constant::Int).collect()))
            }
            _ => builtin_value(builtin, &args, &op.result, self.long_int).ok_or(unknown),
        }
    }
}

/// The value of an operator that the program defines by index.
fn indexed_value(operator: &Ein, args: &[Constant], ty: &Type) -> Option<Constant> {
    let inputs: Option<Vec<Input<'static>>> = operator
        .params
        .iter()
        .zip(args)
        .map(|(param, arg)| {
            let mut components = Vec::new();
            flatten(arg, &mut components)?;
            let fits = components.len() == param.shape().size();
            fits.then(|| Input::Tensor(Tensor::new(param.shape().clone(), components)))
        })
        .collect();
    if matches!(ty, Type::Field { .. }) {
        return None;
    }
    let value = operator.eval(&inputs?);
    Some(parts_of(value.components(), ty))
}

/// Appends the numbers of a constant.
fn flatten(constant: &Constant, components: &mut Vec<f64>) -> Option<()> {
    match constant {
        Constant::Int(n) => components.push(*n as f64),
        Constant::Tensor(_, x) => components.extend(x),
        Constant::Seq(elements) => {
            for element in elements {
                flatten(element, components)?;
            }
        }
        Constant::Bool(_) | Constant::String(_) => return None,
    }
    Some(())
}

/// The tensor, or the sequence of tensors, with these components.
fn parts_of(components: &[f64], ty: &Type) -> Constant {
    match ty {
        Type::Seq(element, Some(n)) => {
            let parts = components.chunks((components.len() / n.max(&1)).max(1));
            Constant::Seq(parts.map(|part| parts_of(part, element)).collect())
        }
        Type::Tensor(shape) => Constant::Tensor(shape.clone(), components.to_vec()),
        _ => Constant::Tensor(Shape::SCALAR, components.to_vec()),
    }
}

/// The value of an EIN operator on numbers and tensors that are known.
fn ein_value(op: &Instance, args: Vec<Constant>) -> Option<Constant> {
    let tensors: Option<Vec<Tensor<f64>>> = args
        .into_iter()
        .map(|arg| match arg {
            Constant::Int(n) => Some(Tensor::scalar(n as f64)),
            Constant::Tensor(shape, x) => Some(Tensor::new(shape, x)),
            Constant::Bool(_) | Constant::String(_) | Constant::Seq(_) => None,
        })
        .collect();
    let tensors = tensors?;
    // Large tensors are written out part by part: their components are just those of the parts.
    if let (Meaning::Form(Form::Concat), Type::Tensor(shape)) = (op.row.meaning, &op.result) {
        let components = tensors.iter().flat_map(|part| part.components().to_vec());
        return Some(Constant::Tensor(shape.clone(), components.collect()));
    }
    let args: Vec<Input<'static>> = tensors.into_iter().map(Input::Tensor).collect();
    let value = op.ein()?.eval(&args);
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
