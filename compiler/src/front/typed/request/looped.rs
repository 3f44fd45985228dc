//! Derivatives through loops of functions: what a variable has after a loop is the last element of a sequence in steps.

use super::{
    super::{
        expr::{literal, typed},
        overload,
        recurrence::{Layout, Past, Recurrence, Segment},
        tree::{Block, Constant, Expr, ExprKind, VarId},
        unroll::known_range,
    },
    apart::{after, needed},
    call::{Names, Obstacle, renamed, returns},
    history::variables,
    tangent::Tangents,
};
use crate::front::source::Span;
use ein_ir::{Type, ops::spelling};
use std::{collections::BTreeSet, convert::Infallible};

/// What a variable that a loop assigns has after a round, from what it and others had before.
struct Carried {
    /// The variable.
    var: VarId,
    /// What it had before the round.
    past: VarId,
    /// What it has after it, and the same as an element of a step.
    next: VarId,
    element: VarId,
    /// What is computed in the round for that.
    bindings: Vec<(VarId, Expr)>,
    ty: Type,
}

impl Tangents<'_, '_> {
    /// Gives every variable that a loop assigns to the value that it has after the last round.
    pub(super) fn looped(
        &mut self,
        (var, source, body): (VarId, &Expr, &Block),
        names: &mut Names,
        followed: &mut usize,
        span: Span,
    ) -> Result<(), Obstacle> {
        if body.stmts.iter().any(returns) {
            return Err(Obstacle::Loop("has a loop that returns"));
        }
        let source = &self.with_constants(&renamed(source, names));
        let (low, high) = match (known_range(self.cx, source), &source.ty) {
            (Some(values), _) => match (values.first(), values.last()) {
                (Some(&low), Some(&high)) => (low, high),
                _ => return Ok(()),
            },
            (None, Type::Seq(_, Some(0))) => return Ok(()),
            (None, Type::Seq(_, Some(n))) => (0, *n as i64 - 1),
            _ => {
                let what = "has a loop of which the number of rounds is known only at run time";
                return Err(Obstacle::Loop(what));
            }
        };
        let step = self.variable("round", Type::Int, span);
        let round = self.round((var, source, body), step, names, followed, span)?;
        // All begin with what was there before the loop.
        let before = names.clone();
        for own in &round {
            let value = self.after_rounds(own, &round, (low, high, step), &before, span)?;
            self.give(own.var, value, names);
        }
        Ok(())
    }

    /// What one round makes of the variables that it assigns to.
    fn round(
        &mut self,
        (var, source, body): (VarId, &Expr, &Block),
        step: VarId,
        names: &Names,
        followed: &mut usize,
        span: Span,
    ) -> Result<Vec<Carried>, Obstacle> {
        let mut assigned = BTreeSet::new();
        body.stmts.iter().for_each(|s| s.assigned(&mut assigned));
        let mut inside = names.clone();
        let mut pasts = Vec::new();
        for var in assigned {
            if let Some(before) = names.get(&var) {
                let (name, ty) = (self.cx.var(*before).name.clone(), self.type_of(*before)?);
                let past = self.variable(&name, ty.clone(), span);
                inside.insert(var, past);
                pasts.push((var, past, ty));
            }
        }
        let index = typed(Type::Int, ExprKind::Var(step), span);
        let item = match known_range(self.cx, source) {
            Some(_) => index,
            None => self.element(source.clone(), index, span)?,
        };
        let (done, bindings) = self.with_bindings(|this| {
            this.give(var, item, &mut inside);
            this.returned(body.stmts.iter().rev().collect(), &mut inside, followed)
        });
        done?;
        let carried = pasts.into_iter().map(|(var, past, ty)| Carried {
            var,
            past,
            next: inside[&var],
            element: self.variable("after", ty.clone(), span),
            bindings: needed(bindings.clone(), BTreeSet::from([inside[&var]])),
            ty,
        });
        Ok(carried.collect())
    }

    /// The value of a variable after all rounds.
    fn after_rounds(
        &mut self,
        own: &Carried,
        round: &[Carried],
        (low, high, step): (i64, i64, VarId),
        names: &Names,
        span: Span,
    ) -> Result<Expr, Obstacle> {
        let with = on_which(own, round);
        let value = |var: VarId, ty: &Type| typed(ty.clone(), ExprKind::Var(var), span);
        let elements = with.iter().map(|carried| {
            let next = value(carried.next, &carried.ty);
            (carried.element, after(carried.bindings.clone(), next))
        });
        let past = with.iter().enumerate().map(|(element, carried)| Past {
            var: carried.past,
            back: 1,
            element,
        });
        let rounds = Segment {
            low,
            high,
            index: step,
            past: past.collect(),
            elements: elements.collect(),
        };
        let before = with.iter().map(|carried| {
            let before = value(names[&carried.var], &carried.ty);
            (carried.element, before)
        });
        let start = Segment {
            low: low - 1,
            high: low - 1,
            index: step,
            past: Vec::new(),
            elements: before.collect(),
        };
        let first = with.iter().position(|carried| carried.var == own.var);
        let steps = Recurrence {
            // Only what the last round gives.
            main: Layout {
                lengths: vec![1],
                axis: 0,
                places: vec![Vec::new()],
                first: first.ok_or(Obstacle::Other)?,
                start: high,
            },
            also: Vec::new(),
            segments: vec![start, rounds],
        };
        let ty = Type::Seq(Box::new(own.ty.clone()), Some(1));
        let steps = typed(ty.clone(), ExprKind::Recurrence(Box::new(steps)), span);
        let name = self.cx.var(own.past).name.clone();
        let sequence = self.variable(&name, ty.clone(), span);
        self.local.insert(sequence, steps.clone());
        self.bindings.push((sequence, steps));
        let last = literal(Type::Int, Constant::Int(0), span);
        self.element(value(sequence, &ty), last, span)
    }

    /// An expression with constants in the place of variables that were given them.
    fn with_constants(&self, e: &Expr) -> Expr {
        let given = match e.kind {
            ExprKind::Var(var) => self.local.get(&var),
            _ => None,
        };
        if let Some(given) = given.filter(|given| matches!(given.kind, ExprKind::Constant(_))) {
            return given.clone();
        }
        let made: Result<Expr, Infallible> = e.try_map(&mut |inner| Ok(self.with_constants(inner)));
        let Ok(made) = made;
        made
    }

    fn type_of(&self, var: VarId) -> Result<Type, Obstacle> {
        self.cx.var(var).ty.clone().ok_or(Obstacle::Other)
    }

    fn element(&mut self, sequence: Expr, index: Expr, span: Span) -> Result<Expr, Obstacle> {
        let args = vec![sequence, index];
        overload::apply(self.cx, spelling::ELEMENT, span, args, None, span).ok_or(Obstacle::Other)
    }
}

/// The variables that one of them depends on after some rounds, itself among them.
fn on_which<'r>(own: &Carried, round: &'r [Carried]) -> Vec<&'r Carried> {
    let mut found = BTreeSet::from([own.past]);
    loop {
        let known = found.len();
        for carried in round
            .iter()
            .filter(|c| found.contains(&c.past))
            .collect::<Vec<_>>()
        {
            let all = carried.bindings.iter();
            for (_, value) in all {
                variables(value, &mut |var| {
                    found.insert(var);
                });
            }
        }
        found.retain(|var| round.iter().any(|carried| carried.past == *var));
        if found.len() == known {
            return round.iter().filter(|c| found.contains(&c.past)).collect();
        }
    }
}
