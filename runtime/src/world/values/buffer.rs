//! Values of strands that are not kept themselves: room for those of every strand in creation order, filled by workers in any
//! order.

use super::collect::put_lanes;
use crate::abi::{LaneMask, MAX_WIDTH, bits};
use crate::memory::{Room, roomy};
use crate::reduce::Values;
use crate::strands::{Kind, Scalar, StateLayout};

/// The values of a variable in the making.
pub(crate) struct ValueBuffer {
    values: Values,
    components: usize,
}

impl ValueBuffer {
    pub(crate) fn new(layout: &StateLayout, variable: usize, strands: usize) -> ValueBuffer {
        let Kind::Tensor { scalar, components } = layout.variables()[variable].kind else {
            unreachable!("strands with sequences are kept")
        };
        let room = strands * components;
        ValueBuffer {
            values: match scalar {
                Scalar::F32 => Values::F32(roomy(room)),
                Scalar::F64 => Values::F64(roomy(room)),
                Scalar::I32 => Values::I32(roomy(room)),
                Scalar::I64 => Values::I64(roomy(room)),
                Scalar::Bool => Values::Bool(roomy(room)),
            },
            components,
        }
    }

    /// Where they are written.
    pub(crate) fn room(&mut self) -> Room<u8> {
        Room::new(match &mut self.values {
            Values::F32(values) => values.as_mut_ptr().cast(),
            Values::I32(values) => values.as_mut_ptr().cast(),
            Values::F64(values) => values.as_mut_ptr().cast(),
            Values::I64(values) => values.as_mut_ptr().cast(),
            Values::Bool(values) => values.as_mut_ptr(),
        })
    }

    /// The values of those that are not dead; of all if there are none.
    ///
    /// # Safety
    /// Those of every strand that is not marked were written.
    pub(crate) unsafe fn finish(self, dead: &[u8], any: bool) -> Values {
        let ValueBuffer {
            mut values,
            components,
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

/// The planes of a variable in a block, and how long its scalars are.
pub(crate) struct VariablePlanes {
    offsets: Vec<usize>,
    scalar: usize,
}

impl VariablePlanes {
    pub(crate) fn new(layout: &StateLayout, variable: usize) -> VariablePlanes {
        let Kind::Tensor { scalar, components } = layout.variables()[variable].kind else {
            unreachable!("strands with sequences are kept")
        };
        let offsets = (0..components).map(|n| layout.plane(variable, n).offset);
        VariablePlanes {
            offsets: offsets.collect(),
            scalar: scalar.bytes(),
        }
    }

    /// Bytes of the values of a strand.
    pub(crate) fn bytes(&self) -> usize {
        self.scalar * self.offsets.len()
    }

    /// Appends the values of some lanes of a block, lane by lane.
    ///
    /// # Safety
    /// The block has values for these lanes.
    pub(crate) unsafe fn pack(&self, block: *const u8, lanes: LaneMask, letter: &mut Vec<u8>) {
        for lane in bits(lanes) {
            for &offset in &self.offsets {
                // SAFETY: the caller's promise.
                letter.extend_from_slice(unsafe {
                    let value = block.add(offset + lane as usize * self.scalar);
                    std::slice::from_raw_parts(value, self.scalar)
                });
            }
        }
    }

    /// Writes the values of some lanes of a block; those of the strand of rank `first` belong at `to`.
    ///
    /// # Safety
    /// The block has values for these lanes, there is room for those of their ranks, and no other thread writes theirs.
    pub(crate) unsafe fn put(
        &self,
        to: *mut u8,
        first: u32,
        block: *const u8,
        lanes: LaneMask,
        ranks: &[u32],
    ) {
        const ALL: LaneMask = (1 << MAX_WIDTH) - 1;
        let offsets = &self.offsets;
        let place = |n: usize| ranks[n].wrapping_sub(first);
        let words = Room::new(to.cast::<u32>());
        // SAFETY: the caller's promise.
        unsafe {
            match (self.scalar, <&[u32; MAX_WIDTH]>::try_from(ranks)) {
                // Without a loop, and without products for scalars, for the cases that should be quick.
                (4, Ok(ranks)) if lanes == ALL => {
                    let places = ranks.map(|rank| rank.wrapping_sub(first));
                    match offsets[..] {
                        [offset] => put_lanes(&words, block, &[offset], ALL, |n| places[n]),
                        _ => put_lanes(&words, block, offsets, ALL, |n| places[n]),
                    }
                }
                (4, _) => put_lanes(&words, block, offsets, lanes, place),
                (8, _) => put_lanes(&Room::new(to.cast::<u64>()), block, offsets, lanes, place),
                _ => put_lanes(&Room::new(to), block, offsets, lanes, place),
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
        // SAFETY: both are in the vector's room.
        unsafe {
            let (from, to) = (start.add(rank * components), start.add(kept * components));
            std::ptr::copy(from, to, components);
        }
        kept += 1;
    }
    // SAFETY: the values of the living were written.
    unsafe { values.set_len(kept * components) };
}
