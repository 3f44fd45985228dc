//! Events of strands that run with an executor: the text that they print, and the strands that they make.

use crate::strands::StateLayout;
use crate::strands::blocks::record_bytes;
use crate::world::core::{Core, owned};

/// Events of several strands in any order; those of one strand are in its own.
#[derive(Debug, Default)]
pub struct AwayEvents {
    text: String,
    /// The slot of the strand that printed, and where its piece ends.
    pieces: Vec<(usize, usize)>,
    /// The slots of the strands that made others.
    parents: Vec<usize>,
    /// The initial states of these.
    records: Vec<u8>,
}

impl AwayEvents {
    /// Whether no strand was made.
    pub(crate) fn is_text_alone(&self) -> bool {
        self.parents.is_empty()
    }

    /// The strand in a slot prints a text.
    pub fn print(&mut self, slot: usize, text: &str) {
        self.text.push_str(text);
        self.pieces.push((slot, self.text.len()));
    }

    /// The strand in a slot makes one with the state that is in the first lane of a block.
    pub(crate) fn spawn(&mut self, slot: usize, layout: &StateLayout, block: &[u8]) {
        self.parents.push(slot);
        for plane in layout.planes() {
            let value = plane.offset..plane.offset + plane.bytes;
            self.records.extend_from_slice(&block[value]);
        }
    }

    /// Bytes that this many events take at most: as they are made, here, among those of the world, and in the order of strands.
    pub(crate) fn bytes(
        layout: &StateLayout,
        children: usize,
        (pieces, text): (usize, usize),
    ) -> usize {
        let child = record_bytes(layout) + size_of::<(u32, u32, &[u8])>();
        let all = [
            children.saturating_mul(child),
            pieces.saturating_mul(size_of::<(u32, &str)>()),
            text,
        ];
        all.into_iter()
            .fold(0, usize::saturating_add)
            .saturating_mul(4)
    }
}

impl Core {
    /// Takes over the events of strands that ran with an executor.
    pub(crate) fn land_events(&mut self, events: AwayEvents) {
        let AwayEvents {
            text,
            pieces,
            parents,
            records,
        } = events;
        let ranks = &self.roster.ranks;
        let maker = self.team.as_ref().map_or(0, |team| team.rank() as u32);
        let worker = owned(&mut self.workers[0]);
        let before = worker.printed.text.len();
        worker.printed.text.push_str(&text);
        let pieces = pieces.into_iter();
        let pieces = pieces.map(|(slot, end)| (ranks[slot], before + end));
        worker.printed.pieces.extend(pieces);
        let nursery = &mut worker.nursery;
        nursery
            .makers
            .resize(nursery.makers.len() + parents.len(), maker);
        let parents = parents.into_iter().map(|slot| ranks[slot]);
        nursery.parents.extend(parents);
        nursery.records.extend(records);
    }
}
