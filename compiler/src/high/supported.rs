//! What the front end understands and translation does not: reported at its place, before anything is translated.

use crate::{
    diag::Diagnostic,
    source::Span,
    typed::{
        constant_components,
        tree::{Block, Domain, Expr, ExprKind, Function, Global, Program, Stmt, StmtKind},
    },
};
use ein_ir::{
    Type,
    ops::{Border, Builtin, Meaning},
};

/// An error for every construct of the program that cannot be translated.
pub fn unsupported(program: &Program) -> Vec<Diagnostic> {
    let mut search = Search {
        program,
        place: Place::Code,
        found: Vec::new(),
    };
    search.program();
    search.found
}

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In code that runs.
    Code,
    /// In the body of a field function.
    Field,
    /// In the body of a reduction over strands.
    Reduction,
}

struct Search<'a> {
    program: &'a Program,
    place: Place,
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
                Global::Input { .. } => {}
                Global::Variable { value, .. } => value.iter().for_each(|value| self.expr(value)),
                Global::FieldFunction { body, .. } => self.within(Place::Field, body),
            }
        }
        for function in &program.functions {
            self.block(&function.body);
        }
        let strand = &program.strand;
        for state in &strand.state {
            let var = &program.vars[state.var.0];
            if state.output && matches!(&var.ty, Type::Seq(element, Some(_)) if is_dynamic(element))
            {
                self.report(var.span, "an output of several sequences of varying length");
            }
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
            .for_each(|(_, source)| self.expr(source));
    }

    fn within(&mut self, place: Place, e: &Expr) {
        let outer = std::mem::replace(&mut self.place, place);
        self.expr(e);
        self.place = outer;
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::Decl { value, .. } => value.iter().for_each(|value| self.expr(value)),
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
                self.expr(source);
                self.block(body);
            }
            StmtKind::Print(args) | StmtKind::New(args) => {
                args.iter().for_each(|arg| self.expr(arg))
            }
            StmtKind::Stabilize | StmtKind::Die | StmtKind::Continue => {}
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Op { op, args } => {
                if let Meaning::Builtin(builtin) = op.row.meaning {
                    self.builtin(builtin, args, e);
                }
            }
            ExprKind::Call { function, .. } => {
                self.call(&self.program.functions[function.0], e.span)
            }
            ExprKind::Reduce {
                body,
                domain: Domain::Strands(_),
                ..
            } => return self.within(Place::Reduction, body),
            ExprKind::Reduce {
                domain: Domain::Seq(source),
                ..
            } if self.place == Place::Field && !has_known_length(source) => self.report(
                source.span,
                "a reduction in a field over a sequence of varying length",
            ),
            ExprKind::Comprehension { .. } | ExprKind::Sequence(_) if is_of_strands(&e.ty) => {
                self.report(e.span, "a sequence of strands that is not a query")
            }
            _ => {}
        }
        e.children().into_iter().for_each(|child| self.expr(child));
    }

    fn call(&mut self, function: &Function, span: Span) {
        if self.place == Place::Field && !is_straight(&function.body) {
            self.report(
                span,
                "a field function that calls a function with `if` or `foreach` statements",
            );
        }
        if self.place == Place::Reduction && prints(&function.body) {
            self.report(span, "printing in a reduction over strands");
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Expr], e: &Expr) {
        match builtin {
            Builtin::Append | Builtin::Prepend | Builtin::Concatenate if is_of_strands(&e.ty) => {
                self.report(e.span, "a sequence of strands that is not a query")
            }
            Builtin::Border(Border::Constant) if constant_components(&args[1]).is_none() => {
                self.report(args[1].span, "a border value that is not a constant");
            }
            Builtin::Eigenvalues | Builtin::Eigenvectors | Builtin::Inside
                if self.place == Place::Field =>
            {
                self.report(e.span, "an eigensystem or `inside` in a field function");
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

fn is_of_strands(ty: &Type) -> bool {
    matches!(ty, Type::Seq(element, _) if matches!(**element, Type::Strand(_)))
}

/// Whether the number of elements is known now.
fn has_known_length(source: &Expr) -> bool {
    match &source.kind {
        ExprKind::Constant(_) => true,
        ExprKind::Coerce(inner) => has_known_length(inner),
        _ => !is_dynamic(&source.ty),
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

fn prints(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Print(_) => true,
        StmtKind::Block(block) | StmtKind::Foreach { body: block, .. } => prints(block),
        StmtKind::If {
            then, otherwise, ..
        } => prints(then) || prints(otherwise),
        _ => false,
    })
}
