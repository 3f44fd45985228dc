//! The derivative of an expression: that of its parts, from the inside out.

use super::{
    super::{
        coerce::coerce,
        context::Cx,
        expr::{literal, typed},
        overload,
        tree::{Constant, Domain, Expr, ExprKind, VarId},
    },
    history::{Reads, Value},
    tangent_type,
    term::{Active, derivative, derivatives_of, with_unique_binders},
};
use crate::front::{codes, source::Span};
use ein_ir::{
    Ein, Index, Param, Rational, Shape, Term, Type,
    ops::{Builtin, Form, Instance, Meaning, Reduction, spelling},
};
use std::{collections::BTreeMap, sync::Arc};

/// An error was reported.
#[derive(Debug)]
pub(super) struct Failed;

/// None where the derivative is zero.
pub(super) type Tangent = Result<Option<Expr>, Failed>;

pub(super) struct Tangents<'c, 'a> {
    pub(super) cx: &'c mut Cx<'a>,
    /// What is differentiated by.
    x: VarId,
    pub(super) by: Shape,
    span: Span,
    /// The derivatives of variables that are known; inside, none for zero.
    pub(super) known: BTreeMap<VarId, Option<VarId>>,
    /// Sequences in steps that are computed with their derivatives, under names of their own.
    pub(super) primal: BTreeMap<VarId, VarId>,
    /// What functions were given, under names of their own.
    pub(super) local: BTreeMap<VarId, Expr>,
    /// What has to be computed first.
    pub(super) bindings: Vec<(VarId, Expr)>,
}

/// A derivative that is zero.
pub(super) fn zero(ty: &Type, by: &Shape, span: Span) -> Option<Expr> {
    let ty = tangent_type(ty, by)?;
    if let Type::Field { dim, shape, .. } = &ty {
        let body = Term::Mul(vec![
            Term::Const(Rational::from_integer(0)),
            Term::Position {
                dim: *dim,
                index: Index::Const(0),
            },
        ]);
        let operator = Arc::new(Ein {
            params: Vec::new(),
            axes: shape.dims().to_vec(),
            body,
        });
        let args = Vec::new();
        return Some(typed(ty, ExprKind::Indexed { operator, args }, span));
    }
    let value = Constant::blank(&ty);
    Some(literal(ty, value, span))
}

/// What an argument is to an operator; sequences have their axes first.
fn param_of(ty: &Type) -> Param {
    super::super::indexed::param_of(ty)
}

impl<'c, 'a> Tangents<'c, 'a> {
    pub(super) fn new(cx: &'c mut Cx<'a>, x: VarId, by: Shape, span: Span) -> Self {
        Tangents {
            cx,
            x,
            by,
            span,
            known: BTreeMap::new(),
            primal: BTreeMap::new(),
            local: BTreeMap::new(),
            bindings: Vec::new(),
        }
    }

    /// Reports what cannot be differentiated.
    pub(super) fn obstacle(&mut self, span: Span, what: &str) -> Failed {
        let x = self.cx.var(self.x).name.clone();
        let message = format!("there is no derivative by `{x}` through {what}");
        self.cx
            .error(codes::NOT_DIFFERENTIABLE, self.span, message)
            .label(span, "this is on the way");
        Failed
    }

    /// The derivative of an expression.
    pub(super) fn of(&mut self, e: &Expr) -> Tangent {
        match &e.kind {
            ExprKind::Constant(_) | ExprKind::Kernel(_) => Ok(None),
            ExprKind::Var(var) => self.of_variable(*var, e),
            ExprKind::Op { op, args } => self.of_operator(op, args, e),
            ExprKind::Indexed { operator, args } => self.of_ein(operator, args, &e.ty, e.span),
            ExprKind::Let { bindings, body } => {
                for (var, value) in bindings {
                    // A clause binds the same variables for every element that it computes.
                    self.known.remove(var);
                    self.local.insert(*var, value.clone());
                    self.bindings.push((*var, value.clone()));
                }
                self.of(body)
            }
            ExprKind::Recurrence(steps) => self.of_steps(steps, e),
            ExprKind::Call { function, args } => self.of_call(*function, args, e),
            ExprKind::Coerce(inner) => match inner.ty {
                Type::Tensor(_) | Type::Field { .. } => self.of(inner),
                _ => self.of_other(e.children(), e.span, "a conversion"),
            },
            ExprKind::Comprehension { .. } => {
                self.of_other(e.children(), e.span, "a comprehension")
            }
            ExprKind::FieldFunction { param, body } => self.of_field(*param, body, e),
            ExprKind::Select { .. } => Ok(None),
        }
    }

