//! Derivatives through functions: their result as one expression, with fresh names.

use super::{
    super::{
        closed_form::named_field,
        expr::{literal, typed},
        overload,
        tree::{Constant, Expr, ExprKind, FunctionId, Stmt, StmtKind, VarId},
    },
    apart::after,
    tangent::{Failed, Tangent, Tangents},
    tangent_type,
};
use crate::front::source::Span;
use ein_ir::ops::spelling;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How many statements of a function are followed; those after an `if` that may return count for each of its branches.
const MOST_FOLLOWED: usize = 4000;

/// The names that variables of a function have now.
pub(super) type Names = BTreeMap<VarId, VarId>;

/// What keeps a function from being one expression.
pub(super) enum Obstacle {
    /// A loop, and what it has or does.
    Loop(&'static str),
    TooLong,
    /// An error was reported, or will be.
    Other,
}

impl Tangents<'_, '_> {
    /// The parameter and the body of a field function that reads what is differentiated by.
    pub(super) fn function_of(&self, field: &Expr) -> Option<(VarId, Arc<Expr>)> {
        let (param, body) = self.cx.history.function(named_field(field)?)?;
        self.depends(body).then(|| (*param, body.clone()))
    }

    /// The derivative of a field function at a position: both may depend on the parameter.
    pub(super) fn of_field_function(&mut self, param: VarId, body: &Expr, at: &Expr) -> Tangent {
        let mut names = Names::new();
        self.give(param, at.clone(), &mut names);
        self.of(&renamed(body, &names))
    }

    /// The derivative of a field function: the field of the derivatives at all positions.
    pub(super) fn of_field(&mut self, param: VarId, body: &Expr, field: &Expr) -> Tangent {
        let Some(body) = self.of_inside(body)? else {
            return Ok(None);
        };
        let ty = tangent_type(&field.ty, &self.by).ok_or(Failed)?;
        let body = Box::new(body);
        let kind = ExprKind::FieldFunction { param, body };
        Ok(Some(typed(ty, kind, field.span)))
    }

    /// The derivative of what a function returns.
    pub(super) fn of_call(&mut self, function: FunctionId, args: &[Expr], e: &Expr) -> Tangent {
        if !self.depends(e) {
            return Ok(None);
        }
        let info = self.cx.function(function);
        let (params, body, name) = (info.params.clone(), info.body.clone(), info.name.clone());
        let mut names = Names::new();
        for (param, arg) in params.into_iter().zip(args) {
            self.give(param, arg.clone(), &mut names);
        }
        let what = match self.returned(body.stmts.iter().rev().collect(), &mut names, &mut 0) {
            Ok(Some(value)) => return self.of(&value),
            Err(Obstacle::Loop(what)) => what,
            Err(Obstacle::TooLong) => "has too many ways to its end",
            Ok(None) | Err(Obstacle::Other) => return Err(Failed),
        };
        let what = format!("the function `{name}`, which {what}");
        Err(self.obstacle(e.span, &what))
    }

    /// Gives a variable of a function a value, under a name of its own.
    pub(super) fn give(&mut self, var: VarId, value: Expr, names: &mut Names) {
        let name = self.cx.var(var).name.clone();
        let fresh = self.variable(&name, value.ty.clone(), value.span);
        names.insert(var, fresh);
        self.local.insert(fresh, value.clone());
        self.bindings.push((fresh, value));
    }

