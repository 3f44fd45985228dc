//! Instructions on general registers.

use super::{Address, Assembler, Label, Scalar};

/// A general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::vector) struct Gpr(pub(super) u8);

impl Gpr {
    pub(in crate::codegen::vector) const RAX: Gpr = Gpr(0);
    pub(in crate::codegen::vector) const RCX: Gpr = Gpr(1);
    pub(in crate::codegen::vector) const RDX: Gpr = Gpr(2);
    pub(in crate::codegen::vector) const RBX: Gpr = Gpr(3);
    pub(in crate::codegen::vector) const RSP: Gpr = Gpr(4);
    pub(in crate::codegen::vector) const RBP: Gpr = Gpr(5);
    pub(in crate::codegen::vector) const RSI: Gpr = Gpr(6);
    pub(in crate::codegen::vector) const RDI: Gpr = Gpr(7);
    pub(in crate::codegen::vector) const R8: Gpr = Gpr(8);
    pub(in crate::codegen::vector) const R9: Gpr = Gpr(9);
    pub(in crate::codegen::vector) const R12: Gpr = Gpr(12);
    pub(in crate::codegen::vector) const R13: Gpr = Gpr(13);
    pub(in crate::codegen::vector) const R14: Gpr = Gpr(14);
    pub(in crate::codegen::vector) const R15: Gpr = Gpr(15);

    /// The number by which vector instructions name it.
    pub(in crate::codegen::vector) fn number(self) -> u8 {
        self.0
    }

    /// The memory this many bytes after the address in this register.
    pub(in crate::codegen::vector) fn at(self, displacement: i32) -> Address {
        Address {
            base: self,
            displacement,
        }
    }
}

/// When a conditional jump is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::vector) enum Condition {
    /// The result was zero, or no lane was set.
    Zero = 4,
    /// The result was not zero, or some lane was set.
    NotZero = 5,
}

