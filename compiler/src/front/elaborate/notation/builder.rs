//! The state that the construction of operators shares.

use super::{known_steps::KnownSteps, lower::Stop, own::Own};
use crate::front::{
    codes,
    diag::Diagnostic,
    source::Span,
    tree::{
        Constant, Expr, ExprKind, Var, VarId, VarKind,
        convert::coerce,
        literal,
        notation::{Binder, Range, Values},
    },
};
use ein_ir::{
    Type,
    ops::{self, spelling},
};
use std::collections::BTreeMap;

pub(super) struct Builder<'p> {
    /// The variables of the program; new ones are added.
    pub(super) vars: &'p mut Vec<Var>,
    pub(super) long_int: bool,
    /// The errors so far.
    pub(super) found: Vec<Diagnostic>,
    /// The values of indices.
    pub(super) values: BTreeMap<VarId, Values>,
    /// The sequence that is being defined by clauses.
    pub(super) own: Option<Own>,
    /// The variables that are sequences in steps.
    pub(super) steps: KnownSteps,
    /// Whether the expression is part of a field function.
    pub(super) is_in_field: bool,
}

impl<'p> Builder<'p> {
    pub(super) fn new(vars: &'p mut Vec<Var>, long_int: bool) -> Builder<'p> {
        Builder {
            vars,
            long_int,
            found: Vec::new(),
            values: BTreeMap::new(),
            own: None,
            steps: KnownSteps::default(),
            is_in_field: false,
        }
    }

    /// Reports an error, the first of its kind at its place: a loop that was written out has several copies of it.
    pub(super) fn report(&mut self, error: Diagnostic) -> Stop {
        let is_same = |other: &Diagnostic| (other.code, other.span) == (error.code, error.span);
        if !self.found.iter().any(is_same) {
            self.found.push(error);
        }
        Stop::Failed
    }

    /// A new variable.
    pub(super) fn variable(&mut self, name: &str, ty: &Type, span: Span) -> VarId {
        self.vars.push(Var {
            name: name.to_owned(),
            ty: ty.clone(),
            kind: VarKind::Local,
            span,
        });
        VarId(self.vars.len() - 1)
    }

    pub(super) fn name(&self, var: VarId) -> &str {
        &self.vars[var.0].name
    }

    /// The words of messages for a subscripted expression.
    pub(super) fn described(&self, e: &Expr) -> String {
        match e.subscripted() {
            Some(var) => format!("`{}`", self.name(var)),
            None => "this expression".to_owned(),
        }
    }

    /// The values of an index; those of one that counts elements do not matter.
    pub(super) fn range(&self, var: VarId) -> Range {
        match self.values.get(&var) {
            Some(Values::Range(range)) => *range,
            _ => Range { low: 0, count: 1 },
        }
    }

    /// The sequence of varying length whose elements an index counts, and the variable that is the element.
    pub(super) fn elements(&self, var: VarId) -> Option<(&Expr, VarId)> {
        match self.values.get(&var) {
            Some(Values::Elements { sequence, element }) => Some((sequence, *element)),
            _ => None,
        }
    }

    /// An index as it is bound.
    pub(super) fn binder(&self, var: VarId) -> Binder {
        let range = || Values::Range(self.range(var));
        let values = self.values.get(&var).cloned().unwrap_or_else(range);
        Binder { var, values }
    }

    /// An operator of the table applied to arguments that fit it.
    pub(super) fn apply(
        &mut self,
        spelling: &str,
        args: Vec<Expr>,
        wanted: Option<&Type>,
        span: Span,
    ) -> Result<Expr, Stop> {
        let types: Vec<Type> = args.iter().map(|arg| arg.ty.clone()).collect();
        let op = ops::resolve_as(spelling, &types, wanted).map_err(|_| Stop::Failed)?;
        let args = args.into_iter().zip(&op.args);
        let args = args.map(|(arg, wanted)| coerce(arg, wanted)).collect();
        Ok(Expr::applied(op, args, span))
    }

    /// An element of a sequence, which must exist if its place is known.
    pub(super) fn element(
        &mut self,
        sequence: Expr,
        place: Expr,
        span: Span,
    ) -> Result<Expr, Stop> {
        if let (Type::Seq(_, Some(length)), ExprKind::Constant(Constant::Int(at))) =
            (&sequence.ty, &place.kind)
            && !(0..*length as i64).contains(at)
        {
            let message = format!(
                "index {at} is out of range for a sequence of type `{}`",
                sequence.ty
            );
            let error = Diagnostic::error(codes::INDEX_RANGE, place.span, message);
            return Err(self.report(error.hint("elements are counted from 0")));
        }
        self.apply(spelling::ELEMENT, vec![sequence, place], None, span)
    }
}

/// An int that is known.
pub(super) fn int(value: i64, span: Span) -> Expr {
    literal(Type::Int, Constant::Int(value), span)
}
