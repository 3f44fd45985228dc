//! Strands that cannot notice each other, and of which nothing but outputs is asked for: made, run to their ends and
//! forgotten, one tile of the creation clause after the other.
//!
//! What a worker needs at a time is the state of one tile, which stays in its cache, so that making a strand costs little
//! more than computing its initial values.

use super::collect::put_lanes;
use super::complete::{GROUP, SHARES, run_group};
use super::context::StepContext;
use super::core::{Core, on};
use super::methods::create_at;
use super::program::{Abilities, StrandProgram};
use super::{Control, Creation, GlobalSequences, WorldError};
use crate::abi::LaneMask;
use crate::memory::{Claim, Room, claim, roomy};
use crate::reduce::Values;
use crate::strands::arrange::Records;
use crate::strands::roster::LaneSets;
use crate::strands::tiles::{TilePoints, Walk};
use crate::strands::{Counts, Kind, Scalar, StateLayout};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// What is left of strands that ran to their ends, or as far as they came before they were asked to stop.
pub struct Completed {
    /// The values that the variables asked for had in the beginning, in creation order.
    pub initial: Vec<Values>,
    /// The values that they had last, of all strands that did not die.
    pub outputs: Vec<Values>,
    /// The largest number of super-steps any strand took.
    pub steps: u64,
    /// What became of the strands.
    pub counts: Counts,
    threads: rayon::ThreadPool,
    /// The memory of the values.
    _claim: Claim,
}

impl Completed {
    /// Does something with the workers as the current rayon pool.
    pub fn on_workers<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        on(&self.threads, work)
    }
}

/// State variables whose values are kept.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// As strands are made.
    pub initial: &'a [usize],
    /// As they end.
    pub outputs: &'a [usize],
}

/// How it ended.
pub enum Completion {
    /// No strand is active any more, or the others were asked to stop.
    Completed(Box<Completed>),
    /// A strand met a run-time error. Which is to be reported is found by a [`World`](super::World) of the same program.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// Whether strands can be made, run and forgotten.
pub fn can_be_forgotten(layout: &StateLayout, abilities: Abilities) -> bool {
    abilities.independent() && !abilities.global_start && layout.sequence_planes().is_empty()
}

/// Makes strands, runs them to their ends, and keeps the variables asked for.
///
/// # Errors
/// There are too many strands, or no workers.
pub fn complete<P: StrandProgram>(
    program: &P,
    creation: &Creation,
    globals: &GlobalSequences,
    workers: usize,
    wanted: Wanted<'_>,
    control: Arc<Control>,
) -> Result<Completion, WorldError> {
    let count = creation.count()? as usize;
    let (layout, abilities) = (program.layout().clone(), program.abilities());
    debug_assert!(can_be_forgotten(&layout, abilities));
    let pool = Arc::clone(&globals.pool);
    let mut core = Core::empty(layout, abilities, count, pool, workers)?;
    core.control = control;
    core.control.show(
        0,
        Counts {
            active: count as u64,
            ..Counts::default()
        },
    );
    let width = core.layout.width();
    let tile = (count / SHARES).clamp(width, GROUP);
    let walk = Walk::new(creation.sizes(), tile.ilog2());
    let blocks = walk.largest().div_ceil(width);
    core.state.resize(blocks * core.workers.len());
    let variables = wanted.initial.iter().chain(wanted.outputs);
    let bytes: usize = variables
        .map(|&variable| Kept::bytes(&core.layout, variable))
        .sum();
    let claim = claim(count as u64 * (bytes as u64 + 1)).map_err(|shortage| {
        let count = count as u32;
        WorldError::Memory { count, shortage }
    })?;
    let kept = |variables: &[usize]| -> Vec<Kept> {
        let variables = variables.iter();
        variables
            .map(|&variable| Kept::new(&core.layout, variable, count))
            .collect()
    };
    let (mut first, mut last) = (kept(wanted.initial), kept(wanted.outputs));
    let mut dead = vec![0u8; count];
    let stream = Stream {
        program,
        core: &core,
        walk,
        blocks,
        width,
        arenas: core.workers.iter().map(|_| Mutex::default()).collect(),
        first: first.iter_mut().map(Kept::way).collect(),
        last: last.iter_mut().map(Kept::way).collect(),
        dead: Room::new(dead.as_mut_ptr()),
        taken: AtomicU64::new(0),
        first_failure: AtomicU64::new(u64::MAX),
    };
    let tiles = 0..stream.walk.tiles();
    core.parallel(count.div_ceil(width), |wide| {
        if wide {
            tiles.into_par_iter().for_each(|tile| stream.run(tile));
        } else {
            tiles.for_each(|tile| stream.run(tile));
        }
    });
    let (steps, failed) = (stream.taken.into_inner(), stream.first_failure.into_inner());
    if failed < u64::MAX {
        return Ok(Completion::Failed);
    }
    if core.control.cancelled.load(Relaxed) {
        return Ok(Completion::Cancelled);
    }
    let (_, counts) = core.control.progress();
    let finish = |kept: Vec<Kept>, any_dead: bool| -> Vec<Values> {
        // SAFETY: every strand wrote its first values, and its last if it did not die.
        let values = kept
            .into_iter()
            .map(|kept| unsafe { kept.finish(&dead, any_dead) });
        values.collect()
    };
    Ok(Completion::Completed(Box::new(Completed {
        initial: finish(first, false),
        outputs: finish(last, counts.dead > 0),
        steps,
        counts,
        threads: core.threads,
        _claim: claim,
    })))
}

struct Stream<'a, P> {
    program: &'a P,
    core: &'a Core,
    walk: Walk,
    /// Blocks of the state for each worker.
    blocks: usize,
    width: usize,
    arenas: Vec<Mutex<Arena>>,
    /// Where values go that strands have in the beginning, and in the end.
    first: Vec<Way>,
    last: Vec<Way>,
    /// By rank: 1 for those that died.
    dead: Room<u8>,
    taken: AtomicU64,
    first_failure: AtomicU64,
}

