//! Values of strands whose states are on several ranks: every rank computes those of its strands, and all get all.

use super::collect::BlockPlanes;
use crate::abi::bits;
use crate::cluster::{Lost, Team, Topic};
use crate::memory::Room;
use crate::reduce::Values;
use crate::strands::{Scalar, StrandSet};
use crate::world::core::Core;
use crate::world::workers::on;
use rayon::prelude::*;

/// Blocks a worker takes at a time, at least.
const BLOCKS: usize = 64;

impl Core {
    /// The same as [`Core::collect`] on all ranks, which all call it. Planes are computed for blocks of this rank only.
    ///
    /// # Errors
    /// A rank has left.
    ///
    /// # Safety
    /// As for [`Core::collect`].
    pub(crate) unsafe fn collect_together(
        &self,
        set: StrandSet,
        scalar: Scalar,
        offsets: &[usize],
        scratch: usize,
        planes: BlockPlanes<'_>,
    ) -> Result<Values, Lost> {
        let team = match &self.team {
            Some(team) if !self.has_all_states() => team,
            // SAFETY: promised by the caller.
            _ => return Ok(unsafe { self.collect(set, scalar, offsets, scratch, planes) }),
        };
        // SAFETY: promised by the caller.
        let own = unsafe { self.own_values(team, set, scalar.bytes(), offsets, scratch, planes) };
        let parts = team.gather(Topic::Values, own)?;
        let (count, places) = self.roster.places(set);
        let bytes = offsets.len() * scalar.bytes();
        let mut values = vec![0u8; count * bytes];
        let room = Room::new(values.as_mut_ptr());
        let width = self.layout.width();
        let put = |(rank, part): (usize, &crate::cluster::Part)| {
            let mut given = part.bytes().chunks_exact(bytes.max(1));
            for block in self.blocks_of(rank).iter().cloned().flatten() {
                for lane in bits(self.roster.lanes[block].members(set)) {
                    let number = self.roster.ranks[block * width + lane as usize];
                    let place = places.as_ref().map_or(number, |p| p[number as usize]);
                    let value = given.next()?;
                    // SAFETY: every member has a place of its own, below their number.
                    unsafe {
                        let to = room.at(place as usize * bytes);
                        std::ptr::copy_nonoverlapping(value.as_ptr(), to, bytes);
                    }
                }
            }
            given.next().is_none().then_some(())
        };
        let put = |part: (usize, &crate::cluster::Part)| {
            let rank = part.0;
            put(part).ok_or_else(|| Lost {
                rank,
                message: "a part of a reduction is damaged".into(),
            })
        };
        on(&self.threads, || {
            parts.par_iter().enumerate().try_for_each(put)
        })?;
        Ok(Values::from_bytes(scalar, &values))
    }

    /// The values of the members on this rank, in the order of their slots.
    ///
    /// # Safety
    /// As for [`Core::collect`].
    unsafe fn own_values(
        &self,
        team: &Team,
        set: StrandSet,
        scalar: usize,
        offsets: &[usize],
        scratch: usize,
        planes: BlockPlanes<'_>,
    ) -> Vec<u8> {
        let own = self.blocks_of(team.rank()).iter().cloned().flatten();
        let own: Vec<usize> = own.collect();
        let values = |blocks: &[usize]| {
            let (mut values, mut scratch) = (Vec::new(), vec![0; scratch]);
            for &block in blocks {
                let members = self.roster.lanes[block].members(set);
                if members == 0 {
                    continue;
                }
                let base = planes(block, &mut scratch);
                for lane in bits(members) {
                    for &offset in offsets {
                        // SAFETY: the caller's promise.
                        values.extend_from_slice(unsafe {
                            let value = base.add(offset + lane as usize * scalar);
                            std::slice::from_raw_parts(value, scalar)
                        });
                    }
                }
            }
            values
        };
        let pieces: Vec<Vec<u8>> = on(&self.threads, || {
            own.par_chunks(BLOCKS).map(values).collect()
        });
        pieces.concat()
    }
}
