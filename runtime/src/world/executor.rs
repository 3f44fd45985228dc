//! Where strands run: by their methods on this CPU, or by an [`Executor`], such as a GPU, all together. Strands that cannot notice each
//! other run to their ends there, others super-step by super-step. The states of the latter stay there, and are brought back when
//! they are needed here; every block knows where its newest state is.
//!
//! A strand that an executor does not finish is left as it was, and its methods run it here. So an executor need not support
//! everything, and every run-time error is reported by the methods.

use super::away::{AwayEvents, BatchSequences};
use super::control::Control;
use crate::abi::LaneMask;
use crate::strands::Counts;
use crate::strands::roster::{LaneSets, Newest};
use std::mem::MaybeUninit;
use std::ops::Range;

/// The state of a strand before or after a launch. The bits above are its number of super-steps.
pub mod fate {
    /// Nothing: there is no strand, or it is not active.
    pub const IDLE: u32 = 0;
    /// It is active.
    pub const RUNNING: u32 = 1;
    /// It is active and its `start` method has not run yet.
    pub const FRESH: u32 = 2;
    /// It stabilized.
    pub const STABLE: u32 = 3;
    /// It died.
    pub const DEAD: u32 = 4;
    /// It is left to its methods, with the state that it had in the beginning.
    pub const LEFT: u32 = 5;
    /// It waits for memory of the executor, with the state after its last super-step. No run ends with it.
    pub const WAITING: u32 = 6;
    /// The same; its `start` method has not run yet.
    pub const WAITING_FRESH: u32 = 7;
    /// How many bits these take.
    pub const BITS: u32 = 3;

    /// What became of a strand, without the super-steps.
    pub fn kind(fate: u32) -> u32 {
        fate & ((1 << BITS) - 1)
    }
}

/// Runs the strands of a program instead of its methods.
pub trait Executor: Sync {
    /// Whether it can run strands: it may have failed.
    fn is_ready(&self) -> bool;

    /// Runs strands and sets their [fates](Batch::fates); false if that failed. If they run to their ends, their states are then here
    /// again; after one super-step they stay there, of all blocks that have active strands, until they are brought back.
    fn run(&self, strands: &mut Batch<'_>) -> bool;

    /// Makes all strands of a creation clause and runs them to their ends, or until the run is over; false if it does not, and then
    /// nothing is known of them.
    fn make_and_run(&self, job: &mut Job<'_>) -> bool;

    /// Copies the states of some blocks from there; false if they are lost.
    fn bring_back(&self, strands: &mut Batch<'_>, blocks: &[Range<usize>]) -> bool;

    /// Copies the published state of all blocks from there; false if it is lost.
    fn bring_published(&self, strands: &mut Batch<'_>) -> bool;

    /// Whether global blocks look at states of strands that have to be here then. If not, they ask for
    /// [values](super::ValueMap) of strands alone.
    fn needs_states(&self) -> bool;
}

/// Strands that an executor is to run.
pub struct Batch<'a> {
    /// The states of all strands, block after block; of some blocks they are older than those there.
    pub state: &'a mut [u8],
    /// Bytes of a block.
    pub stride: usize,
    /// What others may read of the blocks: the first this many bytes of each, as of the start of a super-step.
    pub published: &'a mut [u8],
    /// See `published`.
    pub published_stride: usize,
    /// The place of each strand in the order of strands, by its place in memory.
    pub ranks: &'a [u32],
    /// Whether these have changed since the last super-step that was run there.
    pub reordered: bool,
    /// Strands in a block.
    pub width: usize,
    /// What became of each strand, by its place; nothing if all active ones took a super-step and go on.
    pub fates: Vec<u32>,
    /// The text that strands have printed and the strands that they have made, if they keep in step; not of those that are left.
    pub events: AwayEvents,
    /// Super-steps at most.
    pub limit: u64,
    /// Sizes of the sets at the end of the last super-step.
    pub counts: Counts,
    /// Whether strands run to their ends, and not all together one super-step.
    pub independent: bool,
    /// Whether strands may have begun to run there: what fails then may have changed their states.
    pub began: bool,
    /// The sequences in the states.
    pub sequences: BatchSequences<'a>,
    pub(super) lanes: &'a [LaneSets],
    pub(super) settled: bool,
    pub(super) starts: bool,
    pub(super) first_step: u64,
    pub(super) control: &'a Control,
}

/// Strands that an executor is to make, to run to their ends, and to forget.
pub struct Job<'a> {
    /// How many values each iterator of the creation clause has.
    pub sizes: &'a [usize],
    /// How many strands there are.
    pub strands: usize,
    /// Places for them, in whole blocks.
    pub places: usize,
    /// Gives the rank of the strand in each place, or the number of strands if there is none. It is the same for all jobs of these sizes.
    pub ranks: &'a dyn Fn() -> Vec<u32>,
    /// Variables, by their numbers in the layout, whose values are wanted as strands begin, and where these go, in the order of ranks.
    pub initial: Vec<(usize, &'a mut [MaybeUninit<u8>])>,
    /// The same as they end; those of strands that died mean nothing.
    pub outputs: Vec<(usize, &'a mut [MaybeUninit<u8>])>,
    /// What became of each strand, by its place. One that was left has no values, also none of the beginning. Empty if all became stable.
    pub fates: Vec<u32>,
    /// If it is empty, the most super-steps of a strand.
    pub steps: u64,
    pub(super) control: &'a Control,
}

impl Job<'_> {
    /// Whether the run has to end now.
    pub fn is_over(&self) -> bool {
        self.control.is_over()
    }
}

impl Batch<'_> {
    /// The strand in a slot makes one with the state that is in the first lane of a block.
    pub fn spawn(&mut self, slot: usize, block: &[u8]) {
        self.events.spawn(slot, self.sequences.layout, block);
    }

    /// Bytes of memory that the events of a super-step take at most, if strands make this many others, and print this many pieces of
    /// text with these bytes in all: as they are made, here, among those of the world, and in the order of strands.
    pub fn bytes_of_events(&self, children: usize, texts: (usize, usize)) -> usize {
        AwayEvents::bytes(self.sequences.layout, children, texts)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.lanes.len()
    }

    /// The blocks in this many parts, or fewer if there are few, each a batch of its own; for strands that run to their ends.
    pub fn split(&mut self, parts: usize) -> Vec<Batch<'_>> {
        let per_part = self.blocks().div_ceil(parts).max(1);
        let states = self.state.chunks_mut(per_part * self.stride);
        let lanes = self.lanes.chunks(per_part);
        let part = |(n, (state, lanes))| Batch {
            state,
            published: &mut [],
            ranks: &[],
            fates: Vec::new(),
            events: AwayEvents::default(),
            sequences: self.sequences.after(n * per_part),
            lanes,
            ..*self
        };
        states.zip(lanes).enumerate().map(part).collect()
    }

    /// Some of the blocks, side by side, as a batch of their own; for strands that run to their ends.
    pub(super) fn part(&mut self, blocks: Range<usize>) -> Batch<'_> {
        Batch {
            state: &mut self.state[blocks.start * self.stride..blocks.end * self.stride],
            published: &mut [],
            ranks: &[],
            fates: Vec::new(),
            events: AwayEvents::default(),
            sequences: self.sequences.after(blocks.start),
            lanes: &self.lanes[blocks],
            ..*self
        }
    }

