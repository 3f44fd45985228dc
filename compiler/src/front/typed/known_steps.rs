//! The variables that are sequences in steps, as far as that is known where code is checked.

use super::{
    context::Cx,
    scope::Entity,
    tree::{Expr, ExprKind, Recurrence, VarId, VarKind},
};
use crate::front::syntax::ast::{self, StmtKind as Written};
use std::collections::BTreeMap;

/// The steps of variables that nothing has assigned to since they were defined by steps.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownSteps(BTreeMap<VarId, Recurrence>);

impl KnownSteps {
    /// Notes that a variable is given a value.
    pub(super) fn record(&mut self, var: VarId, value: &Expr) {
        match &value.kind {
            ExprKind::Recurrence(steps) => {
                self.0.insert(var, (**steps).clone());
            }
            _ => {
                self.0.remove(&var);
            }
        }
    }

    /// The steps that compute a variable, if it is a sequence in steps.
    pub(super) fn of(&self, var: VarId) -> Option<&Recurrence> {
        self.0.get(&var)
    }
}

impl Cx<'_> {
    /// Before a loop: variables that its body assigns are not known in it, nor after it.
    pub(super) fn forget_assigned(&mut self, body: &ast::Stmt) {
        assigned(body, &mut |name| {
            if let Some(Entity::Var(var)) = self.scopes.value(&name.text) {
                self.steps.0.remove(&var);
            }
        });
    }

    /// Where other code begins, variables have values from elsewhere; only globals that nothing assigns to have those of their
    /// definitions.
    pub(super) fn enter_code(&mut self) {
        let (vars, reassigned) = (&self.vars, &self.reassigned);
        self.steps.0.retain(|var, _| {
            let var = &vars[var.0];
            var.kind == VarKind::Global && !reassigned.contains(var.name.as_str())
        });
    }
}

/// Calls a function for every name that a statement assigns to.
pub(super) fn assigned<'s>(stmt: &'s ast::Stmt, found: &mut dyn FnMut(&'s ast::Name)) {
    match &stmt.kind {
        Written::Assign { name, .. } => found(name),
        Written::Block(block) => block.stmts.iter().for_each(|stmt| assigned(stmt, found)),
        Written::If {
            then, otherwise, ..
        } => {
            assigned(then, found);
            otherwise.iter().for_each(|stmt| assigned(stmt, found));
        }
        Written::Foreach { body, .. } => assigned(body, found),
        _ => {}
    }
}
