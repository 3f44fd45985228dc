//! Loops over constant ranges. If the variable is a subscript of a tensor or field in the body, elaboration writes the loop out.
//!
//! The body is checked once. Subscripts that depend on variables of such loops are compared with their axes when the loops end, for all
//! values. The type of an expression can depend on the value of a variable too, as in `v[0:i]`; only then the body is checked again, once for
//! every value.

use super::{
    constant,
    context::{ConstInfo, Cx},
    flow::{Deferred, KnownLoop},
    ids::ConstId,
    restrictions,
    scope::Entity,
    subscript::{self, INDEX},
    tree::{Block, Constant, Expr, ExprKind, StmtKind, VarId, literal, value},
};
use crate::front::{
    diag::Severity,
    elaborate::unroll::turns::{Turns, each_turn, ints, values},
    syntax::ast,
};
use ein_ir::{Type, ops::Builtin};
use std::collections::BTreeSet;

/// Checks a loop by `check`, which checks its body.
pub(super) fn repeated<'a>(
    cx: &mut Cx<'a>,
    name: &'a ast::Name,
    var: VarId,
    source: Option<Expr>,
    mut check: impl FnMut(&mut Cx<'a>) -> Block,
) -> Option<StmtKind> {
    let before = cx.flow.clone();
    let Some(range) = source.as_ref().and_then(|source| known_range(cx, source)) else {
        let body = check(cx);
        // The body may not run at all, so its assignments do not count.
        cx.flow = before;
        return Some(StmtKind::Foreach {
            var,
            source: source?,
            body,
            is_unrolled: false,
        });
    };
    let source = source?;
    let (reported, complete) = (cx.diagnostics.len(), cx.indices.complete.len());
    cx.known_loops.push(KnownLoop {
        is_by_value: source.has_notation(),
        turns: Turns {
            var,
            source: range,
            is_once: false,
        },
        is_wanted: false,
        subscripts: Vec::new(),
    });
    let body = check(cx);
    let mut found = cx.known_loops.pop()?;
    let after = std::mem::replace(&mut cx.flow, before);
    found.turns.is_once = !after.is_reachable();
    let is_unrolled = found.is_wanted;
    if found.is_by_value && is_unrolled {
        if let Ok(Some(values)) = constant::evaluate(cx, &source).map(ints) {
            cx.diagnostics.truncate(reported);
            cx.indices.complete.truncate(complete);
            let copies = by_value(cx, name, values, check);
            return Some(StmtKind::ByValue {
                var,
                source,
                copies,
            });
        }
        needs_value(cx, |var| source.mentions(var));
    }
    if is_unrolled {
        match runs(cx, &found.turns.source) {
            Some(true) => cx.flow = after,
            Some(false) => {}
            None if cx.flow == after => {}
            None => needs_value(cx, |var| source.mentions(var)),
        }
        for (noted, _) in &mut cx.indices.complete[complete..] {
            noted.loops.push(found.turns.clone());
        }
    }
    compare(cx, found);
    Some(StmtKind::Foreach {
        var,
        source,
        body,
        is_unrolled,
    })
}

/// The range of a loop, if it is known here or where the variables of the loops around it are.
fn known_range(cx: &Cx<'_>, source: &Expr) -> Option<Expr> {
    let Some((Builtin::Range, _)) = source.builtin() else {
        return None;
    };
    match constant::evaluate(cx, source) {
        Ok(range) => {
            ints(range.clone())?;
            Some(literal(source.ty.clone(), range, source.span))
        }
        Err(_) => loops_of(cx, source).map(|_| source.clone()),
    }
}

/// The variables of loops that an expression depends on, if it depends on nothing else.
fn loops_of(cx: &Cx<'_>, e: &Expr) -> Option<BTreeSet<VarId>> {
    let mut found = BTreeSet::new();
    (depends_on_loops(cx, e, &mut found) && !found.is_empty()).then_some(found)
}

fn depends_on_loops(cx: &Cx<'_>, e: &Expr, found: &mut BTreeSet<VarId>) -> bool {
    match &e.kind {
        ExprKind::Var(var) => {
            let is_loop = cx.known_loops.iter().any(|known| known.turns.var == *var);
            found.extend(is_loop.then_some(*var));
            is_loop
        }
        ExprKind::Call { .. } | ExprKind::Given { .. } | ExprKind::Select { .. } => false,
        _ => !e.any_child(|child| !depends_on_loops(cx, child, found)),
    }
}

/// Whether the index of a component is known where variables of loops are, which are then wanted to be.
pub(super) fn is_component(cx: &mut Cx<'_>, index: &Expr, extent: usize, base: &Type) -> bool {
    let Some(vars) = loops_of(cx, index) else {
        return false;
    };
    for known in &mut cx.known_loops {
        known.is_wanted |= vars.contains(&known.turns.var);
    }
    defer(cx, index, base, Some(extent));
    true
}

