//! Linear interpolation in a volume for lanes that are near each other: their samples are in one small box, which is read row
//! by row, and every lane picks its own from registers.
//!
//! Two registers hold two rows each that follow each other along y, in a slice and in the next. So a lane finds there, by one
//! number, its sample of any row and slice that is the first or the second of the box; those after them are in the next rows.

use super::{Target, Tent, beyond, tent::SCALE, tent::STRIDES};
use crate::codegen::vector::{
    encode::{Condition, Gpr, Label, Length, Operand, Write, opcode::*},
    tree::{Class, Compare},
};
use runtime::probe::{LANE_BY_LANE, Linear, ProbeImage, SharedBox};
use std::mem::offset_of;

/// Where the members of an image's description are.
const USABLE: i32 = (ProbeImage::LINEAR + offset_of!(Linear, usable)) as i32;
const SHARED: usize = ProbeImage::LINEAR + offset_of!(Linear, shared);
const ROWS: i32 = (SHARED + offset_of!(SharedBox, rows)) as i32;
const LASTS: i32 = (SHARED + offset_of!(SharedBox, lasts)) as i32;
const CELLS: i32 = (SHARED + offset_of!(SharedBox, cells)) as i32;
const BEFORE: i32 = (SHARED + offset_of!(SharedBox, before)) as i32;
const NEXT: i32 = (SHARED + offset_of!(SharedBox, next)) as i32;

/// The predicate of a comparison that asks for less.
const LESS: u8 = 1;

/// The numbers of samples in two registers, as powers of two: from a row to the next, and from a slice.
const ROW: u8 = SharedBox::ROW.ilog2() as u8;
const SLICE: u8 = ROW + 1;

impl super::Avx512 {
    /// Interpolates and goes on elsewhere if all lanes that run are in one box, else jumps without having changed cells and fractions.
    pub(super) fn interpolate_in_box(&mut self, tent: &Tent<'_>, apart: Label, done: Label) {
        let Tent { to, image, .. } = *tent;
        let [c0, c1, c2, f0, f1, f2, first_weight, a0, b0, a1, b1] = tent.vectors;
        let cells = [c0, c1, c2];
        let (corner, distances) = ([a0, b0, a1], [b1, to, Self::SCRATCH]);
        self.asm.compare_byte(image.at(USABLE), LANE_BY_LANE as u8);
        self.asm.jump_if(Condition::Zero, apart);
        let first_sample = self.place_box(tent, cells, corner);
        self.measure(tent, cells, corner, distances, apart);
        // What the lanes pick: their first samples along x, and the next ones.
        let [first, second] = [b1, to];
        for (distance, by) in [(to, ROW), (Self::SCRATCH, SLICE)] {
            self.emit_imm(VPSLLD, 0, distance, Operand::Register(distance), by);
            self.emit(VPADDD, first, first, Operand::Register(distance));
        }
        let next = Operand::Broadcast(image.at(NEXT));
        self.emit(VPADDD, second, first, next);
        // Cells and corner are done with; their registers take the rows of three slices.
        let slices = [[c0, c1], [c2, a0], [b0, a1]];
        let [small, loaded] = [self.asm.label(), self.asm.label()];
        self.leave_if_small(image, small);
        self.load_box(image, first_sample, slices);
        self.asm.bind(loaded);
        for slice in 0..2 {
            for (row, next) in slices[slice].into_iter().zip(slices[slice + 1]) {
                let next = Operand::Register(next);
                self.copy(Class::Vector, Self::SCRATCH, row);
                self.emit(VPERMT2PS, Self::SCRATCH, second, next);
                self.emit(VPERMT2PS, row, first, next);
                self.emit(VMULPS, row, first_weight, Operand::Register(row));
                self.emit(VFMADD231PS, row, f0, Operand::Register(Self::SCRATCH));
            }
        }
        self.sum(b0, slices[0], f1, tent);
        self.sum(a1, slices[1], f1, tent);
        self.sum(to, [b0, a1], f2, tent);
        self.asm.jump(done);
        self.asm.bind(small);
        self.load_small_box(image, first_sample, slices, loaded);
    }

