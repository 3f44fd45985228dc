//! The spatial index of a world: a search, and whether it shows the strands where they are now.

use super::search::{Homes, Search, search};
use crate::abi::LaneMask;
use crate::neighbours::RadiusStatistics;
use crate::strands::roster::{LaneSets, Roster};
use crate::strands::{Position, StateLayout};

/// See the head of this module.
pub(super) struct SpatialIndex {
    search: Box<dyn Search>,
    /// Whether it was built since strands last moved, came or went.
    fits: bool,
    /// The radius that it was built for.
    radius: Option<f64>,
    /// By block, the strands that are known here; nothing if all are.
    known: Option<Vec<LaneMask>>,
}

impl SpatialIndex {
    /// An index of positions of this type that has to be built.
    pub(super) fn new(position: Position) -> SpatialIndex {
        SpatialIndex {
            search: search(position),
            fits: false,
            radius: None,
            known: None,
        }
    }

    pub(super) fn search(&self) -> &dyn Search {
        &*self.search
    }

    pub(super) fn search_mut(&mut self) -> &mut dyn Search {
        &mut *self.search
    }

    /// Only some strands are known here from now on: of each block those in a mask.
    pub(super) fn know_only(&mut self, known: Vec<LaneMask>) {
        self.known = Some(known);
        self.fits = false;
    }

    /// Gives up the list of known strands, for its memory.
    pub(super) fn take_known(&mut self) -> Vec<LaneMask> {
        self.known.take().unwrap_or_default()
    }

    /// All strands are known here from now on.
    pub(super) fn know_all(&mut self) {
        self.search.see_everything();
        if self.known.take().is_some() {
            self.fits = false;
        }
    }

    /// Notes that strands are no longer where the index has them.
    pub(super) fn forget_positions(&mut self) {
        self.fits = false;
    }

    /// Rebuilds the index if strands have moved or queries ask for another radius; returns whether it did. Runs on the current
    /// rayon pool.
    pub(super) fn update(
        &mut self,
        layout: &StateLayout,
        roster: &Roster,
        homes: Homes<'_>,
        radii: &RadiusStatistics,
    ) -> bool {
        let radius = radii.typical().or(self.radius);
        if self.fits && radius == self.radius {
            return false;
        }
        let known = self.known.as_ref();
        let is_there = |block: usize, sets: LaneSets| {
            known.map_or(LaneMask::MAX, |known| known[block]) & sets.alive()
        };
        self.search
            .rebuild(layout, roster, homes, radius, &is_there);
        self.fits = true;
        self.radius = radius;
        true
    }
}
