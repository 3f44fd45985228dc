//! The destination of a variable's values: an array for all strands, or, if they are only streamed, the memory of a part.

use super::buffer::{ValueBuffer, VariablePlanes};
use super::parts::{Part, Parts, Taker};
use crate::abi::LaneMask;
use crate::memory::Room;
use crate::strands::StateLayout;
use crate::strands::tiles::Walk;
use std::mem::MaybeUninit;
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

    /// Bytes of each strand.
    pub(crate) fn all_bytes(&self) -> usize {
        self.planes.iter().map(VariablePlanes::bytes).sum()
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

    /// The variables of strands whose values leave this rank as they come.
    pub(crate) fn destinations_elsewhere(self) -> Vec<Destination> {
        let planes = self.planes.into_iter();
        let elsewhere = |planes| Destination {
            planes,
            home: Home::Elsewhere,
        };
        planes.map(elsewhere).collect()
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
    /// They are sent to another rank, or taken here tile by tile.
    Elsewhere,
}

impl Destination {
    /// Where the values of some strand are, and its rank.
    fn from(&self, part: Option<Part<'_>>) -> (*mut u8, usize) {
        match (&self.home, part) {
            // SAFETY: it is where the values begin.
            (Home::Kept(room), _) => (unsafe { room.at(0) }, 0),
            (Home::Passing(output), Some(part)) => (part.room(*output), part.first),
            (Home::Passing(_), None) => unreachable!("streamed values have a part"),
            (Home::Elsewhere, _) => unreachable!("values that are sent are not put"),
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
        // SAFETY: the caller's promise.
        unsafe { self.put_all(part, std::iter::once((block, lanes, ranks))) };
    }

    /// The same for several blocks.
    ///
    /// # Safety
    /// As for [`Destination::put`].
    pub(crate) unsafe fn put_all<'b>(
        &self,
        part: Option<Part<'_>>,
        blocks: impl Iterator<Item = (*const u8, LaneMask, &'b [u32])>,
    ) {
        let (to, first) = self.from(part);
        for (block, lanes, ranks) in blocks {
            // SAFETY: the caller's promise.
            unsafe { self.planes.put(to, first as u32, block, lanes, ranks) };
        }
    }

    /// The memory of the values of this many strands, in the order of ranks, if it is kept for as many.
    pub(crate) fn values(&self, strands: usize) -> *mut [MaybeUninit<u8>] {
        let (values, _) = self.from(None);
        std::ptr::slice_from_raw_parts_mut(values.cast(), strands * self.bytes())
    }

    /// Bytes of the values of a strand.
    pub(crate) fn bytes(&self) -> usize {
        self.planes.bytes()
    }

    /// Appends the values of some lanes of a block, lane by lane.
    ///
    /// # Safety
    /// The block has values for these lanes.
    pub(crate) unsafe fn pack(&self, block: *const u8, lanes: LaneMask, letter: &mut Vec<u8>) {
        // SAFETY: the caller's promise.
        unsafe { self.planes.pack(block, lanes, letter) };
    }

    /// Writes values that were packed on another rank, of strands with these ranks.
    ///
    /// # Safety
    /// The ranks are below the number of strands and in the part, and no other thread writes the values of these strands.
    pub(crate) unsafe fn unpack(
        &self,
        part: Option<Part<'_>>,
        ranks: impl Iterator<Item = u32>,
        values: &[u8],
    ) {
        let (to, first) = self.from(part);
        let bytes = self.bytes();
        for (rank, values) in ranks.zip(values.chunks_exact(bytes.max(1))) {
            // SAFETY: the caller's promise.
            unsafe {
                let to = to.add((rank as usize - first) * bytes);
                std::ptr::copy_nonoverlapping(values.as_ptr(), to, bytes);
            }
        }
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
