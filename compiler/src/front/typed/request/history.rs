//! The last value assigned to each variable, if it is one expression.

use super::super::{
    context::Cx,
    expr::typed,
    overload,
    scope::Entity,
    tree::{Block, Expr, ExprKind, FunctionId, Recurrence, Stmt, VarId, VarKind},
};
use crate::front::{
    source::Span,
    syntax::ast::{self, StmtKind as Written},
};
use ein_ir::ops::spelling;
use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::Arc,
};

/// How large an expression may become when it is put together from several statements.
const LARGEST: usize = 4000;

/// What a variable was given.
#[derive(Clone, Debug)]
pub(in super::super) enum Value {
    Known(Arc<Expr>),
    /// It depends on the path that was taken, or on a loop.
    Unknown(Span, &'static str),
}

/// What a variable was given, and when.
#[derive(Clone, Debug)]
pub(in super::super) struct Given {
    value: Value,
    /// When.
    time: usize,
}

/// What every variable was last given, and when.
#[derive(Debug, Default)]
pub(in super::super) struct History {
    given: BTreeMap<VarId, Given>,
    clock: usize,
    /// What changed, so that a branch can be undone: the variable and what it was given before.
    log: Vec<(VarId, Option<Given>)>,
    /// The parameters and bodies of field functions.
    functions: BTreeMap<VarId, (VarId, Arc<Expr>)>,
}

/// What a branch gave to the variables that it changed.
pub(in super::super) type Changes = BTreeMap<VarId, Given>;

impl History {
    /// Notes that a variable is given a value.
    pub(in super::super) fn record(&mut self, var: VarId, value: &Expr) {
        let value = match (value.mentions(var), self.given.get(&var)) {
            (false, _) => Value::Known(Arc::new(value.clone())),
            (
                true,
                Some(Given {
                    value: Value::Known(old),
                    ..
                }),
            ) => match replaced(value, &BTreeMap::from([(var, old.clone())])) {
                Some(value) => Value::Known(Arc::new(value)),
                None => Value::Unknown(value.span, "is assigned too many times"),
            },
            (true, Some(Given { value, .. })) => value.clone(),
            (true, None) => Value::Unknown(value.span, "changes a value from outside"),
        };
        self.give(var, value);
    }

    fn give(&mut self, var: VarId, value: Value) {
        self.clock += 1;
        let time = self.clock;
        let old = self.given.insert(var, Given { value, time });
        self.log.push((var, old));
    }

    /// Notes that what a variable has is not known from here on.
    fn forget(&mut self, var: VarId, span: Span, why: &'static str) {
        self.give(var, Value::Unknown(span, why));
    }