    /// What statements return, if they do; the last one comes first.
    pub(super) fn returned(
        &mut self,
        mut rest: Vec<&Stmt>,
        names: &mut Names,
        followed: &mut usize,
    ) -> Result<Option<Expr>, Obstacle> {
        while let Some(stmt) = rest.pop() {
            *followed += 1;
            if *followed > MOST_FOLLOWED {
                return Err(Obstacle::TooLong);
            }
            match &stmt.kind {
                StmtKind::Block(inner) => rest.extend(inner.stmts.iter().rev()),
                StmtKind::Decl {
                    var,
                    value: Some(value),
                }
                | StmtKind::Assign { var, value } => {
                    let value = renamed(value, names);
                    self.give(*var, value, names);
                }
                StmtKind::Return(value) => return Ok(Some(renamed(value, names))),
                StmtKind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = renamed(condition, names);
                    let branches = [then, otherwise].map(|branch| &branch.stmts[..]);
                    if branches.into_iter().flatten().any(returns) {
                        let [then, otherwise] = branches.map(|branch| {
                            let mut all = rest.clone();
                            all.extend(branch.iter().rev());
                            let mut names = names.clone();
                            let (value, bindings) =
                                self.with_bindings(|this| this.returned(all, &mut names, followed));
                            Ok(after(bindings, value?.ok_or(Obstacle::Other)?))
                        });
                        let value = self.chosen(then?, &condition, otherwise?, stmt.span)?;
                        return Ok(Some(value));
                    }
                    self.assigned(branches, &condition, names, followed, stmt.span)?;
                }
                StmtKind::Foreach { var, source, body } => {
                    self.looped((*var, source, body), names, followed, stmt.span)?;
                }
                StmtKind::Decl { var, value: None } => {
                    let ty = self.cx.var(*var).ty.clone().ok_or(Obstacle::Other)?;
                    let nothing = literal(ty.clone(), Constant::blank(&ty), stmt.span);
                    self.give(*var, nothing, names);
                }
                // What is printed was printed when the function was called.
                StmtKind::Print(_) => {}
                StmtKind::New(_) | StmtKind::Stabilize | StmtKind::Die | StmtKind::Continue => {
                    return Err(Obstacle::Other);
                }
            }
        }
        Ok(None)
    }

    /// Gives every variable that one of two branches assigns to the value that it has after the branch that is taken.
    fn assigned(
        &mut self,
        branches: [&[Stmt]; 2],
        condition: &Expr,
        names: &mut Names,
        followed: &mut usize,
        span: Span,
    ) -> Result<(), Obstacle> {
        let mut ends = Vec::new();
        for branch in branches {
            let mut inside = names.clone();
            let stmts = branch.iter().rev().collect();
            let (done, bindings) =
                self.with_bindings(|this| this.returned(stmts, &mut inside, followed));
            done?;
            ends.push((inside, bindings));
        }
        let changed: BTreeSet<VarId> = ends
            .iter()
            .flat_map(|(inside, _)| inside.iter())
            .filter(|(var, now)| names.get(var).is_some_and(|before| before != *now))
            .map(|(var, _)| *var)
            .collect();
        let before = names.clone();
        for var in changed {
            let sides: Option<Vec<Expr>> = ends
                .iter()
                .map(|(inside, bindings)| {
                    let now = inside.get(&var).or(before.get(&var))?;
                    let ty = self.cx.var(*now).ty.clone()?;
                    let value = typed(ty, ExprKind::Var(*now), span);
                    Some(after(bindings.clone(), value))
                })
                .collect();
            let sides: Option<[Expr; 2]> = sides.and_then(|sides| sides.try_into().ok());
            let [then, otherwise] = sides.ok_or(Obstacle::Other)?;
            let value = self.chosen(then, condition, otherwise, span)?;
            self.give(var, value, names);
        }
        Ok(())
    }

    fn chosen(
        &mut self,
        then: Expr,
        condition: &Expr,
        otherwise: Expr,
        span: Span,
    ) -> Result<Expr, Obstacle> {
        let args = vec![then, condition.clone(), otherwise];
        overload::apply(self.cx, spelling::SELECT, span, args, None, span).ok_or(Obstacle::Other)
    }
}

/// Whether a statement may return.
pub(super) fn returns(stmt: &Stmt) -> bool {
    let mut inside = stmt.blocks().flat_map(|block| &block.stmts);
    matches!(stmt.kind, StmtKind::Return(_)) || inside.any(returns)
}

pub(super) fn renamed(e: &Expr, names: &Names) -> Expr {
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
