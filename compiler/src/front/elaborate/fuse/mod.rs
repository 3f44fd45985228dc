//! Fuses a reduction over a sequence in steps with these steps, so that the sequence need not be kept for it.
//!
//! A reduction is itself a sequence in steps, of accumulated values (`notation/folded.rs`). If its steps read another such
//! sequence only at a constant distance from their own index, both can be computed by the same steps: those of the other
//! sequence, at its definition. The other operands of the reduction must be known there; so sequences in steps are
//! first moved to their first use.

mod steps;

use crate::front::tree::{
    Block, Expr, ExprKind, Global, Program, Recurrence, Stmt, StmtKind, Var, VarId, reads::Reads,
};
use ein_ir::ops::Builtin;
use std::collections::BTreeSet;

/// The program with reductions in the steps of the sequences that they reduce.
pub(super) fn fused(mut program: Program) -> Program {
    let mut vars = std::mem::take(&mut program.vars);
    let mut reads: Vec<BTreeSet<VarId>> = Vec::new();
    for function in &program.functions {
        // A body refers to earlier functions only.
        let mut found = Reads::default();
        found.block(&function.body);
        reads.push(with_functions(found, &reads));
    }
    let is_value: Vec<bool> = vars.iter().map(|var| var.ty.is_value()).collect();
    let mut fusion = Fusion {
        vars: &mut vars,
        reads: &reads,
    };
    let in_functions: BTreeSet<VarId> = reads.iter().flatten().copied().collect();
    fusion.sink(&mut program.globals, |global| match global {
        Global::Variable {
            var,
            value: Some(value),
        } => Facts::of_definition(*var, value, !in_functions.contains(var)),
        Global::Variable { var, .. } | Global::Input { var, .. } => Facts::of_change(*var),
        Global::FieldFunction { var, body, .. } => Facts::of_definition(*var, body, false),
    });
    let globals = program.globals.iter_mut().map(|global| match global {
        Global::Variable {
            var,
            value: Some(value),
        } if is_value[var.0] => Item::definition(*var, value),
        // Fields are inlined wherever they are probed, and so are their parts.
        Global::Variable { var, .. }
        | Global::Input { var, .. }
        | Global::FieldFunction { var, .. } => Item::change(*var),
    });
    fusion.items(globals.collect());
    for function in &mut program.functions {
        fusion.block(&mut function.body);
    }
    let strand = &mut program.strand;
    fusion.sink(&mut strand.state, |state| match &state.value {
        Some(value) => Facts::of_definition(state.var, value, !state.output),
        None => Facts::of_change(state.var),
    });
    let state = strand.state.iter_mut();
    let state = state.map(|state| match &mut state.value {
        Some(value) => Item::definition(state.var, value),
        None => Item::change(state.var),
    });
    fusion.items(state.collect());
    let blocks = [
        &mut program.initialize,
        &mut program.start,
        &mut program.update,
        &mut strand.initialize,
    ];
    let methods = strand.methods.iter_mut().map(|(_, block)| block);
    for block in blocks.into_iter().flatten().chain(methods) {
        fusion.block(block);
    }
    program.vars = vars;
    program
}

/// The variables that code reads, itself or in the functions that it calls.
fn with_functions(found: Reads, functions: &[BTreeSet<VarId>]) -> BTreeSet<VarId> {
    let mut vars = found.vars;
    for function in found.functions {
        vars.extend(functions.get(function.0).into_iter().flatten());
    }
    vars
}

/// The facts about a statement or definition that decide whether another may be moved past it.
struct Facts {
    /// Whether it defines a variable by steps and may be moved.
    moves: bool,
    reads: Reads,
    changes: BTreeSet<VarId>,
}

impl Facts {
    fn of_change(var: VarId) -> Facts {
        Facts {
            moves: false,
            reads: Reads::default(),
            changes: BTreeSet::from([var]),
        }
    }

