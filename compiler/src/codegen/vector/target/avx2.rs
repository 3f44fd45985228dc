//! Vectors of 256 bits, truth values in vectors of lanes of ones or zeros.

use super::{QUIETLY, Target, Temporaries, Tent, beyond, predicate};
use crate::codegen::vector::{
    encode::{Address, Assembler, Gpr, Length, Opcode, Operand, opcode::*},
    tree::{Binary, Class, Compare, Half, Logic, Unary},
};
use Length::{L128, L256};
use std::ops::Range;

/// The machine: lanes of 32 bits, or of 64 if `wide`.
pub(in crate::codegen::vector) struct Avx2 {
    asm: Assembler,
    wide: bool,
}

const SCRATCH: u8 = Avx2::SCRATCH;

impl Avx2 {
    pub(in crate::codegen::vector) fn new(wide: bool) -> Avx2 {
        Avx2 {
            asm: Assembler::default(),
            wide,
        }
    }

    pub(in crate::codegen::vector) fn into_asm(self) -> Assembler {
        self.asm
    }

    /// The instruction for this width of lanes.
    fn by_lane(&self, narrow: Opcode, wide: Opcode) -> Opcode {
        if self.wide { wide } else { narrow }
    }

    fn emit(&mut self, op: Opcode, reg: u8, vvvv: u8, rm: Operand) {
        self.asm.vex(op, L256, reg, vvvv, rm);
    }

    fn emit_imm(&mut self, op: Opcode, reg: u8, vvvv: u8, rm: Operand, immediate: u8) {
        self.asm.vex_imm(op, L256, reg, vvvv, rm, immediate);
    }

    /// An operand as instructions take it: a lane for all goes through a register.
    fn spread(&mut self, through: u8, operand: Operand) -> Operand {
        match operand {
            Operand::Broadcast(at) => {
                self.broadcast(through, at);
                Operand::Register(through)
            }
            other => other,
        }
    }

    /// An operand in a register, which is another one if it was in none.
    fn in_register(&mut self, through: u8, operand: Operand) -> u8 {
        match self.spread(through, operand) {
            Operand::Register(r) => r,
            memory => {
                self.emit(VMOVUPS, through, 0, memory);
                through
            }
        }
    }

    /// Half of an operand; what is one lane for all goes through a register.
    fn half(&mut self, half: Half, through: u8, a: Operand) -> Operand {
        match (half, self.spread(through, a)) {
            (Half::High, Operand::Register(from)) => {
                let upper = Operand::Register(SCRATCH);
                self.emit_imm(VEXTRACTF128, from, 0, upper, 1);
                upper
            }
            (Half::High, Operand::Memory(at)) => Operand::Memory(beyond(at, Self::BYTES / 2)),
            (_, a) => a,
        }
    }

    fn shift(&mut self, op: Opcode, to: u8, a: Operand, by: u8) {
        let a = self.in_register(to, a);
        self.emit_imm(op, 0, to, Operand::Register(a), by);
    }

    /// All bits set.
    fn ones(&mut self, to: u8) {
        self.emit(VPCMPEQD, to, to, Operand::Register(to));
    }

    fn zero(&mut self, to: u8) {
        self.emit(VXORPS, to, to, Operand::Register(to));
    }

    fn blend(&mut self, to: u8, a: u8, b: Operand, mask: u8) {
        self.emit_imm(VBLENDVPS, to, a, b, mask << 4);
    }
}

impl Target for Avx2 {
    const BYTES: i32 = 32;
    const FILES: usize = 1;
    const SCRATCH: u8 = 15;
    const SPREADS: bool = false;

    fn file(_class: Class) -> usize {
        0
    }

    fn registers(_file: usize) -> Range<u8> {
        0..Self::SCRATCH
    }

    fn scratch(_class: Class) -> u8 {
        Self::SCRATCH
    }

    fn asm(&mut self) -> &mut Assembler {
        &mut self.asm
    }

    fn binary(&mut self, op: Binary, to: u8, a: u8, b: Operand) {
        let op = match op {
            Binary::Add => self.by_lane(VADDPS, VADDPD),
            Binary::Sub => self.by_lane(VSUBPS, VSUBPD),
            Binary::Mul => self.by_lane(VMULPS, VMULPD),
            Binary::Div => self.by_lane(VDIVPS, VDIVPD),
            Binary::Min => self.by_lane(VMINPS, VMINPD),
            Binary::Max => self.by_lane(VMAXPS, VMAXPD),
            Binary::And => VANDPS,
            Binary::Or => VORPS,
            Binary::Xor => VXORPS,
            Binary::IntAdd => self.by_lane(VPADDD, VPADDQ),
            Binary::IntSub => self.by_lane(VPSUBD, VPSUBQ),
            // Products of lanes of 64 bits are put together from those of their halves.
            Binary::IntMul => VPMULLD,
            Binary::LongAdd => VPADDQ,
            Binary::LongMulHalves => VPMULUDQ,
            Binary::LongDiv => VDIVPD,
            Binary::Narrow => {
                self.emit(VCVTTPD2DQ, SCRATCH, 0, b);
                self.emit(VCVTTPD2DQ, to, 0, Operand::Register(a));
                let upper = Operand::Register(SCRATCH);
                return self.emit_imm(VINSERTF128, to, to, upper, 1);
            }
        };
        let b = self.spread(SCRATCH, b);
        self.emit(op, to, a, b);
    }

