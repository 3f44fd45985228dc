//! Vector and mask instructions in the encodings VEX and EVEX.

use super::{
    Address, Assembler, Gpr, Opcode, Operand, Scalar,
    opcode::{Memory, Shape},
};

/// How long vectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::vector) enum Length {
    /// 128 bits; also what mask instructions with one operand say.
    L128 = 0,
    /// 256 bits; also what mask instructions with two operands say.
    L256 = 1,
    /// 512 bits.
    L512 = 2,
}

impl Length {
    fn bytes(self) -> i32 {
        16 << self as i32
    }
}

/// What an EVEX instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::vector) enum Write {
    /// All lanes.
    All,
    /// The lanes of a mask register; the others stay, or stay out of the mask that is computed.
    Under(u8),
}

/// An index, or a vector of them, and its scale as a power of two.
type Index = Option<(u8, u8)>;

impl Assembler {
    /// An instruction in the VEX encoding.
    pub(in crate::codegen::vector) fn vex(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        vvvv: u8,
        rm: Operand,
    ) {
        self.vex_prefix(op, length, reg, vvvv, rm, None);
        self.operand(op, reg, rm, None, 1);
    }

    /// The same with an immediate byte.
    pub(in crate::codegen::vector) fn vex_imm(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        vvvv: u8,
        rm: Operand,
        immediate: u8,
    ) {
        self.vex(op, length, reg, vvvv, rm);
        self.byte(immediate);
    }

    /// Loads lanes from `base + index · 2^scale`; the mask is used up.
    pub(in crate::codegen::vector) fn vex_gather(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        base: Gpr,
        (index, scale): (u8, u8),
        mask: u8,
    ) {
        debug_assert_eq!(op.shape, Shape::Gather);
        let rm = Operand::Memory(Address {
            base,
            displacement: 0,
        });
        let index = Some((index, scale));
        self.vex_prefix(op, length, reg, mask, rm, index);
        self.operand(op, reg, rm, index, 1);
    }

    /// An instruction in the EVEX encoding.
    pub(in crate::codegen::vector) fn evex(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        vvvv: u8,
        rm: Operand,
        write: Write,
    ) {
        self.evex_prefix(op, length, reg, vvvv, rm, None, write);
        self.operand(op, reg, rm, None, unit(op, length, rm));
    }

