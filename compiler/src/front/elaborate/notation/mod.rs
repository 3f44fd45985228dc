//! Makes operators of index notation, and sequences in steps of clauses.
//!
//! The checker leaves index notation in the tree as it is written, with types, ranges and the places of everything. Here each expression of
//! it becomes one operator with its arguments, an [`ExprKind::Indexed`] (`lower`); a sequence by clauses becomes a value for each of its
//! elements, or steps (`clauses`, `steps`). Some errors show only then, because they depend on the values of indices: components that do
//! not exist, elements that are read before they are computed, and terms that would be written out too often.

mod builder;
mod clauses;
mod fold;
mod folded;
mod known_steps;
mod lower;
mod orders;
mod own;
mod points;
mod steps;
mod truth;

use super::unroll::{
    copy::settle,
    expanded,
    turns::{Turns, each_turn},
};
use crate::front::{
    codes,
    diag::Diagnostic,
    tree::{Block, Expr, Global, Notation, Program, Stmt, StmtKind, Var, VarId, VarKind},
};
use builder::Builder;
use lower::{Slots, Stop};
use std::collections::BTreeSet;

/// Index notation that was checked and is not in the tree: that of statements which are never reached, and that of programs with errors.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Its expressions, in the order of the check.
    pub(crate) parts: Vec<Unplaced>,
    /// The variables of the program.
    pub(crate) vars: Vec<Var>,
}

/// An expression that is not in the tree.
#[derive(Debug)]
pub(crate) struct Unplaced {
    /// The expression; its notation is complete.
    pub(crate) expr: Expr,
    /// The loops around it that are unrolled, the innermost first.
    pub(crate) loops: Vec<Turns>,
    /// The variable that it defines by clauses.
    pub(crate) defined: Option<VarId>,
    /// Whether it is part of a field function.
    pub(crate) is_in_field: bool,
}

/// A program without index notation, and the errors in the notation.
pub(crate) fn lowered(mut program: Program, long_int: bool) -> (Program, Vec<Diagnostic>) {
    let mut vars = std::mem::take(&mut program.vars);
    let mut stage = Stage {
        reassigned: reassigned(&program),
        builder: Builder::new(&mut vars, long_int),
    };
    stage.program(&mut program);
    let found = stage.builder.found;
    program.vars = vars;
    (program, found)
}

/// A complete expression without index notation, or the errors in it.
pub(crate) fn constructed(
    e: &Expr,
    mut vars: Vec<Var>,
    long_int: bool,
) -> Result<Expr, Vec<Diagnostic>> {
    let mut builder = Builder::new(&mut vars, long_int);
    let mut made = e.clone();
    expanded(&mut made, builder.vars, false, long_int);
    builder.expr(&mut made);
    match builder.found.is_empty() {
        true => Ok(made),
        false => Err(builder.found),
    }
}

/// The errors in notation that is not in the tree.
pub(crate) fn problems(mut rest: Rest, long_int: bool) -> Vec<Diagnostic> {
    let mut builder = Builder::new(&mut rest.vars, long_int);
    for part in rest.parts {
        builder.is_in_field = part.is_in_field;
        each_turn(&part.loops, &mut Vec::new(), long_int, &mut |given| {
            let mut e = part.expr.clone();
            settle(&mut e, given, long_int);
            expanded(&mut e, builder.vars, part.is_in_field, long_int);
            builder.expr(&mut e);
            if let Some(var) = part.defined {
                builder.steps.record(var, &e);
            }
            true
        });
    }
    builder.found
}

/// The variables that global code assigns to.
fn reassigned(program: &Program) -> BTreeSet<VarId> {
    let blocks = [&program.initialize, &program.start, &program.update];
    let mut found = BTreeSet::new();
    for stmt in blocks.into_iter().flatten().flat_map(|block| &block.stmts) {
        stmt.assigned(&mut found);
    }
    found
}

/// The walk through a program, in the order in which variables get values.
struct Stage<'p> {
    builder: Builder<'p>,
    reassigned: BTreeSet<VarId>,
}

