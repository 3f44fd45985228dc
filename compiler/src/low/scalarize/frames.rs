//! Probes of fields over time: probes of weighted sums of the frames around the time.
//!
//! ```text
//! (n, f, r) = frame t        r^j · (Σ_m  h^(j)(f − m) · (the frame n + m)) at the position        m from 1 − s to s
//! ```
//!
//! where h is the kernel of time, s its support, and j the number of derivatives by time. The primitive of the probe sums the frames.

use super::{Pass, spread};
use crate::{
    ir::{Bits, Orders, Simple, leaf::Convolution},
    low::Op,
    ssa::Value,
};
use ein_ir::{mutants, rational};
use std::sync::Arc;

impl Pass<'_> {
    /// The derivatives of the wanted orders, one list of components for each.
    pub(super) fn probe_in_time(
        &mut self,
        field: &Convolution,
        orders: Orders,
        args: &[Value],
    ) -> Vec<Vec<Value>> {
        let time = field.time.expect("a field over time");
        let frames = Arc::new(field.undifferentiated());
        let at = self.components(args[1])[0];
        let place = self.b.op(Op::Frame(frames.clone()), &[at]);
        let [frame, fraction, rate] = place[..] else {
            panic!("a place among frames has three parts")
        };
        let mut place = self.components(args[0]).to_vec();
        place.push(frame);
        let weights = (0..time.taps()).map(|tap| self.weight(field, tap, fraction));
        place.extend(weights.collect::<Vec<_>>());
        let found = self.b.op(Op::Probe(frames, orders), &place);
        let mut found = &found[..];
        let derivatives = orders.iter().map(|order| {
            let (own, rest) = found.split_at(field.outputs(order));
            found = rest;
            let times = mutants::derivatives_by_time(time.order);
            let own: Vec<Value> = (own.iter())
                .map(|&slope| (0..times).fold(slope, |v, _| self.real(Simple::Mul, v, rate)))
                .collect();
            spread(&field.shape, field.dim(), order, &own)
        });
        derivatives.collect()
    }

    /// The weight of a frame, counted from the first one that counts: a polynomial, by Horner's scheme.
    fn weight(&mut self, field: &Convolution, tap: usize, fraction: Value) -> Value {
        let time = field.time.expect("a field over time");
        let kernel = time.kernel.0;
        let support = kernel.support as i32;
        let tap = mutants::frame(tap as i32 + 1 - support, support);
        let coefficients = kernel.tap(tap, time.order.into());
        let mut terms = coefficients
            .iter()
            .rev()
            .map(|&c| Bits::from(rational::to_f64(c)));
        let first = terms.next().unwrap_or(Bits::from(0.0));
        let first = self.b.op1(Op::Real(first), &[]);
        terms.fold(first, |value, coefficient| {
            let product = self.real(Simple::Mul, value, fraction);
            let coefficient = self.b.op1(Op::Real(coefficient), &[]);
            self.real(Simple::Add, product, coefficient)
        })
    }

    fn real(&mut self, op: Simple, a: Value, b: Value) -> Value {
        self.b.op1(Op::Simple(op), &[a, b])
    }
}
