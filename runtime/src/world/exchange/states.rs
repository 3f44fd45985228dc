//! The states of blocks, on their way to other ranks.

use super::sequences::each_sequence;
use crate::abi::{LaneMask, bits};
use crate::cluster::wire::{Reader, put_bytes};
use crate::sequence::{HeldSequence, Owner, Settling};
use crate::strands::SequencePlane;
use crate::strands::blocks::lanes_mut;
use crate::world::core::{Core, owned};
use std::ops::Range;

impl Core {
    /// The sets of blocks, and the ranks of their strands, which may have changed places.
    pub(super) fn put_sets(&self, letter: &mut Vec<u8>, blocks: &[Range<usize>]) {
        let width = self.layout.width();
        for block in blocks.iter().cloned().flatten() {
            let sets = self.roster.lanes[block];
            for mask in [sets.active, sets.stable, sets.fresh] {
                letter.extend_from_slice(&mask.to_le_bytes());
            }
            for rank in &self.roster.ranks[block * width..(block + 1) * width] {
                letter.extend_from_slice(&rank.to_le_bytes());
            }
        }
    }

    /// Takes them over.
    pub(super) fn take_sets(
        &mut self,
        reader: &mut Reader<'_>,
        blocks: &[Range<usize>],
    ) -> Option<()> {
        let width = self.layout.width();
        for block in blocks.iter().cloned().flatten() {
            let ranks = block * width..(block + 1) * width;
            let sets = &mut self.roster.lanes[block];
            let mut word = || Some(u32::from_le_bytes(*reader.take(4)?.first_chunk()?));
            [sets.active, sets.stable, sets.fresh] = [word()?, word()?, word()?];
            sets.touch();
            for rank in &mut self.roster.ranks[ranks] {
                *rank = word()?;
            }
        }
        Some(())
    }

    /// The strands that are in some blocks, if they have sequences, which are freed when others take their places.
    pub(super) fn had(&self, blocks: &[Range<usize>]) -> Vec<Had> {
        if self.layout.sequence_planes().is_empty() {
            return Vec::new();
        }
        let width = self.layout.width();
        let had = |block: usize| Had {
            lanes: self.roster.lanes[block].alive(),
            ranks: self.roster.ranks[block * width..(block + 1) * width].to_vec(),
        };
        blocks.iter().cloned().flatten().map(had).collect()
    }

    /// The states of blocks, and the elements of the sequences in them.
    pub(super) fn put_states(&self, letter: &mut Vec<u8>, blocks: &[Range<usize>]) {
        let stride = self.layout.stride();
        for run in blocks.iter().filter(|run| !run.is_empty()) {
            // SAFETY: the blocks follow each other, and no method runs.
            letter.extend_from_slice(unsafe {
                std::slice::from_raw_parts(self.state.block(run.start), run.len() * stride)
            });
        }
        for block in blocks.iter().cloned().flatten() {
            let alive = self.roster.lanes[block].alive();
            each_sequence(&self.layout, self.state.block(block), alive, |held| {
                // SAFETY: the state of a living strand holds live sequences.
                put_bytes(letter, unsafe {
                    self.sequences.bytes(held.sequence, held.element)
                });
            });
        }
    }

    /// Takes them over, where there were these strands before.
    pub(super) fn take_states(
        &mut self,
        letter: &[u8],
        blocks: &[Range<usize>],
        before: &[Had],
    ) -> Option<()> {
        let reader = &mut Reader(letter);
        let stride = self.layout.stride();
        let has_sequences = !self.layout.sequence_planes().is_empty();
        if has_sequences {
            for (block, had) in blocks.iter().cloned().flatten().zip(before) {
                self.free_held(block, had.lanes, &had.ranks);
            }
        }
        for run in blocks.iter().filter(|run| !run.is_empty()) {
            let states = reader.take(run.len() * stride)?;
            // SAFETY: the blocks follow each other, and no method runs.
            unsafe {
                let to = self.state.block(run.start);
                std::ptr::copy_nonoverlapping(states.as_ptr(), to, states.len());
            }
        }
        if has_sequences {
            for block in blocks.iter().cloned().flatten() {
                self.make_sequences(reader, block)?;
            }
        }
        Some(())
    }

    /// Frees the sequences of strands of a block.
    pub(super) fn free_sequences(&mut self, block: usize, lanes: LaneMask) {
        let width = self.layout.width();
        let ranks = self.roster.ranks[block * width..(block + 1) * width].to_vec();
        self.free_held(block, lanes, &ranks);
    }

    /// Frees the sequences of strands that were in a block under these ranks.
    fn free_held(&mut self, block: usize, lanes: LaneMask, ranks: &[u32]) {
        let cache = &mut owned(&mut self.workers[0]).sequences;
        for lane in bits(lanes) {
            let mut held = Vec::new();
            each_sequence(&self.layout, self.state.block(block), 1 << lane, |one| {
                held.push(one.sequence);
            });
            let strand = Settling {
                owner: Owner::strand(self.roster.id(ranks[lane as usize])),
                before: &held,
                read_by_others: false,
            };
            // SAFETY: the state held them, and it is about to be replaced.
            let settled = unsafe { cache.settle(&self.sequences, strand, &mut []) };
            debug_assert_eq!(settled, Ok(()));
        }
    }

    /// Makes the sequences of the strands in a block, whose handles are those of another rank.
    fn make_sequences(&mut self, reader: &mut Reader<'_>, block: usize) -> Option<()> {
        let width = self.layout.width();
        let alive = self.roster.lanes[block].alive();
        let planes = self.layout.sequence_planes().to_vec();
        for lane in bits(alive) {
            let lane = lane as usize;
            let rank = self.roster.ranks[block * width + lane];
            let id = self.roster.id(rank);
            let mut held = Vec::new();
            for &SequencePlane { plane, element } in &planes {
                let sequence = self.create_sequence((rank, id), reader.bytes()?, element);
                // SAFETY: no method runs, and the plane is one of handles.
                unsafe { lanes_mut(self.state.block(block), plane, width)[lane] = sequence };
                held.push(HeldSequence { sequence, element });
            }
            let strand = Settling {
                owner: Owner::strand(id),
                before: &[],
                read_by_others: false,
            };
            let cache = &mut owned(&mut self.workers[0]).sequences;
            // SAFETY: they have just been made.
            let settled = unsafe { cache.settle(&self.sequences, strand, &mut held) };
            debug_assert_eq!(settled, Ok(()));
        }
        Some(())
    }
}

/// The strands of a block before its sets were taken over.
pub(super) struct Had {
    lanes: LaneMask,
    ranks: Vec<u32>,
}