    /// The same with an immediate byte.
    #[allow(
        clippy::too_many_arguments,
        reason = "the operands of one instruction, as manuals list them"
    )]
    pub(in crate::codegen::vector) fn evex_imm(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        vvvv: u8,
        rm: Operand,
        write: Write,
        immediate: u8,
    ) {
        self.evex(op, length, reg, vvvv, rm, write);
        self.byte(immediate);
    }

    /// Loads the lanes of a mask from `base + index · 2^scale`; the mask is used up.
    pub(in crate::codegen::vector) fn evex_gather(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        base: Gpr,
        (index, scale): (u8, u8),
        mask: u8,
    ) {
        debug_assert_eq!(op.shape, Shape::Gather);
        let Memory::Lane(unit) = op.memory else {
            unreachable!("gathers load lanes");
        };
        let rm = Operand::Memory(Address {
            base,
            displacement: 0,
        });
        let index = Some((index, scale));
        self.evex_prefix(op, length, reg, 0, rm, index, Write::Under(mask));
        self.operand(op, reg, rm, index, unit);
    }

    /// An instruction whose last operand is at `at + index · 2^scale`.
    pub(in crate::codegen::vector) fn evex_indexed(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        vvvv: u8,
        at: Address,
        (index, scale): (Gpr, u8),
    ) {
        let rm = Operand::Memory(at);
        let index = Some((index.0, scale));
        self.evex_prefix(op, length, reg, vvvv, rm, index, Write::All);
        self.operand(op, reg, rm, index, unit(op, length, rm));
    }

    /// The same with an immediate byte.
    #[allow(
        clippy::too_many_arguments,
        reason = "the operands of one instruction, as manuals list them"
    )]
    pub(in crate::codegen::vector) fn evex_indexed_imm(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        vvvv: u8,
        at: Address,
        index: (Gpr, u8),
        immediate: u8,
    ) {
        self.evex_indexed(op, length, reg, vvvv, at, index);
        self.byte(immediate);
    }

    fn vex_prefix(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        vvvv: u8,
        rm: Operand,
        index: Index,
    ) {
        self.note(Scalar::Other);
        let wide = op.vex.expect("an instruction with a VEX encoding");
        let reg = op.digit.unwrap_or(reg);
        let (b, x) = high_bits(rm, index);
        debug_assert!(reg < 16 && vvvv < 16 && !matches!(rm, Operand::Broadcast(_)));
        let r = inverted(reg >> 3);
        let rest = (!vvvv & 15) << 3 | (length as u8) << 2 | op.prefix;
        if op.map == 1 && !wide && b == 0 && x == 0 {
            self.data(&[0xc5, r << 7 | rest]);
        } else {
            let first = r << 7 | inverted(x) << 6 | inverted(b) << 5 | op.map;
            self.data(&[0xc4, first, u8::from(wide) << 7 | rest]);
        }
        self.byte(op.byte);
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "the parts of one prefix, as manuals list them"
    )]
    fn evex_prefix(
        &mut self,
        op: Opcode,
        length: Length,
        reg: u8,
        vvvv: u8,
        rm: Operand,
        index: Index,
        write: Write,
    ) {
        self.note(Scalar::Other);
        let wide = op.evex.expect("an instruction with an EVEX encoding");
        let reg = op.digit.unwrap_or(reg);
        let (b, x) = high_bits(rm, index);
        // The index of one lane is in a general register, and that of many leaves the field `vvvv` free.
        let fifth = (vvvv | index.map_or(0, |(index, _)| index)) >> 4;
        let mask = match write {
            Write::All => 0,
            Write::Under(mask) => mask,
        };
        debug_assert!(write == Write::All || mask != 0, "k0 is not a mask");
        let first = inverted(reg >> 3) << 7
            | inverted(x) << 6
            | inverted(b) << 5
            | inverted(reg >> 4) << 4
            | op.map;
        let second = u8::from(wide) << 7 | (!vvvv & 15) << 3 | 4 | op.prefix;
        let third = (length as u8) << 5
            | u8::from(matches!(rm, Operand::Broadcast(_))) << 4
            | inverted(fifth) << 3
            | mask;
        self.data(&[0x62, first, second, third, op.byte]);
    }

    fn operand(&mut self, op: Opcode, reg: u8, rm: Operand, index: Index, unit: i32) {
        let reg = op.digit.unwrap_or(reg);
        match rm {
            Operand::Register(r) => self.byte(0xc0 | (reg & 7) << 3 | (r & 7)),
            Operand::Memory(address) | Operand::Broadcast(address) => {
                self.memory(reg, address, index, unit);
            }
        }
    }
}

/// In what an 8-bit displacement of an EVEX instruction counts, in bytes.
fn unit(op: Opcode, length: Length, rm: Operand) -> i32 {
    match (op.memory, rm) {
        (Memory::Vector(lane), Operand::Broadcast(_)) | (Memory::Lane(lane), _) => lane,
        (Memory::Vector(_), _) => length.bytes(),
        (Memory::Half, _) => length.bytes() / 2,
        (Memory::Quarter, _) => length.bytes() / 4,
        (Memory::General, _) => 1,
    }
}

/// The fourth and, of a register, the fifth bit of the numbers in an operand: those of base and index, or of a register.
fn high_bits(rm: Operand, index: Index) -> (u8, u8) {
    match rm {
        Operand::Register(r) => (r >> 3 & 1, r >> 4 & 1),
        Operand::Memory(a) | Operand::Broadcast(a) => {
            (a.base.0 >> 3 & 1, index.map_or(0, |(i, _)| i >> 3 & 1))
        }
    }
}

/// The lowest bit, as prefixes have it.
fn inverted(bit: u8) -> u8 {
    !bit & 1
}
