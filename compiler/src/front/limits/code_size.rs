//! Computes the size of a program after all calls are expanded.

use crate::front::{
    codes,
    diag::Diagnostic,
    tree::{Block, Expr, ExprKind, Global, Program, Stmt, StmtKind},
};

/// The most operations that a program may have then. To compile them takes a minute and some gigabytes.
const MOST: u64 = 2_000_000;

/// An error if the program becomes too large to be compiled.
pub(super) fn too_much_code(program: &Program) -> Option<Diagnostic> {
    let mut sizes: Vec<u64> = Vec::new();
    for function in &program.functions {
        // A body refers to earlier functions only.
        let size = Measure { sizes: &sizes }.block(&function.body);
        sizes.push(size);
    }
    let measure = Measure { sizes: &sizes };
    let total = measure.program(program);
    if total <= MOST {
        return None;
    }
    let first = sizes.iter().position(|size| *size > MOST / 2);
    let (span, what) = match first {
        Some(n) => {
            let function = &program.functions[n];
            (function.span, format!("a call of `{}`", function.name))
        }
        None => {
            let output = program.strand.state.iter().find(|state| state.output);
            let span = output.map_or_else(Default::default, |state| program.vars[state.var.0].span);
            (span, "the program".to_string())
        }
    };
    let count = first.map_or(total, |n| sizes[n]);
    let message = format!(
        "{what} stands for {count} operations when functions are put in the place of their calls; at most {MOST} can be \
         compiled"
    );
    let error = Diagnostic::error(codes::TOO_MUCH_CODE, span, message);
    Some(error.hint("call a function once and keep its value in a variable, or call it in a loop"))
}

/// Counts operations.
struct Measure<'a> {
    /// The operations of the functions that are known.
    sizes: &'a [u64],
}

impl Measure<'_> {
    fn program(&self, program: &Program) -> u64 {
        let globals = program.globals.iter().map(|global| match global {
            Global::Input { .. } => 0,
            Global::Variable { value, .. } => self.exprs(value),
            Global::FieldFunction { body, .. } => self.expr(body),
        });
        let strand = &program.strand;
        let state = strand.state.iter().map(|state| self.exprs(&state.value));
        let blocks = [
            &program.initialize,
            &strand.initialize,
            &program.start,
            &program.update,
        ];
        let blocks = blocks.into_iter().flatten();
        let methods = strand.methods.iter().map(|(_, block)| block);
        let blocks = blocks.chain(methods).map(|block| self.block(block));
        sum(globals.chain(state).chain(blocks))
    }

    fn block(&self, block: &Block) -> u64 {
        sum(block.stmts.iter().map(|stmt| self.stmt(stmt)))
    }

    fn stmt(&self, stmt: &Stmt) -> u64 {
        use StmtKind::{Continue, Die, Stabilize};
        let own = u64::from(matches!(stmt.kind, Stabilize | Die | Continue));
        let blocks = stmt.blocks().map(|block| self.block(block));
        sum(blocks.chain([own, self.exprs(stmt.expressions())]))
    }

    fn exprs<'e>(&self, all: impl IntoIterator<Item = &'e Expr>) -> u64 {
        sum(all.into_iter().map(|e| self.expr(e)))
    }

    fn expr(&self, e: &Expr) -> u64 {
        let own = match &e.kind {
            ExprKind::Call { function, .. } => self.sizes.get(function.0).copied().unwrap_or(1),
            ExprKind::Constant(_) | ExprKind::Kernel(_) | ExprKind::Var(_) => 0,
            _ => 1,
        };
        self.exprs(e.children()).saturating_add(own)
    }
}

fn sum(sizes: impl IntoIterator<Item = u64>) -> u64 {
    sizes.into_iter().fold(0, u64::saturating_add)
}