    /// The states of the strands of some blocks, by their slots.
    pub fn told(&self, blocks: Range<usize>) -> Vec<u32> {
        let fate_of = |sets: &LaneSets, lane: usize| {
            let is_in = |set: LaneMask| set >> lane & 1 == 1;
            match () {
                () if is_in(sets.stable) => fate::STABLE,
                () if !is_in(sets.active) => fate::IDLE,
                () if self.starts && is_in(sets.fresh) => fate::FRESH,
                () => fate::RUNNING,
            }
        };
        let all = LaneMask::MAX >> (LaneMask::BITS as usize - self.width);
        let mut fates = Vec::with_capacity(blocks.len() * self.width);
        for sets in &self.lanes[blocks] {
            // Nearly always all lanes of a block are in the same sets.
            match sets.active == all && sets.stable == 0 && (sets.fresh == 0 || sets.fresh == all) {
                true => fates.resize(fates.len() + self.width, fate_of(sets, 0)),
                false => fates.extend((0..self.width).map(|lane| fate_of(sets, lane))),
            }
        }
        fates
    }

    /// Ranges of blocks whose newest state is here only.
    pub fn changed(&self) -> Vec<Range<usize>> {
        if self.settled {
            return Vec::new();
        }
        runs(self.lanes, |_, sets| sets.newest == Newest::Here)
    }

    /// Ranges of blocks whose newest state is there only.
    pub fn away(&self) -> Vec<Range<usize>> {
        runs(self.lanes, |_, sets| sets.newest == Newest::There)
    }

    /// Whether the run has to end now. A super-step that all strands take together is finished unless it is cancelled.
    pub fn is_over(&self) -> bool {
        ends_now(self.control, self.independent)
    }

    /// Reports the progress of strands and how many have ended.
    pub fn advance(&self, steps: u64, stabilized: u64, died: u64) {
        self.control
            .advance(self.first_step + steps, stabilized, died);
    }
}

/// The runs of blocks next to each other for which something holds.
pub(super) fn runs(
    lanes: &[LaneSets],
    holds: impl Fn(usize, &LaneSets) -> bool,
) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let blocks = lanes.iter().enumerate();
    for (block, _) in blocks.filter(|(block, sets)| holds(*block, sets)) {
        match runs.last_mut() {
            Some(run) if run.end == block => run.end += 1,
            _ => runs.push(block..block + 1),
        }
    }
    runs
}

/// Whether a run has to end before its strands do.
pub(super) fn ends_now(control: &Control, independent: bool) -> bool {
    match independent {
        true => control.is_over(),
        false => control.is_cancelled(),
    }
}