    fn unary(&mut self, op: Unary, to: u8, a: Operand) {
        match op {
            Unary::Copy => match a {
                Operand::Register(from) => self.copy(Class::Vector, to, from),
                Operand::Memory(from) => self.load(Class::Vector, to, from),
                Operand::Broadcast(from) => self.broadcast(to, from),
            },
            Unary::Sqrt => {
                let a = self.spread(SCRATCH, a);
                self.emit(self.by_lane(VSQRTPS, VSQRTPD), to, 0, a);
            }
            Unary::Round(rounding) => {
                let a = self.spread(SCRATCH, a);
                let op = self.by_lane(VROUNDPS, VROUNDPD);
                self.emit_imm(op, to, 0, a, rounding as u8 | QUIETLY);
            }
            // Reals of 64 bits are put together from the halves of integers.
            Unary::ToReal => {
                let a = self.spread(SCRATCH, a);
                self.emit(VCVTDQ2PS, to, 0, a);
            }
            Unary::ExtendHalves => {
                /// Each lower half twice.
                const TWICE: u8 = 0b10_10_00_00;
                /// The lower halves.
                const LOWER: u8 = 0b0101_0101;
                let a = self.spread(to, a);
                self.emit_imm(VPSHUFD, SCRATCH, 0, a, TWICE);
                let scratch = Operand::Register(SCRATCH);
                self.emit_imm(VPSRAD, 0, SCRATCH, scratch, 31);
                self.emit_imm(VPBLENDD, to, SCRATCH, a, LOWER);
            }
            Unary::ShiftLeft(by) => self.shift(self.by_lane(VPSLLD, VPSLLQ), to, a, by),
            Unary::ShiftRight(by) => self.shift(self.by_lane(VPSRLD, VPSRLQ), to, a, by),
            Unary::LongShiftLeft(by) => self.shift(VPSLLQ, to, a, by),
            Unary::LongShiftRight(by) => self.shift(VPSRLQ, to, a, by),
            Unary::Widen(half) => {
                let a = self.half(half, to, a);
                self.emit(VPMOVZXDQ, to, 0, a);
            }
            Unary::WidenToReal(half) => {
                let a = self.half(half, to, a);
                self.emit(VCVTDQ2PD, to, 0, a);
            }
            Unary::Truncate => {
                let a = self.spread(SCRATCH, a);
                self.emit(VCVTTPD2DQ, to, 0, a);
                self.emit(VPMOVSXDQ, to, 0, Operand::Register(to));
            }
        }
    }

    fn compare(&mut self, op: Compare, to: u8, a: u8, b: Operand, under: Option<u8>) {
        let target = if under.is_some() { SCRATCH } else { to };
        let mut negated = false;
        if let Some(predicate) = predicate(op) {
            let b = self.spread(SCRATCH, b);
            self.emit_imm(self.by_lane(VCMPPS, VCMPPD), target, a, b, predicate);
        } else {
            let greater = self.by_lane(VPCMPGTD, VPCMPGTQ);
            match op {
                Compare::IntLess => {
                    let b = self.in_register(SCRATCH, b);
                    self.emit(greater, target, b, Operand::Register(a));
                }
                Compare::IntLessEqual => {
                    let b = self.spread(SCRATCH, b);
                    self.emit(greater, target, a, b);
                    negated = true;
                }
                _ => {
                    let b = self.spread(SCRATCH, b);
                    self.emit(self.by_lane(VPCMPEQD, VPCMPEQQ), target, a, b);
                }
            }
        }
        match under {
            Some(mask) => {
                let op = if negated { VANDNPS } else { VANDPS };
                self.emit(op, to, SCRATCH, Operand::Register(mask));
            }
            None if negated => self.not(to, to),
            None => {}
        }
    }

    fn select(&mut self, to: u8, mask: u8, a: Operand, b: u8) {
        let a = self.spread(SCRATCH, a);
        self.blend(to, b, a, mask);
    }

    fn merge(&mut self, to: u8, from: Operand, mask: u8) {
        if from != Operand::Register(to) {
            self.select(to, mask, from, to);
        }
    }

