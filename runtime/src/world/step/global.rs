//! The context of global blocks: counts, reductions over strand sets, printing, stopping all
//! strands, and sequences in global variables.

use crate::abi::LaneMask;
use crate::reduce::{Reduction, Values, reduce};
use crate::sequence::{
    CannotGrow, HeldSequence, Owner, Sequence, SequenceCache, SequencePool, Settling,
};
use crate::strands::roster::{LaneSets, Newest};
use crate::strands::{Counts, Scalar, StrandSet};
use crate::world::core::Core;
use crate::world::workers::on;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Sequences that belong to global variables. Made before the world, so that inputs can be loaded.
#[derive(Default)]
pub struct GlobalSequences {
    pub(crate) pool: Arc<SequencePool>,
    cache: SequenceCache,
    live: Vec<Sequence>,
}

impl GlobalSequences {
    /// No sequences yet.
    pub fn new() -> GlobalSequences {
        GlobalSequences::default()
    }

    /// A sequence of the given elements, `element` bytes each.
    pub fn create(&mut self, elements: &[u8], element: usize) -> Result<Sequence, CannotGrow> {
        self.cache
            .create(&self.pool, Owner::GLOBAL, elements, element)
    }

    /// `sequence` with one element more at its end.
    ///
    /// # Safety
    /// `sequence` must be alive, of elements as long as `value`.
    pub unsafe fn append(
        &mut self,
        sequence: Sequence,
        value: &[u8],
    ) -> Result<Sequence, CannotGrow> {
        // SAFETY: the caller's promise.
        unsafe {
            self.cache
                .append(&self.pool, Owner::GLOBAL, sequence, value)
        }
    }

    /// `sequence` with one element more at its beginning.
    ///
    /// # Safety
    /// As for [`GlobalSequences::append`].
    pub unsafe fn prepend(
        &mut self,
        value: &[u8],
        sequence: Sequence,
    ) -> Result<Sequence, CannotGrow> {
        // SAFETY: the caller's promise.
        unsafe {
            self.cache
                .prepend(&self.pool, Owner::GLOBAL, value, sequence)
        }
    }

    /// The elements of `left`, then those of `right`.
    ///
    /// # Safety
    /// Both must be alive, of elements of `element` bytes.
    pub unsafe fn concatenate(
        &mut self,
        left: Sequence,
        right: Sequence,
        element: usize,
    ) -> Result<Sequence, CannotGrow> {
        // SAFETY: the caller's promise.
        unsafe {
            self.cache
                .concatenate(&self.pool, Owner::GLOBAL, left, right, element)
        }
    }

    /// Address of the first element.
    pub fn data(&self, sequence: Sequence) -> *const u8 {
        self.pool.data(sequence)
    }

    /// Capacity of all live buffers made here minus that of those freed here.
    pub(crate) fn live_bytes(&self) -> i64 {
        self.cache.live_bytes()
    }

    /// Frees all global sequences but these.
    pub(crate) fn keep_only(&mut self, held: &[Sequence]) {
        // Global variables hold global sequences only, so nothing is copied and the element size
        // does not matter.
        let held = held.iter().map(|&sequence| HeldSequence {
            sequence,
            element: 0,
        });
        let mut held: Vec<HeldSequence> = held.collect();
        let settling = Settling {
            owner: Owner::GLOBAL,
            before: &self.live,
            read_by_others: false,
        };
        // SAFETY: no strand runs, and strands keep copies of global sequences, never the sequences
        // themselves.
        let settled = unsafe { self.cache.settle(&self.pool, settling, &mut held) };
        debug_assert_eq!(settled, Ok(()));
        self.live = held.into_iter().map(|held| held.sequence).collect();
    }
}

/// The context of a global block.
pub struct GlobalContext<'a> {
    pub(crate) core: &'a mut Core,
    /// Sequences of global variables.
    pub sequences: &'a mut GlobalSequences,
    pub(crate) text: &'a mut String,
    /// Whether an executor has lost states that were asked for.
    pub(crate) are_lost: &'a AtomicBool,
}

/// Computes a value for each of the given lanes of a block, as planes.
pub type BlockMap<'a> = &'a (dyn Fn(*const u8, LaneMask, *mut u8) + Sync);

