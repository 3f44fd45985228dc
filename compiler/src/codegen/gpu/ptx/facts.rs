//! What is known of values where they are printed, so that they take fewer instructions.

use super::{Place, Printer};
use crate::{
    codegen::gpu::kernel::Cell,
    device::{Arithmetic, Device, Op, Width},
    ir::{Simple, leaf::ImageInfo},
    low,
    ssa::{Function, Value},
};

impl Printer<'_> {
    /// Begins a method: nothing of it is computed or known.
    pub(super) fn begin(&mut self, function: &Function<Device>) {
        self.values.clear();
        self.places.clear();
        self.vectors.clear();
        self.above.clear();
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
                    self.above.insert(args[1], bound);
                }
            }
            _ => {}
        }
    }

    fn is_low(&self, value: Value, is: impl Fn(&low::Op) -> bool) -> bool {
        matches!(self.definitions.get(&value), Some((Op::Low(op), _)) if is(op))
    }

    fn constant_of(&self, value: Value) -> Option<f64> {
        match self.definitions.get(&value) {
            Some((Op::Low(low::Op::Real(x)), _)) => Some(x.get()),
            _ => None,
        }
    }

    /// Whether a value is certainly not below a constant.
    pub(in crate::codegen::gpu) fn is_above(&self, value: Value, constant: Value) -> bool {
        let bound = self.above.get(&value);
        bound
            .zip(self.constant_of(constant))
            .is_some_and(|(bound, c)| *bound >= c)
    }

    /// Whether a value is certainly neither NaN nor −0. The machine's own minimum and maximum of such values are ours.
    pub(in crate::codegen::gpu) fn is_plain(&self, value: Value) -> bool {
        let is_constant = |x: f64| !x.is_nan() && (x != 0.0 || x.is_sign_positive());
        self.above.contains_key(&value)
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

    /// Where a row of samples lies relative to one whose address is known: that address, and the samples between.
    pub(in crate::codegen::gpu) fn after_known(&self, place: &Place) -> Option<(String, String)> {
        let Place::Samples(offset, image, component) = place else {
            return None;
        };
        let Some((Op::Low(low::Op::Simple(Simple::IntAdd)), args)) = self.definitions.get(offset)
        else {
            return None;
        };
        let known = self
            .places
            .get(&Place::Samples(args[0], *image, *component))?;
        Some((known.clone(), self.values.get(&args[1])?.clone()))
    }
}
