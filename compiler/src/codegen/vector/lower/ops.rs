//! Lowers operations that work lane by lane.

use super::Lowering;
use crate::{
    codegen::{
        abi::{images::cell, offset},
        vector::{
            Width,
            tree::{
                Base, Binary, Class, Compare, Half, Home, MemoryPlace, Op, Rounding, Unary, Val,
                Vals,
            },
        },
    },
    ir::Simple,
    low::{self, Ty},
    ssa::Value,
};
use ein_ir::{Elementary, ops::StrandSet};

impl Lowering<'_> {
    /// Lowers an operation and keeps its results.
    pub(super) fn low_op(
        &mut self,
        op: &low::Op,
        args: &[Value],
        results: &[Value],
    ) -> Result<(), String> {
        let vals: Vals = args.iter().map(|&v| self.get(v)).collect();
        let result = match op {
            low::Op::Real(x) => self.real(x.get()),
            low::Op::Int(n) => self.int(*n),
            low::Op::Bool(b) => self.constant_truth(*b),
            low::Op::Str(text) => {
                let number = self.linker.string(text);
                self.int(number)
            }
            low::Op::Global(slot, ty) => self.cell(Base::Globals, *slot as i32 * 8, *ty),
            low::Op::Image(image, info) => {
                let ty = if info.is_int() { Ty::Int } else { Ty::Real };
                self.cell(Base::Images, cell(*image, *info) as i32 * 8, ty)
            }
            low::Op::State(slot, ty) => self.state(*slot as usize, *ty),
            low::Op::Arg(slot, ty) => {
                let at = *slot as usize * self.machine.lanes.width * 8;
                let place = MemoryPlace {
                    base: Base::Args,
                    at: at as i32,
                };
                let plane = self.values.make(Class::Vector, Home::Plane(place));
                self.typed(plane, *ty)
            }
            low::Op::Simple(simple) => {
                let alone =
                    [0, 1].map(|n| args.get(n).is_some_and(|v| self.uses[v.0 as usize] == 1));
                self.simple(*simple, &vals, alone)
            }
            low::Op::Select(Ty::Bool) => self.select_mask(vals[0], vals[1], vals[2]),
            low::Op::Select(_) => self.select(vals[0], vals[1], vals[2]),
            low::Op::Math(function) => match self.native(*function, &vals) {
                Some(result) => result,
                None => {
                    let primitive = self.linker.math(*function, self.machine.lanes);
                    return self.primitive(primitive, args, results);
                }
            },
            low::Op::IntDiv(place) => self.divide(args, *place, true),
            low::Op::IntRem(place) => self.divide(args, *place, false),
            low::Op::CheckIndex(place) => {
                self.check_index(args, *place);
                return Ok(());
            }
            low::Op::Probe(field, orders) => {
                self.probe(field, *orders, args, results);
                return Ok(());
            }
            low::Op::Frame(field) => {
                self.frame(field, args, results);
                return Ok(());
            }
            low::Op::Extremes(field) => {
                self.extremes(field, args, results);
                return Ok(());
            }
            low::Op::Ask(field, axis) => {
                self.ask(field, *axis, args);
                return Ok(());
            }
            low::Op::Decide(comparison, _) => {
                self.decide(*comparison, args, results);
                return Ok(());
            }
            low::Op::Locate(..) | low::Op::CellNumber(_) | low::Op::FemProbe(_) => {
                self.fem(op, args, results);
                return Ok(());
            }
            low::Op::Eigen(n) => return self.eigen(*n, args, results),
            low::Op::Print(pieces) => {
                self.print(pieces, args);
                return Ok(());
            }
            low::Op::Dynamic(op) => return self.dynamic(op, args, results),
        };
        self.set(results[0], result);
        Ok(())
    }

    /// A cell of 8 bytes that is the same for all lanes.
    fn cell(&mut self, base: Base, at: i32, ty: Ty) -> Val {
        let place = MemoryPlace { base, at };
        match ty {
            Ty::Bool => self.values.make(Class::Mask, Home::TruthAt(place)),
            Ty::Real | Ty::Int | Ty::Str => self.values.make(Class::Vector, Home::Broadcast(place)),
        }
    }

    /// How many strands there are.
    pub(super) fn count(&mut self, set: StrandSet) -> Val {
        let number = match set {
            StrandSet::All => 0,
            StrandSet::Active => 1,
            StrandSet::Stable => 2,
        };
        self.cell(Base::Frame, offset::COUNTS + number * 8, Ty::Int)
    }

    fn state(&mut self, slot: usize, ty: Ty) -> Val {
        let plane = self.state[slot];
        if plane.is_handle {
            return self.unpacked(plane.offset as i32);
        }
        self.typed(self.parameters[slot], ty)
    }

    /// Lanes in memory as a value of a type.
    pub(super) fn typed(&mut self, plane: Val, ty: Ty) -> Val {
        match ty {
            Ty::Bool => self.op(Op::ToMask, &[plane]),
            Ty::Real | Ty::Int | Ty::Str => plane,
        }
    }

    pub(super) fn simple(&mut self, op: Simple, args: &[Val], alone: [bool; 2]) -> Val {
        let binary = |op| Op::Binary(op);
        match op {
            Simple::Add => self.op(binary(Binary::Add), args),
            Simple::Sub => self.op(binary(Binary::Sub), args),
            Simple::Mul => self.op(binary(Binary::Mul), args),
            Simple::Div => self.op(binary(Binary::Div), args),
            Simple::Neg => {
                let sign = self.real(-0.0);
                self.op(binary(Binary::Xor), &[args[0], sign])
            }
            Simple::Less => self.op(Op::Compare(Compare::Less), args),
            Simple::LessEqual => self.op(Op::Compare(Compare::LessEqual), args),
            Simple::Equal => self.op(Op::Compare(Compare::Equal), args),
            Simple::IntAdd => {
                let sum = self.op(binary(Binary::IntAdd), args);
                self.wrap(sum)
            }
            Simple::IntSub => {
                let difference = self.op(binary(Binary::IntSub), args);
                self.wrap(difference)
            }
            Simple::IntMul => self.product(args[0], args[1]),
            Simple::IntNeg => {
                let zero = self.constant(0);
                let negated = self.op(binary(Binary::IntSub), &[zero, args[0]]);
                self.wrap(negated)
            }
            Simple::IntLess => self.op(Op::Compare(Compare::IntLess), args),
            Simple::IntLessEqual => self.op(Op::Compare(Compare::IntLessEqual), args),
            Simple::IntEqual | Simple::StrEqual => self.op(Op::Compare(Compare::IntEqual), args),
            Simple::ToReal => self.real_of(args[0]),
            Simple::And => self.and(args[0], args[1], alone),
            Simple::Or => self.or(args[0], args[1]),
            Simple::Not => self.not(args[0]),
        }
    }

    /// Keeps 32-bit integers that live in 64-bit lanes in their range.
    fn wrap(&mut self, n: Val) -> Val {
        if self.machine.lanes.double && !self.machine.lanes.long_int {
            self.op(Op::Unary(Unary::ExtendHalves), &[n])
        } else {
            n
        }
    }

    pub(super) fn product(&mut self, a: Val, b: Val) -> Val {
        let lanes = self.machine.lanes;
        if !lanes.double || lanes.long_int && self.machine.width == Width::Zmm {
            return self.op(Op::Binary(Binary::IntMul), &[a, b]);
        }
        let low = self.op(Op::Binary(Binary::LongMulHalves), &[a, b]);
        if !lanes.long_int {
            return self.wrap(low);
        }
        // (a₁·2³² + a₀)·(b₁·2³² + b₀) without the part beyond 64 bits.
        let crossed = [[a, b], [b, a]].map(|[x, y]| {
            let upper = self.op(Op::Unary(Unary::LongShiftRight(32)), &[x]);
            self.op(Op::Binary(Binary::LongMulHalves), &[upper, y])
        });
        let sum = self.op(Op::Binary(Binary::LongAdd), &crossed);
        let upper = self.op(Op::Unary(Unary::LongShiftLeft(32)), &[sum]);
        self.op(Op::Binary(Binary::LongAdd), &[low, upper])
    }

    /// The quotient of 32-bit integers, by reals of 64 bits: their quotient is so far from the next integer, unless it is one,
    /// that rounding does not reach it. The smallest integer divided by −1 becomes itself, as when it wraps.
    pub(super) fn quotient(&mut self, a: Val, b: Val) -> Val {
        if self.machine.lanes.double {
            let [a, b] = [a, b].map(|n| self.real_of(n));
            let quotient = self.op(Op::Binary(Binary::Div), &[a, b]);
            return self.op(Op::Unary(Unary::Truncate), &[quotient]);
        }
        let halves = [Half::Low, Half::High].map(|half| {
            let [a, b] = [a, b].map(|n| self.op(Op::Unary(Unary::WidenToReal(half)), &[n]));
            self.op(Op::Binary(Binary::LongDiv), &[a, b])
        });
        self.op(Op::Binary(Binary::Narrow), &halves)
    }

    fn real_of(&mut self, n: Val) -> Val {
        if !self.machine.lanes.double || self.machine.width == Width::Zmm {
            return self.op(Op::Unary(Unary::ToReal), &[n]);
        }
        // No instruction does it: put the halves into the mantissas of 2⁵² and of 2⁸⁴ + 2⁶³, and take these away again. All
        // but the last operation are exact.
        let [lower, low_exponent, high_exponent, both] = [
            0x0000_0000_ffff_ffff,
            0x4330_0000_0000_0000,
            0x4530_0000_8000_0000,
            0x4530_0000_8010_0000,
        ]
        .map(|bits| self.constant(bits));
        let low = self.op(Op::Binary(Binary::And), &[n, lower]);
        let low = self.op(Op::Binary(Binary::Or), &[low, low_exponent]);
        let high = self.op(Op::Unary(Unary::LongShiftRight(32)), &[n]);
        let high = self.op(Op::Binary(Binary::Xor), &[high, high_exponent]);
        let high = self.op(Op::Binary(Binary::Sub), &[high, both]);
        self.op(Op::Binary(Binary::Add), &[high, low])
    }

    /// Functions that the machine computes itself.
    fn native(&mut self, function: Elementary, args: &[Val]) -> Option<Val> {
        let round = |to| Op::Unary(Unary::Round(to));
        Some(match function {
            Elementary::Sqrt => self.op(Op::Unary(Unary::Sqrt), args),
            Elementary::Floor => self.op(round(Rounding::Down), args),
            Elementary::Ceil => self.op(round(Rounding::Up), args),
            Elementary::Trunc => self.op(round(Rounding::TowardsZero), args),
            Elementary::Abs => {
                let but_sign =
                    self.constant(u64::MAX >> if self.machine.lanes.double { 1 } else { 33 });
                self.op(Op::Binary(Binary::And), &[args[0], but_sign])
            }
            Elementary::Sign => {
                let x = args[0];
                let [one, minus, zero] = [1.0, -1.0, 0.0].map(|x| self.real(x));
                let positive = self.op(Op::Compare(Compare::Less), &[zero, x]);
                let negative = self.op(Op::Compare(Compare::Less), &[x, zero]);
                // Zero and NaN give themselves, so that a NaN is not lost.
                let below = self.op(Op::Select, &[negative, minus, x]);
                self.op(Op::Select, &[positive, one, below])
            }
            _ => return None,
        })
    }

    /// The vector `a` where `c` holds, else `b`.
    pub(super) fn select(&mut self, c: Val, a: Val, b: Val) -> Val {
        if a == b {
            return a;
        }
        if let Some(truth) = self.truth(c) {
            return if truth { a } else { b };
        }
        let compared = self.definition(c).filter(|d| d.count == 2);
        match compared.map(|d| (d.op, [d.args[0], d.args[1]])) {
            // The machine's minimum and maximum give the second operand if the comparison does not hold, as with NaN or
            // zeros of different signs: so they are these selections, bit for bit.
            Some((Op::Compare(Compare::Less), p)) if p == [a, b] => {
                self.op(Op::Binary(Binary::Min), &[a, b])
            }
            Some((Op::Compare(Compare::Less), p)) if p == [b, a] => {
                self.op(Op::Binary(Binary::Max), &[a, b])
            }
            _ => self.op(Op::Select, &[c, a, b]),
        }
    }
}
