//! The context of a strand method: the state of other strands as of the start of the super-step,
//! and the services of the runtime.

mod sequences;
mod waiting;

use super::events::{ListArena, Nursery, PrintLog, StrandFailure};
use crate::abi::bits;
use crate::abi::{Failure, FailureKind, LaneLists, LaneMask, StepHead};
use crate::memory::Meter;
use crate::neighbours::{Hits, RadiusStatistics};
use crate::sequence::{HeldSequence, Sequence, SequenceCache, SequencePool};
use crate::strands::blocks::{Blocks, lanes_mut, record_bytes, save_lane};
use crate::strands::roster::Roster;
use crate::strands::{Counts, Plane, SequencePlane, Sharing, StateLayout};
use crate::world::search::{Homes, Query, Search};
use std::sync::atomic::AtomicBool;

/// What all blocks of a super-step share.
pub(crate) struct Shared<'a> {
    pub(crate) layout: &'a StateLayout,
    pub(crate) state: &'a Blocks,
    pub(crate) published: &'a Blocks,
    pub(crate) search: Option<&'a dyn Search>,
    /// Whether the search may have to leave queries unanswered.
    pub(crate) may_wait: bool,
    /// The rank of this process in its cluster.
    pub(crate) maker: u32,
    pub(crate) sequences: &'a SequencePool,
    pub(crate) roster: &'a Roster,
    pub(crate) counts: Counts,
    /// Whether methods may fail because there is no memory for new values.
    pub(crate) may_exhaust: bool,
    /// See [`StepHead`].
    pub(crate) cancelled: *const AtomicBool,
    /// See [`StepHead`].
    pub(crate) stopped: *const AtomicBool,
}

// SAFETY: the flags are those of the run's control, which outlives the super-step, and are only read.
unsafe impl Sync for Shared<'_> {}

/// Scratch memory and logs of one worker, in lines of the cache that no other worker writes.
#[repr(align(128))]
pub(crate) struct Worker {
    pub(crate) printed: PrintLog,
    pub(crate) nursery: Nursery,
    pub(crate) failure: Option<StrandFailure>,
    /// Memory of printed text and new strands of a super-step.
    pub(crate) meter: Meter,
    pub(crate) sequences: SequenceCache,
    pub(crate) radii: RadiusStatistics,
    staging: Blocks,
    /// The block as it was before the method.
    kept: Blocks,
    /// Pieces of text and children before the method.
    before_method: [usize; 2],
    lists: ListArena,
    hits: Hits,
    /// Sequences the block's state held before the method: one group of lanes per plane.
    before: Vec<Sequence>,
    /// The same of one lane, before and after.
    lane_before: Vec<Sequence>,
    lane_after: Vec<HeldSequence>,
    bytes: Vec<u8>,
    /// Iterator positions of the strands that are created.
    coordinates: Vec<u32>,
}

impl Worker {
    pub(crate) fn new(layout: &StateLayout) -> Worker {
        let [mut staging, mut kept] = [(); 2].map(|()| Blocks::new(layout.stride()));
        staging.resize(1);
        kept.resize(1);
        Worker {
            printed: PrintLog::default(),
            nursery: Nursery::default(),
            failure: None,
            meter: Meter::default(),
            sequences: SequenceCache::default(),
            radii: RadiusStatistics::default(),
            staging,
            kept,
            before_method: [0; 2],
            lists: ListArena::default(),
            hits: Hits::default(),
            before: Vec::new(),
            lane_before: Vec::new(),
            lane_after: Vec::new(),
            bytes: Vec::new(),
            coordinates: Vec::new(),
        }
    }
}

/// The context of one method call on one block.
pub struct StepContext<'a> {
    head: StepHead,
    /// Slot of lane 0 of the block.
    first_slot: u32,
    shared: &'a Shared<'a>,
    worker: &'a mut Worker,
    /// Ranks of the block's lanes.
    ranks: &'a [u32],
    failed: LaneMask,
    /// Lanes for which there was no memory.
    exhausted: LaneMask,
    /// Lanes whose queries could not be answered.
    waiting: LaneMask,
}