    /// What has no derivative, and need not have one where it does not depend on the parameter.
    fn of_other(&mut self, parts: Vec<&Expr>, span: Span, what: &str) -> Tangent {
        for part in parts {
            if self.of(part)?.is_some() {
                return Err(self.obstacle(span, what));
            }
        }
        Ok(None)
    }

    fn of_variable(&mut self, var: VarId, e: &Expr) -> Tangent {
        if var == self.x {
            return Ok(Some(self.identity(e)));
        }
        if self.cx.indices.is_stand_in(var) && self.depends(e) {
            let what =
                "a component that depends on an index; give the tensor a name of its own first";
            return Err(self.obstacle(e.span, what));
        }
        if let Some(known) = self.known.get(&var) {
            return known
                .map(|tangent| self.named(tangent, &e.ty, e.span))
                .transpose();
        }
        let found = match self.function_of(e) {
            Some((param, body)) => self.of_field(param, &body, e)?,
            None => match self.definition_of(var, e)? {
                Some(definition) => self.of(&definition)?,
                None => None,
            },
        };
        let known = found.map(|tangent| {
            let tangent = self.with_primal(var, tangent, e);
            let name = format!("∂{}", self.cx.var(var).name);
            let bound = self.variable(&name, tangent.ty.clone(), e.span);
            self.bindings.push((bound, tangent));
            bound
        });
        self.known.insert(var, known);
        known
            .map(|tangent| self.named(tangent, &e.ty, e.span))
            .transpose()
    }

    fn named(&self, tangent: VarId, of: &Type, span: Span) -> Result<Expr, Failed> {
        let ty = tangent_type(of, &self.by).ok_or(Failed)?;
        Ok(typed(ty, ExprKind::Var(tangent), span))
    }

    /// The expression that a variable has the value of; none if it comes from outside.
    fn definition_of(&mut self, var: VarId, e: &Expr) -> Result<Option<Expr>, Failed> {
        if let Some(local) = self.local.get(&var) {
            return Ok(Some(local.clone()));
        }
        let definition = match self.cx.history.value(var) {
            None => return Ok(None),
            Some(Value::Known(definition)) => definition.clone(),
            Some(&Value::Unknown(span, why)) => {
                let what = format!("`{}`, which {why}", self.cx.var(var).name);
                return Err(self.obstacle(span, &what));
            }
        };
        if !self.depends(&definition) {
            return Ok(None);
        }
        if let Some(changed) = self.cx.history.changed_since(var, &definition) {
            let (name, changed) = (&self.cx.var(var).name, &self.cx.var(changed).name);
            let message = format!("`{changed}` was assigned after `{name}` was computed from it");
            self.cx
                .error(codes::STALE_DERIVATIVE, self.span, message)
                .label(e.span, "computed from the earlier value")
                .hint("ask for the derivative before the assignment, or give the new value another name");
            return Err(Failed);
        }
        Ok(Some((*definition).clone()))
    }