/// Computes values of strands, as planes: for each scalar of a value one of the width of a block.
#[derive(Clone, Copy)]
pub struct ValueMap<'a> {
    /// Of the given lanes of a block, from its state here.
    pub here: BlockMap<'a>,
    /// Of all strands of the first blocks, this many, from their states with the executor, block after block; false if
    /// they are lost. It is asked only if states are there alone.
    pub there: &'a dyn Fn(usize, &mut [u8]) -> bool,
}

impl GlobalContext<'_> {
    /// Whether the run is to end at once; see [`crate::abi::StepHead`].
    pub fn cancelled(&self) -> *const AtomicBool {
        self.core.control.cancelled()
    }

    /// Sizes of the strand sets.
    pub fn counts(&self) -> Counts {
        self.core.counts
    }

    /// Super-steps completed.
    pub fn step(&self) -> u64 {
        self.core.step
    }

    /// Prints text.
    pub fn print_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Reduces values of the strands of a set that `map` computes from states here: `components` scalars of a type each.
    pub fn reduce_map(
        &self,
        reduction: Reduction,
        set: StrandSet,
        scalar: Scalar,
        components: usize,
        map: BlockMap<'_>,
    ) -> Option<Values> {
        let strands = Reductions {
            core: self.core,
            are_lost: self.are_lost,
        };
        let map = ValueMap {
            here: map,
            there: &|_, _| false,
        };
        strands.reduce_map(reduction, set, (scalar, components), map)
    }

    /// The strands and the sequences of global variables, to be used side by side.
    pub fn split(&mut self) -> (Reductions<'_>, &mut GlobalSequences) {
        let strands = Reductions {
            core: self.core,
            are_lost: self.are_lost,
        };
        (strands, self.sequences)
    }

    /// Kills all active strands at once.
    pub fn kill_all(&mut self) {
        self.core.kill_active();
    }
}

/// The strands, to be reduced.
#[derive(Clone, Copy)]
pub struct Reductions<'a> {
    core: &'a Core,
    are_lost: &'a AtomicBool,
}

impl Reductions<'_> {
    /// Reduces values of the strands of a set that `map` computes: each has this number of scalars of a type.
    pub fn reduce_map(
        &self,
        reduction: Reduction,
        set: StrandSet,
        (scalar, components): (Scalar, usize),
        map: ValueMap<'_>,
    ) -> Option<Values> {
        if !reduction.accepts(scalar) {
            return None;
        }
        let core = self.core;
        let Core { layout, roster, .. } = core;
        let plane = layout.width() * scalar.bytes();
        let offsets: Vec<usize> = (0..components).map(|n| n * plane).collect();
        let bytes = components * plane;
        let is_away = |sets: &LaneSets| sets.newest == Newest::There && sets.members(set) != 0;
        let away = roster.lanes.iter().rposition(is_away);
        // Whole words, so that scalars are aligned; the planes of a block are words as well.
        let words = bytes.div_ceil(size_of::<u64>());
        let mut there = vec![0u64; away.map_or(0, |last| (last + 1) * words)];
        if let Some(last) = away {
            // SAFETY: all bytes of the words are initialized, and any bytes make words.
            let values = unsafe {
                std::slice::from_raw_parts_mut(there.as_mut_ptr().cast(), (last + 1) * bytes)
            };
            if !(map.there)(last + 1, values) {
                self.are_lost.store(true, Relaxed);
            }
        }
        let mapped = |block: usize, values: &mut [u64]| {
            if roster.lanes[block].newest == Newest::There {
                let at = block * bytes;
                // SAFETY: every block up to the last that is away has this number of bytes.
                return unsafe { there.as_ptr().cast::<u8>().add(at) };
            }
            let lanes = roster.lanes[block].members(set);
            let values = values.as_mut_ptr().cast();
            (map.here)(core.state.block(block), lanes, values);
            values.cast_const()
        };
        // SAFETY: the map wrote a plane for every component.
        let values = unsafe { core.collect_together(set, scalar, &offsets, words, &mapped) };
        let values = values.unwrap_or_else(|lost| {
            core.note_lost(lost);
            Values::from_bytes(scalar, &[])
        });
        let threads = &self.core.threads;
        on(threads, || reduce(reduction, &values, components))
    }
}
