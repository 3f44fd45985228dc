//! The number of strands per call, and the width of their values in memory.

use crate::ir::Scalar as Ty;

/// The lanes of a program: precision and number of strands per call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Whether reals have 64 bits.
    pub double: bool,
    /// Whether integers have 64 bits.
    pub long_int: bool,
    /// Strands per call: 1, 4, 8 or 16.
    pub width: usize,
}

impl Lanes {
    /// Bytes of a real.
    pub fn bytes(self) -> usize {
        if self.double { 8 } else { 4 }
    }

    /// Bytes of a lane of a type in memory. A truth value is as wide as an integer.
    pub fn lane_bytes(self, ty: Ty) -> usize {
        match ty {
            Ty::Real => self.bytes(),
            Ty::Int | Ty::Bool | Ty::Str if self.double || self.long_int => 8,
            Ty::Int | Ty::Bool | Ty::Str => 4,
        }
    }

    /// Bytes of a plane of lanes of a type in memory.
    pub fn plane_bytes(self, ty: Ty) -> usize {
        self.width * self.lane_bytes(ty)
    }
}
