//! Probes of fields over time: weighted sums of the frames around the time.
//!
//! ```text
//! (n, f, r) = frame t        Σ_m  r^j h^(j)(f − m) · (the frame n + m at the position)        m from 1 − s to s
//! ```
//!
//! where h is the kernel of time, s its support, and j the number of derivatives by time. The frames of one call share the weights
//! along the axes of space.

use super::{Pass, spread};
use crate::{
    ir::{Bits, Orders, Simple, leaf::Convolution},
    low::Op,
    ssa::Value,
};
use ein_ir::rational;
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
        let mut position = self.components(args[0]).to_vec();
        position.push(frame);
        let found = self.b.op(Op::Probe(frames, orders), &position);
        let weights: Vec<Value> = (0..time.taps())
            .map(|tap| self.weight(field, tap, fraction))
            .collect();
        let mut found = &found[..];
        let sums = orders.iter().map(|order| {
            let (own, rest) = found.split_at(field.outputs(order));
            found = rest;
            let count = own.len() / weights.len();
            let sums: Vec<Value> = (0..count)
                .map(|k| {
                    let taps = weights.iter().zip(own.iter().skip(k).step_by(count));
                    let products: Vec<Value> = taps
                        .map(|(&weight, &value)| self.real(Simple::Mul, weight, value))
                        .collect();
                    let sum = products
                        .into_iter()
                        .reduce(|a, b| self.real(Simple::Add, a, b));
                    let sum = sum.expect("a kernel has taps");
                    (0..time.order).fold(sum, |slope, _| self.real(Simple::Mul, slope, rate))
                })
                .collect();
            spread(&field.shape, field.dim(), order, &sums)
        });
        sums.collect()
    }

    /// The weight of a frame, counted from the first one that counts: a polynomial, by Horner's scheme.
    fn weight(&mut self, field: &Convolution, tap: usize, fraction: Value) -> Value {
        let time = field.time.expect("a field over time");
        let kernel = time.kernel.0;
        let tap = tap as i32 + 1 - kernel.support as i32;
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
