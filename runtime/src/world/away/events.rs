//! Events of strands that run with an executor: the text that they print, and the strands that they make.

use crate::strands::blocks::record_bytes;
use crate::world::core::{Core, owned};
use crate::world::executor::Batch;

/// Events in the order in which strands are told of; those of one strand are in its own order.
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
}

impl Batch<'_> {
    /// Bytes of memory that the events of a super-step take at most, if strands make this many others, and print this many pieces of
    /// text with these bytes in all: here, among those of the world, and in the order of strands.
    pub fn bytes_of_events(&self, children: usize, (pieces, text): (usize, usize)) -> usize {
        let child = record_bytes(self.sequences.layout) + size_of::<(u32, u32, &[u8])>();
        let all = [
            children.saturating_mul(child),
            pieces.saturating_mul(size_of::<(u32, &str)>()),
            text,
        ];
        all.into_iter()
            .fold(0, usize::saturating_add)
            .saturating_mul(3)
    }

    /// The strand in a slot prints a text.
    pub fn print(&mut self, slot: usize, text: &str) {
        let AwayEvents {
            text: all, pieces, ..
        } = &mut self.events;
        all.push_str(text);
        pieces.push((slot, all.len()));
    }

    /// The strand in a slot makes one with the state that is in the first lane of a block.
    pub fn spawn(&mut self, slot: usize, block: &[u8]) {
        let AwayEvents {
            parents, records, ..
        } = &mut self.events;
        parents.push(slot);
        for plane in self.sequences.layout.planes() {
            records.extend_from_slice(&block[plane.offset..plane.offset + plane.bytes]);
        }
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
