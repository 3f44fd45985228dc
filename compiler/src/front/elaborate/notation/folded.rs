//! Reductions of sequences in steps, as sequences in steps of their accumulated values.
//!
//! They can then be fused with the steps of the sequence that they reduce (`elaborate/fuse`), which need not be kept for them.

use super::{
    builder::int,
    fold::extreme_of,
    lower::{Lowering, Slot, Slots, Stop},
    points::element_of,
};
use crate::front::{
    source::Span,
    tree::{
        Expr, ExprKind, Layout, Notation, Past, Recurrence, Segment, VarId, notation::Range,
        recurrence::searches, typed,
    },
};
use ein_ir::{
    Type,
    ops::{Reduction, spelling},
};

/// The body of a reduction in each step: in the first, and in those after it.
struct Reduced {
    first: Expr,
    next: Expr,
    /// The number of the step: in the first, and in those after it.
    numbers: [VarId; 2],
    range: Range,
}

impl Reduced {
    /// The steps in which elements are computed: at first, and then from those of the step before, which variables have.
    fn steps(
        self,
        first: Vec<(VarId, Expr)>,
        before: &[VarId],
        next: Vec<(VarId, Expr)>,
    ) -> Recurrence {
        let past = before.iter().enumerate();
        let past = past.map(|(element, &var)| Past {
            var,
            back: 1,
            element,
        });
        let low = self.range.low;
        Recurrence {
            main: Layout {
                lengths: vec![self.range.end() as usize],
                axis: 0,
                places: vec![Vec::new()],
                // The result is the last element of a step.
                first: first.len() - 1,
                start: 0,
            },
            also: Vec::new(),
            segments: vec![
                Segment {
                    low,
                    high: low,
                    index: self.numbers[0],
                    past: Vec::new(),
                    elements: first,
                },
                Segment {
                    low: low + 1,
                    high: self.range.end() - 1,
                    index: self.numbers[1],
                    past: past.collect(),
                    elements: next,
                },
            ],
        }
    }
}

impl Lowering<'_, '_> {
    /// A reduction over the steps of a sequence; none if it is another reduction, or steps cannot compute it.
    pub(super) fn folded(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        span: Span,
        slots: &Slots,
    ) -> Result<Option<Expr>, Stop> {
        let accumulates = match reduction {
            Reduction::Sum | Reduction::Mean => matches!(body.ty, Type::Tensor(_)),
            Reduction::Product | Reduction::Min | Reduction::Max => body.ty == Type::REAL,
            _ => false,
        };
        let added = match reduction {
            Reduction::Mean => Reduction::Sum,
            other => other,
        };
        let found = match accumulates {
            true => self.reduced_in_steps(added, over, body, slots)?,
            false => None,
        };
        let Some(reduced) = found else {
            return Ok(None);
        };
        let ty = body.ty.clone();
        let [begun, before, so_far] =
            ["begun", "before", "so_far"].map(|name| self.build.variable(name, &ty, span));
        let earlier = typed(ty.clone(), ExprKind::Var(before), span);
        let next = reduced.next.clone();
        let both = match added {
            Reduction::Min | Reduction::Max => extreme_of(added, earlier, next),
            Reduction::Sum => self.apply("+", vec![earlier, next], span)?,
            _ => self.apply("*", vec![earlier, next], span)?,
        };
        let first = vec![(begun, reduced.first.clone())];
        let steps = reduced.steps(first, &[before], vec![(so_far, both)]);
        let total = |this: &mut Self, total: Expr| match reduction {
            Reduction::Mean => {
                let count = over.iter().map(|&var| this.range(var).count);
                let count = count.product::<usize>() as i64;
                this.apply("/", vec![total, int(count, span)], span)
            }
            _ => Ok(total),
        };
        self.last_of(steps, ty, span, total).map(Some)
    }

    /// The place along the steps of a sequence where something is least or greatest; none if they cannot find it.
    pub(super) fn folded_place(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        span: Span,
        slots: &Slots,
    ) -> Result<Option<Expr>, Stop> {
        let (extreme, symbol) = match reduction {
            Reduction::ArgMin => (Reduction::Min, "<"),
            Reduction::ArgMax => (Reduction::Max, ">"),
            _ => return Ok(None),
        };
        if body.ty != Type::REAL {
            return Ok(None);
        }
        let Some(reduced) = self.reduced_in_steps(extreme, over, body, slots)? else {
            return Ok(None);
        };
        let mut pair = |value: &str, place: &str| {
            let value = self.build.variable(value, &Type::REAL, span);
            [value, self.build.variable(place, &Type::Int, span)]
        };
        let [begun, before, so_far] = [
            pair("first", "first_place"),
            pair("before", "place_before"),
            pair("so_far", "place"),
        ];
        let number = |var: VarId| typed(Type::Int, ExprKind::Var(var), span);
        let earlier = typed(Type::REAL, ExprKind::Var(before[0]), span);
        let next = reduced.next.clone();
        // A NaN is never the least or the greatest; as long as there are only NaNs, the place is -1.
        let nowhere = int(-1, span);
        let is_number = self.apply("==", vec![reduced.first.clone(); 2], span)?;
        let choice = vec![number(reduced.numbers[0]), is_number, nowhere];
        let first_place = self.apply(spelling::SELECT, choice, span)?;
        let is_first = self.apply("<", vec![number(before[1]), int(0, span)], span)?;
        let is_number = self.apply("==", vec![next.clone(); 2], span)?;
        let is_first = self.apply("&&", vec![is_first, is_number], span)?;
        let better = self.apply(symbol, vec![next.clone(), earlier.clone()], span)?;
        let better = self.apply("||", vec![better, is_first], span)?;
        let mut chosen = |then: Expr, otherwise: Expr| {
            self.apply(
                spelling::SELECT,
                vec![then, better.clone(), otherwise],
                span,
            )
        };
        let value = chosen(next, earlier)?;
        let place = chosen(number(reduced.numbers[1]), number(before[1]))?;
        let first = vec![(begun[0], reduced.first.clone()), (begun[1], first_place)];
        let after = vec![(so_far[0], value), (so_far[1], place)];
        let steps = reduced.steps(first, &before, after);
        self.last_of(steps, Type::Int, span, |_, place| Ok(place))
            .map(Some)
    }

