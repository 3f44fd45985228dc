//! What the front end understands and translation does not: reported at its place, before anything is translated.

use crate::{
    diag::Diagnostic,
    source::Span,
    typed::constant_components,
    typed::tree::{Block, Domain, Expr, ExprKind, Global, Program, Stmt, StmtKind},
};
use ein_ir::{
    Type,
    ops::{Border, Builtin, Meaning, Reduction},
};

/// An error for every construct of the program that cannot be translated.
pub fn unsupported(program: &Program) -> Vec<Diagnostic> {
    let mut search = Search {
        program,
        in_field: false,
        found: Vec::new(),
    };
    search.program();
    search.found
}

struct Search<'a> {
    program: &'a Program,
    in_field: bool,
    found: Vec<Diagnostic>,
}

impl Search<'_> {
    fn report(&mut self, span: Span, what: &str) {
        self.found.push(Diagnostic::error(
            "unsupported",
            span,
            format!("{what} cannot be run yet"),
        ));
    }

    fn program(&mut self) {
        let program = self.program;
        for global in &program.globals {
            match global {
                Global::Input { var, .. } => self.variable(var.0, "an input of varying length"),
                Global::Variable { var, value } => {
                    self.variable(var.0, "a global sequence of varying length");
                    value.iter().for_each(|value| self.expr(value));
                }
                Global::FieldFunction { body, .. } => {
                    self.in_field = true;
                    self.expr(body);
                    self.in_field = false;
                }
            }
        }
        for function in &program.functions {
            if is_dynamic(&function.result) {
                self.report(
                    function.span,
                    "a function that returns a sequence of varying length",
                );
            }
            self.block(&function.body);
        }
        let strand = &program.strand;
        for state in &strand.state {
            self.variable(state.var.0, "a state variable of varying length");
            state.value.iter().for_each(|value| self.expr(value));
        }
        let blocks = [
            &program.initialize,
            &strand.initialize,
            &program.start,
            &program.update,
        ];
        blocks
            .into_iter()
            .flatten()
            .for_each(|block| self.block(block));
        strand
            .methods
            .iter()
            .for_each(|(_, block)| self.block(block));
        program.create.args.iter().for_each(|arg| self.expr(arg));
        program
            .create
            .iters
            .iter()
            .for_each(|(_, source)| self.domain(source));
    }

    fn variable(&mut self, var: usize, what: &str) {
        let var = &self.program.vars[var];
        if is_dynamic(&var.ty) {
            self.report(var.span, what);
        }
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::Decl {
                value: Some(value), ..
            } => self.expr(value),
            StmtKind::Decl { var, value: None } => {
                self.variable(var.0, "a variable of varying length")
            }
            StmtKind::Assign { value, .. } | StmtKind::Return(value) => self.expr(value),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.expr(condition);
                self.block(then);
                self.block(otherwise);
            }
            StmtKind::Foreach { source, body, .. } => {
                self.domain(source);
                self.block(body);
            }
            StmtKind::Print(args) => args.iter().for_each(|arg| self.expr(arg)),
            StmtKind::New(_) => self.report(stmt.span, "`new`"),
            StmtKind::Stabilize | StmtKind::Die | StmtKind::Continue => {}
        }
    }

    /// What a loop runs over: a range, or a sequence whose length is known.
    fn domain(&mut self, source: &Expr) {
        match &source.kind {
            ExprKind::Range(low, high) if !self.in_field => {
                self.expr(low);
                self.expr(high);
            }
            ExprKind::Coerce(inner) => self.domain(inner),
            _ => self.expr(source),
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Constant(_)
            | ExprKind::Kernel(_)
            | ExprKind::Var(_)
            | ExprKind::Identity(_)
            | ExprKind::Zeros
            | ExprKind::Nan
            | ExprKind::LoadImage(_) => {}
            ExprKind::Op { op, args } => {
                if let Meaning::Builtin(builtin) = op.row.meaning {
                    self.builtin(builtin, args, e.span);
                }
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Tensor(parts) | ExprKind::Sequence(parts) => {
                parts.iter().for_each(|part| self.expr(part))
            }
            ExprKind::Power { base: inner, .. }
            | ExprKind::Slice { base: inner, .. }
            | ExprKind::Coerce(inner) => self.expr(inner),
            ExprKind::Index { base: a, index: b }
            | ExprKind::Probe { field: a, at: b }
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b) => [a, b].into_iter().for_each(|x| self.expr(x)),
            ExprKind::Call { function, args } => {
                let body = &self.program.functions[function.0].body;
                if self.in_field && !is_straight(body) {
                    self.report(
                        e.span,
                        "a field function that calls a function with `if` or `foreach` statements",
                    );
                }
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                [condition, then, otherwise]
                    .into_iter()
                    .for_each(|x| self.expr(x));
            }
            ExprKind::Reduce {
                op, body, domain, ..
            } => {
                if op.row.meaning == Meaning::Builtin(Builtin::Reduce(Reduction::Variance)) {
                    self.report(e.span, "`variance`");
                }
                match domain {
                    Domain::Seq(source) => self.domain(source),
                    Domain::Strands(_) => self.report(e.span, "a reduction over strands"),
                }
                self.expr(body);
            }
            ExprKind::Swap { selector, fields } => {
                self.expr(selector);
                fields.iter().for_each(|field| self.expr(field));
            }
            ExprKind::Range(..) => self.report(e.span, "a range outside a loop"),
            ExprKind::Comprehension { .. } => {
                self.report(e.span, "a comprehension outside a reduction")
            }
            ExprKind::Select { .. } => self.report(e.span, "reading the state of another strand"),
            ExprKind::LoadSequence(_) => self.report(e.span, "a sequence from a file"),
            ExprKind::Sphere { .. } => self.report(e.span, "a spatial query"),
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Expr], span: Span) {
        match builtin {
            Builtin::Append | Builtin::Prepend | Builtin::Concatenate => {
                self.report(span, "a sequence of varying length");
            }
            Builtin::Count(_) => self.report(span, "counting strands"),
            Builtin::Border(Border::Constant) if constant_components(&args[1]).is_none() => {
                self.report(args[1].span, "a border value that is not a constant");
            }
            Builtin::Eigenvalues | Builtin::Eigenvectors | Builtin::Inside if self.in_field => {
                self.report(span, "an eigensystem or `inside` in a field function");
            }
            _ => {}
        }
    }
}

fn is_dynamic(ty: &Type) -> bool {
    match ty {
        Type::Seq(_, None) => true,
        Type::Seq(element, Some(_)) => is_dynamic(element),
        _ => false,
    }
}

/// Whether a function's body has no control flow.
fn is_straight(block: &Block) -> bool {
    block.stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Block(block) => is_straight(block),
        StmtKind::If { .. } | StmtKind::Foreach { .. } => false,
        _ => true,
    })
}
