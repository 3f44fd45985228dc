//! The destination of a variable's values: an array for all strands, or, if they are only streamed, the memory of a part.

use super::kept::{Kept, Way};
use super::parts::{Part, Parts, Taker};
use crate::abi::LaneMask;
use crate::memory::Room;
use crate::strands::StateLayout;
use crate::strands::tiles::Walk;
use std::ops::Range;

/// Variables whose values are asked for.
pub(super) struct Asked {
    variables: Vec<usize>,
    ways: Vec<Way>,
    /// Those whose values are only streamed.
    passing: Vec<bool>,
}

impl Asked {
    pub(super) fn new(
        layout: &StateLayout,
        variables: &[usize],
        passes: impl Fn(usize) -> bool,
    ) -> Asked {
        Asked {
            variables: variables.to_vec(),
            ways: variables.iter().map(|&n| Way::new(layout, n)).collect(),
            passing: (0..variables.len()).map(passes).collect(),
        }
    }

    /// Bytes that each strand has of variables that are only streamed, or of the others.
    fn bytes(&self, passing: bool) -> Vec<usize> {
        let ways = self.ways.iter().zip(&self.passing);
        let counted = ways.filter(|(_, passes)| **passes == passing);
        counted.map(|(way, _)| way.bytes()).collect()
    }

    /// Bytes of each strand that are kept.
    pub(super) fn kept_bytes(&self) -> usize {
        self.bytes(false).iter().sum()
    }

    /// The parts in which a taker gets the values of a grid.
    pub(super) fn parts<'a>(&self, walk: &Walk, workers: usize, taker: Taker<'a>) -> Parts<'a> {
        let bytes: Vec<usize> = self.ways.iter().map(Way::bytes).collect();
        Parts::new(walk, workers, &bytes, &self.bytes(true), taker)
    }

    /// Room for the values of this many strands, where they are kept.
    pub(super) fn room(&self, layout: &StateLayout, strands: usize) -> Vec<Option<Kept>> {
        let variables = self.variables.iter().zip(&self.passing);
        variables
            .map(|(&n, &passes)| (!passes).then(|| Kept::new(layout, n, strands)))
            .collect()
    }

    /// The outlets of the variables, whose values have this room.
    pub(super) fn outlets(self, kept: &mut [Option<Kept>]) -> Vec<Outlet> {
        let mut passing = 0..;
        let homes = kept.iter_mut().map(|kept| match kept {
            Some(kept) => Some(Home::Kept(kept.room())),
            None => passing.next().map(Home::Passing),
        });
        let outlets = self.ways.into_iter().zip(homes.flatten());
        outlets.map(|(way, home)| Outlet { way, home }).collect()
    }
}

/// The way of the values of a variable.
pub(super) struct Outlet {
    way: Way,
    home: Home,
}

enum Home {
    Kept(Room<u8>),
    /// By its number among those that are only streamed.
    Passing(usize),
}

impl Outlet {
    /// Where the values of some strand are, and its rank.
    fn from(&self, part: Option<Part<'_>>) -> (*mut u8, usize) {
        match (&self.home, part) {
            // SAFETY: it is where the values begin.
            (Home::Kept(room), _) => (unsafe { room.at(0) }, 0),
            (Home::Passing(output), Some(part)) => (part.room(*output), part.first),
            (Home::Passing(_), None) => unreachable!("streamed values have a part"),
        }
    }

    /// Writes the values of some lanes of a block.
    ///
    /// # Safety
    /// The block has values for these lanes, their ranks are below the number of strands and in the part, and no other thread
    /// writes theirs.
    pub(super) unsafe fn put(
        &self,
        part: Option<Part<'_>>,
        block: *const u8,
        lanes: LaneMask,
        ranks: &[u32],
    ) {
        let (to, first) = self.from(part);
        // SAFETY: the caller's promise.
        unsafe { self.way.put(to, first as u32, block, lanes, ranks) };
    }

    /// The bytes of the values of some strands of a part, and how many bytes those before them have.
    ///
    /// # Safety
    /// They were written, and are not written again as long as these are borrowed.
    pub(super) unsafe fn written(&self, part: Part<'_>, strands: Range<usize>) -> (usize, &[u8]) {
        let bytes = self.way.bytes();
        let (values, first) = self.from(Some(part));
        // SAFETY: the caller's promise.
        let written = unsafe {
            let values = values.add((strands.start - first) * bytes);
            std::slice::from_raw_parts(values, strands.len() * bytes)
        };
        (strands.start * bytes, written)
    }
}
