//! The exchange after a shared super-step: every rank tells the others what all need to know about its strands, but not their states.

use super::damaged;
use crate::abi::LaneMask;
use crate::cluster::wire::{Reader, put};
use crate::cluster::{Lost, Team, Topic};
use crate::memory::Shortage;
use crate::strands::roster::LaneSets;
use crate::world::core::{Agreed, Core, owned};
use crate::world::spread::{Report, Whereabouts};
use std::ops::Range;

impl Core {
    /// Tells the other ranks about the strands that ran here, and takes over their news. `before` has the sets of all blocks before the
    /// super-step.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn exchange_facts(&mut self, team: &Team, before: &[LaneSets]) -> Result<(), Lost> {
        let here = team.rank();
        let mut letter = Vec::new();
        self.put_wishes(&mut letter);
        // All that this rank has noted since the index was made is about its own strands.
        self.put_events(&mut letter);
        let span = owned(&mut self.workers[0]).radii.span();
        if let Some(spread) = &mut self.spread {
            spread.whereabouts = Whereabouts::Owners;
            spread.expect(span);
            spread.report().put(&mut letter);
        }
        self.put_changes(&mut letter, before);
        let parts = team.gather(Topic::Blocks, letter)?;
        let mut agreed = Agreed::default();
        let mut reports = Vec::with_capacity(parts.len());
        for (rank, part) in parts.iter().enumerate() {
            let mut reader = Reader(part.bytes());
            let mut take = || {
                agreed = agreed.or(Agreed::read(&mut reader)?);
                if rank == here {
                    reports.extend(self.spread.as_ref().map(|spread| spread.report()));
                    return Some(());
                }
                self.take_events(&mut reader, rank)?;
                reports.push(Report::read(&mut reader)?);
                self.take_changes(&mut reader)
            };
            take().ok_or_else(|| damaged(rank))?;
        }
        self.agree(agreed);
        let all = self.roster.count() as u64;
        if let Some(spread) = &mut self.spread {
            let loads = spread.shares.loads(&self.roster.lanes);
            spread.decide(&reports, self.step, loads, all);
        }
        Ok(())
    }

    /// Whether all ranks have got some memory, or else the shortage of the first that has not.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn agree_on_memory(
        &self,
        claimed: Result<(), Shortage>,
    ) -> Result<Result<(), Shortage>, Lost> {
        let (Some(team), Some(_)) = (&self.team, &self.spread) else {
            return Ok(claimed);
        };
        let mut letter = Vec::new();
        let shortage = claimed.err().map(|short| [1, short.wanted, short.left]);
        for number in shortage.unwrap_or_default() {
            put(&mut letter, number);
        }
        for (rank, part) in team.gather(Topic::Memory, letter)?.iter().enumerate() {
            let mut reader = Reader(part.bytes());
            let mut number = || reader.number().ok_or_else(|| damaged(rank));
            let [is_short, wanted, left] = [number()?, number()?, number()?];
            if is_short != 0 {
                return Ok(Err(Shortage { wanted, left }));
            }
        }
        Ok(Ok(()))
    }

    /// The blocks that a rank owns.
    pub(crate) fn blocks_of(&self, rank: usize) -> &[Range<usize>] {
        self.spread
            .as_ref()
            .map_or(&[], |spread| spread.shares.of(rank))
    }

    /// The sets of blocks of this rank that have changed.
    fn put_changes(&self, letter: &mut Vec<u8>, before: &[LaneSets]) {
        let here = self.team.as_ref().map_or(0, |team| team.rank());
        let own = self.blocks_of(here).iter().cloned().flatten();
        let changed = own.filter(|&block| {
            let (was, is) = (before[block], self.roster.lanes[block]);
            (was.active, was.stable, was.fresh) != (is.active, is.stable, is.fresh)
        });
        let changed: Vec<usize> = changed.collect();
        put(letter, changed.len() as u64);
        for block in changed {
            letter.extend_from_slice(&(block as u32).to_le_bytes());
            let sets = self.roster.lanes[block];
            for mask in [sets.active, sets.stable, sets.fresh] {
                letter.extend_from_slice(&mask.to_le_bytes());
            }
        }
    }

    /// Takes over such sets, and frees the sequences of strands that have died.
    fn take_changes(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        for _ in 0..reader.count()? {
            let mut word = || Some(u32::from_le_bytes(*reader.take(4)?.first_chunk()?));
            let block = word()? as usize;
            let masks: [LaneMask; 3] = [word()?, word()?, word()?];
            let sets = self.roster.lanes.get_mut(block)?;
            let before = sets.alive();
            [sets.active, sets.stable, sets.fresh] = masks;
            let dead = before & !sets.alive();
            if dead != 0 {
                self.free_sequences(block, dead);
            }
        }
        Some(())
    }
}

impl Report {
    fn put(self, letter: &mut Vec<u8>) {
        put(letter, self.ghosts);
        put(letter, self.sorting_pays.into());
        put(letter, self.reach.to_bits());
    }

    fn read(reader: &mut Reader<'_>) -> Option<Report> {
        Some(Report {
            ghosts: reader.number()?,
            sorting_pays: reader.number()? != 0,
            reach: f64::from_bits(reader.number()?),
        })
    }
}
