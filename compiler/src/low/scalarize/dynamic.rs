//! Scalarizes operations on sequences of varying length and on strands.

use super::Pass;
use crate::{
    ir::tensor::{self, Ty},
    low::{self, Dynamic, Element, Op, StrandReduction},
    ssa::Value,
};
use std::sync::Arc;

impl Pass<'_> {
    pub(super) fn dynamic(&mut self, op: &tensor::Dynamic, args: &[Value]) -> Vec<Value> {
        let scalars = self.all(args);
        let op = match op {
            tensor::Dynamic::List(ty) => Dynamic::List(element_of(ty), args.len() as u32),
            tensor::Dynamic::Append(ty) => Dynamic::Append(element_of(ty)),
            tensor::Dynamic::Prepend(ty) => Dynamic::Prepend(element_of(ty)),
            tensor::Dynamic::Concatenate(ty) => Dynamic::Concatenate(element_of(ty)),
            // The length comes last, in a list as among strands.
            tensor::Dynamic::Length(_) => return vec![scalars[scalars.len() - 1]],
            tensor::Dynamic::Item(Ty::List(ty)) => Dynamic::Item(element_of(ty)),
            tensor::Dynamic::Item(Ty::Strands) => Dynamic::StrandAt,
            tensor::Dynamic::Item(other) => panic!("an item of {other}"),
            tensor::Dynamic::NoStrands => {
                let zero = self.b.op1(Op::Int(0), &[]);
                return vec![zero; 3];
            }
            tensor::Dynamic::Sphere { position, dim } => Dynamic::Sphere {
                position: self.slots.state[*position as usize],
                dim: *dim,
            },
            tensor::Dynamic::Other(n, ty) => {
                let first = self.slots.state[*n as usize];
                let other = |(ty, slot)| Op::Dynamic(Dynamic::Other(slot, ty));
                let slots = ty.scalars().into_iter().zip(first..).map(other);
                return slots.map(|op| self.b.op1(op, &scalars)).collect();
            }
            tensor::Dynamic::New(state) => {
                Dynamic::New(state.iter().flat_map(Ty::scalars).collect())
            }
            tensor::Dynamic::Count(set) => Dynamic::Count(*set),
            tensor::Dynamic::Reduce(r) => Dynamic::Reduce(Arc::new(StrandReduction {
                reduction: r.reduction,
                set: r.set,
                body: r.body,
                element: element_of(&r.element),
                captured: r.captured.iter().flat_map(Ty::scalars).collect(),
            })),
        };
        self.b.op(Op::Dynamic(op), &scalars)
    }
}

/// The scalars of a sequence's element; they have one type.
fn element_of(ty: &Ty) -> Element {
    let types = ty.scalars();
    Element {
        ty: types.first().copied().unwrap_or(low::Ty::Real),
        scalars: types.len() as u32,
    }
}