impl Stage<'_> {
    fn program(&mut self, program: &mut Program) {
        for global in &mut program.globals {
            match global {
                Global::Input { .. } => {}
                Global::Variable { var, value } => {
                    if let Some(value) = value {
                        self.defined(*var, value);
                    }
                }
                Global::FieldFunction { body, .. } => {
                    self.builder.is_in_field = true;
                    self.builder.expr(body);
                    self.builder.is_in_field = false;
                }
            }
        }
        for function in &mut program.functions {
            self.code(&mut function.body);
        }
        self.optional(&mut program.initialize);
        self.enter_code();
        let strand = &mut program.strand;
        for state in &mut strand.state {
            if let Some(value) = &mut state.value {
                self.defined(state.var, value);
            }
        }
        if let Some(block) = &mut strand.initialize {
            self.block(block);
        }
        for (_, block) in &mut strand.methods {
            self.code(block);
        }
        let iterated = program.create.iters.iter_mut().map(|(_, source)| source);
        for e in iterated.chain(&mut program.create.args) {
            self.builder.expr(e);
        }
        self.optional(&mut program.start);
        self.optional(&mut program.update);
    }

    fn optional(&mut self, block: &mut Option<Block>) {
        block.iter_mut().for_each(|block| self.code(block));
    }

    /// Code that begins where other code may have run.
    fn code(&mut self, block: &mut Block) {
        self.enter_code();
        self.block(block);
    }

    /// Where other code begins, variables have values from elsewhere; only globals that nothing assigns to have those of their
    /// definitions.
    fn enter_code(&mut self) {
        let (builder, reassigned) = (&mut self.builder, &self.reassigned);
        let vars = &builder.vars;
        builder
            .steps
            .retain(|var| vars[var.0].kind == VarKind::Global && !reassigned.contains(&var));
    }

    fn block(&mut self, block: &mut Block) {
        block.stmts.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        if let StmtKind::Foreach { .. } = stmt.kind {
            // Variables that the body of a loop assigns are not known in it, nor after it.
            let mut assigned = BTreeSet::new();
            stmt.assigned(&mut assigned);
            assigned
                .into_iter()
                .for_each(|var| self.builder.steps.forget(var));
        }
        if let StmtKind::Decl {
            var,
            value: Some(value),
        }
        | StmtKind::Assign { var, value } = &mut stmt.kind
        {
            self.defined(*var, value);
            return;
        }
        for e in stmt.expressions_mut() {
            self.builder.expr(e);
        }
        for block in stmt.blocks_mut() {
            self.block(block);
        }
    }

    fn defined(&mut self, var: VarId, value: &mut Expr) {
        self.builder.expr(value);
        self.builder.steps.record(var, value);
    }
}

impl Builder<'_> {
    /// Replaces the index notation in an expression that is not inside such notation itself. Notation with an error stays.
    fn expr(&mut self, e: &mut Expr) {
        // No index is in scope around what binds none, so its parts are complete.
        if !e.notation().is_some_and(Notation::binds) {
            e.children_mut()
                .into_iter()
                .for_each(|part| self.expr(part));
        }
        if e.notation().is_some() {
            self.learn(e);
            match self.complete(e) {
                Ok(made) => *e = made,
                Err(_) if !self.found.is_empty() => {}
                Err(_) => {
                    let message = "no operator expresses this index notation";
                    self.report(Diagnostic::error(codes::INDEX_EXPRESSION, e.span, message));
                }
            }
        }
    }

    /// Notes the values of all indices that an expression binds.
    fn learn(&mut self, e: &Expr) {
        let binders = e.notation().map(Notation::binders);
        for binder in binders.unwrap_or_default() {
            self.values.insert(binder.var, binder.values.clone());
        }
        e.each_child(|part| self.learn(part));
    }

    /// A complete expression as an operator and its arguments.
    fn complete(&mut self, e: &Expr) -> Result<Expr, Stop> {
        let outside = Slots::new();
        match e.notation() {
            Some(Notation::Definition { left, body }) => {
                lower::definition(self, left, body, &e.ty, &outside, e.span)
            }
            Some(Notation::Clauses { itself, clauses }) => {
                self.sequence(*itself, clauses, e, &outside)
            }
            _ => lower::complete(self, e),
        }
    }
}
