//! Linear interpolation in place: what the primitive does, operation by operation, for sixteen lanes.
//!
//! Two neighbouring samples of a row are loaded at once, lane by lane: on many processors faster than gathers, which their
//! microcode guards against leaks.

use super::{Target, Tent, beyond};
use crate::codegen::vector::{
    encode::{
        Condition, Gpr, Label,
        Length::{self, L128},
        Operand,
        opcode::*,
    },
    tree::{Class, Compare, Rounding, Unary},
};
use runtime::probe::{Linear, ProbeImage};
use std::mem::offset_of;

/// Cells count samples of four bytes.
pub(super) const SCALE: u8 = 2;

/// Where the members of an image's description are.
const ROWS: i32 = (ProbeImage::LINEAR + offset_of!(Linear, rows)) as i32;
const ENDS: i32 = (ProbeImage::LINEAR + offset_of!(Linear, ends)) as i32;
const FARTHEST: i32 = (ProbeImage::LINEAR + offset_of!(Linear, farthest)) as i32;
pub(super) const STRIDES: i32 = (ProbeImage::LINEAR + offset_of!(Linear, strides)) as i32;

/// The registers for the pairs of samples of four rows. The cells are done with then, and their registers take samples too.
pub(super) fn pairs_of(tent: &Tent<'_>) -> [[u8; 2]; 4] {
    let [c0, c1, c2, _, _, _, _, a0, b0, a1, b1] = tent.vectors;
    [[a0, b0], [a1, b1], [c0, c1], [c2, tent.to]]
}

impl super::Avx512 {
    pub(super) fn interpolate(&mut self, tent: &Tent<'_>) {
        let Tent { to, image, .. } = *tent;
        let [c0, c1, c2, f0, f1, f2, first_weight, a0, b0, a1, b1] = tent.vectors;
        let (cells, fractions) = ([c0, c1, c2], [f0, f1, f2]);
        let dim = tent.positions.len();
        if let Some(elsewhere) = tent.elsewhere {
            self.leave_outside(tent, elsewhere);
        }
        for (axis, &x) in tent.positions.iter().enumerate() {
            self.split(cells[axis], fractions[axis], x);
        }
        self.one_minus(first_weight, f0, tent);
        // Lanes that are near each other share what they read; others, and planes, go on here.
        let [apart, done] = [self.asm.label(), self.asm.label()];
        if dim == 3 {
            self.interpolate_in_box(tent, apart, done);
        }
        self.asm.bind(apart);
        for (n, &cell) in cells[1..dim].iter().enumerate() {
            let stride = Operand::Broadcast(image.at(STRIDES + n as i32 * 4));
            self.emit(VPMULLD, cell, cell, stride);
            self.emit(VPADDD, c0, c0, Operand::Register(cell));
        }
        // Lanes that do not run may be anywhere; they load the last samples. To wait for the mask would take longer.
        let farthest = Operand::Broadcast(image.at(FARTHEST));
        self.emit(VPMINUD, c0, c0, farthest);
        let [small, summed] = [self.asm.label(), self.asm.label()];
        if dim == 3 {
            self.leave_if_small(image, small);
        }
        self.store(Class::Vector, tent.room, c0);
        let pairs = pairs_of(tent);
        let pairs = &pairs[..1 << (dim - 1)];
        self.load_pairs(pairs, tent, SCALE);
        for &[a, b] in pairs {
            // The first samples are those with even numbers, the second those with odd ones.
            self.emit_imm(VSHUFPS, Self::SCRATCH, a, Operand::Register(b), 0x88);
            self.emit_imm(VSHUFPS, a, a, Operand::Register(b), 0xdd);
            self.emit(VMULPS, b, first_weight, Operand::Register(Self::SCRATCH));
            self.emit(VFMADD231PS, b, f0, Operand::Register(a));
        }
        if dim == 2 {
            self.sum(to, [b0, b1], f1, tent);
        } else {
            self.asm.bind(summed);
            self.sum(a0, [b0, b1], f1, tent);
            self.sum(a1, [c1, to], f1, tent);
            self.sum(to, [a0, a1], f2, tent);
            self.asm.jump(done);
            self.asm.bind(small);
            self.small_pairs(tent);
            self.asm.jump(summed);
        }
        self.asm.bind(done);
    }

