//! The machines: what every operation is in instructions.
//!
//! Registers are numbers. Each sequence of instructions reads all its operands before it writes its result, or writes it last,
//! so the result may take the register of an operand. The scratch register of each machine is free between operations.

mod avx2;
mod avx512;
mod shared_box;
mod small;
mod tent;

pub(super) use avx2::Avx2;
pub(super) use avx512::Avx512;

use super::{
    encode::{Address, Assembler, Gpr, Label, Operand},
    tree::{Binary, Class, Compare, Logic, Unary},
};
use std::ops::Range;

/// The registers that a gather may use besides its result, which is none of its operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Temporaries {
    pub(super) vector: u8,
    pub(super) mask: u8,
}

/// Linear interpolation in an image of which a register has the description's address; the result and all temporaries are
/// other registers than the operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tent<'a> {
    pub(super) to: u8,
    pub(super) image: Gpr,
    pub(super) positions: &'a [u8],
    /// Where to go if a lane that runs has a position outside the image, unless it is known that none has.
    pub(super) elsewhere: Option<Label>,
    /// The number one.
    pub(super) one: Address,
    /// Room for [`TENT_ROOM`] vectors.
    pub(super) room: Address,
    pub(super) vectors: [u8; TENT_VECTORS],
    /// The lanes that run here, those that run at all, and a mask for any use.
    pub(super) lanes: u8,
    pub(super) active: u8,
    pub(super) mask: u8,
}

/// How many vector registers interpolation needs, and vectors in memory.
pub(super) const TENT_VECTORS: usize = 11;
pub(super) const TENT_ROOM: usize = 3;

/// A machine.
pub(super) trait Target {
    /// Bytes of a vector.
    const BYTES: i32;
    /// Files of registers.
    const FILES: usize;
    /// A vector register that is free between operations.
    const SCRATCH: u8;
    /// Whether instructions take one lane in memory for all.
    const SPREADS: bool;

    /// The file of registers for a class of values.
    fn file(class: Class) -> usize;
    /// The registers of a file that values can be in.
    fn registers(file: usize) -> Range<u8>;
    /// A register of this class that is free between operations.
    fn scratch(class: Class) -> u8;

    fn asm(&mut self) -> &mut Assembler;

    fn binary(&mut self, op: Binary, to: u8, a: u8, b: Operand);
    fn unary(&mut self, op: Unary, to: u8, a: Operand);
    /// A comparison, false outside of a mask.
    fn compare(&mut self, op: Compare, to: u8, a: u8, b: Operand, under: Option<u8>);
    /// `a` where the mask is set, else `b`.
    fn select(&mut self, to: u8, mask: u8, a: Operand, b: u8);
    /// Changes the lanes of a mask only.
    fn merge(&mut self, to: u8, from: Operand, mask: u8);

    fn logic(&mut self, op: Logic, to: u8, a: u8, b: u8);
    fn not(&mut self, to: u8, a: u8);
    fn select_mask(&mut self, to: u8, mask: u8, a: u8, b: u8);
    /// All lanes or none.
    fn truth(&mut self, to: u8, truth: bool);
    /// All lanes or none, as a byte says that is 0 or 1.
    fn truth_at(&mut self, to: u8, at: Address);
    /// Lanes of zeros or ones as a mask.
    fn to_mask(&mut self, to: u8, from: Operand);
    /// A mask as lanes of zeros or ones.
    fn to_word(&mut self, to: u8, from: u8);
    /// The lanes whose bits are set in memory; `table` has the bit of each lane.
    fn lanes_of_bits(&mut self, to: u8, bits: Address, table: Address);
    /// The lanes of a mask as bits.
    fn bits_of_lanes(&mut self, to: Gpr, mask: u8);
    /// Asks whether any lane of a mask is set.
    fn test(&mut self, mask: u8);

    fn copy(&mut self, class: Class, to: u8, from: u8);
    fn load(&mut self, class: Class, to: u8, from: Address);
    fn store(&mut self, class: Class, to: Address, from: u8);
    /// One lane in memory for all.
    fn broadcast(&mut self, to: u8, from: Address);
    /// Stores the lanes of a mask.
    fn store_under(&mut self, to: Address, from: u8, mask: u8);

    /// Interpolates linearly in place.
    fn tent(&mut self, tent: &Tent<'_>);

    /// Reads the lanes of a mask at addresses of 64 bits, in one vector or two halves; the others become zero.
    fn gather(
        &mut self,
        to: u8,
        base: Gpr,
        addresses: &[u8],
        lanes: u8,
        narrow: bool,
        temporaries: Temporaries,
    );
}

/// An address some bytes farther.
fn beyond(at: Address, bytes: i32) -> Address {
    Address {
        base: at.base,
        displacement: at.displacement + bytes,
    }
}

/// The predicates of comparisons of reals: ordered, without signals.
fn predicate(op: Compare) -> Option<u8> {
    match op {
        Compare::Less => Some(0x11),
        Compare::LessEqual => Some(0x12),
        Compare::Equal => Some(0x00),
        Compare::IntLess | Compare::IntLessEqual | Compare::IntEqual => None,
    }
}

/// Rounding to integers without signalling that something was lost.
const QUIETLY: u8 = 8;
