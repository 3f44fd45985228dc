//! Index notation: tensors, fields and fixed sequences whose components are defined by index, `δ`, `ε`, `∂[i]`, and
//! reductions over indices.
//!
//! An index variable is an int whose range is known now, so the body of a definition is checked like any other expression.
//! What only index notation has stands in that expression as a [`StandIn`]: a variable of the right type that no program
//! has. When the body is complete the ranges of all indices are known (`ranges`), and the whole becomes one operator in
//! index notation with its arguments (`lower`), an [`ExprKind::Indexed`]. Stand-ins are gone then.

mod binders;
mod broadcast;
mod clauses;
mod coverage;
mod definition;
mod fold;
mod folded;
mod lower;
mod notation;
mod points;
mod ranges;
mod reduction;
mod steps;
mod truth;

pub(super) use clauses::clauses;
pub(super) use definition::definition;
pub(super) use notation::{component, element, partial, symbol};
pub(super) use ranges::Labels;
pub(super) use reduction::{reduced, reduction_of};

use super::{
    context::Cx,
    expr::typed,
    tree::{Expr, ExprKind, VarId, VarKind},
};
use crate::front::source::Span;
use ein_ir::{Type, ops::Reduction};
use ranges::IndexVar;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use steps::Recurrence;

/// What only index notation has, as a value of the surrounding expression.
#[derive(Clone, Debug)]
pub(super) enum StandIn {
    /// A component or part: one entry for each axis of the base, none where the axis stays.
    Component {
        base: Expr,
        indices: Vec<Option<Expr>>,
    },
    /// `∂[i, …] F`
    Partial { indices: Vec<Expr>, field: Expr },
    /// `δ[i, j]`
    Delta(Box<[Expr; 2]>),
    /// `ε[i, j]`, `ε[i, j, k]`
    Epsilon(Vec<Expr>),
    /// A reduction over indices.
    Reduced {
        reduction: Reduction,
        over: Vec<VarId>,
        body: Expr,
    },
}

impl StandIn {
    fn parts(&self) -> Vec<&Expr> {
        match self {
            StandIn::Component { base, indices } => std::iter::once(base)
                .chain(indices.iter().flatten())
                .collect(),
            StandIn::Partial { indices, field } => indices.iter().chain([field]).collect(),
            StandIn::Delta(indices) => indices.iter().collect(),
            StandIn::Epsilon(indices) => indices.iter().collect(),
            StandIn::Reduced { body, .. } => vec![body],
        }
    }
}

/// The index variables and stand-ins of a check.
#[derive(Default)]
pub(super) struct Indices {
    /// The index variables in scope, the outermost first.
    live: Vec<VarId>,
    /// Every index variable, as far as it is known so far.
    known: BTreeMap<VarId, IndexVar>,
    stand_ins: BTreeMap<VarId, Arc<StandIn>>,
    /// Indices that stand together in a δ, and so have one range.
    pairs: Vec<[VarId; 2]>,
    /// The sequence that is being defined by clauses.
    recurrence: Option<Recurrence>,
}

impl Indices {
    /// The index variables in scope, the outermost first.
    pub(super) fn live(&self) -> &[VarId] {
        &self.live
    }

    /// Whether a variable stands for something of index notation.
    pub(super) fn is_stand_in(&self, var: VarId) -> bool {
        self.stand_ins.contains_key(&var)
    }

    /// What a stand-in is made of.
    pub(super) fn parts_of(&self, var: VarId) -> Vec<&Expr> {
        self.stand_in(var).map(StandIn::parts).unwrap_or_default()
    }

    /// What a variable stands for.
    fn stand_in(&self, var: VarId) -> Option<&StandIn> {
        self.stand_ins.get(&var).map(|stand_in| &**stand_in)
    }

    fn var(&self, var: VarId) -> &IndexVar {
        &self.known[&var]
    }

    /// Whether a variable is the sequence that clauses are defining.
    fn is_being_defined(&self, var: VarId) -> bool {
        self.recurrence
            .as_ref()
            .is_some_and(|recurrence| recurrence.var == var)
    }

