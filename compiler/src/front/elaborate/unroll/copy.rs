//! Copies of code where variables of loops are constants.

use super::turns::Given;
use crate::front::{
    source::Span,
    tree::{
        Block, Constant, Expr, ExprKind, StmtKind, Var, VarId, convert::coerce, value::evaluate,
    },
};
use ein_ir::ops::{Border, Builtin, Fixed, Form, Instance, Meaning};
use std::collections::BTreeMap;

/// Puts the values of variables in their places.
pub(super) fn give(e: &mut Expr, given: &Given) {
    if let ExprKind::Var(var) = e.kind
        && let Some((_, value)) = given.iter().find(|(known, _)| *known == var)
    {
        e.kind = ExprKind::Constant(value.clone());
    }
    for part in e.children_mut() {
        give(part, given);
    }
}

/// The same as if the values stood in the text: conversions of constants are constants, and so are parts of operators that have to be.
pub(crate) fn settle(e: &mut Expr, given: &Given, long_int: bool) {
    give(e, given);
    fold(e, long_int);
}

fn fold(e: &mut Expr, long_int: bool) {
    for part in e.children_mut() {
        fold(part, long_int);
    }
    match &mut e.kind {
        ExprKind::Coerce(inner) if matches!(inner.kind, ExprKind::Constant(_)) => {
            e.kind = coerce((**inner).clone(), &e.ty).kind;
        }
        ExprKind::Op { op, args } => fold_operator(op, args, long_int),
        _ => {}
    }
}

/// An exponent that is a known int is part of the operator; the place of an element and the value outside of an image are constants if
/// they are known.
fn fold_operator(op: &mut Instance, args: &mut Vec<Expr>, long_int: bool) {
    let [_, last] = &mut args[..] else {
        return;
    };
    let known = || evaluate(last, Vec::new(), long_int);
    match op.row.meaning {
        Meaning::Form(Form::Power) if op.fixed == Fixed::Nothing => {
            if let Ok(Constant::Int(n)) = known()
                && let Ok(n) = i32::try_from(n)
            {
                *op = op.clone().with_exponent(n);
                args.truncate(1);
            }
        }
        Meaning::Builtin(Builtin::Element | Builtin::Border(Border::Constant(()))) => {
            if let Ok(value) = known() {
                last.kind = ExprKind::Constant(value);
            }
        }
        _ => {}
    }
}

/// Copies the body of a loop. Each copy has variables of its own.
pub(super) struct Copying<'v> {
    vars: &'v mut Vec<Var>,
    /// The place of the loop, where its variables are declared.
    place: Span,
    /// The variables of the copy.
    own: BTreeMap<VarId, VarId>,
    given: Given,
    long_int: bool,
}

impl Copying<'_> {
    /// A copy of the body of a loop at a place, where its variable has a value.
    pub(super) fn of(
        body: &Block,
        (var, value): (VarId, i64),
        place: Span,
        vars: &mut Vec<Var>,
        long_int: bool,
    ) -> Block {
        let mut copying = Copying {
            vars,
            place,
            own: BTreeMap::new(),
            given: vec![(var, Constant::Int(value))],
            long_int,
        };
        let mut copy = body.clone();
        copying.block(&mut copy);
        copy
    }

    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            if let StmtKind::Decl { var, .. }
            | StmtKind::Assign { var, .. }
            | StmtKind::Foreach { var, .. } = &mut stmt.kind
            {
                *var = self.own(*var);
            }
            for e in stmt.expressions_mut() {
                settle(e, &self.given, self.long_int);
                self.rename(e);
            }
            for inner in stmt.blocks_mut() {
                self.block(inner);
            }
        }
    }

    fn rename(&mut self, e: &mut Expr) {
        for part in e.children_mut() {
            self.rename(part);
        }
        for var in e.vars_mut() {
            *var = self.own(*var);
        }
    }

    fn own(&mut self, var: VarId) -> VarId {
        let declared = &self.vars[var.0];
        let is_inside =
            self.place.start <= declared.span.start && declared.span.end <= self.place.end;
        if !is_inside {
            return var;
        }
        *self.own.entry(var).or_insert_with(|| {
            let copy = self.vars[var.0].clone();
            self.vars.push(copy);
            VarId(self.vars.len() - 1)
        })
    }
}
