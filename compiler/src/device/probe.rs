//! Probes as arithmetic: the operations of the runtime's primitives (`runtime/src/probe`) for one position, in their order.
//!
//! The separable sum is contracted along x first, row by row, then along y, then along z. Where it would be long, the
//! slices along z are a loop, whose weights come from a table by the number of the slice. In images of several axes there
//! are two ways: one for positions whose samples all exist, and one that asks for every tap which sample it has. Orders and
//! components that are not read are removed afterwards.

use super::{
    dialect::{Arithmetic, Op, Table},
    expand::Expander,
};
use crate::{
    ir::{
        Orders, Simple,
        leaf::{Convolution, ImageInfo, TimeKernel, distinct_derivatives},
        weights::weights,
    },
    low,
    ssa::Value,
};
use ein_ir::ops::Border;

/// Taps along an axis up to which the slices of one component are written out, if no derivatives above the first are wanted.
const SHORT: usize = 4;

/// A position along one axis.
struct Axis {
    /// The axis.
    number: usize,
    /// Taps along it.
    taps: usize,
    /// The position relative to the cell.
    fraction: Value,
    /// The first tap, if all taps exist; else the cell, moved near to the image.
    origin: Value,
    /// Samples.
    size: Value,
}

/// Which taps of a position have samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taps {
    /// All of them.
    Inside,
    /// Perhaps not all: the border says what the others are.
    Anywhere,
}

