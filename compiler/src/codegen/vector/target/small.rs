//! Samples of one and two bytes in linear interpolation: how lanes load them, and make numbers of them.
//!
//! The code is made before any image is loaded, so it is there for all types of samples, and the description of the image chooses.
//! Bytes and pairs of bytes differ by numbers in the description as far as possible.

use super::tent::pairs_of;
use super::{Target, Tent};
use crate::codegen::vector::{
    encode::{
        Condition, Gpr, Label,
        Length::{L128, L256},
        Operand,
        opcode::*,
    },
    tree::Class,
};
use runtime::probe::{Linear, ProbeImage, SmallSamples};
use std::mem::offset_of;

/// Where the members of an image's description are.
const SMALL: usize = ProbeImage::LINEAR + offset_of!(Linear, small);
const BYTES: i32 = (SMALL + offset_of!(SmallSamples, bytes)) as i32;
const SHIFT: i32 = (SMALL + offset_of!(SmallSamples, shift)) as i32;
const BITS: i32 = (SMALL + offset_of!(SmallSamples, bits)) as i32;
const MASK: i32 = (SMALL + offset_of!(SmallSamples, mask)) as i32;
const FLIP: i32 = (SMALL + offset_of!(SmallSamples, flip)) as i32;
const BASE: i32 = (SMALL + offset_of!(SmallSamples, base)) as i32;

/// The table of truth of `(a ∧ b) ⊻ c`.
const AND_THEN_XOR: u8 = 0x6a;

impl super::Avx512 {
    /// Jumps if the samples are smaller than reals.
    pub(super) fn leave_if_small(&mut self, image: Gpr, to: Label) {
        self.asm.compare_byte(image.at(BYTES), 0);
        self.asm.jump_if(Condition::NotZero, to);
    }

    /// What two neighbours along x contribute in each of four rows, for lanes that read their own samples. The number of the cell of
    /// each lane is in the first register; the second of each pair gets the sum.
    pub(super) fn small_pairs(&mut self, tent: &Tent<'_>) {
        let Tent { image, .. } = *tent;
        let [cell, .., f0, _, _, first_weight, _, _, _, _] = tent.vectors;
        let shift = Operand::Broadcast(image.at(SHIFT));
        self.emit(VPSLLVD, cell, cell, shift);
        self.store(Class::Vector, tent.room, cell);
        let pairs = pairs_of(tent);
        self.load_pairs(&pairs, tent, 0);
        for [a, b] in pairs {
            // Both samples of a lane are in the first of its two words.
            self.emit_imm(VSHUFPS, Self::SCRATCH, a, Operand::Register(b), 0x88);
            let bits = Operand::Broadcast(image.at(BITS));
            self.emit(VPSRLVD, a, Self::SCRATCH, bits);
            self.broadcast(b, image.at(MASK));
            let [flip, base] = [FLIP, BASE].map(|at| Operand::Broadcast(image.at(at)));
            for words in [Self::SCRATCH, a] {
                self.emit_imm(VPTERNLOGD, words, b, flip, AND_THEN_XOR);
                self.emit(VSUBPS, words, words, base);
            }
            self.emit(VMULPS, b, first_weight, Operand::Register(Self::SCRATCH));
            self.emit(VFMADD231PS, b, f0, Operand::Register(a));
        }
    }

    /// The rows of three slices of a box, as those of reals; goes on elsewhere.
    pub(super) fn load_small_box(
        &mut self,
        image: Gpr,
        first_sample: Gpr,
        slices: [[u8; 2]; 3],
        loaded: Label,
    ) {
        let bytes = self.asm.label();
        self.asm.compare_byte(image.at(BYTES), 1);
        self.asm.jump_if(Condition::Zero, bytes);
        let at = (first_sample, 1);
        self.each_row(image, slices, |target, to, [low, high]| {
            let asm = &mut target.asm;
            asm.evex_indexed(VMOVUPS, L128, to, 0, low.at(0), at);
            asm.evex_indexed_imm(VINSERTF32X4, L256, to, to, high.at(0), at, 1);
            target.emit(VPMOVZXWD, to, 0, Operand::Register(to));
            target.numbers(image, to);
        });
        self.asm.jump(loaded);
        self.asm.bind(bytes);
        let at = (first_sample, 0);
        self.each_row(image, slices, |target, to, [low, high]| {
            let asm = &mut target.asm;
            asm.evex_indexed(VMOVQ, L128, to, 0, low.at(0), at);
            asm.evex_indexed(VMOVHPS, L128, to, to, high.at(0), at);
            target.emit(VPMOVZXBD, to, 0, Operand::Register(to));
            target.numbers(image, to);
        });
        self.asm.jump(loaded);
    }

    /// The numbers of samples whose bits are those of words.
    fn numbers(&mut self, image: Gpr, words: u8) {
        let [flip, base] = [FLIP, BASE].map(|at| Operand::Broadcast(image.at(at)));
        self.emit(VXORPS, words, words, flip);
        self.emit(VSUBPS, words, words, base);
    }
}
