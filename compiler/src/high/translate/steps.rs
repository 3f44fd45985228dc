//! Sequences that are computed in steps: a loop over the steps, which hands on as many earlier ones as are read.

use super::{Key, Translator};
use crate::{
    front::typed::{
        observed::Kept,
        tree::{Expr, ExprKind, Recurrence, Segment, VarId},
    },
    ir::tensor::{Base, Ty},
    ssa::Value,
};
use std::collections::BTreeMap;

/// The elements that are known: by their step, and their number in it.
type Known = BTreeMap<(i64, usize), Value>;

impl Translator<'_> {
    /// The value of a variable's definition. Of a sequence that is computed in steps only what is read of the variable is kept.
    pub(super) fn value_of(&mut self, var: VarId, value: &Expr) -> Value {
        match &value.kind {
            ExprKind::Recurrence(recurrence) => {
                let kept = self.plan.observed.kept(var, recurrence);
                self.recurrence(recurrence, kept, &Ty::of(&value.ty))
            }
            _ => self.expr(value),
        }
    }

    /// A sequence in steps. What is not kept of it is zero.
    pub(super) fn recurrence(&mut self, steps: &Recurrence, kept: Kept, ty: &Ty) -> Value {
        let mut known = Known::new();
        let before = self.env.clone();
        for (number, segment) in steps.segments.iter().enumerate() {
            match kept {
                Kept::From(from) if segment.low < segment.high => {
                    let wanted = wanted_of(steps, number, from as i64);
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
        self.in_sequence(steps, &known, ty, &mut Vec::new())
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
            self.env.insert(Key::Var(read.var), value);
        }
        let each = segment.elements.iter().map(|(var, value)| {
            let value = self.expr(value);
            self.env.insert(Key::Var(*var), value);
            value
        });
        each.collect()
    }

    /// Steps as a loop. It hands on, of each element, as many earlier ones as its steps read, or as are wanted after it.
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

    /// The elements that are known in their places.
    fn in_sequence(
        &mut self,
        steps: &Recurrence,
        known: &Known,
        ty: &Ty,
        prefix: &mut Vec<usize>,
    ) -> Value {
        match ty {
            Ty::Seq(element, n) if prefix.len() < steps.lengths.len() => {
                let parts: Vec<Value> = (0..*n)
                    .map(|at| {
                        prefix.push(at);
                        let part = self.in_sequence(steps, known, element, prefix);
                        prefix.pop();
                        part
                    })
                    .collect();
                self.base(Base::Sequence((**element).clone()), &parts)
            }
            _ => {
                let mut place = prefix.clone();
                let step = place.remove(steps.axis);
                let number = steps.places.iter().position(|p| *p == place);
                let number = steps.first + number.expect("a place of every step");
                match known.get(&(step as i64, number)) {
                    Some(value) => *value,
                    None => self.default(ty),
                }
            }
        }
    }
}

/// How many of the last steps of a segment are wanted after it, for each element: by later segments, and because all from a
/// step on are kept.
fn wanted_of(steps: &Recurrence, number: usize, kept: i64) -> Vec<usize> {
    let segment = &steps.segments[number];
    let count = segment.high - segment.low + 1;
    let from = |step: i64| (segment.high + 1 - step).clamp(0, count) as usize;
    let of_sequence = steps.first..steps.first + steps.places.len();
    let mut wanted: Vec<usize> = (0..segment.elements.len())
        .map(|element| match of_sequence.contains(&element) {
            true => from(kept),
            false => 0,
        })
        .collect();
    for later in &steps.segments[number + 1..] {
        for past in &later.past {
            let least = &mut wanted[past.element];
            *least = (*least).max(from(later.low - past.back as i64));
        }
    }
    wanted
}