    pub(super) fn apply(
        &mut self,
        spelling: &str,
        args: Vec<Expr>,
        span: Span,
    ) -> Result<Expr, Stop> {
        self.build.apply(spelling, args, None, span)
    }

    /// An expression that `made` builds from the last element of a sequence in steps.
    fn last_of(
        &mut self,
        steps: Recurrence,
        element: Type,
        span: Span,
        made: impl FnOnce(&mut Self, Expr) -> Result<Expr, Stop>,
    ) -> Result<Expr, Stop> {
        let ty = Type::Seq(Box::new(element), Some(steps.main.steps()));
        let last = int(steps.main.last(), span);
        let total = self.build.variable("total", &ty, span);
        let all = typed(ty.clone(), ExprKind::Var(total), span);
        let last = self.build.element(all, last, span)?;
        let body = Box::new(made(self, last)?);
        let steps = typed(ty, ExprKind::Recurrence(Box::new(steps)), span);
        let ty = body.ty.clone();
        let bindings = vec![(total, steps)];
        Ok(typed(ty, ExprKind::Let { bindings, body }, span))
    }

    /// What a reduction reduces in each step of a sequence that it is over; the other indices are reduced within a step.
    fn reduced_in_steps(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        slots: &Slots,
    ) -> Result<Option<Reduced>, Stop> {
        let is_elsewhere = self.build.is_in_field || self.build.own.is_some();
        let Some(var) = self.over_steps(body, over).filter(|_| !is_elsewhere) else {
            return Ok(None);
        };
        let range = self.range(var);
        // Steps are counted from 0.
        if range.count < 2 || range.low < 0 {
            return Ok(None);
        }
        let mut free = body.free_indices();
        free.retain(|var| !over.contains(var));
        self.need_values(free, slots)?;
        let others: Vec<VarId> = over.iter().copied().filter(|v| *v != var).collect();
        let value = match others.is_empty() {
            true => body.clone(),
            false => {
                let inner = Notation::Reduced {
                    reduction,
                    over: others.iter().map(|&var| self.build.binder(var)).collect(),
                    body: body.clone(),
                };
                inner.at(body.ty.clone(), body.span)
            }
        };
        let (ty, span) = (value.ty.clone(), value.span);
        let numbers = ["first", "step"].map(|name| self.build.variable(name, &Type::Int, span));
        let mut at = |number: VarId, range: Range| {
            let mut slots = slots.clone();
            slots.insert(var, Slot::Running(number, range));
            match self.nested(&[], &value, &ty, &slots) {
                Err(Stop::Unstepped) => Ok(None),
                made => made.map(Some),
            }
        };
        // The first is taken in the same way as the others, and not as a part of the whole.
        let first = at(numbers[0], Range { count: 1, ..range })?;
        let later = Range {
            low: range.low + 1,
            count: range.count - 1,
        };
        let next = at(numbers[1], later)?;
        let (Some(first), Some(next)) = (first, next) else {
            return Ok(None);
        };
        // What would have to be searched is rather written out.
        let is_other = |base: &Expr| self.steps_of(base).is_none();
        Ok(
            (!searches(&next, numbers[1], &is_other)).then_some(Reduced {
                first,
                next,
                numbers,
                range,
            }),
        )
    }

    /// The index, of some, that counts the steps of a sequence somewhere in an expression.
    fn over_steps(&self, e: &Expr, over: &[VarId]) -> Option<VarId> {
        let (base, indices) = element_of(e);
        if let Some(steps) = self.steps_of(base)
            && let Some(index) = indices.get(steps.main.axis)
        {
            let free = index.free_indices();
            return over.iter().copied().find(|var| free.contains(var));
        }
        let mut parts = e.children().into_iter();
        parts.find_map(|part| self.over_steps(part, over))
    }

    /// The steps that compute a sequence, if it is a variable that is computed in steps.
    pub(super) fn steps_of(&self, base: &Expr) -> Option<&Recurrence> {
        match base.kind {
            ExprKind::Var(var) => self.build.steps.of(var),
            _ => None,
        }
    }
}
