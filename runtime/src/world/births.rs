//! New strands join the others, and what strands take of memory.

use super::RunError;
use super::core::{Core, owned};
use super::events::Nursery;
use super::program::StrandProgram;
use crate::sequence::{Owner, Sequence};
use crate::strands::blocks::{lanes_mut, load_lane, record_bytes};
use crate::strands::roster::LaneSets;
use crate::strands::{SequencePlane, StateLayout};

impl Core {
    /// Gives the strands that were made in a super-step their places, in the order of their parents; says whether there were any.
    pub(super) fn admit_new<P: StrandProgram>(&mut self, program: &P) -> Result<bool, RunError> {
        let bytes = record_bytes(&self.layout);
        let (count, records) = Nursery::merge(
            self.workers
                .iter_mut()
                .map(|worker| &mut owned(worker).nursery),
            bytes,
        );
        if count == 0 {
            return Ok(false);
        }
        let full = self.layout.width() as u32;
        self.bring_back(program, |_, sets| sets.alive().count_ones() < full);
        let blocks = (self.roster.count() + count).div_ceil(self.layout.width());
        let bytes_of_all = |core: &Core| core.state.bytes() + core.published.bytes();
        let before = bytes_of_all(self);
        let growth = self.state.growth(blocks) + self.published.growth(blocks);
        let roster = (count * ROSTER_BYTES) as u64;
        self.claim
            .grow(growth + roster)
            .map_err(|shortage| RunError::Memory {
                step: self.step,
                count,
                shortage,
            })?;
        let slots = self.roster.admit(count).ok_or(RunError::TooManyStrands)?;
        self.state.resize(self.roster.blocks());
        self.published.resize(self.roster.blocks());
        // The smaller allocation has been freed.
        let surplus = (before + growth).saturating_sub(bytes_of_all(self));
        self.claim.give_back(surplus);
        let width = self.layout.width();
        for (n, slot) in slots.into_iter().enumerate() {
            let record = &records[n * bytes..(n + 1) * bytes];
            let (block, lane) = self.roster.place(slot);
            let owner = Owner::strand(self.roster.id(self.roster.ranks[slot as usize]));
            // SAFETY: no method runs between super-steps, and the slot was vacant.
            unsafe {
                load_lane(&self.layout, record, self.state.block(block), lane);
                for &SequencePlane { plane, .. } in self.layout.sequence_planes() {
                    self.sequences.hand_over(
                        lanes_mut::<Sequence>(self.state.block(block), plane, width)[lane],
                        owner,
                    );
                }
            }
        }
        Ok(true)
    }
}

/// Bytes for each strand beside its state: its rank, its number, and the tables to find them.
const ROSTER_BYTES: usize = 24;

/// Bytes for this many strands, all together.
pub(super) fn strand_bytes(layout: &StateLayout, count: usize) -> u64 {
    let blocks = count.div_ceil(layout.width()) as u64;
    let block = layout.stride() + layout.published_stride() + size_of::<LaneSets>();
    blocks.saturating_mul(block as u64) + (count * ROSTER_BYTES) as u64
}