    /// Whether a definition leads back to the parameter, as far as variables are known.
    pub(super) fn depends(&self, e: &Expr) -> bool {
        let mut reads = Reads::default();
        reads.expr(e);
        let mut seen = Reads::default();
        loop {
            if let Some(function) = reads.functions.pop_first() {
                if seen.functions.insert(function) {
                    reads.block(&self.cx.function(function).body);
                }
                continue;
            }
            let Some(var) = reads.vars.pop_first() else {
                return false;
            };
            if var == self.x {
                return true;
            }
            if !seen.vars.insert(var) {
                continue;
            }
            for part in self.cx.indices.parts_of(var) {
                reads.expr(part);
            }
            let function = self.cx.history.function(var).map(|(_, body)| &**body);
            for definition in self.local.get(&var).into_iter().chain(function) {
                reads.expr(definition);
            }
            match self.cx.history.value(var) {
                Some(Value::Known(definition)) => reads.expr(definition),
                Some(Value::Unknown(..)) => return true,
                None => {}
            }
        }
    }

    /// ∂x/∂x: δ for every axis.
    fn identity(&self, e: &Expr) -> Expr {
        let order = self.by.order();
        let deltas = (0..order).map(|k| Term::Delta(Index::Axis(k), Index::Axis(order + k)));
        let body = match order {
            0 => Term::Const(Rational::from_integer(1)),
            _ => Term::Mul(deltas.collect()),
        };
        let shape = self.by.append(self.by.dims());
        let operator = Arc::new(Ein {
            params: Vec::new(),
            axes: shape.dims().to_vec(),
            body,
        });
        let args = Vec::new();
        let kind = ExprKind::Indexed { operator, args };
        typed(Type::Tensor(shape), kind, e.span)
    }

    fn of_operator(&mut self, op: &Instance, args: &[Expr], e: &Expr) -> Tangent {
        if let (Meaning::Form(Form::Probe), [field, at]) = (op.row.meaning, args)
            && let Some((param, body)) = self.function_of(field)
        {
            return self.of_field_function(param, &body, at);
        }
        match (op.row.meaning, args) {
            (Meaning::Builtin(Builtin::Select), [then, condition, otherwise]) => {
                let tangents = [self.of_branch(then)?, self.of_branch(otherwise)?];
                if tangents.iter().all(Option::is_none) {
                    return Ok(None);
                }
                let [then, otherwise] =
                    tangents.map(|t| t.or_else(|| zero(&e.ty, &self.by, e.span)));
                let args = vec![
                    then.ok_or(Failed)?,
                    condition.clone(),
                    otherwise.ok_or(Failed)?,
                ];
                self.applied(spelling::SELECT, args, e.span)
            }
            (Meaning::Builtin(Builtin::Sequence), _) => {
                let tangents: Result<Vec<Option<Expr>>, Failed> =
                    args.iter().map(|arg| self.of(arg)).collect();
                let tangents = tangents?;
                if tangents.iter().all(Option::is_none) {
                    return Ok(None);
                }
                let filled: Option<Vec<Expr>> = tangents
                    .into_iter()
                    .zip(args)
                    .map(|(tangent, arg)| tangent.or_else(|| zero(&arg.ty, &self.by, e.span)))
                    .collect();
                self.applied(spelling::SEQUENCE, filled.ok_or(Failed)?, e.span)
            }
            (Meaning::Builtin(Builtin::Element), [sequence, index]) => match self.of(sequence)? {
                None => Ok(None),
                Some(tangent) => {
                    self.applied(spelling::ELEMENT, vec![tangent, index.clone()], e.span)
                }
            },
            (
                Meaning::Builtin(Builtin::Reduce(reduction @ (Reduction::Sum | Reduction::Mean))),
                [sequence],
            ) => self.of_reduction(reduction, sequence, e),
            (Meaning::Builtin(_), _) => {
                let what = format!("`{}`", op.row.name);
                self.of_other(args.iter().collect(), e.span, &what)
            }
            _ => {
                let params: Vec<Param> = args.iter().map(|arg| param_of(&arg.ty)).collect();
                let Some(ein) = op.ein_over(&params) else {
                    return self.of_other(args.iter().collect(), e.span, op.row.name);
                };
                self.of_ein(&ein, args, &e.ty, e.span)
            }
        }
    }

