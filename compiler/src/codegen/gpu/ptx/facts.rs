//! Facts about values, with which the printer emits fewer instructions.

use super::{KnownAddress, PtxPrinter};
use crate::{
    codegen::{ends::End, gpu::kernel::Cell},
    device::{Arithmetic, Device, Op, Width},
    ir::{Simple, leaf::ImageInfo},
    low,
    ssa::{Function, Value},
};
use std::collections::HashMap;

/// Facts about values.
#[derive(Clone, Default)]
pub(super) struct Bounds {
    /// Those above a number that is not negative, and so neither NaN nor −0.
    above: HashMap<Value, f64>,
    /// Those below an end of an image.
    below: HashMap<Value, End>,
}

impl End {
    /// Whether this is the other or before it, whatever the size of the image.
    fn is_before(self, other: End) -> bool {
        (self.image, self.axis) == (other.image, other.axis) && self.margin >= other.margin
    }
}

impl PtxPrinter<'_> {
    /// Begins a method: nothing of it is computed or known.
    pub(super) fn begin(&mut self, function: &Function<Device>) {
        self.values.clear();
        self.places.clear();
        self.vectors.clear();
        self.bounds = Bounds::default();
        self.definitions.clear();
        let definitions = &mut self.definitions;
        function.each_op(&mut |op, args, results| {
            for result in results {
                definitions.insert(*result, (op.clone(), args.to_vec()));
            }
        });
    }

    /// Notes which values are above a number that is not negative where a condition holds, as positions are inside an
    /// image.
    pub(super) fn learn(&mut self, condition: Value) {
        let Some((Op::Low(op), args)) = self.definitions.get(&condition).cloned() else {
            return;
        };
        match op {
            low::Op::Simple(Simple::And) => args.iter().for_each(|&both| self.learn(both)),
            low::Op::Select(low::Ty::Bool)
                if self.is_low(args[2], |op| *op == low::Op::Bool(false)) =>
            {
                self.learn(args[0]);
                self.learn(args[1]);
            }
            low::Op::Simple(Simple::Less) => {
                if let Some(bound) = self.constant_of(args[0]).filter(|bound| *bound >= 0.0) {
                    self.bounds.above.insert(args[1], bound);
                }
                if let Some(end) = self.end_of(args[1]) {
                    self.bounds.below.insert(args[0], end);
                }
            }
            _ => {}
        }
    }

    fn is_low(&self, value: Value, is: impl Fn(&low::Op) -> bool) -> bool {
        matches!(self.definitions.get(&value), Some((Op::Low(op), _)) if is(op))
    }

    /// The condition by which a value is one of two integers, and these.
    pub(super) fn choice(&self, value: Value) -> Option<(Value, i64, i64)> {
        let (Op::Low(low::Op::Select(low::Ty::Int)), args) = self.definitions.get(&value)? else {
            return None;
        };
        let number = |value: &Value| match self.definitions.get(value) {
            Some((Op::Low(low::Op::Int(n)), _)) => Some(*n),
            _ => None,
        };
        Some((args[0], number(&args[1])?, number(&args[2])?))
    }

    fn constant_of(&self, value: Value) -> Option<f64> {
        match self.definitions.get(&value) {
            Some((Op::Low(low::Op::Real(x)), _)) => Some(x.get()),
            _ => None,
        }
    }

    /// The end of an image that a value is: a global that is one, or the size of the image less a number.
    fn end_of(&self, value: Value) -> Option<End> {
        match self.definitions.get(&value)? {
            (Op::Low(low::Op::Global(slot, _)), _) => self.ends.get(*slot),
            (Op::Low(low::Op::Simple(Simple::ToReal)), args) => match self.size_less(args[0])? {
                Cell::SizeLess(image, axis, margin) => Some(End {
                    image,
                    axis,
                    margin,
                }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a condition certainly holds: all taps of a position exist that is known to be inside an image.
    pub(super) fn holds(&self, condition: Value) -> bool {
        let Some((Op::Low(low::Op::Simple(simple)), args)) = self.definitions.get(&condition)
        else {
            return false;
        };
        match simple {
            Simple::And => args.iter().all(|&both| self.holds(both)),
            Simple::LessEqual => {
                let bound = self.bounds.above.get(&args[1]);
                let constant = self.constant_of(args[0]);
                bound.zip(constant).is_some_and(|(bound, c)| *bound >= c)
            }
            Simple::Less => {
                let end = self.end_of(args[1]);
                let below = self.bounds.below.get(&args[0]);
                end.zip(below)
                    .is_some_and(|(end, below)| below.is_before(end))
            }
            _ => false,
        }
    }

    /// Whether a value is certainly neither NaN nor −0. The machine's own minimum and maximum of such values are ours.
    pub(in crate::codegen::gpu) fn is_plain(&self, value: Value) -> bool {
        let is_constant = |x: f64| !x.is_nan() && (x != 0.0 || x.is_sign_positive());
        self.bounds.above.contains_key(&value)
            || match self.definitions.get(&value) {
                Some((Op::Low(low::Op::Real(x)), _)) => is_constant(x.get()),
                Some((Op::Low(low::Op::Simple(Simple::ToReal)), _)) => true,
                Some((Op::Arithmetic(arithmetic, Width::Real), args)) => {
                    use Arithmetic::{Floor, Max, Min};
                    matches!(arithmetic, Min | Max | Floor)
                        && args.iter().all(|&arg| self.is_plain(arg))
                }
                _ => false,
            }
    }

    /// The cell that has an integer as a real: one that is the size of an image less a number.
    pub(in crate::codegen::gpu) fn size_less(&self, value: Value) -> Option<Cell> {
        let Some((Op::Low(low::Op::Simple(Simple::IntSub)), args)) = self.definitions.get(&value)
        else {
            return None;
        };
        let [size, less] = [args[0], args[1]].map(|arg| self.definitions.get(&arg));
        match (size?, less?) {
            (
                (Op::Low(low::Op::Image(image, ImageInfo::Size(axis))), _),
                (Op::Low(low::Op::Int(n)), _),
            ) => Some(Cell::SizeLess(*image, *axis, *n)),
            _ => None,
        }
    }

    /// The place of a row of samples relative to one whose address is known: that address, and the samples between.
    pub(in crate::codegen::gpu) fn after_known(
        &self,
        place: &KnownAddress,
    ) -> Option<(String, String)> {
        let KnownAddress::Samples(offset, image, component) = place else {
            return None;
        };
        let Some((Op::Low(low::Op::Simple(Simple::IntAdd)), args)) = self.definitions.get(offset)
        else {
            return None;
        };
        let known = self
            .places
            .get(&KnownAddress::Samples(args[0], *image, *component))?;
        Some((known.clone(), self.values.get(&args[1])?.clone()))
    }
}
