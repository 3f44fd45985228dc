//! The variables that are sequences in steps, as far as that is known at a place.

use crate::front::tree::{Expr, ExprKind, Recurrence, VarId};
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
            _ => self.forget(var),
        }
    }

    /// Notes that the value of a variable is not known.
    pub(super) fn forget(&mut self, var: VarId) {
        self.0.remove(&var);
    }

    /// Forgets the variables that do not have their values from here.
    pub(super) fn retain(&mut self, mut is_known: impl FnMut(VarId) -> bool) {
        self.0.retain(|var, _| is_known(*var));
    }

    /// The steps that compute a variable, if it is a sequence in steps.
    pub(super) fn of(&self, var: VarId) -> Option<&Recurrence> {
        self.0.get(&var)
    }
}