/// A tap along one axis: where its samples are, and whether it has any, if that is in question.
#[derive(Clone, Copy)]
struct Tap {
    index: Value,
    is_outside: Option<Value>,
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
        let (position, frame) = position.split_at(dim);
        let frames = match frame.first() {
            Some(&frame) => self.frames(field, frame),
            None => vec![None],
        };
        // The derivatives of an order come together, of one frame after the other.
        let all = |this: &mut Self, taps| {
            let each: Vec<Vec<Value>> = frames
                .iter()
                .map(|&frame| this.sums(field, orders, &wanted, (position, frame), taps))
                .collect();
            let wanted = &wanted;
            let of_order = |order: usize| {
                let has_order = move |n: &usize| wanted[*n].1.iter().sum::<usize>() == order;
                let frames = each.iter();
                frames.flat_map(move |sums| (0..sums.len()).filter(has_order).map(|n| sums[n]))
            };
            orders.iter().flat_map(of_order).collect::<Vec<Value>>()
        };
        // In one dimension the taps are so few that a branch would take longer.
        if dim == 1 {
            return all(self, Taps::Anywhere);
        }
        let inside = self.has_all_taps(field, position);
        let ways = [Taps::Inside, Taps::Anywhere].map(|taps| {
            self.b.open();
            let sums = all(self, taps);
            self.b.close(sums)
        });
        let [then, otherwise] = ways;
        self.b.if_(inside, then, otherwise)
    }

    /// The place of a time among the frames of an image: the frame, the fraction and the rate.
    pub(super) fn frame(&mut self, image: u32, time: Value) -> Vec<Value> {
        let info = |this: &mut Self, info| this.b.op1(Op::Low(low::Op::Image(image, info)), &[]);
        let [start, rate, count] =
            [ImageInfo::Start, ImageInfo::Rate, ImageInfo::Frames].map(|i| info(self, i));
        let since = self.simple(Simple::Sub, &[time, start]);
        let position = self.simple(Simple::Mul, &[since, rate]);
        let low = self.number(-4.0);
        let high = self.less(count, -3);
        // The second operand of `min` and `max` keeps a NaN.
        let position = self.real(Arithmetic::Max, &[low, position]);
        let position = self.real(Arithmetic::Min, &[high, position]);
        let frame = self.real(Arithmetic::Floor, &[position]);
        let fraction = self.simple(Simple::Sub, &[position, frame]);
        let is_number = self.simple(Simple::Equal, &[frame, frame]);
        let zero = self.number(0.0);
        let frame = self.select(low::Ty::Real, is_number, frame, zero);
        vec![frame, fraction, rate]
    }

    /// The frames that count at a time, given the last one that is not after it: the nearest ones there are.
    fn frames(&mut self, field: &Convolution, frame: Value) -> Vec<Option<Value>> {
        let taps = field.time.map_or(0, TimeKernel::taps) as i64;
        let frame = self.b.op1(Op::ToInt, &[frame]);
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
        (0..taps).map(|n| Some(tap(self, n))).collect()
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
        (position, frame): (&[Value], Option<Value>),
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
        let frame_tap = frame.map(|index| Tap {
            index,
            is_outside: None,
        });
        let weights: Vec<Weights> = (0..written)
            .map(|a| self.all_weights(field, &axes[a], highest(a)))
            .collect();
        if dim < 3 {
            return self.slice(field, &axes, &weights, ([None, frame_tap], taps), wanted);
        }
        let zero = self.number(0.0);
        let mut sums = vec![zero; wanted.len()];
        if !looped {
            for k in 0..axes[2].taps {
                let tap = self.tap(field, &axes[2], k, taps);
                let slices = self.slice(
                    field,
                    &axes,
                    &weights,
                    ([Some(tap), frame_tap], taps),
                    wanted,
                );
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
        let slices = self.slice(
            field,
            &axes,
            &weights,
            ([Some(tap), frame_tap], taps),
            wanted,
        );
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
        ([slice, frame], taps): ([Option<Tap>; 2], Taps),
        wanted: &[(usize, Counts)],
    ) -> Vec<Value> {
        // Rows are shared by all derivatives; equal sums are computed once, as the numbering of values finds.
        let zero = self.number(0.0);
        let mut sums = vec![zero; wanted.len()];
        let rows = axes.get(1).map_or(1, |axis| axis.taps);
        let mut start = None;
        for j in 0..rows {
            let row = axes.get(1).map(|axis| self.tap(field, axis, j, taps));
            let (offset, outside) = self.offset(axes, [row, slice, frame]);
            if taps == Taps::Inside {
                // A row begins a row's samples after the one before.
                start = Some(match start {
                    Some(before) => self.simple(Simple::IntAdd, &[before, axes[0].size]),
                    None => self.below(offset, Some(&axes[0]), axes[0].origin),
                });
            }
            let components = field.shape.size();
            let samples: Vec<Vec<Value>> = (0..components)
                .map(|component| match start {
                    Some(start) => self.row_from(field, &axes[0], component, start),
                    None => self.row(field, &axes[0], component, (offset, outside)),
                })
                .collect();
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

    /// Cell and fraction of a position along an axis.
    fn locate(&mut self, field: &Convolution, axis: usize, x: Value, taps: Taps) -> Axis {
        let support = field.kernels[axis].0.support as i64;
        let size = self.size(field, axis);
        let (origin, fraction) = match &field.border {
            _ if taps == Taps::Inside => {
                let cell = self.real(Arithmetic::Floor, &[x]);
                let fraction = self.simple(Simple::Sub, &[x, cell]);
                let cell = self.b.op1(Op::ToInt, &[cell]);
                let before = self.int(support - 1);
                (self.simple(Simple::IntSub, &[cell, before]), fraction)
            }
            Border::Clamp | Border::Constant(_) => {
                let low = self.number(-(support as f64) - 1.0);
                let high = self.less(size, -support - 1);
                // The second operand of `min` and `max` keeps a NaN for the fraction, the first one loses it for the cell.
                let x = self.real(Arithmetic::Max, &[low, x]);
                let x = self.real(Arithmetic::Min, &[high, x]);
                let cell = self.real(Arithmetic::Floor, &[x]);
                let fraction = self.simple(Simple::Sub, &[x, cell]);
                // That of NaN may be anything.
                let cell = self.real(Arithmetic::Max, &[cell, low]);
                (self.b.op1(Op::ToInt, &[cell]), fraction)
            }
            Border::Mirror | Border::Wrap => self.periodic(field, size, x),
        };
        Axis {
            number: axis,
            taps: 2 * support as usize,
            fraction,
            origin,
            size,
        }
    }

    /// Samples along an axis.
    fn size(&mut self, field: &Convolution, axis: usize) -> Value {
        let info = low::Op::Image(field.image, ImageInfo::Size(axis as u8));
        self.b.op1(Op::Low(info), &[])
    }

    /// `size − n` as a real number.
    fn less(&mut self, size: Value, n: i64) -> Value {
        let n = self.int(n);
        let less = self.simple(Simple::IntSub, &[size, n]);
        self.simple(Simple::ToReal, &[less])
    }

    /// The cell within the first period, and the fraction.
    fn periodic(&mut self, field: &Convolution, size: Value, x: Value) -> (Value, Value) {
        let epsilon = if self.double {
            f64::EPSILON
        } else {
            f32::EPSILON.into()
        };
        // So far away there are no fractions, and at no number there is nothing.
        let far = self.number(0.5 / epsilon);
        let magnitude = self.real(Arithmetic::Abs, &[x]);
        let near = self.simple(Simple::LessEqual, &[magnitude, far]);
        let away = self.simple(Simple::Not, &[near]);
        self.b.op(Op::Leave, &[away]);
        let cell = self.real(Arithmetic::Floor, &[x]);
        let fraction = self.simple(Simple::Sub, &[x, cell]);
        let period = self.period(field, size);
        let length = self.simple(Simple::ToReal, &[period]);
        // The quotient may be one off, the products and differences of such integers are exact.
        let turns = self.simple(Simple::Div, &[cell, length]);
        let turns = self.real(Arithmetic::Floor, &[turns]);
        let whole = self.simple(Simple::Mul, &[turns, length]);
        let rest = self.simple(Simple::Sub, &[cell, whole]);
        let rest = self.b.op1(Op::ToInt, &[rest]);
        (self.around(rest, period), fraction)
    }

    /// After how many samples the image repeats.
    fn period(&mut self, field: &Convolution, size: Value) -> Value {
        match field.border {
            Border::Mirror => self.simple(Simple::IntAdd, &[size, size]),
            _ => size,
        }
    }

    /// An integer less than one period below or above the first one, moved into it.
    fn around(&mut self, n: Value, period: Value) -> Value {
        let zero = self.int(0);
        let below = self.simple(Simple::IntLess, &[n, zero]);
        let up = self.simple(Simple::IntAdd, &[n, period]);
        let n = self.select(low::Ty::Int, below, up, n);
        let within = self.simple(Simple::IntLess, &[n, period]);
        let down = self.simple(Simple::IntSub, &[n, period]);
        self.select(low::Ty::Int, within, n, down)
    }

    /// A tap along an axis, by its number.
    fn tap(&mut self, field: &Convolution, axis: &Axis, number: usize, taps: Taps) -> Tap {
        let number = self.int(number as i64);
        self.tap_at(field, axis, number, taps)
    }

    /// A tap along an axis.
    fn tap_at(&mut self, field: &Convolution, axis: &Axis, number: Value, taps: Taps) -> Tap {
        let zero = self.int(0);
        let one = self.int(1);
        let mut is_outside = None;
        if taps == Taps::Inside {
            let index = self.simple(Simple::IntAdd, &[axis.origin, number]);
            return Tap { index, is_outside };
        }
        let first = self.int(1 - axis.taps as i64 / 2);
        let at = self.simple(Simple::IntAdd, &[axis.origin, first]);
        let at = self.simple(Simple::IntAdd, &[at, number]);
        let last = self.simple(Simple::IntSub, &[axis.size, one]);
        let index = match &field.border {
            Border::Wrap => self.around(at, axis.size),
            Border::Mirror => {
                let period = self.period(field, axis.size);
                let at = self.around(at, period);
                let within = self.simple(Simple::IntLess, &[at, axis.size]);
                let end = self.simple(Simple::IntSub, &[period, one]);
                let back = self.simple(Simple::IntSub, &[end, at]);
                self.select(low::Ty::Int, within, at, back)
            }
            border => {
                let below = self.simple(Simple::IntLess, &[at, zero]);
                let above = self.simple(Simple::IntLess, &[last, at]);
                if matches!(border, Border::Constant(_)) {
                    is_outside = Some(self.simple(Simple::Or, &[below, above]));
                }
                let index = self.select(low::Ty::Int, below, zero, at);
                self.select(low::Ty::Int, above, last, index)
            }
        };
        Tap { index, is_outside }
    }
}
