//! Strands that an executor makes and runs. Those that it leaves run here.

use super::{Arena, Stream, Wanted};
use crate::abi::{LaneMask, bits};
use crate::memory::Room;
use crate::strands::arrange::Records;
use crate::world::complete::run_group;
use crate::world::executor::{Executor, Job, fate};
use crate::world::program::StrandProgram;
use crate::world::tickets::Tiles;
use crate::world::values::destination::Destination;
use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

impl<P: StrandProgram> Stream<'_, P> {
    /// Lets an executor make and run all strands; false if it does not.
    pub(super) fn run_by(
        &self,
        executor: &dyn Executor,
        sizes: &[usize],
        wanted: Wanted<'_>,
    ) -> bool {
        let [tiles, row] = self.tiles();
        let mut places: Vec<Range<usize>> = Vec::with_capacity(tiles);
        for tile in 0..tiles {
            let first = places.last().map_or(0, |last| last.end);
            let blocks = self.walk.points_of(tile).div_ceil(self.width);
            places.push(first..first + blocks * self.width);
        }
        let strands = self.walk.points();
        let ranks = || self.ranks_of(&places);
        let memory_of = |variables: &[usize], destinations: &[Destination]| {
            let pairs = variables.iter().zip(destinations);
            let with_memory = |(&variable, destination): (_, &Destination)| {
                // SAFETY: no strand runs here meanwhile, and an executor is asked on the only rank there is, where values are kept.
                let values = unsafe { &mut *destination.values(strands) };
                (variable, values)
            };
            pairs.map(with_memory).collect()
        };
        let initial = memory_of(wanted.initial, &self.first);
        let outputs = memory_of(wanted.outputs, &self.last);
        let mut job = Job {
            sizes,
            strands,
            places: places.last().map_or(0, |last| last.end),
            ranks: &ranks,
            initial,
            outputs,
            fates: Vec::new(),
            steps: 0,
            control: &self.core.control,
        };
        if !executor.make_and_run(&mut job) {
            return false;
        }
        let Job { fates, steps, .. } = job;
        if fates.is_empty() {
            self.taken.fetch_max(steps, Relaxed);
            self.core.control.advance(steps, strands as u64, 0);
            return true;
        }
        self.core.share(tiles, row, |tile| {
            self.take_note(tile, &fates[places[tile].clone()]);
        });
        true
    }

    /// The rank of the strand in each place of the tiles.
    fn ranks_of(&self, places: &[Range<usize>]) -> Vec<u32> {
        let strands = self.walk.points() as u32;
        let mut ranks = vec![strands; places.last().map_or(0, |last| last.end)];
        let room = Room::new(ranks.as_mut_ptr());
        self.core.share(places.len(), self.tiles()[1], |tile| {
            for (place, rank) in places[tile].clone().zip(self.walk.ranks(tile)) {
                // SAFETY: tiles have no place in common.
                unsafe { room.put(place, rank) };
            }
        });
        ranks
    }

    /// Takes note of what became of the strands of a tile, and runs those that were left.
    fn take_note(&self, tile: usize, fates: &[u32]) {
        let are = |kind| fates.iter().filter(move |word| fate::kind(**word) == kind);
        let steps = fates.iter().map(|word| word >> fate::BITS).max();
        let steps = u64::from(steps.unwrap_or(0));
        let died = are(fate::DEAD).count();
        if died > 0 {
            for (word, rank) in fates.iter().zip(self.walk.ranks(tile)) {
                if fate::kind(*word) == fate::DEAD {
                    // SAFETY: ranks are below the number of strands, and those of the tile are ours.
                    unsafe { self.dead.put(rank as usize, 1) };
                }
            }
        }
        self.taken.fetch_max(steps, Relaxed);
        let stable = are(fate::STABLE).count();
        let control = &self.core.control;
        control.advance(steps, stable as u64, died as u64);
        let is_over = control.is_cancelled() || self.first_failure.load(Relaxed) < u64::MAX;
        if are(fate::LEFT).next().is_some() && !is_over {
            self.run_left(tile, fates);
        }
    }

    /// Makes and runs those strands of a tile that an executor has left.
    fn run_left(&self, tile: usize, fates: &[u32]) {
        let (core, width) = (self.core, self.width);
        let worker = core.current_worker();
        let first = worker * self.blocks;
        let mut arena = self.arenas[worker]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Arena {
            points,
            lanes,
            letter,
            ..
        } = &mut *arena;
        self.walk.visit(tile, width, points);
        let left = |block: usize| -> LaneMask {
            let fates = fates[block * width..][..width].iter().enumerate();
            let left = fates.filter(|(_, word)| fate::kind(**word) == fate::LEFT);
            left.fold(0, |lanes, (lane, _)| lanes | 1 << lane)
        };
        self.create(first, points, lanes, letter, left);
        let records = Records {
            lanes,
            ranks: &mut points.ranks,
        };
        let steps = run_group(
            core,
            self.program,
            first,
            records,
            u64::MAX,
            &self.first_failure,
        );
        self.taken.fetch_max(steps, Relaxed);
        // Strands change their places as they run, so all are dead until the living are found.
        for (place, rank) in self.walk.ranks(tile).enumerate() {
            if fate::kind(fates[place]) == fate::LEFT {
                // SAFETY: ranks are below the number of strands, and those of the tile are ours.
                unsafe { self.dead.put(rank as usize, 1) };
            }
        }
        for (block, sets) in lanes.iter().enumerate() {
            let state = core.state.block(first + block).cast_const();
            let ranks = &points.ranks[block * width..][..width];
            // SAFETY: as above; the blocks are this worker's.
            unsafe {
                for lane in bits(sets.alive()) {
                    self.dead.put(ranks[lane as usize] as usize, 0);
                }
                for destination in &self.last {
                    destination.put(None, state, sets.alive(), ranks);
                }
            }
        }
    }
}
