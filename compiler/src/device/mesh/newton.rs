//! Newton's iteration in curved cells that are not mild (`runtime/src/fem/invert.rs`).
//!
//! It ends in a solution as soon as a step shrinks as steps near a solution do. Where it ends otherwise, the strand is left to the CPU.

use super::{
    super::{
        dialect::{Arithmetic, Op},
        expand::Expander,
    },
    curved::{Map, Solution},
    judge::Judged,
};
use crate::{ir::Simple, low, ssa::Value};
use runtime::fem::recorded::{
    self, CLOSE_SQUARED, MOST_STEPS, MOST_TRIES, ROUNDED_STEP, SMALL_STEP,
};

impl Expander {
    /// A position relative to the centre that is not far from the cell: along each axis, `t` and the centre together are kept in an interval.
    fn kept(&mut self, judged: &Judged<'_>, t: &[Value], has_centre: bool) -> Vec<Value> {
        let centre = self.wide_number(judged.block.element.cell.centre());
        let [low, high] = [-0.5, 1.5].map(|x| self.wide_number(x));
        let mut kept = Vec::new();
        for &t in &t[..judged.mesh.dim()] {
            let xi = match has_centre {
                true => t,
                false => self.wide(Arithmetic::Add, &[t, centre]),
            };
            let xi = self.wide(Arithmetic::Max, &[xi, low]);
            let xi = self.wide(Arithmetic::Min, &[xi, high]);
            kept.push(self.wide(Arithmetic::Sub, &[xi, centre]));
        }
        self.padded(kept)
    }

    /// Newton's iteration from the affine estimate to rounding. Where it does not end so, the strand is left to the CPU.
    pub(super) fn newton(&mut self, judged: &Judged<'_>, map: &Map<'_>) -> Solution {
        let dim = judged.mesh.dim();
        let (x, at_centre) = (&judged.off, &judged.at_centre);
        let [error_of, product, inverted] = [
            recorded::error(),
            recorded::product(),
            recorded::inverted(dim),
        ];
        let estimate = self.repeat(&product, &[at_centre, x]);
        // In the third axis of the plane there is nothing to keep.
        let sums = estimate.iter().map(|&t| {
            let centre = self.wide_number(judged.block.element.cell.centre());
            self.wide(Arithmetic::Add, &[t, centre])
        });
        let sums: Vec<Value> = sums.collect();
        let t = self.kept(judged, &sums, true);
        let image = self.image(map, &t);
        let error = self.repeat(&error_of, &[&image[..3], x, at_centre])[0];
        let k = self.repeat(&inverted, &[&image[3..]]);
        let (yes, no) = (self.truth(true), self.truth(false));
        let zero = self.wide_number(0.0);
        let infinity = self.wide_number(f64::INFINITY);
        let none = self.int(0);
        // Whether it goes on; whether it has found a solution, and that; whether the step before is known, and its length; the least error of a
        // close image, and how many steps have been in vain since; the position, its error, image and Jacobian; the inverse in use.
        let solution = vec![zero; 12];
        let flags = vec![yes, no, no, zero, infinity, none];
        let init = [flags, solution, t, vec![error], image, k].concat();
        let [first, last] = [1, MOST_STEPS].map(|n| self.int(n));
        let open = self.b.begin_for(first, last, true, init);
        let carried = open.carried.clone();
        let &[_, _, has_before, before, least, in_vain, ..] = &carried[..] else {
            unreachable!("as many as at the beginning")
        };
        let (t, rest) = carried[18..].split_at(3);
        let (error, image, k) = (rest[0], &rest[1..13], &rest[13..]);
        let jacobian = &image[3..];
        // An image that is close, but not closer than one before.
        let close = self.wide_number(CLOSE_SQUARED);
        let is_close = self.wide(Arithmetic::LessEqual, &[error, close]);
        let is_closer = self.wide(Arithmetic::Less, &[error, least]);
        let is_next = self.both(is_close, is_closer);
        let one = self.int(1);
        let more = self.simple(Simple::IntAdd, &[in_vain, one]);
        let in_vain = self.select(low::Ty::Int, is_close, more, in_vain);
        let in_vain = self.select(low::Ty::Int, is_next, none, in_vain);
        let least = self.b.op1(Op::SelectDouble, &[is_next, error, least]);
        let two = self.int(2);
        let has_stalled = self.simple(Simple::IntEqual, &[in_vain, two]);
        let is_exact = self.wide(Arithmetic::Equal, &[error, zero]);
        let collapsed = recorded::has_collapsed(dim);
        let collapsed = self.repeat(&collapsed, &[jacobian, at_centre])[0];
        let is_flat = self.both(is_exact, collapsed);
        let gives_up = self.simple(Simple::Or, &[has_stalled, is_flat]);
        self.b.op(Op::Leave, &[gives_up]);
        // The step.
        let mut off = Vec::new();
        for axis in 0..dim {
            off.push(self.wide(Arithmetic::Sub, &[x[axis], image[axis]]));
        }
        let off = self.padded(off);
        let step = self.repeat(&product, &[k, &off]);
        let sizes: Vec<Value> = (step.iter())
            .map(|&s| self.wide(Arithmetic::Abs, &[s]))
            .collect();
        let length = self.wide(Arithmetic::Max, &[sizes[0], sizes[1]]);
        let length = self.wide(Arithmetic::Max, &[length, sizes[2]]);
        let sum = self.wide(Arithmetic::Add, &[step[0], step[1]]);
        let sum = self.wide(Arithmetic::Add, &[sum, step[2]]);
        let sum = self.wide(Arithmetic::Abs, &[sum]);
        let is_finite = self.wide(Arithmetic::Less, &[sum, infinity]);
        let is_infinite = self.not(is_finite);
        self.b.op(Op::Leave, &[is_infinite]);
        // The end.
        let rounding = self.wide_number(ROUNDED_STEP);
        let part = self.wide_number(ROUNDED_STEP / 32.0);
        let is_rounding = self.wide(Arithmetic::Less, &[length, rounding]);
        let square = self.wide(Arithmetic::Mul, &[length, length]);
        let shrunk = self.wide(Arithmetic::Mul, &[before, part]);
        let has_shrunk = self.wide(Arithmetic::Less, &[square, shrunk]);
        let is_last = self.simple(Simple::Or, &[is_rounding, has_shrunk]);
        let is_found = self.both(has_before, is_last);
        let mut end = Vec::new();
        for axis in 0..3 {
            end.push(self.wide(Arithmetic::Add, &[t[axis], step[axis]]));
        }
        let xi = self.reference_position(judged, &end);
        let mut solution = Vec::new();
        for (&new, &old) in xi.iter().chain(jacobian).zip(&carried[6..18]) {
            solution.push(self.b.op1(Op::SelectDouble, &[is_found, new, old]));
        }
        let small = self.wide_number(SMALL_STEP);
        let is_small = self.wide(Arithmetic::Less, &[length, small]);
        let goes_on = self.not(is_found);
        let moved = self.choose(
            goes_on,
            |e| e.shorten(judged, map, (t, &step, error), is_small),
            |_| [t, &[error], image].concat(),
        );
        let (next_t, next) = moved.split_at(3);
        let (next_error, next_image) = (next[0], &next[1..]);
        let part = self.wide_number(256.0);
        let quotient = self.wide(Arithmetic::Div, &[before, part]);
        let is_slow = self.wide(Arithmetic::Less, &[quotient, length]);
        let is_slow = self.both(has_before, is_slow);
        let is_long = self.not(is_small);
        let is_new = self.simple(Simple::Or, &[is_long, is_slow]);
        let k = self.choose(
            is_new,
            |e| e.repeat(&inverted, &[&next_image[3..]]),
            |_| k.to_vec(),
        );
        let flags = vec![goes_on, is_found, is_small, length, least, in_vain];
        let position = [next_t, &[next_error], next_image].concat();
        let ended = self.b.for_(open, [flags, solution, position, k].concat());
        let is_lost = self.not(ended[1]);
        self.b.op(Op::Leave, &[is_lost]);
        ended[6..18].to_vec()
    }

