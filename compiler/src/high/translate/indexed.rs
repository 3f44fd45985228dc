//! Operators that a program defines by index: one EIN operator, whose arguments may be sequences.

use super::Translator;
use crate::{
    front::tree::Expr,
    ir::tensor::{Base, Ty},
    ssa::Value,
};
use ein_ir::{Ein, ops::special};

impl Translator<'_> {
    /// An operator applied to arguments, with axes of sequences before those of tensors.
    pub(super) fn indexed(&mut self, operator: &Ein, args: &[Expr], e: &Expr) -> Value {
        let args: Vec<Value> = args
            .iter()
            .map(|arg| {
                let value = self.sequence_or_value(arg);
                self.packed(value, arg.span.start)
            })
            .collect();
        let value = self.ein(operator.clone(), &args);
        self.unpacked(value, &Ty::of(&e.ty))
    }

    fn sequence_or_value(&mut self, e: &Expr) -> Value {
        match Ty::of(&e.ty) {
            Ty::Seq(..) => self.sequence(e),
            _ => self.expr(e),
        }
    }

    /// A sequence of tensors as one tensor; other values as they are.
    fn packed(&mut self, value: Value, place: u32) -> Value {
        let Ty::Seq(_, n) = self.b.type_of(value).clone() else {
            return value;
        };
        let parts = match self.fields_in(value) {
            Some(fields) => fields,
            None => (0..n)
                .map(|k| {
                    let index = self.int(k as i64);
                    let part = self.base(Base::Element(place), &[value, index]);
                    self.packed(part, place)
                })
                .collect(),
        };
        let params: Vec<_> = parts.iter().map(|&part| self.param(part)).collect();
        self.ein(special::concat(&params), &parts)
    }

    /// A tensor as the sequence of tensors that it was to be.
    fn unpacked(&mut self, value: Value, to: &Ty) -> Value {
        let Ty::Seq(element, n) = to else {
            return value;
        };
        let parts: Vec<Value> = if *n == 1 {
            vec![value]
        } else {
            let param = self.param(value);
            let mut mask = vec![None; param.shape().order()];
            (0..*n)
                .map(|k| {
                    mask[0] = Some(k);
                    self.ein(special::slice(param.clone(), &mask), &[value])
                })
                .collect()
        };
        let parts: Vec<Value> = parts
            .into_iter()
            .map(|part| self.unpacked(part, element))
            .collect();
        let made = self.b.type_of(parts[0]).clone();
        self.base(Base::Sequence(made), &parts)
    }
}