/// A worker's records of the strands of one tile.
#[derive(Default)]
struct Arena {
    points: TilePoints,
    lanes: Vec<LaneSets>,
    ranks: Vec<u32>,
    coordinates: Vec<u32>,
}

impl<P: StrandProgram> Stream<'_, P> {
    fn run(&self, tile: usize) {
        let core = self.core;
        // Who is asked to stop still makes those who have not begun, so that everyone has values.
        if core.control.cancelled.load(Relaxed) || self.first_failure.load(Relaxed) < u64::MAX {
            return;
        }
        let worker = core.current_worker();
        let first = worker * self.blocks;
        let mut arena = self.arenas[worker]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let arena = &mut *arena;
        self.walk.visit(tile, &mut arena.points);
        self.create(first, arena);
        let Arena {
            points,
            lanes,
            ranks,
            ..
        } = arena;
        let records = Records { lanes, ranks };
        let failure = &self.first_failure;
        let steps = run_group(core, self.program, first, records, u64::MAX, failure);
        self.taken.fetch_max(steps, Relaxed);
        let alive: u32 = lanes.iter().map(|sets| sets.alive().count_ones()).sum();
        // SAFETY: tiles have no strand in common, and the blocks are this worker's.
        unsafe {
            if (alive as usize) < points.ranks.len() {
                self.bury(points, lanes, ranks);
            }
            for (block, sets) in lanes.iter().enumerate() {
                let state = core.state.block(first + block).cast_const();
                let ranks = &ranks[block * self.width..];
                put(&self.last, state, sets.alive(), ranks);
            }
        }
    }

    /// Marks those strands of a tile that died.
    ///
    /// # Safety
    /// Nobody else marks strands of this tile.
    unsafe fn bury(&self, points: &TilePoints, lanes: &[LaneSets], ranks: &[u32]) {
        let is_alive =
            |slot: usize| lanes[slot / self.width].alive() >> (slot % self.width) & 1 == 1;
        // SAFETY: ranks are below the number of strands, and those of the tile are ours.
        unsafe {
            for &rank in &points.ranks {
                self.dead.put(rank as usize, 1);
            }
            for (_, &rank) in ranks.iter().enumerate().filter(|(slot, _)| is_alive(*slot)) {
                self.dead.put(rank as usize, 0);
            }
        }
    }

    /// Makes the strands of a tile in the blocks from `first`.
    fn create(&self, first: usize, arena: &mut Arena) {
        let (core, width) = (self.core, self.width);
        let Arena {
            points,
            lanes,
            ranks,
            coordinates,
        } = arena;
        let count = points.ranks.len();
        let blocks = count.div_ceil(width);
        ranks.clear();
        ranks.extend_from_slice(&points.ranks);
        ranks.resize(blocks * width, 0);
        for plane in &mut points.coordinates {
            plane.resize(blocks * width, 0);
        }
        coordinates.resize(points.coordinates.len() * width, 0);
        lanes.clear();
        let shared = core.shared();
        let mut worker = core.worker();
        for block in 0..blocks {
            let slots = block * width..(block + 1) * width;
            let full = LaneMask::MAX >> (LaneMask::BITS - width as u32);
            let these = full >> (slots.end - slots.end.min(count));
            let planes = coordinates.chunks_exact_mut(width).zip(&points.coordinates);
            planes.for_each(|(lanes, plane)| lanes.copy_from_slice(&plane[slots.clone()]));
            let state = core.state.block(first + block);
            // SAFETY: the block is this worker's, and as long as the layout says.
            unsafe { state.write_bytes(0, core.layout.stride()) };
            let ranks = &ranks[slots];
            let mut cx = StepContext::new(&shared, &mut worker, 0, first + block, ranks);
            create_at(self.program, coordinates, &mut cx, state, these);
            if cx.failed() != 0 {
                self.first_failure.store(0, Relaxed);
            }
            // SAFETY: tiles have no strand in common.
            unsafe { put(&self.first, state, these, ranks) };
            lanes.push(LaneSets {
                active: these,
                fresh: these,
                ..LaneSets::default()
            });
        }
    }
}

