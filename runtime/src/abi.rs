//! The types that strand programs and the scheduler share: lane masks, outcomes, the view of a super-step, lists of
//! neighbours, run-time errors.
//!
//! These are Rust types. The code generator, which implements [`crate::world::StrandProgram`], decides how machine code
//! reaches them. Values of W lanes are passed as planes, `values[component * W + lane]`, in the scalar type
//! of the variable; a dynamic sequence is a `u64` handle ([`crate::sequence::Sequence`]).

use crate::memory::Shortage;
use std::fmt;
use std::sync::atomic::AtomicBool;

/// One bit per lane of a block, lane 0 lowest.
pub type LaneMask = u32;

/// The widest block.
pub const MAX_WIDTH: usize = 16;

/// What became of the lanes of a block in one method. Lanes in neither mask go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneOutcome {
    /// Lanes that executed `stabilize`.
    pub stable: LaneMask,
    /// Lanes that executed `die`.
    pub dead: LaneMask,
}

impl LaneOutcome {
    /// Every lane goes on.
    pub const CONTINUE: LaneOutcome = LaneOutcome { stable: 0, dead: 0 };
}

/// What all methods of a super-step see.
///
/// The value of a plane of another strand at `slot` is at `base + slot / W * stride + offset +
/// slot % W * bytes`, where base and stride are the published ones for a communicated variable and
/// the state's own for a constant one.
#[derive(Clone, Copy, Debug)]
pub struct StepHead {
    /// First block of the published copies.
    pub published: *const u8,
    /// First block of the state.
    pub state: *const u8,
    /// Strands alive at the start of the super-step.
    pub all: i64,
    /// Strands active at the start of the super-step.
    pub active: i64,
    /// Strands stable at the start of the super-step.
    pub stable: i64,
    /// Super-steps completed before this one.
    pub step: u64,
    /// Whether the run is to end at once, whatever becomes of its strands.
    pub cancelled: *const AtomicBool,
    /// Whether an `update` may be left undone, because the run is to end and no other strand would notice.
    pub stopped: *const AtomicBool,
}

/// One list of strand slots per lane: the result of a spatial query. Valid until the method
/// returns.
#[derive(Clone, Copy, Debug)]
pub struct LaneLists {
    /// First slot of each lane's list.
    pub slots: [*const u32; MAX_WIDTH],
    /// Length of each lane's list.
    pub lengths: [u32; MAX_WIDTH],
}

impl LaneLists {
    /// Empty lists.
    pub const EMPTY: LaneLists = LaneLists {
        slots: [std::ptr::null(); MAX_WIDTH],
        lengths: [0; MAX_WIDTH],
    };
}

/// The kinds of run-time errors of a strand.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Integer `/` or `%` by zero. No details.
    DivisionByZero = 0,
    /// A sequence index out of range. Details: index, length.
    IndexOutOfRange = 1,
    /// A sequence longer than a handle can say. No details.
    SequenceTooLong = 2,
    /// There is no memory for a sequence, a new strand or printed text. Details: bytes that were wanted, and that are left.
    OutOfMemory = 3,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [FailureKind; 4] = [
        FailureKind::DivisionByZero,
        FailureKind::IndexOutOfRange,
        FailureKind::SequenceTooLong,
        FailureKind::OutOfMemory,
    ];

    /// The kind with the given number.
    pub fn from_code(code: u32) -> Option<FailureKind> {
        FailureKind::ALL
            .into_iter()
            .find(|&kind| kind as u32 == code)
    }
}

/// A run-time error of one strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The compiler's number of the source position.
    pub position: u32,
    /// What [`FailureKind`] says.
    pub details: [i64; 2],
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.details;
        match self.kind {
            FailureKind::DivisionByZero => write!(f, "integer division by zero"),
            FailureKind::IndexOutOfRange => write!(
                f,
                "index {first} is out of range for a sequence of length {second}"
            ),
            FailureKind::SequenceTooLong => {
                write!(f, "a sequence grew beyond {} elements", u32::MAX)
            }
            FailureKind::OutOfMemory => Shortage {
                wanted: first as u64,
                left: second as u64,
            }
            .fmt(f),
        }
    }
}

/// The lanes of a mask, lowest first.
pub(crate) fn bits(mut mask: LaneMask) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros();
            mask &= mask - 1;
            lane
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_codes_are_read_back() {
        for kind in FailureKind::ALL {
            assert_eq!(FailureKind::from_code(kind as u32), Some(kind));
        }
        assert_eq!(FailureKind::from_code(99), None);
    }
}
