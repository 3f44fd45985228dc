//! Linear interpolation in place: what the primitive does, operation by operation, for sixteen lanes.
//!
//! Two neighbouring samples of a row are gathered at once, as one number of 64 bits.

use super::{Target, Tent, avx512::SCRATCH_MASK};
use crate::codegen::vector::{
    encode::{Gpr, Length, Operand, opcode::*},
    tree::{Class, Rounding, Unary},
};
use runtime::probe::{Linear, ProbeImage};
use std::mem::offset_of;

/// Where the members of an image's description are.
const ROWS: i32 = (ProbeImage::LINEAR + offset_of!(Linear, rows)) as i32;
const ENDS: i32 = (ProbeImage::LINEAR + offset_of!(Linear, ends)) as i32;
const LASTS: i32 = (ProbeImage::LINEAR + offset_of!(Linear, lasts)) as i32;
const STRIDES: i32 = (ProbeImage::LINEAR + offset_of!(Linear, strides)) as i32;

impl super::Avx512 {
    pub(super) fn interpolate(&mut self, tent: &Tent<'_>) {
        let Tent { to, image, .. } = *tent;
        let [
            c0,
            c1,
            c2,
            f0,
            f1,
            f2,
            first_weight,
            a,
            b,
            upper,
            evens,
            odds,
        ] = tent.vectors;
        let (cells, fractions) = ([c0, c1, c2], [f0, f1, f2]);
        let dim = tent.positions.len();
        for (axis, &x) in tent.positions.iter().enumerate() {
            if tent.inside {
                self.split(cells[axis], fractions[axis], x);
            } else {
                self.locate(cells[axis], fractions[axis], x, image, axis as i32);
            }
        }
        for (n, &cell) in cells[1..dim].iter().enumerate() {
            let stride = Operand::Broadcast(image.at(STRIDES + n as i32 * 4));
            self.emit(VPMULLD, cell, cell, stride);
            self.emit(VPADDD, c0, c0, Operand::Register(cell));
        }
        self.emit_imm(VEXTRACTF64X4, c0, 0, Operand::Register(upper), 1);
        let lanes = Operand::Register(tent.lanes);
        let shifted = Length::L128;
        self.asm
            .vex_imm(KSHIFTRW, shifted, SCRATCH_MASK, 0, lanes, 8);
        for (table, at) in [evens, odds].into_iter().zip(tent.pairs) {
            self.load(Class::Vector, table, at);
        }
        self.one_minus(first_weight, f0, tent);
        // The cells of the other axes are done with; their registers take the sums.
        let (slice, whole) = if dim == 3 { (c1, to) } else { (to, c2) };
        for z in 0..(if dim == 3 { 2 } else { 1 }) {
            for y in 0..2 {
                let row = Gpr::RAX;
                self.asm.load64(row, image.at(ROWS + 8 * (2 * z + y)));
                self.gather_pairs(a, row, c0, tent.lanes, tent.mask);
                self.gather_pairs(b, row, upper, SCRATCH_MASK, tent.mask);
                // Now the first samples are in the scratch register and the second in `a`.
                self.copy(Class::Vector, Self::SCRATCH, a);
                self.emit(VPERMT2PS, Self::SCRATCH, evens, Operand::Register(b));
                self.emit(VPERMT2PS, a, odds, Operand::Register(b));
                self.emit(VMULPS, b, first_weight, Operand::Register(Self::SCRATCH));
                self.emit(VFMADD231PS, b, f0, Operand::Register(a));
                self.accumulate(slice, b, f1, y == 0, tent);
            }
            if dim == 3 {
                self.accumulate(whole, slice, f2, z == 0, tent);
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

    /// The cell and the fraction of any position, moved into the image. The second operand of minimum and maximum keeps a NaN for the fraction, the
    /// first one loses it for the cell.
    fn locate(&mut self, cell: u8, fraction: u8, x: u8, image: Gpr, axis: i32) {
        let [end, last] = [ENDS, LASTS].map(|at| image.at(at + axis * 4));
        self.zero(cell);
        self.emit(VMAXPS, fraction, cell, Operand::Register(x));
        self.broadcast(cell, end);
        self.emit(VMINPS, fraction, cell, Operand::Register(fraction));
        let rounded = Unary::Round(Rounding::Down);
        self.unary(rounded, cell, Operand::Register(fraction));
        self.emit(VMINPS, cell, cell, Operand::Broadcast(last));
        self.emit(VSUBPS, fraction, fraction, Operand::Register(cell));
        self.emit(VCVTTPS2DQ, cell, 0, Operand::Register(cell));
    }

    /// Two samples for each of eight lanes.
    fn gather_pairs(&mut self, to: u8, row: Gpr, cells: u8, lanes: u8, mask: u8) {
        /// Cells count samples of four bytes.
        const SCALE: u8 = 2;
        self.copy(Class::Mask, mask, lanes);
        self.zero(to);
        let asm = &mut self.asm;
        asm.evex_gather(VGATHERDPD, Length::L512, to, row, (cells, SCALE), mask);
    }

    /// The weight of the first of two samples.
    fn one_minus(&mut self, to: u8, fraction: u8, tent: &Tent<'_>) {
        self.broadcast(to, tent.one);
        self.emit(VSUBPS, to, to, Operand::Register(fraction));
    }

    /// Adds what the first or the second of two neighbours contributes. The primitive's sum starts at zero, which decides about
    /// the sign of a zero.
    fn accumulate(&mut self, sum: u8, term: u8, fraction: u8, is_first: bool, tent: &Tent<'_>) {
        let term = Operand::Register(term);
        if is_first {
            self.one_minus(Self::SCRATCH, fraction, tent);
            self.zero(sum);
            self.emit(VFMADD231PS, sum, Self::SCRATCH, term);
        } else {
            self.emit(VFMADD231PS, sum, fraction, term);
        }
    }
}
