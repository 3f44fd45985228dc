//! The exchange after a shared super-step: every rank tells the others the states of its blocks, and the events in them.
//!
//! States go over as they are in memory. A sequence in them is the number of a buffer, which means nothing elsewhere, so its elements
//! go over too and get a buffer there.

mod events;
mod sequences;
mod states;

use super::core::Core;
use super::shares::Shares;
use crate::cluster::wire::{Reader, put};
use crate::cluster::{Lost, Team, Topic};

/// The ranks that get the states of the blocks; the sets and events go to all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All ranks, because strands may look at each other.
    All,
    /// Rank 0, which alone reads them.
    Root,
}

impl Core {
    /// Tells the other ranks about the blocks that ran here, and takes over their news. Gives the largest number of super-steps
    /// that a strand took on any rank.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn exchange(
        &mut self,
        team: &Team,
        shares: &Shares,
        reach: Reach,
        taken: u64,
    ) -> Result<u64, Lost> {
        let here = team.rank();
        let own = shares.of(here);
        let mut letter = Vec::new();
        put(&mut letter, taken);
        put(&mut letter, self.control.is_cancelled().into());
        put(&mut letter, self.control.is_over().into());
        self.put_events(&mut letter);
        self.put_sets(&mut letter, own);
        if reach == Reach::All {
            self.put_states(&mut letter, own);
        } else if !team.is_root() {
            let mut states = Vec::new();
            self.put_states(&mut states, own);
            team.send(0, Topic::Blocks, states);
        }
        // The states from the others to rank 0 come before their other parts.
        let takes_states = reach == Reach::Root && team.is_root();
        let others = (1..team.size()).filter(|_| takes_states);
        let states = others.map(|rank| team.from(rank, Topic::Blocks));
        let states: Vec<_> = states.collect::<Result<_, _>>()?;
        let parts = team.gather(Topic::Blocks, letter)?;
        let mut longest = taken;
        let mut is_over = false;
        for (rank, part) in parts.iter().enumerate() {
            let blocks = shares.of(rank);
            let states = states.get(rank.wrapping_sub(1)).map(|part| part.bytes());
            let mut reader = Reader(part.bytes());
            let mut take = || {
                longest = longest.max(reader.number()?);
                let [is_cancelled, is_stopped] = [reader.number()? != 0, reader.number()? != 0];
                is_over |= is_stopped;
                if is_cancelled {
                    self.control.cancel();
                }
                if rank == here {
                    return Some(());
                }
                self.take_events(&mut reader)?;
                let before = self.take_sets(&mut reader, blocks)?;
                match (reach, states) {
                    (Reach::All, _) => self.take_states(&mut reader, blocks, &before),
                    (Reach::Root, Some(states)) => {
                        self.take_states(&mut Reader(states), blocks, &before)
                    }
                    (Reach::Root, None) => Some(()),
                }
            };
            take().ok_or_else(|| Lost {
                rank,
                message: "a part of the exchange is damaged".into(),
            })?;
        }
        self.is_over_everywhere = is_over;
        Ok(longest)
    }

    /// Whether the run is asked to stop. Ranks have to agree on it.
    pub(super) fn is_over(&self) -> bool {
        match self.team {
            Some(_) => self.is_over_everywhere,
            None => self.control.is_over(),
        }
    }
}
