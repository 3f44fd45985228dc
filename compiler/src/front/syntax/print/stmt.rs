//! Statements.

use super::{super::ast::*, Printer};

impl Printer {
    /// From brace to brace; the closing one stands on a line of its own, which is not ended.
    pub(super) fn block(&mut self, block: &Block) {
        if block.stmts.is_empty() {
            self.text("{ }");
            return;
        }
        self.line("{");
        self.indent += 1;
        for stmt in &block.stmts {
            self.indentation();
            self.stmt(stmt);
            self.end_line();
        }
        self.indent -= 1;
        self.indentation();
        self.text("}");
    }

    /// The clauses of a definition, from brace to brace.
    pub(super) fn clauses(&mut self, clauses: &[Clause]) {
        self.line("{");
        self.indent += 1;
        for clause in clauses {
            self.indentation();
            self.text(&clause.name.text);
            self.subscripts(&clause.slots);
            match &clause.body {
                ClauseBody::Expr(body) => {
                    self.text(" = ");
                    self.expr(body);
                    self.line(";");
                }
                ClauseBody::Block(block) => {
                    self.text(" ");
                    self.block(block);
                    self.end_line();
                }
            }
        }
        self.indent -= 1;
        self.indentation();
        self.text("}");
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::Decl { ty, name, value } => {
                self.ty(ty);
                self.text(" ");
                self.text(&name.text);
                self.definition(value);
            }
            StmtKind::Assign { name, op, value } => {
                let op = match op {
                    AssignOp::Set => " = ",
                    AssignOp::Add => " += ",
                    AssignOp::Sub => " -= ",
                    AssignOp::Mul => " *= ",
                    AssignOp::Div => " /= ",
                    AssignOp::Rem => " %= ",
                    AssignOp::Append => " @= ",
                };
                self.text(&name.text);
                self.text(op);
                self.expr(value);
                self.text(";");
            }
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.text("if (");
                self.expr(condition);
                self.text(") ");
                self.branches(then, otherwise.as_deref());
            }
            StmtKind::Foreach { ty, iter, body } => {
                self.text("foreach (");
                self.ty(ty);
                self.text(" ");
                self.iter(iter);
                self.text(") ");
                self.stmt(body);
            }
            StmtKind::Print(args) => self.call_stmt("print", args),
            StmtKind::New { strand, args } => self.call_stmt(&format!("new {}", strand.text), args),
            StmtKind::Stabilize => self.text("stabilize;"),
            StmtKind::Die => self.text("die;"),
            StmtKind::Continue => self.text("continue;"),
            StmtKind::Return(value) => {
                self.text("return ");
                self.expr(value);
                self.text(";");
            }
            StmtKind::Error => self.text("/* unreadable */"),
        }
    }

    fn call_stmt(&mut self, callee: &str, args: &[Expr]) {
        self.text(callee);
        self.text("(");
        self.list(args, ", ", Printer::expr);
        self.text(");");
    }

    fn branches(&mut self, then: &Stmt, otherwise: Option<&Stmt>) {
        let Some(otherwise) = otherwise else {
            self.stmt(then);
            return;
        };
        let mut ends_with_brace = matches!(then.kind, StmtKind::Block(_));
        if takes_else(then) {
            // Only braces keep the `else` from the inner `if`. The parser gives no such tree.
            self.text("{ ");
            self.stmt(then);
            self.text(" }");
            ends_with_brace = true;
        } else {
            self.stmt(then);
        }
        if ends_with_brace {
            self.text(" else ");
        } else {
            self.end_line();
            self.indentation();
            self.text("else ");
        }
        self.stmt(otherwise);
    }
}

/// Whether an `else` after the statement would belong to an `if` at its end.
fn takes_else(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::If { otherwise, .. } => otherwise.as_deref().is_none_or(takes_else),
        StmtKind::Foreach { body, .. } => takes_else(body),
        StmtKind::Block(_)
        | StmtKind::Decl { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Print(_)
        | StmtKind::New { .. }
        | StmtKind::Stabilize
        | StmtKind::Die
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Error => false,
    }
}
