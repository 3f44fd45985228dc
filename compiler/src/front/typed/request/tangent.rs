//! The derivative of an expression: that of its parts, from the inside out.

use super::{
    super::{
        coerce::coerce,
        context::Cx,
        expr::{literal, typed},
        overload,
        tree::{
            Block, Constant, Domain, Expr, ExprKind, FunctionId, Stmt, StmtKind, VarId, VarKind,
        },
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
    /// What functions were given, under names of their own.
    local: BTreeMap<VarId, Expr>,
    /// What has to be computed first.
    pub(super) bindings: Vec<(VarId, Expr)>,
}

/// A derivative that is zero.
pub(super) fn zero(ty: &Type, by: &Shape, span: Span) -> Option<Expr> {
    let ty = tangent_type(ty, by)?;
    fn constant(ty: &Type) -> Constant {
        match ty {
            Type::Seq(element, Some(n)) => Constant::Seq(vec![constant(element); *n]),
            Type::Tensor(shape) => Constant::Tensor(shape.clone(), vec![0.0; shape.size()]),
            _ => Constant::Tensor(Shape::SCALAR, vec![0.0]),
        }
    }
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
    let value = constant(&ty);
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
            local: BTreeMap::new(),
            bindings: Vec::new(),
        }
    }

    /// Reports what cannot be differentiated.
    fn obstacle(&mut self, span: Span, what: &str) -> Failed {
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
        let found = match self.definition_of(var, e)? {
            Some(definition) => self.of(&definition)?,
            None => None,
        };
        let known = found.map(|tangent| {
            let name = format!("∂{}", self.cx.var(var).name);
            let bound = self
                .cx
                .fresh(&name, Some(tangent.ty.clone()), VarKind::Local, e.span);
            self.cx.vars[bound.0].read = true;
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
        if let Some((_, body)) = self.cx.history.function(var).cloned()
            && self.depends(&body)
        {
            let what = format!("the body of the field function `{}`", self.cx.var(var).name);
            return Err(self.obstacle(body.span, &what));
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
                let tangents = [self.of(then)?, self.of(otherwise)?];
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
        // What is computed for an element stays inside.
        let outside = std::mem::take(&mut self.bindings);
        let known = self.known.clone();
        let tangent = self.of(body);
        let bindings = std::mem::replace(&mut self.bindings, outside);
        self.known = known;
        let Some(tangent) = tangent? else {
            return Ok(None);
        };
        let ty = tangent.ty.clone();
        let body = match bindings.is_empty() {
            true => tangent,
            false => typed(
                ty.clone(),
                ExprKind::Let {
                    bindings,
                    body: Box::new(tangent),
                },
                e.span,
            ),
        };
        let elements = typed(
            Type::Seq(Box::new(ty), None),
            ExprKind::Comprehension {
                body: Box::new(body),
                var: *var,
                domain: Domain::Seq(source.clone()),
            },
            e.span,
        );
        self.applied(reduction.name(), vec![elements], e.span)
    }

    /// The parameter and the body of a field function that reads what is differentiated by.
    fn function_of(&self, field: &Expr) -> Option<(VarId, Arc<Expr>)> {
        let ExprKind::Var(var) = field.kind else {
            return None;
        };
        let (param, body) = self.cx.history.function(var)?;
        self.depends(body).then(|| (*param, body.clone()))
    }

    /// The derivative of a field function at a position: both may depend on the parameter.
    fn of_field_function(&mut self, param: VarId, body: &Expr, at: &Expr) -> Tangent {
        let mut names = BTreeMap::new();
        self.give(param, at.clone(), &mut names);
        self.of(&renamed(body, &names))
    }

    /// The derivative of what a function returns: its statements with names of their own.
    fn of_call(&mut self, function: FunctionId, args: &[Expr], e: &Expr) -> Tangent {
        if !self.depends(e) {
            return Ok(None);
        }
        let info = self.cx.function(function);
        let (params, body, name) = (info.params.clone(), info.body.clone(), info.name.clone());
        let mut names = BTreeMap::new();
        for (param, arg) in params.into_iter().zip(args) {
            self.give(param, arg.clone(), &mut names);
        }
        match self.returned(&body, &mut names) {
            Some(value) => self.of(&value),
            None => {
                let what = format!("the function `{name}`, which has `if`, `foreach` or `print`");
                Err(self.obstacle(e.span, &what))
            }
        }
    }

    /// Gives a variable of a function a value, under a name of its own.
    fn give(&mut self, var: VarId, value: Expr, names: &mut BTreeMap<VarId, VarId>) {
        let name = self.cx.var(var).name.clone();
        let fresh = self
            .cx
            .fresh(&name, Some(value.ty.clone()), VarKind::Local, value.span);
        self.cx.vars[fresh.0].read = true;
        names.insert(var, fresh);
        self.local.insert(fresh, value.clone());
        self.bindings.push((fresh, value));
    }

    /// What statements without control flow return; none if there is any.
    fn returned(&mut self, body: &Block, names: &mut BTreeMap<VarId, VarId>) -> Option<Expr> {
        for Stmt { kind, .. } in &body.stmts {
            match kind {
                StmtKind::Block(inner) => {
                    if let Some(value) = self.returned(inner, names) {
                        return Some(value);
                    }
                }
                StmtKind::Decl {
                    var,
                    value: Some(value),
                }
                | StmtKind::Assign { var, value } => {
                    let value = renamed(value, names);
                    self.give(*var, value, names);
                }
                StmtKind::Decl { value: None, .. } => {}
                StmtKind::Return(value) => return Some(renamed(value, names)),
                _ => return None,
            }
        }
        None
    }
}

fn renamed(e: &Expr, names: &BTreeMap<VarId, VarId>) -> Expr {
    let made: Result<Expr, std::convert::Infallible> = match &e.kind {
        ExprKind::Var(var) if names.contains_key(var) => Ok(Expr {
            kind: ExprKind::Var(names[var]),
            ..e.clone()
        }),
        _ => e.try_map(&mut |inner| Ok(renamed(inner, names))),
    };
    let Ok(made) = made;
    made
}
