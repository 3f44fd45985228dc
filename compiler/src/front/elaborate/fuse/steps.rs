//! The steps of a sequence with those of a reduction in them.

use super::{Fusion, with_functions};
use crate::front::tree::{
    Constant, Expr, ExprKind, Past, Recurrence, Segment, Var, VarId, VarKind,
    reads::Reads,
    recurrence::{indexed, int},
};
use ein_ir::{
    Type,
    ops::{self, Builtin},
};
use std::{collections::BTreeSet, convert::Infallible};

impl Fusion<'_> {
    /// The steps of a sequence with those of a reduction in them; none if that cannot be.
    pub(super) fn both(
        &mut self,
        (var, steps): (VarId, &Recurrence),
        (reduced, reduction): (VarId, &Recurrence),
        unknown: &BTreeSet<VarId>,
    ) -> Option<Recurrence> {
        let mut called = Reads::default();
        reduction.values().for_each(|value| called.expr(value));
        called.vars.clear();
        if !with_functions(called, self.reads).is_disjoint(unknown) {
            return None;
        }
        let mut distances = BTreeSet::new();
        for segment in &reduction.segments {
            for (_, value) in &segment.elements {
                distance(value, var, (steps, segment), unknown, &mut distances)?;
            }
        }
        let ahead = *distances.last()?;
        let mut made = Vec::new();
        for own in &steps.segments {
            let mut low = own.low;
            while low <= own.high {
                let is_after = |s: &&Segment| low <= s.high + ahead;
                let other = reduction.segments.iter().find(is_after);
                let (high, other) = match other {
                    None => (own.high, None),
                    Some(s) if s.low + ahead > low => (own.high.min(s.low + ahead - 1), None),
                    Some(s) => (own.high.min(s.high + ahead), Some(s)),
                };
                let like = other.unwrap_or(&reduction.segments[0]);
                let part = Segment {
                    low,
                    high,
                    ..own.clone()
                };
                made.push(match other {
                    Some(other) => self.joined(part, (var, steps), (other, ahead))?,
                    None => waiting(part, like),
                });
                low = high + 1;
            }
        }
        let count = steps.segments[0].elements.len() + 1;
        let mut both = Recurrence {
            segments: made,
            ..steps.clone()
        };
        let main = (reduced, &reduction.main);
        let also = reduction.also.iter().map(|(var, layout)| (*var, layout));
        for (var, layout) in std::iter::once(main).chain(also) {
            let mut layout = layout.clone();
            layout.first += count;
            layout.start += ahead;
            both.also.push((var, layout));
        }
        Some(both)
    }

    /// Steps with those of a reduction that come `ahead` steps earlier.
    fn joined(
        &mut self,
        mut own: Segment,
        (var, steps): (VarId, &Recurrence),
        (other, ahead): (&Segment, i64),
    ) -> Option<Segment> {
        let count = own.elements.len() + 1;
        let (_, like) = own.elements.first()?;
        let span = like.span;
        let step = Expr {
            ty: Type::Int,
            kind: ExprKind::Var(own.index),
            span,
        };
        let step = match ahead {
            0 => step,
            _ => {
                let minus = ops::resolve("-", &[Type::Int, Type::Int]).ok()?;
                let kind = ExprKind::Constant(Constant::Int(ahead));
                let ahead = Expr {
                    kind,
                    ..step.clone()
                };
                Expr::applied(minus, vec![step, ahead], span)
            }
        };
        own.elements.push((other.index, step));
        own.past.extend(other.past.iter().map(|past| Past {
            element: count + past.element,
            ..*past
        }));
        for (element, value) in &other.elements {
            let value = self.with_elements(value, var, (steps, other, ahead), &mut own);
            own.elements.push((*element, value));
        }
        Some(own)
    }

    /// An expression with elements of steps in the place of those of the sequence.
    fn with_elements(
        &mut self,
        e: &Expr,
        var: VarId,
        (steps, other, ahead): (&Recurrence, &Segment, i64),
        own: &mut Segment,
    ) -> Expr {
        if let Some(Some((distance, element))) = place(e, var, steps, other) {
            let back = (ahead - distance) as usize;
            let same = |past: &&Past| past.back == back && past.element == element;
            let found = match (back, own.past.iter().find(same)) {
                (0, _) => own.elements[element].0,
                (_, Some(past)) => past.var,
                (_, None) => {
                    let name = format!("{}@-{back}", self.vars[var.0].name);
                    let var = VarId(self.vars.len());
                    self.vars.push(Var {
                        name,
                        ty: e.ty.clone(),
                        kind: VarKind::Local,
                        span: e.span,
                    });
                    own.past.push(Past { var, back, element });
                    var
                }
            };
            let kind = ExprKind::Var(found);
            return Expr { kind, ..e.clone() };
        }
        let made: Result<Expr, Infallible> =
            e.try_map(&mut |part| Ok(self.with_elements(part, var, (steps, other, ahead), own)));
        let Ok(made) = made;
        made
    }
}

