//! Loops over constant ranges whose variable is the index of a tensor: written out, so that it is a constant.
//!
//! A loop is first checked like any other. If a subscript of a tensor or field in it would be known if the variable were,
//! the loop is checked again, once for every value.

use super::{
    constant,
    context::{ConstInfo, Cx},
    flow::Loops,
    ids::ConstId,
    scope::Entity,
    tree::{Block, Constant, Expr, ExprKind, Stmt, StmtKind, VarId},
};
use crate::front::{diag::Severity, syntax::ast};
use ein_ir::{
    Type,
    ops::{Builtin, Meaning},
};
use std::collections::BTreeSet;

/// How many copies of its body a loop may become.
const MOST_COPIES: usize = 4096;

/// The values of a loop variable, if they are ints that are known and few enough.
pub(super) fn known_range(cx: &Cx<'_>, source: &Expr) -> Option<Vec<i64>> {
    let ExprKind::Op { op, .. } = &source.kind else {
        return None;
    };
    if op.row.meaning != Meaning::Builtin(Builtin::Range) {
        return None;
    }
    let Ok(Constant::Seq(values)) = constant::evaluate(cx, source) else {
        return None;
    };
    if values.len() > MOST_COPIES {
        return None;
    }
    let int = |value: Constant| match value {
        Constant::Int(n) => Some(n),
        _ => None,
    };
    values.into_iter().map(int).collect()
}

/// Whether a subscript would be known if the variables of loops were; then they are wanted to be.
pub(super) fn wants_values(cx: &mut Cx<'_>, index: &Expr) -> bool {
    let mut found = BTreeSet::new();
    if !depends_on_loops(&cx.unrolled, index, &mut found) || found.is_empty() {
        return false;
    }
    cx.unrolled.wanted.extend(found);
    true
}

fn depends_on_loops(loops: &Loops, e: &Expr, found: &mut BTreeSet<VarId>) -> bool {
    match &e.kind {
        ExprKind::Var(var) => {
            let is_loop = loops.variables.contains(var);
            found.extend(is_loop.then_some(*var));
            is_loop
        }
        ExprKind::Call { .. } | ExprKind::Given { .. } | ExprKind::Select { .. } => false,
        _ => e
            .children()
            .into_iter()
            .all(|child| depends_on_loops(loops, child, found)),
    }
}

/// Checks the body of a loop, `check`, as it is; then, if its variable must be a constant, once for every value. Gives the
/// statements that take the place of the loop, or the body of the loop.
pub(super) fn body<'a>(
    cx: &mut Cx<'a>,
    name: &'a ast::Name,
    var: VarId,
    values: Option<Vec<i64>>,
    mut check: impl FnMut(&mut Cx<'a>) -> Block,
) -> Result<Block, Block> {
    let Some(values) = values else {
        return Ok(check(cx));
    };
    let (before, reported) = (cx.flow.clone(), cx.diagnostics.len());
    cx.unrolled.variables.push(var);
    let checked = check(cx);
    cx.unrolled.variables.pop();
    if !cx.unrolled.wanted.remove(&var) {
        return Ok(checked);
    }
    cx.diagnostics.truncate(reported);
    cx.flow = before;
    let mut stmts = Vec::new();
    for value in values {
        cx.scopes.push(name.span);
        let id = ConstId(cx.consts.len());
        cx.consts.push(ConstInfo {
            name: name.text.clone(),
            span: name.span,
            value: Some((Type::Int, Constant::Int(value))),
            read: true,
            is_axis: false,
        });
        cx.scopes.declare(&name.text, Entity::Const(id), name.span);
        let first = cx.diagnostics.len();
        let copy = check(cx);
        cx.scopes.pop();
        stmts.push(Stmt {
            kind: StmtKind::Block(copy),
            span: name.span,
        });
        let new = &cx.diagnostics[first..];
        if new.iter().any(|d| d.severity == Severity::Error) {
            break;
        }
        if stmts.len() > 1 {
            // A message about every copy is reported once.
            cx.diagnostics.truncate(first);
        }
        if !cx.flow.is_reachable() {
            break;
        }
    }
    Err(Block { stmts })
}
