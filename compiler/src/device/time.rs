//! The place of a time among the frames of an image: the operations of the runtime's primitive (`runtime/src/probe/time.rs`).
//!
//! Times are in intervals. Frames follow each other evenly in each: regular times have one interval, a table has one between any two
//! neighbours.

use super::{
    dialect::{Arithmetic, Op},
    expand::Expander,
};
use crate::{
    ir::{Simple, leaf::ImageInfo},
    low,
    ssa::Value,
};

/// The rounds of a search, one less: enough for as many frames as an image can have.
const LAST_ROUND: i64 = 30;

impl Expander {
    /// The place of a time among the frames of an image: the frame, the fraction and the rate.
    pub(super) fn frame(&mut self, image: u32, time: Value) -> Vec<Value> {
        let before = self.interval(image, time);
        let number = self.b.op1(Op::ToInt, &[before]);
        let begin = self.b.op1(Op::IntervalBegin(image), &[number]);
        let rate = self.b.op1(Op::IntervalRate(image), &[number]);
        let since = self.simple(Simple::Sub, &[time, begin]);
        let frames = self.simple(Simple::Mul, &[since, rate]);
        // For regular times this adds 0, which changes nothing but the sign of another 0.
        let position = self.simple(Simple::Add, &[before, frames]);
        let low = self.number(-4.0);
        let info = low::Op::Image(image, ImageInfo::Frames);
        let count = self.b.op1(Op::Low(info), &[]);
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

    /// The number of the last interval that begins at or before a time, as a real, or that of the first; this one for NaN.
    ///
    /// The search halves the intervals that are left. Their numbers are reals, which are exact.
    fn interval(&mut self, image: u32, time: Value) -> Value {
        let [zero, half, one] = [0.0, 0.5, 1.0].map(|x| self.number(x));
        let all = self.b.op1(Op::Intervals(image), &[]);
        let all = self.simple(Simple::ToReal, &[all]);
        let several = self.simple(Simple::Less, &[one, all]);
        let [first, last] = [0, LAST_ROUND].map(|n| self.int(n));
        let open = self
            .b
            .begin_for(first, last, true, vec![several, zero, all]);
        let (found, end) = (open.carried[1], open.carried[2]);
        let left = self.simple(Simple::Sub, &[end, found]);
        let ahead = self.simple(Simple::Mul, &[left, half]);
        let ahead = self.real(Arithmetic::Floor, &[ahead]);
        let middle = self.simple(Simple::Add, &[found, ahead]);
        let number = self.b.op1(Op::ToInt, &[middle]);
        let begin = self.b.op1(Op::IntervalBegin(image), &[number]);
        let has_begun = self.simple(Simple::LessEqual, &[begin, time]);
        let found = self.select(low::Ty::Real, has_begun, middle, found);
        let end = self.select(low::Ty::Real, has_begun, end, middle);
        let left = self.simple(Simple::Sub, &[end, found]);
        let goes_on = self.simple(Simple::Less, &[one, left]);
        self.b.for_(open, vec![goes_on, found, end])[1]
    }
}
