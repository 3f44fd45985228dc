//! Ghosts: copies of what strands read of each other, on ranks that may look at a strand but do not run it. Before a super-step every
//! rank tells the others where its strands will look, and gets what others may read of the strands there, as of now.
//!
//! Variables that never change are on all ranks already.

use super::damaged;
use crate::abi::{LaneMask, bits};
use crate::cluster::wire::{Reader, put, put_bytes};
use crate::cluster::{Lost, Team, Topic};
use crate::neighbours::sight::CellSet;
use crate::sequence::{HeldSequence, Owner, Sequence, Settling};
use crate::strands::blocks::{Blocks, lanes_mut};
use crate::strands::{Plane, SequencePlane, Sharing};
use crate::world::core::{Core, owned};
use crate::world::index::SpatialIndex;
use crate::world::search::Homes;
use crate::world::search::outlook::{Lanes, OwnStrands};
use crate::world::workers::on;

impl Core {
    /// Brings here what strands of this rank may read of others in the next super-step, as far as they are expected to look, and to
    /// the other ranks the same of strands of this one.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn exchange_ghosts(&mut self, team: &Team) -> Result<(), Lost> {
        let Some(index) = self.index.as_mut().filter(|_| self.spread.is_some()) else {
            return Ok(());
        };
        let spread = self.spread.as_ref().expect("it was there");
        let own = spread.shares.of(team.rank()).iter().cloned().flatten();
        let own = own.map(|block| {
            let sets = self.roster.lanes[block];
            OwnStrands {
                block: block as u32,
                alive: sets.alive(),
                active: sets.active,
            }
        });
        let own: Vec<OwnStrands> = own.filter(|strands| strands.alive != 0).collect();
        let homes = Homes {
            state: &self.state,
            published: &self.published,
        };
        let mut letter = Vec::new();
        let search = index.search_mut();
        let (reach, farthest) = (spread.reach, spread.farthest);
        on(&self.threads, || {
            search
                .look_around(&self.layout, homes, &own, reach, farthest)
                .put(&mut letter);
        });
        let parts = team.gather(Topic::Sight, letter)?;
        let mut sights = Vec::with_capacity(parts.len());
        for (rank, part) in parts.iter().enumerate() {
            sights.push(match rank == team.rank() {
                // Nothing is sent from here to here.
                true => CellSet::default(),
                false => CellSet::read(&mut Reader(part.bytes())).ok_or_else(|| damaged(rank))?,
            });
        }
        let sights: Vec<&CellSet> = sights.iter().collect();
        let search = index.search();
        let width = self.layout.width();
        let wanted = on(&self.threads, || search.within(width, &own, &sights));
        for (rank, wanted) in wanted.iter().enumerate() {
            if rank != team.rank() {
                team.send(rank, Topic::Ghosts, self.ghosts(wanted));
            }
        }
        let index = self.index.as_mut();
        let mut known = index.map_or_else(Vec::new, SpatialIndex::take_known);
        known.clear();
        known.resize(self.roster.blocks(), 0);
        let mut count = 0;
        for rank in (0..team.size()).filter(|&rank| rank != team.rank()) {
            let part = team.from(rank, Topic::Ghosts)?;
            let taken = self.take_ghosts(part.bytes(), &mut known);
            count += taken.ok_or_else(|| damaged(rank))?;
        }
        for strands in own {
            known[strands.block as usize] = strands.alive;
        }
        if let (Some(index), Some(spread)) = (&mut self.index, &mut self.spread) {
            index.know_only(known);
            spread.ghosts = count;
        }
        Ok(())
    }

    /// Brings here what strands may read of all others as of the beginning of the super-step, if some of this rank wait, and to others
    /// that have such strands. `waiting` has their numbers by rank, and the roster has the sets from the beginning of the super-step.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn exchange_all_ghosts(&mut self, team: &Team, waiting: &[u64]) -> Result<(), Lost> {
        let here = team.rank();
        let own = self.blocks_of(here).iter().cloned().flatten();
        let alive = own.map(|n| (n as u32, self.roster.lanes[n].alive()));
        let alive: Vec<Lanes> = alive.filter(|(_, lanes)| *lanes != 0).collect();
        let others = || (0..team.size()).filter(|&rank| rank != here);
        let letter = self.ghosts(&alive);
        for rank in others().filter(|&rank| waiting[rank] > 0) {
            team.send(rank, Topic::Ghosts, letter.clone());
        }
        for rank in others().filter(|_| waiting[here] > 0) {
            let part = team.from(rank, Topic::Ghosts)?;
            let mut known = vec![0; self.roster.blocks()];
            let taken = self.take_ghosts(part.bytes(), &mut known);
            taken.ok_or_else(|| damaged(rank))?;
        }
        Ok(())
    }

    /// The planes that others read and that change, without those of sequences, and where they are read.
    fn ghost_planes(&self) -> Vec<Plane> {
        let sequences = self.layout.sequence_planes();
        let is_handle = |plane: &Plane| sequences.iter().any(|held| held.plane == *plane);
        let planes = self.layout.planes().iter().copied();
        let read = planes.filter(|plane| plane.sharing == Sharing::Communicated);
        read.filter(|plane| !is_handle(plane)).collect()
    }

    /// Those of sequences.
    fn ghost_sequences(&self) -> Vec<SequencePlane> {
        let planes = self.layout.sequence_planes().iter().copied();
        let read = planes.filter(|held| held.plane.sharing == Sharing::Communicated);
        read.collect()
    }

    /// What others may read of some strands, as of the beginning of the super-step.
    fn ghosts(&self, lanes: &[Lanes]) -> Vec<u8> {
        let mut letter = Vec::new();
        put(&mut letter, lanes.len() as u64);
        for (block, mask) in lanes {
            letter.extend_from_slice(&block.to_le_bytes());
            letter.extend_from_slice(&mask.to_le_bytes());
        }
        for plane in self.ghost_planes() {
            for &(block, mask) in lanes {
                let values = plane_of(&self.published, block as usize, plane);
                for lane in bits(mask) {
                    // SAFETY: the plane has a value in every lane, and nothing writes it.
                    letter.extend_from_slice(unsafe {
                        let value = values.add(lane as usize * plane.bytes);
                        std::slice::from_raw_parts(value, plane.bytes)
                    });
                }
            }
        }
        for SequencePlane { plane, element } in self.ghost_sequences() {
            for &(block, mask) in lanes {
                let handles = plane_of(&self.published, block as usize, plane).cast::<Sequence>();
                for lane in bits(mask) {
                    // SAFETY: as above; published sequences are alive until the end of the super-step.
                    put_bytes(&mut letter, unsafe {
                        self.sequences.bytes(*handles.add(lane as usize), element)
                    });
                }
            }
        }
        letter
    }

    /// Takes ghosts over, and adds their lanes to those known of each block. Gives their number.
    fn take_ghosts(&mut self, letter: &[u8], known: &mut [LaneMask]) -> Option<u64> {
        let reader = &mut Reader(letter);
        let count = reader.count()?;
        let lanes = reader.take(count.checked_mul(8)?)?.as_chunks::<4>().0;
        let word = |bytes: [u8; 4]| u32::from_le_bytes(bytes);
        let lanes = lanes
            .chunks_exact(2)
            .map(|pair| (word(pair[0]), word(pair[1])));
        let lanes: Vec<Lanes> = lanes.collect();
        let all = LaneMask::MAX >> (LaneMask::BITS as usize - self.layout.width());
        let mut ghosts = 0;
        for &(block, mask) in &lanes {
            let known = known.get_mut(block as usize)?;
            *known |= (mask & !all == 0).then_some(mask)?;
            ghosts += u64::from(mask.count_ones());
        }
        for plane in self.ghost_planes() {
            for &(block, mask) in &lanes {
                let values = plane_of(&self.published, block as usize, plane);
                for lane in bits(mask) {
                    let value = reader.take(plane.bytes)?;
                    // SAFETY: the plane has a value in every lane, and no method runs.
                    unsafe {
                        let to = values.add(lane as usize * plane.bytes);
                        std::ptr::copy_nonoverlapping(value.as_ptr(), to, plane.bytes);
                    }
                }
            }
        }
        for held in self.ghost_sequences() {
            for &(block, mask) in &lanes {
                for lane in bits(mask) {
                    self.take_ghost_sequence(reader.bytes()?, held, block as usize, lane as usize);
                }
            }
        }
        Some(ghosts)
    }

    /// Replaces a sequence of a ghost. As any sequence here it is held by the state, which has an older one.
    fn take_ghost_sequence(
        &mut self,
        elements: &[u8],
        SequencePlane { plane, element }: SequencePlane,
        block: usize,
        lane: usize,
    ) {
        let width = self.layout.width();
        let rank = self.roster.ranks[block * width + lane];
        let id = self.roster.id(rank);
        let sequence = self.create_sequence((rank, id), elements, element);
        // SAFETY: no method runs, and these are planes of handles.
        let [state, published] = unsafe {
            [&self.state, &self.published]
                .map(|home| &mut lanes_mut::<Sequence>(home.block(block), plane, width)[lane])
        };
        let settling = Settling {
            owner: Owner::strand(id),
            before: &[*state],
            read_by_others: false,
        };
        let cache = &mut owned(&mut self.workers[0]).sequences;
        // SAFETY: the state held the older one, and nothing else does.
        let settled = unsafe {
            let mut held = [HeldSequence { sequence, element }];
            cache.settle(&self.sequences, settling, &mut held)
        };
        debug_assert_eq!(settled, Ok(()));
        (*state, *published) = (sequence, sequence);
    }
}

/// The address of a plane where others read it, if it changes.
fn plane_of(published: &Blocks, block: usize, plane: Plane) -> *mut u8 {
    // SAFETY: a plane that changes is inside the published block.
    unsafe { published.block(block).add(plane.offset) }
}
