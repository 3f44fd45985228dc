//! The variables that code reads, and the functions that it calls.

use super::{Block, Expr, ExprKind, FunctionId, Stmt, VarId};
use std::collections::BTreeSet;

/// The variables that are read, and the functions that are called.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    pub(crate) vars: BTreeSet<VarId>,
    pub(crate) functions: BTreeSet<FunctionId>,
}

impl Reads {
    /// Those of an expression.
    pub(crate) fn expr(&mut self, e: &Expr) {
        match e.kind {
            ExprKind::Var(var) | ExprKind::Given { input: var, .. } => {
                self.vars.insert(var);
            }
            ExprKind::Call { function, .. } => {
                self.functions.insert(function);
            }
            _ => {}
        }
        e.each_child(|child| self.expr(child));
    }

    /// Those of statements.
    pub(crate) fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// Those of a statement.
    pub(crate) fn stmt(&mut self, stmt: &Stmt) {
        stmt.expressions().iter().for_each(|e| self.expr(e));
        stmt.blocks().for_each(|block| self.block(block));
    }
}
