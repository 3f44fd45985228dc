//! Sequences that are computed in steps: a loop over the steps, which carries as many earlier ones as are read.

use super::{Key, Translator};
use crate::{
    front::{
        limits::observed::Kept,
        tree::{Expr, ExprKind, Layout, Recurrence, Segment, VarId},
    },
    ir::tensor::{Base, Ty},
    ssa::Value,
};
use std::collections::BTreeMap;

/// The elements that are known: by their step, and their number in it.
type Known = BTreeMap<(i64, usize), Value>;

impl Translator<'_> {
    /// The value of a variable's definition. A sequence that is computed in steps keeps only the elements that are read.
    pub(super) fn value_of(&mut self, var: VarId, value: &Expr) -> Value {
        match &value.kind {
            ExprKind::Recurrence(steps) => {
                let observed = &self.plan.observed;
                let mut kept = vec![observed.kept(var, steps, &steps.main)];
                kept.extend((steps.also.iter()).map(|(var, own)| observed.kept(*var, steps, own)));
                self.recurrence(steps, &kept, &Ty::of(&value.ty))
            }
            _ => self.expr(value),
        }
    }

    /// A sequence in steps; others that are computed in the same steps are assigned to their variables. Elements that are
    /// not kept are zero.
    pub(super) fn recurrence(&mut self, steps: &Recurrence, kept: &[Kept], ty: &Ty) -> Value {
        let mut known = Known::new();
        let before = self.env.clone();
        let layouts = || std::iter::once(&steps.main).chain(steps.also.iter().map(|(_, own)| own));
        let wanted: Option<Vec<(&Layout, i64)>> = layouts()
            .zip(kept)
            .map(|(layout, kept)| match kept {
                Kept::From(from) => Some((layout, layout.start + *from as i64)),
                Kept::All(_) => None,
            })
            .collect();
        for (number, segment) in steps.segments.iter().enumerate() {
            match &wanted {
                Some(wanted) if segment.low < segment.high => {
                    let wanted = wanted_of(steps, number, wanted);
                    self.stepped(segment, &wanted, &mut known);
                }
                _ => (segment.low..=segment.high).for_each(|now| {
                    let index = self.int(now);
                    let past = |back: usize, element| known[&(now - back as i64, element)];
                    let computed = self.step(segment, index, past);
                    known.extend(((0..).zip(computed)).map(|(n, value)| ((now, n), value)));
                }),
            }
        }
        self.env = before;
        for (var, layout) in &steps.also {
            let ty = Ty::of(self.ty(*var));
            let value = self.in_sequence(layout, &known, &ty, (&mut Vec::new(), &mut None));
            self.env.insert(Key::Var(*var), value);
        }
        self.in_sequence(&steps.main, &known, ty, (&mut Vec::new(), &mut None))
    }

    /// One step: its elements from those before.
    fn step(
        &mut self,
        segment: &Segment,
        index: Value,
        past: impl Fn(usize, usize) -> Value,
    ) -> Vec<Value> {
        self.env.insert(Key::Var(segment.index), index);
        for read in &segment.past {
            let value = past(read.back, read.element);
            self.give(read.var, value);
        }
        let each = segment.elements.iter().map(|(var, value)| {
            let value = self.expr(value);
            self.give(*var, value);
            self.env[&Key::Var(*var)]
        });
        each.collect()
    }

    /// Steps as a loop. It carries, of each element, as many earlier ones as its steps read, or as are needed after it.
    fn stepped(&mut self, segment: &Segment, wanted: &[usize], known: &mut Known) {
        let mut window: Vec<(usize, usize)> = Vec::new();
        for (element, &wanted) in wanted.iter().enumerate() {
            let reads = segment.past.iter().filter(|past| past.element == element);
            let back = reads.map(|past| past.back).max().unwrap_or(0);
            window.extend((1..=back.max(wanted)).map(|back| (element, back)));
        }
        let init: Vec<Value> = window
            .iter()
            .map(|&(element, back)| {
                match known.get(&(segment.low - back as i64, element)) {
                    Some(value) => *value,
                    // It is gone when it could be read.
                    None => self.default(&Ty::of(&segment.elements[element].1.ty)),
                }
            })
            .collect();
        let (low, high) = (self.int(segment.low), self.int(segment.high));
        let open = self.b.begin_for(low, high, false, init);
        let carried: BTreeMap<(usize, usize), Value> = window
            .iter()
            .copied()
            .zip(open.carried.iter().copied())
            .collect();
        let now = self.step(segment, open.index, |back, element| {
            carried[&(element, back)]
        });
        let next = window
            .iter()
            .map(|&(element, back)| match back {
                1 => now[element],
                _ => carried[&(element, back - 1)],
            })
            .collect();
        let after = self.b.for_(open, next);
        for (&(element, back), value) in window.iter().zip(after) {
            known.insert((segment.high + 1 - back as i64, element), value);
        }
    }

    /// The elements that are known in their places, at and below a place; the others are all the same nothing.
    fn in_sequence(
        &mut self,
        layout: &Layout,
        known: &Known,
        ty: &Ty,
        (prefix, nothing): (&mut Vec<usize>, &mut Option<Value>),
    ) -> Value {
        match ty {
            Ty::Seq(element, n) if prefix.len() < layout.lengths.len() => {
                let parts: Vec<Value> = (0..*n)
                    .map(|at| {
                        prefix.push(at);
                        let part = self.in_sequence(layout, known, element, (prefix, nothing));
                        prefix.pop();
                        part
                    })
                    .collect();
                self.base(Base::Sequence((**element).clone()), &parts)
            }
            _ => {
                let mut place = prefix.clone();
                let step = layout.start + place.remove(layout.axis) as i64;
                let number = layout.number(&place).expect("a place of every step");
                match known.get(&(step, number)) {
                    Some(value) => *value,
                    None => *nothing.get_or_insert_with(|| self.default(ty)),
                }
            }
        }
    }
}

/// How many of the last steps of a segment are wanted after it, for each element: by later segments, and because all of a
/// sequence from a step on are kept.
fn wanted_of(steps: &Recurrence, number: usize, kept: &[(&Layout, i64)]) -> Vec<usize> {
    let segment = &steps.segments[number];
    let count = segment.high - segment.low + 1;
    let from = |step: i64| (segment.high + 1 - step).clamp(0, count) as usize;
    let mut wanted = vec![0; segment.elements.len()];
    for (layout, step) in kept {
        if segment.low <= layout.last() {
            let own = layout.first..layout.first + layout.places.len();
            wanted[own].fill(from(*step));
        }
    }
    for later in &steps.segments[number + 1..] {
        for past in &later.past {
            let least = &mut wanted[past.element];
            *least = (*least).max(from(later.low - past.back as i64));
        }
    }
    wanted
}