    /// A step of Newton's iteration, half as long as long as it does not bring the image nearer: the position, its error, image and Jacobian.
    fn shorten(
        &mut self,
        judged: &Judged<'_>,
        map: &Map<'_>,
        (t, step, error): (&[Value], &[Value], Value),
        is_small: Value,
    ) -> Vec<Value> {
        let (x, at_centre) = (&judged.off, &judged.at_centre);
        let error_of = recorded::error();
        let [first, last] = [1, MOST_TRIES].map(|n| self.int(n));
        let (yes, one) = (self.truth(true), self.wide_number(1.0));
        let zero = self.wide_number(0.0);
        let init = [vec![yes, one], vec![zero; 16]].concat();
        let open = self.b.begin_for(first, last, true, init);
        let factor = open.carried[1];
        let mut end = Vec::new();
        for (&t, &step) in t.iter().zip(step) {
            let part = self.wide(Arithmetic::Mul, &[factor, step]);
            end.push(self.wide(Arithmetic::Add, &[t, part]));
        }
        let next = self.kept(judged, &end, false);
        let image = self.image(map, &next);
        let next_error = self.repeat(&error_of, &[&image[..3], x, at_centre])[0];
        let is_nearer = self.wide(Arithmetic::Less, &[next_error, error]);
        let is_good = self.simple(Simple::Or, &[is_nearer, is_small]);
        let goes_on = self.not(is_good);
        let half = self.wide_number(0.5);
        let factor = self.wide(Arithmetic::Mul, &[factor, half]);
        let carried = [vec![goes_on, factor], next, vec![next_error], image].concat();
        let ended = self.b.for_(open, carried);
        // No part of the step was good.
        self.b.op(Op::Leave, &ended[..1]);
        ended[2..].to_vec()
    }
}