    fn applied(&mut self, spelling: &str, args: Vec<Expr>, span: Span) -> Tangent {
        let made = overload::apply(self.cx, spelling, span, args, None, span);
        made.map(Some).ok_or(Failed)
    }

    /// The derivative of an operator: an operator of its arguments and their derivatives.
    fn of_ein(&mut self, ein: &Ein, args: &[Expr], ty: &Type, span: Span) -> Tangent {
        let tangents: Result<Vec<Option<Expr>>, Failed> =
            args.iter().map(|arg| self.of(arg)).collect();
        let tangents = tangents?;
        if tangents.iter().all(Option::is_none) {
            return Ok(None);
        }
        // To EIN, integers are reals.
        let real = |arg: &Expr| match arg.ty {
            Type::Int => coerce(arg.clone(), &Type::REAL),
            _ => arg.clone(),
        };
        let mut all: Vec<Expr> = args.iter().map(real).collect();
        let mut places = vec![None; args.len()];
        for (k, tangent) in tangents.into_iter().enumerate() {
            if let Some(tangent) = tangent {
                places[k] = Some(all.len());
                all.push(tangent);
            }
        }
        let order = ein.axes.len();
        let by: Vec<Index> = (0..self.by.order())
            .map(|k| Index::Axis(order + k))
            .collect();
        let params: Vec<Param> = all.iter().map(|arg| param_of(&arg.ty)).collect();
        let active = Active {
            params: &params,
            tangents: &places,
            by: &by,
        };
        self.require_smooth(ein, args, &active)?;
        let body = match derivative(&ein.body, &active) {
            Ok(Some(body)) => body,
            Ok(None) => return Ok(None),
            Err(what) => return Err(self.obstacle(span, &what)),
        };
        let body = with_unique_binders(body);
        let mut axes = ein.axes.clone();
        axes.extend(self.by.dims());
        let operator = Arc::new(Ein { params, axes, body });
        let ty = tangent_type(ty, &self.by).ok_or(Failed)?;
        let args = all;
        Ok(Some(typed(ty, ExprKind::Indexed { operator, args }, span)))
    }

    /// A field that is probed where the parameter leads must have a derivative.
    fn require_smooth(
        &mut self,
        ein: &Ein,
        args: &[Expr],
        active: &Active<'_>,
    ) -> Result<(), Failed> {
        for (param, arg) in args.iter().enumerate() {
            let Type::Field { continuity, .. } = arg.ty else {
                continue;
            };
            let Some(orders) = derivatives_of(&ein.body, active, param) else {
                continue;
            };
            if continuity.after(orders).is_none() {
                let has = continuity.to_string().replace('#', "C");
                let message = format!(
                    "this derivative needs {orders} of a field that is probed on the way, which is {has}"
                );
                self.cx
                    .error(codes::NO_DERIVATIVE, self.span, message)
                    .label(arg.span, "probed here");
                return Err(Failed);
            }
        }
        Ok(())
    }

    /// The derivative of a sum over a sequence that does not depend on the parameter: the sum of derivatives.
    fn of_reduction(&mut self, reduction: Reduction, sequence: &Expr, e: &Expr) -> Tangent {
        let ExprKind::Comprehension {
            body,
            var,
            domain: Domain::Seq(source),
        } = &sequence.kind
        else {
            return self.of_other(vec![sequence], e.span, "a reduction");
        };
        if self.of(source)?.is_some() {
            return Err(self.obstacle(e.span, "the elements of a reduction"));
        }
        let Some(body) = self.of_inside(body)? else {
            return Ok(None);
        };
        let elements = typed(
            Type::Seq(Box::new(body.ty.clone()), None),
            ExprKind::Comprehension {
                body: Box::new(body),
                var: *var,
                domain: Domain::Seq(source.clone()),
            },
            e.span,
        );
        self.applied(reduction.name(), vec![elements], e.span)
    }
}
