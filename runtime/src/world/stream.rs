//! Streaming of independent strands whose outputs alone are needed: they are created, run to their ends and forgotten,
//! one tile of the creation clause after the other.
//!
//! A worker holds the state of one tile at a time, which stays in its cache, so that creating a strand costs little
//! more than computing its initial values.

mod elsewhere;
mod executed;
mod results;

pub use results::{Completed, Completion, Wanted};

use super::abilities::Abilities;
use super::complete::{GROUP, SHARES, count, run_group};
use super::control::Control;
use super::core::Core;
use super::creation::Creation;
use super::errors::WorldError;
use super::program::StrandProgram;
use super::step::context::StepContext;
use super::step::global::GlobalSequences;
use super::step::methods::{create_and_end, create_at};
use super::tickets::{self, Tiles, Trouble, Verdict};
use super::values::buffer::ValueBuffer;
use super::values::destination::{Destination, Requested};
use super::values::parts::{Parts, Taker};
use super::values::strip::Strip;
use super::workers::Workers;
use crate::abi::LaneMask;
use crate::cluster::{Team, Topic};
use crate::memory::{Room, claim};
use crate::strands::arrange::Records;
use crate::strands::roster::LaneSets;
use crate::strands::tiles::{TilePoints, Walk};
use crate::strands::{Counts, StateLayout};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Parts of a grid that are open for each worker, at most: one that it has begun, one that it helps to end, and one that waits
/// to be written.
const OPEN_PARTS: usize = 3;

/// Whether strands can be made, run and forgotten.
pub fn can_be_forgotten(layout: &StateLayout, abilities: Abilities) -> bool {
    abilities.in_any_order() && !abilities.global_start && layout.sequence_planes().is_empty()
}