    fn of_definition(var: VarId, value: &Expr, may_move: bool) -> Facts {
        let mut reads = Reads::default();
        reads.expr(value);
        let in_steps = matches!(value.kind, ExprKind::Recurrence(_));
        Facts {
            moves: in_steps && may_move,
            reads,
            changes: value.given_to(var),
        }
    }

    fn of_statement(stmt: &Stmt) -> Facts {
        if let StmtKind::Decl {
            var,
            value: Some(value),
        } = &stmt.kind
        {
            return Facts::of_definition(*var, value, true);
        }
        let mut reads = Reads::default();
        reads.stmt(stmt);
        let mut changes = BTreeSet::new();
        stmt.assigned(&mut changes);
        Facts {
            moves: false,
            reads,
            changes,
        }
    }
}

/// One of several statements or definitions in a row.
struct Item<'e> {
    /// The variable that it defines.
    defined: Option<VarId>,
    /// The expressions that it always computes.
    computed: Vec<&'e mut Expr>,
    /// The variables that it may change.
    changed: BTreeSet<VarId>,
    /// Whether the code may end with it.
    leaves: bool,
}

impl<'e> Item<'e> {
    fn change(var: VarId) -> Item<'e> {
        Item {
            defined: None,
            computed: Vec::new(),
            changed: BTreeSet::from([var]),
            leaves: false,
        }
    }

    fn definition(var: VarId, value: &'e mut Expr) -> Item<'e> {
        Item {
            defined: Some(var),
            changed: value.given_to(var),
            computed: vec![value],
            leaves: false,
        }
    }

    fn statement(stmt: &'e mut Stmt) -> Item<'e> {
        let mut changed = BTreeSet::new();
        stmt.assigned(&mut changed);
        let leaves = leaves(stmt);
        let defined = match stmt.kind {
            StmtKind::Decl { var, .. } => Some(var),
            _ => None,
        };
        Item {
            defined,
            computed: stmt.expressions_mut().iter_mut().collect(),
            changed,
            leaves,
        }
    }
}

/// Whether a statement may be the last thing that is done.
fn leaves(stmt: &Stmt) -> bool {
    use StmtKind::{Continue, Die, Return, Stabilize};
    matches!(stmt.kind, Stabilize | Die | Continue | Return(_))
        || stmt.blocks().flat_map(|block| &block.stmts).any(leaves)
}

struct Fusion<'p> {
    vars: &'p mut Vec<Var>,
    /// What functions read.
    reads: &'p [BTreeSet<VarId>],
}

