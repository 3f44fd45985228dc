//! Probes as arithmetic: the operations of the runtime's primitives (`runtime/src/probe`) for one position, in their order.
//!
//! The separable sum is contracted along x first, row by row, then along y, then along z. Where it would be long, the
//! slices along z are a loop, whose weights come from a table by the number of the slice. In images of several axes there
//! are two ways: one for positions whose samples all exist, and one that asks for every tap which sample it has (`taps`). Orders and
//! components that are not read are removed afterwards.

use super::{
    dialect::{Arithmetic, Op, Table},
    expand::Expander,
    taps::{Axis, Tap, Taps},
};
use crate::{
    ir::{
        Orders, Simple,
        leaf::{Convolution, ImageInfo, distinct_derivatives},
        weights::weights,
    },
    low,
    ssa::Value,
};
use ein_ir::ops::Border;

/// Taps along an axis up to which the slices of one component are written out, if no derivatives above the first are wanted.
const SHORT: usize = 4;

/// A frame that counts, and its weight.
#[derive(Clone, Copy)]
struct Frame {
    index: Value,
    weight: Value,
}

impl Frame {
    fn tap(self) -> Tap {
        Tap {
            index: self.index,
            is_outside: None,
        }
    }
}

/// Weights by order of the derivative and tap.
type Weights = Vec<Vec<Value>>;

/// A number of derivatives along each axis.
type Counts = [usize; 3];

impl Expander {
    /// The derivatives of the wanted orders at a position in index space.
    pub(super) fn probe(
        &mut self,
        field: &Convolution,
        orders: Orders,
        position: &[Value],
    ) -> Vec<Value> {
        let dim = field.dim();
        let counts = |axes: Vec<usize>| -> Counts {
            std::array::from_fn(|axis| axes.iter().filter(|&&a| a == axis).count())
        };
        let components = field.shape.size();
        let mut wanted: Vec<(usize, Counts)> = Vec::new();
        for order in orders.iter() {
            for component in 0..components {
                let derivatives = distinct_derivatives(dim, order).into_iter().map(counts);
                wanted.extend(derivatives.map(|counts| (component, counts)));
            }
        }
        let (position, time) = position.split_at(dim);
        let frames = match time {
            [] => Vec::new(),
            [below, weights @ ..] => self.frames(field, *below, weights),
        };
        let place = (position, &frames[..]);
        // In one dimension the taps are so few that a branch would take longer.
        if dim == 1 {
            return self.sums(field, orders, &wanted, place, Taps::Anywhere);
        }
        let inside = self.has_all_taps(field, position);
        let ways = [Taps::Inside, Taps::Anywhere].map(|taps| {
            self.b.open();
            let is_inside = match taps {
                Taps::Inside => self.b.op1(Op::Low(low::Op::Bool(true)), &[]),
                Taps::Anywhere => self.is_between_samples(field, position),
            };
            self.b.op(Op::Notice(field.image), &[is_inside]);
            let sums = self.sums(field, orders, &wanted, place, taps);
            self.b.close(sums)
        });
        let [then, otherwise] = ways;
        self.b.if_(inside, then, otherwise)
    }

    /// The frames that count at a time, given the last one that is not after it and their weights: the nearest ones there are.
    fn frames(&mut self, field: &Convolution, below: Value, weights: &[Value]) -> Vec<Frame> {
        let taps = weights.len() as i64;
        let frame = self.b.op1(Op::ToInt, &[below]);
        let info = low::Op::Image(field.image, ImageInfo::Frames);
        let count = self.b.op1(Op::Low(info), &[]);
        let [zero, one] = [0, 1].map(|n| self.int(n));
        let last = self.simple(Simple::IntSub, &[count, one]);
        let tap = |this: &mut Self, tap: i64| {
            let ahead = this.int(tap + 1 - taps / 2);
            let at = this.simple(Simple::IntAdd, &[frame, ahead]);
            let below = this.simple(Simple::IntLess, &[at, zero]);
            let above = this.simple(Simple::IntLess, &[last, at]);
            let at = this.select(low::Ty::Int, below, zero, at);
            this.select(low::Ty::Int, above, last, at)
        };
        let weighted = (0..).zip(weights).map(|(n, &weight)| Frame {
            index: tap(self, n),
            weight,
        });
        weighted.collect()
    }

