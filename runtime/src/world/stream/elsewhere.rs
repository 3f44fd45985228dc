//! Tiles that run on other ranks: their values in letters to rank 0, unless every rank takes those of its own strands.

use super::Stream;
use crate::abi::{LaneMask, bits};
use crate::cluster::wire::{Reader, put};
use crate::strands::roster::LaneSets;
use crate::world::control::Control;
use crate::world::program::StrandProgram;
use crate::world::tickets::{Tiles, Trouble};
use crate::world::values::strip::Strip;
use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

impl<P: StrandProgram> Stream<'_, P> {
    /// Adds the last values of a tile to those that are taken on this rank.
    pub(super) fn add_to(
        &self,
        strip: &mut Strip,
        first: usize,
        lanes: &[LaneSets],
        ranks: &[u32],
    ) {
        let (strands, values) = strip.room(self.last.len());
        let blocks = lanes.iter().zip(ranks.chunks_exact(self.width));
        for (block, (sets, ranks)) in blocks.enumerate() {
            strands.extend(bits(sets.alive()).map(|lane| ranks[lane as usize]));
            let state = self.core.state.block(first + block).cast_const();
            for (destination, values) in self.last.iter().zip(&mut *values) {
                // SAFETY: the block is this worker's, and its strands have values.
                unsafe { destination.pack(state, sets.alive(), values) };
            }
        }
    }

    /// Adds the last values of a tile to the letter that has its first.
    pub(super) fn pack(
        &self,
        steps: u64,
        first: usize,
        lanes: &[LaneSets],
        ranks: &[u32],
        letter: &mut Vec<u8>,
    ) {
        let count = |of: fn(&LaneSets) -> LaneMask| -> u64 {
            let counts = lanes.iter().map(|sets| u64::from(of(sets).count_ones()));
            counts.sum()
        };
        put(letter, steps);
        put(letter, count(|sets| sets.stable));
        if self.shared.is_some() {
            return;
        }
        put(letter, count(|sets| sets.alive()));
        for (sets, ranks) in lanes.iter().zip(ranks.chunks_exact(self.width)) {
            for lane in bits(sets.alive()) {
                letter.extend_from_slice(&ranks[lane as usize].to_le_bytes());
            }
        }
        for destination in &self.last {
            for (block, sets) in lanes.iter().enumerate() {
                let state = self.core.state.block(first + block).cast_const();
                // SAFETY: the block is this worker's, and its strands have values.
                unsafe { destination.pack(state, sets.alive(), letter) };
            }
        }
    }

    /// Takes the last values of a tile that another rank has sent; gives how many strands died.
    ///
    /// # Safety
    /// No other thread writes values of strands of this tile, which have these ranks.
    unsafe fn receive_last(
        &self,
        tile: usize,
        ranks: &[u32],
        reader: &mut Reader<'_>,
    ) -> Option<usize> {
        let alive = reader.count()?;
        let known = reader.take(alive.checked_mul(size_of::<u32>())?)?;
        let known = known.as_chunks().0.iter();
        let known = known.map(|rank| u32::from_le_bytes(*rank));
        let part = self.parts.as_ref().map(|parts| parts.begin(tile, 0));
        let died = ranks.len().checked_sub(alive)?;
        // SAFETY: the caller's promise, and letters come from strands of this tile alone.
        unsafe {
            if died > 0 {
                self.bury(tile, known.clone());
            }
            for destination in &self.last {
                let values = reader.take(alive * destination.bytes())?;
                destination.unpack(part, known.clone(), values);
            }
        }
        Some(died)
    }
}

impl<P: StrandProgram> Tiles for Stream<'_, P> {
    fn tiles(&self) -> [usize; 2] {
        [self.walk.tiles(), self.walk.row().0]
    }

    fn workers(&self) -> usize {
        self.core.workers.len()
    }

    fn work_off(&self, take: &(dyn Fn() -> Option<Range<usize>> + Sync)) {
        self.core
            .work_off(self.walk.tiles(), take, |tile| self.run(tile));
        if let Some(taker) = self.shared {
            for arena in &self.arenas {
                let mut arena = arena.lock().unwrap_or_else(PoisonError::into_inner);
                arena.strip.pass_on(taker);
            }
        }
    }

    fn receive(&self, reader: &mut Reader<'_>) -> Option<()> {
        let tile = reader.count()?;
        if tile >= self.walk.tiles() {
            return None;
        }
        let ranks: Vec<u32> = self.walk.ranks(tile).collect();
        // SAFETY: the strands of the tile ran elsewhere, so that no thread here writes their values, and letters come from strands
        // of this tile alone.
        unsafe {
            // Block by block, and in a block destination by destination.
            for ranks in ranks.chunks(self.width) {
                for destination in &self.first {
                    let values = reader.take(ranks.len() * destination.bytes())?;
                    destination.unpack(None, ranks.iter().copied(), values);
                }
            }
            let [steps, stable] = [reader.number()?, reader.number()?];
            let died = match self.shared {
                Some(_) => 0,
                None => self.receive_last(tile, &ranks, reader)?,
            };
            self.taken.fetch_max(steps, Relaxed);
            self.core.control.advance(steps, stable, died as u64);
        }
        self.end(tile);
        Some(())
    }

    fn trouble(&self) -> Trouble {
        match self.first_failure.load(Relaxed) < u64::MAX {
            true => Trouble::Failed,
            false if self.core.control.is_cancelled() => Trouble::Cancelled,
            false => Trouble::None,
        }
    }

    fn heed(&self, trouble: Trouble) {
        match trouble {
            Trouble::None => {}
            Trouble::Cancelled => self.core.control.cancel(),
            Trouble::Failed => self.first_failure.store(0, Relaxed),
        }
    }

    fn control(&self) -> &Control {
        &self.core.control
    }

    fn steps(&self) -> u64 {
        self.taken.load(Relaxed)
    }
}
