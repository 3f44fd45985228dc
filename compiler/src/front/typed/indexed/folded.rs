//! Reductions of sequences in steps, as sequences in steps themselves: of what is accumulated so far.
//!
//! They can then become part of the steps of what they reduce (`fused.rs`), of which nothing has to be kept for them.

use super::{
    super::{
        context::Place,
        expr::{literal, typed},
        overload,
        recurrence::searches,
        tree::{Constant, Expr, ExprKind, Layout, Past, Recurrence, Segment, VarId},
    },
    StandIn,
    fold::extreme_of,
    lower::{Lowering, Slot, Slots, Stop},
    ranges::Range,
    stand_in_for,
    steps::variable,
};
use ein_ir::{
    Type,
    ops::{Reduction, spelling},
};

impl Lowering<'_, '_> {
    /// A reduction over the steps of a sequence; none if it is another reduction, or steps cannot compute it.
    pub(super) fn folded(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        e: &Expr,
        slots: &Slots,
    ) -> Result<Option<Expr>, Stop> {
        let accumulates = match reduction {
            Reduction::Sum | Reduction::Mean => matches!(body.ty, Type::Tensor(_)),
            Reduction::Product | Reduction::Min | Reduction::Max => body.ty == Type::REAL,
            _ => false,
        };
        let is_elsewhere =
            self.cx.place == Place::FieldFunction || self.cx.indices.recurrence.is_some();
        if !accumulates || is_elsewhere {
            return Ok(None);
        }
        let Some(var) = self.over_steps(body, over) else {
            return Ok(None);
        };
        let range = self.range(var);
        if range.count < 2 {
            return Ok(None);
        }
        let mut free = self.cx.indices.free_in(body);
        free.retain(|var| !over.contains(var));
        self.need_values(free, slots)?;
        let count: usize = over.iter().map(|&var| self.range(var).count).product();
        let others: Vec<VarId> = over.iter().copied().filter(|v| *v != var).collect();
        let added = match reduction {
            Reduction::Mean => Reduction::Sum,
            other => other,
        };
        let value = match others.is_empty() {
            true => body.clone(),
            false => {
                let inner = StandIn::Reduced {
                    reduction: added,
                    over: others,
                    body: body.clone(),
                };
                stand_in_for(self.cx, inner, body.ty.clone(), body.span)
            }
        };
        let made = match self.accumulated(added, &value, (var, range), slots) {
            Err(Stop::Unstepped) => return Ok(None),
            made => made?,
        };
        let Some(steps) = made else { return Ok(None) };
        let span = e.span;
        let ty = Type::Seq(Box::new(body.ty.clone()), Some(steps.main.steps()));
        let last = literal(Type::Int, Constant::Int(steps.main.last()), span);
        let total = variable(self.cx, "total", &ty, span);
        let steps = typed(ty.clone(), ExprKind::Recurrence(Box::new(steps)), span);
        let all = typed(ty, ExprKind::Var(total), span);
        let mut apply = |spelling: &str, args: Vec<Expr>| {
            overload::apply(self.cx, spelling, span, args, None, span).ok_or(Stop::Failed)
        };
        let mut value = apply(spelling::ELEMENT, vec![all, last])?;
        if reduction == Reduction::Mean {
            let count = literal(Type::Int, Constant::Int(count as i64), span);
            value = apply("/", vec![value, count])?;
        }
        let kind = ExprKind::Let {
            bindings: vec![(total, steps)],
            body: Box::new(value),
        };
        Ok(Some(typed(body.ty.clone(), kind, span)))
    }

    /// The steps of what is accumulated: at first the first value, then each with those before it.
    fn accumulated(
        &mut self,
        reduction: Reduction,
        value: &Expr,
        (var, range): (VarId, Range),
        slots: &Slots,
    ) -> Result<Option<Recurrence>, Stop> {
        let (ty, span) = (value.ty.clone(), value.span);
        let [index, step] = ["first", "step"].map(|name| variable(self.cx, name, &Type::Int, span));
        let later = Range {
            low: range.low + 1,
            count: range.count - 1,
        };
        let mut at = |slot: Slot| {
            let mut slots = slots.clone();
            slots.insert(var, slot);
            self.nested(&[], value, &ty, &slots)
        };
        // The first is taken in the same way as the others, and not as a part of the whole.
        let alone = Range { count: 1, ..range };
        let first = at(Slot::Running(index, alone))?;
        let next = at(Slot::Running(step, later))?;
        // What would have to be searched is rather written out.
        let is_other = |base: &Expr| match base.kind {
            ExprKind::Var(var) => self.cx.history.steps(var).is_none(),
            _ => true,
        };
        if searches(&next, step, &is_other) {
            return Ok(None);
        }
        let [begun, before, so_far] =
            ["begun", "before", "so_far"].map(|name| variable(self.cx, name, &ty, span));
        let earlier = typed(ty, ExprKind::Var(before), span);
        let both = match reduction {
            Reduction::Min | Reduction::Max => extreme_of(reduction, earlier, next),
            _ => {
                let symbol = if reduction == Reduction::Sum {
                    "+"
                } else {
                    "*"
                };
                let args = vec![earlier, next];
                overload::apply(self.cx, symbol, span, args, None, span).ok_or(Stop::Failed)?
            }
        };
        let past = Past {
            var: before,
            back: 1,
            element: 0,
        };
        Ok(Some(Recurrence {
            main: Layout {
                lengths: vec![range.end() as usize],
                axis: 0,
                places: vec![Vec::new()],
                first: 0,
                start: 0,
            },
            also: Vec::new(),
            segments: vec![
                Segment {
                    low: range.low,
                    high: range.low,
                    index,
                    past: Vec::new(),
                    elements: vec![(begun, first)],
                },
                Segment {
                    low: later.low,
                    high: later.end() - 1,
                    index: step,
                    past: vec![past],
                    elements: vec![(so_far, both)],
                },
            ],
        }))
    }

    /// The index, of some, that counts the steps of a sequence somewhere in an expression.
    fn over_steps(&self, e: &Expr, over: &[VarId]) -> Option<VarId> {
        let (base, indices) = self.element_of(e);
        if let Some(steps) = self.steps_of(&base)
            && let Some(index) = indices.get(steps.main.axis)
        {
            let free = self.cx.indices.free_in(index);
            return over.iter().copied().find(|var| free.contains(var));
        }
        let parts = match e.kind {
            ExprKind::Var(var) => self.cx.indices.parts_of(var),
            _ => e.children(),
        };
        parts
            .into_iter()
            .find_map(|part| self.over_steps(part, over))
    }

    /// The steps that compute a sequence, if it is a variable that is computed in steps.
    pub(super) fn steps_of(&self, base: &Expr) -> Option<&Recurrence> {
        match base.kind {
            ExprKind::Var(var) => self.cx.history.steps(var),
            _ => None,
        }
    }
}