impl Fusion<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            for inner in stmt.blocks_mut() {
                self.block(inner);
            }
        }
        self.sink(&mut block.stmts, Facts::of_statement);
        self.items(block.stmts.iter_mut().map(Item::statement).collect());
    }

    /// Moves definitions by steps to where they are read first.
    fn sink<T>(&self, things: &mut [T], facts: impl Fn(&T) -> Facts) {
        let known: Vec<Facts> = things.iter().map(facts).collect();
        if !known.iter().any(|facts| facts.moves) {
            return;
        }
        let known = known.into_iter().map(|facts| {
            let reads = with_functions(facts.reads, self.reads);
            (facts.moves, reads, facts.changes)
        });
        let mut known: Vec<_> = known.collect();
        for at in (0..things.len()).rev() {
            let (true, reads, given) = &known[at] else {
                continue;
            };
            // Those that move stay in their order.
            let passes = |(moves, later, changes): &(bool, BTreeSet<VarId>, BTreeSet<VarId>)| {
                let reads_it = !later.is_disjoint(given) || !changes.is_disjoint(given);
                !moves && !reads_it && changes.is_disjoint(reads)
            };
            let stops = known[at + 1..].iter().position(|later| !passes(later));
            if let Some(passed) = stops {
                things[at..=at + passed].rotate_left(1);
                known[at..=at + passed].rotate_left(1);
            }
        }
    }

    /// Fuses what later items reduce with the steps of earlier ones.
    fn items(&mut self, mut items: Vec<Item<'_>>) {
        for item in &mut items {
            item.computed.iter_mut().for_each(|e| self.inside(e));
        }
        for at in 0..items.len() {
            let (before, after) = items.split_at_mut(at + 1);
            let item = &mut before[at];
            let (Some(var), [value]) = (item.defined, &mut item.computed[..]) else {
                continue;
            };
            let ExprKind::Recurrence(steps) = &mut value.kind else {
                continue;
            };
            let mut unknown = BTreeSet::from([var]);
            for later in after {
                for e in &mut later.computed {
                    self.reductions(e, (var, steps), &mut unknown);
                }
                if later.leaves || later.changed.contains(&var) {
                    break;
                }
                unknown.extend(&later.changed);
            }
        }
    }

    /// Fuses in the definitions that expressions begin with.
    fn inside(&mut self, e: &mut Expr) {
        if let ExprKind::Let { bindings, body } = &mut e.kind {
            self.sink(bindings, |(var, value)| {
                Facts::of_definition(*var, value, true)
            });
            let bound = bindings.iter_mut();
            let mut items: Vec<Item<'_>> = bound
                .map(|(var, value)| Item::definition(*var, value))
                .collect();
            items.push(Item {
                defined: None,
                computed: vec![body],
                changed: BTreeSet::new(),
                leaves: true,
            });
            self.items(items);
            // Reductions that are bound beside the sequences that they reduce.
            let mut at = 0;
            while at < bindings.len() {
                let later = bindings.split_off(at + 1);
                let (var, value) = &mut bindings[at];
                let mut unknown = value.given_to(*var);
                let left = match &mut value.kind {
                    ExprKind::Recurrence(steps) => {
                        self.absorbed(later, (*var, steps), &mut unknown)
                    }
                    _ => later,
                };
                bindings.extend(left);
                at += 1;
            }
            return;
        }
        e.children_mut()
            .into_iter()
            .for_each(|part| self.inside(part));
    }

    /// Moves reductions of a sequence from bindings to its steps; gives the bindings that are left.
    fn absorbed(
        &mut self,
        bindings: Vec<(VarId, Expr)>,
        (var, steps): (VarId, &mut Recurrence),
        unknown: &mut BTreeSet<VarId>,
    ) -> Vec<(VarId, Expr)> {
        let mut left = Vec::new();
        for (bound, mut value) in bindings {
            if let ExprKind::Recurrence(reduction) = &value.kind
                && let Some(both) = self.both((var, &*steps), (bound, reduction), unknown)
            {
                *steps = both;
                continue;
            }
            self.reductions(&mut value, (var, &mut *steps), unknown);
            unknown.extend(value.given_to(bound));
            left.push((bound, value));
        }
        left
    }

    /// Moves reductions of a sequence from an expression to its steps. Variables that are not known where the sequence is
    /// defined are collected in `unknown` on the way.
    fn reductions(
        &mut self,
        e: &mut Expr,
        (var, steps): (VarId, &mut Recurrence),
        unknown: &mut BTreeSet<VarId>,
    ) {
        if let ExprKind::Let { bindings, body } = &mut e.kind {
            let all = std::mem::take(bindings);
            *bindings = self.absorbed(all, (var, &mut *steps), unknown);
            self.reductions(body, (var, steps), unknown);
            if bindings.is_empty() {
                *e = (**body).clone();
            }
            return;
        }
        // Parts that are not always computed are left where they are.
        let certain = match (&e.kind, e.builtin()) {
            (_, Some((Builtin::And | Builtin::Or, _))) => 0..1,
            (_, Some((Builtin::Select, _))) => 1..2,
            (ExprKind::Op { .. } | ExprKind::Indexed { .. } | ExprKind::Call { .. }, _)
            | (ExprKind::Coerce(_), _) => 0..usize::MAX,
            _ => 0..0,
        };
        for (number, part) in e.children_mut().into_iter().enumerate() {
            if certain.contains(&number) {
                self.reductions(part, (var, &mut *steps), unknown);
            }
        }
    }
}