    /// The index variable that an expression is, if it is nothing else.
    fn bare(&self, e: &Expr) -> Option<VarId> {
        match e.kind {
            ExprKind::Var(var) if self.known.contains_key(&var) => Some(var),
            _ => None,
        }
    }

    /// Whether an expression depends on an index variable or has a stand-in.
    pub(super) fn occur_in(&self, e: &Expr) -> bool {
        match e.kind {
            ExprKind::Var(var) => {
                self.known.contains_key(&var)
                    || self.stand_ins.contains_key(&var)
                    || self.is_being_defined(var)
            }
            _ => e.any_child(|child| self.occur_in(child)),
        }
    }

    /// Whether an expression depends on index variables and on no other variable.
    pub(super) fn decide(&self, e: &Expr) -> bool {
        self.occur_in(e) && self.is_known(e)
    }

    fn is_known(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(var) => self.known.contains_key(var),
            ExprKind::Call { .. } | ExprKind::Select { .. } => false,
            _ => !e.any_child(|child| !self.is_known(child)),
        }
    }

    /// The index variables that an expression depends on and does not bind itself.
    fn free_in(&self, e: &Expr) -> BTreeSet<VarId> {
        let mut found = BTreeSet::new();
        self.add_free(e, &mut found);
        found
    }

    fn add_free(&self, e: &Expr, found: &mut BTreeSet<VarId>) {
        let ExprKind::Var(var) = e.kind else {
            return e.each_child(|child| self.add_free(child, found));
        };
        if self.known.contains_key(&var) {
            found.insert(var);
        } else if let Some(stand_in) = self.stand_in(var) {
            let mut inside = BTreeSet::new();
            for part in stand_in.parts() {
                self.add_free(part, &mut inside);
            }
            if let StandIn::Reduced { over, .. } = stand_in {
                inside.retain(|var| !over.contains(var));
            }
            found.extend(inside);
        }
    }
}

/// An expression that stands for something of index notation. Where no index variable is in scope it is complete, and
/// becomes an operator at once.
fn stand_in(
    cx: &mut Cx<'_>,
    stand_in: StandIn,
    ty: Type,
    labels: Labels,
    span: Span,
) -> Option<Expr> {
    let e = stand_in_for(cx, stand_in, ty, span);
    if let ExprKind::Var(var) = e.kind {
        cx.vars[var.0].labels = labels;
    }
    match cx.indices.live.is_empty() && cx.indices.recurrence.is_none() {
        true => lower::complete(cx, &e),
        false => Some(e),
    }
}

/// A variable that stands for something of index notation.
fn stand_in_for(cx: &mut Cx<'_>, stand_in: StandIn, ty: Type, span: Span) -> Expr {
    let var = cx.fresh("component", Some(ty.clone()), VarKind::Local, span);
    cx.vars[var.0].read = true;
    cx.indices.stand_ins.insert(var, Arc::new(stand_in));
    typed(ty, ExprKind::Var(var), span)
}

/// The name of a subscripted expression, if it has one.
pub(super) fn name_of<'c>(cx: &'c Cx<'_>, e: &Expr) -> Option<&'c str> {
    match &e.kind {
        ExprKind::Var(var) => match cx.indices.stand_in(*var) {
            Some(StandIn::Component { base, .. } | StandIn::Partial { field: base, .. }) => {
                name_of(cx, base)
            }
            Some(_) => None,
            None => Some(&cx.var(*var).name),
        },
        ExprKind::Coerce(inner) => name_of(cx, inner),
        ExprKind::Op { args, .. } if ranges::is_probe(e) => name_of(cx, &args[0]),
        _ => None,
    }
}

/// The words of messages for a subscripted expression.
fn described(cx: &Cx<'_>, e: &Expr) -> String {
    match name_of(cx, e) {
        Some(name) => format!("`{name}`"),
        None => "this expression".to_owned(),
    }
}