    /// Whether a position is between the first and the last samples.
    fn is_between_samples(&mut self, field: &Convolution, position: &[Value]) -> Value {
        let zero = self.number(0.0);
        let axes = position.iter().enumerate().map(|(axis, &x)| {
            let size = self.size(field, axis);
            let last = self.less(size, 1);
            let after = self.simple(Simple::LessEqual, &[zero, x]);
            let before = self.simple(Simple::LessEqual, &[x, last]);
            self.simple(Simple::And, &[after, before])
        });
        let axes: Vec<Value> = axes.collect();
        let all = axes.into_iter();
        let all = all.reduce(|a, b| self.simple(Simple::And, &[a, b]));
        all.expect("an image has axes")
    }

    /// Whether all taps of a position exist.
    fn has_all_taps(&mut self, field: &Convolution, position: &[Value]) -> Value {
        let mut all = None;
        for (axis, &x) in position.iter().enumerate() {
            let support = field.kernels[axis].0.support as i64;
            let lowest = self.number(support as f64 - 1.0);
            let size = self.size(field, axis);
            let end = self.less(size, support);
            let after = self.simple(Simple::LessEqual, &[lowest, x]);
            let before = self.simple(Simple::Less, &[x, end]);
            let both = self.simple(Simple::And, &[after, before]);
            all = Some(match all {
                Some(others) => self.simple(Simple::And, &[others, both]),
                None => both,
            });
        }
        all.expect("an image has axes")
    }

    /// The sums over all taps.
    fn sums(
        &mut self,
        field: &Convolution,
        orders: Orders,
        wanted: &[(usize, Counts)],
        (position, frames): (&[Value], &[Frame]),
        taps: Taps,
    ) -> Vec<Value> {
        let dim = field.dim();
        let axes: Vec<Axis> = (0..dim)
            .map(|axis| self.locate(field, axis, position[axis], taps))
            .collect();
        let highest = |axis: usize| wanted.iter().map(|(_, c)| c[axis]).max().unwrap_or(0);
        let has_much = taps == Taps::Anywhere
            || axes.last().is_some_and(|axis| axis.taps > SHORT)
            || field.shape.size() > 1
            || orders.iter().any(|order| order > 1);
        let looped = dim == 3 && has_much;
        let written = if looped { 2 } else { dim };
        let weights: Vec<Weights> = (0..written)
            .map(|a| self.all_weights(field, &axes[a], highest(a)))
            .collect();
        if dim < 3 {
            return self.slice(field, &axes, &weights, (None, frames, taps), wanted);
        }
        let zero = self.number(0.0);
        let mut sums = vec![zero; wanted.len()];
        if !looped {
            for k in 0..axes[2].taps {
                let tap = self.tap(field, &axes[2], k, taps);
                let slices = self.slice(field, &axes, &weights, (Some(tap), frames, taps), wanted);
                for ((sum, slice), (_, counts)) in sums.iter_mut().zip(slices).zip(wanted) {
                    let weight = weights[2][counts[2]][k];
                    *sum = self.real(Arithmetic::Fma, &[weight, slice, *sum]);
                }
            }
            return sums;
        }
        let [first, last] = [0, axes[2].taps as i64 - 1].map(|n| self.int(n));
        let open = self.b.begin_for(first, last, false, sums);
        let along: Vec<Value> = (0..highest(2) + 1)
            .map(|order| self.weight_from_table(field, &axes[2], order, open.index))
            .collect();
        let tap = self.tap_at(field, &axes[2], open.index, taps);
        let slices = self.slice(field, &axes, &weights, (Some(tap), frames, taps), wanted);
        let next = open.carried.clone().into_iter().zip(slices).zip(wanted);
        let next = next
            .map(|((sum, slice), (_, counts))| {
                self.real(Arithmetic::Fma, &[along[counts[2]], slice, sum])
            })
            .collect();
        self.b.for_(open, next)
    }

