//! The spatial index of a world: a search, and whether it shows the strands where they are now.

use super::search::{Homes, Search, search};
use crate::neighbours::RadiusStatistics;
use crate::strands::roster::Roster;
use crate::strands::{Position, StateLayout};

/// See the head of this module.
pub(super) struct SpatialIndex {
    search: Box<dyn Search>,
    /// Whether it was built since strands last moved, came or went.
    fits: bool,
    /// The radius that it was built for.
    radius: Option<f64>,
}

impl SpatialIndex {
    /// An index of positions of this type that has to be built.
    pub(super) fn new(position: Position) -> SpatialIndex {
        SpatialIndex {
            search: search(position),
            fits: false,
            radius: None,
        }
    }

    pub(super) fn search(&self) -> &dyn Search {
        &*self.search
    }

    pub(super) fn search_mut(&mut self) -> &mut dyn Search {
        &mut *self.search
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
        self.search.rebuild(layout, roster, homes, radius);
        self.fits = true;
        self.radius = radius;
        true
    }
}
