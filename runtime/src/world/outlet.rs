//! Where the values of an output go when strands end: to room for those of all strands, or, if they are only handed on, to the
//! memory of a part.

use super::kept::{Kept, Way};
use super::parts::Part;
use crate::abi::LaneMask;
use crate::memory::Room;
use std::ops::Range;

/// The way of the values of an output.
pub(super) struct Outlet {
    way: Way,
    home: Home,
}

enum Home {
    Kept(Room<u8>),
    /// By its number among the outputs that are only handed on.
    Passing(usize),
}

impl Outlet {
    /// The outlets of some outputs, each with room for its values unless they are only handed on.
    pub(super) fn all(ways: Vec<Way>, kept: &mut [Option<Kept>]) -> Vec<Outlet> {
        let mut passing = 0..;
        let homes = kept.iter_mut().map(|kept| match kept {
            Some(kept) => Some(Home::Kept(kept.room())),
            None => passing.next().map(Home::Passing),
        });
        let outlets = ways.into_iter().zip(homes.flatten());
        outlets.map(|(way, home)| Outlet { way, home }).collect()
    }

    /// Where the values of some strand are, and its rank.
    fn from(&self, part: Option<Part<'_>>) -> (*mut u8, usize) {
        match (&self.home, part) {
            // SAFETY: it is where the values begin.
            (Home::Kept(room), _) => (unsafe { room.at(0) }, 0),
            (Home::Passing(output), Some(part)) => (part.room(*output), part.first),
            (Home::Passing(_), None) => unreachable!("what is handed on is handed on in parts"),
        }
    }

    /// Writes the values of some lanes of a block.
    ///
    /// # Safety
    /// The block has values for these lanes, their ranks are below the number of strands and in the part, and nobody else
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
    /// They were written, and nobody writes them as long as these are borrowed.
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