    /// The sums over the rows of one slice, or of the whole image if it has fewer axes.
    fn slice(
        &mut self,
        field: &Convolution,
        axes: &[Axis],
        weights: &[Weights],
        (slice, frames, taps): (Option<Tap>, &[Frame], Taps),
        wanted: &[(usize, Counts)],
    ) -> Vec<Value> {
        // Rows are shared by all derivatives; equal sums are computed once, as the numbering of values finds.
        let zero = self.number(0.0);
        let mut sums = vec![zero; wanted.len()];
        let rows = axes.get(1).map_or(1, |axis| axis.taps);
        let mut starts = vec![None; frames.len().max(1)];
        for j in 0..rows {
            let row = axes.get(1).map(|axis| self.tap(field, axis, j, taps));
            let samples = match frames {
                [] => self.samples(field, axes, [row, slice, None], taps, &mut starts[0]),
                _ => {
                    let of_frames = frames.iter().zip(&mut starts).map(|(frame, start)| {
                        let place = [row, slice, Some(frame.tap())];
                        (frame.weight, self.samples(field, axes, place, taps, start))
                    });
                    let of_frames: Vec<_> = of_frames.collect();
                    self.sum_of_frames(&of_frames)
                }
            };
            for (sum, (component, counts)) in sums.iter_mut().zip(wanted) {
                let along_x = &weights[0][counts[0]];
                let samples = &samples[*component];
                let mut row = self.simple(Simple::Mul, &[along_x[0], samples[0]]);
                for (&weight, &sample) in along_x.iter().zip(samples).skip(1) {
                    row = self.real(Arithmetic::Fma, &[weight, sample, row]);
                }
                *sum = match weights.get(1) {
                    Some(along_y) => {
                        self.real(Arithmetic::Fma, &[along_y[counts[1]][j], row, *sum])
                    }
                    None => row,
                };
            }
        }
        sums
    }

    /// The samples of a row, of each component. The row before it, if all taps exist, began at `start`.
    fn samples(
        &mut self,
        field: &Convolution,
        axes: &[Axis],
        others: [Option<Tap>; 3],
        taps: Taps,
        start: &mut Option<Value>,
    ) -> Vec<Vec<Value>> {
        let (offset, outside) = self.offset(axes, others);
        if taps == Taps::Inside {
            // A row begins a row's samples after the one before.
            *start = Some(match *start {
                Some(before) => self.simple(Simple::IntAdd, &[before, axes[0].size]),
                None => self.below(offset, Some(&axes[0]), axes[0].origin),
            });
        }
        (0..field.shape.size())
            .map(|component| match *start {
                Some(start) => self.row_from(field, &axes[0], component, start),
                None => self.row(field, &axes[0], component, (offset, outside)),
            })
            .collect()
    }

    /// The sums over frames of the samples of a row, each frame with its weight.
    fn sum_of_frames(&mut self, frames: &[(Value, Vec<Vec<Value>>)]) -> Vec<Vec<Value>> {
        let (components, taps) = (frames[0].1.len(), frames[0].1[0].len());
        let mut sum = |component: usize, tap: usize| {
            let mut frames = frames
                .iter()
                .map(|(weight, row)| [*weight, row[component][tap]]);
            let first = frames.next().expect("a kernel has taps");
            let first = self.simple(Simple::Mul, &first);
            frames.fold(first, |sum, [weight, sample]| {
                self.real(Arithmetic::Fma, &[weight, sample, sum])
            })
        };
        let mut of_component = |component| (0..taps).map(|tap| sum(component, tap)).collect();
        (0..components).map(&mut of_component).collect()
    }

