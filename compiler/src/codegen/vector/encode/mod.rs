//! Machine code of x86-64: the instructions that vector code consists of, as bytes.
//!
//! Takes opcodes of one table and operands, gives bytes with all jumps resolved. Nothing here chooses instructions or
//! registers. The tests read back every instruction with every operand by a disassembler.

pub(super) mod opcode;
mod record;
mod scalar;
#[cfg(test)]
mod tests;
mod vector;

pub(super) use opcode::Opcode;
pub(super) use record::Scalar;
pub(super) use scalar::{Condition, Gpr};
pub(super) use vector::{Length, Write};

/// A place in memory: bytes after what a register points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub(super) base: Gpr,
    pub(super) displacement: i32,
}

/// The last operand of most instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A vector or mask register by its number.
    Register(u8),
    /// What an instruction wants of memory: mostly a vector.
    Memory(Address),
    /// One lane in memory that counts for all.
    Broadcast(Address),
}

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Label(usize);

/// Code that is being written.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    code: Vec<u8>,
    /// Where each label is, once it is known.
    labels: Vec<Option<usize>>,
    /// Where the distance to a label stands, counted from behind it.
    references: Vec<(usize, Label)>,
    /// The instructions on general registers, if they are recorded.
    record: Option<Vec<Scalar>>,
}

impl Assembler {
    /// A label that is not yet anywhere.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts a label here.
    pub(super) fn bind(&mut self, label: Label) {
        debug_assert!(self.labels[label.0].is_none(), "a label is at one place");
        self.labels[label.0] = Some(self.code.len());
        self.note(Scalar::Bind(label));
    }

    /// Fills up with instructions that do nothing, so that what follows begins at a multiple of `bytes`.
    pub(super) fn align(&mut self, bytes: usize) {
        const NOTHING: u8 = 0x90;
        self.code
            .resize(self.code.len().next_multiple_of(bytes), NOTHING);
    }

    /// Puts data here.
    pub(super) fn data(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    /// The finished code.
    ///
    /// # Panics
    /// If a label that is jumped to is nowhere.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for (at, label) in std::mem::take(&mut self.references) {
            let target = self.labels[label.0].expect("every label has a place");
            let distance = target as i64 - (at as i64 + 4);
            self.patch(at, i32::try_from(distance).expect("code below 2 GB"));
        }
        self.code
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> usize {
        self.code.len()
    }

    fn patch(&mut self, at: usize, value: i32) {
        self.code[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn byte(&mut self, byte: u8) {
        self.code.push(byte);
    }

    fn refer(&mut self, label: Label) {
        self.references.push((self.code.len(), label));
        self.data(&[0; 4]);
    }

    /// ModRM, and SIB and displacement where needed, of a memory operand. An 8-bit displacement counts in units of `unit`
    /// bytes; an index is a register with a scale as a power of two.
    fn memory(&mut self, reg: u8, address: Address, index: Option<(u8, u8)>, unit: i32) {
        const SIB: u8 = 4;
        const DISPLACEMENT_8: u8 = 0x40;
        const DISPLACEMENT_32: u8 = 0x80;
        let Address { base, displacement } = address;
        let low = base.0 & 7;
        let short = (displacement % unit == 0)
            .then(|| i8::try_from(displacement / unit).ok())
            .flatten();
        // Without a displacement, the base register 5 (rbp, r13) would mean something else.
        let mode = match short {
            Some(0) if low != 5 => 0,
            Some(_) => DISPLACEMENT_8,
            None => DISPLACEMENT_32,
        };
        let reg = (reg & 7) << 3;
        match index {
            Some((index, scale)) => {
                self.data(&[mode | reg | SIB, scale << 6 | (index & 7) << 3 | low]);
            }
            // The base register 4 (rsp, r12) is written as an address without index.
            None if low == SIB => self.data(&[mode | reg | SIB, SIB << 3 | SIB]),
            None => self.byte(mode | reg | low),
        }
        match (mode, short) {
            (DISPLACEMENT_8, Some(short)) => self.byte(short as u8),
            (DISPLACEMENT_32, _) => self.data(&displacement.to_le_bytes()),
            _ => {}
        }
    }
}