    fn logic(&mut self, op: Logic, to: u8, a: u8, b: u8) {
        let op = match op {
            Logic::And => VANDPS,
            Logic::Or => VORPS,
            Logic::AndNot => VANDNPS,
        };
        self.emit(op, to, a, Operand::Register(b));
    }

    fn not(&mut self, to: u8, a: u8) {
        self.ones(SCRATCH);
        self.emit(VXORPS, to, a, Operand::Register(SCRATCH));
    }

    fn select_mask(&mut self, to: u8, mask: u8, a: u8, b: u8) {
        self.blend(to, b, Operand::Register(a), mask);
    }

    fn truth(&mut self, to: u8, truth: bool) {
        if truth {
            self.ones(to);
        } else {
            self.zero(to);
        }
    }

    fn truth_at(&mut self, to: u8, at: Address) {
        self.asm.load8(Gpr::RAX, at);
        self.asm.neg32(Gpr::RAX);
        let rax = Operand::Register(Gpr::RAX.number());
        self.asm.vex(VMOVD, L128, to, 0, rax);
        self.emit(VPBROADCASTD, to, 0, Operand::Register(to));
    }

    fn to_mask(&mut self, to: u8, from: Operand) {
        self.unary(Unary::Copy, to, from);
    }

    fn to_word(&mut self, to: u8, from: u8) {
        self.copy(Class::Vector, to, from);
    }

    fn lanes_of_bits(&mut self, to: u8, bits: Address, table: Address) {
        let table = Operand::Memory(table);
        self.emit(VPBROADCASTD, SCRATCH, 0, Operand::Memory(bits));
        self.emit(VANDPS, SCRATCH, SCRATCH, table);
        self.emit(self.by_lane(VPCMPEQD, VPCMPEQQ), to, SCRATCH, table);
    }

    fn bits_of_lanes(&mut self, to: Gpr, mask: u8) {
        let op = self.by_lane(VMOVMSKPS, VMOVMSKPD);
        self.emit(op, to.number(), 0, Operand::Register(mask));
    }

    fn test(&mut self, mask: u8) {
        self.emit(VTESTPS, mask, 0, Operand::Register(mask));
    }

    fn copy(&mut self, _class: Class, to: u8, from: u8) {
        if to != from {
            self.emit(VMOVAPS, to, 0, Operand::Register(from));
        }
    }

    fn load(&mut self, _class: Class, to: u8, from: Address) {
        self.emit(VMOVUPS, to, 0, Operand::Memory(from));
    }

    fn store(&mut self, _class: Class, to: Address, from: u8) {
        self.emit(VMOVUPS_TO, from, 0, Operand::Memory(to));
    }

    fn broadcast(&mut self, to: u8, from: Address) {
        let op = self.by_lane(VBROADCASTSS, VBROADCASTSD);
        self.emit(op, to, 0, Operand::Memory(from));
    }

    fn store_under(&mut self, to: Address, from: u8, mask: u8) {
        let op = self.by_lane(VMASKMOVPS, VMASKMOVPD);
        self.emit(op, from, mask, Operand::Memory(to));
    }

    fn tent(&mut self, _tent: &Tent<'_>) {
        unreachable!("pairs of samples are gathered with longer vectors only");
    }

    fn gather(
        &mut self,
        to: u8,
        base: Gpr,
        addresses: &[u8],
        lanes: u8,
        narrow: bool,
        temporaries: Temporaries,
    ) {
        // A gather uses its mask up.
        let mask = SCRATCH;
        self.zero(to);
        match *addresses {
            [all] if narrow => {
                /// The lower halves of both operands' lanes.
                const LOWER: u8 = 0b10_00_10_00;
                let upper = Operand::Register(mask);
                self.emit_imm(VEXTRACTF128, lanes, 0, upper, 1);
                self.asm.vex_imm(VSHUFPS, L128, mask, lanes, upper, LOWER);
                let asm = &mut self.asm;
                asm.vex_gather(VGATHERQPS, L256, to, base, (all, 0), mask);
                self.emit(VPMOVZXDQ, to, 0, Operand::Register(to));
            }
            [all] => {
                self.copy(Class::Mask, mask, lanes);
                let asm = &mut self.asm;
                asm.vex_gather(VGATHERQPD, L256, to, base, (all, 0), mask);
            }
            [low, high] => {
                let upper = temporaries.vector;
                self.zero(upper);
                self.copy(Class::Mask, mask, lanes);
                let asm = &mut self.asm;
                asm.vex_gather(VGATHERQPS, L256, to, base, (low, 0), mask);
                self.emit_imm(VEXTRACTF128, lanes, 0, Operand::Register(mask), 1);
                let asm = &mut self.asm;
                asm.vex_gather(VGATHERQPS, L256, upper, base, (high, 0), mask);
                self.emit_imm(VINSERTF128, to, to, Operand::Register(upper), 1);
            }
            _ => unreachable!("addresses are one vector or two halves"),
        }
    }
}
