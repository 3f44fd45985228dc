//! The exchange after strands have run that do not notice each other: rank 0 gets the states of all.

use super::damaged;
use crate::cluster::wire::{Reader, put};
use crate::cluster::{Lost, Team, Topic};
use crate::world::core::{Agreed, Core};
use crate::world::shares::Shares;

impl Core {
    /// Tells the other ranks about the blocks that ran here, and takes over their news. Gives the largest number of super-steps
    /// that a strand took on any rank.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn exchange_ends(
        &mut self,
        team: &Team,
        shares: &Shares,
        taken: u64,
    ) -> Result<u64, Lost> {
        let here = team.rank();
        let own = shares.of(here);
        let mut letter = Vec::new();
        put(&mut letter, taken);
        self.put_wishes(&mut letter);
        self.put_events(&mut letter);
        self.put_sets(&mut letter, own);
        if !team.is_root() {
            let mut states = Vec::new();
            self.put_states(&mut states, own);
            team.send(0, Topic::States, states);
        }
        // The states from the others to rank 0 come before their other parts.
        let others = (1..team.size()).filter(|_| team.is_root());
        let states = others.map(|rank| team.from(rank, Topic::States));
        let states: Vec<_> = states.collect::<Result<_, _>>()?;
        let parts = team.gather(Topic::Blocks, letter)?;
        let mut longest = taken;
        let mut agreed = Agreed::default();
        for (rank, part) in parts.iter().enumerate() {
            let blocks = shares.of(rank);
            let states = states.get(rank.wrapping_sub(1)).map(|part| part.bytes());
            let mut reader = Reader(part.bytes());
            let mut take = || {
                longest = longest.max(reader.number()?);
                agreed = agreed.or(Agreed::read(&mut reader)?);
                if rank == here {
                    return Some(());
                }
                self.take_events(&mut reader, rank)?;
                let had = self.had(blocks);
                self.take_sets(&mut reader, blocks)?;
                match states {
                    Some(states) => self.take_states(states, blocks, &had),
                    None => Some(()),
                }
            };
            take().ok_or_else(|| damaged(rank))?;
        }
        self.agree(agreed);
        Ok(longest)
    }

    /// What this rank was asked for.
    pub(super) fn put_wishes(&self, letter: &mut Vec<u8>) {
        put(letter, self.control.is_cancelled().into());
        put(letter, self.control.is_over().into());
    }

    /// All ranks do what one was asked for.
    pub(super) fn agree(&mut self, agreed: Agreed) {
        self.agreed = agreed;
        if agreed.is_cancelled {
            self.control.cancel();
        }
    }
}

impl Agreed {
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Agreed> {
        Some(Agreed {
            is_cancelled: reader.number()? != 0,
            is_over: reader.number()? != 0,
        })
    }

    pub(super) fn or(self, other: Agreed) -> Agreed {
        Agreed {
            is_cancelled: self.is_cancelled || other.is_cancelled,
            is_over: self.is_over || other.is_over,
        }
    }
}
