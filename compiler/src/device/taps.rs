//! Positions along the axes of an image, and the samples that their taps are.

use super::{
    dialect::{Arithmetic, Op},
    expand::Expander,
};
use crate::{
    ir::{
        Simple,
        leaf::{Convolution, ImageInfo},
    },
    low,
    ssa::Value,
};
use ein_ir::ops::Border;

/// A position along one axis.
pub(super) struct Axis {
    /// The axis.
    pub(super) number: usize,
    /// Taps along it.
    pub(super) taps: usize,
    /// The position relative to the cell.
    pub(super) fraction: Value,
    /// The first tap, if all taps exist; else the cell, moved near to the image.
    pub(super) origin: Value,
    /// Samples.
    pub(super) size: Value,
}

/// Which taps of a position have samples.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taps {
    /// All of them.
    Inside,
    /// Perhaps not all: the border says what the others are.
    Anywhere,
}

/// A tap along one axis: where its samples are, and whether it has any, if that is in question.
#[derive(Clone, Copy)]
pub(super) struct Tap {
    pub(super) index: Value,
    pub(super) is_outside: Option<Value>,
}

impl Expander {
    /// Cell and fraction of a position along an axis.
    pub(super) fn locate(
        &mut self,
        field: &Convolution,
        axis: usize,
        x: Value,
        taps: Taps,
    ) -> Axis {
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
    pub(super) fn size(&mut self, field: &Convolution, axis: usize) -> Value {
        let info = low::Op::Image(field.image, ImageInfo::Size(axis as u8));
        self.b.op1(Op::Low(info), &[])
    }

    /// `size − n` as a real number.
    pub(super) fn less(&mut self, size: Value, n: i64) -> Value {
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
    pub(super) fn tap(
        &mut self,
        field: &Convolution,
        axis: &Axis,
        number: usize,
        taps: Taps,
    ) -> Tap {
        let number = self.int(number as i64);
        self.tap_at(field, axis, number, taps)
    }

    /// A tap along an axis.
    pub(super) fn tap_at(
        &mut self,
        field: &Convolution,
        axis: &Axis,
        number: Value,
        taps: Taps,
    ) -> Tap {
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
