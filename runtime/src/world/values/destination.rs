//! The destination of a variable's values: an array for all strands, or, if they are only streamed, the memory of a part.

use super::buffer::{ValueBuffer, VariablePlanes};
use super::parts::{Part, Parts, Taker};
use crate::abi::LaneMask;
use crate::memory::Room;
use crate::strands::StateLayout;
use crate::strands::tiles::Walk;
use std::ops::Range;

/// Variables whose values are asked for.
pub(crate) struct Requested {
    variables: Vec<usize>,
    planes: Vec<VariablePlanes>,
    /// Those whose values are only streamed.
    passing: Vec<bool>,
}

impl Requested {
    pub(crate) fn new(
        layout: &StateLayout,
        variables: &[usize],
        passes: impl Fn(usize) -> bool,
    ) -> Requested {
        Requested {
            variables: variables.to_vec(),
            planes: variables
                .iter()
                .map(|&n| VariablePlanes::new(layout, n))
                .collect(),
            passing: (0..variables.len()).map(passes).collect(),
        }
    }

    /// Bytes that each strand has of variables that are only streamed, or of the others.
    fn bytes(&self, passing: bool) -> Vec<usize> {
        let planes = self.planes.iter().zip(&self.passing);
        let counted = planes.filter(|(_, passes)| **passes == passing);
        counted.map(|(planes, _)| planes.bytes()).collect()
    }

    /// Bytes of each strand that are kept.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.bytes(false).iter().sum()
    }

    /// The parts in which a taker gets the values of a grid.
    pub(crate) fn parts<'a>(&self, walk: &Walk, workers: usize, taker: Taker<'a>) -> Parts<'a> {
        let bytes: Vec<usize> = self.planes.iter().map(VariablePlanes::bytes).collect();
        Parts::new(walk, workers, &bytes, &self.bytes(true), taker)
    }

    /// Room for the values of this many strands, where they are kept.
    pub(crate) fn room(&self, layout: &StateLayout, strands: usize) -> Vec<Option<ValueBuffer>> {
        let variables = self.variables.iter().zip(&self.passing);
        variables
            .map(|(&n, &passes)| (!passes).then(|| ValueBuffer::new(layout, n, strands)))
            .collect()
    }

    /// The destinations of the variables, whose values have this room.
    pub(crate) fn destinations(self, kept: &mut [Option<ValueBuffer>]) -> Vec<Destination> {
        let mut passing = 0..;
        let homes = kept.iter_mut().map(|kept| match kept {
            Some(kept) => Some(Home::Kept(kept.room())),
            None => passing.next().map(Home::Passing),
        });
        let destinations = self.planes.into_iter().zip(homes.flatten());
        destinations
            .map(|(planes, home)| Destination { planes, home })
            .collect()
    }
}

/// The destination of the values of a variable.
pub(crate) struct Destination {
    planes: VariablePlanes,
    home: Home,
}

enum Home {
    Kept(Room<u8>),
    /// By its number among those that are only streamed.
    Passing(usize),
}

impl Destination {
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
    pub(crate) unsafe fn put(
        &self,
        part: Option<Part<'_>>,
        block: *const u8,
        lanes: LaneMask,
        ranks: &[u32],
    ) {
        let (to, first) = self.from(part);
        // SAFETY: the caller's promise.
        unsafe { self.planes.put(to, first as u32, block, lanes, ranks) };
    }

    /// The bytes of the values of some strands of a part, and how many bytes those before them have.
    ///
    /// # Safety
    /// They were written, and are not written again as long as these are borrowed.
    pub(crate) unsafe fn written(&self, part: Part<'_>, strands: Range<usize>) -> (usize, &[u8]) {
        let bytes = self.planes.bytes();
        let (values, first) = self.from(Some(part));
        // SAFETY: the caller's promise.
        let written = unsafe {
            let values = values.add((strands.start - first) * bytes);
            std::slice::from_raw_parts(values, strands.len() * bytes)
        };
        (strands.start * bytes, written)
    }
}
