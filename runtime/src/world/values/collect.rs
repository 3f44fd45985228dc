//! From blocks to strand order: takes planes of every block, gives the values of all members of a set in creation order.

use crate::abi::LaneMask;
use crate::abi::bits;
use crate::memory::{Room, roomy};
use crate::reduce::Values;
use crate::strands::{Scalar, StrandSet};
use crate::world::core::Core;
use rayon::prelude::*;

/// Blocks a worker takes at a time, at least.
const BLOCKS: usize = 64;

/// Returns the address of the planes of a block, given the block's number and scratch memory.
pub(crate) type BlockPlanes<'a> = &'a (dyn Fn(usize, &mut [u64]) -> *const u8 + Sync);

/// Writes the values of some lanes of a block, which are in the planes at `offsets`, each to its place.
///
/// # Safety
/// Those planes have a value for every lane, there is room for the values of every place, and no other thread writes there.
#[inline(always)]
pub(super) unsafe fn put_lanes<T: Copy>(
    room: &Room<T>,
    block: *const u8,
    offsets: &[usize],
    lanes: LaneMask,
    place: impl Fn(usize) -> u32,
) {
    let components = offsets.len();
    for (component, &offset) in offsets.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe {
            let (from, to) = (block.add(offset).cast::<T>(), room.at(component));
            let put = |lane: usize| {
                to.add(place(lane) as usize * components)
                    .write(*from.add(lane));
            };
            // Nearly always all lanes are wanted, or the first of them.
            if lanes & lanes.wrapping_add(1) == 0 {
                (0..lanes.trailing_ones() as usize).for_each(put);
            } else {
                bits(lanes).for_each(|lane| put(lane as usize));
            }
        }
    }
}

impl Core {
    /// The values of the members of a set: for each, `components` scalars, which are in the planes at `offsets` from the
    /// address that `planes` returns for its block. Scratch memory has this many words.
    ///
    /// # Safety
    /// Those planes have a value of type `scalar` for every member's lane.
    pub(crate) unsafe fn collect(
        &self,
        set: StrandSet,
        scalar: Scalar,
        offsets: &[usize],
        scratch: usize,
        planes: BlockPlanes<'_>,
    ) -> Values {
        // SAFETY: promised by the caller.
        unsafe {
            match scalar {
                Scalar::F32 => Values::F32(self.collect_as(set, offsets, scratch, planes)),
                Scalar::F64 => Values::F64(self.collect_as(set, offsets, scratch, planes)),
                Scalar::I32 => Values::I32(self.collect_as(set, offsets, scratch, planes)),
                Scalar::I64 => Values::I64(self.collect_as(set, offsets, scratch, planes)),
                Scalar::Bool => Values::Bool(self.collect_as(set, offsets, scratch, planes)),
            }
        }
    }

    /// See [`Core::collect`].
    unsafe fn collect_as<T: Copy + Send>(
        &self,
        set: StrandSet,
        offsets: &[usize],
        scratch: usize,
        planes: BlockPlanes<'_>,
    ) -> Vec<T> {
        let (count, places) = self.roster.places(set);
        let width = self.layout.width();
        let components = offsets.len();
        let mut values: Vec<T> = roomy(count * components);
        let room = Room::new(values.as_mut_ptr());
        let block = |scratch: &mut Vec<u64>, block: usize| {
            let members = self.roster.lanes[block].members(set);
            if members == 0 {
                return;
            }
            let base = planes(block, scratch);
            let ranks = &self.roster.ranks[block * width..(block + 1) * width];
            let place = |rank: u32| places.as_ref().map_or(rank, |places| places[rank as usize]);
            // SAFETY: values are there by the caller's promise; places are below the number of members, and no two of them
            // have the same.
            unsafe { put_lanes(&room, base, offsets, members, |lane| place(ranks[lane])) };
        };
        let blocks = 0..self.roster.blocks();
        self.parallel(blocks.len(), |wide| {
            if wide {
                let blocks = blocks.into_par_iter().with_min_len(BLOCKS);
                blocks.for_each_init(|| vec![0; scratch], block);
            } else {
                let mut scratch = vec![0; scratch];
                blocks.for_each(|n| block(&mut scratch, n));
            }
        });
        // SAFETY: every member wrote its components, and there are `count` of them.
        unsafe { values.set_len(count * components) };
        values
    }
}
