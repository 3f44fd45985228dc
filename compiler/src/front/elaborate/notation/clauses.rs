//! Sequences by clauses: the order in which their elements are computed.
//!
//! Elements are computed in the first order in which whatever is read was computed before: in the order of their places, if that is
//! one, else with other axes first, or backward along axes.

use super::{
    builder::Builder,
    lower::{Slots, Stop},
    orders::orders,
    own::Own,
    steps::{Sequence, WRITTEN_OUT, stepped, written_out},
};
use crate::front::{
    codes,
    diag::Diagnostic,
    tree::{
        Expr, ExprKind, Notation, VarId,
        notation::{Clause, sequence_axes, shown},
        recurrence::MOST_ELEMENTS,
    },
};

impl Builder<'_> {
    /// The sequence that clauses define, where the indices around it are these.
    pub(super) fn sequence(
        &mut self,
        itself: VarId,
        clauses: &[Clause],
        e: &Expr,
        outside: &Slots,
    ) -> Result<Expr, Stop> {
        let (lengths, element) = sequence_axes(&e.ty);
        let outer = self.own.replace(Own::new(itself, lengths.clone()));
        let mut clauses = clauses.to_vec();
        for clause in &mut clauses {
            self.definitions(&mut clause.body);
        }
        let name = self.name(itself).to_owned();
        let made = self.elements_of(&Sequence {
            clauses: &clauses,
            lengths: &lengths,
            name: &name,
            declared: &e.ty,
            element,
            outside,
            span: e.span,
        });
        self.own = outer;
        made
    }

    /// Completes the definitions in the body of a clause that do not depend on its place, so that elements share them.
    fn definitions(&mut self, body: &mut Expr) {
        if let ExprKind::Let { bindings, .. } = &mut body.kind {
            for (var, value) in bindings {
                let defines = matches!(
                    value.notation(),
                    Some(Notation::Definition { .. } | Notation::Clauses { .. })
                );
                if defines && value.free_indices().is_empty() && !reads_sequence(value) {
                    if let Ok(made) = self.complete(value) {
                        *value = made;
                    }
                    self.steps.record(*var, value);
                }
            }
        }
    }

    /// All elements, in the first order of the axes in which each reads only earlier ones: in steps if they are much work,
    /// else written out.
    fn elements_of(&mut self, what: &Sequence<'_>) -> Result<Expr, Stop> {
        let size = self.own.as_ref().ok_or(Stop::Failed)?.size();
        let mut first = None;
        for order in orders(what.lengths.len()) {
            let steps = what.lengths[order.axes[0]];
            let width = size / steps;
            let reported = self.found.len();
            let is_short = what.is_short(steps);
            let stepped = match !is_short && width <= MOST_ELEMENTS {
                true => stepped(self, what, &order),
                false => Err(Stop::Unstepped),
            };
            let made = match stepped {
                // What cannot be computed in steps is looked at element by element.
                Err(_) if size <= WRITTEN_OUT => {
                    self.found.truncate(reported);
                    written_out(self, what, &order)
                }
                Err(Stop::Unstepped) if size <= MOST_ELEMENTS => written_out(self, what, &order),
                made => made,
            };
            let own = self.own.as_mut().ok_or(Stop::Failed)?;
            let is_backward = order.backward.contains(&true);
            match made {
                Ok(_) if is_backward && size > MOST_ELEMENTS => {
                    let message =
                        format!("`{}` is too large to be computed from its end", what.name);
                    let error = Diagnostic::error(codes::TOO_LARGE, what.span, message).hint(format!(
                        "all its elements are kept, at most {MOST_ELEMENTS}; one that is computed from its beginning can have more"
                    ));
                    return Err(self.report(error));
                }
                Ok(made) => return Ok(made),
                Err(Stop::Unstepped) if is_backward => {}
                Err(Stop::Unstepped) => {
                    let message = format!("`{}` is too large to be written out", what.name);
                    let error = Diagnostic::error(codes::TOO_LARGE, what.span, message).hint(format!(
                        "a sequence of more than {MOST_ELEMENTS} elements is computed in steps, of at most as many elements each; the index of a step can be the place in a sequence, or a number, but not an index of a tensor"
                    ));
                    return Err(self.report(error));
                }
                Err(stop @ (Stop::Values | Stop::Failed)) => {
                    let early = own.early.take().ok_or(stop)?;
                    first.get_or_insert((early, own.here.clone()));
                }
            }
        }
        let ((read, at), here) = first.ok_or(Stop::Failed)?;
        let message = format!(
            "`{name}{}` reads `{name}{}`, which is not computed yet",
            shown(&here),
            shown(&read),
            name = what.name,
        );
        let error = Diagnostic::error(codes::CLAUSE_ORDER, at, message)
            .hint("elements are computed along each axis from its first place to its last or from its last to its first; each can read those before it");
        Err(self.report(error))
    }
}

/// Whether an expression reads a sequence that is being defined around it.
fn reads_sequence(e: &Expr) -> bool {
    fn outer(e: &Expr, inner: &mut Vec<VarId>) -> bool {
        match e.notation() {
            Some(Notation::Itself(var)) => !inner.contains(var),
            Some(Notation::Clauses { itself, clauses }) => {
                inner.push(*itself);
                let found = clauses.iter().any(|clause| outer(&clause.body, inner));
                inner.pop();
                found
            }
            _ => e.any_child(|child| outer(child, inner)),
        }
    }
    outer(e, &mut Vec::new())
}