    /// The pairs of samples of all lanes in two or four rows, or as many bytes of smaller ones. Of every four lanes, the first of two registers gets those of
    /// two lanes and the second those of the other two.
    pub(super) fn load_pairs(&mut self, to: &[[u8; 2]], tent: &Tent<'_>, scale: u8) {
        let rows = [Gpr::RSI, Gpr::RDX, Gpr::R8, Gpr::R9];
        for (at, &row) in (ROWS..).step_by(8).zip(&rows[..to.len()]) {
            self.asm.load64(row, tent.image.at(at));
        }
        let indices = [Gpr::RAX, Gpr::RCX];
        for quarter in 0..4 {
            for half in 0..2 {
                for (n, index) in indices.into_iter().enumerate() {
                    let lane = 4 * quarter + 2 * half + n;
                    self.asm.load32(index, beyond(tent.room, 4 * lane as i32));
                }
                for (row, halves) in rows.into_iter().zip(to) {
                    let all = halves[half];
                    let pair = if quarter == 0 { all } else { Self::SCRATCH };
                    let [first, second] = indices.map(|index| (index, scale));
                    let row = row.at(0);
                    self.asm.evex_indexed(VMOVQ, L128, pair, 0, row, first);
                    self.asm
                        .evex_indexed(VMOVHPS, L128, pair, pair, row, second);
                    if quarter > 0 {
                        let pair = Operand::Register(pair);
                        self.emit_imm(VINSERTF32X4, all, all, pair, quarter as u8);
                    }
                }
            }
        }
    }

    /// The cell and the fraction of a position inside.
    fn split(&mut self, cell: u8, fraction: u8, x: u8) {
        let rounded = Unary::Round(Rounding::Down);
        self.unary(rounded, cell, Operand::Register(x));
        self.emit(VSUBPS, fraction, x, Operand::Register(cell));
        self.emit(VCVTTPS2DQ, cell, 0, Operand::Register(cell));
    }

    /// Jumps if a sample of any lane that runs does not exist: its position is before the first sample of an axis, at the last
    /// or beyond, or NaN.
    fn leave_outside(&mut self, tent: &Tent<'_>, elsewhere: Label) {
        self.zero(Self::SCRATCH);
        let mut inside = tent.lanes;
        for (axis, &x) in (0..).zip(tent.positions) {
            let end = Operand::Broadcast(tent.image.at(ENDS + axis * 4));
            let x_register = Operand::Register(x);
            self.compare(
                Compare::LessEqual,
                tent.mask,
                Self::SCRATCH,
                x_register,
                Some(inside),
            );
            self.compare(Compare::Less, tent.mask, x, end, Some(tent.mask));
            inside = tent.mask;
        }
        let lanes = Operand::Register(tent.lanes);
        self.asm
            .vex(KXORW, Length::L256, tent.mask, tent.mask, lanes);
        self.test(tent.mask);
        self.asm.jump_if(Condition::NotZero, elsewhere);
    }

    /// The weight of the first of two samples.
    fn one_minus(&mut self, to: u8, fraction: u8, tent: &Tent<'_>) {
        self.broadcast(to, tent.one);
        self.emit(VSUBPS, to, to, Operand::Register(fraction));
    }

    /// What two neighbours contribute. The primitive's sum starts at zero, which decides about the sign of a zero.
    pub(super) fn sum(&mut self, to: u8, [first, second]: [u8; 2], fraction: u8, tent: &Tent<'_>) {
        self.one_minus(Self::SCRATCH, fraction, tent);
        self.zero(to);
        self.emit(VFMADD231PS, to, Self::SCRATCH, Operand::Register(first));
        self.emit(VFMADD231PS, to, fraction, Operand::Register(second));
    }
}
