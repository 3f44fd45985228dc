//! Finds the elements that are read of sequences in steps: only these have to be kept.

use crate::front::{
    codes,
    diag::Diagnostic,
    source::Span,
    tree::{
        Block, Constant, Expr, ExprKind, Global, Layout, Program, Recurrence, StmtKind, VarId,
        recurrence::MOST_ELEMENTS,
    },
};
use ein_ir::ops::Builtin;
use std::collections::{BTreeMap, BTreeSet};

/// The elements that are read of every variable.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    reads: BTreeMap<VarId, Vec<Read>>,
    assigned: BTreeSet<VarId>,
    outputs: BTreeSet<VarId>,
    /// The variables that code reads which runs after they were defined.
    later: BTreeSet<VarId>,
    /// The sequences in steps: the variable, unless it is not one's definition, and whether that has storage.
    steps: Vec<(Option<VarId>, bool, Expr)>,
}

/// One place where a variable is read.
#[derive(Debug)]
struct Read {
    /// Which element, axis by axis, as far as that is known.
    places: Vec<Option<i64>>,
    span: Span,
}

/// An error for every sequence in steps that would have to keep too many elements.
pub(crate) fn too_much_kept(program: &Program) -> Vec<Diagnostic> {
    let observed = Observed::of(program);
    let too_large = |(var, has_storage, value): &(Option<VarId>, bool, Expr)| {
        let ExprKind::Recurrence(steps) = &value.kind else {
            return None;
        };
        let kept = var.map_or(Kept::All(None), |var| {
            observed.kept(var, steps, &steps.main)
        });
        let is_stored = *has_storage && var.is_some_and(|var| !observed.is_passing(var));
        let why = match kept {
            Kept::All(Some(read)) => (read, "all of it is read here, or a part that is not known"),
            Kept::All(None) => (value.span, "all of it is needed"),
            Kept::From(_) if is_stored => (value.span, "it is read after it was defined"),
            Kept::From(_) => return None,
        };
        (steps.main.size() > MOST_ELEMENTS).then(|| {
            let message = format!(
                "a sequence of more than {MOST_ELEMENTS} elements cannot be kept; this one has {}",
                steps.main.size()
            );
            Diagnostic::error(codes::TOO_LARGE, value.span, message)
                .label(why.0, why.1)
                .hint("if only its last steps are read, with constant indices, where it is defined, no others are kept")
        })
    };
    observed.steps.iter().filter_map(too_large).collect()
}

/// The steps of a sequence that are kept until all are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All of them; where they are read, if that is the reason.
    All(Option<Span>),
    /// Those from this one on.
    From(usize),
}

impl Observed {
    /// What a program reads.
    pub(crate) fn of(program: &Program) -> Observed {
        let mut found = Observed::default();
        for global in &program.globals {
            match global {
                Global::Input { .. } => {}
                Global::Variable { var, value } if program.vars[var.0].ty.is_value() => {
                    value.iter().for_each(|e| found.definition(*var, e, true));
                }
                // Fields are put in place where they are probed.
                Global::Variable { value, .. } => {
                    found.in_code(|found| value.iter().for_each(|e| found.expr(e)));
                }
                Global::FieldFunction { body, .. } => found.in_code(|found| found.expr(body)),
            }
        }
        for function in &program.functions {
            found.in_code(|found| found.block(&function.body));
        }
        let strand = &program.strand;
        // Globals are defined before there are strands.
        let is_state = |var: &VarId| strand.state.iter().any(|state| state.var == *var);
        found.in_code_after(is_state, |found| {
            for state in &strand.state {
                let value = state.value.iter();
                value.for_each(|e| found.definition(state.var, e, true));
                found.outputs.extend(state.output.then_some(state.var));
            }
        });
        found.outputs.extend(strand.position);
        let blocks = [
            &program.initialize,
            &program.start,
            &program.update,
            &strand.initialize,
        ];
        let methods = strand.methods.iter().map(|(_, block)| block);
        for block in blocks.into_iter().flatten().chain(methods) {
            found.in_code(|found| found.block(block));
        }
        let create = &program.create;
        let sources = create.iters.iter().map(|(_, source)| source);
        found.in_code(|found| sources.chain(&create.args).for_each(|e| found.expr(e)));
        found
    }