/// Makes strands, runs them to their ends, and keeps the variables asked for. If the program has an executor, that does it.
///
/// # Errors
/// There are too many strands, or no workers.
pub fn complete<P: StrandProgram>(
    program: &P,
    creation: &Creation,
    globals: &GlobalSequences,
    workers: impl Into<Workers>,
    wanted: Wanted<'_>,
    control: Arc<Control>,
) -> Result<Completion, WorldError> {
    let count = creation.count()? as usize;
    let (layout, abilities) = (program.layout().clone(), program.abilities());
    debug_assert!(can_be_forgotten(&layout, abilities));
    let pool = Arc::clone(&globals.pool);
    let mut core = Core::empty(layout, abilities, count, pool, &workers.into())?;
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
    let workers = core.workers.len();
    let team = core.team.clone();
    let executor = program.executor();
    let executor = executor.filter(|executor| executor.is_ready() && team.is_none());
    let is_grid = matches!(creation, Creation::Grid(_));
    // An executor gives all values in the end.
    let taker = wanted.taker.filter(|_| is_grid && executor.is_none());
    // Where strands die, values have their places only in the end.
    let passes = |output: usize| !abilities.dies && taker.is_some_and(|t| t.passing[output]);
    let initial = Requested::new(&core.layout, wanted.initial, |_| false);
    let outputs = Requested::new(&core.layout, wanted.outputs, passes);
    let ranks = team.as_ref().map_or(1, |team| team.size());
    // The values of all strands go to rank 0, unless every rank takes those of its own.
    let is_elsewhere = team.as_ref().is_some_and(|team| !team.is_root());
    let strands_here = if is_elsewhere { 0 } else { count };
    let shared = taker.filter(|taker| taker.is_shared && team.is_some());
    debug_assert!(shared.is_none() || !abilities.dies && outputs.kept_bytes() == 0);
    let parts = taker.filter(|_| !is_elsewhere && shared.is_none());
    let parts = parts.map(|taker| outputs.parts(&walk, workers, taker));
    let of_strand = initial.kept_bytes() + outputs.kept_bytes() + 1;
    let of_parts = |parts: &Parts<'_>| parts.bytes(OPEN_PARTS * workers * ranks);
    let strips = shared.map_or(0, |_| {
        Strip::most(workers, count, outputs.all_bytes(), walk.largest())
    });
    let bytes = strands_here * of_strand + parts.as_ref().map_or(0, of_parts) + strips;
    let claim = claim(bytes as u64).map_err(|shortage| {
        let count = count as u32;
        WorldError::Memory { count, shortage }
    })?;
    let [mut first, mut last] =
        [&initial, &outputs].map(|requested| requested.room(&core.layout, strands_here));
    let mut dead = vec![0u8; strands_here];
    let destinations =
        |requested: Requested, kept: &mut [Option<ValueBuffer>], leaves: bool| match leaves {
            true => requested.destinations_elsewhere(),
            false => requested.destinations(kept),
        };
    let stream = Stream {
        program,
        core: &core,
        walk,
        blocks,
        width,
        arenas: core.workers.iter().map(|_| Mutex::default()).collect(),
        first: destinations(initial, &mut first, is_elsewhere),
        last: destinations(outputs, &mut last, is_elsewhere || shared.is_some()),
        dead: Room::new(dead.as_mut_ptr()),
        parts,
        shared,
        ends_at_once: program.ends_at_once() && wanted.initial.is_empty(),
        taken: AtomicU64::new(0),
        first_failure: AtomicU64::new(u64::MAX),
        home: team.as_deref().filter(|_| is_elsewhere),
    };
    let Verdict {
        trouble,
        steps,
        counts,
    } = match &team {
        Some(team) => tickets::run(&stream, team).map_err(WorldError::Cluster)?,
        None => {
            let [tiles, row] = stream.tiles();
            match executor {
                None => core.share(tiles, row, |tile| stream.run(tile)),
                Some(executor) if stream.run_by(executor, creation.sizes(), wanted) => {}
                Some(_) => return Ok(Completion::Declined),
            }
            Verdict {
                trouble: stream.trouble(),
                steps: stream.steps(),
                counts: core.control.progress().1,
            }
        }
    };
    match trouble {
        Trouble::Failed => return Ok(Completion::Failed),
        Trouble::Cancelled => return Ok(Completion::Cancelled),
        Trouble::None => {}
    }
    let takes = stream.parts.is_some() || shared.is_some();
    drop(stream);
    let text = core.printed();
    if is_elsewhere {
        return Ok(Completion::Completed(Box::new(Completed {
            initial: Vec::new(),
            outputs: last.iter().map(|_| None).collect(),
            steps,
            counts,
            handed_on: false,
            text,
            threads: core.threads,
            _claim: claim,
        })));
    }
    // SAFETY: every strand wrote its first values, and its last if it did not die.
    let finish = |kept: ValueBuffer, any_dead: bool| unsafe { kept.finish(&dead, any_dead) };
    let initial = first.into_iter().flatten();
    let initial = initial.map(|kept| finish(kept, false));
    let outputs = last.into_iter();
    let outputs = outputs.map(|kept| kept.map(|kept| finish(kept, counts.dead > 0)));
    Ok(Completion::Completed(Box::new(Completed {
        initial: initial.collect(),
        outputs: outputs.collect(),
        steps,
        counts,
        handed_on: takes && counts.dead == 0,
        text,
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
    first: Vec<Destination>,
    last: Vec<Destination>,
    /// By rank: 1 for those that died.
    dead: Room<u8>,
    parts: Option<Parts<'a>>,
    /// Takes the values of outputs of strands that run here, if every rank does so.
    shared: Option<Taker<'a>>,
    /// Whether strands can be made and run by one method.
    ends_at_once: bool,
    taken: AtomicU64,
    first_failure: AtomicU64,
    /// The team whose rank 0 gets the values, if this is another rank.
    home: Option<&'a Team>,
}

/// A worker's records of the strands of one tile, in lines of the cache that no other worker writes.
#[derive(Default)]
#[repr(align(128))]
struct Arena {
    points: TilePoints,
    lanes: Vec<LaneSets>,
    /// The values of the tile that go to rank 0.
    letter: Vec<u8>,
    /// Those that are taken here, of this tile and others.
    strip: Strip,
}

impl<P: StrandProgram> Stream<'_, P> {
    fn run(&self, tile: usize) {
        let core = self.core;
        // After a stop request the remaining strands are still initialized, so all have values.
        if core.control.is_cancelled() || self.first_failure.load(Relaxed) < u64::MAX {
            return;
        }
        let worker = core.current_worker();
        let first = worker * self.blocks;
        let mut arena = self.arenas[worker]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Arena {
            points,
            lanes,
            letter,
            strip,
        } = &mut *arena;
        self.walk.visit(tile, self.width, points);
        if self.home.is_some() {
            tickets::tile_letter(letter, tile);
        }
        let steps = if self.ends_at_once && !core.control.is_over() {
            self.create_and_end(first, points, lanes);
            1
        } else {
            self.create(first, points, lanes, letter, |_| LaneMask::MAX);
            let records = Records {
                lanes,
                ranks: &mut points.ranks,
            };
            let failure = &self.first_failure;
            run_group(core, self.program, first, records, u64::MAX, failure)
        };
        if steps > self.taken.load(Relaxed) {
            self.taken.fetch_max(steps, Relaxed);
        }
        if let Some(taker) = self.shared {
            self.add_to(strip, first, lanes, &points.ranks);
            if strip.is_full() {
                strip.pass_on(taker);
            }
        }
        if let Some(team) = self.home {
            self.pack(steps, first, lanes, &points.ranks, letter);
            team.send(0, Topic::Tiles, std::mem::take(letter));
        }
        if self.shared.is_some() || self.home.is_some() {
            return;
        }
        let part = self.parts.as_ref().map(|parts| parts.begin(tile, worker));
        let alive: u32 = lanes.iter().map(|sets| sets.alive().count_ones()).sum();
        // SAFETY: tiles have no strand in common, and the blocks are this worker's.
        unsafe {
            if (alive as usize) < points.count {
                let is_alive =
                    |slot: &usize| lanes[slot / self.width].alive() >> (slot % self.width) & 1 == 1;
                let slots = (0..points.ranks.len()).filter(is_alive);
                self.bury(tile, slots.map(|slot| points.ranks[slot]));
            }
            for destination in &self.last {
                let blocks = lanes.iter().zip(points.ranks.chunks_exact(self.width));
                let blocks = blocks.enumerate().map(|(block, (sets, ranks))| {
                    let state = core.state.block(first + block).cast_const();
                    (state, sets.alive(), ranks)
                });
                destination.put_all(part, blocks);
            }
        }
        self.end(tile);
    }

    /// Passes the values of parts on that end with this tile.
    fn end(&self, tile: usize) {
        if let Some(parts) = &self.parts {
            // SAFETY: they are asked for when the strands of the part have ended and none has died, so that they were written.
            parts.end(tile, |output, part, strands| unsafe {
                self.last[output].written(part, strands)
            });
        }
    }

    /// Marks those strands of a tile that died: all but these.
    ///
    /// # Safety
    /// No other thread marks strands of this tile.
    unsafe fn bury(&self, tile: usize, alive: impl Iterator<Item = u32>) {
        if let Some(parts) = &self.parts {
            parts.spoil();
        }
        // SAFETY: ranks are below the number of strands, and those of the tile are ours.
        unsafe {
            for rank in self.walk.ranks(tile) {
                self.dead.put(rank as usize, 1);
            }
            for rank in alive {
                self.dead.put(rank as usize, 0);
            }
        }
    }

    /// Makes the strands of a tile in the blocks from `first`: of each block, those in these lanes.
    fn create(
        &self,
        first: usize,
        points: &TilePoints,
        lanes: &mut Vec<LaneSets>,
        letter: &mut Vec<u8>,
        wanted: impl Fn(usize) -> LaneMask,
    ) {
        self.each_block(
            first,
            points,
            lanes,
            wanted,
            |cx, coordinates, state, these| {
                create_at(self.program, coordinates, cx, state, these);
                // SAFETY: tiles have no strand in common.
                unsafe {
                    for destination in &self.first {
                        match self.home {
                            None => destination.put(None, state, these, cx.ranks()),
                            Some(_) => destination.pack(state, these, letter),
                        }
                    }
                }
                LaneSets {
                    active: these,
                    fresh: these,
                    ..LaneSets::default()
                }
            },
        );
    }

    /// Makes the strands of a tile and runs them to their ends, which they meet in their first super-step.
    fn create_and_end(&self, first: usize, points: &TilePoints, lanes: &mut Vec<LaneSets>) {
        let (program, abilities) = (self.program, self.core.abilities);
        self.each_block(
            first,
            points,
            lanes,
            |_| LaneMask::MAX,
            |cx, coordinates, state, these| {
                create_and_end(program, abilities, coordinates, cx, state, these)
            },
        );
        let (_, stable) = count(lanes, self.width);
        self.core
            .control
            .advance(1, stable, points.count as u64 - stable);
    }

    /// Calls `make` for every block of a tile, from block `first`, with the coordinates of its strands and those of its lanes that are
    /// wanted, and keeps the sets that it gives.
    fn each_block(
        &self,
        first: usize,
        points: &TilePoints,
        lanes: &mut Vec<LaneSets>,
        wanted: impl Fn(usize) -> LaneMask,
        mut make: impl FnMut(&mut StepContext<'_>, &[u32], *mut u8, LaneMask) -> LaneSets,
    ) {
        let (core, width) = (self.core, self.width);
        lanes.clear();
        let blocks = points.ranks.len() / width;
        let full = LaneMask::MAX >> (LaneMask::BITS - width as u32);
        let shared = core.shared();
        let mut worker = core.worker();
        let mut cx = StepContext::new(&shared, &mut worker, 0, first, &[]);
        let mut coordinates = std::mem::take(cx.coordinates());
        // SAFETY: the blocks are this worker's, side by side, and each as long as the layout says.
        unsafe {
            let bytes = blocks * core.layout.stride();
            core.state.block(first).write_bytes(0, bytes);
        }
        for (block, ranks) in points.ranks.chunks_exact(width).enumerate() {
            let end = (block + 1) * width;
            let these = full >> (end - end.min(points.count)) & wanted(block);
            self.walk
                .coordinates(points, block, width, &mut coordinates);
            cx.enter(0, first + block, ranks);
            let state = core.state.block(first + block);
            lanes.push(make(&mut cx, &coordinates, state, these));
            if cx.failed() != 0 {
                self.first_failure.store(0, Relaxed);
            }
        }
        *cx.coordinates() = coordinates;
    }
}