/// Notes the place of an element: it is compared with the length where loops are unrolled.
pub(super) fn note_element(cx: &mut Cx<'_>, index: &Expr, sequence: &Type) {
    if loops_of(cx, index).is_some() {
        defer(cx, index, sequence, None);
    }
}

fn defer(cx: &mut Cx<'_>, index: &Expr, base: &Type, extent: Option<usize>) {
    if index.has_notation() {
        needs_value(cx, |var| index.mentions(var));
    }
    if let Some(innermost) = cx.known_loops.last_mut() {
        innermost.subscripts.push(Deferred {
            index: index.clone(),
            base: base.clone(),
            extent,
            within: Vec::new(),
        });
    }
}

/// Notes that something can be checked only where the variables of some loops are constants.
pub(super) fn needs_value(cx: &mut Cx<'_>, is_in: impl Fn(VarId) -> bool) {
    for known in &mut cx.known_loops {
        known.is_by_value |= is_in(known.turns.var);
    }
}

/// Whether an expression depends on indices and on no other variable. If an int depends on loops too, that is decided for each value.
pub(super) fn is_of_indices(cx: &mut Cx<'_>, e: &Expr) -> bool {
    if e.ty == Type::Int && e.has_notation() {
        needs_value(cx, |var| e.mentions(var));
    }
    e.is_of_indices()
}

/// The copies of the body of a loop, each checked where the variable is a constant.
fn by_value<'a>(
    cx: &mut Cx<'a>,
    name: &'a ast::Name,
    values: Vec<i64>,
    mut check: impl FnMut(&mut Cx<'a>) -> Block,
) -> Vec<(i64, Block)> {
    let mut copies = Vec::new();
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
        copies.push((value, check(cx)));
        cx.scopes.pop();
        let new = &cx.diagnostics[first..];
        if new.iter().any(|d| d.severity == Severity::Error) {
            break;
        }
        if copies.len() > 1 {
            // A message about every copy is reported once.
            cx.diagnostics.truncate(first);
        }
        if !cx.flow.is_reachable() {
            break;
        }
    }
    copies
}

/// Whether a loop over a range has turns; none if that depends on the loops around it.
fn runs(cx: &Cx<'_>, range: &Expr) -> Option<bool> {
    let mut around: Vec<Turns> = Vec::new();
    for known in cx.known_loops.iter().rev() {
        let is_read = |e: &Expr| e.mentions(known.turns.var);
        if is_read(range) || around.iter().any(|turns| is_read(&turns.source)) {
            around.push(known.turns.clone());
        }
    }
    let long_int = cx.options.long_int;
    let (mut some, mut none) = (false, false);
    each_turn(&around, &mut Vec::new(), long_int, &mut |given| {
        match values(range, given, long_int) {
            Some(values) if !values.is_empty() => some = true,
            _ => none = true,
        }
        !(some && none)
    });
    match (some, none) {
        (true, true) => None,
        _ => Some(some),
    }
}

/// Compares subscripts in a loop that ends with their axes, except those that depend on loops around it as well.
fn compare(cx: &mut Cx<'_>, ended: KnownLoop) {
    for mut subscript in ended.subscripts {
        if subscript.depends_on(ended.turns.var) {
            if ended.is_wanted {
                subscript.within.push(ended.turns.clone());
            } else {
                // The range of a loop in this one depends on its variable.
                if subscript.extent.is_some() {
                    constant::known_int(cx, &subscript.index, INDEX);
                }
                continue;
            }
        }
        let mut around = cx.known_loops.iter();
        let is_open = around.any(|known| subscript.depends_on(known.turns.var));
        match cx.known_loops.last_mut().filter(|_| is_open) {
            Some(innermost) => innermost.subscripts.push(subscript),
            None => compare_all(cx, &subscript),
        }
    }
}

/// Compares a subscript with its axis for all values; the first that is wrong is reported.
fn compare_all(cx: &mut Cx<'_>, subscript: &Deferred) {
    let long_int = cx.options.long_int;
    let Deferred {
        index,
        base,
        extent,
        within,
    } = subscript;
    each_turn(within, &mut Vec::new(), long_int, &mut |given| {
        let at = value::evaluate(index, given.clone(), long_int);
        match (at, extent) {
            (Ok(Constant::Int(at)), Some(extent)) => {
                subscript::component_at(cx, at, *extent, base, index.span).is_some()
            }
            (Ok(Constant::Int(at)), None) => {
                restrictions::element_at(cx, at, base, index.span).is_some()
            }
            (Err(why), Some(_)) => {
                constant::not_constant(cx, index, INDEX, why);
                false
            }
            _ => true,
        }
    });
}