/// The planes of a variable in a block, and where its values go.
type Way = (Vec<usize>, Place);

/// Room for scalars of one, four or eight bytes.
enum Place {
    Bytes(Room<u8>),
    Words(Room<u32>),
    Doubles(Room<u64>),
}

/// Writes the values of some lanes of a block where those of their ranks are.
///
/// # Safety
/// The block has values for these lanes, their ranks are below the number of strands, and nobody else writes theirs.
unsafe fn put(ways: &[Way], block: *const u8, lanes: LaneMask, ranks: &[u32]) {
    for (offsets, place) in ways {
        // SAFETY: the caller's promise.
        unsafe {
            match place {
                Place::Bytes(room) => put_lanes(room, block, offsets, lanes, |n| ranks[n]),
                Place::Words(room) => put_lanes(room, block, offsets, lanes, |n| ranks[n]),
                Place::Doubles(room) => put_lanes(room, block, offsets, lanes, |n| ranks[n]),
            }
        }
    }
}

/// The values of a variable in the making.
struct Kept {
    values: Values,
    components: usize,
    offsets: Vec<usize>,
}

impl Kept {
    fn new(layout: &StateLayout, variable: usize, strands: usize) -> Kept {
        let Kind::Tensor { scalar, components } = layout.variables()[variable].kind else {
            unreachable!("strands with sequences are kept")
        };
        let room = strands * components;
        let offsets = (0..components).map(|n| layout.plane(variable, n).offset);
        Kept {
            values: match scalar {
                Scalar::F32 => Values::F32(roomy(room)),
                Scalar::F64 => Values::F64(roomy(room)),
                Scalar::I32 => Values::I32(roomy(room)),
                Scalar::I64 => Values::I64(roomy(room)),
                Scalar::Bool => Values::Bool(roomy(room)),
            },
            components,
            offsets: offsets.collect(),
        }
    }

    /// How much of it each strand has.
    fn bytes(layout: &StateLayout, variable: usize) -> usize {
        match layout.variables()[variable].kind {
            Kind::Tensor { scalar, components } => scalar.bytes() * components,
            Kind::Sequence { .. } => unreachable!("strands with sequences are kept"),
        }
    }

    fn way(&mut self) -> Way {
        let place = match &mut self.values {
            Values::F32(values) => Place::Words(Room::new(values.as_mut_ptr().cast())),
            Values::I32(values) => Place::Words(Room::new(values.as_mut_ptr().cast())),
            Values::F64(values) => Place::Doubles(Room::new(values.as_mut_ptr().cast())),
            Values::I64(values) => Place::Doubles(Room::new(values.as_mut_ptr().cast())),
            Values::Bool(values) => Place::Bytes(Room::new(values.as_mut_ptr())),
        };
        (self.offsets.clone(), place)
    }

    /// The values of those that are not dead; of all if there are none.
    ///
    /// # Safety
    /// Those of every strand that is not marked were written.
    unsafe fn finish(self, dead: &[u8], any: bool) -> Values {
        let Kept {
            mut values,
            components,
            ..
        } = self;
        // SAFETY: the caller's promise.
        unsafe {
            match &mut values {
                Values::F32(values) => close_up(values, components, dead, any),
                Values::F64(values) => close_up(values, components, dead, any),
                Values::I32(values) => close_up(values, components, dead, any),
                Values::I64(values) => close_up(values, components, dead, any),
                Values::Bool(values) => close_up(values, components, dead, any),
            }
        }
        values
    }
}

/// Moves the values of the living together and gives the vector its length.
///
/// # Safety
/// There is room for the values of all, and those of the living were written.
unsafe fn close_up<T: Copy>(values: &mut Vec<T>, components: usize, dead: &[u8], any: bool) {
    let start = values.as_mut_ptr();
    let mut kept = if any { 0 } else { dead.len() };
    for rank in (kept..dead.len()).filter(|&rank| dead[rank] == 0) {
        // SAFETY: both lie in the vector's room.
        unsafe {
            let (from, to) = (start.add(rank * components), start.add(kept * components));
            std::ptr::copy(from, to, components);
        }
        kept += 1;
    }
    // SAFETY: the values of the living were written.
    unsafe { values.set_len(kept * components) };
}
