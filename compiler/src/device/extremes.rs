//! The least and the greatest samples of boxes, by loops over the samples (`runtime/src/probe/extremes.rs`).

use super::{
    dialect::{Arithmetic, Op},
    expand::Expander,
};
use crate::{
    ir::{Simple, leaf::Convolution},
    low,
    ssa::Value,
};
use ein_ir::ops::Border;

/// A box within an image.
struct Inside {
    /// The first and the last sample along each axis.
    axes: Vec<[Value; 2]>,
    /// Whether samples of the box are beyond the image.
    leaves: Value,
    /// Whether all of them are.
    is_away: Value,
    /// Whether numbers tell where it is.
    is_box: Value,
}

impl Expander {
    /// The extremes of the samples in a box: the numbers of its first samples, then those of its last ones.
    pub(super) fn extremes(&mut self, field: &Convolution, places: &[Value]) -> Vec<Value> {
        let within = self.within(field, places);
        let is_there = self.simple(Simple::Not, &[within.is_away]);
        let is_met = self.simple(Simple::And, &[is_there, within.is_box]);
        self.b.op(Op::Notice(field.image), &[is_met]);

        let [none, least, greatest] =
            [0.0, f64::INFINITY, f64::NEG_INFINITY].map(|x| self.number(x));
        let nothing = vec![least, greatest, none];
        let mut found = self.over_samples(field, &within.axes, None, nothing.clone());
        let mut known = within.is_box;
        if let Border::Constant(values) = &field.border {
            for (found, nothing) in found.iter_mut().zip(nothing) {
                *found = self.select(low::Ty::Real, within.is_away, nothing, *found);
            }
            let values: Vec<f64> = values.iter().map(|value| value.get()).collect();
            let ends = [
                (
                    Arithmetic::Min,
                    values.iter().copied().fold(f64::INFINITY, f64::min),
                ),
                (
                    Arithmetic::Max,
                    values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                ),
            ];
            for (found, (further, constant)) in found.iter_mut().zip(ends) {
                let constant = self.number(constant);
                let both = self.real(further, &[*found, constant]);
                *found = self.select(low::Ty::Real, within.leaves, both, *found);
            }
            if !values.iter().all(|value| value.is_finite()) {
                let stays = self.simple(Simple::Not, &[within.leaves]);
                known = self.simple(Simple::And, &[known, stays]);
            }
        }
        let is_finite = self.simple(Simple::Equal, &[found[2], none]);
        let known = self.simple(Simple::And, &[known, is_finite]);
        let all = [greatest, least];
        let ends = found[..2].iter().zip(all).map(|(&end, unknown)| {
            // Zeros have one sign, whichever was met first.
            let is_zero = self.simple(Simple::Equal, &[end, none]);
            let end = self.select(low::Ty::Real, is_zero, none, end);
            self.select(low::Ty::Real, known, end, unknown)
        });
        ends.collect()
    }

    /// The part of a box in an image; all samples along an axis on which they are repeated, if the box leaves it there.
    fn within(&mut self, field: &Convolution, places: &[Value]) -> Inside {
        let dim = field.dim();
        let [zero, none] = [self.number(0.0), self.int(0)];
        let repeats = matches!(field.border, Border::Mirror | Border::Wrap);
        let [yes, no] = [true, false].map(|b| self.b.op1(Op::Low(low::Op::Bool(b)), &[]));
        let mut within = Inside {
            axes: Vec::new(),
            leaves: no,
            is_away: no,
            is_box: yes,
        };
        for axis in 0..dim {
            let [first, last] = [places[axis], places[dim + axis]];
            let size = self.size(field, axis);
            let end = self.less(size, 1);
            let is_box = self.simple(Simple::LessEqual, &[first, last]);
            within.is_box = self.simple(Simple::And, &[within.is_box, is_box]);
            let either = |this: &mut Self, [a, b]: [[Value; 2]; 2]| {
                let [a, b] = [a, b].map(|sides| this.simple(Simple::Less, &sides));
                this.simple(Simple::Or, &[a, b])
            };
            let leaves = either(self, [[first, zero], [end, last]]);
            let is_away = either(self, [[last, zero], [end, first]]);
            within.leaves = self.simple(Simple::Or, &[within.leaves, leaves]);
            within.is_away = self.simple(Simple::Or, &[within.is_away, is_away]);
            let ends = [first, last].map(|x| {
                // The first operand of `min` and `max` loses a NaN.
                let x = self.real(Arithmetic::Max, &[x, zero]);
                let x = self.real(Arithmetic::Min, &[x, end]);
                self.b.op1(Op::ToInt, &[x])
            });
            within.axes.push(match repeats {
                true => {
                    let one = self.int(1);
                    let end = self.simple(Simple::IntSub, &[size, one]);
                    let [first, last] = ends;
                    [(none, first), (end, last)]
                        .map(|(all, own)| self.select(low::Ty::Int, leaves, all, own))
                }
                false => ends,
            });
        }
        within
    }

    /// Goes over the samples of a box, axis by axis from the slowest on. `found` is the least and the greatest sample, and a number that is not 0
    /// if one is not finite.
    fn over_samples(
        &mut self,
        field: &Convolution,
        axes: &[[Value; 2]],
        row: Option<Value>,
        found: Vec<Value>,
    ) -> Vec<Value> {
        let Some((&[first, last], faster)) = axes.split_last() else {
            return self.compared(field, row.expect("an image has axes"), &found);
        };
        let open = self.b.begin_for(first, last, false, found);
        let at = match row {
            Some(row) => {
                let size = self.size(field, faster.len());
                let start = self.simple(Simple::IntMul, &[row, size]);
                self.simple(Simple::IntAdd, &[start, open.index])
            }
            None => open.index,
        };
        let next = self.over_samples(field, faster, Some(at), open.carried.clone());
        self.b.for_(open, next)
    }

    /// Compares the components of a sample with those before.
    fn compared(&mut self, field: &Convolution, at: Value, found: &[Value]) -> Vec<Value> {
        let [mut least, mut greatest, mut odd] = [found[0], found[1], found[2]];
        for component in 0..field.shape.size() {
            let load = Op::Load {
                image: field.image,
                component: component as u32,
                ahead: 0,
            };
            let sample = self.b.op1(load, &[at]);
            least = self.real(Arithmetic::Min, &[sample, least]);
            greatest = self.real(Arithmetic::Max, &[sample, greatest]);
            let difference = self.simple(Simple::Sub, &[sample, sample]);
            odd = self.simple(Simple::Add, &[odd, difference]);
        }
        vec![least, greatest, odd]
    }
}
