//! Values of strands that are not kept themselves: room for those of every strand in creation order, filled by workers in any
//! order.

use super::collect::put_lanes;
use crate::abi::{LaneMask, MAX_WIDTH};
use crate::memory::{Room, roomy};
use crate::reduce::Values;
use crate::strands::{Kind, Scalar, StateLayout};
use std::ops::Range;

/// The values of a variable in the making.
pub(super) struct Kept {
    values: Values,
    components: usize,
    offsets: Vec<usize>,
}

impl Kept {
    pub(super) fn new(layout: &StateLayout, variable: usize, strands: usize) -> Kept {
        let Kind::Tensor { scalar, components } = layout.variables()[variable].kind else {
            unreachable!("strands with sequences are kept")
        };
        let room = strands * components;
        let offsets = (0..components).map(|n| layout.plane(variable, n).offset);
        Kept {
            values: match scalar {
                Scalar::F32 => Values::F32(roomy(room)),
                Scalar::F64 => Values::F64(roomy(room)),
                Scalar::I32 => Values::I32(roomy(room)),
                Scalar::I64 => Values::I64(roomy(room)),
                Scalar::Bool => Values::Bool(roomy(room)),
            },
            components,
            offsets: offsets.collect(),
        }
    }

    /// How much of it each strand has.
    pub(super) fn bytes(layout: &StateLayout, variable: usize) -> usize {
        match layout.variables()[variable].kind {
            Kind::Tensor { scalar, components } => scalar.bytes() * components,
            Kind::Sequence { .. } => unreachable!("strands with sequences are kept"),
        }
    }

    pub(super) fn way(&mut self) -> Way {
        let place = match &mut self.values {
            Values::F32(values) => Place::Words(Room::new(values.as_mut_ptr().cast())),
            Values::I32(values) => Place::Words(Room::new(values.as_mut_ptr().cast())),
            Values::F64(values) => Place::Doubles(Room::new(values.as_mut_ptr().cast())),
            Values::I64(values) => Place::Doubles(Room::new(values.as_mut_ptr().cast())),
            Values::Bool(values) => Place::Bytes(Room::new(values.as_mut_ptr())),
        };
        Way {
            offsets: self.offsets.clone(),
            place,
        }
    }

    /// The values of those that are not dead; of all if there are none.
    ///
    /// # Safety
    /// Those of every strand that is not marked were written.
    pub(super) unsafe fn finish(self, dead: &[u8], any: bool) -> Values {
        let Kept {
            mut values,
            components,
            ..
        } = self;
        // SAFETY: the caller's promise.
        unsafe {
            match &mut values {
                Values::F32(values) => close_up(values, components, dead, any),
                Values::F64(values) => close_up(values, components, dead, any),
                Values::I32(values) => close_up(values, components, dead, any),
                Values::I64(values) => close_up(values, components, dead, any),
                Values::Bool(values) => close_up(values, components, dead, any),
            }
        }
        values
    }
}

/// The planes of a variable in a block, and where its values go.
pub(super) struct Way {
    offsets: Vec<usize>,
    place: Place,
}

/// Room for scalars of one, four or eight bytes.
enum Place {
    Bytes(Room<u8>),
    Words(Room<u32>),
    Doubles(Room<u64>),
}

impl Way {
    /// Writes the values of some lanes of a block where those of their ranks are.
    ///
    /// # Safety
    /// The block has values for these lanes, their ranks are below the number of strands, and nobody else writes theirs.
    pub(super) unsafe fn put(&self, block: *const u8, lanes: LaneMask, ranks: &[u32]) {
        const ALL: LaneMask = (1 << MAX_WIDTH) - 1;
        let Way { offsets, place } = self;
        // SAFETY: the caller's promise.
        unsafe {
            match (place, <&[u32; MAX_WIDTH]>::try_from(ranks)) {
                // Without a loop for the case that should be quick.
                (Place::Words(room), Ok(ranks)) if lanes == ALL => {
                    put_lanes(room, block, offsets, ALL, |n| ranks[n]);
                }
                (Place::Bytes(room), _) => put_lanes(room, block, offsets, lanes, |n| ranks[n]),
                (Place::Words(room), _) => put_lanes(room, block, offsets, lanes, |n| ranks[n]),
                (Place::Doubles(room), _) => put_lanes(room, block, offsets, lanes, |n| ranks[n]),
            }
        }
    }

    /// The bytes of the values of some strands, and how many bytes those before them have.
    ///
    /// # Safety
    /// They were written, and nobody writes them any more.
    pub(super) unsafe fn written(&self, strands: Range<usize>) -> (usize, &[u8]) {
        let components = self.offsets.len();
        let range = strands.start * components..strands.end * components;
        // SAFETY: the caller's promise.
        unsafe {
            match &self.place {
                Place::Bytes(room) => room.written(range),
                Place::Words(room) => room.written(range),
                Place::Doubles(room) => room.written(range),
            }
        }
    }
}

/// Moves the values of the living together and gives the vector its length.
///
/// # Safety
/// There is room for the values of all, and those of the living were written.
unsafe fn close_up<T: Copy>(values: &mut Vec<T>, components: usize, dead: &[u8], any: bool) {
    let start = values.as_mut_ptr();
    let mut kept = if any { 0 } else { dead.len() };
    for rank in (kept..dead.len()).filter(|&rank| dead[rank] == 0) {
        // SAFETY: both lie in the vector's room.
        unsafe {
            let (from, to) = (start.add(rank * components), start.add(kept * components));
            std::ptr::copy(from, to, components);
        }
        kept += 1;
    }
    // SAFETY: the values of the living were written.
    unsafe { values.set_len(kept * components) };
}
