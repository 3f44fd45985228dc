//! Terms that do not have an index which the others of their sum have: the same number is added for all its values.

use super::super::{
    context::Cx,
    tree::{Expr, ExprKind, VarId},
};
use crate::front::codes;
use ein_ir::{
    Type,
    ops::{OpDef, Syntax},
};
use std::collections::BTreeSet;

/// Warns, if that is wanted, of terms in the body of a definition that do not have all indices of the left side that the other
/// terms of the same sum have.
pub(super) fn check(cx: &mut Cx<'_>, left: &[VarId], body: &Expr) {
    if !cx.options.warn.contains(&codes::BROADCAST) {
        return;
    }
    let mut sums = Vec::new();
    collect(body, &mut sums);
    for terms in sums {
        let found: Vec<BTreeSet<VarId>> = terms.iter().map(Expr::free_indices).collect();
        let in_some = |var: &VarId| found.iter().any(|own| own.contains(var));
        for (term, own) in terms.iter().zip(&found) {
            let lacks = left.iter().filter(|var| in_some(var) && !own.contains(var));
            let names: Vec<String> = lacks
                .map(|var| format!("`{}`", cx.var(*var).name))
                .collect();
            if names.is_empty() {
                continue;
            }
            let message = format!(
                "this term does not depend on {}: it is added for every value",
                names.join(", ")
            );
            cx.warning(codes::BROADCAST, term.span, message);
        }
    }
}

/// The sums in an expression: the terms of each.
fn collect(e: &Expr, sums: &mut Vec<Vec<Expr>>) {
    let mut terms = Vec::new();
    add_terms(e, &mut terms);
    for term in &terms {
        term.each_child(|part| collect(part, sums));
    }
    if terms.len() > 1 {
        sums.push(terms.into_iter().cloned().collect());
    }
}

fn add_terms<'e>(e: &'e Expr, terms: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Op { op, args } if is_sum(op.row) && e.ty != Type::Int => {
            args.iter().for_each(|arg| add_terms(arg, terms));
        }
        _ => terms.push(e),
    }
}

fn is_sum(row: &OpDef) -> bool {
    let spelled = |syntax: &Syntax| matches!(syntax.spelling(), "+" | "-");
    row.syntax.iter().any(spelled)
}
