//! Ranges of fields in boxes: intervals that contain all values, from the samples that these are made of.
//!
//! ```text
//! cᵢ, hᵢ                                                  the middle and half the length of the box along axis i of index space
//! ε                                                       more than positions in index space are rounded by
//! least, greatest = extremes F(⌊cᵢ − hᵢ − ε⌋ + 1 − sᵢ … ⌊cᵢ + hᵢ + ε⌋ + sᵢ)        s: supports of the kernels
//! range = least − m … greatest + m                        m = overshoot · (greatest − least)/2 + error · max(|least|, |greatest|)
//! ```

use super::Translator;
use crate::{
    high::Op,
    ir::{
        Simple,
        leaf::{Convolution, ImageInfo, Leaf},
        tensor::{Base, Ty},
        weights::pieces,
    },
    ssa::Value,
};
use ein_ir::{Ein, Elementary, Index, Rational, Term, rational};
use runtime::{
    probe::{KernelPieces, Spread},
    simd::Real,
};
use std::sync::Arc;

/// Boxes are larger by this part of a sample on each side, and by this part of the numbers that give a position in index space, so that it
/// does not matter how positions on their faces are rounded.
const MARGIN: f64 = 1.0 / 64.0;
const ROUNDING: f64 = 1e-6;
/// Samples of greater magnitude have no bounds: sums of them could overflow.
const GREATEST: f64 = 1e36;
/// An error that no product of small samples exceeds.
const LEAST: f64 = 1e-36;

impl Translator<'_> {
    /// An interval that contains the values of a field in the box with these corners.
    pub(super) fn range_in_box(&mut self, field: Value, corners: [Value; 2]) -> Value {
        let [low, high] = match self.b.definition(field) {
            Some((Op::Field(Leaf::Convolution(leaf)), _)) if leaf.time.is_none() => {
                self.range_of_leaf(&leaf, corners)
            }
            _ => None,
        }
        .unwrap_or_else(|| self.all_numbers());
        self.base(Base::Sequence(Ty::REAL), &[low, high])
    }

    fn all_numbers(&mut self) -> [Value; 2] {
        [f64::NEG_INFINITY, f64::INFINITY].map(|x| self.real(x))
    }

    /// The ends of the interval for an image that is convolved with kernels; none if their weights have no bounds.
    fn range_of_leaf(
        &mut self,
        leaf: &Arc<Convolution>,
        corners: [Value; 2],
    ) -> Option<[Value; 2]> {
        let kernels: Vec<KernelPieces> = leaf.kernels.iter().map(|k| pieces(*k)).collect();
        // The bounds for single precision are right in double precision, too.
        let [overshoot, error] = Spread::new(&kernels, Real::F32)?.margins();
        let places = [false, true].map(|is_last| {
            let axes = (0..leaf.dim()).map(|axis| self.sample_number(leaf, axis, corners, is_last));
            axes.collect::<Vec<Value>>()
        });
        let extremes = Op::Base(Base::Extremes(leaf.clone()));
        let found = self.b.op(extremes, &places.concat());
        let [least, greatest] = [found[0], found[1]];

        let zero = self.real(0.0);
        let [below, above] = [least, greatest].map(|x| {
            let negated = self.scalar(Simple::Sub, zero, x);
            self.greater(x, negated)
        });
        let magnitude = self.greater(below, above);
        let bent = self.scalar(Simple::Sub, greatest, least);
        // The margin is rounded, too.
        let bent = self.scaled(bent, 0.5 * overshoot * (1.0 + 1e-6));
        let rounded = self.scaled(magnitude, error + 1e-6);
        let tiny = self.real(LEAST);
        let rounded = self.scalar(Simple::Add, rounded, tiny);
        // Zeros are not rounded.
        let is_zero = self.scalar(Simple::Equal, magnitude, zero);
        let rounded = self.base(Base::Select(Ty::REAL), &[is_zero, zero, rounded]);
        let margin = self.scalar(Simple::Add, bent, rounded);

        let limit = self.real(GREATEST);
        let is_bounded = self.scalar(Simple::LessEqual, magnitude, limit);
        let [low, high] = self.all_numbers();
        let ends = [(Simple::Sub, least, low), (Simple::Add, greatest, high)];
        Some(ends.map(|(away, extreme, unknown)| {
            let end = self.scalar(away, extreme, margin);
            self.base(Base::Select(Ty::REAL), &[is_bounded, end, unknown])
        }))
    }

    /// The number of the first or of the last sample along an axis that a value in a box depends on.
    fn sample_number(
        &mut self,
        leaf: &Convolution,
        axis: usize,
        corners: [Value; 2],
        is_last: bool,
    ) -> Value {
        let dim = leaf.dim();
        let entry = |t: &mut Self, info| t.base(Base::Image(leaf.image, info), &[]);
        let mut args = corners.to_vec();
        args.push(entry(self, ImageInfo::Offset(axis as u8)));
        let number = |x: f64| Term::Const(rational::from_f64(x).expect("a finite number"));
        let half = || Term::Const(Rational::new(1, 2));
        let scalar = |param| Term::Access {
            param,
            indices: vec![],
        };
        let size = |term: Term| Term::Apply(Elementary::Abs, vec![term]);
        let (mut middle, mut length) = (vec![scalar(2)], vec![]);
        let mut sizes = vec![size(scalar(2))];
        for column in 0..dim {
            args.push(entry(self, ImageInfo::ToIndex(axis as u8, column as u8)));
            let [a, b] = [0, 1].map(|param| Term::Access {
                param,
                indices: match dim {
                    1 => vec![],
                    _ => vec![Index::Const(column)],
                },
            });
            for end in [&a, &b] {
                sizes.push(size(Term::Mul(vec![scalar(3 + column), end.clone()])));
            }
            let sum = Term::Add(vec![a.clone(), b.clone()]);
            let difference = Term::Sub(Box::new(b), Box::new(a));
            let along = Term::Mul(vec![scalar(3 + column), difference]);
            middle.push(Term::Mul(vec![half(), scalar(3 + column), sum]));
            length.push(size(along));
        }
        let half_length = Term::Mul(vec![half(), Term::Add(length)]);
        let rounded = Term::Mul(vec![number(ROUNDING), Term::Add(sizes)]);
        let away = Box::new(Term::Add(vec![half_length, number(MARGIN), rounded]));
        let middle = Box::new(Term::Add(middle));
        let support = leaf.kernels[axis].0.support as f64;
        let (place, beyond) = match is_last {
            true => (Term::Add(vec![*middle, *away]), support),
            false => (Term::Sub(middle, away), 1.0 - support),
        };
        let cell = Term::Apply(Elementary::Floor, vec![place]);
        let ein = Ein {
            params: vec![],
            axes: vec![],
            body: Term::Add(vec![cell, number(beyond)]),
        };
        self.ein(ein, &args)
    }

    fn scalar(&mut self, simple: Simple, a: Value, b: Value) -> Value {
        self.base(Base::Simple(simple), &[a, b])
    }

    fn scaled(&mut self, x: Value, factor: f64) -> Value {
        let factor = self.real(factor);
        self.scalar(Simple::Mul, x, factor)
    }

    fn greater(&mut self, a: Value, b: Value) -> Value {
        let is_less = self.scalar(Simple::Less, a, b);
        self.base(Base::Select(Ty::REAL), &[is_less, b, a])
    }
}
