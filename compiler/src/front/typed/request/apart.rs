//! Derivatives of expressions that are computed separately: in a step, in a branch, for an element, at a position.

use super::{
    super::{
        expr::typed,
        tree::{Expr, ExprKind, VarId, VarKind},
    },
    history::variables,
    tangent::{Tangent, Tangents},
};
use crate::front::source::Span;
use ein_ir::Type;
use std::collections::BTreeSet;

/// A value with what has to be computed first.
pub(super) fn after(bindings: Vec<(VarId, Expr)>, value: Expr) -> Expr {
    if bindings.is_empty() {
        return value;
    }
    let (ty, span) = (value.ty.clone(), value.span);
    let body = Box::new(value);
    typed(ty, ExprKind::Let { bindings, body }, span)
}

/// Those bindings that are needed for some variables.
pub(super) fn needed(
    bindings: Vec<(VarId, Expr)>,
    mut wanted: BTreeSet<VarId>,
) -> Vec<(VarId, Expr)> {
    let mut kept = Vec::new();
    for (var, value) in bindings.into_iter().rev() {
        if !value.given_to(var).is_disjoint(&wanted) {
            variables(&value, &mut |used| {
                wanted.insert(used);
            });
            kept.push((var, value));
        }
    }
    kept.reverse();
    kept
}

impl Tangents<'_, '_> {
    /// A variable that no program has.
    pub(super) fn variable(&mut self, name: &str, ty: Type, span: Span) -> VarId {
        let var = self.cx.fresh(name, Some(ty), VarKind::Local, span);
        self.cx.vars[var.0].read = true;
        var
    }

    /// Does something; gives what has to be computed first for it.
    pub(super) fn with_bindings<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<(VarId, Expr)>) {
        let outside = std::mem::take(&mut self.bindings);
        let done = work(self);
        (done, std::mem::replace(&mut self.bindings, outside))
    }

    /// The derivative of what is computed many times, or later: all that it needs is computed with it.
    pub(super) fn of_inside(&mut self, e: &Expr) -> Tangent {
        let known = self.known.clone();
        let (tangent, bindings) = self.with_bindings(|this| this.of(e));
        self.known = known;
        Ok(tangent?.map(|tangent| after(bindings, tangent)))
    }

    /// The derivative of one side of a choice. What only this side computes is computed only there: it may be wrong anywhere
    /// else, such as the element of a sequence that has none.
    pub(super) fn of_branch(&mut self, e: &Expr) -> Tangent {
        let (tangent, bindings) = self.with_bindings(|this| this.of(e));
        let bound = bindings.iter().map(|(var, _)| *var);
        let inside = bound.filter(|var| self.local.contains_key(var)).collect();
        let own = self.kept_inside(bindings, inside);
        Ok(tangent?.map(|tangent| after(own, tangent)))
    }

    /// Those bindings that depend on variables which exist only inside. The others are computed outside.
    pub(super) fn kept_inside(
        &mut self,
        bindings: Vec<(VarId, Expr)>,
        mut inside: BTreeSet<VarId>,
    ) -> Vec<(VarId, Expr)> {
        let mut own = Vec::new();
        for (var, value) in bindings {
            let mut depends = inside.contains(&var);
            variables(&value, &mut |used| depends |= inside.contains(&used));
            if depends {
                inside.extend(value.given_to(var));
                own.push((var, value));
            } else {
                self.bindings.push((var, value));
            }
        }
        // Outside, they have to be computed again.
        let is_own = |tangent: &VarId| own.iter().any(|(var, _)| var == tangent);
        self.known
            .retain(|_, tangent| !tangent.as_ref().is_some_and(is_own));
        own
    }
}