impl<'a> StepContext<'a> {
    /// A context for the block whose lanes have these ranks.
    #[inline]
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        worker: &'a mut Worker,
        step: u64,
        block: usize,
        ranks: &'a [u32],
    ) -> StepContext<'a> {
        let head = StepHead {
            published: shared.published.base(),
            state: shared.state.base(),
            all: shared.counts.all() as i64,
            active: shared.counts.active as i64,
            stable: shared.counts.stable as i64,
            step,
            cancelled: shared.cancelled,
            stopped: shared.stopped,
        };
        StepContext {
            head,
            first_slot: (block * shared.layout.width()) as u32,
            shared,
            worker,
            ranks,
            failed: 0,
            exhausted: 0,
            waiting: 0,
        }
    }

    /// Goes on to a super-step of the block whose lanes have these ranks.
    #[inline]
    pub(crate) fn enter(&mut self, step: u64, block: usize, ranks: &'a [u32]) {
        self.head.step = step;
        self.first_slot = (block * self.shared.layout.width()) as u32;
        self.ranks = ranks;
        (self.failed, self.exhausted, self.waiting) = (0, 0, 0);
    }

    /// What all methods of the super-step see.
    #[inline]
    pub fn head(&self) -> &StepHead {
        &self.head
    }

    /// The id of the strand in a lane of the block: how many strands were created before it.
    pub fn id(&self, lane: usize) -> u64 {
        self.shared.roster.id(self.ranks[lane])
    }

    /// A block in which to initialize `new` strands before [`StepContext::spawn`]; its contents are
    /// not kept.
    pub fn staging(&mut self) -> *mut u8 {
        self.worker.staging.base()
    }

    /// The value of a plane of the strand at `slot` (a result of [`StepContext::sphere`]) at the
    /// start of the super-step.
    ///
    /// # Safety
    /// The plane must be one that others may read, with values of type `T`; the slot must come from
    /// a query of this super-step.
    pub unsafe fn other<T: Copy>(&self, plane: Plane, slot: u32) -> T {
        let layout = self.shared.layout;
        let (base, stride) = match plane.sharing {
            Sharing::Communicated => (self.head.published, layout.published_stride()),
            Sharing::Constant | Sharing::Private => (self.head.state, layout.stride()),
        };
        debug_assert!(plane.sharing != Sharing::Private && plane.bytes == size_of::<T>());
        // The width is a power of two; a division here would dominate the loop over neighbours.
        let shift = layout.width().trailing_zeros();
        let (block, lane) = (
            (slot >> shift) as usize,
            slot as usize & (layout.width() - 1),
        );
        debug_assert!(block < self.shared.state.len());
        // SAFETY: the slot exists by the caller's promise, and what others may read is not written
        // during a super-step.
        unsafe {
            *base
                .add(block * stride + plane.offset + lane * plane.bytes)
                .cast::<T>()
        }
    }

    /// Makes a new strand for each lane, with the initial state in `staging`. It joins at the end
    /// of the super-step.
    ///
    /// # Safety
    /// `staging` must be a block of the layout whose lanes in `lanes` are initialized.
    pub unsafe fn spawn(&mut self, lanes: LaneMask, staging: *mut u8) {
        let layout = self.shared.layout;
        // The record itself, its copy in the order of parents, and its place in the order of strands.
        let bytes = 2 * record_bytes(layout) + 2 * size_of::<(u32, &[u8])>();
        for lane in bits(lanes) {
            let lane = lane as usize;
            if let Err(shortage) = self.worker.meter.take(bytes as u64) {
                self.exhaust(1 << lane, shortage);
                continue;
            }
            for &SequencePlane { plane, element } in layout.sequence_planes() {
                // SAFETY: the staging block is the caller's, and so are the sequences in it.
                let copied = unsafe {
                    let handle = &mut lanes_mut::<Sequence>(staging, plane, layout.width())[lane];
                    let copied = self.worker.sequences.copy_for_unborn(
                        self.shared.sequences,
                        *handle,
                        element,
                    );
                    copied.map(|copy| *handle = copy)
                };
                self.check(lane, copied);
            }
            self.worker.nursery.parents.push(self.ranks[lane]);
            self.worker.nursery.makers.push(self.shared.maker);
            // SAFETY: the caller's promise.
            unsafe { save_lane(layout, staging, lane, &mut self.worker.nursery.records) };
        }
    }

    /// Notes a run-time error for each lane, `details[detail * W + lane]` as the kind says. Such
    /// lanes end here; the run stops after the super-step.
    pub fn fail(
        &mut self,
        lanes: LaneMask,
        kind: FailureKind,
        position: u32,
        details: impl Fn(usize) -> [i64; 2],
    ) {
        // What the others do is not known to strands that wait.
        let lanes = lanes & !self.waiting;
        for lane in bits(lanes) {
            let lane = lane as usize;
            let failure = Failure {
                kind,
                position,
                details: details(lane),
            };
            let noted = StrandFailure {
                step: self.head.step,
                rank: self.ranks[lane],
                id: self.id(lane),
                failure,
            };
            StrandFailure::keep_first(&mut self.worker.failure, noted);
        }
        self.failed |= lanes;
    }

    /// Prints text for each lane.
    pub fn print_text(&mut self, lanes: LaneMask, text: &str) {
        for lane in bits(lanes) {
            // The text itself and its copy in the order of strands.
            let bytes = 2 * (text.len() + size_of::<(u32, &str)>());
            if let Err(shortage) = self.worker.meter.take(bytes as u64) {
                self.exhaust(1 << lane, shortage);
                continue;
            }
            let log = &mut self.worker.printed;
            log.text.push_str(text);
            log.pieces.push((self.ranks[lane as usize], log.text.len()));
        }
    }

    /// For each lane the strands strictly closer than its radius to its centre, without the strand
    /// itself, in strand order. The lists are valid until the method returns. A strand whose list is not known here gets an empty
    /// one, and its method runs again later.
    ///
    /// # Safety
    /// `centres` and `radii` must be planes in the type of the position.
    pub unsafe fn sphere(
        &mut self,
        lanes: LaneMask,
        centres: *const u8,
        radii: *const u8,
        lists: &mut LaneLists,
    ) {
        *lists = LaneLists::EMPTY;
        let Some(search) = self.shared.search else {
            return;
        };
        let layout = self.shared.layout;
        let Some(position) = layout.position() else {
            return;
        };
        let homes = Homes {
            state: self.shared.state,
            published: self.shared.published,
        };
        let block = self.first_slot as usize / layout.width();
        let query = Query {
            centres,
            radii,
            own: homes.visible(layout.plane(position.variable, 0), block),
            lanes,
            width: layout.width(),
            first_slot: self.first_slot,
        };
        let Worker {
            lists: arena,
            hits,
            radii,
            ..
        } = &mut *self.worker;
        let mut keep = |lane: usize, found: &[u32]| {
            lists.slots[lane] = arena.keep(found);
            lists.lengths[lane] = found.len() as u32;
        };
        // SAFETY: the caller's promise.
        self.waiting |= unsafe { search.spheres(query, hits, radii, &mut keep) };
    }

    /// Ranks of the block's lanes.
    pub(crate) fn ranks(&self) -> &'a [u32] {
        self.ranks
    }

    /// Scratch memory of the worker for iterator positions.
    pub(crate) fn coordinates(&mut self) -> &mut Vec<u32> {
        &mut self.worker.coordinates
    }

    /// Lanes that have met a run-time error.
    pub(crate) fn failed(&self) -> LaneMask {
        self.failed
    }

    /// Lanes whose method has to run again, because their queries could not be answered. They are as they were before it.
    pub(crate) fn waiting(&self) -> LaneMask {
        self.waiting
    }

    /// Those of them for which there was no memory; they are as they were before the method.
    pub fn exhausted(&self) -> LaneMask {
        self.exhausted
    }
}
