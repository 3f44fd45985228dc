//! Where the states of strands are, when the ranks of a cluster run them super-step by super-step.
//!
//! Every rank knows all strands: their numbers, the places of their states in memory, and whether they are active or stable. The newest
//! state of a strand has the rank that owns its block; that rank runs it. Others have an older one, except what strands
//! read of each other: that is brought to every rank that may look there (`exchange/ghosts.rs`).
//!
//! From time to time all states go to all ranks, and blocks get new owners (`together.rs`).

use super::shares::Shares;
use crate::strands::roster::LaneSets;
use std::time::Duration;

/// Super-steps between new shares, at least.
const PATIENCE: u64 = 16;
/// The same when one rank has more than twice the work that it should have.
const LESS_PATIENCE: u64 = 4;
/// Active strands by which shares may differ in any case.
const EVEN: u64 = 256;

/// The ranks that have the newest states of all strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// All of them.
    Everywhere,
    /// Rank 0. The others have those of their own strands.
    Root,
    /// None: every rank has those of its own strands.
    Owners,
}

/// Numbers about the exchanges between ranks so far, those of all ranks together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchanges {
    /// How often blocks got owners.
    pub shares: u64,
    /// How often all states went to other ranks.
    pub complete: u64,
    /// Strands whose readable state went to a rank that does not run them, counted in every super-step and for every rank.
    pub ghosts: u64,
    /// Strands that had to wait in a super-step, because they looked farther than was known.
    pub waits: u64,
    /// The number of ghosts if every strand had been one on every other rank.
    pub most_ghosts: u64,
}

/// The time that a rank has spent on the parts of shared super-steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShareTimes {
    /// To run its own strands.
    pub strands: Duration,
    /// To bring ghosts here, and those from here to other ranks.
    pub ghosts: Duration,
    /// To make the spatial index.
    pub index: Duration,
    /// To hear of events of the strands of others.
    pub facts: Duration,
    /// To exchange all states and give blocks new owners.
    pub shares: Duration,
}

/// See the head of this module.
pub(super) struct Spread {
    pub(super) whereabouts: Whereabouts,
    pub(super) shares: Shares,
    /// Whether blocks get new owners before the next super-step.
    pub(super) is_due: bool,
    /// The super-step in which they got them last.
    last: u64,
    /// How far strands of this rank looked in the last super-step in which any did.
    span: f64,
    /// How far they may look without waiting.
    pub(super) reach: f64,
    /// The largest `reach` of a rank.
    pub(super) farthest: f64,
    /// Whether strands of this rank live in a bad order.
    pub(super) sorting_pays: bool,
    /// Whether those of some rank seem to, although they have just been sorted.
    seems_unsorted: bool,
    /// Ghosts on this rank.
    pub(super) ghosts: u64,
    /// Ghosts on all ranks in the first super-step with these shares.
    first_ghosts: Option<u64>,
    /// Memory for the sets of all blocks before a super-step.
    pub(super) before: Vec<LaneSets>,
    pub(super) exchanges: Exchanges,
    pub(super) times: ShareTimes,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread {
            whereabouts: Whereabouts::Everywhere,
            shares: Shares::new(Vec::new(), 0),
            is_due: true,
            last: 0,
            span: 0.0,
            reach: 0.0,
            farthest: 0.0,
            sorting_pays: false,
            seems_unsorted: false,
            ghosts: 0,
            first_ghosts: None,
            before: Vec::new(),
            exchanges: Exchanges::default(),
            times: ShareTimes::default(),
        }
    }
}

/// What a rank tells about a super-step, for the decision about new shares.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Report {
    pub(super) ghosts: u64,
    pub(super) sorting_pays: bool,
    pub(super) reach: f64,
}

impl Spread {
    /// Notes that all blocks have owners now.
    pub(super) fn share(&mut self, shares: Shares, step: u64) {
        self.shares = shares;
        self.is_due = false;
        self.last = step;
        self.first_ghosts = None;
        self.ghosts = 0;
        self.sorting_pays = false;
        self.exchanges.shares += 1;
    }

    /// Notes how far strands of this rank looked in a super-step. They will look as far again, or farther if this changes.
    pub(super) fn expect(&mut self, span: f64) {
        if span > 0.0 {
            self.reach = if span == self.span { span } else { span * 1.25 };
            self.span = span;
        }
    }

    /// This rank's part of the decision.
    pub(super) fn report(&self) -> Report {
        Report {
            ghosts: self.ghosts,
            sorting_pays: self.sorting_pays,
            reach: self.reach,
        }
    }

    /// Decides whether blocks get new owners, from the reports of all ranks, the largest number of active strands on a rank and
    /// that of all, and the number of strands. All ranks decide the same.
    pub(super) fn decide(&mut self, reports: &[Report], step: u64, loads: (u64, u64), all: u64) {
        let size = reports.len() as u64;
        let ghosts: u64 = reports.iter().map(|report| report.ghosts).sum();
        self.exchanges.ghosts += ghosts;
        self.farthest = reports.iter().map(|r| r.reach).fold(0.0, f64::max);
        // In the super-step with new shares nothing is a ghost.
        if step > self.last {
            self.exchanges.most_ghosts += all * (size - 1);
        }
        if self.first_ghosts.is_none() && ghosts > 0 {
            self.first_ghosts = Some(ghosts);
        }
        let (largest, active) = loads;
        let fair = active / size;
        let since = step - self.last;
        let is_unsorted = reports.iter().any(|report| report.sorting_pays);
        if since == 1 {
            self.seems_unsorted = is_unsorted;
        }
        let sorting_pays = is_unsorted && !self.seems_unsorted;
        let is_uneven = |part: u64| largest > fair + fair / part + EVEN;
        let has_spread = self.first_ghosts.is_some_and(|first| {
            let grown = ghosts.saturating_sub(first);
            2 * grown > first && 16 * grown > all
        });
        let pays = sorting_pays || has_spread || is_uneven(4);
        self.is_due |= since >= PATIENCE && pays || since >= LESS_PATIENCE && is_uneven(1);
    }
}