    /// Puts a box around the first lane that runs at all, which is known long before the lanes that run here, with all of its
    /// samples in the image. Along y and z it has room for one cell more: that before, if any lane is there. Gives the number
    /// of its first sample.
    fn place_box(&mut self, tent: &Tent<'_>, cells: [u8; 3], corner: [u8; 3]) -> Gpr {
        let (lane, any) = (Gpr::RAX, Gpr::R8);
        let begins = [Gpr::RCX, Gpr::RDX, Gpr::RSI];
        let Tent { image, active, .. } = *tent;
        self.bits_of_lanes(lane, active);
        self.asm.trailing_zeros32(lane, lane);
        // There is a lane even if none runs.
        self.asm.and(lane, 15);
        let places = [0, 1, 2].map(|axis| beyond(tent.room, axis * Self::BYTES));
        for (cell, place) in cells.into_iter().zip(places) {
            self.store(Class::Vector, place, cell);
        }
        let at = (lane, SCALE);
        for (begin, place) in begins.into_iter().zip(places) {
            self.asm.load32_indexed(begin, place, at);
        }
        self.asm.at_least32(begins[0], image.at(BEFORE));
        self.asm.sub_memory32(begins[0], image.at(BEFORE));
        for axis in 1..3 {
            let (asm, begin) = (&mut self.asm, corner[axis]);
            asm.evex_indexed(VBROADCASTSS, Length::L512, begin, 0, places[axis], at);
            let begin = Operand::Register(begin);
            self.compare(
                Compare::IntLess,
                tent.mask,
                cells[axis],
                begin,
                Some(active),
            );
            self.bits_of_lanes(any, tent.mask);
            self.asm.neg32(any);
            self.asm.all_if_borrowed32(any);
            self.asm.add32(begins[axis], any);
        }
        for axis in 0..3 {
            let last = image.at(LASTS + axis as i32 * 4);
            self.asm.at_most32(begins[axis], last);
            let begin = Operand::Register(begins[axis].number());
            self.emit(VPBROADCASTD_GPR, corner[axis], 0, begin);
        }
        for axis in 1..3 {
            let stride = image.at(STRIDES + (axis as i32 - 1) * 4);
            self.asm.mul_memory32(begins[axis], stride);
            self.asm.add32(begins[0], begins[axis]);
        }
        begins[0]
    }

    /// How far the lanes are from the corner; jumps if any of those that run is not in the box.
    fn measure(
        &mut self,
        tent: &Tent<'_>,
        cells: [u8; 3],
        corner: [u8; 3],
        distances: [u8; 3],
        apart: Label,
    ) {
        for axis in 0..3 {
            let begin = Operand::Register(corner[axis]);
            self.emit(VPSUBD, distances[axis], cells[axis], begin);
        }
        let mut near = tent.lanes;
        for (axis, distance) in (0..).zip(distances) {
            let cells = Operand::Broadcast(tent.image.at(CELLS + axis * 4));
            let (asm, under) = (&mut self.asm, Write::Under(near));
            asm.evex_imm(
                VPCMPUD,
                Length::L512,
                tent.mask,
                distance,
                cells,
                under,
                LESS,
            );
            near = tent.mask;
        }
        let lanes = Operand::Register(tent.lanes);
        let asm = &mut self.asm;
        asm.vex(KXORW, Length::L256, tent.mask, tent.mask, lanes);
        self.test(tent.mask);
        self.asm.jump_if(Condition::NotZero, apart);
    }

    /// The rows of three slices of the box, two and two that follow each other in a register.
    fn load_box(&mut self, image: Gpr, first_sample: Gpr, slices: [[u8; 2]; 3]) {
        let at = (first_sample, SCALE);
        self.each_row(image, slices, |target, to, [low, high]| {
            let asm = &mut target.asm;
            asm.evex_indexed(VMOVUPS, Length::L256, to, 0, low.at(0), at);
            asm.evex_indexed_imm(VINSERTF64X4, Length::L512, to, to, high.at(0), at, 1);
        });
    }

    /// Loads every register of a box, from two rows whose addresses are given.
    pub(super) fn each_row(
        &mut self,
        image: Gpr,
        slices: [[u8; 2]; 3],
        load: impl Fn(&mut Self, u8, [Gpr; 2]),
    ) {
        let rows = [Gpr::RSI, Gpr::RDX, Gpr::R8];
        for (n, slice) in (0..).zip(slices) {
            for (m, row) in (0..).zip(rows) {
                self.asm.load64(row, image.at(ROWS + (3 * n + m) * 8));
            }
            for (to, pair) in slice.into_iter().zip(rows.windows(2)) {
                load(self, to, [pair[0], pair[1]]);
            }
        }
    }
}
