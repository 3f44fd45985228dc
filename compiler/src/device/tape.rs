//! Elementary functions and eigensystems: the recordings of the runtime's primitives, played back as operations.

use super::{
    dialect::{Arithmetic, Op, Width},
    expand::Expander,
};
use crate::{ir::Simple, low, ssa::Value};
use ein_ir::Elementary;
use runtime::{
    eigen, math,
    simd::{
        Real,
        trace::{Operation, Tape},
    },
};

impl Expander {
    /// An elementary function as the runtime computes it.
    ///
    /// # Panics
    /// If the runtime has no such function.
    pub(super) fn elementary(&mut self, function: Elementary, args: &[Value]) -> Value {
        let name = function.def().primitive;
        let tape = math::trace(name).unwrap_or_else(|| panic!("`{name}` is not in the runtime"));
        // These are exact or correctly rounded, so that the way through double precision changes nothing.
        let direct = matches!(
            function,
            Elementary::Sqrt
                | Elementary::Floor
                | Elementary::Ceil
                | Elementary::Trunc
                | Elementary::Round
        );
        if direct {
            return self.play(&tape, Width::Real, args)[0];
        }
        let wide: Vec<Value> = args.iter().map(|&x| self.b.op1(Op::Widen, &[x])).collect();
        let result = self.play(&tape, Width::Double, &wide)[0];
        self.b.op1(Op::Narrow, &[result])
    }

    /// Eigenvalues and eigenvectors.
    pub(super) fn eigensystem(&mut self, n: u8, matrix: &[Value]) -> Vec<Value> {
        let real = if self.double { Real::F64 } else { Real::F32 };
        if n == 2 {
            return self.play(&eigen::trace2(real), Width::Real, matrix);
        }
        let rotations = eigen::trace3(real);
        let begun = self.play(&rotations.begin, Width::Real, matrix);
        let (turning, measure) = begun.split_at(15);
        let is_left = |expander: &mut Expander, turning: &[Value]| {
            let args = [&turning[3..6], &measure[..1]].concat();
            expander.play(&rotations.is_left, Width::Real, &args)[0]
        };
        let [first, last] = [1, rotations.sweeps as i64].map(|n| self.int(n));
        let begins = is_left(self, turning);
        let open = self
            .b
            .begin_for(first, last, true, [&[begins], turning].concat());
        let args = [&open.carried[1..], &measure[..1]].concat();
        let swept = self.play(&rotations.sweep, Width::Real, &args);
        let goes_on = is_left(self, &swept);
        let turned = self.b.for_(open, [&[goes_on], &swept[..]].concat());
        let turned = &turned[1..];
        let args = [&turned[..3], &turned[6..], &measure[1..]].concat();
        self.play(&rotations.end, Width::Real, &args)
    }

    /// Emits the operations of a tape, in a width.
    pub(super) fn play(&mut self, tape: &Tape, width: Width, args: &[Value]) -> Vec<Value> {
        // A step without a result has the value of its operand.
        let mut values: Vec<Value> = Vec::with_capacity(tape.steps.len());
        for step in &tape.steps {
            let [a, b, c] = step.operands.map(|n| values.get(n).copied());
            let given: Vec<Value> = [a, b, c].into_iter().flatten().collect();
            let mut arithmetic = |arithmetic: Arithmetic| {
                let op = Op::arithmetic(arithmetic, width);
                self.b.op1(op, &given[..arithmetic.arity()])
            };
            values.push(match step.operation {
                Operation::Argument(n) => args[n],
                Operation::Constant(x) => self.b.op1(Op::constant(x, width), &[]),
                Operation::Add => arithmetic(Arithmetic::Add),
                Operation::Sub => arithmetic(Arithmetic::Sub),
                Operation::Mul => arithmetic(Arithmetic::Mul),
                Operation::Div => arithmetic(Arithmetic::Div),
                Operation::Neg => arithmetic(Arithmetic::Neg),
                Operation::Fma => arithmetic(Arithmetic::Fma),
                Operation::Min => arithmetic(Arithmetic::Min),
                Operation::Max => arithmetic(Arithmetic::Max),
                Operation::Sqrt => arithmetic(Arithmetic::Sqrt),
                Operation::Floor => arithmetic(Arithmetic::Floor),
                Operation::Abs => arithmetic(Arithmetic::Abs),
                Operation::CopySign => arithmetic(Arithmetic::CopySign),
                Operation::Less => arithmetic(Arithmetic::Less),
                Operation::LessEqual => arithmetic(Arithmetic::LessEqual),
                Operation::Equal => arithmetic(Arithmetic::Equal),
                Operation::Select => {
                    let op = match width {
                        Width::Real => Op::Low(low::Op::Select(low::Ty::Real)),
                        Width::Double => Op::SelectDouble,
                    };
                    self.b.op1(op, &given)
                }
                Operation::Both => self.simple(Simple::And, &given[..2]),
                Operation::Either => self.simple(Simple::Or, &given[..2]),
                Operation::Not => self.simple(Simple::Not, &given[..1]),
                Operation::BitAnd => self.b.op1(Op::BitAnd, &given[..2]),
                Operation::BitOr => self.b.op1(Op::BitOr, &given[..2]),
                Operation::ShiftLeft(n) => self.b.op1(Op::ShiftLeft(n), &given[..1]),
                Operation::ShiftRight(n) => self.b.op1(Op::ShiftRight(n), &given[..1]),
                Operation::Never => {
                    self.b.op(Op::Leave, &given[..1]);
                    given[0]
                }
            });
        }
        tape.results.iter().map(|&n| values[n]).collect()
    }
}
