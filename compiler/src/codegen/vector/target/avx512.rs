//! Vectors of 512 bits, truth values in mask registers.

use super::{QUIETLY, Target, Temporaries, Tent, beyond, predicate};
use crate::codegen::vector::{
    encode::{Address, Assembler, Gpr, Length, Opcode, Operand, Write, opcode::*},
    tree::{Binary, Class, Compare, Half, Logic, Unary},
};
use Length::{L128, L256, L512};
use std::ops::Range;

/// The machine: lanes of 32 bits, or of 64 if `wide`.
pub(in crate::codegen::vector) struct Avx512 {
    pub(super) asm: Assembler,
    wide: bool,
}

/// The mask register that is free between operations. No instruction can be limited to its lanes.
pub(super) const SCRATCH_MASK: u8 = 0;

impl Avx512 {
    pub(in crate::codegen::vector) fn new(wide: bool) -> Avx512 {
        Avx512 {
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

    pub(super) fn emit(&mut self, op: Opcode, reg: u8, vvvv: u8, rm: Operand) {
        self.asm.evex(op, L512, reg, vvvv, rm, Write::All);
    }

    pub(super) fn emit_imm(&mut self, op: Opcode, reg: u8, vvvv: u8, rm: Operand, immediate: u8) {
        let asm = &mut self.asm;
        asm.evex_imm(op, L512, reg, vvvv, rm, Write::All, immediate);
    }

    pub(super) fn zero(&mut self, r: u8) {
        self.emit(VXORPS, r, r, Operand::Register(r));
    }

    fn masks(&mut self, op: Opcode, to: u8, a: u8, b: u8) {
        self.asm.vex(op, L256, to, a, Operand::Register(b));
    }

    /// A shift needs the lanes themselves, not one for all.
    fn shift(&mut self, op: Opcode, to: u8, a: Operand, by: u8) {
        self.emit_imm(op, 0, to, a, by);
    }

    /// Half of an operand; what is one lane for all goes through a register.
    fn half(&mut self, half: Half, through: u8, a: Operand) -> Operand {
        let from = match a {
            Operand::Memory(at) if half == Half::High => {
                return Operand::Memory(beyond(at, Self::BYTES / 2));
            }
            Operand::Memory(_) => return a,
            Operand::Register(r) => r,
            Operand::Broadcast(at) => {
                self.broadcast(through, at);
                through
            }
        };
        if half == Half::Low {
            return Operand::Register(from);
        }
        let upper = Operand::Register(Self::SCRATCH);
        self.emit_imm(VEXTRACTF64X4, from, 0, upper, 1);
        upper
    }
}

impl Target for Avx512 {
    const BYTES: i32 = 64;
    const FILES: usize = 2;
    const SCRATCH: u8 = 31;
    const SPREADS: bool = true;

    fn file(class: Class) -> usize {
        match class {
            Class::Vector => 0,
            Class::Mask => 1,
        }
    }

    fn registers(file: usize) -> Range<u8> {
        if file == 0 { 0..Self::SCRATCH } else { 1..8 }
    }

    fn scratch(class: Class) -> u8 {
        match class {
            Class::Vector => Self::SCRATCH,
            Class::Mask => SCRATCH_MASK,
        }
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
            Binary::And => self.by_lane(VANDPS, VANDPD),
            Binary::Or => self.by_lane(VORPS, VORPD),
            Binary::Xor => self.by_lane(VXORPS, VXORPD),
            Binary::IntAdd => self.by_lane(VPADDD, VPADDQ),
            Binary::IntSub => self.by_lane(VPSUBD, VPSUBQ),
            Binary::IntMul => self.by_lane(VPMULLD, VPMULLQ),
            Binary::LongAdd => VPADDQ,
            Binary::LongMulHalves => VPMULUDQ,
            Binary::LongDiv => VDIVPD,
            Binary::Narrow => {
                self.emit(VCVTTPD2DQ, Self::SCRATCH, 0, b);
                self.emit(VCVTTPD2DQ, to, 0, Operand::Register(a));
                let upper = Operand::Register(Self::SCRATCH);
                return self.emit_imm(VINSERTF64X4, to, to, upper, 1);
            }
        };
        self.emit(op, to, a, b);
    }

    fn unary(&mut self, op: Unary, to: u8, a: Operand) {
        match op {
            Unary::Copy => match a {
                Operand::Register(from) => self.copy(Class::Vector, to, from),
                Operand::Memory(from) => self.load(Class::Vector, to, from),
                Operand::Broadcast(from) => self.broadcast(to, from),
            },
            Unary::Sqrt => self.emit(self.by_lane(VSQRTPS, VSQRTPD), to, 0, a),
            Unary::Round(rounding) => {
                let op = self.by_lane(VRNDSCALEPS, VRNDSCALEPD);
                self.emit_imm(op, to, 0, a, rounding as u8 | QUIETLY);
            }
            Unary::ToReal => self.emit(self.by_lane(VCVTDQ2PS, VCVTQQ2PD), to, 0, a),
            Unary::ExtendHalves => {
                self.shift(VPSLLQ, to, a, 32);
                self.shift(VPSRAQ, to, Operand::Register(to), 32);
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
                self.emit(VCVTTPD2DQ, to, 0, a);
                self.emit(VPMOVSXDQ, to, 0, Operand::Register(to));
            }
        }
    }

    fn compare(&mut self, op: Compare, to: u8, a: u8, b: Operand, under: Option<u8>) {
        let write = under.map_or(Write::All, Write::Under);
        let (instruction, predicate) = match predicate(op) {
            Some(predicate) => (self.by_lane(VCMPPS, VCMPPD), predicate),
            None => {
                let predicate = match op {
                    Compare::IntLess => 1,
                    Compare::IntLessEqual => 2,
                    _ => 0,
                };
                (self.by_lane(VPCMPD, VPCMPQ), predicate)
            }
        };
        let asm = &mut self.asm;
        asm.evex_imm(instruction, L512, to, a, b, write, predicate);
    }

    fn select(&mut self, to: u8, mask: u8, a: Operand, b: u8) {
        let op = self.by_lane(VBLENDMPS, VBLENDMPD);
        self.asm.evex(op, L512, to, b, a, Write::Under(mask));
    }

    fn merge(&mut self, to: u8, from: Operand, mask: u8) {
        let (op, from) = match from {
            Operand::Register(r) if r == to => return,
            Operand::Register(_) => (self.by_lane(VMOVAPS, VMOVAPD), from),
            Operand::Memory(_) => (self.by_lane(VMOVUPS, VMOVUPD), from),
            Operand::Broadcast(at) => (
                self.by_lane(VBROADCASTSS, VBROADCASTSD),
                Operand::Memory(at),
            ),
        };
        self.asm.evex(op, L512, to, 0, from, Write::Under(mask));
    }

    fn logic(&mut self, op: Logic, to: u8, a: u8, b: u8) {
        let op = match op {
            Logic::And => KANDW,
            Logic::Or => KORW,
            Logic::AndNot => KANDNW,
        };
        self.masks(op, to, a, b);
    }

    fn not(&mut self, to: u8, a: u8) {
        self.asm.vex(KNOTW, L128, to, 0, Operand::Register(a));
    }

    fn select_mask(&mut self, to: u8, mask: u8, a: u8, b: u8) {
        self.masks(KANDNW, SCRATCH_MASK, mask, b);
        self.masks(KANDW, to, mask, a);
        self.masks(KORW, to, to, SCRATCH_MASK);
    }

    fn truth(&mut self, to: u8, truth: bool) {
        self.masks(if truth { KXNORW } else { KXORW }, to, to, to);
    }

    fn truth_at(&mut self, to: u8, at: Address) {
        self.asm.load8(Gpr::RAX, at);
        self.asm.neg32(Gpr::RAX);
        let rax = Operand::Register(Gpr::RAX.number());
        self.asm.vex(KMOVW_GPR, L128, to, 0, rax);
    }

    fn to_mask(&mut self, to: u8, from: Operand) {
        let from = match from {
            Operand::Register(_) => from,
            Operand::Memory(_) | Operand::Broadcast(_) => {
                self.unary(Unary::Copy, Self::SCRATCH, from);
                Operand::Register(Self::SCRATCH)
            }
        };
        self.emit(self.by_lane(VPMOVD2M, VPMOVQ2M), to, 0, from);
    }

    fn to_word(&mut self, to: u8, from: u8) {
        let op = self.by_lane(VPMOVM2D, VPMOVM2Q);
        self.emit(op, to, 0, Operand::Register(from));
    }

    fn lanes_of_bits(&mut self, to: u8, bits: Address, _table: Address) {
        self.load(Class::Mask, to, bits);
    }

    fn bits_of_lanes(&mut self, to: Gpr, mask: u8) {
        let from = Operand::Register(mask);
        self.asm.vex(KMOVW_TO_GPR, L128, to.number(), 0, from);
    }

    fn test(&mut self, mask: u8) {
        let both = Operand::Register(mask);
        self.asm.vex(KORTESTW, L128, mask, 0, both);
    }

    fn copy(&mut self, class: Class, to: u8, from: u8) {
        if to != from {
            let from = Operand::Register(from);
            match class {
                Class::Vector => self.emit(VMOVAPS, to, 0, from),
                Class::Mask => self.asm.vex(KMOVW, L128, to, 0, from),
            }
        }
    }

    fn load(&mut self, class: Class, to: u8, from: Address) {
        let from = Operand::Memory(from);
        match class {
            Class::Vector => self.emit(VMOVUPS, to, 0, from),
            Class::Mask => self.asm.vex(KMOVW, L128, to, 0, from),
        }
    }

    fn store(&mut self, class: Class, to: Address, from: u8) {
        let to = Operand::Memory(to);
        match class {
            Class::Vector => self.emit(VMOVUPS_TO, from, 0, to),
            Class::Mask => self.asm.vex(KMOVW_TO, L128, from, 0, to),
        }
    }

    fn broadcast(&mut self, to: u8, from: Address) {
        let op = self.by_lane(VBROADCASTSS, VBROADCASTSD);
        self.emit(op, to, 0, Operand::Memory(from));
    }

    fn store_under(&mut self, to: Address, from: u8, mask: u8) {
        let op = self.by_lane(VMOVUPS_TO, VMOVUPD_TO);
        let to = Operand::Memory(to);
        self.asm.evex(op, L512, from, 0, to, Write::Under(mask));
    }

    fn tent(&mut self, tent: &Tent<'_>) {
        self.interpolate(tent);
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
        let mask = temporaries.mask;
        self.copy(Class::Mask, mask, lanes);
        self.zero(to);
        match *addresses {
            [all] if narrow => {
                let asm = &mut self.asm;
                asm.evex_gather(VGATHERQPS, L512, to, base, (all, 0), mask);
                self.emit(VPMOVZXDQ, to, 0, Operand::Register(to));
            }
            [all] => {
                let asm = &mut self.asm;
                asm.evex_gather(VGATHERQPD, L512, to, base, (all, 0), mask);
            }
            [low, high] => {
                let upper = temporaries.vector;
                self.zero(upper);
                let asm = &mut self.asm;
                asm.evex_gather(VGATHERQPS, L512, to, base, (low, 0), mask);
                asm.vex_imm(KSHIFTRW, L128, mask, 0, Operand::Register(lanes), 8);
                asm.evex_gather(VGATHERQPS, L512, upper, base, (high, 0), mask);
                self.emit_imm(VINSERTF64X4, to, to, Operand::Register(upper), 1);
            }
            _ => unreachable!("addresses are one vector or two halves"),
        }
    }
}