    /// Which row the taps along the other axes give, and whether it is outside.
    fn offset(
        &mut self,
        axes: &[Axis],
        others: [Option<Tap>; 3],
    ) -> (Option<Value>, Option<Value>) {
        let mut offset = None;
        let mut outside = None;
        // (((frame · size_z) + z) · size_y + y) · size_x, then x.
        for (tap, axis) in others.into_iter().zip(1..4).rev() {
            let Some(tap) = tap else { continue };
            let index = self.below(offset, axes.get(axis), tap.index);
            outside = self.either(outside, tap.is_outside);
            offset = Some(index);
        }
        (offset, outside)
    }

    /// The samples of a row in which all taps exist, from the first one on.
    fn row_from(
        &mut self,
        field: &Convolution,
        along: &Axis,
        component: usize,
        start: Value,
    ) -> Vec<Value> {
        let load = |ahead: usize| Op::Load {
            image: field.image,
            component: component as u32,
            ahead: ahead as u32,
        };
        (0..along.taps)
            .map(|ahead| self.b.op1(load(ahead), &[start]))
            .collect()
    }

    /// The samples of a row, which is given by its number and whether it is outside.
    fn row(
        &mut self,
        field: &Convolution,
        along: &Axis,
        component: usize,
        (offset, outside): (Option<Value>, Option<Value>),
    ) -> Vec<Value> {
        (0..along.taps)
            .map(|i| {
                let tap = self.tap(field, along, i, Taps::Anywhere);
                let at = self.below(offset, Some(along), tap.index);
                let is_outside = self.either(outside, tap.is_outside);
                let load = Op::Load {
                    image: field.image,
                    component: component as u32,
                    ahead: 0,
                };
                let sample = self.b.op1(load, &[at]);
                match (&field.border, is_outside) {
                    (Border::Constant(values), Some(is_outside)) => {
                        let constant = self.number(values[component].get());
                        self.select(low::Ty::Real, is_outside, constant, sample)
                    }
                    _ => sample,
                }
            })
            .collect()
    }

    /// `offset · size + index`, where there is an offset already.
    fn below(&mut self, offset: Option<Value>, axis: Option<&Axis>, index: Value) -> Value {
        match (offset, axis) {
            (Some(offset), Some(axis)) => {
                let first = self.simple(Simple::IntMul, &[offset, axis.size]);
                self.simple(Simple::IntAdd, &[first, index])
            }
            _ => index,
        }
    }

    fn either(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.simple(Simple::Or, &[a, b])),
            (one, other) => one.or(other),
        }
    }

    /// The weights along an axis for all derivatives up to an order.
    fn all_weights(&mut self, field: &Convolution, axis: &Axis, highest: usize) -> Weights {
        let kernel = field.kernels[axis.number];
        (0..highest + 1)
            .map(|order| {
                let taps = weights(kernel, order as u32, self.double);
                taps.iter()
                    .map(|tap| match tap[..] {
                        // A fraction is never −0, so that adding 0 to it changes nothing.
                        [0.0, 1.0] => axis.fraction,
                        _ => self.polynomial(tap.len(), axis.fraction, |e, p| e.number(tap[p])),
                    })
                    .collect()
            })
            .collect()
    }

    /// The weight of a tap along an axis that is known only by its number.
    fn weight_from_table(
        &mut self,
        field: &Convolution,
        axis: &Axis,
        order: usize,
        tap: Value,
    ) -> Value {
        let table = Table {
            kernel: field.kernels[axis.number],
            order: order as u32,
        };
        let terms = weights(table.kernel, table.order, self.double)[0].len();
        self.polynomial(terms, axis.fraction, |expander, power| {
            let coefficient = Op::Coefficient(table, power as u32);
            expander.b.op1(coefficient, &[tap])
        })
    }

    /// A polynomial with this many coefficients, by Horner's scheme.
    fn polynomial(
        &mut self,
        terms: usize,
        x: Value,
        mut coefficient: impl FnMut(&mut Expander, usize) -> Value,
    ) -> Value {
        let mut value = coefficient(self, terms - 1);
        for power in (0..terms - 1).rev() {
            let next = coefficient(self, power);
            value = self.real(Arithmetic::Fma, &[value, x, next]);
        }
        value
    }
}
