//! Writes out what operators cannot express: loops whose variable is a subscript of a tensor or field, reductions over constant ranges in
//! field functions, and parts of tensors and fields by ranges.
//!
//! The checker has compared the subscripts with the axes for all values of the variables of loops. Here the body of such a loop is copied
//! for each value, so that all subscripts are constants.

pub(crate) mod copy;
mod reduction;
pub(crate) mod turns;

use crate::front::{
    source::Span,
    tree::{
        Block, Constant, Expr, ExprKind, Global, Notation, Program, Stmt, StmtKind, Var, VarId,
        VarKind,
        part::{Axis, by_operators},
        typed, value,
    },
};
use copy::Copying;
use ein_ir::Type;

/// The program without such loops, reductions and parts.
pub(super) fn unrolled(mut program: Program, long_int: bool) -> Program {
    let mut vars = std::mem::take(&mut program.vars);
    Unrolling::new(&mut vars, long_int).program(&mut program);
    program.vars = vars;
    program
}

/// An expression by itself without such parts.
pub(super) fn expanded(e: &mut Expr, vars: &mut Vec<Var>, is_in_field: bool, long_int: bool) {
    let mut unrolling = Unrolling::new(vars, long_int);
    unrolling.is_in_field = is_in_field;
    unrolling.expr(e);
}

struct Unrolling<'p> {
    /// The variables of the program; new ones are added.
    vars: &'p mut Vec<Var>,
    long_int: bool,
    /// Whether the code is that of the strand, where `stabilize` and `die` exit.
    is_in_strand: bool,
    is_in_field: bool,
    /// Whether indices are in scope.
    is_open: bool,
}

impl<'p> Unrolling<'p> {
    fn new(vars: &'p mut Vec<Var>, long_int: bool) -> Unrolling<'p> {
        Unrolling {
            vars,
            long_int,
            is_in_strand: false,
            is_in_field: false,
            is_open: false,
        }
    }

    fn program(&mut self, program: &mut Program) {
        for global in &mut program.globals {
            match global {
                Global::Input { .. } => {}
                Global::Variable { value, .. } => self.exprs(value),
                Global::FieldFunction { body, .. } => {
                    self.is_in_field = true;
                    self.expr(body);
                    self.is_in_field = false;
                }
            }
        }
        for function in &mut program.functions {
            self.block(&mut function.body);
        }
        let blocks = [
            &mut program.initialize,
            &mut program.start,
            &mut program.update,
        ];
        for block in blocks.into_iter().flatten() {
            self.block(block);
        }
        let create = &mut program.create;
        self.exprs(create.iters.iter_mut().map(|(_, source)| source));
        self.exprs(&mut create.args);
        let strand = &mut program.strand;
        self.exprs(strand.state.iter_mut().flat_map(|state| &mut state.value));
        self.is_in_strand = true;
        let methods = strand.methods.iter_mut().map(|(_, block)| block);
        for block in strand.initialize.iter_mut().chain(methods) {
            self.block(block);
        }
        self.is_in_strand = false;
    }

    fn block(&mut self, block: &mut Block) {
        block.stmts.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Foreach {
                var,
                source,
                body,
                is_unrolled: true,
            } => {
                let values = turns::values(source, &Vec::new(), self.long_int);
                let values = values.expect("the range of a loop that is unrolled is known");
                let (var, body, place) = (*var, std::mem::take(body), stmt.span);
                stmt.kind = self.in_a_row(var, values, |this, value| {
                    Copying::of(&body, (var, value), place, this.vars, this.long_int)
                });
            }
            StmtKind::ByValue { var, copies, .. } => {
                let (var, copies) = (*var, std::mem::take(copies));
                stmt.kind = self.in_a_row(var, copies, |_, (_, copy)| copy);
            }
            _ => {
                self.exprs(stmt.expressions_mut());
                for block in stmt.blocks_mut() {
                    self.block(block);
                }
            }
        }
    }

    /// The bodies of a loop for several values of its variable, up to one that always exits.
    fn in_a_row<T>(
        &mut self,
        var: VarId,
        turns: Vec<T>,
        body: impl Fn(&mut Self, T) -> Block,
    ) -> StmtKind {
        let span = self.vars[var.0].span;
        let mut stmts = Vec::new();
        for turn in turns {
            let mut copy = body(self, turn);
            self.block(&mut copy);
            let exits = self.exits(&copy);
            let kind = StmtKind::Block(copy);
            stmts.push(Stmt { kind, span });
            if exits {
                break;
            }
        }
        StmtKind::Block(Block { stmts })
    }

    /// Whether nothing that follows a block is reached.
    fn exits(&self, block: &Block) -> bool {
        block.stmts.last().is_some_and(|last| match &last.kind {
            StmtKind::Continue | StmtKind::Return(_) => true,
            StmtKind::Stabilize | StmtKind::Die => self.is_in_strand,
            StmtKind::Block(inner) => self.exits(inner),
            StmtKind::If {
                then, otherwise, ..
            } => self.exits(then) && self.exits(otherwise),
            _ => false,
        })
    }

    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e mut Expr>) {
        all.into_iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &mut Expr) {
        let outside = self.is_open;
        self.is_open |= e.notation().is_some_and(Notation::binds);
        self.exprs(e.children_mut());
        self.is_open = outside;
        let made = match &e.kind {
            ExprKind::Part { base, axes } => Some(self.part(base, axes, e.span)),
            ExprKind::Op { op, args } if self.is_in_field => {
                reduction::written_out(op, args, e.span, self.long_int)
            }
            _ => None,
        };
        if let Some(made) = made {
            *e = made;
        }
    }

    fn part(&mut self, base: &Expr, axes: &[Axis], span: Span) -> Expr {
        let long_int = self.long_int;
        let mut at = |index: &Expr| match value::evaluate(index, Vec::new(), long_int) {
            Ok(Constant::Int(at)) => usize::try_from(at).ok(),
            _ => None,
        };
        let mut by = |base: &Expr| {
            by_operators(base, axes, &mut at, span).expect("the checker compared indices and axes")
        };
        let is_range = |axis: &Axis| matches!(axis, Axis::From(..));
        // A value is computed once, also for several of its components. A field is not a value, and inside index notation values are
        // those of whole operators.
        let is_repeated = matches!(base.ty, Type::Field { .. })
            || matches!(base.kind, ExprKind::Var(_))
            || self.is_open && base.notation().is_some();
        if is_repeated || !axes.iter().any(is_range) {
            return by(base);
        }
        let whole = VarId(self.vars.len());
        self.vars.push(Var {
            name: "whole".to_owned(),
            ty: base.ty.clone(),
            kind: VarKind::Local,
            span: base.span,
        });
        let body = by(&typed(base.ty.clone(), ExprKind::Var(whole), base.span));
        let (ty, body) = (body.ty.clone(), Box::new(body));
        let bindings = vec![(whole, base.clone())];
        typed(ty, ExprKind::Let { bindings, body }, span)
    }
}
