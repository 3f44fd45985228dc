//! Reports constructs that the front end accepts but translation does not support, at their place, before translation.

use super::{
    closed_form::{Obstacle, is_dynamic, named_field, obstacles},
    observed::too_much_kept,
};
use crate::front::{
    codes,
    diag::Diagnostic,
    source::Span,
    tree::{Block, Domain, Expr, ExprKind, Function, Global, Program, Stmt, StmtKind, VarId},
};
use ein_ir::{
    Type,
    ops::{Border, Builtin, Form, Meaning},
};
use std::collections::BTreeMap;

/// An error for every construct of the program that cannot be translated.
pub(super) fn unsupported(program: &Program) -> Vec<Diagnostic> {
    let mut search = Search {
        program,
        place: Place::Code,
        obstacles: obstacles(program),
        found: Vec::new(),
    };
    search.program();
    search.found.extend(too_much_kept(program));
    search.found
}

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In code that runs, or in a field function.
    Code,
    /// In the body of a reduction over strands.
    Reduction,
}

struct Search<'a> {
    program: &'a Program,
    place: Place,
    obstacles: BTreeMap<VarId, Obstacle>,
    found: Vec<Diagnostic>,
}

impl Search<'_> {
    fn report(&mut self, span: Span, what: &str) {
        self.found.push(Diagnostic::error(
            codes::UNSUPPORTED,
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
                Global::FieldFunction { body, .. } => self.expr(body),
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
        stmt.expressions().iter().for_each(|e| self.expr(e));
        stmt.blocks().for_each(|block| self.block(block));
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            // All one can do with a field function that has no closed form.
            ExprKind::Op { op, args }
                if op.row.meaning == Meaning::Form(Form::Probe)
                    && named_field(&args[0])
                        .is_some_and(|var| self.obstacles.contains_key(&var)) =>
            {
                return self.expr(&args[1]);
            }
            ExprKind::Call { function, .. } => {
                self.call(&self.program.functions[function.0], e.span)
            }
            ExprKind::Var(var) => self.use_of(*var, e.span),
            ExprKind::Derivative { target, .. } => {
                let function = named_field(target).and_then(|var| self.obstacles.get(&var));
                if let Some(obstacle) = function {
                    let message = "the derivative of this field function cannot be run yet";
                    let error = Diagnostic::error(codes::UNSUPPORTED, e.span, message)
                        .label(obstacle.span, format!("it has {}", obstacle.what))
                        .hint("the derivative of its value at a position can: name that first");
                    self.found.push(error);
                    return;
                }
            }
            ExprKind::Comprehension {
                body,
                domain: Domain::Strands(_),
                ..
            } => {
                return self.within(Place::Reduction, body);
            }
            ExprKind::Comprehension { .. } if is_of_strands(&e.ty) => self.sequence_of_strands(e),
            ExprKind::Select { strand, var } if strand.found_among_strands().is_some() => {
                let ty = &self.program.vars[var.0].ty;
                if !matches!(ty, Type::Tensor(_)) {
                    let what = format!("reading a `{ty}` of a strand of a set");
                    self.report(e.span, &what);
                }
                return strand
                    .children()
                    .into_iter()
                    .for_each(|part| self.expr(part));
            }
            ExprKind::Op { .. } if e.found_among_strands().is_some() => {
                self.report(e.span, "a strand of a set whose state is not read at once");
            }
            _ => {}
        }
        match e.builtin() {
            Some((
                Builtin::Sequence | Builtin::Append | Builtin::Prepend | Builtin::Concatenate,
                _,
            )) if is_of_strands(&e.ty) => self.sequence_of_strands(e),
            Some((Builtin::Border(Border::Constant(())), [_, value]))
                if !matches!(value.kind, ExprKind::Constant(_)) =>
            {
                self.report(value.span, "a border value that is not a constant");
            }
            Some((Builtin::GetCell, [field, _])) if !self.is_on_a_mesh(field) => {
                let message = "`GetCell` wants a field that is made by `toField`";
                let error = Diagnostic::error(codes::UNSUPPORTED, field.span, message);
                self.found.push(error);
            }
            _ => {}
        }
        e.children().into_iter().for_each(|child| self.expr(child));
    }

    /// A variable anywhere but as a field that is probed.
    fn use_of(&mut self, var: VarId, span: Span) {
        if let Some(obstacle) = self.obstacles.get(&var) {
            let name = &self.program.vars[var.0].name;
            let message = format!("`{name}` as a field cannot be run yet");
            let error = Diagnostic::error(codes::UNSUPPORTED, span, message)
                .label(obstacle.span, format!("it has {}", obstacle.what))
                .hint(format!("such a function can be probed: `{name}(x)`"));
            self.found
                .push(obstacle.advice.into_iter().fold(error, Diagnostic::hint));
        }
    }

    /// Whether a field is that of values on a mesh, by itself or by name.
    fn is_on_a_mesh(&self, field: &Expr) -> bool {
        let defined = |global: &&Global| matches!(global, Global::Variable { var, .. } if Some(*var) == named_field(field));
        match self.program.globals.iter().find(defined) {
            Some(Global::Variable {
                value: Some(value), ..
            }) => self.is_on_a_mesh(value),
            _ => match &field.kind {
                ExprKind::Coerce(inner) => self.is_on_a_mesh(inner),
                _ => matches!(field.builtin(), Some((Builtin::ToField, _))),
            },
        }
    }

    fn call(&mut self, function: &Function, span: Span) {
        if self.place == Place::Reduction && prints(&function.body) {
            self.report(span, "printing in a reduction over strands");
        }
    }

    fn sequence_of_strands(&mut self, e: &Expr) {
        self.report(e.span, "a sequence of strands that is not a query");
    }
}

fn is_of_strands(ty: &Type) -> bool {
    matches!(ty, Type::Seq(element, _) if matches!(**element, Type::Strand(_)))
}

fn prints(block: &Block) -> bool {
    let does = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Print(_)) || stmt.blocks().any(prints);
    block.stmts.iter().any(does)
}