impl Assembler {
    /// The prefix for 64-bit operands and for the upper registers.
    fn rex(&mut self, wide: bool, reg: u8, rm: u8) {
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3 & 1) << 2 | (rm >> 3 & 1);
        if rex != 0x40 {
            self.byte(rex);
        }
    }

    fn on_registers(&mut self, wide: bool, opcode: &[u8], reg: u8, rm: Gpr) {
        self.rex(wide, reg, rm.0);
        self.data(opcode);
        self.byte(0xc0 | (reg & 7) << 3 | (rm.0 & 7));
    }

    fn on_indexed(&mut self, opcode: u8, reg: u8, at: Address, (index, scale): (Gpr, u8)) {
        let rex = 0x40 | (reg >> 3 & 1) << 2 | (index.0 >> 3 & 1) << 1 | (at.base.0 >> 3 & 1);
        if rex != 0x40 {
            self.byte(rex);
        }
        self.byte(opcode);
        self.memory(reg, at, Some((index.0, scale)), 1);
    }

    fn on_memory(&mut self, wide: bool, opcode: &[u8], reg: u8, at: Address) {
        self.rex(wide, reg, at.base.0);
        self.data(opcode);
        self.memory(reg, at, None, 1);
    }

    pub(in crate::codegen::vector) fn push(&mut self, r: Gpr) {
        self.note(Scalar::Other);
        self.rex(false, 0, r.0);
        self.byte(0x50 | (r.0 & 7));
    }

    pub(in crate::codegen::vector) fn pop(&mut self, r: Gpr) {
        self.note(Scalar::Other);
        self.rex(false, 0, r.0);
        self.byte(0x58 | (r.0 & 7));
    }

    /// Copies 64 bits.
    pub(in crate::codegen::vector) fn mov(&mut self, to: Gpr, from: Gpr) {
        self.note(Scalar::Move(to, from));
        self.on_registers(true, &[0x89], from.0, to);
    }

    /// A number, in as few bytes as it allows.
    pub(in crate::codegen::vector) fn mov_number(&mut self, to: Gpr, number: u64) {
        self.note(Scalar::Number(to, number));
        match u32::try_from(number) {
            Ok(number) => {
                self.rex(false, 0, to.0);
                self.byte(0xb8 | (to.0 & 7));
                self.data(&number.to_le_bytes());
            }
            Err(_) => {
                self.rex(true, 0, to.0);
                self.byte(0xb8 | (to.0 & 7));
                self.data(&number.to_le_bytes());
            }
        }
    }

    /// Loads 64 bits.
    pub(in crate::codegen::vector) fn load64(&mut self, to: Gpr, from: Address) {
        self.note(Scalar::Load64(to, from));
        self.on_memory(true, &[0x8b], to.0, from);
    }

    /// Stores 64 bits.
    pub(in crate::codegen::vector) fn store64(&mut self, to: Address, from: Gpr) {
        self.note(Scalar::Store64(to, from));
        self.on_memory(true, &[0x89], from.0, to);
    }

    /// Loads 32 bits; the others become zero.
    pub(in crate::codegen::vector) fn load32(&mut self, to: Gpr, from: Address) {
        self.note(Scalar::Load32(to, from));
        self.on_memory(false, &[0x8b], to.0, from);
    }

    /// Loads 32 bits from `at + index · 2^scale`; the others become zero.
    pub(in crate::codegen::vector) fn load32_indexed(
        &mut self,
        to: Gpr,
        at: Address,
        index: (Gpr, u8),
    ) {
        self.note(Scalar::Other);
        self.on_indexed(0x8b, to.0, at, index);
    }

    /// Stores 32 bits.
    pub(in crate::codegen::vector) fn store32(&mut self, to: Address, from: Gpr) {
        self.note(Scalar::Store32(to, from));
        self.on_memory(false, &[0x89], from.0, to);
    }

    /// Loads a byte; the other bits become zero.
    pub(in crate::codegen::vector) fn load8(&mut self, to: Gpr, from: Address) {
        self.note(Scalar::Other);
        self.on_memory(false, &[0x0f, 0xb6], to.0, from);
    }

    /// The address itself.
    pub(in crate::codegen::vector) fn lea(&mut self, to: Gpr, of: Address) {
        self.note(Scalar::AddressOf(to, of));
        self.on_memory(true, &[0x8d], to.0, of);
    }

    /// The address of a label.
    pub(in crate::codegen::vector) fn lea_label(&mut self, to: Gpr, label: Label) {
        self.note(Scalar::Other);
        self.rex(true, to.0, 0);
        self.data(&[0x8d, (to.0 & 7) << 3 | 5]);
        self.refer(label);
    }

    /// Changes the sign of 32 bits.
    pub(in crate::codegen::vector) fn neg32(&mut self, r: Gpr) {
        self.note(Scalar::Other);
        self.on_registers(false, &[0xf7], 3, r);
    }

    /// Adds 32 bits.
    pub(in crate::codegen::vector) fn add32(&mut self, to: Gpr, other: Gpr) {
        self.note(Scalar::Other);
        self.on_registers(false, &[0x01], other.0, to);
    }

    /// Subtracts 32 bits in memory.
    pub(in crate::codegen::vector) fn sub_memory32(&mut self, r: Gpr, at: Address) {
        self.note(Scalar::Other);
        self.on_memory(false, &[0x2b], r.0, at);
    }

    /// Multiplies by 32 bits in memory.
    pub(in crate::codegen::vector) fn mul_memory32(&mut self, r: Gpr, at: Address) {
        self.note(Scalar::Other);
        self.on_memory(false, &[0x0f, 0xaf], r.0, at);
    }

    /// The greater of 32 bits and those in memory, without signs.
    pub(in crate::codegen::vector) fn at_least32(&mut self, r: Gpr, at: Address) {
        self.note(Scalar::Other);
        self.on_memory(false, &[0x3b], r.0, at);
        self.on_memory(false, &[0x0f, 0x42], r.0, at);
    }

    /// The lesser of 32 bits and those in memory, without signs.
    pub(in crate::codegen::vector) fn at_most32(&mut self, r: Gpr, at: Address) {
        self.note(Scalar::Other);
        self.on_memory(false, &[0x3b], r.0, at);
        self.on_memory(false, &[0x0f, 0x47], r.0, at);
    }

    /// All 32 bits set if the last negation was of something else than zero, else none.
    pub(in crate::codegen::vector) fn all_if_borrowed32(&mut self, r: Gpr) {
        self.note(Scalar::Other);
        self.on_registers(false, &[0x19], r.0, r);
    }

    /// How many of 32 bits before the first that is set are zero.
    pub(in crate::codegen::vector) fn trailing_zeros32(&mut self, to: Gpr, of: Gpr) {
        self.note(Scalar::Other);
        self.byte(0xf3);
        self.on_registers(false, &[0x0f, 0xbc], to.0, of);
    }

    /// Subtracts one from 64 bits; tells whether zero is left.
    pub(in crate::codegen::vector) fn dec(&mut self, r: Gpr) {
        self.note(Scalar::Decrement(r));
        self.on_registers(true, &[0xff], 1, r);
    }

    /// Subtracts a number from 64 bits.
    pub(in crate::codegen::vector) fn sub(&mut self, r: Gpr, number: i32) {
        self.note(Scalar::Other);
        self.on_registers(true, &[0x81], 5, r);
        self.data(&number.to_le_bytes());
    }

    /// Clears bits; the number is extended by its sign.
    pub(in crate::codegen::vector) fn and(&mut self, r: Gpr, number: i8) {
        self.note(Scalar::Other);
        self.on_registers(true, &[0x83], 4, r);
        self.byte(number as u8);
    }

    /// Sets 32 bits of memory where those of a register are set.
    pub(in crate::codegen::vector) fn or_memory32(&mut self, at: Address, r: Gpr) {
        self.note(Scalar::OrMemory32(at, r));
        self.on_memory(false, &[0x09], r.0, at);
    }

    /// Compares a byte in memory with a number.
    pub(in crate::codegen::vector) fn compare_byte(&mut self, at: Address, number: u8) {
        self.note(Scalar::CompareByte(at, number));
        self.on_memory(false, &[0x80], 7, at);
        self.byte(number);
    }

    pub(in crate::codegen::vector) fn jump(&mut self, to: Label) {
        self.note(Scalar::Jump(to));
        self.byte(0xe9);
        self.refer(to);
    }

    pub(in crate::codegen::vector) fn jump_if(&mut self, condition: Condition, to: Label) {
        self.note(Scalar::JumpIf(condition, to));
        self.data(&[0x0f, 0x80 | condition as u8]);
        self.refer(to);
    }

    pub(in crate::codegen::vector) fn call(&mut self, address: Gpr) {
        self.note(Scalar::Call(address));
        self.on_registers(false, &[0xff], 2, address);
    }

    pub(in crate::codegen::vector) fn ret(&mut self) {
        self.note(Scalar::Return);
        self.byte(0xc3);
    }

    /// Clears the upper parts of vector registers, so that code which does not know them is not slowed down.
    pub(in crate::codegen::vector) fn vzeroupper(&mut self) {
        self.note(Scalar::Leaving);
        self.data(&[0xc5, 0xf8, 0x77]);
    }
}