    /// Where history can be taken back to.
    pub(in super::super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Takes back everything since a mark; gives what it was.
    pub(in super::super) fn rewind(&mut self, mark: usize) -> Changes {
        let mut changes = Changes::new();
        for (var, old) in self.log.split_off(mark).into_iter().rev() {
            let new = match old {
                Some(old) => self.given.insert(var, old),
                None => self.given.remove(&var),
            };
            if let Some(new) = new {
                changes.entry(var).or_insert(new);
            }
        }
        changes
    }

    /// Notes the parameter and the body of a field function.
    pub(in super::super) fn define_function(&mut self, var: VarId, param: VarId, body: &Expr) {
        self.functions.insert(var, (param, Arc::new(body.clone())));
    }

    /// The parameter and the body of a field function.
    pub(super) fn function(&self, var: VarId) -> Option<&(VarId, Arc<Expr>)> {
        self.functions.get(&var)
    }

    /// What a variable was given, if it was given anything here.
    pub(super) fn value(&self, var: VarId) -> Option<&Value> {
        self.given.get(&var).map(|given| &given.value)
    }

    /// The steps that compute a variable, if it is a sequence that is computed in steps.
    pub(in super::super) fn steps(&self, var: VarId) -> Option<&Recurrence> {
        match self.value(var)? {
            Value::Known(value) => match &value.kind {
                ExprKind::Recurrence(steps) => Some(steps),
                _ => None,
            },
            Value::Unknown(..) => None,
        }
    }

    /// A variable in the definition of another that was given something else since.
    pub(super) fn changed_since(&self, var: VarId, definition: &Expr) -> Option<VarId> {
        let time = self.given.get(&var)?.time;
        let mut found = None;
        variables(definition, &mut |used| {
            if self.given.get(&used).is_some_and(|given| given.time > time) {
                found.get_or_insert(used);
            }
        });
        found
    }
}

/// Before and after a loop: variables that its body assigns are not known inside, nor after it.
pub(in super::super) fn assigned_in(cx: &mut Cx<'_>, body: &ast::Stmt) {
    assigned(body, &mut |name| {
        if let Some(Entity::Var(var)) = cx.scopes.value(&name.text) {
            cx.history.forget(var, name.span, "is assigned in a loop");
        }
    });
}

/// Calls a function for every name that a statement assigns to.
pub(in super::super) fn assigned<'s>(stmt: &'s ast::Stmt, found: &mut dyn FnMut(&'s ast::Name)) {
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

impl Cx<'_> {
    /// Where other code begins, variables have what was given to them elsewhere; only globals that nothing assigns to have
    /// what they were defined as.
    pub(in super::super) fn enter_code(&mut self) {
        let is_elsewhere = |var: &VarId| {
            let var = &self.vars[var.0];
            var.kind != VarKind::Global || self.reassigned.contains(var.name.as_str())
        };
        let elsewhere: Vec<VarId> = self
            .history
            .given
            .keys()
            .copied()
            .filter(is_elsewhere)
            .collect();
        for var in elsewhere {
            let old = self.history.given.remove(&var);
            self.history.log.push((var, old));
        }
    }

    /// After an `if`: a variable that a branch assigned has one of two values, if both are known in terms of what was before.
    pub(in super::super) fn join_history(
        &mut self,
        condition: Option<&Expr>,
        then: &Changes,
        otherwise: &Changes,
        span: Span,
    ) {
        let changed: BTreeSet<VarId> = then.keys().chain(otherwise.keys()).copied().collect();
        for var in changed {
            let declared_before =
                self.history.given.contains_key(&var) || self.var(var).kind != VarKind::Local;
            if !declared_before {
                continue;
            }
            let chosen = condition.and_then(|condition| {
                let then = in_terms_of_before(then, var, self)?;
                let otherwise = in_terms_of_before(otherwise, var, self)?;
                let args = vec![then, condition.clone(), otherwise];
                let reported = self.diagnostics.len();
                let chosen = overload::apply(self, spelling::SELECT, span, args, None, span);
                self.diagnostics.truncate(reported);
                chosen
            });
            match chosen {
                Some(chosen) => self.history.record(var, &chosen),
                None => self.history.forget(var, span, "is assigned in an `if`"),
            }
        }
    }
}

/// What a variable is after a branch, with variables that the branch changed replaced by what they were given.
fn in_terms_of_before(branch: &Changes, var: VarId, cx: &Cx<'_>) -> Option<Expr> {
    let value = match branch.get(&var).map(|given| &given.value) {
        Some(Value::Known(value)) => value,
        Some(Value::Unknown(..)) => return None,
        None => {
            let (ty, span) = (cx.var(var).ty.clone()?, cx.var(var).span);
            return Some(typed(ty, ExprKind::Var(var), span));
        }
    };
    let mut value = (**value).clone();
    for _ in 0..LARGEST {
        let mut inside = BTreeMap::new();
        let mut known = true;
        variables(&value, &mut |used| {
            if let Some(given) = branch.get(&used)
                && used != var
            {
                match &given.value {
                    Value::Known(value) => {
                        inside.insert(used, value.clone());
                    }
                    Value::Unknown(..) => known = false,
                }
            }
        });
        if !known {
            return None;
        }
        if inside.is_empty() {
            return Some(value);
        }
        value = replaced(&value, &inside)?;
    }
    None
}

/// Calls a function for every variable that an expression reads and does not bind.
pub(super) fn variables(e: &Expr, found: &mut dyn FnMut(VarId)) {
    if let ExprKind::Var(var) = e.kind {
        found(var);
    }
    for child in e.children() {
        variables(child, found);
    }
}

/// The variables that are read, and the functions that are called.
#[derive(Debug, Default)]
pub(in super::super) struct Reads {
    pub(in super::super) vars: BTreeSet<VarId>,
    pub(in super::super) functions: BTreeSet<FunctionId>,
}

impl Reads {
    /// Those of an expression.
    pub(in super::super) fn expr(&mut self, e: &Expr) {
        match e.kind {
            ExprKind::Var(var) => {
                self.vars.insert(var);
            }
            ExprKind::Call { function, .. } => {
                self.functions.insert(function);
            }
            _ => {}
        }
        e.children().into_iter().for_each(|child| self.expr(child));
    }

    /// Those of statements.
    pub(in super::super) fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// Those of a statement.
    pub(in super::super) fn stmt(&mut self, stmt: &Stmt) {
        stmt.expressions().iter().for_each(|e| self.expr(e));
        stmt.blocks().for_each(|block| self.block(block));
    }
}

fn size(e: &Expr) -> usize {
    1 + e.children().into_iter().map(size).sum::<usize>()
}

/// An expression with expressions in the place of variables; none if it becomes too large.
fn replaced(e: &Expr, by: &BTreeMap<VarId, Arc<Expr>>) -> Option<Expr> {
    fn walk(e: &Expr, by: &BTreeMap<VarId, Arc<Expr>>) -> Result<Expr, Infallible> {
        match &e.kind {
            ExprKind::Var(var) if by.contains_key(var) => Ok((*by[var]).clone()),
            _ => e.try_map(&mut |inner| walk(inner, by)),
        }
    }
    let Ok(made) = walk(e, by);
    (size(&made) <= LARGEST).then_some(made)
}
