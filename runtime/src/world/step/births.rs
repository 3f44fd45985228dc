//! New strands join the others.

use super::events::{Children, Nursery};
use crate::sequence::{Owner, Sequence};
use crate::strands::SequencePlane;
use crate::strands::blocks::{lanes_mut, load_lane, record_bytes};
use crate::world::core::{Core, ROSTER_BYTES, owned};
use crate::world::errors::RunError;
use crate::world::executor::Executor;
use crate::world::shares::Shares;

impl Core {
    /// Gives the strands that were made in a super-step their places, in the order of their parents; says whether there were any.
    pub(crate) fn admit_new(&mut self, executor: Option<&dyn Executor>) -> Result<bool, RunError> {
        let bytes = record_bytes(&self.layout);
        let Children { makers, records } = Nursery::merge(
            self.workers
                .iter_mut()
                .map(|worker| &mut owned(worker).nursery),
            bytes,
        );
        let count = makers.len();
        if count == 0 {
            return Ok(false);
        }
        let full = self.layout.width() as u32;
        self.bring_back(executor, |_, sets| sets.alive().count_ones() < full);
        let mut owners = match &mut self.spread {
            Some(spread) => spread.shares.take_owners(),
            None => vec![0; self.roster.blocks()],
        };
        let slots = self.roster.room_for(&makers, &mut owners);
        let slots = slots.ok_or(RunError::TooManyStrands)?;
        let blocks = owners.len();
        let bytes_of_all = |core: &Core| core.state.bytes() + core.published.bytes();
        let before = bytes_of_all(self);
        let growth = self.state.growth(blocks) + self.published.growth(blocks);
        let roster = (count * ROSTER_BYTES) as u64;
        let claimed = self.claim.grow(growth + roster);
        self.agree_on_memory(claimed)?
            .map_err(|shortage| RunError::Memory {
                step: self.step,
                count,
                shortage,
            })?;
        self.roster.admit(&slots, blocks);
        if let Some((spread, team)) = self.spread.as_mut().zip(self.team.as_ref()) {
            spread.shares = Shares::new(owners, team.size());
        }
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
