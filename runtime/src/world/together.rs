//! Super-steps that the ranks of a cluster share. Every rank has all strands in the same places and runs those of some blocks. After
//! that all ranks know which strands are there and in which sets, so that everything between super-steps (deaths, births, the order of
//! strands, global code) is done by each of them in the same way. The states stay where they were computed (`spread.rs`).

use super::complete::groups;
use super::core::{Core, owned};
use super::exchange::Reach;
use super::search::{Homes, Places};
use super::shares::{Cuts, Shares, Weight};
use super::spread::{Exchanges, ShareTimes, Whereabouts};
use super::step::context::StepContext;
use crate::abi::bits;
use crate::cluster::wire::{Reader, put};
use crate::cluster::{Lost, Team, Topic};
use crate::strands::roster::LaneSets;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The work on an active strand, in that on one that only is looked at.
const ACTIVE_WORK: u32 = 8;

impl Core {
    /// Calls `run` for every block with active lanes, on this rank or another; a second time for those whose strands wait.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn sweep_together(
        &mut self,
        run: impl Fn(&mut StepContext<'_>, *mut u8, &mut LaneSets) + Sync,
    ) -> Result<(), Lost> {
        let (Some(team), Some(spread)) = (self.team.clone(), &mut self.spread) else {
            self.sweep(run);
            return Ok(());
        };
        let mut before = std::mem::take(&mut spread.before);
        before.clone_from(&self.roster.lanes);
        let shares = std::mem::replace(&mut spread.shares, Shares::new(Vec::new(), 0));
        let is_own = |block: usize, _: &LaneSets| shares.has(team.rank(), block);
        let began = Instant::now();
        self.sweep_some(is_own, &run);
        if let Some(spread) = &mut self.spread {
            spread.shares = shares;
            spread.times.strands += began.elapsed();
        }
        let told = self.timed(
            |times| &mut times.facts,
            |core| {
                if core.index.is_some() {
                    core.run_waiting(&team, &before, &run)?;
                }
                core.exchange_facts(&team, &before)
            },
        );
        if let Some(spread) = &mut self.spread {
            spread.before = before;
        }
        told
    }

    /// Does a part of a shared super-step, and notes the time that it took.
    fn timed<R>(
        &mut self,
        part: fn(&mut ShareTimes) -> &mut Duration,
        work: impl FnOnce(&mut Core) -> R,
    ) -> R {
        let began = Instant::now();
        let done = work(self);
        if let Some(spread) = &mut self.spread {
            *part(&mut spread.times) += began.elapsed();
        }
        done
    }