/// Steps in which nothing is reduced yet, or no more.
fn waiting(mut own: Segment, reduction: &Segment) -> Segment {
    let nothing = |var: VarId, ty: &Type| {
        let kind = ExprKind::Constant(Constant::blank(ty));
        let (ty, span) = (ty.clone(), Default::default());
        (var, Expr { ty, kind, span })
    };
    own.elements.push(nothing(reduction.index, &Type::Int));
    let elements = reduction.elements.iter();
    own.elements
        .extend(elements.map(|(var, value)| nothing(*var, &value.ty)));
    own
}

/// Collects how many steps after its own a step of a reduction reads a sequence; none if that is not known, or if it reads
/// variables that are not known where the sequence is defined.
fn distance(
    e: &Expr,
    var: VarId,
    (steps, segment): (&Recurrence, &Segment),
    unknown: &BTreeSet<VarId>,
    found: &mut BTreeSet<i64>,
) -> Option<()> {
    match place(e, var, steps, segment) {
        Some(Some((distance, _))) => {
            found.insert(distance);
            return Some(());
        }
        Some(None) => return None,
        None => {}
    }
    if matches!(e.kind, ExprKind::Var(used) if unknown.contains(&used)) {
        return None;
    }
    let mut parts = e.children().into_iter();
    parts.try_for_each(|part| distance(part, var, (steps, segment), unknown, found))
}

/// How many steps after its own a step of a reduction reads a sequence, and which element; inside, none if that is not known.
fn place(
    e: &Expr,
    var: VarId,
    steps: &Recurrence,
    segment: &Segment,
) -> Option<Option<(i64, usize)>> {
    let (base, indices) = indexed(e);
    let ExprKind::Var(found) = base.kind else {
        return None;
    };
    let mut also = steps.also.iter();
    let layout = match found == var {
        true => &steps.main,
        false => &also.find(|(other, _)| *other == found)?.1,
    };
    let known = || {
        if indices.len() != layout.lengths.len() {
            return None;
        }
        let distance = layout.start + after_step(indices[layout.axis], segment)?;
        let others = indices.iter().enumerate();
        let others = others.filter(|(axis, _)| *axis != layout.axis);
        let place: Option<Vec<usize>> = others
            .map(|(_, index)| usize::try_from(int(index)?).ok())
            .collect();
        Some((distance, layout.number(&place?)?))
    };
    Some(known())
}

/// By how much an int is greater than the number of the step.
fn after_step(e: &Expr, segment: &Segment) -> Option<i64> {
    if let ExprKind::Var(var) = e.kind {
        return (var == segment.index).then_some(0);
    }
    if let Some(at) = int(e) {
        return (segment.low == segment.high).then(|| at - segment.low);
    }
    match e.builtin()? {
        (Builtin::IntAdd, [a, b]) => match int(b) {
            Some(n) => Some(after_step(a, segment)? + n),
            None => Some(int(a)? + after_step(b, segment)?),
        },
        (Builtin::IntSub, [a, b]) => Some(after_step(a, segment)? - int(b)?),
        _ => None,
    }
}
