//! A record of the instructions on general registers, for the checker of register assignments.
//!
//! The assembler makes it if asked to. Every instruction has an entry, so that none can be left out of the check; those that
//! occur only inside the sequences of a machine, which are recorded as one operation, are not told apart.

use super::{Address, Assembler, Condition, Gpr, Label};

/// An instruction on general registers, or a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::vector) enum Scalar {
    Bind(Label),
    Jump(Label),
    JumpIf(Condition, Label),
    Call(Gpr),
    Return,
    /// The upper parts of vector registers are cleared: the function is about to return.
    Leaving,
    Move(Gpr, Gpr),
    Number(Gpr, u64),
    Load64(Gpr, Address),
    Load32(Gpr, Address),
    Store64(Address, Gpr),
    Store32(Address, Gpr),
    OrMemory32(Address, Gpr),
    AddressOf(Gpr, Address),
    CompareByte(Address, u8),
    Decrement(Gpr),
    /// Anything else.
    Other,
}

impl Assembler {
    /// From now on instructions are recorded.
    pub(in crate::codegen::vector) fn start_record(&mut self) {
        self.record = Some(Vec::new());
    }

    /// How many instructions have been recorded, if they are.
    pub(in crate::codegen::vector) fn recorded(&self) -> Option<usize> {
        self.record.as_ref().map(Vec::len)
    }

    /// Keeps this many recorded instructions, and removes those after them.
    pub(in crate::codegen::vector) fn forget_after(&mut self, count: usize) {
        if let Some(record) = &mut self.record {
            record.truncate(count);
        }
    }

    /// Ends the record.
    pub(in crate::codegen::vector) fn take_record(&mut self) -> Vec<Scalar> {
        self.record.take().unwrap_or_default()
    }

    pub(super) fn note(&mut self, instruction: Scalar) {
        if let Some(record) = &mut self.record {
            record.push(instruction);
        }
    }
}
