//! The exchanges between ranks after they have run strands, and before they run others that look at them.
//!
//! States go over as they are in memory. A sequence in them is the number of a buffer, which means nothing elsewhere, so its elements
//! go over too and get a buffer there.

mod ends;
mod events;
mod facts;
mod ghosts;
mod sequences;
mod states;

use super::core::Core;
use super::spread::Whereabouts;
use crate::cluster::{Lost, Part, Topic};

/// The ranks that get states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All ranks.
    All,
    /// Rank 0, which alone reads them.
    Root,
}

/// The error about a part of another rank that cannot be read.
fn damaged(rank: usize) -> Lost {
    Lost {
        rank,
        message: "a part of the exchange is damaged".into(),
    }
}

impl Core {
    /// Brings the newest states of all strands to some ranks, if they are not there. All ranks call it together, between super-steps.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn complete(&mut self, reach: Reach) -> Result<(), Lost> {
        let (Some(team), Some(spread)) = (self.team.clone(), &mut self.spread) else {
            return Ok(());
        };
        let whereabouts = match (spread.whereabouts, reach) {
            (Whereabouts::Everywhere, _) | (Whereabouts::Root, Reach::Root) => return Ok(()),
            (_, Reach::All) => Whereabouts::Everywhere,
            (Whereabouts::Owners, Reach::Root) => Whereabouts::Root,
        };
        spread.whereabouts = whereabouts;
        spread.exchanges.complete += 1;
        let here = team.rank();
        let mut letter = Vec::new();
        if reach == Reach::All || !team.is_root() {
            self.put_states(&mut letter, self.blocks_of(here));
        }
        let parts: Vec<(usize, Part)> = match reach {
            Reach::All => {
                let parts = team.gather(Topic::States, letter)?;
                parts.into_iter().enumerate().collect()
            }
            Reach::Root if team.is_root() => {
                let others =
                    (1..team.size()).map(|rank| Ok((rank, team.from(rank, Topic::States)?)));
                others.collect::<Result<_, Lost>>()?
            }
            Reach::Root => {
                team.send(0, Topic::States, letter);
                return Ok(());
            }
        };
        for (rank, part) in parts.into_iter().filter(|(rank, _)| *rank != here) {
            let blocks = self.blocks_of(rank).to_vec();
            let had = self.had(&blocks);
            self.take_states(part.bytes(), &blocks, &had)
                .ok_or_else(|| damaged(rank))?;
            for block in blocks.into_iter().flatten() {
                self.roster.lanes[block].touch();
            }
        }
        self.publish();
        Ok(())
    }

    /// Notes that a rank has left where nothing can be returned; the run ends soon.
    pub(crate) fn note_lost(&self, lost: Lost) {
        // Loops that wait for a result end.
        self.control.cancel();
        let mut noted = self
            .lost
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        noted.get_or_insert(lost);
    }

    /// The rank that was noted to have left.
    pub(crate) fn check_lost(&self) -> Result<(), Lost> {
        let noted = self
            .lost
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        noted.clone().map_or(Ok(()), Err)
    }

    /// Whether the run is asked to stop. Ranks have to agree on it.
    pub(super) fn is_over(&self) -> bool {
        match self.team {
            Some(_) => self.agreed.is_over,
            None => self.control.is_over(),
        }
    }

    /// Whether the run is asked to stop at once. Ranks have to agree on it.
    pub(super) fn is_cancelled(&self) -> bool {
        match self.team {
            Some(_) => self.agreed.is_cancelled,
            None => self.control.is_cancelled(),
        }
    }
}