    /// The steps of a variable's sequence that must be kept. If its steps would have to search other sequences, they are
    /// written out, and so all of them are.
    pub(crate) fn kept(&self, var: VarId, recurrence: &Recurrence, layout: &Layout) -> Kept {
        if self.assigned.contains(&var) || self.outputs.contains(&var) || recurrence.searches() {
            return Kept::All(None);
        }
        let mut from = layout.steps();
        for Read { places, span } in self.reads.get(&var).into_iter().flatten() {
            match places.get(layout.axis).copied().flatten() {
                Some(step) => from = from.min(usize::try_from(step).unwrap_or(0)),
                None => return Kept::All(Some(*span)),
            }
        }
        Kept::From(from)
    }

    /// Whether a global or state variable is only there to define others: nothing writes it out, assigns to it, or reads it
    /// in code that runs later.
    pub(crate) fn is_passing(&self, var: VarId) -> bool {
        !(self.assigned.contains(&var) || self.outputs.contains(&var) || self.later.contains(&var))
    }

    fn in_code(&mut self, visit: impl FnOnce(&mut Observed)) {
        self.in_code_after(|_| false, visit);
    }

    /// Visits code that runs after all variables were defined, but for some.
    fn in_code_after(&mut self, but: impl Fn(&VarId) -> bool, visit: impl FnOnce(&mut Observed)) {
        let outside = std::mem::take(&mut self.reads);
        visit(self);
        self.later.extend(self.reads.keys().filter(|var| !but(var)));
        for (var, reads) in outside {
            self.reads.entry(var).or_default().extend(reads);
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            if let StmtKind::Decl { var, value } = &stmt.kind {
                value.iter().for_each(|e| self.definition(*var, e, false));
                continue;
            }
            if let StmtKind::Assign { var, .. } = &stmt.kind {
                self.assigned.insert(*var);
            }
            stmt.expressions().iter().for_each(|e| self.expr(e));
            stmt.blocks().for_each(|block| self.block(block));
        }
    }

    fn definition(&mut self, var: VarId, value: &Expr, has_storage: bool) {
        match value.kind {
            ExprKind::Recurrence(_) => {
                self.steps.push((Some(var), has_storage, value.clone()));
                self.parts(value);
            }
            _ => self.expr(value),
        }
    }

    fn parts(&mut self, e: &Expr) {
        e.children().into_iter().for_each(|child| self.expr(child));
    }

    fn expr(&mut self, e: &Expr) {
        let (mut base, mut places) = (e, Vec::new());
        loop {
            if let Some((Builtin::Element, [sequence, index])) = base.builtin() {
                self.expr(index);
                places.push(match index.kind {
                    ExprKind::Constant(Constant::Int(at)) => Some(at),
                    _ => None,
                });
                base = sequence;
            } else if let ExprKind::Let { bindings, body } = &base.kind {
                for (var, value) in bindings {
                    self.definition(*var, value, false);
                }
                base = body;
            } else {
                break;
            }
        }
        places.reverse();
        match &base.kind {
            ExprKind::Var(var) => {
                let read = Read {
                    places,
                    span: e.span,
                };
                self.reads.entry(*var).or_default().push(read);
            }
            ExprKind::Given { input, .. } => {
                let whole = Read {
                    places: Vec::new(),
                    span: e.span,
                };
                self.reads.entry(*input).or_default().push(whole);
            }
            ExprKind::Select { var, .. } => {
                self.later.insert(*var);
                let whole = Read {
                    places: Vec::new(),
                    span: e.span,
                };
                self.reads.entry(*var).or_default().push(whole);
            }
            ExprKind::Recurrence(_) => self.steps.push((None, false, base.clone())),
            _ => {}
        }
        self.parts(base);
    }
}