    /// Runs strands that wait, on any rank, once everything is known that they can look at. `before` has the sets of all blocks before
    /// the super-step.
    fn run_waiting(
        &mut self,
        team: &Team,
        before: &[LaneSets],
        run: &(impl Fn(&mut StepContext<'_>, *mut u8, &mut LaneSets) + Sync),
    ) -> Result<(), Lost> {
        let lanes = self.roster.lanes.iter();
        let here: u64 = lanes.map(|sets| u64::from(sets.waiting.count_ones())).sum();
        let mut letter = Vec::new();
        put(&mut letter, here);
        let parts = team.gather(Topic::Waiting, letter)?;
        let count = |part: &crate::cluster::Part| Reader(part.bytes()).number().unwrap_or(0);
        let waiting: Vec<u64> = parts.iter().map(count).collect();
        let all: u64 = waiting.iter().sum();
        if all == 0 {
            return Ok(());
        }
        if let Some(spread) = &mut self.spread {
            spread.exchanges.waits += all;
        }
        // Others look at strands as they were, also at those that have died meanwhile.
        let now = std::mem::replace(&mut self.roster.lanes, before.to_vec());
        let exchanged = self.exchange_all_ghosts(team, &waiting);
        if exchanged.is_ok() && here > 0 {
            self.know_all();
            // How far strands looked is still to be told.
            let mut radii = self.take_radii();
            self.update_index();
            owned(&mut self.workers[0]).radii.take(&mut radii);
        }
        self.roster.lanes = now;
        exchanged?;
        if here > 0 {
            self.gather_logs();
            let again = |cx: &mut StepContext<'_>, block: *mut u8, sets: &mut LaneSets| {
                let waiting = std::mem::take(&mut sets.waiting);
                let mut own = LaneSets {
                    active: waiting,
                    fresh: sets.fresh & waiting,
                    ..LaneSets::default()
                };
                run(cx, block, &mut own);
                sets.active = sets.active & !waiting | own.active;
                sets.fresh = sets.fresh & !waiting | own.fresh;
                sets.stable |= own.stable;
            };
            self.sweep_some(|_, sets| sets.waiting != 0, again);
        }
        Ok(())
    }

    /// Puts the text and the children of all workers together, so that those of one strand stay in order when another worker goes
    /// on with it.
    fn gather_logs(&mut self) {
        let Some((first, others)) = self.workers.split_first_mut() else {
            return;
        };
        let first = owned(first);
        for worker in others {
            let worker = owned(worker);
            first.printed.append(&mut worker.printed);
            first.nursery.append(&mut worker.nursery);
        }
    }

    /// Gives every block an owner, now that all ranks have all states. Strands that can be near each other are moved, so that those of
    /// a rank are in a part of space.
    fn share_out(&mut self, team: &Team) {
        let shares = match self.index.is_some() {
            true => {
                let cuts = self.cuts(team.size());
                let owners = self.live_in_parts(&cuts, team.size());
                Shares::new(owners, team.size())
            }
            false => Shares::of_blocks(&self.roster.lanes, team.size()),
        };
        if let Some(index) = &mut self.index {
            index.search_mut().survey();
        }
        if let Some(spread) = &mut self.spread {
            spread.share(shares, self.step);
        }
    }

    /// Parts of space with equal work. One strand of each block stands for all of them.
    fn cuts(&self, size: usize) -> Cuts {
        let places = self.places();
        let weight = |(block, sets): (usize, &LaneSets)| {
            let places = places.as_ref()?;
            let mut places = bits(sets.alive()).filter_map(|lane| places.at(block, lane));
            Some(Weight {
                place: places.next()?,
                work: ACTIVE_WORK * sets.active.count_ones() + sets.stable.count_ones(),
            })
        };
        let blocks = self.roster.lanes.iter().enumerate();
        let mut weights: Vec<Weight> = blocks.filter_map(weight).collect();
        Cuts::new(&mut weights, size)
    }

    /// Where others see the strands, if these have positions.
    pub(super) fn places(&self) -> Option<Places<'_>> {
        let homes = Homes {
            state: &self.state,
            published: &self.published,
        };
        Places::new(&self.layout, homes)
    }

    /// Whether the newest states of all strands are on all ranks, or there is one rank.
    pub(crate) fn has_all_states(&self) -> bool {
        let spread = self.spread.as_ref();
        spread.is_none_or(|spread| spread.whereabouts == Whereabouts::Everywhere)
    }

    /// Numbers about the exchanges so far.
    pub(crate) fn exchanges(&self) -> Exchanges {
        let spread = self.spread.as_ref();
        spread.map(|spread| spread.exchanges).unwrap_or_default()
    }

    /// The time that this rank has spent on the parts of shared super-steps.
    pub(crate) fn share_times(&self) -> ShareTimes {
        let spread = self.spread.as_ref();
        spread.map(|spread| spread.times).unwrap_or_default()
    }

    /// Lets `run` take the strands of whole groups to their ends, those of this rank, which are these runs of blocks; gives the
    /// largest number of super-steps that any strand took on any rank. The states are then in the world of rank 0 alone.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn complete_together(
        &mut self,
        run: impl FnOnce(&mut Core, &[Range<usize>]) -> u64,
    ) -> Result<u64, Lost> {
        let Some(team) = self.team.clone() else {
            let all = 0..self.roster.blocks();
            return Ok(run(self, std::slice::from_ref(&all)));
        };
        let (lanes, group) = (&self.roster.lanes, groups(self));
        let shares = match &self.runners {
            Some(runners) => Shares::of_executors(lanes, group, runners, team.size()),
            None => Shares::of_groups(lanes, group, team.size()),
        };
        let taken = run(self, shares.of(team.rank()));
        self.exchange_ends(&team, &shares, taken)
    }

    /// Makes what strands can look at known to this rank, before a super-step.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn prepare(&mut self) -> Result<(), Lost> {
        let (Some(team), Some(spread)) = (self.team.clone(), &self.spread) else {
            self.index_in_order();
            return Ok(());
        };
        if spread.is_due {
            self.timed(
                |times| &mut times.shares,
                |core| {
                    core.complete(Reach::All)?;
                    core.know_all();
                    core.update_index();
                    core.share_out(&team);
                    Ok(())
                },
            )?;
        } else {
            self.timed(
                |times| &mut times.ghosts,
                |core| core.exchange_ghosts(&team),
            )?;
            let is_new = self.timed(|times| &mut times.index, Core::update_index);
            let sorting_pays = is_new && self.sorting_pays();
            if let Some(spread) = &mut self.spread {
                spread.sorting_pays = sorting_pays;
            }
        }
        Ok(())
    }
}
